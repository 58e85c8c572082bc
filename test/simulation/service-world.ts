/**
 * One history of the entity services: one process changes attributes for users, with a message in the outbox for each change, two others for
 * the rule engine; all read them through their caches, which the change feed keeps true. Commits fail, lose their answers or come late;
 * words on the bus are lost; processes crash and stand still. Checked:
 *
 * - a change for a user and its message are committed together; each such message is published, in the order of its entity, and no other
 * - what a process was acknowledged it reads, until it changes it again
 * - in the end every cache has what the database has
 */
import assert from 'node:assert/strict'
import type { Principal } from '../../model/principal.ts'
import type { Attribute } from '../../model/value.ts'
import { ManualClock, SeededRandom } from '../../engine/actor/testkit.ts'
import { openClusterChangeFeed } from '../../engine/cluster/cluster-change-feed.ts'
import { createServices } from '../../services/create-services.ts'
import type { Services } from '../../services/services.ts'
import { insertTenant, MemoryTimeSeries, testCatalogue, testSecrets, testScripts } from '../../services/testkit.ts'
import { TestDeadLetters, TestParkedLanes } from '../../services/failed-messages.testkit.ts'
import { entityStoreOver } from '../../storage/entities/entity-store.ts'
import type { Statement } from '../../storage/entities/database.ts'
import { DECLARED_TABLES } from '../../services/entities/declared.ts'
import { migrate, migrateTables } from '../../storage/entities/sqlite/migrations.ts'
import { RunClock } from './run-clock.ts'
import { SimulatedDatabase } from './simulated-database.ts'
import { SimulatedHub, type SimulatedBus } from './simulated-bus.ts'
import { SimulatedLog } from './simulated-log.ts'
import { SimulatedMembership } from './simulated-membership.ts'

const PROCESSES = 3
const ENTITIES = ['e0', 'e1', 'e2']
const FAULTS_UNTIL_MS = 12_000
/** Behind the second look at a commit in doubt, and before the last. */
const CALM_MS = 17_000
/** Claims run out, and the outbox is looked through. */
const CLAIMS_MS = 60_000
const MAX_PAUSE_MS = 4000
/** A late commit, and the second look at it. */
const DOUBT_MS = 14_000

const PRINCIPAL: Principal = {
  userId: 'user',
  email: 'user@example.org',
  authority: 'TENANT_ADMIN',
  tenantId: 'e0',
  customerId: null,
  firstName: null,
  lastName: null,
}

interface Run {
  readonly id: string
  readonly clock: RunClock
  readonly bus: SimulatedBus
  services?: Services
}

interface Committed {
  readonly entity: string
  /** The process that made it. */
  readonly by: string
}

export async function live(seed: number): Promise<Readonly<Record<string, number>>> {
  const world = new ServiceWorld(seed)
  await world.run()
  return world.counts
}

class ServiceWorld {
  readonly counts = { changes: 0, acknowledged: 0, failed: 0, messages: 0, reads: 0, crashes: 0, pauses: 0, cuts: 0 }
  private readonly clock = new ManualClock()
  private readonly random: SeededRandom
  private readonly database: SimulatedDatabase
  private readonly hub: SimulatedHub
  private readonly membership: SimulatedMembership
  private readonly log: SimulatedLog
  private readonly runs: (Run | undefined)[] = []
  /** Messages that were committed, by the value that their change set. */
  private readonly committed = new Map<number, Committed>()
  private readonly acknowledged = new Set<number>()
  /** By process: changes that have no answer yet, and until when one may be made of whose end nobody heard. */
  private readonly inFlight = new Array<number>(PROCESSES).fill(0)
  private readonly doubtUntil = new Array<number>(PROCESSES).fill(0)
  /** The last that was acknowledged, by entity and process. */
  private readonly newest = new Map<string, number>()
  private values = 0
  private isCalm = false
  private failure: { readonly error: unknown } | undefined

  constructor(seed: number) {
    const { clock } = this
    const random = (this.random = new SeededRandom(seed))
    this.database = new SimulatedDatabase(clock, random)
    this.hub = new SimulatedHub(clock, random)
    this.membership = new SimulatedMembership(clock, random)
    this.log = new SimulatedLog(clock, random)
  }

  async run(): Promise<void> {
    await this.prepare()
    this.database.onCommit = (statements) => this.watch(() => this.changed(statements))
    for (let place = 0; place < PROCESSES; place++) this.live(place)
    this.disturbLater()
    await this.until(FAULTS_UNTIL_MS)
    this.isCalm = true
    this.calm()
    await this.until(FAULTS_UNTIL_MS + CALM_MS)
    for (const [place, run] of this.runs.entries()) await this.checkCache(place, run?.services)
    await this.until(FAULTS_UNTIL_MS + CLAIMS_MS)
    this.finish()
  }

  private async prepare(): Promise<void> {
    const database = this.database.connect(new RunClock(this.clock))
    const entities = entityStoreOver(database)
    const statements = ENTITIES.map((id) => insertTenant(entities, id, id))
    await this.settled(migrate(database, 'simulated', 1))
    await this.settled(migrateTables(database, 'simulated', 1, DECLARED_TABLES))
    await this.settled(entities.write(statements))
    this.database.addClaims()
  }

  private async settled<Value>(work: Promise<Value>): Promise<Value> {
    let isDone = false
    const done = (): void => void (isDone = true)
    work.then(done, done)
    while (!isDone) await this.clock.advance(1)
    return work
  }

  private async until(timeMs: number): Promise<void> {
    while (this.clock.monotonic() < timeMs) {
      const nextMs = this.clock.untilNextTimerMs ?? 10
      await this.clock.advance(Math.max(0.01, Math.min(nextMs, timeMs - this.clock.monotonic())))
      if (this.failure !== undefined) throw this.failure.error
    }
  }

  private watch(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.failure ??= { error }
    }
  }

  private live(place: number): void {
    this.start(place)
    this.changeLater(place)
    this.readLater(place)
  }

  private start(place: number): void {
    const clock = new RunClock(this.clock)
    const id = `process ${place} of ${Math.floor(this.clock.monotonic())}`
    const run: Run = { id, clock, bus: this.hub.connect(clock) }
    this.runs[place] = run
    this.open(run, place).catch((error: unknown) => {
      // What it needs was away: its supervisor starts it again.
      if (clock.isAlive) this.crash(place, 300)
      if (this.isCalm) this.failure ??= { error }
    })
  }

  private async open(run: Run, place: number): Promise<void> {
    const { clock, bus, id } = run
    const { random } = this
    const report = (): void => undefined
    const membership = this.membership.join(id, clock, place === 0 ? 'api' : 'engine')
    const feed = await openClusterChangeFeed({ bus, membership, cluster: 'simulation', clock, report })
    const services = createServices({
      ...testSecrets(),
      entities: entityStoreOver(this.database.connect(clock)),
      timeSeries: new MemoryTimeSeries(),
      feed,
      link: this.log.connect(clock),
      deadLetters: new TestDeadLetters(),
      parked: new TestParkedLanes(),
      clock,
      random,
      catalogue: testCatalogue,
      scripts: testScripts,
      attributeCacheBytes: 1 << 20,
      report,
    })
    if (place === 0) await services.startOutbox()
    run.services = services
  }

  private changeLater(place: number): void {
    this.clock.after(50 + this.random.below(400), () => {
      const services = this.servicesOf(place)
      if (services !== undefined) this.change(place, services)
      if (!this.isCalm) this.changeLater(place)
    })
  }

  private change(place: number, { attributes }: Services): void {
    const entity = { entityType: 'TENANT', id: ENTITIES[this.random.below(ENTITIES.length)] ?? '' } as const
    const value = ++this.values
    const entries = [{ key: keyOf(place), type: 'LONG' as const, value }]
    const saved =
      place === 0
        ? attributes.saveByUser(PRINCIPAL, entity, 'SERVER_SCOPE', entries)
        : attributes.save({
            tenantId: entity.id,
            entity,
            scope: 'SERVER_SCOPE',
            entries,
            sequence: value,
            store: true,
            notify: true,
            notifyDevice: false,
          })
    this.counts.changes++
    this.inFlight[place] = (this.inFlight[place] ?? 0) + 1
    const answered = (): void => void (this.inFlight[place] = (this.inFlight[place] ?? 0) - 1)
    saved.then(
      () => {
        answered()
        this.counts.acknowledged++
        if (place === 0) this.acknowledged.add(value)
        const key = `${entity.id} ${keyOf(place)}`
        this.newest.set(key, Math.max(value, this.newest.get(key) ?? 0))
      },
      () => {
        answered()
        this.counts.failed++
        this.isInDoubt(place)
      },
    )
  }

  private isInDoubt(place: number): void {
    this.doubtUntil[place] = this.clock.monotonic() + DOUBT_MS
  }

  private readLater(place: number): void {
    this.clock.after(20 + this.random.below(200), () => {
      const services = this.servicesOf(place)
      if (services !== undefined) void this.read(place, services).catch(() => undefined)
      if (!this.isCalm) this.readLater(place)
    })
  }

  private async read(place: number, { attributes }: Services): Promise<void> {
    const id = ENTITIES[this.random.below(ENTITIES.length)] ?? ''
    const isQuiet = (): boolean => this.inFlight[place] === 0 && this.clock.monotonic() > (this.doubtUntil[place] ?? 0)
    const changes = this.counts.changes
    const mustKnow = isQuiet()
    const { value } = await attributes.find({ entityType: 'TENANT', id }, 'SERVER_SCOPE', [keyOf(place)])
    this.counts.reads++
    if (!mustKnow || !isQuiet() || changes !== this.counts.changes) return
    this.watch(() => {
      const stored = this.stored(id).get(keyOf(place))
      assert.equal(value[0]?.value, stored, `process ${place} reads what it changed of ${id}`)
    })
  }

  private servicesOf(place: number): Services | undefined {
    const run = this.runs[place]
    return run?.clock.isPaused === false ? run.services : undefined
  }

  private stored(entity: string): ReadonlyMap<string, number> {
    const sql = 'select key, long_value as value from attribute where entity_id = ?'
    const rows = this.database.rows(sql, [entity]) as readonly { readonly key: string; readonly value: number }[]
    return new Map(rows.map(({ key, value }) => [key, value]))
  }

  /** What a user changed is there with its message, or neither. */
  private changed(statements: readonly Statement[]): void {
    for (const { sql, parameters } of statements) {
      if (!sql.startsWith('insert into "outbox"')) continue
      const { data, originatorId } = JSON.parse(String(parameters[0])) as { data: string; originatorId: string }
      const value = valueIn(data)
      assert.equal(this.stored(originatorId).get(keyOf(0)), value, `the message of change ${value} comes with it`)
      this.committed.set(value, { entity: originatorId, by: this.runs[0]?.id ?? '' })
    }
    for (const entity of ENTITIES) {
      const value = this.stored(entity).get(keyOf(0))
      assert.ok(value === undefined || this.committed.has(value), `change ${value ?? 0} comes with its message`)
    }
  }

  private finish(): void {
    const lastPublisher = this.runs[0]?.id
    const published = new Map<number, number>()
    for (const [place, { data }] of this.log.stored.entries()) {
      const value = valueIn(data)
      assert.ok(this.committed.has(value), `the message of change ${value} was committed`)
      if (!published.has(value)) published.set(value, place)
    }
    this.counts.messages = published.size
    const last = new Map<string, number>()
    for (const [value, { entity, by }] of this.committed) {
      const place = published.get(value)
      assert.ok(place !== undefined, `the message of change ${value} was published`)
      // One whose commit was in doubt, or whose process died, waits until nobody claims it.
      if (!this.acknowledged.has(value)) continue
      const line = `${entity} ${by}`
      const isLeft = by !== lastPublisher
      assert.ok(isLeft || place > (last.get(line) ?? -1), `the message of change ${value} overtook one of ${entity}`)
      last.set(line, place)
    }
    for (const value of this.acknowledged) assert.ok(this.committed.has(value), `change ${value} was acknowledged`)
    assert.deepEqual(this.database.rows('select id from outbox', []), [], 'the outbox is empty')
  }

  private async checkCache(place: number, services: Services | undefined): Promise<void> {
    assert.ok(services !== undefined, `process ${place} runs`)
    for (const id of ENTITIES) {
      const finding: Promise<{ readonly value: readonly Attribute[] }> = services.attributes.find(
        { entityType: 'TENANT', id },
        'SERVER_SCOPE',
        undefined,
      )
      const { value: found } = await this.settled(finding)
      const read = found.map(({ key, value }) => [key, value])
      assert.deepEqual(read.sort(), [...this.stored(id)].sort(), `process ${place} knows ${id}`)
      // What comes late of the rule engine is older, and changes nothing.
      for (const [key, value] of this.stored(id)) {
        const newest = this.newest.get(`${id} ${key}`) ?? 0
        assert.ok(key === keyOf(0) || value >= newest, `change ${newest} was acknowledged, ${value} is stored`)
      }
    }
  }

  private disturbLater(): void {
    this.clock.after(100 + this.random.below(1500), () => {
      if (this.isCalm) return
      if (this.random.chance(0.6)) this.calm()
      this.disturb()
      this.disturbLater()
    })
  }

  private calm(): void {
    Object.assign(this.database.faults, { fails: 0, losesAnswer: 0, isLate: 0, maxLatencyMs: 3 })
    Object.assign(this.hub.faults, { lost: 0, maxDelayMs: 3 })
    this.log.refusals = 0
  }

  private disturb(): void {
    const { random, database, hub } = this
    const place = random.below(PROCESSES)
    const draw = random.next()
    if (draw < 0.15) this.crash(place, random.below(1500))
    else if (draw < 0.25) this.pause(place)
    else if (draw < 0.4) this.cut(place)
    else if (draw < 0.5) hub.faults.lost = 0.3
    else if (draw < 0.58) hub.faults.maxDelayMs = 300
    else if (draw < 0.66) database.faults.losesAnswer = 0.4
    else if (draw < 0.74) database.faults.isLate = 0.3
    else if (draw < 0.82) database.faults.fails = 0.4
    else if (draw < 0.9) database.faults.maxLatencyMs = 200
    else this.log.refusals = 0.4
  }

  private crash(place: number, restartMs: number): void {
    const run = this.runs[place]
    if (run === undefined) return
    this.counts.crashes++
    this.runs[place] = undefined
    run.clock.kill()
    run.bus.cut()
    this.hub.leave(run.bus)
    this.membership.leave(run.id, false)
    this.inFlight[place] = 0
    this.isInDoubt(place)
    this.clock.after(restartMs, () => this.start(place))
  }

  private pause(place: number): void {
    const run = this.runs[place]
    if (run === undefined || run.clock.isPaused) return
    this.counts.pauses++
    run.clock.pause()
    this.membership.fallSilent(run.id)
    this.clock.after(this.random.below(MAX_PAUSE_MS), () => {
      run.clock.goOn()
      this.membership.speakAgain(run.id)
    })
  }

  private cut(place: number): void {
    const run = this.runs[place]
    if (run === undefined || run.bus.isCut) return
    this.counts.cuts++
    run.bus.cut()
    this.membership.fallSilent(run.id)
    this.clock.after(this.random.below(MAX_PAUSE_MS), () => {
      if (!run.clock.isAlive) return
      run.bus.mend()
      this.membership.speakAgain(run.id)
    })
  }
}

/** Each process changes a key of its own. */
function keyOf(place: number): string {
  return `k${place}`
}

function valueIn(data: string): number {
  return (JSON.parse(data) as { readonly k0: number }).k0
}
