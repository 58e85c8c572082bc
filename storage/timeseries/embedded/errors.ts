/** Every fault of the embedded time-series store. */
import { defineErrors } from '../../../model/errors.ts'
import { TimeSeriesErrors } from '../errors.ts'

const DAMAGED = { kind: 'terminal', status: 500 } as const
const LATER = { kind: 'retryable', isOutage: true, status: 503 } as const

const OWN = defineErrors('timeseries', {
  CHUNK_DAMAGED: {
    ...DAMAGED,
    text: 'Stored data is damaged: {file}, chunk {chunk}, entity {entityId}, key {key}, times {startTs} to {endTs}: {reason}',
  },
  LATEST_DAMAGED: {
    ...DAMAGED,
    text: 'Stored data is damaged: {file}, series {series}, entity {entityId}, key {key}: {reason}',
  },
  LOG_DAMAGED: { ...DAMAGED, text: 'The log is damaged: {file} at byte {offset}: {reason}' },
  DATABASE_DAMAGED: { ...DAMAGED, text: 'Stored data is damaged: {file}: {reason}' },
  FORMAT_UNKNOWN: { kind: 'terminal', status: 500, text: '{file} has format {found}, this version knows {known}' },
  IN_USE: { kind: 'terminal', status: 500, text: '{directory} is in use by another process' },
  WRITE_FAILED: { ...LATER, text: 'The write to {file} failed and nothing of it is kept: {reason}' },
  DISK_FULL: { ...LATER, text: 'The disk is full; nothing of the write to {file} is kept' },
  BACKLOG: { ...LATER, text: 'The log may not grow beyond {limit} bytes, and its points cannot be moved on: {reason}' },
  BUSY: { ...LATER, text: 'The time-series store is busy: {pending} requests wait for their answer, at most {limit}' },
  CLOSED: { ...LATER, text: 'The time-series store is closed' },
  WORKER_DIED: { ...LATER, text: 'The time-series worker died: {reason}' },
})

export const EmbeddedErrors = { ...TimeSeriesErrors, ...OWN }
export type EmbeddedErrorName = keyof typeof EmbeddedErrors
