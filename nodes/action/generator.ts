/** Makes messages by a script, one each period, where the partition of their originator is (`rule-nodes.md` 44). */
import { z } from 'zod'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import { stringifyJson } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import { GENERATOR_ARGUMENTS, withArgumentNames } from '../../engine/script/argument-names.ts'
import type { CompiledScript, TransformedMessage } from '../../engine/script/script.ts'
import { defineNode, ofField, orZero } from '../define-node.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import { NodeErrors } from '../errors.ts'
import { scriptBody, scriptConfiguration, scriptDefaults, scriptField } from '../script-configuration.ts'

const ORIGINATORS = [
  ...(['DEVICE', 'ASSET', 'ENTITY_VIEW', 'TENANT', 'CUSTOMER', 'USER', 'DASHBOARD', 'EDGE', 'RULE_NODE'] as const),
] as const

const STATE = z.object({
  /** Of the configuration that made it: another one begins anew. */
  of: z.string(),
  count: z.number(),
  type: z.string(),
  metadata: z.record(z.string(), z.string()),
  data: z.string(),
  /** When the next message is due, Unix ms. States of before do not say. */
  due: z.number().nullable().default(null),
})
type State = z.output<typeof STATE>

type Made = { readonly made: TransformedMessage } | { readonly error: string }

const SCRIPT = `var msg = { temp: 42, humidity: 77 };
var metadata = { data: 40 };
var msgType = "POST_TELEMETRY_REQUEST";

return { msg: msg, metadata: metadata, msgType: msgType };`

export const generator = defineNode({
  type: 'org.thingsboard.rule.engine.debug.TbMsgGeneratorNode',
  name: 'generator',
  category: 'ACTION',
  relations: ['Success'],
  description:
    'Makes a message each period by a script, which is given the one before. Where it stopped it goes on after a restart.',
  configurationVersion: 2,
  configuration: scriptConfiguration.extend({
    msgCount: orZero(z.int().min(0), 0).meta({ title: 'Messages', description: 'How many; 0 never ends.' }),
    periodInSeconds: orZero(z.int().min(1), 1).meta({ title: 'Period', description: 'Seconds.' }),
    originatorId: z
      .string()
      .nullish()
      .meta({ title: 'Originator', description: 'Of all types but TENANT and RULE_NODE.' }),
    originatorType: orZero(z.enum(ORIGINATORS), 'RULE_NODE').meta({
      title: 'Originator type',
      description: 'RULE_NODE is the node itself.',
    }),
  }),
  defaults: {
    ...{ msgCount: 0, periodInSeconds: 1, originatorId: null, originatorType: 'RULE_NODE' },
    ...scriptDefaults(SCRIPT),
  },
  editor: { hasQueueName: true, hasInput: false, form: 'tbActionNodeGeneratorConfig' },
  examples: [],
  upgrade: ({ queueName: _moved, ...rest }) =>
    (rest['originatorType'] ?? null) === null || (rest['originatorId'] ?? '') === ''
      ? { ...rest, originatorType: 'RULE_NODE' }
      : rest,
  uses: ['entities', 'state', 'scripts', 'queues'],
  create: async (configuration, context) => {
    const { tenantId, ruleNodeId, services, queueName } = context
    const { msgCount, periodInSeconds, scriptLang } = configuration
    const source = originatorOf(configuration, tenantId, ruleNodeId, context.ruleNodeName)
    await checkOwn(source, context)
    const linkName = queueName === null ? undefined : await services.queues.linkName(tenantId, queueName)
    if (queueName !== null && linkName === undefined) throw NodeErrors.QUEUE_UNKNOWN({ queueName })
    const script = await ofField(scriptField(configuration), () =>
      services.scripts.compile({
        ...{ language: scriptLang, kind: 'generate', tenantId, ownerId: ruleNodeId },
        body: withArgumentNames(scriptBody(configuration), GENERATOR_ARGUMENTS),
        ...{ ownerName: context.ruleNodeName, ruleChainId: context.ruleChainId, ruleChainName: context.ruleChainName },
      }),
    )
    const periodMs = periodInSeconds * 1000
    const of = stringifyJson([msgCount, periodInSeconds, source.id, scriptLang, scriptBody(configuration)])
    const beginning: State = { of, count: 0, due: null, type: '', metadata: {}, data: '{}' }
    const hasMore = ({ count }: State): boolean => msgCount === 0 || count < msgCount
    const keyed = services.state.keyed<State, Made>({
      per: 'partition',
      source,
      parse: (stored) => STATE.parse(stored),
      start(turn) {
        const isNew = turn.state?.of !== of
        if (isNew) turn.set({ ...beginning, due: turn.now + periodMs })
        if (isNew || (turn.wakesAt === undefined && hasMore(turn.state ?? beginning))) turn.wakeAt(turn.now + periodMs)
      },
      handle: () => undefined,
      readForWake: async (state = beginning) => {
        const { type, metadata, data } = state
        return run(script, new Message({ id: '', ts: 0, type, tenantId, originator: source, metadata, data }))
      },
      wake(turn, known) {
        const before = turn.state ?? beginning
        const fields = { id: '', ts: turn.now, tenantId, queueName: linkName }
        let next = { ...before, count: before.count + 1 }
        if (known === undefined || 'error' in known) {
          context.log('warn', 'the script of a generator failed', { reason: known?.error ?? 'it did not run' })
          const originator = entityId('RULE_NODE', ruleNodeId)
          const failed = { ...fields, originator, type: 'GENERATOR_NODE_SELF_MSG', metadata: {}, data: '' }
          turn.send(new Message(failed), 'Failure')
        } else {
          const { type = before.type, metadata = before.metadata, data = before.data } = known.made
          next = { ...next, type, metadata: { ...metadata }, data }
          turn.send(new Message({ ...fields, originator: source, type, metadata, data }), 'Success')
        }
        const due = nextDue(before.due, turn.now, periodMs)
        turn.set({ ...next, due })
        if (hasMore(next)) turn.wakeAt(due)
      },
    })
    return {
      ...keyed,
      handleBatch: (messages, result) => keyed.handleBatch?.(messages, result),
      close: async () => {
        await keyed.close?.()
        script.close()
      },
    }
  },
})

/** A period behind the one before, so that none grows by what a wake-up is late; what was missed while nobody was there is left out. */
function nextDue(due: number | null, now: number, periodMs: number): number {
  const next = (due ?? now) + periodMs
  return next <= now - periodMs ? now + periodMs : Math.max(next, now)
}

interface Origin {
  readonly originatorType: (typeof ORIGINATORS)[number]
  readonly originatorId?: string | null | undefined
}

function originatorOf(
  { originatorType, originatorId }: Origin,
  tenantId: string,
  nodeId: string,
  node: string,
): EntityId {
  if (originatorType === 'TENANT') return entityId('TENANT', tenantId)
  if (originatorType === 'RULE_NODE') return entityId('RULE_NODE', nodeId)
  if (originatorId === undefined || originatorId === null) {
    throw NodeErrors.CONFIGURATION_INVALID({ node, field: 'originatorId', reason: 'is missing' })
  }
  return entityId(originatorType, originatorId)
}

/** Messages of what is not the tenant's would write there. Throws `ORIGINATOR_UNKNOWN`. */
async function checkOwn(source: EntityId, { services }: NodeContext<'entities'>): Promise<void> {
  if (source.entityType === 'RULE_NODE') return
  if ((await services.entities.find(source)) === undefined) {
    throw NodeErrors.ORIGINATOR_UNKNOWN({ type: source.entityType, id: source.id })
  }
}

/** A failing script is an outcome too: its message is told and counted. */
async function run(script: CompiledScript<'generate'>, message: Message): Promise<Made> {
  let made: Made = { error: 'the script gave no outcome' }
  try {
    if (script.run !== undefined) return { made: script.run(message) }
    await script.runBatch([message], {
      value: (_index, value) => (made = { made: value }),
      error: (_index, error) => (made = { error: error.message }),
    })
  } catch (error) {
    return { error: errorText(error) }
  }
  return made
}
