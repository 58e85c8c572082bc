import { defineErrors } from '../../../model/errors.ts'

export const AggregationErrors = defineErrors('aggregation', {
  BUSY: {
    kind: 'retryable',
    isOutage: true,
    isOwnLimit: true,
    status: 503,
    text: '{waiting} aggregations of the tenant wait already, at most {limit} may',
  },
  POOL_UNAVAILABLE: {
    kind: 'retryable',
    isOutage: true,
    status: 503,
    text: 'aggregation workers do not answer: {reason}',
  },
  TIMED_OUT: {
    kind: 'terminal',
    isTimeout: true,
    status: 504,
    text: 'The aggregation took more than {ms} ms on its thread, and was ended (AGGREGATION_TIMEOUT_MS)',
  },
  TOO_MANY_ENTITIES: {
    kind: 'invalid',
    status: 400,
    text: 'More than {limit} entities are to be aggregated (AGGREGATION_MAX_ENTITIES)',
  },
  TOO_LARGE: {
    kind: 'invalid',
    status: 400,
    text: 'The values to be aggregated take more than {limit} MiB (AGGREGATION_MAX_MB)',
  },
  TOO_MANY_TALLIES: {
    kind: 'invalid',
    status: 400,
    text: 'The alarms are of more than {limit} types: name those that count',
  },
  PARENT_UNFIT: { kind: 'invalid', status: 400, text: 'A {parent} has no {members} of its own' },
})
