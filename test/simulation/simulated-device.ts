/**
 * A device as MQTT clients are: some messages in flight, on one connection to one engine. What was not acknowledged when the connection
 * ended is sent again over the next one, in order, ahead of anything new.
 */
import type { Clock } from '../../model/clock.ts'
import type { SeededRandom } from '../../engine/actor/testkit.ts'
import { Message } from '../../model/message.ts'
import { TENANT_ID } from '../../engine/rulechain/testkit.ts'
import type { ClusterChecker } from './cluster-checker.ts'
import type { ClusteredLink } from './clustered-link.ts'

const MAX_PAUSE_MS = 300
/** How long a device waits for an acknowledgement before it connects anew. */
const PATIENCE_MS = 6000

/** A connection: the engine it goes to, and whether that takes messages now. */
export interface Entry {
  readonly link: ClusteredLink
  readonly isOpen: () => boolean
}

export interface SimulatedDeviceOptions {
  readonly number: number
  readonly messages: number
  readonly window: number
  readonly clock: Clock
  readonly random: SeededRandom
  readonly checker: ClusterChecker
  /** Some engine that takes connections; undefined where none does. */
  readonly connect: () => Entry | undefined
  readonly watch: (check: () => void) => void
}

export class SimulatedDevice {
  private readonly options: SimulatedDeviceOptions
  private readonly id: string
  private entry: Entry | undefined
  private connection = 0
  private next = 1
  /** Counters that are not acknowledged; the oldest first. */
  private unacknowledged: number[] = []
  /** Of those, how many were sent on this connection. */
  private sent = 0
  private tries = 0
  private lastNewsMs = 0

  constructor(options: SimulatedDeviceOptions) {
    this.options = options
    this.id = `device ${options.number}`
    this.actLater()
  }

  get isDone(): boolean {
    return this.next > this.options.messages && this.unacknowledged.length === 0
  }

  get sentCount(): number {
    return this.next - 1
  }

  private actLater(): void {
    const { clock, random } = this.options
    clock.after(random.below(MAX_PAUSE_MS), () => {
      this.act()
      if (!this.isDone) this.actLater()
    })
  }

  private act(): void {
    const { clock, random, window, messages } = this.options
    const isStuck = this.sent > 0 && clock.monotonic() - this.lastNewsMs > PATIENCE_MS
    if (this.entry?.isOpen() !== true || isStuck) this.disconnect()
    this.entry ??= this.options.connect()
    if (this.entry === undefined) return
    while (this.sent < this.unacknowledged.length) this.send(this.entry, this.unacknowledged[this.sent])
    for (let burst = 1 + random.below(3); burst > 0; burst--) {
      if (this.unacknowledged.length >= window || this.next > messages) return
      this.unacknowledged.push(this.next++)
      this.send(this.entry, this.unacknowledged.at(-1))
    }
  }

  private disconnect(): void {
    this.entry = undefined
    this.connection++
    this.sent = 0
  }

  private send({ link }: Entry, counter = 0): void {
    const { clock, random, checker, number, watch } = this.options
    const { connection } = this
    if (this.sent === 0) this.lastNewsMs = clock.monotonic()
    this.sent++
    const value = random.below(1_000_000)
    const message = new Message({
      id: `${this.id} message ${counter} try ${++this.tries}`,
      ts: clock.now(),
      type: 'POST_TELEMETRY_REQUEST',
      tenantId: TENANT_ID,
      originator: { entityType: 'DEVICE', id: this.id },
      metadata: { deviceName: this.id, ts: String(clock.now()) },
      data: random.chance(0.03) ? `{"poison":${value}}` : `{"temperature":${value}}`,
    })
    checker.published(message, number, connection, counter)
    link.publish(message, {
      stored: () => {
        watch(() => checker.stored(message.id))
        if (connection === this.connection) this.acknowledged(counter)
      },
      refused: () => {
        watch(() => checker.wasRefused(message.id))
        if (connection === this.connection) this.disconnect()
      },
    })
  }

  private acknowledged(counter: number): void {
    this.lastNewsMs = this.options.clock.monotonic()
    const index = this.unacknowledged.indexOf(counter)
    if (index < 0) return
    this.unacknowledged.splice(index, 1)
    if (index < this.sent) this.sent--
  }
}
