/** Jobs: long work that is done in pieces, with how far it came. Nobody saves one over REST; see `services/jobs`. */
import { anyEntity, choice, integer, internal, name, object, optionalText } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'

export const JOB_TYPES = ['DUMMY'] as const
export const JOB_STATUSES = ['QUEUED', 'PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

export const jobs = defineEntity({
  type: 'JOB',
  label: 'Job',
  name: 'key',
  table: { name: 'job', version: 1, indexes: [{ members: ['status'] }] },
  columns: {
    type: choice(JOB_TYPES, 'DUMMY'),
    key: name(),
    entityId: anyEntity(),
    entityName: optionalText({ search: true }),
    status: choice(JOB_STATUSES, 'QUEUED'),
    configuration: object(),
    result: object(),
    /** Tasks of this run that were done. */
    done: internal(integer(0)),
  },
  example: () => ({ type: 'DUMMY', key: 'every night' }),
  lacks: ['version', 'externalId'],
  permissions: { TENANT_ADMIN: 'all' },
})

export type Job = RecordOf<typeof jobs.columns>
