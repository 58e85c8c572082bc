/**
 * The actor system: finds or makes actors by (kind, id), passivates the idle, stops and drains. An address is enough to
 * talk to an actor; whether it sleeps is no matter of the sender's.
 */
import type { Clock, Random, TimerHandle } from '../../model/clock.ts'
import { Actor } from './actor.ts'
import type { ActorFailure, ActorFigures, ActorKind, ActorRef, ActorRuntime, Registered } from './actor.ts'
import { ActorErrors } from './errors.ts'
import { SharedTurn } from './mailbox.ts'

export type { ActorFailure, ActorFigures } from './actor.ts'

export interface ActorSystemOptions {
  readonly clock: Clock
  /** Hears every failure of every actor, once. Must not throw. */
  readonly onError: (failure: ActorFailure) => void
  /** Gives the back-off its jitter; none where absent. */
  readonly random?: Random
}

export interface ActorSystem {
  /** The actor's address; the actor itself is made with its first message. Throws `SYSTEM_CLOSED`. */
  spawn<T>(kind: ActorKind<T>, id: string): ActorRef<T>
  /** `spawn` and `tell` in one. */
  tell<T>(kind: ActorKind<T>, id: string, message: T): boolean
  stop(kind: { readonly name: string }, id: string): Promise<void>
  figures(): Readonly<ActorFigures>
  /** Takes nothing more, lets every mailbox run dry, closes all behaviours. Idempotent. */
  close(): Promise<void>
}

export function createActorSystem(options: ActorSystemOptions): ActorSystem {
  return new System(options)
}

const PASSIVATED_PER_TURN = 1000

class System implements ActorSystem, ActorRuntime {
  readonly clock: Clock
  readonly random: Random | undefined
  readonly turn: SharedTurn
  readonly counts: ActorFigures = { actors: 0, received: 0, failed: 0, restarts: 0, passivated: 0, dropped: 0 }
  isClosing = false
  private readonly onError: (failure: ActorFailure) => void
  private readonly kinds = new Map<string, Map<string, Registered>>()
  /** Actors that may be passivated, and the one timer that looks at them. */
  private readonly passivable = new Set<Registered>()
  private sweep: TimerHandle | undefined
  private closing: Promise<void> | undefined

  constructor(options: ActorSystemOptions) {
    this.clock = options.clock
    this.random = options.random
    this.onError = options.onError
    this.turn = new SharedTurn(options.clock)
  }

  spawn<T>(kind: ActorKind<T>, id: string): ActorRef<T> {
    if (this.isClosing) throw ActorErrors.SYSTEM_CLOSED()
    const existing = this.find<T>(kind, id)
    if (existing !== undefined) return existing
    const actor = new Actor<T>(this, kind, id)
    this.attach(actor)
    return actor
  }

  tell<T>(kind: ActorKind<T>, id: string, message: T): boolean {
    if (this.isClosing) {
      this.counts.dropped++
      return false
    }
    return (this.find<T>(kind, id) ?? this.spawn(kind, id)).tell(message)
  }

  async stop(kind: { readonly name: string }, id: string): Promise<void> {
    await this.kinds.get(kind.name)?.get(id)?.stop()
  }

  figures(): Readonly<ActorFigures> {
    return { ...this.counts }
  }

  close(): Promise<void> {
    return (this.closing ??= this.drainAndStop())
  }

  report(failure: ActorFailure): void {
    this.onError(failure)
  }

  attach(actor: Registered): boolean {
    let actors = this.kinds.get(actor.kind.name)
    if (actors === undefined) this.kinds.set(actor.kind.name, (actors = new Map<string, Registered>()))
    if (actors.has(actor.id)) return false
    actors.set(actor.id, actor)
    actor.isDetached = false
    this.counts.actors++
    if (actor.kind.idleTimeoutMs !== undefined) {
      this.passivable.add(actor)
      this.armSweep(actor.kind.idleTimeoutMs)
    }
    return true
  }

  detach(actor: Registered): void {
    const actors = this.kinds.get(actor.kind.name)
    if (actors?.get(actor.id) !== actor) return
    actors.delete(actor.id)
    this.counts.actors--
    this.passivable.delete(actor)
  }

  successor<T>(actor: Actor<T>): ActorRef<T> {
    return this.find<T>(actor.kind, actor.id) ?? actor
  }

  /** The registry holds actors of many types; a kind's name stands for one type of message. */
  private find<T>(kind: ActorKind<T>, id: string): Actor<T> | undefined {
    return this.kinds.get(kind.name)?.get(id) as Actor<T> | undefined
  }

  private armSweep(idleTimeoutMs: number): void {
    if (this.sweep !== undefined || this.isClosing) return
    this.sweep = this.clock.after(Math.max(1, idleTimeoutMs / 2), () => {
      this.passivateSlice(this.passivable.values(), this.clock.monotonic(), Infinity)
    })
  }

  /** A slice a turn: with 100,000 actors that idle the others would wait for all of them. */
  private passivateSlice(actors: Iterator<Registered>, now: number, shortestMs: number): void {
    let shortest = shortestMs
    for (let count = 0; count < PASSIVATED_PER_TURN; count++) {
      const next = actors.next()
      if (next.done === true) {
        this.sweep = undefined
        if (this.passivable.size > 0) this.armSweep(shortest)
        return
      }
      const timeout = next.value.kind.idleTimeoutMs ?? Infinity
      shortest = Math.min(shortest, timeout)
      next.value.passivate(now - timeout)
    }
    this.clock.soon(() => this.passivateSlice(actors, now, shortest))
  }

  private async drainAndStop(): Promise<void> {
    this.isClosing = true
    this.sweep?.cancel()
    const all = [...this.kinds.values()].flatMap((actors) => [...actors.values()])
    for (const actor of all) await actor.drained()
    for (const actor of all.reverse()) await actor.stop()
  }
}
