/** What jobs refuse. */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const JobErrors = defineErrors('jobs', {
  UNDER_WAY: { ...BAD_REQUEST, text: 'The same job is already queued or running' },
  TOO_MANY: { ...BAD_REQUEST, text: 'More than {limit} jobs are queued' },
  ENDED: { ...BAD_REQUEST, text: 'The job has ended already' },
  NOT_ENDED: { ...BAD_REQUEST, text: 'The job has not ended yet: cancel it first' },
  NOTHING_FAILED: { ...BAD_REQUEST, text: 'The job has no failed tasks to do again' },
  GENERAL_ERROR: { ...BAD_REQUEST, text: 'A job that failed as a whole can not be done again: {reason}' },
})
