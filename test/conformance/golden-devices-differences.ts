/**
 * Where this server does otherwise than the recorded cases of devices, path by path, and what is not built yet. The replay fails for a
 * difference that is not listed, and for a listed one that is none any more.
 */
import type { DeliberateDifference } from './golden-answers.ts'

/** Of the answers of all cases. */
export const MAX_SHARE = 0.05

const INVALID = 'what the sender must mend is no fault of the server'
const LIMITS = 'MQTT 5 clients are told the limits of the server in the CONNACK'
const ANYTHING = '<any>'
const BAD_REQUEST = { status: 400, contentType: 'application/json', body: ANYTHING }
const FAILED_PROVISIONING = { status: 200, contentType: 'text/plain', body: ANYTHING }

/** Case to what this server does at paths of its expectation, such as `0.code`. */
export const DEVICE_DIFFERENCES: Readonly<Record<string, DeliberateDifference>> = {
  'coap-client-rpc-bad': { reason: INVALID, answers: { '0.code': '4.00', '1.code': '4.00' } },
  'coap-on-mqtt-profile': { reason: 'trying again does not help', answers: { '0.code': '4.03' } },
  'coap-rpc-answer-empty': { reason: INVALID, answers: { '0.code': '4.00' } },
  'coap-telemetry-empty-token': {
    reason: 'an empty token is no token, and every request is answered',
    answers: { '0': { type: 'ACK|CON', code: '4.01' } },
  },
  'http-claim-bad-json': { reason: INVALID, answers: { '0': BAD_REQUEST } },
  'http-client-rpc-bad': { reason: INVALID, answers: { '0': BAD_REQUEST, '1': BAD_REQUEST } },
  'http-provision-bad-type': { reason: INVALID, answers: { '0': BAD_REQUEST, '1': FAILED_PROVISIONING } },
  'mqtt-qos2': {
    reason: 'QoS 2 is answered as the protocol has it',
    answers: { '1': [{ pubrec: true }, { pubcomp: true }] },
  },
  'mqtt-custom-subscribe-topic': {
    reason: 'changes come on the topic that was subscribed to',
    answers: { '3.0.topic': 'plant/down', '5.0.topic': 'plant/down' },
  },
  'mqtt5-qos2': {
    reason: 'QoS 2 is answered as the protocol has it; the limits of the server are told',
    answers: { '0.properties': ANYTHING, '1': [{ pubrec: 0 }, { pubcomp: 0 }] },
  },
  'mqtt-session-present': { reason: 'nothing is kept of a session', answers: { '0.sessionPresent': false } },
  'mqtt-two-connections': {
    reason: 'the same client id takes over, as the protocol has it',
    answers: { '2': { none: true, closed: true } },
  },
  'mqtt5-publish-codes': { reason: LIMITS, answers: { '0.properties': ANYTHING } },
  'mqtt5-grants': { reason: LIMITS, answers: { '0.properties': ANYTHING } },
  'mqtt5-unsubscribe': { reason: LIMITS, answers: { '0.properties': ANYTHING } },
}

/** What is not built, to the cases that need it. The list only gets shorter: who builds it takes its lines out. */
const WANTING: Readonly<Record<string, readonly string[]>> = {}

/** Case to what it needs. */
export const NOT_BUILT: ReadonlyMap<string, string> = new Map(
  Object.entries(WANTING).flatMap(([what, cases]) => cases.map((name): [string, string] => [name, what])),
)
