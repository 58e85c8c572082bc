/**
 * One history of devices in a cluster: transports with their sessions, engines that own partitions, the link between them, all on one
 * simulated clock with clocks of their own that differ. Devices move, faults come by seed; then all is calm, and what the devices do
 * must be told exactly once.
 */
import assert from 'node:assert/strict'
import { ManualClock, SeededRandom } from '../../engine/actor/testkit.ts'
import { DeviceChecker } from './device-checker.ts'
import { DEVICE_SETTINGS, DeviceCluster, MAX_SKEW_MS, type Run } from './device-cluster.ts'
import { SimulatedClient, type TransportView } from './simulated-client.ts'

const ENGINES = 2
const TRANSPORTS = 3
const FAULTS_UNTIL_MS = 30_000
const LIMIT_MS = 200_000
const MAX_PAUSE_MS = 4000
const KEEP_ALIVE_MS = 5000

/** Leases run out, new owners have waited, what was lost is told again. */
const CALM_MS = 16_000
const QUIET_MS = 4000
const SILENCE_MS = DEVICE_SETTINGS.inactivityTimeoutMs + 4000
const RETURN_MS = 5000

export async function live(seed: number): Promise<Readonly<Record<string, number>>> {
  const world = new DeviceWorld(seed)
  await world.run()
  return world.figures()
}

class DeviceWorld {
  private readonly clock = new ManualClock()
  private readonly random: SeededRandom
  private readonly checker = new DeviceChecker(DEVICE_SETTINGS.inactivityTimeoutMs, () => this.clock.monotonic())
  private readonly cluster: DeviceCluster
  private readonly runs: (Run | undefined)[] = []
  /** One of them leaves for good while there are faults. */
  private readonly gone: SimulatedClient
  /** It was stored as active when it left. */
  private wasActive = false
  private readonly present: readonly SimulatedClient[]
  private readonly counts = { crashes: 0, pauses: 0, cuts: 0 }
  private uploads = 0
  private failure: { readonly error: unknown } | undefined

  constructor(seed: number) {
    const { clock, checker, watch } = this
    const random = (this.random = new SeededRandom(seed))
    this.cluster = new DeviceCluster({ clock, random, checker, watch })
    this.gone = this.client('d0', KEEP_ALIVE_MS)
    this.present = this.cluster.devices.slice(1).map(({ deviceName }) => this.client(deviceName, LIMIT_MS))
  }

  figures(): Readonly<Record<string, number>> {
    const { sent, acknowledged, redelivered, takenOver, events, sessions } = this.checker
    const count = (name: string): number => events.filter(({ type }) => type === name).length
    return {
      sent,
      acknowledged,
      redelivered,
      sessions: sessions.length,
      takenOver,
      connects: count('CONNECT_EVENT'),
      disconnects: count('DISCONNECT_EVENT'),
      activities: count('ACTIVITY_EVENT'),
      inactivities: count('INACTIVITY_EVENT'),
      ...this.counts,
    }
  }

  async run(): Promise<void> {
    for (let place = 0; place < ENGINES + TRANSPORTS; place++) this.start(place)
    this.disturbLater()
    this.clock.after(this.random.below(FAULTS_UNTIL_MS), () => this.goAway())
    await this.until(FAULTS_UNTIL_MS)
    this.calm()
    for (const client of this.present) client.conduct = 'talks'
    await this.until(FAULTS_UNTIL_MS + CALM_MS)
    await this.checkCalm()
    await this.checkSilence()
    do await this.until(this.clock.monotonic() + 1000)
    while (!this.isSettled())
    this.checker.finish()
  }

  /** With a good-bye, or since the power fails: then nobody is left who knows of it. */
  private goAway(): void {
    this.gone.conduct = 'leaves'
    this.wasActive = this.cluster.attribute(this.gone.name, 'active') === true
    if (this.random.chance(0.5)) for (const place of this.runs.keys()) this.crash(place)
  }

  /** What is settled may stay in an idle stream, until what the stamps need of it is noted. */
  private isSettled(): boolean {
    const figures = this.runs.slice(0, ENGINES).map((run) => run?.link.figures())
    return figures.every((one) => one?.openFrames === 0 && one.outstanding === 0)
  }

  /** Each has its one session, and what goes on changes nothing. */
  private async checkCalm(): Promise<void> {
    const { checker, gone } = this
    const since = this.clock.monotonic()
    await this.until(since + QUIET_MS)
    assert.deepEqual(checker.liveSessions(gone.name), [], `${gone.name} is gone`)
    assert.deepEqual(checker.eventsSince(gone.name, since), [], `${gone.name} is told gone in time`)
    this.checkGone()
    for (const { name, current } of this.present) {
      const live = checker.liveSessions(name)
      assert.equal(live.length, 1, `${name} has ${live.length} live sessions`)
      assert.equal(live[0], current, `${name} has the session that it uses`)
      assert.deepEqual(checker.eventsSince(name, since), [], `${name} is calm`)
    }
    this.checkActive(true)
  }

  /** Some leave, all fall silent; then all are back: each change is told once. */
  private async checkSilence(): Promise<void> {
    const { checker, present: clients } = this
    const since = this.clock.monotonic()
    for (const [index, client] of clients.entries()) client.conduct = index % 2 === 0 ? 'leaves' : 'keeps silent'
    await this.until(since + SILENCE_MS)
    for (const [index, { name }] of clients.entries()) {
      const expected = [...(index % 2 === 0 ? ['DISCONNECT_EVENT'] : []), 'INACTIVITY_EVENT']
      assert.deepEqual(checker.eventsSince(name, since), expected, `${name} fell silent`)
    }
    this.checkActive(false)
    const back = this.clock.monotonic()
    for (const client of clients) client.conduct = 'talks'
    await this.until(back + RETURN_MS)
    for (const [index, { name }] of clients.entries()) {
      const expected = [...(index % 2 === 0 ? ['CONNECT_EVENT'] : []), 'ACTIVITY_EVENT']
      assert.deepEqual(checker.eventsSince(name, back), expected, `${name} is back`)
    }
    this.checkActive(true)
    for (const client of clients) client.conduct = 'keeps silent'
  }

  private checkActive(isActive: boolean): void {
    for (const { name } of this.present)
      assert.equal(this.cluster.attribute(name, 'active'), isActive, `${name} is stored as active`)
  }

  /** It left in the middle of everything, and nobody else speaks of it. Who crash with the only word of a connection cannot tell its end. */
  private checkGone(): void {
    const time = (key: string): number => Number(this.cluster.attribute(this.gone.name, key) ?? 0)
    const { name } = this.gone
    assert.notEqual(this.cluster.attribute(this.gone.name, 'active'), true, `${name} is not active`)
    const isConnected = time('lastConnectTime') > time('lastDisconnectTime') + 2 * MAX_SKEW_MS
    assert.ok(!this.wasActive || !isConnected, `${name} is not connected`)
  }

  private async until(timeMs: number): Promise<void> {
    assert.ok(timeMs < LIMIT_MS, `stuck with ${this.cluster.streams.frameCount} frames`)
    while (this.clock.monotonic() < timeMs) {
      const nextMs = this.clock.untilNextTimerMs ?? 10
      await this.clock.advance(Math.max(0.01, Math.min(nextMs, timeMs - this.clock.monotonic())))
      if (this.failure !== undefined) throw this.failure.error
    }
  }

  /** Checks are made in the middle of the engine's work: what they throw is kept here. */
  private readonly watch = (check: () => void): void => {
    try {
      check()
    } catch (error) {
      this.failure ??= { error }
    }
  }

  private client(name: string, keepAliveMs: number): SimulatedClient {
    const { clock, random, checker, watch } = this
    return new SimulatedClient({
      name,
      clock,
      random,
      checker,
      watch,
      keepAliveMs,
      nextUpload: () => ++this.uploads,
      transport: () => this.transport(),
      onBurst: () => {
        if (this.clock.monotonic() > FAULTS_UNTIL_MS - MAX_PAUSE_MS || random.chance(0.8)) return
        clock.after(random.below(80), () => this.crash(random.below(ENGINES)))
      },
    })
  }

  private transport(): TransportView | undefined {
    const run = this.runs[ENGINES + this.random.below(TRANSPORTS)]
    if (run?.gateway === undefined || !isOpen(run)) return undefined
    return { id: run.id, gateway: run.gateway, isOpen: () => isOpen(run), isPaused: () => run.clock.isPaused }
  }

  private start(place: number): void {
    this.runs[place] = this.cluster.start(place < ENGINES ? 'engine' : 'transport', place)
  }

  private disturbLater(): void {
    this.clock.after(100 + this.random.below(3000), () => {
      if (this.clock.monotonic() >= FAULTS_UNTIL_MS - MAX_PAUSE_MS) return
      if (this.random.chance(0.6)) this.calm()
      this.disturb()
      this.disturbLater()
    })
  }

  private calm(): void {
    Object.assign(this.cluster.streams.faults, { lostRequest: 0, lostAnswer: 0, repeatedPublish: 0, maxDelayMs: 3 })
    Object.assign(this.cluster.hub.faults, { lost: 0, maxDelayMs: 3 })
    Object.assign(this.cluster.attributes, { failing: 0, maxLatencyMs: 5 })
    this.cluster.store.failedCommit = 0
    this.cluster.store.maxLatencyMs = 5
    this.cluster.membership.agree()
  }

  private disturb(): void {
    const { random, cluster } = this
    const { streams, hub } = cluster
    const place = random.below(ENGINES + TRANSPORTS)
    const draw = random.next()
    if (draw < 0.15) this.crash(place)
    else if (draw < 0.25) void this.restartCleanly(place)
    else if (draw < 0.38) this.pause(place)
    else if (draw < 0.5) this.cut(place)
    else if (draw < 0.62) hub.faults.lost = 0.3
    else if (draw < 0.7) hub.faults.maxDelayMs = 400
    else if (draw < 0.78) Object.assign(streams.faults, { lostRequest: 0.2, lostAnswer: 0.2, repeatedPublish: 0.3 })
    else if (draw < 0.83) streams.faults.maxDelayMs = 300
    else if (draw < 0.88) this.cluster.membership.disagree()
    else if (draw < 0.94) this.cluster.attributes.failing = 0.3
    else this.cluster.store.failedCommit = 0.5
  }

  private crash(place: number): void {
    const run = this.runs[place]
    if (run === undefined) return
    this.counts.crashes++
    this.end(place, run, false)
    this.clock.after(this.random.below(4000), () => this.start(place))
  }

  private end(place: number, run: Run, saysGoodBye: boolean): void {
    this.runs[place] = undefined
    run.clock.kill()
    run.broker.cut()
    run.bus.cut()
    this.cluster.hub.leave(run.bus)
    this.cluster.membership.leave(run.id, saysGoodBye)
  }

  private async restartCleanly(place: number): Promise<void> {
    const run = this.runs[place]
    if (run === undefined || run.isClosing) return
    run.isClosing = true
    run.owner?.close()
    await run.gateway?.close()
    await run.link.close()
    // It may have crashed meanwhile.
    if (this.runs[place] !== run) return
    this.end(place, run, true)
    this.start(place)
  }

  /** The process stands still, as after SIGSTOP. */
  private pause(place: number): void {
    const run = this.runs[place]
    if (run === undefined || run.clock.isPaused) return
    this.counts.pauses++
    run.clock.pause()
    this.cluster.membership.fallSilent(run.id)
    const pauseMs = 200 + this.random.below(MAX_PAUSE_MS - 200)
    this.clock.after(pauseMs, () => {
      if (run.role === 'engine') this.checker.wentOn(pauseMs)
      run.clock.goOn()
      this.cluster.membership.speakAgain(run.id)
    })
  }

  private cut(place: number): void {
    const run = this.runs[place]
    if (run === undefined || run.bus.isCut) return
    this.counts.cuts++
    run.broker.cut()
    run.bus.cut()
    this.cluster.membership.fallSilent(run.id)
    const cutAt = this.clock.now()
    this.clock.after(100 + this.random.below(MAX_PAUSE_MS - 100), () => {
      if (!run.clock.isAlive) return
      run.broker.mend()
      run.bus.mend()
      this.cluster.membership.speakAgain(run.id)
      run.clock.arrive(() => run.feed.gap(cutAt))
    })
  }
}

function isOpen(run: Run): boolean {
  return !run.isClosing && run.clock.isAlive
}
