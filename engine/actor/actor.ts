/**
 * One actor: an id, a mailbox and a behaviour. The behaviour is made when the first batch is there, gets one batch at a time (a promise
 * it returns holds the next one back) and is closed when the actor idles or stops. One that throws is replaced (`supervision.ts`).
 *
 * | state | means | leaves it on |
 * |---|---|---|
 * | asleep | no behaviour, costs an object | the first batch |
 * | awake | has a behaviour | idle time, failure, stop |
 * | busy | a batch's promise is open | its end |
 * | backing-off | waits to be restarted | the timer, stop |
 * | closing | the behaviour's close is open | its end: asleep, or stopped |
 * | stopped | takes nothing | – |
 */
import type { Clock, Random, TimerHandle } from '../../model/clock.ts'
import { ActorErrors } from './errors.ts'
import { Mailbox, type BatchReceiver, type SharedTurn } from './mailbox.ts'
import { RestartCounter } from './supervision.ts'

export interface Behaviour<T> {
  /** Handles a batch; a promise holds the next batch back until it ends. May throw: the batch has failed then, and the actor is restarted. */
  receive(batch: readonly T[]): void | Promise<void>
  /** The actor idles, restarts or stops. */
  close?(): void | Promise<void>
  /** It holds what is kept nowhere else yet: the actor is not passivated meanwhile. */
  readonly isUnsettled?: boolean
}

export interface ActorContext<T> {
  readonly id: string
  readonly self: ActorRef<T>
}

export interface ActorKind<T> {
  /** Names the kind in figures and reports; (name, id) is the actor's address. */
  readonly name: string
  create(context: ActorContext<T>): Behaviour<T>
  /** Most messages waiting in each lane of the mailbox; 10,000 where not given. */
  readonly capacity?: number
  /** Passivated when it got nothing for so long; never where not given. */
  readonly idleTimeoutMs?: number
  /** Answers for messages that no behaviour will see or that one threw at: each exactly once. Must not throw. */
  batchFailed?(id: string, batch: readonly T[], error: unknown): void
}

/** The address of an actor: stays good while the actor sleeps, restarts, or is passivated. */
export interface ActorRef<T> {
  readonly id: string
  /** At most once, in the sender's order. False when the mailbox is full or the actor is stopped. */
  tell(message: T): boolean
  /** The same, ahead of all that waits. */
  tellUrgent(message: T): boolean
  /** Takes nothing more, ends the batch at work, answers for the rest through `batchFailed`, closes. Idempotent. */
  stop(): Promise<void>
}

export interface ActorFailure {
  readonly kind: string
  readonly id: string
  readonly error: unknown
  /** How many messages the failed batch had; 0 where a behaviour did not close. */
  readonly messages: number
}

export interface ActorFigures {
  /** Actors that have an address now, asleep or awake. */
  actors: number
  received: number
  failed: number
  restarts: number
  passivated: number
  /** Messages refused because a mailbox was full or its actor stopped. */
  dropped: number
}

/** What an actor sees of its system. */
export interface ActorRuntime {
  readonly clock: Clock
  readonly random: Random | undefined
  readonly turn: SharedTurn
  readonly counts: ActorFigures
  readonly isClosing: boolean
  report(failure: ActorFailure): void
  /** Takes a passivated or stopped actor out of the registry. */
  detach(actor: Registered): void
  /** Puts a passivated actor back; false when another one has its address now. */
  attach(actor: Registered): boolean
  /** The actor that has the address of a detached one now. */
  successor<T>(actor: Actor<T>): ActorRef<T>
}

/** An actor of whatever messages, as the registry has it. */
export interface Registered {
  readonly id: string
  readonly kind: { readonly name: string; readonly idleTimeoutMs?: number }
  /** Resolves when nothing is at work and nothing waits. */
  drained(): Promise<void>
  isDetached: boolean
  passivate(beforeMs: number): void
  stop(): Promise<void>
}

type State = 'asleep' | 'awake' | 'busy' | 'backing-off' | 'closing' | 'stopped'

export class Actor<T> implements ActorRef<T>, BatchReceiver<T> {
  readonly id: string
  readonly kind: ActorKind<T>
  private readonly runtime: ActorRuntime
  private readonly mailbox: Mailbox<T>
  private behaviour: Behaviour<T> | undefined
  private state: State = 'asleep'
  /** Passivated: no longer in the registry, where another actor may have taken the address since. */
  isDetached = false
  private lastActiveMs = 0
  private restarts: RestartCounter | undefined
  private backoff: TimerHandle | undefined
  private stopping: Promise<void> | undefined
  private whenIdle: (() => void)[] | undefined

  constructor(runtime: ActorRuntime, kind: ActorKind<T>, id: string) {
    this.runtime = runtime
    this.lastActiveMs = runtime.clock.monotonic()
    this.kind = kind
    this.id = id
    this.mailbox = new Mailbox(runtime.turn, { capacity: kind.capacity ?? 10_000 })
    this.mailbox.connect(this)
  }

  tell(message: T): boolean {
    if (this.isDetached && !this.runtime.attach(this)) return this.runtime.successor(this).tell(message)
    if (this.state === 'stopped' || this.runtime.isClosing) return this.refuse()
    return this.mailbox.offer(message) || this.refuse()
  }

  tellUrgent(message: T): boolean {
    if (this.isDetached && !this.runtime.attach(this)) return this.runtime.successor(this).tellUrgent(message)
    if (this.state === 'stopped' || this.runtime.isClosing) return this.refuse()
    return this.mailbox.offerUrgent(message) || this.refuse()
  }

  batch(values: readonly T[]): void {
    this.lastActiveMs = this.runtime.clock.monotonic()
    this.runtime.counts.received += values.length
    try {
      this.behaviour ??= this.wakeUp()
      const outcome = this.behaviour.receive(values)
      if (outcome !== undefined) this.waitFor(outcome, values)
    } catch (error) {
      this.failed(values, error)
    }
    this.notifyIdle()
  }

  closed(): void {
    // The mailbox is never completed from outside: an actor ends by stop().
  }

  async drained(): Promise<void> {
    while (this.state === 'busy' || this.state === 'closing' || (this.mailbox.size > 0 && this.state !== 'stopped')) {
      await this.nextIdle()
    }
  }

  /** Closes the behaviour of an actor that got nothing since `beforeMs` (monotonic). */
  passivate(beforeMs: number): void {
    if ((this.state !== 'awake' && this.state !== 'asleep') || this.mailbox.size > 0) return
    if (this.lastActiveMs > beforeMs || this.behaviour?.isUnsettled === true) return
    this.closeBehaviour(() => this.fellAsleep())
  }

  stop(): Promise<void> {
    return (this.stopping ??= this.stopNow())
  }

  private refuse(): false {
    this.runtime.counts.dropped++
    return false
  }

  private wakeUp(): Behaviour<T> {
    this.state = 'awake'
    return this.kind.create({ id: this.id, self: this })
  }

  private waitFor(outcome: Promise<void>, values: readonly T[]): void {
    this.state = 'busy'
    this.mailbox.pause()
    outcome.then(
      () => this.workEnded(undefined, values),
      (error: unknown) => this.workEnded({ error }, values),
    )
  }

  private workEnded(failure: { error: unknown } | undefined, values: readonly T[]): void {
    this.lastActiveMs = this.runtime.clock.monotonic()
    this.state = 'awake'
    if (failure !== undefined) this.failed(values, failure.error)
    if (this.state === 'awake' && this.stopping === undefined) this.mailbox.resume()
    this.notifyIdle()
  }

  /** Resolves at the end of the batch at work or of a closing behaviour, or sooner: whoever waits looks again. */
  private nextIdle(): Promise<void> {
    return new Promise((resolve) => (this.whenIdle ??= []).push(resolve))
  }

  private notifyIdle(): void {
    const waiting = this.whenIdle
    if (waiting === undefined) return
    this.whenIdle = undefined
    for (const tell of waiting) tell()
  }

  private failed(values: readonly T[], error: unknown): void {
    this.runtime.counts.failed += values.length
    this.runtime.report({ kind: this.kind.name, id: this.id, error, messages: values.length })
    this.kind.batchFailed?.(this.id, values, error)
    if (this.stopping === undefined) this.restart()
  }

  private restart(): void {
    this.restarts ??= new RestartCounter()
    const backoffMs = this.restarts.next(this.runtime.clock.monotonic(), this.runtime.random)
    this.runtime.counts.restarts++
    this.mailbox.pause()
    this.closeBehaviour(() => {
      this.state = 'backing-off'
      this.backoff = this.runtime.clock.after(backoffMs, () => {
        this.state = 'asleep'
        this.mailbox.resume()
      })
    })
  }

  /** `then` is skipped when a stop came between: the stop goes on by itself. */
  private closeBehaviour(then: () => void): void {
    const behaviour = this.behaviour
    this.behaviour = undefined
    if (behaviour?.close === undefined) {
      then()
      return
    }
    this.state = 'closing'
    this.mailbox.pause()
    void this.endOf(behaviour).then(() => {
      this.state = 'asleep'
      if (this.stopping === undefined) then()
      this.notifyIdle()
    })
  }

  private async endOf(behaviour: Behaviour<T> | undefined): Promise<void> {
    try {
      await behaviour?.close?.()
    } catch (error) {
      this.runtime.report({ kind: this.kind.name, id: this.id, error, messages: 0 })
    }
  }

  private fellAsleep(): void {
    this.state = 'asleep'
    // What came while the behaviour was closing wakes the actor again.
    if (this.mailbox.size === 0) {
      this.isDetached = true
      this.runtime.counts.passivated++
      this.runtime.detach(this)
    }
    this.mailbox.resume()
  }

  private async stopNow(): Promise<void> {
    this.backoff?.cancel()
    this.mailbox.pause()
    while (this.state === 'busy' || this.state === 'closing') {
      await this.nextIdle()
    }
    this.state = 'stopped'
    const rest = this.mailbox.takeAll()
    if (rest.length > 0) {
      this.runtime.counts.failed += rest.length
      this.kind.batchFailed?.(this.id, rest, ActorErrors.ACTOR_STOPPED({ kind: this.kind.name, id: this.id }))
    }
    await this.endOf(this.behaviour)
    this.behaviour = undefined
    this.notifyIdle()
    this.runtime.detach(this)
  }
}
