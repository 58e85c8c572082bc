/**
 * Telemetry: saves of one turn become one write of the store, and the feed is told after its commit. Source: `rest-api.md` 4.
 */
import type { Clock } from '../../model/clock.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { entriesJson } from '../../model/entry-json.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import type { Principal } from '../../model/principal.ts'
import { countOf, type DataPoint, type Entry, type PointsToStore, type TelemetryGroup } from '../../model/value.ts'
import type { CalculatedValues, NodeCalculated } from '../../engine/rulechain/capabilities/calculated.ts'
import type { SaveDone, TelemetrySave } from '../../engine/rulechain/capabilities/telemetry.ts'
import { USAGE, type UsageMeter } from '../../engine/usage/usage.ts'
import type { ChangeFeed, CommitNumber } from '../../engine/subscriptions/change.ts'
import type {
  DeletedKeys,
  PointsByKey,
  PointsWrite,
  Snapshot,
  TimeSeriesStore,
} from '../../storage/timeseries/store.ts'
import { attemptedOn } from '../audit/audit-log.ts'
import type { Changes } from '../changes/changes.ts'
import { TelemetryErrors } from '../errors.ts'
import { historyQueryOf } from './history.ts'
import { SavesInOrder } from './saves-in-order.ts'
import { handedOver } from '../calculated-fields/handed-over.ts'
import { checkKey } from '../names.ts'
import { requireRoute, type MessageRoute, type RouteLookup } from '../changes/message-route.ts'
import { UsageErrors } from '../usage/errors.ts'
import { storageDays } from '../usage/storage-days.ts'
import type { HistoryRequest, TelemetryService } from './telemetry-service.ts'

/** A save that waits, and what the store is to write of it: one object, since there is one a message. */
class WaitingSave implements PointsWrite {
  readonly request: TelemetrySave
  readonly ttlSeconds: number
  private readonly done: SaveDone

  constructor(request: TelemetrySave, done: SaveDone, ttlSeconds: number) {
    this.request = request
    this.done = done
    this.ttlSeconds = ttlSeconds
  }

  get entityId(): string {
    return this.request.entity.id
  }

  get points(): readonly DataPoint[] {
    return this.request.points
  }

  get entries(): readonly Entry[] | undefined {
    return this.request.entries
  }

  get ts(): number | undefined {
    return this.request.ts
  }

  get sequence(): number {
    return this.request.sequence
  }

  get history(): boolean {
    return this.request.history
  }

  get latest(): boolean {
    return this.request.latest
  }

  /** What is only shown is in no commit. */
  get isStored(): boolean {
    return this.request.history || this.request.latest
  }

  end(error: Error | undefined): void {
    this.done(error, this.request.place ?? 0)
  }
}

/**
 * Points that the store has and has not answered, at most, large saves alone: it refuses 200,000, for users too. What comes meanwhile waits
 * here, so that a message is not refused because of others.
 */
const MAX_HANDED_POINTS = 100_000

/** The commit, or what refused it. */
type Outcome = CommitNumber | Error

export interface TelemetryFigures {
  /** Writes that the store has not answered, and the saves in them. */
  readonly writes: number
  readonly saves: number
  /** Saves that the store has not been handed yet: it has as many points as it may. */
  readonly waiting: number
  /** Saves that were answered before an earlier one of their entity, and waited for it; only grows. */
  readonly late: number
}

/** Points before 1970 and from clocks that run ahead too; the reference leaves these two behind. */
export const ALL_TIME = { startTs: Number.MIN_SAFE_INTEGER, endTs: Number.MAX_SAFE_INTEGER }

/** Told as the reference does: from 1970 until now. */
function isAllTime({ startTs, endTs }: Pick<DeletionRange, 'startTs' | 'endTs'>): boolean {
  return startTs === ALL_TIME.startTs && endTs === ALL_TIME.endTs
}

export type DeletionRange = Parameters<TelemetryService['deleteByUser']>[2]

export class StoredTelemetry implements TelemetryService {
  private readonly store: TimeSeriesStore
  private readonly feed: ChangeFeed
  private readonly changes: Changes
  private readonly routeOf: RouteLookup
  private readonly clock: Clock
  private readonly calculated: NodeCalculated
  private readonly meter: UsageMeter
  /** Bounded by what the engine has open: each save belongs to a message that is not settled. */
  private waiting: WaitingSave[] = []
  private isFlushBooked = false
  private handedPoints = 0
  private readonly order = new SavesInOrder<WaitingSave>()

  constructor(
    store: TimeSeriesStore,
    feed: ChangeFeed,
    changes: Changes,
    routeOf: RouteLookup,
    clock: Clock,
    calculated: NodeCalculated,
    meter: UsageMeter,
  ) {
    this.calculated = calculated
    this.store = store
    this.feed = feed
    this.changes = changes
    this.routeOf = routeOf
    this.clock = clock
    this.meter = meter
  }

  figures(): TelemetryFigures {
    return { ...this.order.underWay, waiting: this.waiting.length, late: this.order.late }
  }

  save(request: TelemetrySave, done: SaveDone, ttlSeconds = request.ttlSeconds): void {
    this.waiting.push(new WaitingSave(request, done, ttlSeconds))
    this.bookFlush()
  }

  saveByUser(
    principal: Principal,
    entity: EntityId,
    groups: readonly TelemetryGroup[],
    ttlSeconds: number,
  ): Promise<void> {
    const tried = () => attemptedOn('TIMESERIES_UPDATED', entity)
    return this.changes.attempt(principal, tried, () => this.saveOfUser(principal, entity, groups, ttlSeconds))
  }

  /** Throws what `saveByUser` would refuse of these, for an entity that is not there yet too. */
  checkByUser(principal: Principal, entity: EntityId, place: MessageRoute, groups: readonly TelemetryGroup[]): void {
    checkKeys(groups)
    const event = { principal, ...place, originator: entity, metadata: {}, data: dataOf(groups) }
    this.changes.announce({ type: 'TIMESERIES_UPDATED', ...event })
  }

  private async saveOfUser(
    principal: Principal,
    entity: EntityId,
    groups: readonly TelemetryGroup[],
    ttlSeconds: number,
  ): Promise<void> {
    checkKeys(groups)
    const place = await requireRoute(this.routeOf, entity)
    const points = groups.flatMap((group) => group.entries.map((entry): DataPoint => ({ ...entry, ts: group.ts })))
    const usage = this.meter.of(place.tenantId)
    if (usage.isDisabled('DB')) throw UsageErrors.STORAGE()
    const write = { entityId: entity.id, points, sequence: 0, ttlSeconds, history: true, latest: true }
    const event = { principal, ...place, originator: entity, metadata: {}, data: dataOf(groups) }
    const message = this.changes.announce({ type: 'TIMESERIES_UPDATED', ...event })
    const audited = await this.changes.audited({ type: 'TIMESERIES_UPDATED', ...event })
    this.publish(entity, write, await this.store.write([write]))
    usage.add(USAGE.storageDataPointDays, storageDays(points, ttlSeconds))
    await this.changes.commitWith(audited, message)
    if (message !== undefined) await this.tellFields(message, entity, { kind: 'series', points })
  }

  private tellFields({ id, ts, type, tenantId }: Message, entity: EntityId, values: CalculatedValues): Promise<void> {
    return handedOver(this.calculated, { tenantId, entity, values, cause: { id, ts, type, calculatedFieldIds: [] } })
  }

  async history(entity: EntityId, request: HistoryRequest): Promise<Snapshot<PointsByKey>> {
    const query = historyQueryOf(request)
    // It holds no commit.
    if (query === undefined) return { value: new Map(), sequence: 0 }
    return this.store.history(entity.id, query)
  }

  latest(entity: EntityId, keys: readonly string[] | undefined): Promise<Snapshot<readonly DataPoint[]>> {
    return this.store.latest(entity.id, keys)
  }

  keys(entity: EntityId): Promise<readonly string[]> {
    return this.store.keys(entity.id)
  }

  async deleteByUser(principal: Principal, entity: EntityId, range: DeletionRange): Promise<DeletedKeys> {
    if (range.keys.length === 0) throw TelemetryErrors.KEYS_MISSING()
    const tried = () => attemptedOn('TIMESERIES_DELETED', entity)
    return this.changes.attempt(principal, tried, () => this.deleteOfUser(principal, entity, range))
  }

  private async deleteOfUser(principal: Principal, entity: EntityId, range: DeletionRange): Promise<DeletedKeys> {
    const place = await requireRoute(this.routeOf, entity)
    const { startTs, endTs } = isAllTime(range) ? { startTs: 0, endTs: this.clock.now() } : range
    const data = `{"timeseries":${JSON.stringify(range.keys)},"startTs":${startTs},"endTs":${endTs}}`
    const event = { principal, ...place, originator: entity, metadata: {}, data }
    const message = this.changes.announce({ type: 'TIMESERIES_DELETED', ...event })
    const audited = await this.changes.audited({ type: 'TIMESERIES_DELETED', ...event })
    const { value: deleted, sequence } = await this.store.delete({ entityId: entity.id, ...range })
    this.publishDeletion(entity, deleted, sequence)
    await this.changes.commitWith(audited, message)
    if (message !== undefined) await this.tellFields(message, entity, { kind: 'series deleted', keys: range.keys })
    return deleted
  }

  private bookFlush(): void {
    if (this.isFlushBooked || this.waiting.length === 0 || this.handedPoints >= MAX_HANDED_POINTS) return
    this.isFlushBooked = true
    this.clock.soon(() => {
      this.isFlushBooked = false
      void this.storeTogether(this.takeWaiting())
    })
  }

  private takeWaiting(): readonly WaitingSave[] {
    let count = 0
    for (const save of this.waiting) {
      if (count > 0 && this.handedPoints >= MAX_HANDED_POINTS) break
      this.handedPoints += countOf(save)
      count++
    }
    const saves = this.waiting
    this.waiting = saves.splice(count)
    return saves
  }

  private async storeTogether(saves: readonly WaitingSave[]): Promise<void> {
    const write = this.order.begin(saves)
    const outcome = await this.written(saves)
    for (const save of saves) this.handedPoints -= countOf(save)
    this.bookFlush()
    this.order.end(write, saves, (save, index) => this.tell(save, Array.isArray(outcome) ? outcome[index] : outcome))
  }

  /** Of all of them, or of each. What can never be stored, such as a point beyond all dates, costs its own message and not those it went with, of whatever tenant. */
  private async written(saves: readonly WaitingSave[]): Promise<Outcome | Outcome[]> {
    const writes = saves.every(isStored) ? saves : saves.filter(isStored)
    try {
      return writes.length === 0 ? undefined : await this.store.write(writes)
    } catch (error) {
      const reason = error instanceof Error ? error : new Error(String(error))
      if (!isMillraceError(reason) || reason.kind !== 'invalid' || saves.length === 1) return reason
      // In their order and in one turn: the store makes a group of them again, in which each call has its own outcome.
      return (await Promise.all(saves.map((save) => this.written([save])))).flat()
    }
  }

  private tell(save: WaitingSave, outcome: Outcome): void {
    if (outcome instanceof Error) return save.end(outcome)
    const { request } = save
    if (request.notify) this.publish(request.entity, request, save.isStored ? outcome : undefined)
    if (!this.isHandedOver(save)) save.end(undefined)
  }

  /** Then the message is done when the log has what calculated fields are to know. */
  private isHandedOver(save: WaitingSave): boolean {
    const { request } = save
    const { tenantId, entity } = request
    if (!this.calculated.mayNeed(tenantId)) return false
    const { calculated: cause } = request
    if (cause === undefined) return false
    const values = { kind: 'series', points: request.points } as const
    return this.calculated.handOver({ tenantId, entity, values, cause }, (error) => save.end(error))
  }

  private publish(entity: EntityId, saved: PointsToStore, sequence: CommitNumber): void {
    if (!this.feed.hasListeners(entity, 'telemetry')) return
    this.feed.publish({ kind: 'telemetry', entity, sequence, points: saved.points })
  }

  /** A key whose latest value went is first told as deleted, so that an older point may take its place. */
  private publishDeletion(entity: EntityId, deleted: DeletedKeys, sequence: number): void {
    const keys = deleted.latestRemoved.map(({ key }) => key)
    if (keys.length === 0) return
    this.feed.publish({ kind: 'telemetry-deleted', entity, sequence, keys })
    const points = deleted.latestRemoved.flatMap(({ replacement }) => (replacement === undefined ? [] : [replacement]))
    if (points.length > 0) this.feed.publish({ kind: 'telemetry', entity, sequence, points })
  }
}

function isStored(save: WaitingSave): boolean {
  return save.isStored
}

function checkKeys(groups: readonly TelemetryGroup[]): void {
  for (const group of groups) for (const entry of group.entries) checkKey(entry.key, TelemetryErrors.KEY_EMPTY)
}

function dataOf(groups: readonly TelemetryGroup[]): string {
  const series = groups.map((group) => `{"ts":${group.ts},"values":${entriesJson(group.entries)}}`)
  return `{"timeseries":[${series.join(',')}]}`
}
