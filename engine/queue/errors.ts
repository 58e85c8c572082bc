/** Why the queue counts a message as failed, besides what its nodes threw. */
import { defineErrors } from '../../model/errors.ts'

export const QueueErrors = defineErrors('queue', {
  PROCESSING_TIMEOUT: { kind: 'retryable', status: 503, text: 'not processed within {limit} ms' },
  PROCESSOR_FAILED: { kind: 'terminal', status: 500, text: 'the processor threw: {reason}' },
})
