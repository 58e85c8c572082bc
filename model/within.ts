/** Waiting for the store of sessions: a client is told something in time, whatever the store does. */
import type { Clock } from '../../model/clock.ts'

/** Rejects where the answer takes longer. What it is then is nobody's. */
export function within<Answer>(clock: Clock, limitMs: number, answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(limitMs, () => reject(new Error('The store of sessions does not answer')))
    void answer.then(resolve, reject).finally(() => timer.cancel())
  })
}
