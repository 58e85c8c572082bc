/**
 * What one device sent and what became of it. Each value is sent once, is never sent again, and ends as acknowledged, refused,
 * or unknown (its connection died or fell silent first). The values of a pack, one message with several, end alike. A session is what a device sends over one connection: within it the
 * order is the device's own; a value without an answer may still arrive long after the device has gone on over another.
 */

export type Outcome = 'acknowledged' | 'refused' | 'unknown'

export interface SentValue {
  readonly value: number
  /** The publish or post that carries it, counted from 1 for each device. */
  readonly message: number
  readonly session: number
  /** Of the monotonic clock, ms. */
  readonly sentAt: number
  outcome: Outcome
  /** Absent until it was acknowledged. */
  acknowledgedAt?: number
}

export interface DeviceIdentity {
  readonly name: string
  readonly token: string
  readonly deviceId: string
  readonly protocol: 'MQTT 3.1.1' | 'MQTT 5' | 'HTTP'
  /** Sends times of its own, one second apart, when true; else the server stamps what it receives. */
  readonly explicitTimes: boolean
  /** Sends the number alone, without the text beside it. */
  readonly isBare?: boolean
  /** Values in each message, which have times of their own; absent: 1. */
  readonly packSize?: number
}

export class Journal {
  readonly device: DeviceIdentity
  /** The value n is at n - 1. */
  readonly sent: SentValue[] = []
  /** Answers that no fault excuses, such as "wrong credentials" while a store is away. */
  readonly complaints: string[] = []
  #session = 0
  #messages = 0

  constructor(device: DeviceIdentity) {
    this.device = device
  }

  /** What is sent from now on is on another connection. */
  nextSession(): void {
    this.#session++
  }

  take(): SentValue {
    return this.#take(++this.#messages, performance.now())
  }

  /** The values of one message. */
  takePack(size: number): readonly SentValue[] {
    const [message, sentAt] = [++this.#messages, performance.now()]
    return Array.from({ length: size }, () => this.#take(message, sentAt))
  }

  #take(message: number, sentAt: number): SentValue {
    const value: SentValue = {
      value: this.sent.length + 1,
      message,
      session: this.#session,
      sentAt,
      outcome: 'unknown',
    }
    this.sent.push(value)
    return value
  }

  acknowledge(...values: readonly SentValue[]): void {
    const now = performance.now()
    for (const value of values) {
      value.outcome = 'acknowledged'
      value.acknowledgedAt = now
    }
  }

  complain(text: string): void {
    if (this.complaints.length < 5) this.complaints.push(`${this.device.name}: ${text}`)
  }

  count(outcome: Outcome): number {
    return this.sent.reduce((sum, value) => sum + (value.outcome === outcome ? 1 : 0), 0)
  }

  /** Messages that were acknowledged, with one value or several. */
  acknowledgedMessages(): number {
    let [count, last] = [0, 0]
    for (const { message, outcome } of this.sent) {
      if (outcome !== 'acknowledged' || message === last) continue
      count++
      last = message
    }
    return count
  }

  /** The last value that was acknowledged up to now. */
  lastAcknowledged(): SentValue | undefined {
    return this.sent.findLast(({ outcome }) => outcome === 'acknowledged')
  }

  /** When the first of the values sent from `time` on was acknowledged. */
  firstAcknowledgementSince(time: number): number | undefined {
    const times = this.sent.flatMap(({ sentAt, acknowledgedAt }) =>
      sentAt >= time && acknowledgedAt !== undefined ? [acknowledgedAt] : [],
    )
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** The longest time between two acknowledgements, from `began` on, ms. */
  longestSilence(began: number): number {
    const times = this.sent.flatMap(({ acknowledgedAt }) => (acknowledgedAt === undefined ? [] : [acknowledgedAt]))
    let longest = 0
    let previous = began
    for (const time of times.sort((one, other) => one - other)) {
      longest = Math.max(longest, time - previous)
      previous = time
    }
    return longest
  }
}

export function bodyOf(device: DeviceIdentity, value: number): string {
  const values = device.isBare === true ? { n: value } : { n: value, text: `value ${value}` }
  return JSON.stringify(device.explicitTimes ? { ts: explicitTime(value), values } : values)
}

/** A message of several values, as a device sends that was offline. Its times are its own: without, all would have one. */
export function packBodyOf(device: DeviceIdentity, values: readonly SentValue[]): string {
  const timed = { ...device, explicitTimes: true }
  let body = '['
  for (const { value } of values) {
    if (body.length > 1) body += ','
    // Hundreds of thousands a second: as `bodyOf` writes it.
    body += device.isBare === true ? `{"ts":${explicitTime(value)},"values":{"n":${value}}}` : bodyOf(timed, value)
  }
  return `${body}]`
}

/** The time of a value of a device with explicit times, Unix ms. */
export function explicitTime(value: number): number {
  return 1_700_000_000_000 + value * 1000
}
