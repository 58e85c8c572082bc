/** Why parked messages cannot be kept, and what a sender is told whose tenant's share is full. */
import { defineErrors } from '../../model/errors.ts'

export const ParkingErrors = defineErrors('parking', {
  TENANT_FULL: {
    kind: 'retryable',
    status: 503,
    text: 'messages of this tenant that fail again and again fill its share of {limit} bytes: mend their rule chain, or move them to the dead letters (/api/parked)',
  },
  CLOSED: {
    kind: 'retryable',
    isOutage: true,
    status: 503,
    text: 'the parked messages of partition {partition} are closed',
  },
  BUSY: { kind: 'retryable', status: 409, text: 'the lane is being tried: ask again in a moment' },
})
