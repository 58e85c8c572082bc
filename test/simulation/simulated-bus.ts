/** The bus between processes: late by seed, lost by seed, and cut. What one process says to another is heard in its order, or not at all. */
import type { Clock } from '../../model/clock.ts'
import type { SeededRandom } from '../../engine/actor/testkit.ts'
import type { ClusterBus } from '../../engine/cluster/bus.ts'
import type { RunClock } from './run-clock.ts'

export class SimulatedHub {
  readonly faults = { lost: 0, maxDelayMs: 3 }
  private readonly clock: Clock
  private readonly random: SeededRandom
  private readonly buses = new Set<SimulatedBus>()

  constructor(clock: Clock, random: SeededRandom) {
    this.clock = clock
    this.random = random
  }

  connect(clock: RunClock): SimulatedBus {
    const bus = new SimulatedBus(this, clock)
    this.buses.add(bus)
    return bus
  }

  leave(bus: SimulatedBus): void {
    this.buses.delete(bus)
  }

  carry(from: SimulatedBus, subject: string, body: string): void {
    const now = this.clock.monotonic()
    for (const bus of this.buses) {
      if (!bus.listensTo(subject) || this.random.chance(this.faults.lost)) continue
      const delayMs = 0.01 + this.random.next() * this.faults.maxDelayMs
      const arrivesAtMs = Math.max(from.arrivals.get(bus) ?? 0, now + delayMs)
      from.arrivals.set(bus, arrivesAtMs)
      this.clock.after(arrivesAtMs - now, () => {
        if (!bus.isCut) bus.clock.arrive(() => bus.deliver(subject, body))
      })
    }
  }
}

export class SimulatedBus implements ClusterBus {
  readonly clock: RunClock
  /** When the last word to another arrives there, monotonic ms. */
  readonly arrivals = new WeakMap<SimulatedBus, number>()
  isCut = false
  private readonly hub: SimulatedHub
  /** What the process knows. */
  private isConnected = true
  private readonly listeners = new Set<(connected: boolean) => void>()
  private readonly subscriptions = new Set<{ readonly subject: string; readonly onMessage: (body: string) => void }>()

  constructor(hub: SimulatedHub, clock: RunClock) {
    this.hub = hub
    this.clock = clock
  }

  get connected(): boolean {
    return this.isConnected
  }

  onConnection(listener: (connected: boolean) => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  cut(): void {
    this.turn(false)
  }

  mend(): void {
    this.turn(true)
  }

  publish(subject: string, body: string): boolean {
    if (!this.isConnected) return false
    if (!this.isCut) this.hub.carry(this, subject, body)
    return true
  }

  subscribe(subject: string, onMessage: (body: string) => void): () => void {
    const subscription = { subject, onMessage }
    this.subscriptions.add(subscription)
    return () => void this.subscriptions.delete(subscription)
  }

  flush(): Promise<void> {
    if (!this.isConnected) return Promise.reject(new Error('the bus is away'))
    return new Promise((resolve) => this.clock.soon(resolve))
  }

  listensTo(subject: string): boolean {
    for (const subscription of this.subscriptions) if (subscription.subject === subject) return true
    return false
  }

  deliver(subject: string, body: string): void {
    for (const { subject: wanted, onMessage } of [...this.subscriptions]) if (wanted === subject) onMessage(body)
  }

  private turn(connected: boolean): void {
    if (this.isCut !== connected) return
    this.isCut = !connected
    this.clock.arrive(() => {
      this.isConnected = connected
      for (const listener of [...this.listeners]) listener(connected)
    })
  }
}
