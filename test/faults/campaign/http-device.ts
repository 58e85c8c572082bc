/** A device that posts one value at a time. A request without an answer leaves its value unknown. */
import { setTimeout as delay } from 'node:timers/promises'
import { bodyOf, type SentValue } from './journal.ts'
import { PACE_MS, PATIENCE_MS, PAUSE_MS, type Sending } from './steady-load.ts'

/** What a server may answer while something behind it is away, full or slow. */
const EXCUSED = new Set([429, 503])

export async function sendOverHttp(sending: Sending): Promise<void> {
  while (!sending.stop.aborted) {
    const value = sending.journal.take()
    const status = await post(sending, value)
    if (status === 200) {
      sending.journal.acknowledge(value)
      await delay(PACE_MS / 2)
      continue
    }
    if (status === 'no answer' || status === 'no connection') {
      if (status === 'no connection') value.outcome = 'refused'
      sending.move()
    } else {
      value.outcome = 'refused'
      if (!EXCUSED.has(status)) sending.journal.complain(`value ${value.value} was answered with ${status}`)
    }
    await delay(PAUSE_MS)
  }
}

/** The status of the answer, or why there is none: where nobody took the connection, nobody has the value. */
async function post(
  { journal: { device }, transport }: Sending,
  value: SentValue,
): Promise<number | 'no answer' | 'no connection'> {
  try {
    const response = await fetch(`${transport().url}/api/v1/${device.token}/telemetry`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: bodyOf(device, value.value),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    await response.arrayBuffer()
    return response.status
  } catch (error) {
    const cause: unknown = error instanceof TypeError ? error.cause : undefined
    const wasRefused = cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
    return wasRefused ? 'no connection' : 'no answer'
  }
}
