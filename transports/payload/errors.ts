/** What can be wrong with a device's payload. Every row means: nothing of the upload was taken. Source: `device-api.md` 2. */
import { defineErrors } from '../../model/errors.ts'

export const PayloadErrors = defineErrors('payload', {
  NOT_TEXT: { kind: 'invalid', status: 400, text: 'The payload is not UTF-8 text' },
  NOT_PROTOBUF: { kind: 'invalid', status: 400, text: 'The payload is no Protobuf message: {reason}' },
  NO_SCHEMA: { kind: 'invalid', status: 400, text: 'The device profile has no Protobuf schema for it' },
  UNFIT: { kind: 'invalid', status: 400, text: 'The field {field} of the Protobuf schema does not take {value}' },
  EMPTY: { kind: 'invalid', status: 400, text: 'The payload is empty, JSON is expected' },
  WRONG_SHAPE: { kind: 'invalid', status: 400, text: "Can't parse value: {value}" },
  BAD_TIME: { kind: 'invalid', status: 400, text: "Can't parse ts: {value}" },
  FIELD_MISSING: { kind: 'invalid', status: 400, text: 'Failed to find the field {name} in JSON body {body}!' },
  CREDENTIALS_TYPE: { kind: 'invalid', status: 400, text: "Credentials of the type '{type}' are not known" },
  TOO_LARGE: { kind: 'invalid', status: 413, text: 'Payload size exceeds the limit of {limit} bytes' },
  TOO_MANY_ENTRIES: { kind: 'invalid', status: 400, text: 'The payload holds more than {limit} values' },
  KEY_TOO_LONG: {
    kind: 'invalid',
    status: 400,
    text: 'A key is {length} characters long, at most {limit} are allowed',
  },
  STRING_TOO_LONG: {
    kind: 'invalid',
    status: 400,
    text: 'The value of key {key} is {length} characters long, at most {limit} are allowed',
  },
})
