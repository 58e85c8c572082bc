/**
 * Membership by heartbeats over the bus. A newcomer asks, everybody answers; who is silent for too long, or says good-bye,
 * is no member any more. Who does not hear even itself is cut off: it keeps its last view and says so.
 */
import { z } from 'zod'
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { ClusterBus } from './bus.ts'
import { ROLES, type Member, type Membership } from './membership.ts'

export interface MembershipSettings {
  readonly heartbeatMs: number
  /** Silence after which a member counts as gone. */
  readonly silenceMs: number
  /** How long a newcomer listens for answers to its question. */
  readonly openWaitMs: number
}

export const DEFAULT_MEMBERSHIP_SETTINGS: MembershipSettings = Object.freeze({
  heartbeatMs: 500,
  silenceMs: 2500,
  openWaitMs: 300,
})

export interface MembershipOptions {
  readonly bus: ClusterBus
  /** Prefix of all subjects: clusters of different names may share one NATS. */
  readonly cluster: string
  readonly self: Member
  readonly clock: Clock
  readonly settings?: Partial<MembershipSettings>
}

export interface ClusterMembership extends Membership {
  /** Whether this process hears itself: false says that `members` is the view of a moment ago. */
  readonly isConnected: boolean
}

/** Resolves when everybody who lives had the time to answer. Rejects as the bus does where it is away. */
export async function openMembership(options: MembershipOptions): Promise<ClusterMembership> {
  const membership = new HeartbeatMembership(options)
  await membership.open()
  return membership
}

const memberSchema = z.object({
  id: z.string().min(1),
  roles: z.array(z.enum(ROLES)).readonly(),
  startedAt: z.number(),
})
const messageSchema = z.object({ kind: z.enum(['alive', 'ask', 'bye']), member: memberSchema })
type MessageKind = z.infer<typeof messageSchema>['kind']

interface Known {
  readonly member: Member
  heardAt: number
}

class HeartbeatMembership implements ClusterMembership {
  readonly self: Member
  private readonly bus: ClusterBus
  private readonly clock: Clock
  private readonly settings: MembershipSettings
  private readonly subject: string
  private readonly others = new Map<string, Known>()
  private readonly listeners = new Set<() => void>()
  private view: readonly Member[]
  private selfHeardAt: number
  private isCutOff = false
  private beat: TimerHandle | undefined
  private unsubscribe: () => void = () => undefined
  private closing: Promise<void> | undefined

  constructor(options: MembershipOptions) {
    this.bus = options.bus
    this.clock = options.clock
    this.self = options.self
    this.settings = { ...DEFAULT_MEMBERSHIP_SETTINGS, ...options.settings }
    this.subject = `${options.cluster}.members`
    this.view = [this.self]
    this.selfHeardAt = this.clock.monotonic()
  }

  get isConnected(): boolean {
    return !this.isCutOff && this.bus.connected
  }

  async open(): Promise<void> {
    this.unsubscribe = this.bus.subscribe(this.subject, (body) => this.hear(body))
    try {
      await this.bus.flush()
    } catch (error) {
      this.unsubscribe()
      throw error
    }
    this.say('ask')
    this.armBeat()
    await new Promise<void>((resolve) => void this.clock.after(this.settings.openWaitMs, resolve))
  }

  members(): readonly Member[] {
    return this.view
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  close(): Promise<void> {
    return (this.closing ??= this.leave())
  }

  private async leave(): Promise<void> {
    this.beat?.cancel()
    this.unsubscribe()
    // Where the bus is away the others find out by the silence.
    if (this.say('bye')) await this.bus.flush().catch(() => undefined)
  }

  private say(kind: MessageKind): boolean {
    return this.bus.publish(this.subject, JSON.stringify({ kind, member: this.self }))
  }

  private armBeat(): void {
    this.beat = this.clock.after(this.settings.heartbeatMs, () => {
      if (this.closing !== undefined) return
      this.say('alive')
      this.check()
      this.armBeat()
    })
  }

  private hear(body: string): void {
    if (this.closing !== undefined) return
    const { kind, member } = messageSchema.parse(JSON.parse(body))
    if (member.id === this.self.id) return this.heardSelf()
    if (kind === 'bye') {
      if (this.others.delete(member.id)) this.changed()
      return
    }
    const known = this.others.get(member.id)
    if (known !== undefined) known.heardAt = this.clock.monotonic()
    else {
      this.others.set(member.id, { member, heardAt: this.clock.monotonic() })
      this.changed()
    }
    if (kind === 'ask') this.say('alive')
  }

  /** Back after having been cut off: the others have not been silent, we have been deaf. */
  private heardSelf(): void {
    const now = this.clock.monotonic()
    this.selfHeardAt = now
    if (!this.isCutOff) return
    this.isCutOff = false
    for (const known of this.others.values()) known.heardAt = now
    this.say('ask')
  }

  private check(): void {
    if (this.selfHeardAt < this.clock.monotonic() - this.settings.silenceMs || !this.bus.connected) this.isCutOff = true
    if (this.isCutOff) return
    // Counted to when we last heard ourselves: before it becomes clear that we are deaf, nobody is taken for gone.
    const silentSince = this.selfHeardAt - this.settings.silenceMs
    const before = this.others.size
    for (const [id, { heardAt }] of this.others) if (heardAt < silentSince) this.others.delete(id)
    if (this.others.size !== before) this.changed()
  }

  private changed(): void {
    const members = [this.self, ...[...this.others.values()].map(({ member }) => member)]
    this.view = members.sort((one, other) => (one.id < other.id ? -1 : 1))
    for (const listener of [...this.listeners]) listener()
  }
}
