import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { attributesOf, telemetryOf } from './telemetry-body.ts'

const NOW = 1_700_000_000_000

describe('a telemetry body', () => {
  test('is a flat object, an object with a time, or an array of both', () => {
    assert.deepEqual(telemetryOf('{"a":1}', NOW, true), [{ ts: NOW, entries: [{ key: 'a', type: 'LONG', value: 1 }] }])
    assert.deepEqual(telemetryOf('[{"ts":-5,"values":{"a":2.0}},{"ts":7}]', NOW, true), [
      { ts: -5, entries: [{ key: 'a', type: 'DOUBLE', value: 2 }] },
      { ts: NOW, entries: [{ key: 'ts', type: 'LONG', value: 7 }] },
    ])
  })

  test('is read as leniently as what devices send', () => {
    assert.deepEqual(telemetryOf("{a: 1; 'b' = two}", NOW, true)[0]?.entries, [
      { key: 'a', type: 'LONG', value: 1 },
      { key: 'b', type: 'STRING', value: 'two' },
    ])
  })

  test('has its time as devices write theirs: a decimal is cut, digits may be text', () => {
    for (const ts of ['1700000000001.9', '1.700000000001e12', '1700000000001.0', '"1700000000001"', '[1700000000001]'])
      assert.equal(telemetryOf(`{"ts":${ts},"values":{"a":1}}`, NOW, true)[0]?.ts, NOW + 1, ts)
  })

  test('turns texts that are plain numbers into numbers only where that is on', () => {
    assert.deepEqual(telemetryOf('{"a":"12"}', NOW, true)[0]?.entries, [{ key: 'a', type: 'LONG', value: 12 }])
    assert.deepEqual(telemetryOf('{"a":"12"}', NOW, false)[0]?.entries, [{ key: 'a', type: 'STRING', value: '12' }])
  })

  test('is refused with the reason, whole', () => {
    const invalid = 'Unable to parse time series payload. Invalid JSON body: '
    const refusals: Readonly<Record<string, string>> = {
      '{': 'Unable to parse time series payload: Invalid JSON body!',
      '': 'Unable to parse time series payload: Invalid JSON body!',
      '"x"': `${invalid}Can't parse value: "x"`,
      word: `${invalid}Can't parse value: "word"`,
      '[1]': `${invalid}Can't parse value: 1`,
      '{"a":1,"b":null}': `${invalid}Can't parse value: null`,
      '{"ts":"x","values":{"a":1}}': `${invalid}ts must be a number of milliseconds`,
      '{"ts":"1e12","values":{"a":1}}': `${invalid}ts must be a number of milliseconds`,
      '{"ts":null,"values":{"a":1}}': `${invalid}ts must be a number of milliseconds`,
      '{"ts":1e300,"values":{"a":1}}': `${invalid}ts must be a number of milliseconds`,
      '{"ts":1,"values":[1]}': `${invalid}values must be an object`,
      '{}': 'No time series data found in request body!',
      '[]': 'No time series data found in request body!',
    }
    for (const [body, message] of Object.entries(refusals)) {
      assert.throws(() => telemetryOf(body, NOW, true), { status: 400, message }, body)
    }
  })
})

describe('an attributes body', () => {
  test('is one flat object', () => {
    assert.deepEqual(attributesOf('{"a":true,"b":{"c":1.0}}', true), [
      { key: 'a', type: 'BOOLEAN', value: true },
      { key: 'b', type: 'JSON', value: '{"c":1.0}' },
    ])
  })

  test('is refused with the reason, whole', () => {
    const refusals: Readonly<Record<string, string>> = {
      '{': 'Invalid JSON',
      word: 'Request is not a JSON object',
      '[1]': 'Request is not a JSON object',
      '2.0': 'Request is not a JSON object',
      '{}': 'No attributes data found in request body!',
      '{"a":null}': "Can't parse value: null",
    }
    for (const [body, message] of Object.entries(refusals)) {
      assert.throws(() => attributesOf(body, true), { status: 400, message }, body)
    }
  })
})
