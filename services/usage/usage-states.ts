/**
 * Stores what tenants use and says what they may still use. Each process adds what it counted to the sums in the entity database, a group
 * of tenants a transaction; whoever added writes the series and decides by the sums. A state changes under its version, together with the
 * notifications about it, so that of several processes one tells. Source: `rule-engine.md` 9.4.
 */
import type { Clock, Random, TimerHandle } from '../../model/clock.ts'
import { entityId } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import type { DataPoint } from '../../model/value.ts'
import type { NodeTelemetry } from '../../engine/rulechain/capabilities/telemetry.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import { USAGE, USAGE_COUNTERS, type UsageMeter } from '../../engine/usage/usage.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import type { UsageTotal } from '../../storage/entities/usage-counts.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import {
  apiUsageStates,
  featureStatesOf,
  membersOf,
  NEW_STATE,
  type ApiUsageState,
} from '../entities/api-usage-state.ts'
import { recordWith, rowsOf } from '../entities/rows.ts'
import { tenants } from '../entities/tenant.ts'
import type { LimitsOfTenants } from '../tenants/limits.ts'
import type { Report } from '../changes/outbox.ts'
import { COUNTER_FORMS, disabledBits, FEATURE_FORMS, monthOf, statesOf } from './features.ts'
import { pagesOf } from './pages.ts'
import { HOURLY, limitPoints, long, pointsOf, statePoint, usedOf, zeroPoints } from './points.ts'
import type { UsageNews } from './usage-news.ts'

export interface UsageStatesParts {
  readonly entities: EntityStore
  readonly meter: UsageMeter
  readonly limits: Pick<LimitsOfTenants, 'of'>
  readonly telemetry: NodeTelemetry
  readonly feed: ChangeFeed
  readonly news: UsageNews
  readonly clock: Clock
  readonly random: Random
  readonly report: Report
  /** A crash loses at most what was counted in this time. */
  readonly intervalMs: number
}

/** Mails and messages to phones cost money: they are stored this often. */
const URGENT_INTERVAL_MS = 10_000
/** Of tenants in one transaction. */
const GROUP = 100
const AT_ONCE = 10
const PAGE = 500
const HOUR_MS = 3_600_000
const DEVICES_INTERVAL_MS = 300_000

/** What was added of a group of tenants. */
interface Added {
  readonly states: readonly ApiUsageState[]
  readonly totals: readonly UsageTotal[]
}

export class UsageStates {
  private readonly parts: UsageStatesParts
  private readonly rows: RowStore
  private readonly stops: readonly (() => void)[]
  private timer: TimerHandle | undefined
  private underWay: Promise<void> = Promise.resolve()
  /** Whose limits may have changed. */
  private readonly doubted = new Set<string>()
  private readonly changedProfiles = new Set<string>()
  private storedAt = 0
  private devicesCountedAt = 0
  private isClosed = false

  constructor(parts: UsageStatesParts) {
    this.parts = parts
    this.rows = rowsOf(apiUsageStates, parts.entities)
    this.stops = [
      parts.feed.listenToAll(['settings-changed', 'entity-deleted'], ({ kind, entity: { entityType, id } }) => {
        if (entityType === 'API_USAGE_STATE') this.then(() => this.readState(id))
        else if (entityType === 'TENANT' && kind === 'entity-deleted') parts.meter.forget(id)
        else if (entityType === 'TENANT') this.doubt(this.doubted, id)
        else if (entityType === 'TENANT_PROFILE') this.doubt(this.changedProfiles, id)
      }),
      parts.feed.onGap(() => this.then(() => this.readDisabled())),
    ]
  }

  /** Who may use nothing more of what is known once it resolves; the rest follows in the background. */
  async start(): Promise<void> {
    await this.readDisabled()
    this.storedAt = this.devicesCountedAt = this.parts.clock.now()
    this.then(() => this.makeMissing())
    this.next()
  }

  /** Stores what was counted until now. */
  flush(): Promise<void> {
    this.then(() => this.store(() => true))
    return this.underWay
  }

  /** Of the present month, by the counters' places. */
  async usedBy(tenantId: string): Promise<readonly number[]> {
    const { cycleTs } = this.period()
    return usedOf(await this.parts.entities.usageCounts.of([tenantId]), cycleTs)
  }

  /** What a new tenant starts with. */
  newState(tenantId: string): ApiUsageState {
    const { clock, random } = this.parts
    const identity = { id: random.uuid(), createdTime: clock.now(), version: 1, tenantId }
    return recordWith(apiUsageStates, identity, { ...NEW_STATE, cycleTs: monthOf(clock.now()) })
  }

  /** Stores what was counted. Idempotent. */
  async close(): Promise<void> {
    if (!this.isClosed) {
      this.isClosed = true
      this.timer?.cancel()
      for (const stop of this.stops) stop()
      this.then(() => this.store(() => true), true)
    }
    await this.underWay.then(() => this.parts.news.close())
  }

  private doubt(ids: Set<string>, id: string): void {
    ids.add(id)
    this.then(() => this.tellDoubted())
  }

  /** One thing at a time; what fails is tried again with the next. */
  private then(step: () => Promise<void>, isLast = false): void {
    if (this.isClosed && !isLast) return
    this.underWay = this.underWay.then(step).catch((error: unknown) => {
      this.parts.report('The use of the API is not stored: it is tried again', { error: errorText(error) })
    })
  }

  private next(): void {
    const { clock, intervalMs } = this.parts
    if (this.isClosed) return
    this.timer = clock.after(Math.min(intervalMs, URGENT_INTERVAL_MS), () => {
      this.then(() => this.work())
      void this.underWay.then(() => this.next())
    })
  }

  private async work(): Promise<void> {
    const { clock, intervalMs } = this.parts
    const now = clock.now()
    const isTime = now - this.storedAt >= intervalMs
    if (isTime) this.storedAt = now
    await this.beginMonth()
    await this.store((counts) => isTime || (counts[USAGE.emails] ?? 0) > 0 || (counts[USAGE.sms] ?? 0) > 0)
    await this.tellDoubted()
    if (now - this.devicesCountedAt < DEVICES_INTERVAL_MS) return
    this.devicesCountedAt = now
    await this.countDevices()
  }

  private async store(isWanted: (counts: readonly number[]) => boolean): Promise<void> {
    const { meter } = this.parts
    const taken = [...meter.take()].filter(([tenantId, counts]) => {
      if (tenantId === SYSTEM_TENANT) return false
      if (!isWanted(counts)) meter.giveBack(tenantId, counts)
      return isWanted(counts)
    })
    for (let start = 0; start < taken.length; start += GROUP) {
      const group = taken.slice(start, start + GROUP)
      let added
      try {
        added = await this.add(group)
      } catch (error) {
        // All that is not in the store counts the next time.
        for (const [tenantId, counts] of taken.slice(start)) meter.giveBack(tenantId, counts)
        throw error
      }
      await this.tell(added).catch((error: unknown) => {
        // The sums are stored; what follows of them is looked at again.
        for (const { tenantId } of added.states) this.doubted.add(tenantId)
        this.reportUntold(added.states.length, errorText(error))
      })
    }
  }

  /** To the sums. */
  private async add(group: readonly (readonly [tenantId: string, counts: readonly number[]])[]): Promise<Added> {
    const states = await this.statesOf(group.map(([tenantId]) => tenantId))
    const increments = group.flatMap(([tenantId, counts]) =>
      USAGE_COUNTERS.filter((counter) => states.has(tenantId) && (counts[counter] ?? 0) > 0).map((counter) => ({
        ...{ tenantId, counter, count: counts[counter] ?? 0 },
      })),
    )
    const totals = await this.parts.entities.usageCounts.add(increments, this.period())
    return { states: [...states.values()], totals }
  }

  /** In the series, and by what follows of the sums. */
  private async tell({ states, totals }: Added): Promise<void> {
    for (const id of await this.decide(states)) this.doubted.add(id)
    const pointsFor = ({ tenantId }: ApiUsageState) => pointsOf(totals.filter((total) => total.tenantId === tenantId))
    await this.each(states, (state) => this.save(state, pointsFor(state)))
  }

  /** What fails for one tenant leaves the others alone; answers for whom it did. Never rejects. */
  private async each(
    states: readonly ApiUsageState[],
    step: (state: ApiUsageState) => Promise<void>,
  ): Promise<readonly string[]> {
    const failed: string[] = []
    let reason = ''
    const noted = ({ tenantId }: ApiUsageState, error: unknown): void => {
      failed.push(tenantId)
      reason ||= errorText(error)
    }
    for (let start = 0; start < states.length; start += AT_ONCE) {
      const some = states.slice(start, start + AT_ONCE)
      await Promise.all(some.map((state) => step(state).catch((error: unknown) => noted(state, error))))
    }
    if (failed.length > 0) this.reportUntold(failed.length, reason)
    return failed
  }

  private reportUntold(count: number, reason: string): void {
    this.parts.report('The use of the API of some tenants is not told or decided', { tenants: count, reason })
  }

  /** Of those tenants that are there; a state that is missing is made. */
  private async statesOf(tenantIds: readonly string[]): Promise<ReadonlyMap<string, ApiUsageState>> {
    const { entities } = this.parts
    const read = async (): Promise<Map<string, ApiUsageState>> => {
      const rows = await this.rows.findAll([{ column: 'tenant_id', in: tenantIds }])
      return new Map(rows.map((row) => apiUsageStates.recordOf(row)).map((state) => [state.tenantId, state]))
    }
    const states = await read()
    const missing = tenantIds.filter((id) => !states.has(id))
    if (missing.length === 0) return states
    const there = await rowsOf(tenants, entities).findAll([{ column: 'id', in: missing }])
    for (const { id } of there) {
      try {
        await entities.write([this.rows.insert(apiUsageStates.rowOf(this.newState(String(id))))])
      } catch {
        // Another process made it meanwhile, or the next turn does.
      }
    }
    return there.length === 0 ? states : read()
  }

  /** Changes what they may use, where the sums or their limits say so; answers of whom it could not. */
  private async decide(states: readonly ApiUsageState[]): Promise<readonly string[]> {
    const totals = await this.parts.entities.usageCounts.of(states.map(({ tenantId }) => tenantId))
    const totalsOf = (id: string) => totals.filter(({ tenantId }) => tenantId === id)
    return this.each(states, (state) => this.decideOne(state, totalsOf(state.tenantId)))
  }

  private async decideOne(state: ApiUsageState, totals: readonly UsageTotal[]): Promise<void> {
    const { clock, entities, feed, limits, meter, news } = this.parts
    const { cycleTs } = this.period()
    const allowed = await limits.of(state.tenantId)
    const used = usedOf(totals, cycleTs)
    const now = statesOf(used, allowed)
    const before = featureStatesOf(state)
    const changed = FEATURE_FORMS.filter(({ feature }) => now[feature] !== before[feature])
    const isNewCycle = cycleTs > state.cycleTs
    const limitsText = JSON.stringify(COUNTER_FORMS.map(({ limit }) => allowed[limit]))
    const hasNewLimits = limitsText !== state.limits
    if (changed.length === 0 && !isNewCycle && !hasNewLimits) return
    const disabledFeatures = disabledBits(now)
    const members = { ...membersOf(now), disabledFeatures, limits: limitsText }
    const next = { ...state, ...members, version: state.version + 1, cycleTs: Math.max(cycleTs, state.cycleTs) }
    // The first decision about a tenant is no news.
    const isFirst = state.limits === ''
    const told = isFirst ? [] : changed.map((form) => ({ form, state: now[form.feature], used, limits: allowed }))
    const notified = await news.requests(state.tenantId, told)
    try {
      await entities.write([this.rows.update(apiUsageStates.rowOf(next)), ...notified])
    } catch (error) {
      if (await this.isOvertaken(state)) return
      throw error
    }
    meter.setDisabledOf(state.tenantId, disabledFeatures)
    feed.publish({ kind: 'settings-changed', entity: entityId('API_USAGE_STATE', state.id) })
    const ts = clock.now()
    const points = [
      ...(isNewCycle ? zeroPoints(totals, cycleTs) : []),
      ...(isFirst ? FEATURE_FORMS : changed).map((form) => statePoint(form, now[form.feature], ts)),
      ...(hasNewLimits ? limitPoints(allowed, ts) : []),
    ]
    news.tell(state.tenantId, told, notified)
    await this.save(state, points)
  }

  /** Another process decided meanwhile, or the tenant is gone. */
  private async isOvertaken({ id, version }: ApiUsageState): Promise<boolean> {
    const row = await this.rows.find([{ column: 'id', is: id }])
    return row === undefined || Number(row['version']) !== version
  }

  private async tellDoubted(): Promise<void> {
    const { entities } = this.parts
    for (const profileId of this.changedProfiles) {
      const ofProfile = { column: 'tenant_profile_id', is: profileId }
      for await (const ids of pagesOf((after) =>
        rowsOf(tenants, entities).findAll([ofProfile, { column: 'id', after }], PAGE),
      ))
        for (const id of ids) this.doubted.add(id)
      this.changedProfiles.delete(profileId)
    }
    const doubted = [...this.doubted]
    for (let start = 0; start < doubted.length; start += GROUP) {
      const group = doubted.slice(start, start + GROUP)
      for (const id of group) this.doubted.delete(id)
      let undecided: readonly string[] = group
      try {
        const states = await this.statesOf(group)
        undecided = await this.decide([...states.values()])
      } finally {
        for (const id of undecided) this.doubted.add(id)
      }
    }
  }

  /** Who was counted in a month that is over may use everything again. */
  private async beginMonth(): Promise<void> {
    const over = { column: 'cycle_ts', from: 1, to: this.period().cycleTs - 1 }
    for await (const ids of pagesOf((after) => this.rows.findAll([over, { column: 'id', after }], GROUP))) {
      const rows = await this.rows.findAll([{ column: 'id', in: ids }])
      await this.decide(rows.map((row) => apiUsageStates.recordOf(row)))
    }
  }

  /** Of tenants of before there were states. */
  private async makeMissing(): Promise<void> {
    const all = rowsOf(tenants, this.parts.entities)
    for await (const ids of pagesOf((after) => all.findAll([{ column: 'id', after }], PAGE))) {
      await this.statesOf(ids)
    }
  }

  private async readDisabled(): Promise<void> {
    const disabled = new Map<string, number>()
    for await (const ids of pagesOf((after) =>
      this.rows.findAll(
        [
          { column: 'disabled_features', from: 1, to: ALL_FEATURES },
          { column: 'id', after },
        ],
        PAGE,
      ),
    )) {
      const rows = await this.rows.findAll([{ column: 'id', in: ids }])
      for (const { tenantId, disabledFeatures } of rows.map((row) => apiUsageStates.recordOf(row)))
        disabled.set(tenantId, disabledFeatures)
    }
    this.parts.meter.setDisabled(disabled)
  }

  private async readState(id: string): Promise<void> {
    const row = await this.rows.find([{ column: 'id', is: id }])
    if (row === undefined) return
    const { tenantId, disabledFeatures } = apiUsageStates.recordOf(row)
    this.parts.meter.setDisabledOf(tenantId, disabledFeatures)
  }

  private async countDevices(): Promise<void> {
    const { cycleTs, hourTs } = this.period()
    const counted = await this.parts.entities.usageCounts.devices()
    for (let start = 0; start < counted.length; start += GROUP) {
      const group = counted.slice(start, start + GROUP)
      const states = await this.statesOf(group.map(({ tenantId }) => tenantId))
      const counts = new Map(group.map((each) => [each.tenantId, each]))
      await this.each([...states.values()], (state) => {
        const { all = 0, active = 0 } = counts.get(state.tenantId) ?? {}
        const values = [['activeDevicesCount', active] as const, ['inactiveDevicesCount', all - active] as const]
        return this.save(
          state,
          values.flatMap(([key, value]) => [long(key, value, cycleTs), long(`${key}${HOURLY}`, value, hourTs)]),
        )
      })
    }
  }

  private save({ id, tenantId }: ApiUsageState, points: readonly DataPoint[]): Promise<void> {
    if (points.length === 0) return Promise.resolve()
    const entity = entityId('API_USAGE_STATE', id)
    const save = { tenantId, entity, points, sequence: 0, ttlSeconds: 0, history: true, latest: true, notify: true }
    return new Promise((resolve, reject) => {
      this.parts.telemetry.save(save, (error) => (error === undefined ? resolve() : reject(error)))
    })
  }

  private period(): { readonly cycleTs: number; readonly hourTs: number } {
    const now = this.parts.clock.now()
    return { cycleTs: monthOf(now), hourTs: now - (now % HOUR_MS) }
  }
}

const ALL_FEATURES = 255
