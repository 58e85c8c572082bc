/** What is checked before anything is sent, so that a bad point costs its own batch and nobody else's. */
import { fitsLong } from '../../../model/value.ts'
import type { PointsWrite } from '../store.ts'
import { TimeSeriesErrors } from '../errors.ts'

const MAX_TIME = 8.64e15
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Throws `ENTITY_INVALID`, `TS_INVALID`, `LONG_INVALID`. */
export function checkWrites(writes: readonly PointsWrite[]): void {
  for (const { entityId, points } of writes) {
    if (!UUID.test(entityId)) throw TimeSeriesErrors.ENTITY_INVALID({ entityId })
    for (const point of points) {
      const { ts } = point
      if (!Number.isInteger(ts) || Math.abs(ts) > MAX_TIME) throw TimeSeriesErrors.TS_INVALID({ ts })
      if (point.type === 'LONG' && !isLong(point.value)) {
        throw TimeSeriesErrors.LONG_INVALID({ key: point.key, value: point.value })
      }
    }
  }
}

function isLong(value: number | bigint): boolean {
  return typeof value === 'bigint' ? fitsLong(value) : Number.isSafeInteger(value)
}

/** Whether an entity of this name may have points at all. */
export function isEntity(entityId: string): boolean {
  return UUID.test(entityId)
}

/** A border of a range as a `bigint` column compares it: a query may ask from before all time to after it. */
export function borderOf(ts: number): number {
  return Math.max(-MAX_TIME - 1, Math.min(MAX_TIME + 1, Math.ceil(ts)))
}
