/** What stored points count: each for every day that it is kept, a long text as several. Source: `rule-engine.md` 9.4. */
import type { Entry } from '../../model/value.ts'

const DAY_SECONDS = 86_400
const CHARACTERS_A_POINT = 512

/** Days for which points are kept for ever count once. */
export function storageDays(points: readonly Entry[], ttlSeconds: number): number {
  let count = 0
  for (const point of points) {
    const length = point.type === 'STRING' || point.type === 'JSON' ? point.value.length : 0
    count += length <= CHARACTERS_A_POINT ? 1 : Math.ceil(length / CHARACTERS_A_POINT)
  }
  return count * Math.max(1, Math.floor(ttlSeconds / DAY_SECONDS))
}
