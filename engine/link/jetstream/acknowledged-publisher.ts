/**
 * Publishes to a stream and hears its acknowledgement, all under one subscription. The client's own way costs twice the processor time for each:
 * copies of options, promises in promises, and an error with its stack for the request that is over.
 */
import { JetStreamApiError } from '@nats-io/jetstream'
import { createInbox, headers, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node'
import { z } from 'zod'
import type { Clock, TimerHandle } from '../../../model/clock.ts'

/** The server's own words for what a message expects: `Nats-Msg-Id`, `Nats-Expected-Stream`. */
export type PublishHeaders = Readonly<Record<string, string>>

interface Unanswered {
  readonly timer: TimerHandle
  readonly stored: ((position: number) => void) | undefined
  readonly resolve: (position: number) => void
  readonly reject: (error: Error) => void
}

const AnswerSchema = z.object({
  seq: z.number().optional(),
  error: z.object({ code: z.number(), err_code: z.number(), description: z.string() }).optional(),
})
const NO_RESPONDERS = 503

export class AcknowledgedPublisher {
  private readonly connection: NatsConnection
  private readonly clock: Clock
  private readonly inbox = createInbox()
  private readonly subscription: Subscription
  private readonly unanswered = new Map<string, Unanswered>()
  private count = 0

  constructor(connection: NatsConnection, clock: Clock) {
    this.connection = connection
    this.clock = clock
    this.subscription = connection.subscribe(`${this.inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.answered(message)
      },
    })
  }

  /**
   * The position in the stream, which `stored` hears within the turn in which the answer comes: before what stands behind it on the connection.
   * Rejects with JetStreamApiError where the server refuses it, with another error where nobody answers.
   */
  publish(
    subject: string,
    body: Uint8Array,
    expected: PublishHeaders,
    timeoutMs: number,
    stored?: (position: number) => void,
  ): Promise<number> {
    const token = (++this.count).toString(36)
    const fields = headers()
    for (const name in expected) fields.set(name, expected[name] ?? '')
    this.connection.publish(subject, body, { reply: `${this.inbox}.${token}`, headers: fields })
    return new Promise((resolve, reject) => {
      const timer = this.clock.after(timeoutMs, () => {
        this.unanswered.delete(token)
        reject(new Error(`no answer within ${timeoutMs} ms`))
      })
      this.unanswered.set(token, { timer, stored, resolve, reject })
    })
  }

  /** What waits for its answer is rejected. */
  close(): void {
    for (const { timer, reject } of this.unanswered.values()) {
      timer.cancel()
      reject(new Error('the link is closed'))
    }
    this.unanswered.clear()
    // A subscription ends with its connection.
    const { connection, subscription } = this
    if (!connection.isClosed() && !connection.isDraining() && !subscription.isClosed()) subscription.unsubscribe()
  }

  private answered(message: Msg): void {
    const token = message.subject.slice(this.inbox.length + 1)
    const waiting = this.unanswered.get(token)
    if (waiting === undefined) return
    this.unanswered.delete(token)
    waiting.timer.cancel()
    if (message.headers?.code === NO_RESPONDERS) return waiting.reject(new Error('no stream takes it'))
    try {
      const { seq, error } = AnswerSchema.parse(message.json())
      if (seq !== undefined && error === undefined) {
        waiting.stored?.(seq)
        waiting.resolve(seq)
      } else
        waiting.reject(error === undefined ? new Error('an answer without a position') : new JetStreamApiError(error))
    } catch (error) {
      waiting.reject(new Error('an answer that cannot be read', { cause: error }))
    }
  }
}
