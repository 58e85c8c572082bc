/** Copies attributes of the originator to its entity views (`rule-nodes.md` 37). */
import type { NodeAttributes } from '../../engine/rulechain/capabilities/attributes.ts'
import type { NodeView } from '../../engine/rulechain/capabilities/views.ts'
import type { Emission, NodeContext } from '../../engine/rulechain/node.ts'
import { entriesOf } from '../../model/entry-json.ts'
import { isJsonObject } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import type { AttributeScope, Entry } from '../../model/value.ts'
import { EMPTY_DEFAULTS, defineNode, emptyConfiguration } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { bodyObject } from '../body.ts'
import { partId } from '../part-id.ts'
import { scopeOf } from './attribute-scope.ts'

const EXPOSED = { CLIENT_SCOPE: 'cs', SERVER_SCOPE: 'ss', SHARED_SCOPE: 'sh' } as const

/** Whose attributes each type of message means where its metadata do not say it; undefined: they must. */
const SCOPES: Readonly<Record<string, AttributeScope | undefined>> = {
  ATTRIBUTES_UPDATED: undefined,
  ATTRIBUTES_DELETED: undefined,
  POST_ATTRIBUTES_REQUEST: 'CLIENT_SCOPE',
  ACTIVITY_EVENT: 'SERVER_SCOPE',
  INACTIVITY_EVENT: 'SERVER_SCOPE',
}

export const copyToView = defineNode({
  type: 'org.thingsboard.rule.engine.action.TbCopyAttributesToEntityViewNode',
  name: 'copy to view',
  category: 'ACTION',
  relations: ['Success'],
  description:
    'Copies the attributes that an entity view of the originator exposes to the view, or deletes them there, where the view counts now. For each view a message goes on, with the view as its originator.',
  configuration: emptyConfiguration,
  defaults: EMPTY_DEFAULTS,
  examples: [
    {
      title: 'no view: the message ends',
      configuration: {},
      given: { type: 'POST_ATTRIBUTES_REQUEST', data: '{"a":1}', metadata: { deviceName: 'T1' } },
      expect: { relations: [] },
    },
    {
      title: 'telemetry is refused',
      configuration: {},
      given: { type: 'POST_TELEMETRY_REQUEST', data: '{"a":1}', metadata: { deviceName: 'T1' } },
      expect: { relations: ['Failure'] },
    },
  ],
  uses: ['attributes', 'views'],
  effects: true,
  create: (_configuration, context) => ({
    handle: async (message) => {
      if (!Object.hasOwn(SCOPES, message.type)) throw NodeErrors.UNSUPPORTED_TYPE({ type: message.type })
      if (Object.keys(message.metadata).length === 0) throw NodeErrors.METADATA_EMPTY()
      const scope = scopeMeant(message)
      const now = context.clock.now()
      const views = await context.services.views.of(message.originator)
      const emissions: Emission[] = []
      for (const view of views) {
        if (!counts(view, now)) continue
        if (!(await copy(view, message, scope, context))) continue
        const id = partId(message.id, emissions.length)
        emissions.push({ message: message.with({ id, originator: view.id }), relations: ['Success'] })
      }
      return emissions
    },
  }),
})

/** Throws `SCOPE_MISSING`, `METADATA_INVALID`. */
function scopeMeant(message: Message): AttributeScope {
  const usual = SCOPES[message.type]
  if (message.type === 'POST_ATTRIBUTES_REQUEST' && usual !== undefined) return usual
  if (usual === undefined && (message.metadata['scope'] ?? '') === '') throw NodeErrors.SCOPE_MISSING()
  return scopeOf(message, usual ?? 'SERVER_SCOPE')
}

function counts({ startTimeMs, endTimeMs }: NodeView, now: number): boolean {
  return (startTimeMs === 0 || startTimeMs <= now) && (endTimeMs === 0 || endTimeMs >= now)
}

/** False where the message deletes nothing that the view shows: none goes on for it. */
async function copy(
  view: NodeView,
  message: Message,
  scope: AttributeScope,
  context: NodeContext<'attributes' | 'views'>,
): Promise<boolean> {
  const exposed = view.attributes[EXPOSED[scope]]
  const { attributes } = context.services
  if (message.type === 'ATTRIBUTES_DELETED') return remove(view, message, scope, exposed, attributes)
  const { castStrings } = context.settings
  const entries = entriesOf(bodyObject(message), { castStrings, nulls: 'refuse' }).filter(({ key }) =>
    exposed.includes(key),
  )
  if (entries.length > 0) await attributes.save(saveOf(view, message, scope, entries))
  return true
}

async function remove(
  view: NodeView,
  message: Message,
  scope: AttributeScope,
  exposed: readonly string[],
  attributes: NodeAttributes,
): Promise<boolean> {
  const body = message.json()
  const named = isJsonObject(body) ? body['attributes'] : undefined
  const keys = Array.isArray(named) ? named.filter((key) => typeof key === 'string') : []
  const gone = keys.filter((key) => exposed.includes(key))
  if (gone.length === 0) return false
  await attributes.delete({ entity: view.id, scope, keys: gone, notifyDevice: false })
  return true
}

function saveOf(view: NodeView, { tenantId, sequence }: Message, scope: AttributeScope, entries: readonly Entry[]) {
  return { tenantId, entity: view.id, scope, entries, sequence, store: true, notify: true, notifyDevice: false }
}
