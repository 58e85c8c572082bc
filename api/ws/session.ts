/**
 * One client's socket, from opening to close: who it is, its commands in order, its subscriptions, its pings.
 * Source: `websocket-api.md` 2 and 3.4.
 */
import type { TimerHandle } from '../../model/clock.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { WebSocketConnection } from '../../server/http-server.ts'
import { SYSTEM_TENANT } from '../../services/changes/changes.ts'
import type { Login } from '../auth/auth.ts'
import { CommandRunner, type CommandWorld } from './command-runner.ts'
import { parseEnvelope, type AuthCommand, type EnvelopeKind } from './commands.ts'
import type { Command, LiveCommand, LiveCommands, LiveKind } from './define-command.ts'
import { PARSE_ERROR_FRAME } from './frames.ts'
import { Outgoing } from './outgoing.ts'
import type { ReadTurns, SessionReads } from './read-turns.ts'
import type { Rereads, TenantRereads } from './rereads.ts'
import type { Flushable, SubscriptionHost } from './subscription.ts'
import { NO_PROFILE, type ProfileLimits } from './profile-limits.ts'
import type { SessionCounts } from './session-counts.ts'
import { UpdateRate } from './update-rate.ts'

export const CLOSE = {
  going: 1001,
  binary: 1003,
  unparseable: 1007,
  policy: 1008,
  internal: 1011,
  noPong: 4500,
} as const

export interface SessionLimits {
  /** Frames kept for a slow client. */
  readonly pendingFrames: number
  /** Bytes of them. */
  readonly pendingBytes: number
  /** Commands of a session under way at a time, and frames that wait for its authentication. */
  readonly pendingCommands: number
  /** Live subscriptions of a session. */
  readonly subscriptions: number
}

export interface SessionWorld extends CommandWorld {
  readonly feed: ChangeFeed
  readonly authenticate: (token: string) => Promise<Login>
  /** By an API key. */
  readonly loginByApiKey: (value: string) => Promise<Login>
  /** Of a tenant; asked once a session. */
  readonly limitsOf: (tenantId: string) => Promise<ProfileLimits>
  /** A session of the tenant has more updates than its profile allows. */
  readonly updatesRefused: (tenantId: string) => void
  /** Whether the login was not withdrawn since: an access token that expired ends no session. */
  readonly stillHolds: (login: Login) => Promise<boolean>
  readonly reads: ReadTurns
  readonly counts: SessionCounts
  readonly limits: SessionLimits
  atTurnEnd(sender: Flushable): void
  readonly rereads: Rereads
}

/** Characters that are kept of frames that come while a token is being checked. */
const MAX_EARLY_LENGTH = 256 * 1024
const AUTH_TIMEOUT_MS = 10_000
const PONG_TIMEOUT_MS = 30_000

export class Session implements SubscriptionHost, LiveCommands {
  readonly feed: ChangeFeed
  private readonly connection: WebSocketConnection
  private readonly kind: EnvelopeKind
  private readonly world: SessionWorld
  private readonly outgoing: Outgoing
  /** By kind and command id. */
  private readonly subscriptions = new Map<string, LiveCommand>()
  private readonly waitingToSend = new Set<Flushable>()
  private readonly authTimer: TimerHandle
  private runner: CommandRunner | undefined
  private principal: Principal | undefined
  /** What came while a token is being checked; undefined while none is. */
  private early: (string | readonly Command[])[] | undefined
  private earlyLength = 0
  private login: Login | undefined
  /** Something was withdrawn while it was checked. */
  private isLoginInDoubt = false
  private profile: ProfileLimits = NO_PROFILE
  private rate: UpdateRate | undefined
  private reads: SessionReads | undefined
  private underWay = 0
  private lastPong: number
  private ended = false

  constructor(connection: WebSocketConnection, kind: EnvelopeKind, world: SessionWorld) {
    this.connection = connection
    this.kind = kind
    this.world = world
    this.feed = world.feed
    this.outgoing = new Outgoing(connection, world.limits, () =>
      this.end(CLOSE.policy, 'Max pending updates limit reached!'),
    )
    this.lastPong = world.clock.monotonic()
    this.authTimer = world.clock.after(AUTH_TIMEOUT_MS, () => {
      if (this.runner === undefined) this.end(CLOSE.policy, 'Auth cmd is missing')
    })
  }

  get rereads(): TenantRereads {
    return this.world.rereads.of(this.principal?.tenantId ?? SYSTEM_TENANT)
  }

  get subscriptionCount(): number {
    return this.subscriptions.size
  }

  /** The token of the URL: a bad one closes with 1011, as the upgrade itself has long succeeded. */
  openedWithToken(token: string): void {
    void this.authenticate(() => this.world.authenticate(token), CLOSE.internal)
  }

  message(text: string | undefined): void {
    if (this.ended) return
    if (text === undefined) return this.end(CLOSE.binary, 'Binary frames are not used')
    if (this.early !== undefined) {
      this.earlyLength += text.length
      if (this.early.length >= this.world.limits.pendingCommands || this.earlyLength > MAX_EARLY_LENGTH)
        this.end(CLOSE.policy, 'Max pending commands limit reached!')
      else this.early.push(text)
      return
    }
    const envelope = parseEnvelope(this.kind, text)
    if (this.runner === undefined) {
      if (envelope === undefined) {
        return this.end(CLOSE.unparseable, `The given string value cannot be transformed to Json object: ${text}`)
      }
      if (envelope.authCmd === undefined) return this.end(CLOSE.policy, 'Auth cmd is missing')
      const { authCmd, commands } = envelope
      void this.authenticateBy(authCmd, commands)
      return
    }
    if (envelope === undefined) return this.send(PARSE_ERROR_FRAME)
    this.execute(envelope.commands)
  }

  send(frame: string): void {
    if (this.ended) return
    const admitted = this.rate === undefined ? frame : this.rate.admit(frame, this.world.clock.monotonic())
    if (admitted !== undefined) this.outgoing.send(admitted)
  }

  drained(): void {
    if (this.ended) return
    this.outgoing.drain()
    if (this.outgoing.isWaiting) return
    const waiting = [...this.waitingToSend]
    this.waitingToSend.clear()
    for (const sender of waiting) sender.flush()
  }

  pong(): void {
    this.lastPong = this.world.clock.monotonic()
  }

  get userId(): string | undefined {
    return this.principal?.userId
  }

  get hasApiKey(): boolean {
    return this.login?.apiKey !== undefined
  }

  get sessionId(): string | undefined {
    return this.login?.sessionId
  }

  /** Whose it will be is not known yet. */
  get isLoggingIn(): boolean {
    return this.early !== undefined
  }

  /** Ends the session where its login was withdrawn, one that is under way as soon as it is known. Rejects where that is not known now. */
  async checkLogin(): Promise<void> {
    const { login } = this
    if (this.isLoggingIn) this.isLoginInDoubt = true
    if (this.ended || login === undefined || (await this.world.stillHolds(login))) return
    this.end(CLOSE.policy, 'The login was withdrawn')
  }

  /** Called every ping interval. */
  tick(): void {
    if (this.ended) return
    if (this.world.clock.monotonic() - this.lastPong > PONG_TIMEOUT_MS) {
      return this.end(CLOSE.noPong, 'Failed to send message within the configured send limit')
    }
    this.connection.ping()
  }

  atTurnEnd(sender: Flushable): void {
    this.world.atTurnEnd(sender)
  }

  get isSlow(): boolean {
    return this.outgoing.isWaiting
  }

  whenDrained(sender: Flushable): void {
    this.waitingToSend.add(sender)
  }

  find(kind: LiveKind, cmdId: number): LiveCommand | undefined {
    return this.subscriptions.get(keyOf(kind, cmdId))
  }

  add(subscription: LiveCommand): boolean {
    this.remove(subscription.liveKind, subscription.cmdId)
    if (this.ended || this.principal === undefined) return false
    if (this.subscriptions.size >= this.world.limits.subscriptions) {
      this.end(CLOSE.policy, 'Max subscriptions of a session reached!')
      return false
    }
    const refusal = this.world.counts.addSubscription(this.principal, subscription, this.profile)
    if (refusal !== undefined) {
      this.end(CLOSE.policy, refusal)
      return false
    }
    this.subscriptions.set(keyOf(subscription.liveKind, subscription.cmdId), subscription)
    return true
  }

  remove(kind: LiveKind, cmdId: number): boolean {
    const known = this.find(kind, cmdId)
    if (known !== undefined) this.forget(known)
    return known !== undefined
  }

  forget(subscription: LiveCommand): void {
    subscription.close()
    const key = keyOf(subscription.liveKind, subscription.cmdId)
    if (this.subscriptions.get(key) !== subscription) return
    this.subscriptions.delete(key)
    if (this.principal !== undefined) this.world.counts.removeSubscription(this.principal, subscription)
  }

  /** Closes the socket and lets go of everything. Idempotent. */
  end(code: number, reason: string): void {
    if (this.ended) return
    this.letGo()
    this.connection.close(code, reason)
  }

  /** The socket is gone. Idempotent. */
  letGo(): void {
    if (this.ended) return
    this.ended = true
    this.authTimer.cancel()
    const { principal } = this
    for (const subscription of this.subscriptions.values()) {
      subscription.close()
      if (principal !== undefined) this.world.counts.removeSubscription(principal, subscription)
    }
    if (principal !== undefined) this.world.counts.removeSession(principal)
    this.subscriptions.clear()
    this.waitingToSend.clear()
    this.reads?.end()
    this.outgoing.clear()
    this.early = undefined
  }

  private execute(commands: readonly Command[]): void {
    for (const command of commands) {
      if (this.ended || this.runner === undefined) return
      if (this.underWay >= this.world.limits.pendingCommands) {
        return this.end(CLOSE.policy, 'Max pending commands limit reached!')
      }
      this.underWay++
      void this.runner.run(command).then(() => this.underWay--)
    }
  }

  private async authenticateBy({ token, apiKey }: AuthCommand, behind: readonly Command[]): Promise<void> {
    const { authenticate, loginByApiKey } = this.world
    if (isGiven(token)) return this.authenticate(() => authenticate(token), CLOSE.unparseable, behind)
    if (isGiven(apiKey)) return this.authenticate(() => loginByApiKey(apiKey), CLOSE.unparseable, behind)
    this.end(CLOSE.unparseable, 'Token is invalid')
  }

  private async authenticate(
    logIn: () => Promise<Login>,
    refusalCode: number,
    behind: readonly Command[] = [],
  ): Promise<void> {
    this.early = [behind]
    let login: Login
    try {
      login = await logIn()
      const { tenantId } = login.principal
      if (tenantId !== null) this.profile = await this.world.limitsOf(tenantId)
      while (this.isLoginInDoubt) {
        this.isLoginInDoubt = false
        if (!(await this.world.stillHolds(login))) return this.end(CLOSE.policy, 'The login was withdrawn')
      }
    } catch (error) {
      if (!isMillraceError(error)) this.world.log.error('WebSocket authentication failed', { error: errorText(error) })
      return this.end(refusalCode, refusalText(error))
    }
    if (!this.ended) this.begin(login)
  }

  private begin(login: Login): void {
    const { principal } = login
    const { world, profile } = this
    const refusal = world.counts.addSession(principal, profile)
    if (refusal !== undefined) return this.end(CLOSE.policy, refusal)
    this.principal = principal
    this.login = login
    this.reads = world.reads.forSession(principal.tenantId ?? '')
    this.runner = new CommandRunner(world, principal, this, this, this.reads)
    this.outgoing.keepAtMost(profile.pendingFrames)
    const { tenantId } = principal
    if (profile.updates !== '' && tenantId !== null)
      this.rate = new UpdateRate(profile.updates, world.clock.monotonic(), () => world.updatesRefused(tenantId))
    this.authTimer.cancel()
    const early = this.early ?? []
    this.early = undefined
    for (const each of early) {
      if (typeof each === 'string') this.message(each)
      else this.execute(each)
    }
  }
}

function isGiven(text: string | null | undefined): text is string {
  return text !== undefined && text !== null && text !== ''
}

/** What an API key is refused with; a token's refusal says less. */
const KEY_REFUSALS: ReadonlySet<string> = new Set(['auth.API_KEY_UNKNOWN', 'users.NOT_ACTIVE', 'users.API_KEY_EXPIRED'])

/** REST error code 11 is a token that was good once, or whose signature is not ours. */
function refusalText(error: unknown): string {
  if (!isMillraceError(error)) return 'Invalid JWT token: '
  if (error.restCode === 11) return 'JWT Token expired'
  return KEY_REFUSALS.has(error.code) ? error.message : 'Invalid JWT token: '
}

function keyOf(kind: LiveKind, cmdId: number): string {
  return `${kind} ${cmdId}`
}
