/**
 * A device that talks, falls silent, leaves, and moves from one transport to another with or without a good-bye. In the end it does as
 * it is told.
 */
import assert from 'node:assert/strict'
import type { Clock } from '../../model/clock.ts'
import type { SeededRandom } from '../../engine/actor/testkit.ts'
import type { DeviceGateway, DeviceSession, DeviceSessionListener } from '../../engine/device/gateway.ts'
import type { DeviceChecker, HeldSession, Upload } from './device-checker.ts'

const PATIENCE_MS = 6000
const CREDENTIALS_MS = 50
/** What comes faster than one a millisecond is stamped ahead of the clock. */
const BURST = { uploads: 40, times: 3, everyMs: 15 }

export interface TransportView {
  readonly id: string
  readonly gateway: DeviceGateway
  readonly isOpen: () => boolean
  /** It stands still: what it is asked is answered when it goes on. */
  readonly isPaused: () => boolean
}

export interface SimulatedClientOptions {
  readonly name: string
  readonly clock: Clock
  readonly random: SeededRandom
  readonly checker: DeviceChecker
  readonly transport: () => TransportView | undefined
  readonly nextUpload: () => number
  /** After which the transport ends a session whose device is silently gone. */
  readonly keepAliveMs: number
  readonly onBurst: () => void
  readonly watch: (check: () => void) => void
}

export type Conduct = 'as it likes' | 'talks' | 'keeps silent' | 'leaves'

export class SimulatedClient {
  readonly name: string
  conduct: Conduct = 'as it likes'
  private readonly options: SimulatedClientOptions
  private transport: TransportView | undefined
  private session: DeviceSession | undefined
  private held: HeldSession | undefined
  private isConnecting = false
  private mood: Conduct = 'talks'
  private moodUntil = 0
  private readonly window: number
  private unacknowledged = 0
  private lastNewsMs = 0

  constructor(options: SimulatedClientOptions) {
    this.options = options
    this.name = options.name
    this.window = options.random.chance(0.5) ? 1 : BURST.uploads * BURST.times
    this.actLater()
  }

  /** The session that it uses. */
  get current(): HeldSession | undefined {
    return this.held
  }

  private actLater(): void {
    const { clock, random } = this.options
    clock.after(50 + random.below(900), () => {
      this.act()
      this.actLater()
    })
  }

  private act(): void {
    const { clock, random } = this.options
    const now = clock.monotonic()
    if (now >= this.moodUntil) {
      const draw = random.next()
      this.mood = draw < 0.6 ? 'talks' : draw < 0.8 ? 'keeps silent' : 'leaves'
      this.moodUntil = now + 2000 + random.below(this.mood === 'talks' ? 15_000 : 18_000)
    }
    const conduct = this.conduct === 'as it likes' ? this.mood : this.conduct
    const isStuck = this.unacknowledged > 0 && now - this.lastNewsMs > PATIENCE_MS
    if (this.transport?.isOpen() === false || isStuck) this.drop(isStuck)
    if (conduct === 'leaves') return this.drop(true)
    if (this.session === undefined) return void this.connect()
    if (this.conduct === 'as it likes' && random.chance(0.06)) return this.drop(random.chance(0.5))
    if (conduct === 'keeps silent') return
    if (random.chance(0.1)) return this.session.touch()
    if (this.window > 1 && random.chance(0.06)) return this.burst(this.session)
    if (this.unacknowledged < this.window) this.post(this.session)
  }

  private burst(session: DeviceSession): void {
    const { clock, onBurst } = this.options
    onBurst()
    for (let time = 0; time < BURST.times; time++) {
      clock.after(time * BURST.everyMs, () => {
        if (this.session !== session) return
        for (let count = 0; count < BURST.uploads && this.unacknowledged < this.window; count++) this.post(session)
      })
    }
  }

  /** Without a good-bye the transport keeps the session until it misses the pings. */
  private drop(saysGoodBye: boolean): void {
    const { session, held } = this
    this.session = this.held = this.transport = undefined
    this.unacknowledged = 0
    const close = (): void => {
      if (held?.isAlive() !== true || held.end !== '') return
      held.end = 'closed'
      session?.close()
    }
    if (saysGoodBye) close()
    else this.options.clock.after(this.options.keepAliveMs, close)
  }

  private async connect(): Promise<void> {
    const { clock, checker, watch, name, transport: some } = this.options
    const transport = some()
    if (this.isConnecting || transport === undefined || transport.isPaused()) return
    this.isConnecting = true
    const askedAt = clock.monotonic()
    const device = await transport.gateway.authenticate({ type: 'ACCESS_TOKEN', token: name }).catch(() => undefined)
    this.isConnecting = false
    if (device === undefined || !transport.isOpen()) return
    const held: HeldSession = {
      device: name,
      process: transport.id,
      openedAt: clock.monotonic(),
      isAlive: transport.isOpen,
      end: '',
    }
    watch(() => {
      const tookMs = clock.monotonic() - askedAt
      assert.ok(transport.isPaused() || tookMs <= CREDENTIALS_MS, `CONNACK came after ${tookMs} ms`)
    })
    checker.opened(held)
    const listener: DeviceSessionListener = {
      sharedAttributesChanged: () => undefined,
      closed: (reason) => {
        if (!transport.isOpen() || held.end === 'closed') return
        watch(() => checker.ended(held, reason))
        if (this.held === held) this.session = this.held = this.transport = undefined
      },
    }
    const session = transport.gateway.openSession(device, 'lasting', listener)
    Object.assign(this, { session, held, transport, unacknowledged: 0 })
  }

  private post(session: DeviceSession): void {
    const { random, clock, checker, watch, nextUpload, name } = this.options
    const { held } = this
    const elements = random.chance(0.2) ? 3 : 1
    const upload: Upload = {
      device: name,
      number: nextUpload(),
      sentAt: clock.monotonic(),
      elements,
      acknowledgedAt: 0,
    }
    checker.posted(upload)
    if (this.unacknowledged++ === 0) this.lastNewsMs = clock.monotonic()
    const groups = Array.from({ length: elements }, (_, index) => ({
      ts: undefined,
      entries: [{ key: `v${index}`, type: 'LONG' as const, value: upload.number }],
    }))
    const answered = (): void => {
      if (this.held !== held) return
      this.unacknowledged--
      this.lastNewsMs = clock.monotonic()
    }
    session.postTelemetry(groups, {
      stored: () => {
        watch(() => checker.stored(upload))
        answered()
      },
      refused: answered,
    })
  }
}
