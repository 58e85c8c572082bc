/** The commands that name one entity: TIMESERIES, TIMESERIES_HISTORY, ATTRIBUTES. Source: `websocket-api.md` 4. */
import { z } from 'zod'
import { entityId, isEntityType, isUuid, type EntityId } from '../../../model/entity-id.ts'
import type { MillraceError } from '../../../model/errors.ts'
import { AGGREGATIONS, type Aggregation } from '../../../model/telemetry-query.ts'
import { ATTRIBUTE_SCOPES, type AttributeScope } from '../../../model/value.ts'
import type { Operation } from '../../../services/access/permissions.ts'
import type { HistoryRequest } from '../../../services/telemetry/telemetry-service.ts'
import { defineCommand, text, whole, type CommandContext } from '../define-command.ts'
import { CommandErrors } from '../errors.ts'
import { updateFrame } from '../frames.ts'
import { AttributesSelection, TimeSeriesSelection, type Selection } from '../selection.ts'
import { Subscription } from '../subscription.ts'

/** Raw points of a window or a history where the client names no limit. */
export const DEFAULT_LIMIT = 100

const target = { entityType: text, entityId: text, keys: text, scope: text, unsubscribe: z.boolean().nullish() }
const range = { startTs: whole, interval: whole, limit: whole, agg: text }

interface Shape {
  readonly interval: number
  readonly limit: number
  readonly agg?: string | null | undefined
}

export const timeSeries = defineCommand({
  type: 'TIMESERIES',
  legacy: { telemetry: 'tsSubCmds' },
  fields: { ...target, ...range, timeWindow: whole, endTs: whole },
  examples: ({ deviceId = '' }) => [
    { entityType: 'DEVICE', entityId: deviceId, keys: 'secretSeries' },
    { entityType: 'DEVICE', entityId: deviceId },
    { entityType: 'DEVICE', entityId: deviceId, keys: 'secretSeries', timeWindow: 60_000 },
  ],
  async start(command, context) {
    if (command.unsubscribe === true) return unsubscribe(context, command.cmdId, 'time-series', 'attributes')
    const { clock, services } = context
    const entity = entityOf(command)
    const keys = keysOf(command.keys)
    const selection = new TimeSeriesSelection(services.telemetry, {
      entity,
      keys,
      window: keys !== undefined && command.timeWindow > 0 ? windowOf(command, clock.now()) : undefined,
      latestOnly: command.scope === 'LATEST_TELEMETRY',
      now: () => clock.now(),
    })
    await subscribe(context, command.cmdId, 'time-series', entity, selection)
  },
})

export const timeSeriesHistory = defineCommand({
  type: 'TIMESERIES_HISTORY',
  legacy: { telemetry: 'historyCmds' },
  fields: { ...target, ...range, endTs: whole },
  examples: ({ deviceId = '' }) => [
    { entityType: 'DEVICE', entityId: deviceId, keys: 'secretSeries', startTs: 0, endTs: 2_000_000_000_000 },
  ],
  async start(command, { services, clock, host, checkAccess }) {
    const entity = entityOf(command)
    const keys = keysOf(command.keys)
    if (keys === undefined) throw CommandErrors.KEYS_EMPTY()
    const { startTs, endTs } = command
    const request = { keys, startTs, endTs, ...shapeOf(command) }
    await checkAccess(entity, 'READ_TELEMETRY')
    const selection = new TimeSeriesSelection(services.telemetry, {
      entity,
      keys,
      window: request,
      latestOnly: false,
      now: () => clock.now(),
    })
    host.send(updateFrame(command.cmdId, await selection.read()))
  },
})

export const attributes = defineCommand({
  type: 'ATTRIBUTES',
  legacy: { telemetry: 'attrSubCmds' },
  fields: target,
  examples: ({ deviceId = '' }) => [
    { entityType: 'DEVICE', entityId: deviceId, scope: 'SERVER_SCOPE' },
    { entityType: 'DEVICE', entityId: deviceId, keys: 'secretAttribute' },
  ],
  async start(command, context) {
    if (command.unsubscribe === true) return unsubscribe(context, command.cmdId, 'attributes', 'time-series')
    const entity = entityOf(command)
    const scope = scopeOf(command.scope)
    const selection = new AttributesSelection(context.services.attributes, entity, scope, keysOf(command.keys))
    await subscribe(context, command.cmdId, 'attributes', entity, selection)
  },
})

type Followed = Subscription['liveKind']

const OPERATIONS: Readonly<Record<Followed, Operation>> = {
  'time-series': 'READ_TELEMETRY',
  attributes: 'READ_ATTRIBUTES',
}

/** Of the command's own kind, else of the other: some clients end what they follow by its id alone. */
function unsubscribe({ live }: CommandContext, cmdId: number, own: Followed, other: Followed): void {
  if (!live.remove(own, cmdId)) live.remove(other, cmdId)
}

async function subscribe(
  { host, live, checkAccess, fail }: CommandContext,
  cmdId: number,
  kind: Followed,
  entity: EntityId,
  selection: Selection,
): Promise<void> {
  const operation = OPERATIONS[kind]
  const check = (): Promise<void> => checkAccess(entity, operation)
  const lost = (error: MillraceError): void => {
    fail(cmdId, error)
    live.forget(subscription)
  }
  const subscription = new Subscription(cmdId, kind, entity, selection, host, { check, lost })
  if (!live.add(subscription)) {
    subscription.close()
    return
  }
  try {
    await checkAccess(entity, operation)
    await subscription.start()
  } catch (error) {
    live.forget(subscription)
    throw error
  }
}

/** The keys of a comma-separated text; undefined where it names none, which means all. */
export function keysOf(list: string | null | undefined): readonly string[] | undefined {
  const keys = (list ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '')
  return keys.length === 0 ? undefined : [...new Set(keys)]
}

function entityOf(command: {
  readonly entityType?: string | null | undefined
  readonly entityId?: string | null | undefined
}): EntityId {
  const id = command.entityId ?? ''
  if (id === '') throw CommandErrors.ENTITY_ID_EMPTY()
  const entityType = command.entityType ?? ''
  if (!isEntityType(entityType)) throw CommandErrors.ENTITY_TYPE_UNKNOWN({ entityType })
  if (!isUuid(id)) throw CommandErrors.UUID_INVALID({ value: id })
  return entityId(entityType, id.toLowerCase())
}

function scopeOf(scope: string | null | undefined): AttributeScope | undefined {
  if (isEmpty(scope)) return undefined
  const known = ATTRIBUTE_SCOPES.find((each) => each === scope)
  if (known === undefined) throw CommandErrors.SCOPE_UNKNOWN({ scope })
  return known
}

export function aggregationOf(name: string | null | undefined): Aggregation {
  const asked = isEmpty(name) ? 'NONE' : name
  const agg = AGGREGATIONS.find((each) => each === asked)
  if (agg === undefined) throw CommandErrors.AGGREGATION_UNKNOWN({ agg: name })
  return agg
}

function isEmpty(name: string | null | undefined): name is '' | null | undefined {
  return name === undefined || name === null || name === ''
}

function shapeOf({ interval, limit, agg }: Shape): { agg: Aggregation; interval: number; limit: number } {
  return { agg: aggregationOf(agg), interval, limit: limit === 0 ? DEFAULT_LIMIT : limit }
}

/** Without a start, the window ends now and holds what arrives in this very millisecond. */
function windowOf(
  command: Shape & { readonly startTs: number; readonly timeWindow: number },
  now: number,
): Omit<HistoryRequest, 'keys'> {
  const { startTs, timeWindow } = command
  const range = startTs === 0 ? { startTs: now - timeWindow, endTs: now + 1 } : { startTs, endTs: startTs + timeWindow }
  return { ...range, ...shapeOf(command) }
}
