/** Carries out one client's commands; what goes wrong with one is answered under its id and harms no other. */
import type { Clock } from '../../model/clock.ts'
import { entityId, isEntityType, isUuid, type EntityId } from '../../model/entity-id.ts'
import { isMillraceError, type MillraceError } from '../../model/errors.ts'
import type { Log } from '../../model/log.ts'
import type { Principal } from '../../model/principal.ts'
import { AGGREGATIONS, type Aggregation } from '../../model/telemetry-query.ts'
import { ATTRIBUTE_SCOPES, type AttributeScope } from '../../model/value.ts'
import type { HistoryRequest, Operation } from '../../services/services.ts'
import {
  keysOf,
  type AttributesCommand,
  type Command,
  type HistoryCommand,
  type TimeSeriesCommand,
} from './commands.ts'
import { CommandErrors } from './errors.ts'
import { BAD_REQUEST, errorFrame, INTERNAL_ERROR, unservedFrame, updateFrame } from './frames.ts'
import type { ReadServices } from './read-services.ts'
import type { SessionReads } from './read-turns.ts'
import { AttributesSelection, TimeSeriesSelection, type Selection } from './selection.ts'
import { Subscription, type SubscriptionHost } from './subscription.ts'

/** Raw points of a window or a history where the client names no limit. */
const DEFAULT_LIMIT = 100

export interface CommandWorld {
  readonly services: ReadServices
  readonly clock: Clock
  readonly log: Log
}

/** The subscriptions of a session: who may have one more, and which one a command id means. */
export interface SubscriptionTable {
  /** False where the limit is reached: the session is then closed. */
  add(subscription: Subscription): boolean
  remove(cmdId: number): void
  /** Removes the subscription itself, not a later one under the same id. */
  forget(subscription: Subscription): void
}

export class CommandRunner {
  private readonly world: CommandWorld
  private readonly principal: Principal
  private readonly host: SubscriptionHost
  private readonly table: SubscriptionTable
  /** Reads history in the session's turns. */
  private readonly telemetry: ReadServices['telemetry']

  constructor(
    world: CommandWorld,
    principal: Principal,
    host: SubscriptionHost,
    table: SubscriptionTable,
    reads: SessionReads,
  ) {
    this.world = world
    this.principal = principal
    this.host = host
    this.table = table
    const { telemetry } = world.services
    this.telemetry = {
      history: (entity, request) => reads.run(() => telemetry.history(entity, request)),
      latest: (entity, keys) => telemetry.latest(entity, keys),
    }
  }

  /** Begins at once, in the caller's turn, so that commands take effect in their order. Never rejects. */
  async run(command: Command): Promise<void> {
    try {
      if (command.cmdId < 0) throw CommandErrors.ID_NEGATIVE()
      switch (command.type) {
        case 'TIMESERIES':
          await this.timeSeries(command)
          return
        case 'ATTRIBUTES':
          await this.attributes(command)
          return
        case 'TIMESERIES_HISTORY':
          await this.history(command)
          return
        default: {
          const frame = unservedFrame(command.type, command.cmdId)
          if (frame !== undefined) this.host.send(frame)
        }
      }
    } catch (error) {
      this.host.send(this.answerTo(error, command))
    }
  }

  private async timeSeries(command: TimeSeriesCommand): Promise<void> {
    if (command.unsubscribe) return this.table.remove(command.cmdId)
    const { clock } = this.world
    const entity = entityOf(command)
    const keys = keysOf(command.keys)
    const selection = new TimeSeriesSelection(this.telemetry, {
      entity,
      keys,
      window: keys !== undefined && command.timeWindow > 0 ? windowOf(command, clock.now()) : undefined,
      latestOnly: command.scope === 'LATEST_TELEMETRY',
      now: () => clock.now(),
    })
    await this.subscribe(command, entity, selection, 'READ_TELEMETRY')
  }

  private async attributes(command: AttributesCommand): Promise<void> {
    if (command.unsubscribe) return this.table.remove(command.cmdId)
    const entity = entityOf(command)
    const { attributes } = this.world.services
    const selection = new AttributesSelection(attributes, entity, scopeOf(command.scope), keysOf(command.keys))
    await this.subscribe(command, entity, selection, 'READ_ATTRIBUTES')
  }

  private async history(command: HistoryCommand): Promise<void> {
    const entity = entityOf(command)
    const keys = keysOf(command.keys)
    if (keys === undefined) throw CommandErrors.KEYS_EMPTY()
    const { startTs, endTs } = command
    const request = { keys, startTs, endTs, ...shapeOf(command) }
    await this.checkAccess(entity, 'READ_TELEMETRY')
    const selection = new TimeSeriesSelection(this.telemetry, {
      entity,
      keys,
      window: request,
      latestOnly: false,
      now: () => this.world.clock.now(),
    })
    const { values } = await selection.read()
    this.host.send(updateFrame(command.cmdId, values))
  }

  private async subscribe(
    command: TimeSeriesCommand | AttributesCommand,
    entity: EntityId,
    selection: Selection,
    operation: Operation,
  ): Promise<void> {
    const check = (): Promise<void> => this.checkAccess(entity, operation)
    const lost = (error: MillraceError): void => {
      this.host.send(this.answerTo(error, command))
      this.table.forget(subscription)
    }
    const subscription = new Subscription(command.cmdId, entity, selection, this.host, { check, lost })
    if (!this.table.add(subscription)) {
      subscription.close()
      return
    }
    try {
      await this.checkAccess(entity, operation)
      await subscription.start()
    } catch (error) {
      this.table.forget(subscription)
      throw error
    }
  }

  /** Throws FETCH_DENIED or ATTRIBUTES_DENIED alike for what is not there and what may not be seen. */
  private async checkAccess(entity: EntityId, operation: Operation): Promise<void> {
    try {
      await this.world.services.access.check(this.principal, operation, entity)
    } catch (error) {
      if (!isMillraceError(error) || (error.kind !== 'denied' && error.kind !== 'invalid')) throw error
      throw operation === 'READ_ATTRIBUTES'
        ? CommandErrors.ATTRIBUTES_DENIED(undefined, error)
        : CommandErrors.FETCH_DENIED(undefined, error)
    }
  }

  private answerTo(error: unknown, { cmdId, type }: Command): string {
    if (isMillraceError(error)) return errorFrame(cmdId, codeOf(error), error.message)
    this.world.log.error('WebSocket command failed', { type, error })
    return errorFrame(cmdId, INTERNAL_ERROR, 'Internal Server error!')
  }
}

/** What the reference finds out while it works is its internal error, what it checks first a bad request. */
const INTERNAL_CODES: ReadonlySet<string> = new Set([
  'ws.FETCH_DENIED',
  'ws.ATTRIBUTES_DENIED',
  'ws.UUID_INVALID',
  'ws.ENTITY_TYPE_UNKNOWN',
  'ws.AGGREGATION_UNKNOWN',
])

function codeOf(error: MillraceError): number {
  return error.kind !== 'invalid' || INTERNAL_CODES.has(error.code) ? INTERNAL_ERROR : BAD_REQUEST
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
  if (scope === undefined || scope === null || scope === '') return undefined
  const known = ATTRIBUTE_SCOPES.find((each) => each === scope)
  if (known === undefined) throw CommandErrors.SCOPE_UNKNOWN({ scope })
  return known
}

function shapeOf(command: TimeSeriesCommand | HistoryCommand): { agg: Aggregation; interval: number; limit: number } {
  const { interval, limit } = command
  const agg = AGGREGATIONS.find((each) => each === (command.agg ?? 'NONE'))
  if (agg === undefined) throw CommandErrors.AGGREGATION_UNKNOWN({ agg: command.agg })
  return { agg, interval, limit: limit === 0 ? DEFAULT_LIMIT : limit }
}

/** Without a start, the window ends now and holds what arrives in this very millisecond. */
function windowOf(command: TimeSeriesCommand, now: number): Omit<HistoryRequest, 'keys'> {
  const { startTs, timeWindow } = command
  const range = startTs === 0 ? { startTs: now - timeWindow, endTs: now + 1 } : { startTs, endTs: startTs + timeWindow }
  return { ...range, ...shapeOf(command) }
}
