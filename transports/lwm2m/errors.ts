import { defineErrors } from '../../model/errors.ts'

export const Lwm2mErrors = defineErrors('lwm2m', {
  BAD_PAYLOAD: { kind: 'invalid', status: 400, text: 'The payload is no {format}: {reason}' },
  TOO_MANY_VALUES: { kind: 'invalid', status: 413, text: 'A payload has at most {limit} values' },
  WRONG_VALUE: { kind: 'invalid', status: 400, text: '{path} is {type}: {reason}' },
  BAD_PARAMETER: { kind: 'invalid', status: 400, text: "'{name}' is not understood: {reason}" },
  OTHER_VERSION: { kind: 'invalid', status: 412, text: "'lwm2m' is {version}: here it is one of {known}" },
  TOO_MANY_OBJECTS: { kind: 'invalid', status: 413, text: 'A client has at most {limit} objects and instances' },
  UNKNOWN_REGISTRATION: { kind: 'invalid', status: 404, text: 'There is no such registration: register anew' },
  OTHER_TRANSPORT: { kind: 'denied', status: 403, text: "The device's profile is for {transport}, not for LWM2M" },
  PROFILE: { kind: 'terminal', status: 500, text: "The device profile's transport configuration is wrong: {reason}" },
  UNKNOWN_METHOD: { kind: 'invalid', status: 405, text: 'There is no method {method}' },
  KEY_NOT_CONFIGURED: { kind: 'invalid', status: 400, text: '{key} is not configured in the device profile!' },
  BAD_CALL: { kind: 'invalid', status: 400, text: '{method}: {reason}' },
  NO_ROOM: { kind: 'retryable', status: 503, text: 'There is no room for another client now' },
  UNKNOWN_ENDPOINT: { kind: 'denied', status: 403, text: 'Nobody has this endpoint' },
  NOT_REGISTERED: { kind: 'invalid', status: 404, text: 'Nobody registered from here' },
  UNKNOWN_PATH: { kind: 'invalid', status: 404, text: 'There is nothing here: paths are rd and dp' },
  WRONG_METHOD: { kind: 'invalid', status: 405, text: 'This is for {allowed}' },
  UNKNOWN_FORMAT: { kind: 'invalid', status: 415, text: 'Content-Format {format} is not understood here' },
  NO_ADDRESS: {
    kind: 'terminal',
    status: 500,
    text: "The profile's {setting} is empty: it is this server as clients see it",
  },
  DELIVERY_REFUSED: { kind: 'terminal', status: 500, text: 'The client answered {code}' },
  TOO_MANY_REQUESTS: { kind: 'retryable', status: 503, text: 'At most {limit} requests wait for a client' },
})
