/**
 * What a run stored, read back over REST: of every device and every key the number and the sum of the points, and of some devices each
 * point by itself. A run of which anything is not as it was sent is void.
 */
import type { RestClient } from '../../test/support/clients.ts'
import { KEYS, valuesAt, type Key } from './payload.ts'

export interface Sent {
  readonly deviceId: string
  readonly firstTime: number
  readonly messages: number
}

const PATIENCE_MS = 120_000
/** Devices whose points are compared one by one, and how many points of each. */
const COMPARED_DEVICES = 5
const COMPARED_POINTS = 10_000

type Points = Partial<Record<Key, readonly { readonly ts: number; readonly value: number }[]>>

/**
 * Resolves with the time (`performance.now()`) at which the last message of each device could be read. It is stored behind the others, which
 * {@link compareStored} counts: to count them all here would take longer than it takes until they are there.
 */
export async function untilReadable(rest: RestClient, all: readonly Sent[]): Promise<number> {
  const deadline = performance.now() + PATIENCE_MS
  for (const sent of all) {
    while (sent.messages > 0 && !(await isLastReadable(rest, sent))) {
      if (performance.now() > deadline)
        throw new Error('void: the last message of a device was acknowledged, and is not stored')
    }
  }
  return performance.now()
}

async function isLastReadable(rest: RestClient, sent: Sent): Promise<boolean> {
  const last = sent.firstTime + sent.messages - 1
  const points = await read(rest, sent, `startTs=${last}&endTs=${last + 1}&limit=1`)
  return KEYS.every((key) => points[key]?.[0]?.ts === last)
}

/** Throws where a count, a sum or a point is another than what was sent. */
export async function compareStored(rest: RestClient, all: readonly Sent[]): Promise<void> {
  for (const sent of all) {
    for (const agg of ['COUNT', 'SUM'] as const) {
      const points = await aggregate(rest, sent, agg)
      for (const key of KEYS) expectNear(points[key]?.[0]?.value ?? 0, wanted(sent, key, agg), `${agg} of ${key}`)
    }
  }
  for (const sent of all.slice(0, COMPARED_DEVICES)) await comparePoints(rest, sent)
}

async function comparePoints(rest: RestClient, sent: Sent): Promise<void> {
  const { firstTime, messages } = sent
  const range = `startTs=${firstTime}&endTs=${firstTime + messages}&limit=${COMPARED_POINTS}&orderBy=ASC`
  const points = await read(rest, sent, range)
  for (const key of KEYS) {
    const read = points[key] ?? []
    const expected = Math.min(messages, COMPARED_POINTS)
    if (read.length !== expected) throw new Error(`void: ${read.length} points of ${key} in place of ${expected}`)
    for (const [index, { ts, value }] of read.entries()) {
      if (ts === firstTime + index && value === valuesAt(ts)[key]) continue
      throw new Error(`void: ${key} at ${ts} is ${value}, not what was sent at ${firstTime + index}`)
    }
  }
}

/** Over the times of this run alone: what a warm-up stored does not count. */
function aggregate(rest: RestClient, sent: Sent, agg: 'COUNT' | 'SUM'): Promise<Points> {
  const { firstTime, messages } = sent
  const interval = Math.max(messages, 1)
  return read(rest, sent, `startTs=${firstTime}&endTs=${firstTime + messages}&agg=${agg}&interval=${interval}`)
}

function read(rest: RestClient, { deviceId }: Sent, query: string): Promise<Points> {
  const path = `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries`
  return rest.expect<Points>('GET', `${path}?keys=${KEYS.join(',')}&${query}&useStrictDataTypes=true`)
}

function wanted({ firstTime, messages }: Sent, key: Key, agg: 'COUNT' | 'SUM'): number {
  if (agg === 'COUNT') return messages
  let sum = 0
  for (let index = 0; index < messages; index++) sum += valuesAt(firstTime + index)[key]
  return sum
}

function expectNear(value: number, expected: number, what: string): void {
  if (Math.abs(value - expected) <= 1e-9 * Math.abs(expected)) return
  throw new Error(`void: ${what} is ${value}, and ${expected} was acknowledged`)
}
