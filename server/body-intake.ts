/**
 * Reads one body, and no more of it than its sender may send. What is announced is looked at first; over `freeBytes`, or where the room for
 * bodies of unknown senders is crowded, the route is asked who sends it, and meanwhile the socket is not read.
 *
 * | state | leaves by |
 * |---|---|
 * | reading | whole → ended; over what is allowed → asking, or refused → ended; evicted, lost → ended |
 * | asking | admitted → reading; answered by the route, evicted, lost → ended |
 * | ended | |
 */
import type { BodyHolder, BodyRoom } from './body-room.ts'
import { RequestBody } from './request-body.ts'
import type { UwsResponse } from './uws-binding.ts'
import type { UwsExchange } from './uws-exchange.ts'

export interface IntakePlan {
  /** Most a sender may send who is known. */
  readonly limit: number
  /** Most that is read before it is known who sends. */
  readonly freeBytes: number
  /** As `RouteOptions.admit`. */
  readonly admit: ((exchange: UwsExchange) => Promise<boolean>) | undefined
  /** Where what is read counts until the sender is known. */
  readonly room: BodyRoom
  readonly whole: (exchange: UwsExchange) => void
  readonly tooLarge: (exchange: UwsExchange, limit: number) => void
  readonly failed: (exchange: UwsExchange, error: unknown) => void
}

export class BodyIntake implements BodyHolder {
  private readonly response: UwsResponse
  private readonly exchange: UwsExchange
  private readonly plan: IntakePlan
  private readonly body = new RequestBody()
  private state: 'reading' | 'asking' | 'ended' = 'reading'
  private allowed: number
  private isKnown = false
  private isWhole = false

  constructor(response: UwsResponse, exchange: UwsExchange, plan: IntakePlan) {
    this.response = response
    this.exchange = exchange
    this.plan = plan
    this.allowed = plan.admit === undefined ? plan.limit : Math.min(plan.limit, plan.freeBytes)
  }

  /** `announced` is NaN where the header says nothing. */
  begin(announced: number): void {
    this.exchange.endsConnection = true
    this.exchange.bodyLost = () => this.end()
    this.response.onData((chunk, isLast) => this.received(chunk, isLast))
    if (announced > this.allowed) this.over(announced)
  }

  evict(): void {
    this.end()
    this.exchange.giveUp(503, 'application/json', '"Too many requests are being received: try again"')
  }

  /** Nothing of the body is kept. */
  private end(): void {
    this.state = 'ended'
    this.plan.room.release(this)
    this.body.drop()
  }

  private received(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.state === 'ended' || !this.exchange.open) return
    this.body.add(chunk)
    if (isLast) {
      this.isWhole = true
      this.exchange.endsConnection = false
    }
    // A small body that came whole waits for nothing.
    const isDone = this.isWhole && this.state === 'reading' && this.body.size <= this.allowed
    if (!this.isKnown && !isDone) this.plan.room.hold(this, this.body.capacity)
    // While the route is asked only the rest of one read of the socket comes.
    if (this.state === 'reading') this.look(this.body.size)
  }

  private look(size: number): void {
    if (size > this.allowed) return this.over(size)
    if (this.isWhole) {
      const body = this.body.whole()
      this.end()
      this.exchange.body = body
      return this.plan.whole(this.exchange)
    }
    const { admit, room } = this.plan
    if (!this.isKnown && admit !== undefined && room.isCrowded) this.over(size)
  }

  private over(size: number): void {
    const { admit, limit } = this.plan
    if (admit === undefined || size > limit) {
      this.end()
      return this.plan.tooLarge(this.exchange, limit)
    }
    this.state = 'asking'
    this.response.pause()
    this.exchange.isPaused = true
    admit(this.exchange).then(
      (admitted) => {
        if (this.exchange.open) this.answered(admitted, size)
        else this.end()
      },
      (error: unknown) => {
        this.end()
        this.plan.failed(this.exchange, error)
      },
    )
  }

  private answered(admitted: boolean, size: number): void {
    if (!admitted) throw new Error('a route refused a body and did not answer')
    this.allowed = this.plan.limit
    this.isKnown = true
    this.plan.room.release(this)
    this.state = 'reading'
    // Read on, a connection of which all is here ends after some seconds, however long the route takes.
    if (!this.isWhole) {
      this.exchange.isPaused = false
      this.response.resume()
    }
    this.look(Math.max(size, this.body.size))
  }
}
