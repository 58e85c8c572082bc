/** Waiting for a state that has no event of its own. */
import { setTimeout as sleep } from 'node:timers/promises'

const LIMIT_MS = 60_000

/** Between two looks everything else has its turn. Rejects after a minute with the text of what was waited for. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const last = performance.now() + LIMIT_MS
  while (!(await isSo())) {
    if (performance.now() > last) throw new Error(`never so: ${isSo.toString()}`)
    await sleep(1)
  }
}
