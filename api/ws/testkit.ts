/** For tests of subscriptions: a clock and turns moved by hand, a socket that remembers, series whose reads can be held. */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { NULL_UUID, type EntityId } from '../../model/entity-id.ts'
import { valueText } from '../../model/entry-json.ts'
import type { EntityDataQuery, EntityKey, EntityKeyType, LatestValues, ShownValue } from '../../model/entity-query.ts'
import { defineErrors } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Log } from '../../model/log.ts'
import type { Principal } from '../../model/principal.ts'
import type { AttributeScope, Attribute, DataPoint } from '../../model/value.ts'
import { TestFeed } from '../../engine/subscriptions/testkit.ts'
import { AuthErrors } from '../auth/errors.ts'
import type { WebSocketConnection } from '../../server/http-server.ts'
import type { AlarmData } from '../../services/alarms/alarm-query-service.ts'
import type { HistoryRequest } from '../../services/telemetry/telemetry-service.ts'
import { ReadTurns, type ReadLimits } from './read-turns.ts'
import { Rereads } from './rereads.ts'
import { Session, type SessionLimits, type SessionWorld } from './session.ts'
import type { Flushable, SubscriptionAccess } from './subscription.ts'
import { NO_PROFILE, type ProfileLimits } from './profile-limits.ts'
import { SessionCounts, type ServerLimits } from './session-counts.ts'
import type { EnvelopeKind } from './commands.ts'

export const DEVICE: EntityId = { entityType: 'DEVICE', id: '784f394c-42b6-435a-983c-b7beff2784f9' }
export const FOREIGN: EntityId = { entityType: 'DEVICE', id: '11111111-2222-1333-8444-555555555555' }
export const PRINCIPAL: Principal = {
  userId: '0b1c2d3e-0000-4000-8000-000000000003',
  email: 'tenant@millrace.local',
  authority: 'TENANT_ADMIN',
  tenantId: '0b1c2d3e-0000-4000-8000-000000000004',
  customerId: null,
  firstName: null,
  lastName: null,
}

/** Of one customer: a user of its own, or whoever has its public link. */
export function customerUser(kind: 'customer' | 'public'): Principal {
  const customerId = '0b1c2d3e-0000-4000-8000-000000000005'
  const userId = kind === 'public' ? NULL_UUID : '0b1c2d3e-0000-4000-8000-000000000006'
  return { ...PRINCIPAL, userId, email: kind, authority: 'CUSTOMER_USER', customerId }
}

/** Access that is never lost. */
export const OPEN: SubscriptionAccess = {
  check: async () => undefined,
  lost: (error) => {
    throw error
  },
}

export const TestErrors = defineErrors('test', {
  NOT_FOUND: { kind: 'invalid', status: 404, text: 'Device is not found' },
  NO_TOKEN: { kind: 'denied', status: 401, text: 'Invalid username or password' },
  EXPIRED: { kind: 'denied', status: 401, restCode: 11, text: 'Token has expired' },
})

export class StepClock implements Clock {
  time = 1_700_000_000_000
  private timers: { at: number; run: () => void }[] = []
  private turn: (() => void)[] = []

  now(): number {
    return this.time
  }
  monotonic(): number {
    return this.time
  }
  after(delayMs: number, run: () => void): TimerHandle {
    const timer = { at: this.time + delayMs, run }
    this.timers.push(timer)
    return { cancel: () => (this.timers = this.timers.filter((other) => other !== timer)) }
  }
  soon(run: () => void): void {
    this.turn.push(run)
  }
  endTurn(): void {
    for (const run of this.turn.splice(0)) run()
  }
  advance(ms: number): void {
    const until = this.time + ms
    for (;;) {
      const due = this.timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0]
      if (due === undefined) break
      this.timers = this.timers.filter((timer) => timer !== due)
      this.time = due.at
      due.run()
    }
    this.time = until
  }
}

/** Promises that are already settled run on before this resolves. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export class TestSocket implements WebSocketConnection {
  open = true
  pendingBytes = 0
  pings = 0
  refuses = false
  readonly texts: string[] = []
  closing: { readonly code: number; readonly reason: string } | undefined

  send(text: string): boolean {
    if (!this.refuses) this.texts.push(text)
    return !this.refuses
  }
  ping(): void {
    this.pings++
  }
  close(code: number, reason: string): void {
    this.closing = { code, reason }
    this.open = false
  }
  /** The frames so far, which are then forgotten. */
  frames(): unknown[] {
    return this.texts.splice(0).map((text): unknown => JSON.parse(text))
  }
}

/** One device's series and attributes. A commit and its telling are two steps, as between a store and its feed. */
export class TestStore {
  readonly feed = new TestFeed((error) => {
    throw error
  })
  sequence = 0
  /** By how many commits its reads hold more than they say: of an older transaction that runs on nobody knows the end. */
  lag = 0
  readonly points: (DataPoint & { readonly sequence: number })[] = []
  readonly attributes: (Attribute & { readonly scope: AttributeScope })[] = []
  readonly requests: HistoryRequest[] = []
  /** Reads of history under way, and the most there were. */
  readsUnderWay = 0
  mostReads = 0
  failure: Error | undefined
  /** Whether the device has an active alarm. */
  hasAlarm = false
  /** Those that every query matches. */
  alarms: AlarmData[] = []
  unread: readonly JsonObject[] = []
  /** What every query finds. */
  found: readonly EntityId[] = [DEVICE]
  /** Whether the device is the user's. */
  accessible = true
  private held: (() => void)[] | undefined
  private historyGate: Promise<void> | undefined

  /** Reads of history wait until the returned function is called; nothing else does. */
  holdHistory(): () => void {
    let open: () => void = () => undefined
    this.historyGate = new Promise((resolve) => (open = resolve))
    return () => {
      this.historyGate = undefined
      open()
    }
  }

  /** Reads wait until `release`. */
  hold(): void {
    this.held = []
  }
  release(): void {
    const held = this.held ?? []
    this.held = undefined
    for (const resume of held) resume()
  }

  /** Stores points; the returned function tells the feed. */
  commit(...points: readonly DataPoint[]): () => void {
    const sequence = ++this.sequence
    for (const point of points) this.points.push({ ...point, sequence })
    return () => this.feed.publish({ kind: 'telemetry', entity: DEVICE, sequence, points })
  }

  save(...points: readonly DataPoint[]): void {
    this.commit(...points)()
  }

  saveText(key: string, ts: number, value: string): void {
    this.save({ key, ts, type: 'STRING', value })
  }

  saveAttributes(scope: AttributeScope, ...attributes: readonly Attribute[]): void {
    const sequence = ++this.sequence
    this.attributes.push(...attributes.map((attribute) => ({ ...attribute, scope })))
    this.feed.publish({ kind: 'attributes', entity: DEVICE, sequence, scope, attributes })
  }

  /** Raises it, or changes it; undefined deletes it. */
  setAlarm(id: string, info: JsonObject | undefined, entity: EntityId = DEVICE): void {
    const place = this.alarms.findIndex((alarm) => alarm.id === id)
    const alarm = info && { id, info, entity, latest: {} }
    this.alarms.splice(place < 0 ? 0 : place, place < 0 ? 0 : 1, ...(alarm === undefined ? [] : [alarm]))
    const isDeleted = info === undefined
    this.feed.publish({ kind: 'alarm', entity, tenantId: PRINCIPAL.tenantId ?? '', alarmId: id, isDeleted })
  }

  /** What the user has not read, newest first. */
  setUnread(unread: readonly JsonObject[]): void {
    this.unread = unread
    this.feed.publish({ kind: 'inbox-changed', entity: { entityType: 'USER', id: PRINCIPAL.userId } })
  }

  /** What the selections of this room ask for; nothing else is there. */
  readonly services: SessionWorld['services'] = {
    access: {
      check: async (_principal, _operation, entity) => {
        await this.pause()
        if (entity.id !== DEVICE.id || !this.accessible) throw TestErrors.NOT_FOUND()
      },
    },
    alarms: {
      hasActive: async ({ types, severities }) => {
        await this.pause()
        return this.hasAlarm && types?.length !== 0 && severities?.length !== 0
      },
    },
    notifications: {
      inbox: {
        page: async (_user, _isUnreadOnly, { pageSize }, types = []) => {
          await this.pause()
          const own = this.unread.filter(({ type }) => types.length === 0 || types.some((each) => each === type))
          return { data: own.slice(0, pageSize), totalElements: own.length, totalPages: 1, hasNext: false }
        },
        unreadCount: async () => {
          await this.pause()
          return this.unread.length
        },
        markManyRead: async (_user, ids) =>
          this.setUnread(this.unread.filter(({ id }) => !ids.some((each) => each === id))),
        markAllRead: async () => this.setUnread([]),
      },
    },
    alarmQueries: {
      entitiesOf: async () => {
        await this.pause()
        return { entities: this.found, total: this.found.length }
      },
      pageOf: async (_principal, { page: { pageSize }, latest }, entities) => {
        await this.pause()
        const ids = new Set(entities.map(({ id }) => id))
        const all = this.alarms.filter(({ entity }) => ids.has(entity.id))
        const data = all.slice(0, pageSize).map((alarm) => ({ ...alarm, latest: this.valuesOf(latest) }))
        return { data, totalPages: 1, totalElements: all.length, hasNext: all.length > pageSize }
      },
      countOf: async () => {
        await this.pause()
        return this.alarms.length
      },
    },
    entityQueries: {
      count: async () => {
        await this.pause()
        return this.found.length
      },
      find: async (_principal: Principal, query: EntityDataQuery) => {
        await this.pause()
        const values = this.valuesOf(query.latest)
        const data = this.found.map((entity) => ({ entity, latest: values }))
        return { data, totalPages: 1, totalElements: data.length, hasNext: false }
      },
      values: async (entities: readonly EntityId[], keys: readonly EntityKey[]) => {
        await this.pause()
        return new Map(entities.map(({ id }) => [id, this.valuesOf(keys)]))
      },
    },
    telemetry: {
      history: async (_entity: EntityId, request: HistoryRequest) => {
        this.requests.push(request)
        this.mostReads = Math.max(this.mostReads, ++this.readsUnderWay)
        await (this.historyGate ?? this.pause())
        this.readsUnderWay--
        const value = new Map<string, DataPoint[]>()
        for (const key of request.keys) {
          const found = this.points.filter(
            (each) => each.key === key && each.ts >= request.startTs && each.ts < request.endTs,
          )
          if (found.length > 0) value.set(key, found)
        }
        return { value, sequence: this.sequence - this.lag }
      },
      latest: async (_entity: EntityId, keys: readonly string[] | undefined) => {
        await this.pause()
        const latest = new Map<string, DataPoint>()
        for (const point of this.points) {
          if (point.ts >= (latest.get(point.key)?.ts ?? -Infinity)) latest.set(point.key, point)
        }
        const value = [...latest.values()].filter((point) => keys?.includes(point.key) ?? true)
        return { value, sequence: this.sequence - this.lag }
      },
    },
    attributes: {
      find: async (_entity: EntityId, scope: AttributeScope | undefined, keys: readonly string[] | undefined) => {
        await this.pause()
        const value = this.attributes.filter(
          (each) => (scope === undefined || each.scope === scope) && (keys?.includes(each.key) ?? true),
        )
        return { value, sequence: this.sequence - this.lag }
      },
    },
  }

  private valuesOf(keys: readonly EntityKey[]): LatestValues {
    const shown: Partial<Record<EntityKeyType, Record<string, ShownValue>>> = {}
    for (const { type, key } of keys) {
      const points = this.points.filter((point) => point.key === key)
      const point = points.sort((a, b) => b.ts - a.ts)[0]
      const attribute = this.attributes.findLast((each) => each.key === key)
      const value =
        type === 'TIME_SERIES'
          ? point && { ts: point.ts, value: valueText(point) }
          : attribute && { ts: attribute.lastUpdateTs, value: valueText(attribute) }
      shown[type] = { ...shown[type], [key]: value ?? { ts: 0, value: '' } }
    }
    return shown
  }

  async pause(): Promise<void> {
    const { held } = this
    if (held !== undefined) await new Promise<void>((resolve) => held.push(resolve))
    if (this.failure !== undefined) throw this.failure
  }
}

export class TestLog implements Log {
  readonly errors: string[] = []
  debug(): void {}
  info(): void {}
  readonly warnings: string[] = []
  warn(text: string): void {
    this.warnings.push(text)
  }
  error(text: string): void {
    this.errors.push(text)
  }
}

export interface SessionBench {
  readonly clock: StepClock
  readonly store: TestStore
  readonly log: TestLog
  readonly counts: SessionCounts
  open(kind?: EnvelopeKind): { readonly session: Session; readonly socket: TestSocket }
  /** Sends one frame and ends the turn. */
  say(session: Session, frame: unknown): Promise<void>
}

export function sessionBench(
  limits: Partial<SessionLimits & ServerLimits> & {
    readonly reads?: Partial<ReadLimits>
    readonly profile?: Partial<ProfileLimits>
  } = {},
): SessionBench {
  const clock = new StepClock()
  const store = new TestStore()
  const log = new TestLog()
  const counts = new SessionCounts({ sessions: 0, sessionsPerTenant: 0, subscriptionsPerTenant: 0, ...limits })
  const world: SessionWorld = {
    services: store.services,
    feed: store.feed,
    clock,
    log,
    counts,
    limits: { pendingFrames: 1000, pendingBytes: 1_000_000, pendingCommands: 1000, subscriptions: 1000, ...limits },
    authenticate: async (token) => {
      if (token === 'slow') await store.pause()
      if (token === 'good' || token === 'slow') return { principal: PRINCIPAL, sessionId: 'session', issuedAt: 0 }
      if (token === 'customer' || token === 'public')
        return { principal: customerUser(token), sessionId: 'session', issuedAt: 0 }
      throw token === 'old' ? TestErrors.EXPIRED() : TestErrors.NO_TOKEN()
    },
    loginByApiKey: async (value) => {
      if (value === 'tb_good') return { principal: PRINCIPAL, sessionId: '', issuedAt: 0, apiKey: value }
      throw AuthErrors.API_KEY_UNKNOWN()
    },
    limitsOf: async () => ({ ...NO_PROFILE, ...limits.profile }),
    updatesRefused: () => undefined,
    stillHolds: async () => store.accessible,
    reads: new ReadTurns({ total: 1000, perTenant: 1000, perSession: 1000, ...limits.reads }),
    atTurnEnd: (sender: Flushable) => clock.soon(() => sender.flush()),
    rereads: new Rereads(clock, () => log.warn('Live values could not be read again')),
  }
  return {
    clock,
    store,
    log,
    counts,
    open(kind = 'new') {
      const socket = new TestSocket()
      return { session: new Session(socket, kind, world), socket }
    },
    async say(session, frame) {
      session.message(typeof frame === 'string' ? frame : JSON.stringify(frame))
      await settled()
      clock.endTurn()
    },
  }
}

export function point(key: string, ts: number, value: number): DataPoint {
  return { key, ts, type: 'LONG', value }
}

export const AUTH = { authCmd: { cmdId: 0, token: 'good' } }
export const target = { entityType: 'DEVICE', entityId: DEVICE.id }

export function series(cmdId: number, fields: object = {}) {
  return { cmds: [{ type: 'TIMESERIES', cmdId, ...target, ...fields }] }
}

export function update(subscriptionId: number, data: Record<string, (readonly [number, string | null])[]>) {
  const latestValues = Object.fromEntries(Object.entries(data).map(([key, list]) => [key, list.at(-1)?.[0]]))
  return { subscriptionId, errorCode: 0, errorMsg: null, data, latestValues }
}

export function failure(subscriptionId: number, errorCode: number, errorMsg: string) {
  return { subscriptionId, errorCode, errorMsg, data: null, latestValues: {} }
}

export async function authenticated(bench: SessionBench): Promise<{ session: Session; socket: TestSocket }> {
  const opened = bench.open()
  await bench.say(opened.session, AUTH)
  return opened
}
