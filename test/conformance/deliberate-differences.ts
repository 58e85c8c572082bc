/**
 * Where this server answers otherwise than the recorded one, on purpose. The replay fails for a difference that is not
 * listed, for a listed one that is none any more, and when there are more than {@link MAX_DIFFERENCES}.
 */
export const MAX_DIFFERENCES = 15

export const DELIBERATE_DIFFERENCES: Readonly<Record<string, string>> = {
  'auth-user': "the demo tenant's login is tenant@millrace.local, not the one of the recorded installation",
  'device-create-bad-json-400':
    "bad JSON is the client's mistake: 400 with a reason, not 500 with a Java parser's words",
  'devices-page-missing-size-400':
    "a missing parameter is 400 and names the parameter, not 500 with a Java method's words",
  'telemetry-bad-json': 'bad JSON from a device is 400, not 500 with a Java exception',
  'telemetry-string': 'a body that is no object is 400, not 500',
  'history-agg-unknown-400': 'the message lists what is allowed instead of naming a Java class',
  'attributes-get-bad-scope-400': 'the message lists what is allowed instead of naming Java classes',
  'rulechains-page': 'the demo data has no second chain "Thermostat"',
  'rulechain-metadata-root':
    'no connections to other chains are an empty list, not null, which the official Python client refuses',
  'rulechain-metadata-save': 'the same empty list',
  'rulechain-metadata-get': 'the same empty list',
}
