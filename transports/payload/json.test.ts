import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { entriesJson } from '../../model/entry-json.ts'
import { FlatJsonReader } from './flat-json.ts'
import { JsonPayloadDecoder } from './json.ts'
import { DEFAULT_PAYLOAD_LIMITS } from './limits.ts'

const decoder = new JsonPayloadDecoder(DEFAULT_PAYLOAD_LIMITS)
/** A bound on texts that none reaches: the fast road is closed, all else is the same. */
const slow = new JsonPayloadDecoder({ ...DEFAULT_PAYLOAD_LIMITS, maxStringLength: 1_000_000_000 })
const reader = new FlatJsonReader()

function telemetry(text: string): unknown {
  return decoder.telemetry(Buffer.from(text)).map(({ ts, entries }) => ({ ts, entries }))
}

function outcome(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return (error as { code?: string }).code
  }
}

describe('telemetry payload', () => {
  const VALUES: readonly [string, string, unknown][] = [
    ['1', 'LONG', 1],
    ['-0', 'LONG', 0],
    ['1.0', 'DOUBLE', 1],
    ['1e3', 'LONG', 1000],
    ['1.5e3', 'LONG', 1500],
    ['1.5E-3', 'DOUBLE', 0.0015],
    ['22.5', 'DOUBLE', 22.5],
    ['9223372036854775807', 'LONG', 9223372036854775807n],
    ['9223372036854775808', 'STRING', '9223372036854775808'],
    ['0.12345678901234567', 'STRING', '0.12345678901234567'],
    ['-1.50e-20', 'STRING', '-0.0000000000000000000150'],
    ['12.5E-17', 'STRING', '0.000000000000000125'],
    ['1.5e400', 'STRING', `15${'0'.repeat(399)}`],
    ['1e-2000', 'LONG', 0],
    ['1e2000', 'STRING', '1e2000'],
    ['"12"', 'LONG', 12],
    ['"-5"', 'LONG', -5],
    ['"007"', 'LONG', 7],
    ['"1.50"', 'DOUBLE', 1.5],
    ['".5"', 'DOUBLE', 0.5],
    ['"-.5"', 'DOUBLE', -0.5],
    ['"1e5"', 'STRING', '1e5'],
    ['"+5"', 'STRING', '+5'],
    ['" 12"', 'STRING', ' 12'],
    ['"5."', 'STRING', '5.'],
    ['""', 'STRING', ''],
    ['"-"', 'STRING', '-'],
    ['"true"', 'STRING', 'true'],
    ['true', 'BOOLEAN', true],
    ['"é\\n"', 'STRING', 'é\n'],
    ['{"a":[1,null,{"b":null}]}', 'JSON', '{"a":[1,null,{}]}'],
    ['{"__proto__":{"x":1.0}}', 'JSON', '{"__proto__":{"x":1.0}}'],
    ['[1,2.0]', 'JSON', '[1,2.0]'],
  ]
  for (const [json, type, value] of VALUES) {
    it(`reads ${json} as ${type}`, () => {
      assert.deepEqual(telemetry(`{"k":${json}}`), [{ ts: undefined, entries: [{ key: 'k', type, value }] }])
    })
  }

  it('skips null members and lets the last of repeated keys win in the place of the first', () => {
    assert.deepEqual(telemetry('{"n":null,"a":1,"b":2,"a":3}'), [
      {
        ts: undefined,
        entries: [
          { key: 'a', type: 'LONG', value: 3 },
          { key: 'b', type: 'LONG', value: 2 },
        ],
      },
    ])
  })

  const TIMES: readonly [string, number][] = [
    ['1451649600512', 1451649600512],
    ['0', 0],
    ['-5', -5],
    ['12.9', 12],
    ['"17"', 17],
    ['1e12', 1e12],
    ['[9]', 9],
    ['3.0', 3],
  ]
  for (const [json, ts] of TIMES) {
    it(`takes the time ${json} as ${ts}`, () => {
      assert.deepEqual(telemetry(`{"ts":${json},"values":{"a":1},"other":2}`), [
        { ts, entries: [{ key: 'a', type: 'LONG', value: 1 }] },
      ])
    })
  }

  it('takes ts and values for keys where they are not both there', () => {
    assert.deepEqual(telemetry('{"ts":5,"a":1}'), [
      {
        ts: undefined,
        entries: [
          { key: 'ts', type: 'LONG', value: 5 },
          { key: 'a', type: 'LONG', value: 1 },
        ],
      },
    ])
    assert.deepEqual(telemetry('{"values":{"a":1}}'), [
      { ts: undefined, entries: [{ key: 'values', type: 'JSON', value: '{"a":1}' }] },
    ])
    assert.deepEqual(decoder.attributes(Buffer.from('{"ts":1,"values":{"a":1}}')), [
      { key: 'ts', type: 'LONG', value: 1 },
      { key: 'values', type: 'JSON', value: '{"a":1}' },
    ])
  })

  it('keeps the elements of an array in order, and an empty one is nothing', () => {
    assert.deepEqual(telemetry('[{"a":1},{"ts":1,"values":{"b":2}},{}]'), [
      { ts: undefined, entries: [{ key: 'a', type: 'LONG', value: 1 }] },
      { ts: 1, entries: [{ key: 'b', type: 'LONG', value: 2 }] },
      { ts: undefined, entries: [] },
    ])
    assert.deepEqual(telemetry('[]'), [])
  })

  const BAD: readonly [Buffer | string, string][] = [
    ['', 'payload.EMPTY'],
    ['  \n', 'payload.EMPTY'],
    ['5', 'payload.WRONG_SHAPE'],
    ['null', 'payload.WRONG_SHAPE'],
    ['[1]', 'payload.WRONG_SHAPE'],
    ['[[{"a":1}]]', 'payload.WRONG_SHAPE'],
    ['{"ts":1,"values":5}', 'payload.WRONG_SHAPE'],
    ['{"ts":null,"values":{}}', 'payload.BAD_TIME'],
    ['{"ts":"1e12","values":{}}', 'payload.BAD_TIME'],
    ['{"ts":99999999999999999999,"values":{}}', 'payload.BAD_TIME'],
    ['{"ts":true,"values":{}}', 'payload.BAD_TIME'],
    ['{"a":1,}', 'json.JSON_INVALID'],
    ['{"a":1}x', 'json.JSON_INVALID'],
    ['[{"a":1}', 'json.JSON_INVALID'],
    [`${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`, 'json.JSON_TOO_DEEP'],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'payload.NOT_TEXT'],
    [`{"${'k'.repeat(2000)}":1}`, 'payload.KEY_TOO_LONG'],
  ]
  for (const [body, code] of BAD) {
    it(`refuses ${JSON.stringify(body.toString().slice(0, 30))} as ${code}`, () => {
      const bytes = Buffer.from(body)
      assert.equal(
        outcome(() => decoder.telemetry(bytes)),
        code,
      )
    })
  }

  it('bounds the number of values and the length of texts', () => {
    const strict = new JsonPayloadDecoder({ maxEntries: 3, maxKeyLength: 5, maxStringLength: 4, castStrings: true })
    const refused = (text: string) => outcome(() => strict.telemetry(Buffer.from(text)))
    assert.equal(refused('[{"a":1,"b":2},{"a":1,"b":2}]'), 'payload.TOO_MANY_ENTRIES')
    assert.equal(refused('{"a":1,"b":2,"c":3,"d":4}'), 'payload.TOO_MANY_ENTRIES')
    assert.equal(refused('[{},{},{},{}]'), 'payload.TOO_MANY_ENTRIES')
    assert.equal(refused('{"abcdef":1}'), 'payload.KEY_TOO_LONG')
    assert.equal(refused('{"a":"12345x"}'), 'payload.STRING_TOO_LONG')
    assert.equal(
      outcome(() => strict.attributes(Buffer.from('{"a":1,"b":2,"c":3,"d":4}'))),
      'payload.TOO_MANY_ENTRIES',
    )
  })

  it('leaves texts alone where casting is off', () => {
    const plain = new JsonPayloadDecoder({ ...DEFAULT_PAYLOAD_LIMITS, castStrings: false })
    assert.deepEqual(plain.telemetry(Buffer.from('{"a":"12"}'))[0]?.entries, [
      { key: 'a', type: 'STRING', value: '12' },
    ])
  })
})

describe('fast road', () => {
  const blank = fc.constantFrom('', '', '', ' ', '\n\t')
  const key = fc.oneof(
    { arbitrary: fc.stringMatching(/^[a-z]{3,12}$/), weight: 8 },
    fc.constantFrom('temperature', 'ts', 'values', 'a', 'b', '__proto__', 'constructor'),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
  )
  const number = fc.oneof(
    fc.integer().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.tuple(fc.integer({ min: -99999, max: 99999 }), fc.nat(999999)).map(([whole, part]) => `${whole}.${part}`),
    fc.constantFrom('-0', '0.0', '-0.0', '2.50', '1e7', '10000000.5', '0.0001', '123456789012345', '1234567890123456'),
  )
  // Mostly what is well formed: one odd value is enough for the slow road.
  const scalar = fc.oneof(
    { arbitrary: number, weight: 8 },
    fc.constantFrom('true', 'false', 'null', 'tru', '"12"', '".5"', '"x y"', '01', '1.', '{}', '[1]'),
    fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  )
  const flat = fc
    .tuple(fc.array(fc.tuple(key, scalar), { maxLength: 8 }), blank, blank)
    .map(([members, before, between]) => {
      const body = members
        .map(([name, value]) => `${JSON.stringify(name)}${before}:${between}${value}`)
        .join(`${between},`)
      return `${before}{${body}}${between}`
    })
  const timed = fc
    .tuple(fc.oneof(fc.integer().map(String), scalar), flat, fc.boolean())
    .map(([ts, values, first]) => (first ? `{"ts":${ts},"values":${values}}` : `{"values":${values},"ts":${ts}}`))

  it('never differs from the slow road, for generated payloads', () => {
    let fast = 0
    const seed = Date.now() | 0
    fc.assert(
      fc.property(fc.oneof(flat, timed), (text) => {
        const bytes = Buffer.from(text)
        const group = reader.read(bytes, true)
        if (group === undefined) return
        fast++
        const { json, ...rest } = group
        assert.deepEqual([rest], slow.telemetry(bytes), text)
        if (json !== undefined) assert.equal(json, entriesJson(group.entries))
      }),
      { numRuns: 5000, seed },
    )
    assert.ok(fast > 500, `only ${fast} of 5000 took the fast road (seed ${seed})`)
  })

  it('is taken by what devices send, with the text at hand', () => {
    for (const text of ['{"temperature":21.5,"humidity":40,"on":true,"note":"hi"}', '{"t":-40,"d":2.0}']) {
      assert.equal(reader.read(Buffer.from(text), true)?.json, text)
    }
    assert.deepEqual(reader.read(Buffer.from(' {"ts":5, "values":{"a":1}}'), true), {
      ts: 5,
      entries: [{ key: 'a', type: 'LONG', value: 1 }],
      json: '{"a":1}',
    })
  })
})

describe('attribute request', () => {
  const REQUESTS: readonly [string, unknown][] = [
    ['{}', { clientKeys: 'all', sharedKeys: 'all' }],
    ['{"clientKeys":",","sharedKeys":","}', { clientKeys: 'all', sharedKeys: 'all' }],
    ['{"clientKeys":""}', { clientKeys: [''], sharedKeys: undefined }],
    ['{"clientKeys":",","sharedKeys":""}', { clientKeys: undefined, sharedKeys: [''] }],
    ['{"clientKeys":",","sharedKeys":"c"}', { clientKeys: undefined, sharedKeys: ['c'] }],
    ['{"clientKeys":"a,b"}', { clientKeys: ['a', 'b'], sharedKeys: undefined }],
    ['{"sharedKeys":"c"}', { clientKeys: undefined, sharedKeys: ['c'] }],
    ['[{"clientKeys":"a"}]', { clientKeys: ['a'], sharedKeys: undefined }],
    ['{"clientKeys":["a,b"]}', { clientKeys: ['a', 'b'], sharedKeys: undefined }],
    ['{"clientKeys":["a","b"]}', 'payload.WRONG_SHAPE'],
    ['', 'payload.EMPTY'],
    ['null', 'payload.WRONG_SHAPE'],
    ['"x"', 'payload.WRONG_SHAPE'],
    ['{"clientKeys":5}', 'payload.WRONG_SHAPE'],
  ]
  for (const [text, expected] of REQUESTS) {
    it(`reads ${JSON.stringify(text)}`, () => {
      assert.deepEqual(
        outcome(() => decoder.attributeRequest(Buffer.from(text))),
        expected,
      )
    })
  }
})
