/** Errors of rule nodes: configurations that can not be, and messages that a node can not take. */
import { defineErrors } from '../model/errors.ts'

export const NodeErrors = defineErrors('node', {
  CONFIGURATION_INVALID: { kind: 'invalid', status: 400, text: "'{node}': {field}: {reason}" },
  UNSUPPORTED_TYPE: { kind: 'invalid', status: 400, text: 'Unsupported msg type: {type}' },
  UNSUPPORTED_ORIGINATOR: {
    kind: 'invalid',
    status: 400,
    text: 'Unsupported originator type: {type}, expected {expected}',
  },
  BODY_EMPTY: { kind: 'invalid', status: 400, text: 'Msg body is empty: {body}' },
  BODY_SHAPE: { kind: 'invalid', status: 400, text: "Can't parse value: {reason}" },
  KEY_INVALID: { kind: 'invalid', status: 400, text: "Key '{key}' is {reason}" },
  METADATA_INVALID: { kind: 'invalid', status: 400, text: "Metadata '{key}' is '{value}', expected {expected}" },
  QUEUE_UNKNOWN: { kind: 'invalid', status: 400, text: 'There is no queue {queueName}' },
  NO_RESULT: { kind: 'invalid', status: 400, text: 'The script returned an empty list: no message to go on with' },
  CALL_MALFORMED: { kind: 'invalid', status: 400, text: "'{missing}' of the call is missing" },
  PATTERN_BODY: { kind: 'invalid', status: 400, text: 'Failed to process pattern!' },
})
