/**
 * Confirmable messages to clients: sent again until they are acknowledged, one under way to a client, so that a slow line is not made worse
 * (RFC 7252, 4.2 and 4.7). Non-confirmable ones are remembered for a while, because a client may refuse them.
 */
import type { Clock, Random, TimerHandle } from '../../model/clock.ts'
import type { MessageCounts } from './counts.ts'
import type { MessageLimits } from './limits.ts'
import type { Peer } from './message.ts'

/** `refused`: with RST. `lost`: nobody acknowledged it. */
export type Outcome = 'acknowledged' | 'refused' | 'lost'

export interface TransmissionsOptions {
  readonly clock: Clock
  readonly random: Random
  readonly limits: MessageLimits
  readonly counts: MessageCounts
  readonly send: (datagram: Buffer, peer: Peer) => void
}

interface Transmission {
  readonly peer: Peer
  readonly id: number
  readonly datagram: Buffer
  readonly settled: (outcome: Outcome) => void
  sends: number
  timeoutMs: number
  timer: TimerHandle | undefined
}

const IDS = 65_536
const MAX_REMEMBERED = 10_000

export class Transmissions {
  private readonly options: TransmissionsOptions
  /** The first of each client is under way. */
  private readonly queues = new Map<string, Transmission[]>()
  private readonly underWay = new Map<string, Transmission>()
  private readonly remembered = new Map<string, (outcome: Outcome) => void>()
  private nextId: number

  constructor(options: TransmissionsOptions) {
    this.options = options
    this.nextId = Math.floor(options.random.next() * IDS)
  }

  newId(): number {
    this.nextId = (this.nextId + 1) % IDS
    return this.nextId
  }

  /** `settled` is called once, later. False, and nothing is sent, where too many wait for this client. */
  confirmable(peer: Peer, encode: (id: number) => Buffer, settled: (outcome: Outcome) => void): boolean {
    const queue = this.queues.get(peer.key) ?? []
    if (queue.length > this.options.limits.maxQueuedMessages) return false
    const id = this.newId()
    const transmission = { peer, id, datagram: encode(id), settled, sends: 0, timeoutMs: 0, timer: undefined }
    queue.push(transmission)
    if (queue.length > 1) return true
    this.queues.set(peer.key, queue)
    this.begin(transmission)
    return true
  }

  /** `refused` is called where the client answers with RST. */
  nonConfirmable(peer: Peer, encode: (id: number) => Buffer, refused: () => void): void {
    const id = this.newId()
    this.remembered.set(keyOf(peer, id), refused)
    if (this.remembered.size > MAX_REMEMBERED) {
      const [oldest] = this.remembered.keys()
      if (oldest !== undefined) this.remembered.delete(oldest)
    }
    this.options.send(encode(id), peer)
  }

  /** What a client said of a message to it. */
  heard(peer: Peer, id: number, outcome: 'acknowledged' | 'refused'): void {
    const key = keyOf(peer, id)
    const transmission = this.underWay.get(key)
    if (transmission !== undefined) return this.settle(transmission, outcome)
    if (outcome !== 'refused') return
    const told = this.remembered.get(key)
    this.remembered.delete(key)
    told?.('refused')
  }

  /** Nothing is sent again, and nobody is told. */
  close(): void {
    for (const { timer } of this.underWay.values()) timer?.cancel()
    this.underWay.clear()
    this.queues.clear()
    this.remembered.clear()
  }

  private begin(transmission: Transmission): void {
    const { random, limits } = this.options
    const { acknowledgeTimeoutMs, acknowledgeRandomFactor } = limits
    transmission.timeoutMs = acknowledgeTimeoutMs * (1 + random.next() * (acknowledgeRandomFactor - 1))
    this.underWay.set(keyOf(transmission.peer, transmission.id), transmission)
    this.send(transmission)
  }

  private send(transmission: Transmission): void {
    const { clock, limits, counts, send } = this.options
    if (transmission.sends++ > 0) counts.retransmitted++
    send(transmission.datagram, transmission.peer)
    transmission.timer = clock.after(transmission.timeoutMs, () => {
      if (transmission.sends > limits.maxRetransmits) return this.settle(transmission, 'lost')
      transmission.timeoutMs *= 2
      this.send(transmission)
    })
  }

  private settle(transmission: Transmission, outcome: Outcome): void {
    const { peer, id, timer, settled } = transmission
    timer?.cancel()
    this.underWay.delete(keyOf(peer, id))
    if (outcome === 'lost') this.options.counts.lost++
    const queue = this.queues.get(peer.key)
    queue?.shift()
    const next = queue?.[0]
    if (next === undefined) this.queues.delete(peer.key)
    else this.begin(next)
    settled(outcome)
  }
}

function keyOf(peer: Peer, id: number): string {
  return `${peer.key} ${id}`
}
