/** What every time-series store refuses, in the same words. */
import { defineErrors } from '../../model/errors.ts'

const INVALID = { kind: 'invalid', status: 400 } as const

export const TimeSeriesErrors = defineErrors('timeseries', {
  ENTITY_INVALID: { ...INVALID, text: 'An entity is named by a UUID, not by {entityId}' },
  TS_INVALID: { ...INVALID, text: 'Timestamps are whole milliseconds within ±8.64e15, not {ts}' },
  LONG_INVALID: { ...INVALID, text: 'The value of {key} is no 64-bit integer: {value}' },
  BORDERS_MISSING: { ...INVALID, text: 'An aggregation ({agg}) needs at least two bucket borders' },
  ANSWER_TOO_BIG: {
    ...INVALID,
    text: 'The answer is larger than {limit} {unit}: ask for fewer keys, a smaller limit or a shorter time',
  },
})
