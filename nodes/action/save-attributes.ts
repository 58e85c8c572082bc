/** Stores a message's attributes; goes on when they are committed (`rule-nodes.md` 55, `rule-engine.md` 10.5). */
import { z } from 'zod'
import { entriesJson, entriesOf } from '../../model/entry-json.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { ATTRIBUTE_SCOPES } from '../../model/value.ts'
import type { AttributeScope, Entry } from '../../model/value.ts'
import { changedEntries, writerOf } from '../../engine/rulechain/capabilities/attributes.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import { causeOf } from '../../engine/rulechain/capabilities/calculated.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { processingSettings, saveStrategy, someSettings } from './save-strategy.ts'
import { scopeOf } from './attribute-scope.ts'
import { checkKey, isObject } from './telemetry-body.ts'

const ACTIONS = ['attributes', 'webSockets', 'calculatedFields'] as const
type Action = (typeof ACTIONS)[number]

const configurationSchema = z.looseObject({
  processingSettings: processingSettings(ACTIONS),
  scope: z.enum(ATTRIBUTE_SCOPES).meta({
    title: 'Scope',
    description: "A message's metadata key scope overrides it.",
  }),
  notifyDevice: orZero(z.boolean(), false).meta({
    title: 'Notify the device',
    description: 'Push shared attributes to the device.',
  }),
  sendAttributesUpdatedNotification: orZero(z.boolean(), false).meta({
    title: 'Send "Attributes Updated"',
    description: 'Put such a message at the start of the chain; never for client attributes.',
  }),
  updateAttributesOnlyOnValueChange: orZero(z.boolean(), false).meta({
    title: 'Only changed values',
    description: 'Skip attributes with the stored value and type.',
  }),
})

type Configuration = z.output<typeof configurationSchema>

export const saveAttributes = defineNode({
  type: 'org.thingsboard.rule.engine.telemetry.TbMsgAttributesNode',
  name: 'save attributes',
  category: 'ACTION',
  relations: ['Success'],
  takes: ['POST_ATTRIBUTES_REQUEST'],
  description: 'Stores the attributes of a Post attributes message; Success follows the commit.',
  configurationVersion: 3,
  configuration: configurationSchema,
  constraints: z.looseObject({ processingSettings: someSettings }),
  editor: { form: 'tbActionNodeAttributesConfig', icon: 'file_upload' },
  defaults: {
    processingSettings: { type: 'ON_EVERY_MESSAGE' },
    scope: 'SERVER_SCOPE',
    notifyDevice: false,
    sendAttributesUpdatedNotification: false,
    updateAttributesOnlyOnValueChange: true,
  },
  examples: [
    {
      title: 'attributes are stored',
      configuration: { processingSettings: { type: 'ON_EVERY_MESSAGE' }, scope: 'CLIENT_SCOPE' },
      given: { type: 'POST_ATTRIBUTES_REQUEST', data: '{"firmware":"1.2"}' },
      expect: { relations: ['Success'], data: '{"firmware":"1.2"}' },
    },
    {
      title: 'telemetry is refused',
      configuration: { processingSettings: { type: 'ON_EVERY_MESSAGE' }, scope: 'CLIENT_SCOPE' },
      given: { type: 'POST_TELEMETRY_REQUEST', data: '{"firmware":"1.2"}' },
      expect: { relations: ['Failure'] },
    },
  ],
  upgrade,
  uses: ['attributes'],
  effects: true,
  create: (configuration, context) => {
    const strategy = saveStrategy<Action>(configuration.processingSettings, ACTIONS)
    return {
      handle: (message, at) => {
        if (message.type !== 'POST_ATTRIBUTES_REQUEST') throw NodeErrors.UNSUPPORTED_TYPE({ type: message.type })
        const entries = attributesOf(message, context)
        if (entries.length === 0) return 'Success'
        const decision = strategy(message.metadataTs(), message)
        if (!decision.attributes && !decision.webSockets && !decision.calculatedFields) return 'Success'
        const scope = scopeOf(message, configuration.scope)
        const writer = configuration.updateAttributesOnlyOnValueChange
          ? writerOf(at.visit().id, context.ruleNodeId)
          : undefined
        return save(message, writer, scope, entries, decision, configuration, context)
      },
    }
  },
})

async function save(
  message: Message,
  /** Of only changed values. */
  writer: number | undefined,
  scope: AttributeScope,
  entries: readonly Entry[],
  decision: Readonly<Record<Action, boolean>>,
  configuration: Configuration,
  context: NodeContext<'attributes'>,
): Promise<string> {
  const { attributes } = context.services
  const changed =
    writer === undefined ? entries : await changedEntries(attributes, message.originator, scope, entries, writer)
  if (changed.length === 0) return 'Success'
  await attributes.save({
    tenantId: message.tenantId,
    entity: message.originator,
    isOwn: message.hasOwnOriginator,
    scope,
    entries: changed,
    sequence: message.sequence,
    writer,
    store: decision.attributes,
    notify: decision.webSockets,
    notifyDevice: scope === 'SHARED_SCOPE' && isDeviceToldOf(message, configuration),
    calculated: decision.calculatedFields ? causeOf(message, context.ruleNodeId) : undefined,
  })
  if (configuration.sendAttributesUpdatedNotification && scope !== 'CLIENT_SCOPE') {
    const metadata = { ruleNodeId: context.ruleNodeId, scope }
    const data = entriesJson(changed)
    await context.enqueue(
      message.with({ type: 'ATTRIBUTES_UPDATED', ts: context.clock.now(), metadata, data }, { entries: changed }),
    )
  }
  return 'Success'
}

function attributesOf(message: Message, context: NodeContext): readonly Entry[] {
  const entries = message.entries() ?? parsedEntries(message.json(), context)
  for (const entry of entries) checkKey(entry.key)
  return entries
}

function parsedEntries(body: JsonValue, context: NodeContext): readonly Entry[] {
  if (!isObject(body)) throw NodeErrors.BODY_SHAPE({ reason: 'expected an object' })
  return entriesOf(body, { castStrings: context.settings.castStrings, nulls: 'refuse' })
}

/** Uploads set the metadata key to "false"; a message without it is one that a user's chain made. */
function isDeviceToldOf(message: Message, configuration: Configuration): boolean {
  const text = message.metadata['notifyDevice']
  return configuration.notifyDevice || text === undefined || text === '' || text === 'true'
}

/** Step by step as the reference does it (`rule-nodes.md` 55). */
function upgrade(stored: JsonObject, fromVersion: number): JsonObject {
  const configuration: JsonObject = { ...stored }
  if (fromVersion < 1) configuration['updateAttributesOnlyOnValueChange'] ??= false
  if (fromVersion < 2) {
    configuration['notifyDevice'] = booleanOf(configuration['notifyDevice'], true)
    for (const [key, absent] of [
      ['sendAttributesUpdatedNotification', false],
      ['updateAttributesOnlyOnValueChange', true],
    ] as const) {
      configuration[key] = booleanOf(configuration[key], absent)
    }
  }
  if (fromVersion < 3) configuration['processingSettings'] = { type: 'ON_EVERY_MESSAGE' }
  return configuration
}

function booleanOf(value: JsonObject[string] | undefined, absent: boolean): boolean {
  if (value === null || value === undefined || value === '') return absent
  return typeof value === 'string' ? value.toLowerCase() === 'true' : value === true
}
