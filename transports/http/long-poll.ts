/**
 * `GET …/rpc`: waits for one call to the device; others stay until the next poll. `GET …/attributes/updates`: waits for one update of the shared attributes. What changes between two polls is not told; a device
 * that cares reads the attributes (`device-api.md` 6).
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type {
  CallRequest,
  DeviceGateway,
  DeviceIdentity,
  DeviceSession,
  DeviceSessionListener,
  SessionEnd,
  SharedAttributesUpdate,
} from '../../engine/device/gateway.ts'
import type { HttpReply } from '../../server/http-server.ts'
import { sharedAttributesJson } from '../payload/attribute-answer.ts'
import type { TenantShares } from '../tenant-shares.ts'
import type { DeviceApiAnswers } from './answers.ts'

export type PolledFor = 'attributes' | 'calls'

export class LongPolls {
  private readonly polls = new Set<LongPoll>()
  private isClosed = false
  private readonly gateway: DeviceGateway
  private readonly clock: Clock
  private readonly answers: DeviceApiAnswers
  private readonly shares: TenantShares

  constructor(gateway: DeviceGateway, clock: Clock, answers: DeviceApiAnswers, shares: TenantShares) {
    this.gateway = gateway
    this.clock = clock
    this.answers = answers
    this.shares = shares
  }

  get waiting(): number {
    return this.polls.size
  }

  open(what: PolledFor, device: DeviceIdentity, reply: HttpReply, timeoutMs: number): void {
    if (this.isClosed || !this.shares.take(device.tenantId)) return this.answers.busy(reply)
    const poll = new LongPoll(reply, this.answers, () => {
      this.polls.delete(poll)
      this.shares.give(device.tenantId)
    })
    this.polls.add(poll)
    poll.begin(what, this.openSession(device, poll), this.clock, timeoutMs)
  }

  private openSession(device: DeviceIdentity, poll: LongPoll): DeviceSession {
    try {
      return this.gateway.openSession(device, 'brief', poll)
    } catch (error) {
      poll.ended()
      throw error
    }
  }

  /** Answers every poll and all that come later: they would hold up the server's close for as long as they wait. */
  close(): void {
    this.isClosed = true
    for (const poll of this.polls) poll.closed('SHUTDOWN')
  }
}

class LongPoll implements DeviceSessionListener {
  private readonly reply: HttpReply
  private readonly answers: DeviceApiAnswers
  /** Gives its place back. */
  readonly ended: () => void
  private session: DeviceSession | undefined
  private timer: TimerHandle | undefined

  constructor(reply: HttpReply, answers: DeviceApiAnswers, ended: () => void) {
    this.reply = reply
    this.answers = answers
    this.ended = ended
  }

  begin(what: PolledFor, session: DeviceSession, clock: Clock, timeoutMs: number): void {
    this.session = session
    this.timer = clock.after(timeoutMs, () => this.end(() => this.reply.send(408, undefined, '')))
    this.reply.onClosed(() => this.end(() => undefined))
    if (what === 'attributes') session.subscribeToSharedAttributes()
    else session.subscribeToCalls('next')
  }

  sharedAttributesChanged(update: SharedAttributesUpdate): void {
    this.end(() => this.answers.json(this.reply, sharedAttributesJson(update)))
  }

  called({ id, method, params }: CallRequest): void {
    this.session?.callDelivered(id, 'DELIVERED')
    const text = `{"id":${id},"method":${JSON.stringify(method)},"params":${params}}`
    this.end(() => this.answers.json(this.reply, text))
  }

  closed(reason: SessionEnd): void {
    this.end(() => {
      if (reason === 'DEVICE_DELETED') this.reply.send(403, 'text/plain;charset=UTF-8', 'Device was deleted!')
      else if (reason === 'CREDENTIALS_CHANGED') this.answers.unauthorized(this.reply)
      else this.answers.busy(this.reply)
    })
  }

  /** Exactly once, whoever comes first: the update, the time, the client, the platform. */
  private end(answer: () => void): void {
    const { session } = this
    if (session === undefined) return
    this.session = undefined
    this.timer?.cancel()
    session.close()
    this.ended()
    answer()
  }
}
