/**
 * The message layer (RFC 7252, section 4): each request is handled once however often it comes, and is answered in its acknowledgement, or
 * in a message of its own where that takes long.
 */
import type { Clock, Random, TimerHandle } from '../../model/clock.ts'
import { errorResponse } from './answers.ts'
import { emptyMessage, encodeMessage, headOf, parseMessage, unreadableId, type CoapMessage } from './codec.ts'
import type { MessageCounts } from './counts.ts'
import type { MessageLimits } from './limits.ts'
import { GET, requestOf, responseMessage, type CoapRequest, type CoapResponse, type Peer } from './message.ts'
import { Transmissions, type Outcome } from './transmissions.ts'

export interface EndpointOptions {
  readonly clock: Clock
  readonly random: Random
  readonly limits: MessageLimits
  readonly counts: MessageCounts
  readonly send: (datagram: Buffer, peer: Peer) => void
  /** Calls `respond` once, now or later. Does not throw. */
  readonly handle: (request: CoapRequest, respond: (response: CoapResponse) => void) => void
  /**
   * Of an endpoint that asks clients too: an answer, or a notification. Calls `acknowledge` once, now or later, where it came in a message of
   * its own: false refuses it.
   */
  readonly answered?: (message: CoapMessage, peer: Peer, acknowledge: (isKnown: boolean) => void) => void
}

interface Exchange {
  readonly key: string
  readonly peer: Peer
  readonly id: number
  /** Empty once it is answered: it holds the memory of the whole datagram. */
  token: Buffer
  /** May be done twice. */
  readonly isSafe: boolean
  readonly isConfirmable: boolean
  readonly startedAt: number
  /** What is sent when the request comes again. */
  reply: Buffer | undefined
  isAnswered: boolean
}

const EMPTY_CODE = '0.00'
/** A block of 1,024 bytes and what stands before it (RFC 7252, 4.6: 1,152). */
const MAX_DATAGRAM_BYTES = 2048
const NO_TOKEN = Buffer.alloc(0)
/** What one that is remembered takes beside its answer, about. */
const EXCHANGE_BYTES = 256
/** What answers may be larger than the shortest, in the mean. */
const ANSWER_BYTES = 64
const NOTHING = (): void => undefined

export class CoapEndpoint {
  private readonly options: EndpointOptions
  private readonly transmissions: Transmissions
  /** The oldest first. */
  private readonly exchanges = new Map<string, Exchange>()
  private heldBytes = 0
  /** Confirmable requests without an acknowledgement, the oldest first. */
  private readonly unanswered = new Set<Exchange>()
  private acknowledging: TimerHandle | undefined

  constructor(options: EndpointOptions) {
    this.options = options
    this.transmissions = new Transmissions(options)
  }

  received(datagram: Buffer, peer: Peer): void {
    if (datagram.length > MAX_DATAGRAM_BYTES) return this.tooLarge(datagram, peer)
    const message = parseMessage(datagram)
    if (message === undefined) return this.malformed(datagram, peer)
    if (message.type === 'ACK') this.acknowledged(message, peer)
    else if (message.type === 'RST') this.transmissions.heard(peer, message.id, 'refused')
    else if (message.code === EMPTY_CODE || !message.code.startsWith('0.')) this.notRequested(message, peer)
    else this.request(message, peer)
  }

  /** A request of the server's own: false where too many wait for this client. `settled` is told what became of the message, not the answer. */
  ask(peer: Peer, encode: (id: number) => Buffer, settled: (outcome: Outcome) => void): boolean {
    return this.transmissions.confirmable(peer, encode, settled)
  }

  /** The answer to a message of this id came: it needs no acknowledgement any more. */
  settle(peer: Peer, id: number): void {
    this.transmissions.heard(peer, id, 'acknowledged')
  }

  /** A response that nobody waits for at that moment (RFC 7641). False where the client has too many that wait. */
  notify(
    peer: Peer,
    token: Buffer,
    response: CoapResponse,
    isConfirmable: boolean,
    settled: (outcome: Outcome) => void,
  ): boolean {
    const encode = (id: number): Buffer =>
      encodeMessage(responseMessage(response, { type: isConfirmable ? 'CON' : 'NON', id, token }))
    this.options.counts.notified++
    if (isConfirmable) return this.transmissions.confirmable(peer, encode, settled)
    this.transmissions.nonConfirmable(peer, encode, () => settled('refused'))
    return true
  }

  close(): void {
    this.acknowledging?.cancel()
    this.transmissions.close()
    this.exchanges.clear()
    this.unanswered.clear()
  }

  /** Not read: thousands of options would take the thread for long. A client that knows blocks tries again with them. */
  private tooLarge(datagram: Buffer, peer: Peer): void {
    this.options.counts.malformed++
    const message = headOf(datagram)
    if (message?.type !== 'CON') return
    const response = { code: '4.13', size1: this.options.limits.blockBytes }
    const { id, token } = message
    this.options.send(encodeMessage(responseMessage(response, { type: 'ACK', id, token })), peer)
  }

  private malformed(datagram: Buffer, peer: Peer): void {
    this.options.counts.malformed++
    const id = unreadableId(datagram)
    if (id !== undefined) this.options.send(emptyMessage('RST', id), peer)
  }

  private acknowledged(message: CoapMessage, peer: Peer): void {
    const isAnswer = isResponse(message)
    // Of a class that there is not (RFC 7252, 12.1.2) it answers nothing, and nothing better will come.
    const isStrange = !isAnswer && message.code !== EMPTY_CODE
    this.transmissions.heard(peer, message.id, isStrange ? 'refused' : 'acknowledged')
    if (isAnswer) this.options.answered?.(message, peer, NOTHING)
  }

  /** A ping, or a response that somebody may have asked for. */
  private notRequested(message: CoapMessage, peer: Peer): void {
    const { type, id } = message
    const { answered, send } = this.options
    if (answered === undefined || !isResponse(message)) {
      if (type === 'CON') send(emptyMessage('RST', id), peer)
      return
    }
    answered(message, peer, (isKnown) => {
      if (!isKnown) send(emptyMessage('RST', id), peer)
      else if (type === 'CON') send(emptyMessage('ACK', id), peer)
    })
  }

  private request(message: CoapMessage, peer: Peer): void {
    const { clock, counts, handle } = this.options
    const key = `${peer.key} ${message.id}`
    const known = this.exchanges.get(key)
    const now = clock.monotonic()
    if (known !== undefined && now - known.startedAt < this.options.limits.exchangeLifetimeMs) {
      counts.duplicates++
      if (known.isConfirmable && known.reply !== undefined) this.options.send(known.reply, peer)
      return
    }
    const isConfirmable = message.type === 'CON'
    const exchange: Exchange = {
      ...{ key, peer, id: message.id, token: message.token, isConfirmable, isSafe: message.code === GET },
      ...{ startedAt: now, reply: undefined, isAnswered: false },
    }
    this.remember(exchange)
    const respond = (response: CoapResponse): void => this.respond(exchange, response)
    let request: CoapRequest
    try {
      request = requestOf(message, peer)
    } catch (error) {
      respond(errorResponse(error))
      return
    }
    handle(request, respond)
    if (isConfirmable && !exchange.isAnswered) this.acknowledgeLater(exchange)
  }

  private remember(exchange: Exchange): void {
    const { exchangeLifetimeMs } = this.options.limits
    this.forget(exchange.key)
    this.exchanges.set(exchange.key, exchange)
    this.heldBytes += bytesOf(exchange)
    for (const oldest of this.exchanges.values()) {
      const isOver = exchange.startedAt - oldest.startedAt >= exchangeLifetimeMs
      if (!isOver && !this.isFull) return
      this.forget(oldest.key)
    }
  }

  private get isFull(): boolean {
    const { maxExchanges } = this.options.limits
    return this.exchanges.size > maxExchanges || this.heldBytes > maxExchanges * (EXCHANGE_BYTES + ANSWER_BYTES)
  }

  private forget(key: string): void {
    const exchange = this.exchanges.get(key)
    if (exchange === undefined) return
    this.exchanges.delete(key)
    this.heldBytes -= bytesOf(exchange)
  }

  /** What was refused did nothing and may be tried again, what is only read may be read again: strangers and readers fill no memory. */
  private respond(exchange: Exchange, response: CoapResponse): void {
    if (exchange.isAnswered) return
    exchange.isAnswered = true
    this.unanswered.delete(exchange)
    const { key, peer, id, token } = exchange
    const isKept = response.code.startsWith('2.') && !exchange.isSafe
    if (!isKept) this.forget(key)
    exchange.token = NO_TOKEN
    if (!exchange.isConfirmable) {
      const own = this.transmissions.newId()
      this.options.send(encodeMessage(responseMessage(response, { type: 'NON', id: own, token })), peer)
    } else if (exchange.reply === undefined) {
      exchange.reply = encodeMessage(responseMessage(response, { type: 'ACK', id, token }))
      if (this.exchanges.get(key) === exchange) this.heldBytes += exchange.reply.length
      this.options.send(exchange.reply, peer)
    } else if (!response.code.startsWith('2.')) {
      // Once: who is a stranger makes nobody send again and again.
      const own = this.transmissions.newId()
      this.options.send(encodeMessage(responseMessage(response, { type: 'NON', id: own, token })), peer)
    } else {
      const encode = (own: number): Buffer => encodeMessage(responseMessage(response, { type: 'CON', id: own, token }))
      if (!this.transmissions.confirmable(peer, encode, NOTHING)) this.options.counts.lost++
    }
  }

  /** One timer for all: they wait in the order in which they came. */
  private acknowledgeLater(exchange: Exchange): void {
    this.unanswered.add(exchange)
    this.acknowledging ??= this.options.clock.after(this.options.limits.piggybackMs, this.acknowledgeOldest)
  }

  private readonly acknowledgeOldest = (): void => {
    const { clock, limits, send } = this.options
    const now = clock.monotonic()
    this.acknowledging = undefined
    for (const exchange of this.unanswered) {
      const leftMs = exchange.startedAt + limits.piggybackMs - now
      if (leftMs > 0) {
        this.acknowledging = clock.after(leftMs, this.acknowledgeOldest)
        return
      }
      this.unanswered.delete(exchange)
      exchange.reply = emptyMessage('ACK', exchange.id)
      if (this.exchanges.get(exchange.key) === exchange) this.heldBytes += exchange.reply.length
      send(exchange.reply, exchange.peer)
    }
  }
}

function isResponse({ code }: CoapMessage): boolean {
  return code.startsWith('2.') || code.startsWith('4.') || code.startsWith('5.')
}

function bytesOf({ reply }: Exchange): number {
  return EXCHANGE_BYTES + (reply?.length ?? 0)
}
