/** Waiting no longer than that for what may never settle. */
import type { Clock } from './clock.ts'

/** Rejects with `late` where the answer takes longer, ms. What it is then is nobody's. */
export function within<Answer>(
  clock: Pick<Clock, 'after'>,
  limitMs: number,
  answer: Promise<Answer>,
  late: () => Error,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(limitMs, () => reject(late()))
    void answer.then(resolve, reject).finally(() => timer.cancel())
  })
}
