/** Who lives, as heartbeats would tell it: late, to each member at another time, and for a while not the same to all. */
import type { Clock } from '../../model/clock.ts'
import type { SeededRandom } from '../../engine/actor/testkit.ts'
import type { Member, Membership, Role } from '../../engine/cluster/membership.ts'
import type { RunClock } from './run-clock.ts'

/** Silence after which a member counts as gone, with what the news needs on their way. */
const SILENCE_MS = 2500
const NEWS_MS = 600

class View implements Membership {
  readonly self: Member
  readonly clock: RunClock
  private readonly listeners = new Set<() => void>()
  private seen: readonly Member[]

  constructor(self: Member, clock: RunClock) {
    this.self = self
    this.clock = clock
    this.seen = [self]
  }

  members(): readonly Member[] {
    return this.seen
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  see(members: readonly Member[]): void {
    if (members.map(({ id }) => id).join() === this.seen.map(({ id }) => id).join()) return
    this.seen = members
    for (const listener of [...this.listeners]) listener()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

export class SimulatedMembership {
  private readonly clock: Clock
  private readonly random: SeededRandom
  private readonly views = new Map<string, View>()
  /** Who is heard. */
  private readonly audible = new Set<string>()
  /** Pairs of viewer and viewed that do not see each other though both live. */
  private readonly blind = new Set<string>()

  constructor(clock: Clock, random: SeededRandom) {
    this.clock = clock
    this.random = random
  }

  join(id: string, clock: RunClock, role: Role = 'engine'): Membership {
    const view = new View({ id, roles: [role], startedAt: this.clock.now() }, clock)
    this.views.set(id, view)
    this.audible.add(id)
    view.see(this.seenBy(view))
    this.tell(0)
    return view
  }

  /** It died, or said good-bye. */
  leave(id: string, saysGoodBye: boolean): void {
    this.views.delete(id)
    this.audible.delete(id)
    this.tell(saysGoodBye ? 0 : SILENCE_MS)
  }

  /** It stands still, or is cut off, and is heard again when that is over. */
  fallSilent(id: string): void {
    this.audible.delete(id)
    this.tell(SILENCE_MS)
  }

  speakAgain(id: string): void {
    if (!this.views.has(id)) return
    this.audible.add(id)
    this.tell(0)
  }

  /** Some do not see some others from now on. */
  disagree(): void {
    for (const viewer of this.views.keys())
      for (const viewed of this.views.keys()) if (this.random.chance(0.4)) this.blind.add(`${viewer} ${viewed}`)
    this.tell(0)
  }

  agree(): void {
    if (this.blind.size === 0) return
    this.blind.clear()
    this.tell(0)
  }

  /** Each looks again at a time of its own; what it then sees is how things are then. */
  private tell(afterMs: number): void {
    for (const view of this.views.values()) {
      this.clock.after(afterMs + this.random.next() * NEWS_MS, () =>
        view.clock.arrive(() => view.see(this.seenBy(view))),
      )
    }
  }

  private seenBy({ self }: View): readonly Member[] {
    const seen: Member[] = []
    for (const { self: member } of this.views.values()) {
      const isHeard = this.audible.has(member.id) && !this.blind.has(`${self.id} ${member.id}`)
      if (member.id === self.id || isHeard) seen.push(member)
    }
    return seen.sort((one, other) => (one.id < other.id ? -1 : 1))
  }
}
