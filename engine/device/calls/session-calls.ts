/**
 * Calls where the sockets of devices are: which sessions listen for calls, what goes to them and what they answer, and what devices call
 * themselves. Sessions say at once that they listen, and again every ten seconds, to whoever owns the device then.
 */
import type { Clock, Random, TimerHandle } from '../../../model/clock.ts'
import type { PartitionOwners } from '../partition-owners.ts'
import { DeviceErrors } from '../errors.ts'
import type { CallRequest, Delivery, Listening } from './call.ts'
import type { CallLine, TransportWord } from './line.ts'

/** As much of a session as calls need. */
export interface CalledSession {
  readonly id: number
  readonly deviceId: string
  called(request: CallRequest): void
}

export interface SessionCallsOptions {
  readonly line: CallLine
  readonly owners: PartitionOwners
  readonly clock: Clock
  readonly random: Random
}

const SAY_AGAIN_MS = 10_000
/** Some 60 KB a message. */
const SESSIONS_PER_WORD = 500
/** `client_side_rpc.timeout` (`device-api.md` 7.2). */
const REPLY_TIMEOUT_MS = 60_000
const MAX_WAITING_REPLIES = 100_000
const MAX_WAITING_REPLIES_PER_DEVICE = 100
const NO_REPLY = '{"error":"timeout"}'

interface Listener {
  readonly session: CalledSession
  readonly take: Listening
}

interface WaitingReply {
  readonly deviceId: string
  readonly resolve: (body: string) => void
  readonly timer: TimerHandle
}

export class SessionCalls {
  private readonly options: SessionCallsOptions
  private readonly listeners = new Map<number, Listener>()
  private readonly replies = new Map<string, WaitingReply>()
  private readonly repliesOfDevice = new Map<string, number>()
  private readonly stopListening: () => void
  private timer: TimerHandle

  constructor(options: SessionCallsOptions) {
    this.options = options
    options.line.onTransport((word) => this.hear(word))
    this.stopListening = options.owners.onChange(() => this.sayAll())
    this.timer = this.sayAgainLater()
  }

  close(): void {
    this.stopListening()
    this.timer.cancel()
    this.listeners.clear()
    for (const replyId of [...this.replies.keys()]) this.settle(replyId, NO_REPLY)
  }

  /** One that says so again listens anew: what it never confirmed comes once more. */
  listen(session: CalledSession, take: Listening): void {
    this.stop(session)
    this.listeners.set(session.id, { session, take })
    this.say([{ session, take }])
  }

  stop(session: CalledSession): void {
    if (!this.listeners.delete(session.id)) return
    const { deviceId, id } = session
    const { line } = this.options
    const owner = this.ownerOf(deviceId)
    if (owner !== undefined) line.toOwner(owner, { kind: 'deaf', from: line.self, deviceId, session: id })
  }

  delivered(deviceId: string, id: number, delivery: Delivery): void {
    const owner = this.ownerOf(deviceId)
    if (owner !== undefined) this.options.line.toOwner(owner, { kind: 'delivery', deviceId, id, delivery })
  }

  answered(deviceId: string, id: number, body: string): void {
    const owner = this.ownerOf(deviceId)
    if (owner !== undefined) this.options.line.toOwner(owner, { kind: 'response', deviceId, id, body })
  }

  /**
   * A place for the answer to what a device calls, and the answer: `{"error":"timeout"}` where no rule chain gave one. Throws
   * `device.TOO_MANY_CALLS`.
   */
  expectReply(deviceId: string): { readonly replyId: string; readonly reply: Promise<string> } {
    const own = this.repliesOfDevice.get(deviceId) ?? 0
    if (own >= MAX_WAITING_REPLIES_PER_DEVICE || this.replies.size >= MAX_WAITING_REPLIES)
      throw DeviceErrors.TOO_MANY_CALLS()
    this.repliesOfDevice.set(deviceId, own + 1)
    const replyId = this.options.random.uuid()
    const reply = new Promise<string>((resolve) => {
      const timer = this.options.clock.after(REPLY_TIMEOUT_MS, () => this.settle(replyId, NO_REPLY))
      this.replies.set(replyId, { deviceId, resolve, timer })
    })
    return { replyId, reply }
  }

  /** What the reply node names. */
  get self(): string {
    return this.options.line.self
  }

  private hear(word: TransportWord): void {
    if (word.kind === 'reply') return this.settle(word.replyId, word.body)
    const listener = this.listeners.get(word.session)
    if (listener?.session.deviceId !== word.deviceId) return
    if (listener.take === 'next') this.listeners.delete(word.session)
    listener.session.called(word.request)
  }

  private settle(replyId: string, body: string): void {
    const waiting = this.replies.get(replyId)
    if (waiting === undefined) return
    this.replies.delete(replyId)
    const left = (this.repliesOfDevice.get(waiting.deviceId) ?? 1) - 1
    if (left === 0) this.repliesOfDevice.delete(waiting.deviceId)
    else this.repliesOfDevice.set(waiting.deviceId, left)
    waiting.timer.cancel()
    waiting.resolve(body)
  }

  private ownerOf(deviceId: string): string | undefined {
    const { owners } = this.options
    return owners.ownerOf(owners.partitionOf(deviceId))
  }

  private sayAgainLater(): TimerHandle {
    return this.options.clock.after(SAY_AGAIN_MS, () => {
      this.sayAll()
      this.timer = this.sayAgainLater()
    })
  }

  private sayAll(): void {
    this.say([...this.listeners.values()])
  }

  private say(listeners: readonly Listener[]): void {
    const { line } = this.options
    const byOwner = new Map<string, { deviceId: string; session: number; take: Listening }[]>()
    for (const { session, take } of listeners) {
      const owner = this.ownerOf(session.deviceId)
      if (owner === undefined) continue
      const said = { deviceId: session.deviceId, session: session.id, take }
      const others = byOwner.get(owner)
      if (others === undefined) byOwner.set(owner, [said])
      else others.push(said)
    }
    for (const [owner, sessions] of byOwner) {
      for (let start = 0; start < sessions.length; start += SESSIONS_PER_WORD) {
        const part = sessions.slice(start, start + SESSIONS_PER_WORD)
        line.toOwner(owner, { kind: 'listening', from: line.self, sessions: part })
      }
    }
  }
}
