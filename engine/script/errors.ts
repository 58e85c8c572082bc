/** Errors of scripts, the same in both languages: they reach the author on the `Failure` relation. */
import { defineErrors } from '../../model/errors.ts'

export const ScriptErrors = defineErrors('script', {
  SCRIPT_SYNTAX: { kind: 'invalid', status: 400, text: 'line {line}, column {column}: {reason}' },
  SCRIPT_RUNTIME: { kind: 'invalid', status: 400, text: 'line {line}, column {column}: {reason}' },
  SCRIPT_TIMEOUT: {
    kind: 'invalid',
    status: 400,
    text: 'script stopped after {limit} ms (line {line}, column {column})',
  },
  SCRIPT_WORK_LIMIT: {
    kind: 'invalid',
    status: 400,
    text: 'line {line}, column {column}: script stopped after {limit} steps of work',
  },
  SCRIPT_MEMORY_LIMIT: { kind: 'invalid', status: 400, text: 'script exceeded its memory limit of {limit} bytes' },
  SCRIPT_RESULT_TYPE: { kind: 'invalid', status: 400, text: 'Wrong result type: {actual}, expected {expected}' },
  SCRIPT_RESULT_TOO_LARGE: {
    kind: 'invalid',
    status: 400,
    text: 'script result of {size} characters, at most {limit} are allowed',
  },
  SCRIPT_ARGUMENTS_TOO_LARGE: {
    kind: 'invalid',
    status: 400,
    text: 'script arguments of {size} characters, at most {limit} are allowed',
  },
  SCRIPT_BODY: { kind: 'invalid', status: 400, text: 'script body is {reason}' },
  SCRIPT_DATA: { kind: 'invalid', status: 400, text: 'message data is not JSON: {reason}' },
  SCRIPT_BLOCKED: {
    kind: 'invalid',
    status: 400,
    text: 'script invocation is blocked due to maximum error count {limit}',
  },
  SCRIPT_DIED: { kind: 'invalid', status: 400, text: 'script was put aside, it broke its sandbox: {reason}' },
  POOL_UNAVAILABLE: { kind: 'retryable', status: 503, text: 'script workers do not answer: {reason}' },
  POOL_FULL: {
    kind: 'retryable',
    isOutage: true,
    isOwnLimit: true,
    status: 503,
    text: 'script queue holds {waiting} messages, at most {limit} are allowed',
  },
})
