/** The node behind the one that calculates: stores results at once, raises and clears alarms, makes relations. What it does twice is the same. */
import { entriesJson, entriesOf } from '../../../model/entry-json.ts'
import { stringifyJson, type JsonObject } from '../../../model/json.ts'
import { BACKFILL_METADATA, type Message } from '../../../model/message.ts'
import { changedEntries, writerOf } from '../../../engine/rulechain/capabilities/attributes.ts'
import { causeOf } from '../../../engine/rulechain/capabilities/calculated.ts'
import type { NodeContext } from '../../../engine/rulechain/node.ts'
import type { NodeInstance, NodeVisit } from '../../../engine/rulechain/node-instance.ts'
import { resultSchema, type ResultPayload } from './results.ts'

type Context = NodeContext<'telemetry' | 'attributes' | 'alarms' | 'relations'>
type Result<Kind extends ResultPayload['kind']> = Extract<ResultPayload, { readonly kind: Kind }>

const CONVERSION = { castStrings: false, nulls: 'skip' } as const

export function storingNode(context: Context): NodeInstance {
  return {
    handle: async (message, at) => {
      const result = resultSchema.parse(message.json())
      switch (result.kind) {
        case 'series':
          await storeSeries(context, message, result)
          break
        case 'attributes':
          await storeAttributes(context, message, result, at.visit())
          break
        case 'raise':
          await raise(context, message, result, at.visit())
          break
        case 'clear':
          await clear(context, message, result, at.visit())
          break
        case 'relation':
          await relate(context, message, result)
      }
      return 'Success'
    },
  }
}

async function storeSeries(context: Context, message: Message, result: Result<'series'>): Promise<void> {
  const { groups, ttl, saveTimeSeries, saveLatest, sendWsUpdate, processCfs } = result
  const points = groups.flatMap(({ ts, values }) => entriesOf(values, CONVERSION).map((entry) => ({ ...entry, ts })))
  if (points.length === 0) return
  await new Promise<void>((resolve, reject) => {
    context.services.telemetry.save(
      {
        ...{
          tenantId: context.tenantId,
          entity: message.originator,
          points,
          ttlSeconds: ttl,
          sequence: message.sequence,
        },
        ...{ history: saveTimeSeries, latest: saveLatest, notify: sendWsUpdate },
        calculated: processCfs ? causeOf(message, context.ruleNodeId, 'POST_TELEMETRY_REQUEST') : undefined,
      },
      (error) => {
        if (error === undefined) resolve()
        else reject(error)
      },
    )
  })
}

async function storeAttributes(
  context: Context,
  message: Message,
  result: Result<'attributes'>,
  visit: NodeVisit,
): Promise<void> {
  const { scope, saveAttribute, sendWsUpdate, processCfs } = result
  const { attributes } = context.services
  const sent = entriesOf(result.values, CONVERSION)
  const writer = result.updateAttributesOnlyOnValueChange ? writerOf(visit.id, context.ruleNodeId) : undefined
  const entries =
    writer === undefined ? sent : await changedEntries(attributes, message.originator, scope, sent, writer)
  if (entries.length === 0) return
  await attributes.save({
    ...{ tenantId: context.tenantId, entity: message.originator, scope, entries, sequence: message.sequence },
    ...{ writer, store: saveAttribute, notify: sendWsUpdate, notifyDevice: scope === 'SHARED_SCOPE' },
    calculated: processCfs ? causeOf(message, context.ruleNodeId, 'POST_ATTRIBUTES_REQUEST') : undefined,
  })
  if (!result.sendAttributesUpdatedNotification || scope === 'CLIENT_SCOPE') return
  await toRuleChain(context, message, 'ATTRIBUTES_UPDATED', { scope }, entriesJson(entries))
}

async function raise(context: Context, message: Message, result: Result<'raise'>, visit: NodeVisit): Promise<void> {
  const { alarms } = context.services
  const { alarmType, severity, startTs, details, dashboardId, metadata } = result
  const { propagate, propagateToOwner, propagateToTenant, propagateRelationTypes } = result
  const own: JsonObject = { ...details, ...(dashboardId === null ? {} : { dashboardId }) }
  const isSilent = Object.keys(own).length === 0
  const place = { originator: message.originator, type: alarmType }
  const raised = await alarms.createOrUpdate(place, visit, (active) => ({
    severity,
    ...(active === undefined ? { startTs, endTs: startTs } : { endTs: message.ts }),
    details: isSilent ? (active?.details ?? {}) : own,
    ...{ propagate, propagateToOwner, propagateToTenant, propagateRelationTypes },
  }))
  // The tenant may create no more.
  if (raised === undefined) return
  const [type, flags] = RAISED[raised.result]
  await toRuleChain(context, message, type, { ...flags, ...metadata }, stringifyJson(raised.alarm.json))
}

const RAISED = {
  created: ['ALARM_CREATED', { isNewAlarm: 'true' }],
  updated: ['ALARM_UPDATED', { isExistingAlarm: 'true' }],
  'severity updated': ['ALARM_SEVERITY_UPDATED', { isExistingAlarm: 'true', isSeverityUpdated: 'true' }],
} as const

async function clear(
  context: Context,
  message: Message,
  { alarmType, details, metadata }: Result<'clear'>,
  visit: NodeVisit,
): Promise<void> {
  const { alarms } = context.services
  const place = { originator: message.originator, type: alarmType }
  const cleared = await alarms.clear(place, visit, () => ({ details: details ?? undefined }))
  if (cleared === undefined) return
  await toRuleChain(
    context,
    message,
    'ALARM_CLEAR',
    { isClearedAlarm: 'true', ...metadata },
    stringifyJson(cleared.json),
  )
}

async function relate(
  { services }: Context,
  message: Message,
  { action, from, to, relationType: type }: Result<'relation'>,
): Promise<void> {
  if (action === 'create') await services.relations.create({ from, to, type }, message)
  else await services.relations.delete({ from, to, type }, message)
}

/** A new message at the start of the originator's chain: where it goes, the result's message says. */
function toRuleChain(
  context: Context,
  message: Message,
  type: string,
  told: Readonly<Record<string, string>>,
  data: string,
): Promise<void> {
  const metadata = message.isBackfill ? { ...told, ...BACKFILL_METADATA } : told
  return context.enqueue(message.with({ type, ts: context.clock.now(), metadata, data, resumption: undefined }))
}
