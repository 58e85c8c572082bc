/** For tests: a bus within the process, whose members a test cuts off and whose words it loses. */
import type { Clock } from '../../model/clock.ts'
import type { ClusterBus } from './bus.ts'

export class TestHub {
  private readonly clock: Clock
  private readonly buses: TestBus[] = []
  /** Says which words are lost on the way to a bus: a test's fault. */
  loses: (to: TestBus, subject: string, body: string) => boolean = () => false
  /** Characters that a server takes at once. */
  maxLength = Infinity
  /** Every word on its way, for tests that count. */
  readonly said: { readonly subject: string; readonly body: string }[] = []

  constructor(clock: Clock) {
    this.clock = clock
  }

  connect(): TestBus {
    const bus = new TestBus(this)
    this.buses.push(bus)
    return bus
  }

  carry(subject: string, body: string): void {
    this.said.push({ subject, body })
    this.clock.soon(() => {
      for (const bus of this.buses) if (bus.connected && !this.loses(bus, subject, body)) bus.deliver(subject, body)
    })
  }

  arrived(run: () => void): void {
    this.clock.soon(run)
  }
}

export class TestBus implements ClusterBus {
  connected = true
  private isDead = false
  /** A process that stands still: nothing reaches it until it goes on, and then all at once. */
  private held: (() => void)[] | undefined
  private readonly hub: TestHub
  private readonly subscriptions = new Set<{ readonly subject: string; readonly onMessage: (body: string) => void }>()
  private readonly listeners = new Set<(connected: boolean) => void>()

  constructor(hub: TestHub) {
    this.hub = hub
  }

  cut(): void {
    this.turn(false)
  }

  mend(): void {
    this.turn(true)
  }

  /** The process is no more. */
  kill(): void {
    this.isDead = true
    this.connected = false
    this.subscriptions.clear()
    this.listeners.clear()
  }

  pause(): void {
    this.held ??= []
  }

  goOn(): void {
    const held = this.held ?? []
    this.held = undefined
    for (const run of held) run()
  }

  onConnection(listener: (connected: boolean) => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  publish(subject: string, body: string): boolean {
    if (!this.connected || body.length > this.hub.maxLength) return false
    this.hub.carry(subject, body)
    return true
  }

  subscribe(subject: string, onMessage: (body: string) => void): () => void {
    const subscription = { subject, onMessage }
    this.subscriptions.add(subscription)
    return () => void this.subscriptions.delete(subscription)
  }

  flush(): Promise<void> {
    if (!this.connected) return Promise.reject(new Error('the bus is away'))
    return new Promise((resolve) => this.hub.arrived(resolve))
  }

  deliver(subject: string, body: string): void {
    if (this.held !== undefined) {
      this.held.push(() => this.deliver(subject, body))
      return
    }
    for (const subscription of [...this.subscriptions]) {
      if (subscription.subject === subject) subscription.onMessage(body)
    }
  }

  private turn(connected: boolean): void {
    if (this.connected === connected || this.isDead) return
    this.connected = connected
    for (const listener of [...this.listeners]) listener(connected)
  }
}
