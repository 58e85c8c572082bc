import { defineErrors } from '../../model/errors.ts'

export const CoapErrors = defineErrors('coap', {
  NO_TOKEN: { kind: 'denied', status: 401, text: 'The path has no access token: /api/v1/TOKEN/telemetry' },
  UNKNOWN_TOKEN: { kind: 'denied', status: 401, text: 'Nobody has this access token' },
  OTHER_TRANSPORT: { kind: 'denied', status: 403, text: "The device's profile is for {transport}, not for CoAP" },
  UNKNOWN_FEATURE: {
    kind: 'invalid',
    status: 400,
    text: 'There is no {name}: it is telemetry, attributes, rpc or claim',
  },
  UNKNOWN_PATH: { kind: 'invalid', status: 404, text: 'There is nothing here: paths begin with api/v1, fw or sw' },
  WRONG_METHOD: { kind: 'invalid', status: 405, text: 'This is for {allowed}' },
  NOT_READABLE: { kind: 'invalid', status: 400, text: '{name} can not be read, only sent' },
  NOT_OBSERVED: { kind: 'invalid', status: 400, text: 'Calls are observed: send Observe 0' },
  BAD_PARAMETER: { kind: 'invalid', status: 400, text: "'{name}' is not a number: {value}" },
  NO_ATTRIBUTES: { kind: 'invalid', status: 404, text: 'The device has none of these attributes' },
  ANSWER_NOT_OBJECT: { kind: 'invalid', status: 400, text: 'An answer to a call is a JSON object' },
  CALL_INCOMPLETE: { kind: 'invalid', status: 400, text: "A call needs 'method' and 'params'" },
  CALL_UNANSWERED: { kind: 'retryable', status: 504, text: 'No rule chain answered in time' },
})
