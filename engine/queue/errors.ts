/** Why the queue counts a message as failed, besides what its nodes threw. */
import { defineErrors } from '../../model/errors.ts'

export const QueueErrors = defineErrors('queue', {
  PROCESSING_TIMEOUT: { kind: 'retryable', status: 503, text: 'not processed within {limit} ms' },
  CROWDED: {
    kind: 'retryable',
    isOutage: true,
    isOwnLimit: true,
    status: 503,
    text: 'no outcome within {limit} ms, while its tenant holds more than its share of a full queue',
  },
  MADE_ROOM: {
    kind: 'retryable',
    isOutage: true,
    isOwnLimit: true,
    status: 503,
    text: 'its tenant holds most of a crowded queue, and others hold little',
  },
  PROCESSOR_FAILED: { kind: 'terminal', status: 500, text: 'the processor threw: {reason}' },
})
