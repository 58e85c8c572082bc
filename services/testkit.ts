/** Real entity store in a fresh folder, with a clock that is moved, a link that remembers, and series kept in memory. */
import type { Report } from './changes/outbox.ts'
import type { ClaimSettings } from './onboarding/claims.ts'
import type { AttemptLimits } from './onboarding/wrong-attempts.ts'
import { DECLARED_TABLES } from './entities/declared.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock, Random, TimerHandle } from '../model/clock.ts'
import type { User } from '../model/entities.ts'
import type { MillraceError } from '../model/errors.ts'
import type { JsonObject } from '../model/json.ts'
import type { Principal } from '../model/principal.ts'
import type { DataPoint } from '../model/value.ts'
import { ScriptErrors } from '../engine/script/errors.ts'
import { createScriptHost } from '../engine/script/host.ts'
import type { ScriptHost } from '../engine/script/script.ts'
import type { Link, LoggedFrame, PublishBound, PublishReceipt, ReadableLink } from '../engine/link/link.ts'
import { ORDINARY_EDITOR } from '../engine/rulechain/testkit.ts'
import type { NodeCatalogue, NodeDefinition } from '../engine/rulechain/node.ts'
import type { Change, ChangeKind } from '../engine/subscriptions/change.ts'
import { TestFeed } from '../engine/subscriptions/testkit.ts'
import { openEntityStore, type EntityStore } from '../storage/entities/entity-store.ts'
import type {
  DeleteRange,
  DeletedKeys,
  PointsByKey,
  PointsWrite,
  Snapshot,
  TimeSeriesStore,
} from '../storage/timeseries/store.ts'
import { LatestColumnBuilder } from '../model/latest-column.ts'
import type { Message } from '../model/message.ts'
import { LinkErrors } from '../engine/link/errors.ts'
import type { Statement } from '../storage/entities/database.ts'
import { SYSTEM_TENANT } from './changes/changes.ts'
import {
  ACCESS_LIFETIME_SECONDS,
  REFRESH_LIFETIME_SECONDS,
  TOKEN_ISSUER,
  type JwtDefaults,
} from './admin/jwt-settings.ts'
import type { OpenField } from './calculated-fields/runtime/field-index.ts'
import { createServices } from './create-services.ts'
import { TestDeadLetters, TestParkedLanes } from './failed-messages.testkit.ts'
import { recordWith, rowsOf } from './entities/rows.ts'
import { tenants } from './entities/tenant.ts'
import { DEMO_LOGINS, seedDemo } from './seed.ts'
import type { Outbound } from './outbound/outbound.ts'
import { RuleChainErrors } from './rule-chains/errors.ts'
import type { Services } from './services.ts'
import { Vault, VAULT_KEY_BYTES } from './vault/vault.ts'

/** A tenant that has nothing of its own. */
export function insertTenant(entities: EntityStore, id: string, title: string): Statement {
  const identity = { id, createdTime: 1, version: 1, tenantId: SYSTEM_TENANT }
  return rowsOf(tenants, entities).insert(tenants.rowOf(recordWith(tenants, identity, { title })))
}

/** Wall time is moved by hand; turns are real, and timers run when asked to. */
export class TestClock implements Clock {
  time = 1_700_000_000_000
  private timers: (() => void)[] = []

  now(): number {
    return this.time
  }

  monotonic(): number {
    return this.time
  }

  after(_delayMs: number, run: () => void): TimerHandle {
    this.timers.push(run)
    return { cancel: () => (this.timers = this.timers.filter((timer) => timer !== run)) }
  }

  soon(run: () => void): void {
    setImmediate(run)
  }

  runTimers(): void {
    for (const run of this.timers.splice(0)) run()
  }
}

export const testRandom: Random = { next: () => 0.5, uuid: () => randomUUID() }

/** Takes, refuses or keeps what is published, as told; `storedNow` says when it is asked to hold back. */
export class TestLink implements Link, PublishBound, ReadableLink {
  writable = true
  readonly streams = 1
  readonly messages: Message[] = []
  private readonly held: PublishReceipt[] = []
  private listeners: (() => void)[] = []
  /** The next publishes are refused with these. */
  readonly refusals: MillraceError[] = []
  holdsReceipts = false
  /** Characters of a message's data. */
  maxMessageSize = Infinity

  checkFits({ data }: Message): void {
    const limit = this.maxMessageSize
    if (data.length > limit) throw LinkErrors.MESSAGE_TOO_LARGE({ size: data.length, limit })
  }

  /** It keeps nothing. */
  async *read(): AsyncGenerator<LoggedFrame> {
    yield* []
  }

  publish(message: Message, receipt: PublishReceipt): void {
    const refusal = this.refusals.shift()
    if (refusal !== undefined) return receipt.refused(refusal)
    if (message.data.length > this.maxMessageSize)
      return receipt.refused(LinkErrors.MESSAGE_TOO_LARGE({ size: message.data.length, limit: this.maxMessageSize }))
    this.messages.push(message)
    if (this.holdsReceipts) this.held.push(receipt)
    else receipt.stored()
  }

  storeHeld(): void {
    for (const receipt of this.held.splice(0)) receipt.stored()
  }

  /** The first message of the type of this originator that it has or gets. */
  async published(type: string, originatorId: string): Promise<Message> {
    for (;;) {
      const found = this.messages.find((message) => message.type === type && message.originator.id === originatorId)
      if (found !== undefined) return found
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  becomeWritable(): void {
    this.writable = true
    for (const listener of this.listeners) listener()
  }

  hasRoomFor(): boolean {
    return this.writable
  }

  onWritable(listener: () => void): () => void {
    this.listeners.push(listener)
    return () => (this.listeners = this.listeners.filter((other) => other !== listener))
  }

  consume(): () => void {
    return () => undefined
  }

  wake(): void {}
  settle(): void {}
  failed(): void {}
  bury(): void {}
  async close(): Promise<void> {}
}

/** History only, without aggregation: enough to see what services write. */
export class MemoryTimeSeries implements TimeSeriesStore {
  readonly writes: (readonly PointsWrite[])[] = []
  readonly deletedEntities: string[] = []
  readonly ranges: DeleteRange[] = []
  deletion: DeletedKeys = { latestRemoved: [] }
  failure: Error | undefined
  private sequence = 0

  async write(writes: readonly PointsWrite[]): Promise<number> {
    if (this.failure !== undefined) throw this.failure
    this.writes.push(writes)
    return ++this.sequence
  }

  async history(): Promise<Snapshot<PointsByKey>> {
    return { value: new Map(), sequence: this.sequence }
  }

  async latest(entityId: string): Promise<Snapshot<readonly DataPoint[]>> {
    const points = this.writes.flat().filter((write) => write.entityId === entityId)
    return { value: points.flatMap((write) => write.points), sequence: this.sequence }
  }

  async latestOfMany(
    entityIds: readonly string[],
    keys: readonly string[],
  ): Promise<Snapshot<ReadonlyMap<string, readonly DataPoint[]>>> {
    const value = new Map<string, readonly DataPoint[]>()
    for (const entityId of entityIds) {
      const points = (await this.latest(entityId)).value.filter(({ key }) => keys.includes(key))
      // The last written is the newest here.
      const newest = new Map(points.map((point) => [point.key, point]))
      if (newest.size > 0) value.set(entityId, [...newest.values()])
    }
    return { value, sequence: this.sequence }
  }

  /** Taken away by tests of stores that have none. */
  latestColumn?: NonNullable<TimeSeriesStore['latestColumn']> = async (entityIds, key) => {
    const column = new LatestColumnBuilder(entityIds.length)
    const { value } = await this.latestOfMany(entityIds, [key])
    for (const [place, id] of entityIds.entries()) for (const point of value.get(id) ?? []) column.put(place, point)
    return column.build()
  }

  async keys(): Promise<readonly string[]> {
    return []
  }

  async storedKeys(): Promise<readonly string[]> {
    return []
  }

  async delete(range: DeleteRange): Promise<Snapshot<DeletedKeys>> {
    this.ranges.push(range)
    return { value: this.deletion, sequence: ++this.sequence }
  }

  async eraseDeleted() {
    return { isGone: true }
  }

  async deleteEntity(entityId: string): Promise<void> {
    if (this.failure !== undefined) throw this.failure
    this.deletedEntities.push(entityId)
  }

  async close(): Promise<void> {}
}

/** Scripts of the expression language alone: JavaScript has a sandbox of its own, which tests start that want it. */
export const testScripts: ScriptHost = createScriptHost({
  clock: { now: () => 0, monotonic: () => 0, after: () => ({ cancel: () => undefined }), soon: setImmediate },
  random: testRandom,
  javaScript: () => {
    throw ScriptErrors.POOL_UNAVAILABLE({ reason: 'there is no sandbox in this test' })
  },
})

/** Knows every type that begins with `test.` or `org.`; `bad: true` in a configuration is refused. */
export const testCatalogue: NodeCatalogue = {
  all: () => [definition('test.Node')],
  find: (type) => (/^(test|org)\./.test(type) && !type.endsWith('TbSendRPCRequestNode') ? definition(type) : undefined),
}

function definition(type: string): NodeDefinition {
  return {
    type,
    name: type,
    category: 'ACTION',
    configurationVersion: type === 'test.Upgraded' || type === 'test.MovesQueue' ? 2 : 0,
    description: '',
    relations: ['Success'],
    defaultConfiguration: { byDefault: true },
    configurationSchema: {},
    uses: [],
    effects: false,
    editor: ORDINARY_EDITOR,
    upgrade: (configuration, fromVersion) => {
      const { queueName: _moved, ...rest } = configuration
      if (type === 'test.MovesQueue') return rest
      if (configuration['stuck'] === true) throw new Error('cannot be raised')
      return { ...configuration, upgradedFrom: fromVersion }
    },
    create: () => ({ handle: () => 'Success' }),
    check: checkBad,
    checkSaved: checkBad,
  }
}

function checkBad(configuration: JsonObject): void {
  if (configuration['bad'] === true) throw RuleChainErrors.RELATION_EMPTY({ from: 0, to: 1 })
}

const EVERY_KIND: readonly ChangeKind[] = [
  'telemetry',
  'telemetry-deleted',
  'attributes',
  'attributes-deleted',
  'alarm',
  'device-changed',
  'rule-chain-changed',
  'queue-changed',
  'user-tokens-withdrawn',
  'session-ended',
  'settings-changed',
  'entity-deleted',
]

export interface TestPlatform {
  readonly services: Services
  readonly entities: EntityStore
  readonly clock: TestClock
  readonly deadLetters: TestDeadLetters
  readonly parked: TestParkedLanes
  readonly link: TestLink
  readonly timeSeries: MemoryTimeSeries
  readonly feed: TestFeed
  /** Everything the feed was told, until `stopRecording`. */
  readonly changes: Change[]
  stopRecording(): void
  readonly reports: string[]
  readonly tenant: Principal
  readonly customer: Principal
  readonly systemAdministrator: Principal
  readonly tenantId: string
  close(): Promise<void>
}

/** Keys of a run. */
export function testSecrets(
  key: Buffer = randomBytes(VAULT_KEY_BYTES),
  formerKeys: readonly Buffer[] = [],
): {
  readonly vault: Vault
  readonly jwt: JwtDefaults
} {
  return {
    vault: new Vault(key, formerKeys),
    jwt: {
      issuer: TOKEN_ISSUER,
      accessLifetimeSeconds: ACCESS_LIFETIME_SECONDS,
      refreshLifetimeSeconds: REFRESH_LIFETIME_SECONDS,
      formerKeys: [],
    },
  }
}

/** A seeded platform; `start: false` leaves the outbox unread. */
export async function openTestPlatform(
  options: {
    attributeCacheBytes?: number
    start?: boolean
    scripts?: ScriptHost
    claims?: ClaimSettings
    provisioning?: AttemptLimits
    /** In the place of the one that only remembers what is written. */
    storedSeries?: TimeSeriesStore
    /** In the place of one in a fresh folder. */
    openEntities?: (clock: Clock) => Promise<EntityStore>
    /** Of a store that was opened before: what is sealed there needs the same key. */
    secrets?: ReturnType<typeof testSecrets>
    /** With it calculated fields run. */
    openField?: OpenField
    /** By default internal addresses are not called. */
    outbound?: Outbound
    /** Hears what is reported, beside `reports`. */
    report?: Report
  } = {},
): Promise<TestPlatform> {
  let folder: string | undefined
  const clock = new TestClock()
  const openFresh = async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'millrace-services-'))
    return openEntityStore({
      file: path.join(folder, 'entities.db'),
      durability: 'process-death',
      clock,
      tables: DECLARED_TABLES,
    })
  }
  const entities = await (options.openEntities ?? openFresh)(clock)
  await seedDemo({ entities, clock, random: testRandom, catalogue: testCatalogue })
  const link = new TestLink()
  const deadLetters = new TestDeadLetters()
  const parked = new TestParkedLanes()
  const timeSeries = new MemoryTimeSeries()
  const reports: string[] = []
  const changes: Change[] = []
  const feed = new TestFeed((error) => reports.push(String(error)))
  const stopRecording = feed.listenToAll(EVERY_KIND, (change) => changes.push(change))
  const services = createServices({
    entities,
    timeSeries: options.storedSeries ?? timeSeries,
    feed,
    link,
    deadLetters,
    parked,
    clock,
    random: testRandom,
    catalogue: testCatalogue,
    ...(options.secrets ?? testSecrets()),
    scripts: options.scripts ?? testScripts,
    attributeCacheBytes: options.attributeCacheBytes ?? 1 << 20,
    ...(options.claims === undefined ? {} : { claims: options.claims }),
    ...(options.provisioning === undefined ? {} : { provisioning: options.provisioning }),
    ...(options.openField === undefined ? {} : { openField: options.openField }),
    ...(options.outbound === undefined ? {} : { outbound: options.outbound }),
    report: (text, fields) => {
      reports.push(text)
      options.report?.(text, fields)
    },
  })
  await services.startSecrets()
  if (options.start !== false) await services.startOutbox()
  const tenant = await principalOf(entities, DEMO_LOGINS.tenantAdministrator.email)
  return {
    services,
    entities,
    clock,
    link,
    deadLetters,
    parked,
    timeSeries,
    feed,
    changes,
    stopRecording,
    reports,
    tenant,
    customer: await principalOf(entities, DEMO_LOGINS.customerUser.email),
    systemAdministrator: await principalOf(entities, DEMO_LOGINS.systemAdministrator.email),
    tenantId: tenant.tenantId ?? '',
    async close() {
      await services.close()
      await entities.close()
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

async function principalOf(entities: EntityStore, email: string): Promise<Principal> {
  const user = await entities.users.findByEmail(email)
  if (user === undefined) throw new Error(`${email} was not seeded`)
  return principalFrom(user)
}

export function principalFrom(user: User): Principal {
  const { id: userId, email, authority, tenantId, customerId, firstName, lastName } = user
  return { userId, email, authority, tenantId, customerId, firstName, lastName }
}
