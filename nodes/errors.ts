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
  BODY_NOT_OBJECT: { kind: 'invalid', status: 400, text: 'Msg data is not a JSON object' },
  BODY_NOT_ARRAY: { kind: 'invalid', status: 400, text: 'Msg data is not a JSON array' },
  BODY_SHAPE: { kind: 'invalid', status: 400, text: "Can't parse value: {reason}" },
  KEY_INVALID: { kind: 'invalid', status: 400, text: "Key '{key}' is {reason}" },
  KEY_PATTERN: { kind: 'invalid', status: 400, text: "The key '{pattern}' is no regular expression: {reason}" },
  KEYS_TOO_MANY: {
    kind: 'invalid',
    status: 400,
    text: 'The message has too many keys to match them with regular expressions: {characters} characters',
  },
  UPGRADE_IMPOSSIBLE: { kind: 'invalid', status: 400, text: "The old configuration has no usable '{member}'" },
  ENTITY_MISSING: { kind: 'invalid', status: 400, text: "{type} with the name '{name}' doesn't exist" },
  ENTITY_TYPE_MISSING: { kind: 'invalid', status: 400, text: 'The configuration names no type of the other end' },
  SEVERITY_INVALID: { kind: 'invalid', status: 400, text: "'{severity}' is no severity: one of {expected}" },
  ALARM_MALFORMED: { kind: 'invalid', status: 400, text: 'The body is no alarm: {member}: {reason}' },
  METADATA_EMPTY: { kind: 'invalid', status: 400, text: 'Msg metadata is empty' },
  VALUE_MISSING: { kind: 'invalid', status: 400, text: 'Incoming message has no {key} in {place}' },
  VALUE_INVALID: { kind: 'invalid', status: 400, text: "The value of '{key}' is not {expected}" },
  PERIMETER_MISSING: { kind: 'invalid', status: 400, text: 'Missing perimeter definition' },
  PERIMETER_INVALID: { kind: 'invalid', status: 400, text: 'The perimeter is malformed: {reason}' },
  METADATA_INVALID: { kind: 'invalid', status: 400, text: "Metadata '{key}' is '{value}', expected {expected}" },
  QUEUE_UNKNOWN: { kind: 'invalid', status: 400, text: 'There is no queue {queueName}' },
  NO_RESULT: { kind: 'invalid', status: 400, text: 'The script returned an empty list: no message to go on with' },
  CALL_FAILED: { kind: 'terminal', status: 504, text: '{error}' },
  CALL_MALFORMED: { kind: 'invalid', status: 400, text: "'{missing}' of the call is missing" },
  PATTERN_BODY: { kind: 'invalid', status: 400, text: 'Failed to process pattern!' },
})
