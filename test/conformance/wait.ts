/** Waiting for what follows a call in its own time (a rule chain stores after the device was answered). */
import { setTimeout as sleep } from 'node:timers/promises'

const PAUSE_MS = 10

/** Asks again until the answer is the wanted one. Throws with the last answer after `timeoutMs`. */
export async function eventually<Value>(
  ask: () => Promise<Value>,
  wanted: (value: Value) => boolean,
  timeoutMs = 60_000,
): Promise<Value> {
  const until = performance.now() + timeoutMs
  for (;;) {
    const value = await ask()
    if (wanted(value)) return value
    if (performance.now() > until) throw new Error(`not as wanted after ${timeoutMs} ms: ${JSON.stringify(value)}`)
    // What is asked in memory alone would never let anything else happen.
    await sleep(PAUSE_MS)
  }
}
