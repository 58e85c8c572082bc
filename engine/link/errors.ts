/** What the link answers when it does not store. */
import { defineErrors, isMillraceError } from '../../model/errors.ts'

export const LinkErrors = defineErrors('link', {
  LINK_CLOSED: { kind: 'retryable', isOutage: true, status: 503, text: 'the link is closing' },
  BUFFER_FULL: {
    kind: 'retryable',
    status: 503,
    text: 'the link has {messages} messages waiting to be stored, no more are taken',
    isOutage: true,
  },
  BACKLOG_FULL: {
    kind: 'retryable',
    status: 503,
    text: 'the log holds {bytes} bytes not yet processed, at most {limit} are allowed',
    isOutage: true,
  },
  DISK_REFUSED: {
    kind: 'retryable',
    status: 503,
    text: 'the log could not be written: {reason}',
    isOutage: true,
  },
  MESSAGE_TOO_LARGE: {
    kind: 'invalid',
    status: 413,
    text: 'message of {size} characters, at most {limit} are allowed',
  },
  BROKER_AWAY: { kind: 'retryable', status: 503, text: 'the broker does not answer: {reason}', isOutage: true },
  FENCED: { kind: 'terminal', status: 409, text: 'stream {stream} has another owner: {reason}' },
  PARTITIONS_DIFFER: {
    kind: 'terminal',
    status: 500,
    text: 'the streams {prefix} were made with {stored} partitions, the settings say {wanted}: set {stored}, or another prefix',
  },
  STREAMS_DIFFER: {
    kind: 'terminal',
    status: 500,
    text: 'the link {prefix} was made with {stored} streams, the settings say {wanted}: set {stored}, or another prefix',
  },
  NOT_DURABLE: { kind: 'terminal', status: 500, text: 'strict durability is set, but {text}' },
  STREAM_UNFIT: { kind: 'terminal', status: 500, text: 'stream {stream} is not as this link needs it: {reason}' },
  MESSAGE_INVALID: { kind: 'invalid', status: 400, text: 'message cannot be encoded: {reason}' },
})

/** The stream has another owner: nothing that this process says of it counts any more. */
export function isFenced(error: unknown): boolean {
  return isMillraceError(error) && error.code === 'link.FENCED'
}

/** The log is full of what is not settled: what failed for that is to leave it, else nothing of the log may ever be settled. */
export function isBacklogFull(error: unknown): boolean {
  if (!isMillraceError(error)) return false
  return error.code === 'link.BACKLOG_FULL' || isBacklogFull(error.cause)
}
