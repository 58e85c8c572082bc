/**
 * Reads one body, and no more of it than its sender may send. What is announced is looked at first; over `freeBytes` the route is asked who
 * sends it, and meanwhile the socket is not read.
 *
 * | state | leaves by |
 * |---|---|
 * | reading | whole → ended; over what is allowed → asking, or refused → ended |
 * | asking | admitted → reading; answered by the route → ended |
 * | ended | |
 */
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
  readonly whole: (exchange: UwsExchange) => void
  readonly tooLarge: (exchange: UwsExchange, limit: number) => void
  readonly failed: (exchange: UwsExchange, error: unknown) => void
}

export class BodyIntake {
  private readonly response: UwsResponse
  private readonly exchange: UwsExchange
  private readonly plan: IntakePlan
  private readonly body = new RequestBody()
  private state: 'reading' | 'asking' | 'ended' = 'reading'
  private allowed: number
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
    this.response.onData((chunk, isLast) => this.received(chunk, isLast))
    if (announced > this.allowed) this.over(announced)
  }

  private received(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.state === 'ended' || !this.exchange.open) return
    this.body.add(chunk)
    if (isLast) {
      this.isWhole = true
      this.exchange.endsConnection = false
    }
    // While the route is asked only the rest of one read of the socket comes.
    if (this.state === 'reading') this.look(this.body.size)
  }

  private look(size: number): void {
    if (size > this.allowed) return this.over(size)
    if (!this.isWhole) return
    this.state = 'ended'
    this.exchange.body = this.body.whole()
    this.plan.whole(this.exchange)
  }

  private over(size: number): void {
    const { admit, limit } = this.plan
    if (admit === undefined || size > limit) {
      this.state = 'ended'
      return this.plan.tooLarge(this.exchange, limit)
    }
    this.state = 'asking'
    this.response.pause()
    admit(this.exchange).then(
      (admitted) => {
        if (this.exchange.open) this.answered(admitted, size)
      },
      (error: unknown) => {
        this.state = 'ended'
        this.plan.failed(this.exchange, error)
      },
    )
  }

  private answered(admitted: boolean, size: number): void {
    if (!admitted) throw new Error('a route refused a body and did not answer')
    this.allowed = this.plan.limit
    this.state = 'reading'
    this.response.resume()
    this.look(Math.max(size, this.body.size))
  }
}
