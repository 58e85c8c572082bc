/**
 * Requests of the server's own (RFC 7252, 5): an answer is known by its token, which nobody guesses. Bodies go and come in blocks where they
 * are large (RFC 7959).
 */
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { encodeMessage, type CoapMessage } from './codec.ts'
import type { CoapEndpoint } from './endpoint.ts'
import { MessageErrors } from './errors.ts'
import { answerOf, outgoingMessage, type CoapAnswer, type OutgoingRequest, type Peer } from './message.ts'

/** A notification. `acknowledge` is called once, now or later: false ends the observation. */
export type NotificationListener = (answer: CoapAnswer, id: number, acknowledge: (isKnown: boolean) => void) => void

export interface BodyPart {
  readonly bytes: Buffer
  readonly isMore: boolean
}

/** What is sent next has this token. */
export type Begun = (token: Buffer) => void

/** A body that is read as it is sent: so many bytes from there, fewer at its end. */
export type ReadBody = (at: number, size: number) => Promise<BodyPart>

export interface RequestsOptions {
  readonly clock: Clock
  readonly endpoint: () => Pick<CoapEndpoint, 'ask' | 'settle'>
  readonly blockBytes: number
  /** Of an answer, its blocks together. */
  readonly maxAnswerBytes: number
  /** From the request to its answer. */
  readonly answerTimeoutMs: number
}

interface Waiting {
  readonly peer: Peer
  id: number
  readonly timer: TimerHandle
  readonly resolve: (answer: CoapAnswer) => void
  readonly reject: (error: Error) => void
}

const TOKEN_BYTES = 8
const CONTINUE = '2.31'
const FETCH = '0.05'

export class CoapRequests {
  private readonly options: RequestsOptions
  private readonly waiting = new Map<string, Waiting>()
  private readonly watchers = new Map<string, { readonly peer: () => Peer; readonly listener: NotificationListener }>()

  constructor(options: RequestsOptions) {
    this.options = options
  }

  get watched(): number {
    return this.watchers.size
  }

  newToken(): Buffer {
    return randomBytes(TOKEN_BYTES)
  }

  /** Notifications of this token come from now on, from where the client is then. */
  watch(token: Buffer, peer: () => Peer, listener: NotificationListener): void {
    this.watchers.set(token.toString('hex'), { peer, listener })
  }

  unwatch(token: Buffer): void {
    this.watchers.delete(token.toString('hex'))
  }

  /**
   * Sends what it has and takes the whole of what comes back. `begun` is told the token of each message, block by block, before it is sent;
   * what it throws ends the request. Rejects NO_ANSWER, ASKED_REFUSED, BUSY, TOO_LARGE, BAD_BLOCK, CHANGED_MEANWHILE, CLOSED.
   */
  async ask(peer: Peer, request: OutgoingRequest, token = this.newToken(), begun?: Begun): Promise<CoapAnswer> {
    const body = request.payload
    const first =
      body !== undefined && body.length > this.options.blockBytes
        ? await this.push(peer, request, partsOf(body), token, begun)
        : await this.exchange(peer, request, token, begun)
    return this.whole(peer, request, first, begun)
  }

  /** The rest of an answer or a notification of which the first block came. */
  async whole(peer: Peer, request: OutgoingRequest, first: CoapAnswer, begun?: Begun): Promise<CoapAnswer> {
    const { maxAnswerBytes } = this.options
    if (first.block2?.isMore !== true) return first
    const { size } = first.block2
    const parts = [first.payload]
    let bytes = first.payload.length
    for (let number = 1; ; number++) {
      // Each brings its whole size (RFC 7959, 2.2): empty ones would be asked for without end.
      if (parts.at(-1)?.length !== size) throw MessageErrors.BAD_BLOCK()
      const block2 = { number, isMore: false, size }
      const next = await this.exchange(peer, { ...withoutBody(request), block2 }, this.newToken(), begun)
      if (next.code !== first.code) return next
      // What it tells is another by now; a client should name it each time, and need not (RFC 7959, 2.4).
      if (next.etag !== undefined && first.etag !== undefined && next.etag !== first.etag)
        throw MessageErrors.CHANGED_MEANWHILE()
      if (next.block2?.number !== number || next.block2.size !== size) throw MessageErrors.BAD_BLOCK()
      parts.push(next.payload)
      bytes += next.payload.length
      if (bytes > maxAnswerBytes) throw MessageErrors.TOO_LARGE({ limit: maxAnswerBytes })
      if (!next.block2.isMore) return { ...first, payload: Buffer.concat(parts), block2: undefined }
    }
  }

  /**
   * A body in blocks. `token`: of the last one, which is what is answered; the others have their own, so that an answer that comes twice is not
   * taken for the next one's. Rejects as `ask` does, and as `read`.
   */
  async push(peer: Peer, request: OutgoingRequest, read: ReadBody, token?: Buffer, begun?: Begun): Promise<CoapAnswer> {
    let size = this.options.blockBytes
    for (let at = 0; ;) {
      const { bytes, isMore } = await read(at, size)
      const block1 = { number: at / size, isMore, size }
      const own = isMore ? undefined : token
      const answer = await this.exchange(peer, { ...request, payload: bytes, block1 }, own, begun)
      if (!isMore || answer.code !== CONTINUE) return answer
      at += bytes.length
      // It wants smaller ones: the next number counts in them.
      if (answer.block1 !== undefined && answer.block1.size < size) size = answer.block1.size
    }
  }

  /** Whether a message answers something that was asked, or is a notification: the endpoint tells it here. */
  readonly answered = (message: CoapMessage, peer: Peer, acknowledge: (isKnown: boolean) => void): void => {
    const token = message.token.toString('hex')
    const waiting = this.waiting.get(token)
    const watcher = this.watchers.get(token)
    let answer: CoapAnswer
    try {
      answer = answerOf(message)
    } catch (error) {
      // Its options mean nothing: nothing better will come to who waits for it.
      if (waiting !== undefined && isSame(waiting.peer, peer)) {
        this.fail(token, waiting, error instanceof Error ? error : MessageErrors.BAD_BLOCK())
        this.options.endpoint().settle(waiting.peer, waiting.id)
      }
      return acknowledge(false)
    }
    if (waiting !== undefined && isSame(waiting.peer, peer)) {
      this.end(token, waiting)
      acknowledge(true)
      this.options.endpoint().settle(waiting.peer, waiting.id)
      waiting.resolve(answer)
    } else if (watcher !== undefined && isSame(watcher.peer(), peer)) watcher.listener(answer, message.id, acknowledge)
    else acknowledge(false)
  }

  /** Nobody wants the answer to the message with this token any more: its `ask` rejects CLOSED, and the client is asked no further. */
  cancel(token: Buffer): void {
    const key = token.toString('hex')
    const waiting = this.waiting.get(key)
    if (waiting === undefined) return
    this.fail(key, waiting, MessageErrors.CLOSED())
    this.options.endpoint().settle(waiting.peer, waiting.id)
  }

  close(): void {
    this.watchers.clear()
    for (const [token, waiting] of [...this.waiting]) this.fail(token, waiting, MessageErrors.CLOSED())
  }

  private exchange(peer: Peer, request: OutgoingRequest, token = this.newToken(), begun?: Begun): Promise<CoapAnswer> {
    const { clock, endpoint, answerTimeoutMs } = this.options
    const key = token.toString('hex')
    return new Promise((resolve, reject) => {
      begun?.(token)
      const timer = clock.after(answerTimeoutMs, () => this.fail(key, waiting, MessageErrors.NO_ANSWER()))
      const waiting: Waiting = { peer, id: 0, timer, resolve, reject }
      this.waiting.set(key, waiting)
      const encode = (id: number): Buffer => {
        waiting.id = id
        return encodeMessage(outgoingMessage(request, { id, token }))
      }
      const isTaken = endpoint().ask(peer, encode, (outcome) => {
        if (outcome === 'lost') this.fail(key, waiting, MessageErrors.NO_ANSWER())
        else if (outcome === 'refused') this.fail(key, waiting, MessageErrors.ASKED_REFUSED())
      })
      if (!isTaken) this.fail(key, waiting, MessageErrors.BUSY())
    })
  }

  private fail(key: string, waiting: Waiting, error: Error): void {
    if (this.waiting.get(key) !== waiting) return
    this.end(key, waiting)
    waiting.reject(error)
  }

  private end(key: string, { timer }: Waiting): void {
    timer.cancel()
    this.waiting.delete(key)
  }
}

/** For a further block of the answer. What a FETCH asks for is its body (RFC 8132, 2). */
function withoutBody({ code, path, query, accept, contentFormat, payload }: OutgoingRequest): OutgoingRequest {
  return { code, path, query, accept, ...(code === FETCH ? { contentFormat, payload } : {}) }
}

/** Who proved who it is may come from elsewhere than before: its network gave it another address, or the proxy is a new one. */
function isSame(one: Peer, other: Peer): boolean {
  if (one.key === other.key) return true
  return one.proven !== undefined && one.proven.kind !== 'ANONYMOUS' && isDeepStrictEqual(one.proven, other.proven)
}

function partsOf(body: Buffer): ReadBody {
  return (at, size) => {
    const end = Math.min(at + size, body.length)
    return Promise.resolve({ bytes: body.subarray(at, end), isMore: end < body.length })
  }
}
