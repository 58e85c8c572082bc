/** What the PostgreSQL time-series stores refuse by themselves; texts as the embedded store has them. */
import { defineErrors } from '../../../model/errors.ts'

export const PostgresTimeSeriesErrors = defineErrors('timeseries-postgres', {
  ENTITY_INVALID: { kind: 'invalid', status: 400, text: 'An entity is named by a UUID, not by {entityId}' },
  TS_INVALID: { kind: 'invalid', status: 400, text: 'Timestamps are whole milliseconds within ±8.64e15, not {ts}' },
  LONG_INVALID: { kind: 'invalid', status: 400, text: 'The value of {key} is no 64-bit integer: {value}' },
  BORDERS_MISSING: { kind: 'invalid', status: 400, text: 'An aggregation ({agg}) needs at least two bucket borders' },
  ANSWER_TOO_BIG: {
    kind: 'invalid',
    status: 400,
    text: 'The answer is larger than {limit} {unit}: ask for fewer keys, a smaller limit or a shorter time',
  },
})
