/**
 * Where this server answers otherwise than the recorded one, on purpose, and what it answers there: path by path. The replay fails
 * for a difference that is not listed, for a listed one that is none any more, and for more than {@link MAX_DIFFERENCES} cases.
 */
import type { DeliberateDifference } from './golden-answers.ts'

export const MAX_DIFFERENCES = 16

const NO_CONNECTIONS: DeliberateDifference = {
  reason: 'no connections to other chains are an empty list: the official Python client refuses null',
  answers: { 'body.ruleChainConnections': [] },
}

/** The recorded server answers with the text of a Java exception. */
function badJsonOfDevice(message: string): DeliberateDifference {
  return {
    reason: 'a body that is no JSON object is the mistake of the device: 400 with a reason, not 500',
    answers: {
      status: 400,
      'headers.content-type': 'application/json',
      body: { message, errorCode: 31, status: 400, timestamp: '<now>' },
    },
  }
}

export const DELIBERATE_DIFFERENCES: Readonly<Record<string, DeliberateDifference>> = {
  'device-create-bad-json-400': {
    reason: 'bad JSON is the mistake of the client: 400 with a reason, not 500 with the words of a Java parser',
    answers: {
      status: 400,
      'body.status': 400,
      'body.message': 'JSON parse error: Invalid JSON: Unexpected end of JSON input',
      'body.errorCode': 31,
    },
  },
  'devices-page-missing-size-400': {
    reason: 'a missing parameter is 400 and names the parameter, not 500 with the words of a Java method',
    answers: {
      status: 400,
      'body.status': 400,
      'body.message': "Required request parameter 'pageSize' is not present",
      'body.errorCode': 31,
    },
  },
  'telemetry-bad-json': badJsonOfDevice('Invalid JSON: Unexpected end of JSON input'),
  'telemetry-string': badJsonOfDevice('Can\'t parse value: "x"'),
  'provision-http-missing': {
    reason: 'a request without the key is the mistake of the device: 400, not 500',
    answers: { status: 400, 'headers.content-type': 'application/json', 'body.status': 400, 'body.errorCode': 31 },
  },
  'rpc-bad-body-400': {
    reason:
      'a call without a method is the mistake of the client: 400 with a reason, not 500 with the words of a Java exception',
    answers: {
      status: 400,
      'body.status': 400,
      'body.message': 'Invalid request body: method: Invalid input: expected string, received undefined',
      'body.errorCode': 31,
    },
  },
  'alarm-create-bad-severity-400': {
    reason: 'an unknown severity is the mistake of the client: 400 with what is allowed, not 500 with a Java class',
    answers: {
      status: 400,
      'body.status': 400,
      'body.message':
        'Invalid request body: severity: Invalid option: expected one of "CRITICAL"|"MAJOR"|"MINOR"|"WARNING"|"INDETERMINATE"',
      'body.errorCode': 31,
    },
  },
  'entity-query-bad-filter-400': {
    reason: 'an unknown filter is the mistake of the client: 400 with what is allowed, not 500 with a Java class',
    answers: {
      status: 400,
      'body.status': 400,
      'body.message':
        "Invalid request body: entityFilter.type: Invalid discriminator value. Expected 'singleEntity' | 'entityList' | 'entityName' | 'entityType' | 'assetType' | 'deviceType' | 'entityViewType' | 'edgeType' | 'apiUsageState' | 'relationsQuery' | 'assetSearchQuery' | 'deviceSearchQuery' | 'entityViewSearchQuery' | 'edgeSearchQuery'",
      'body.errorCode': 31,
    },
  },
  'history-agg-unknown-400': {
    reason: 'the message lists what is allowed instead of naming a Java class',
    answers: { 'body.message': "Invalid value 'MEDIAN' of parameter 'agg': one of MIN, MAX, AVG, SUM, COUNT, NONE" },
  },
  'attributes-get-bad-scope-400': {
    reason: 'the message lists what is allowed instead of naming Java classes',
    answers: {
      'body.message': "Invalid value 'NO_SCOPE' of parameter 'scope': one of CLIENT_SCOPE, SERVER_SCOPE, SHARED_SCOPE",
    },
  },
  'rulechains-page': {
    reason: 'the demo data has no second chain "Thermostat"',
    answers: { 'body.data.length': 1, 'body.totalElements': 1 },
  },
  'rulechain-metadata-root': NO_CONNECTIONS,
  'rulechain-metadata-save': NO_CONNECTIONS,
  'rulechain-metadata-get': NO_CONNECTIONS,
  'script-test-tbel-error': {
    reason: 'the place and the reason, in the words of this language, not of a Java library',
    answers: { 'body.error': 'line 1, column 14: null pointer: b of null' },
  },
  'script-test-tbel-syntax-error': {
    reason: 'the place and the reason, in the words of this language, not of a Java library',
    answers: { 'body.error': "line 1, column 10: unexpected ';'" },
  },
}
