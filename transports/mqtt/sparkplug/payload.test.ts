import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMillraceError } from '../../../model/errors.ts'
import { parseJson } from '../../../model/json.ts'
import { DEFAULT_PAYLOAD_LIMITS } from '../../payload/limits.ts'
import { TenantShares } from '../../tenant-shares.ts'
import { MUTATIONS, watchCost } from '../../mutations.testkit.ts'
import { deviceNamed } from '../../testkit.ts'
import { Births } from './births.ts'
import { encodeCommand, SparkplugDecoder } from './payload.ts'
import { resolved } from './stored.ts'
import { payloadBytes, readPayload, type SentMetric, type SentPayload } from './testkit.ts'
import { parseTopic } from './topics.ts'
import { commandValue, storedValue } from './values.ts'

function seeded(start: number): (below: number) => number {
  let seed = start
  return (below) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
}

const decoder = new SparkplugDecoder(DEFAULT_PAYLOAD_LIMITS)

function storedOf(metric: SentMetric): unknown {
  const [decoded] = decoder.decode(payloadBytes({ metrics: [metric] })).metrics
  return decoded === undefined ? undefined : storedValue(decoded.datatype, decoded.value)
}

describe('values of metrics', () => {
  const long = (value: number | bigint) => ({ type: 'LONG', value })
  const cases: [string, SentMetric, unknown][] = [
    ['Int8 of eight bits', { datatype: 1, int_value: 0x80 }, long(-128)],
    ['Int8 of 32 bits', { datatype: 1, int_value: 0xffff_ff80 }, long(-128)],
    ['Int16', { datatype: 2, int_value: 0xffff }, long(-1)],
    ['Int32', { datatype: 3, int_value: 0x8000_0000 }, long(-(2 ** 31))],
    ['Int64', { datatype: 4, long_value: '18446744073709551615' }, long(-1)],
    ['Int64 in the small field', { datatype: 4, int_value: 5 }, long(5)],
    ['UInt8', { datatype: 5, int_value: 255 }, long(255)],
    ['UInt16', { datatype: 6, int_value: 65_535 }, long(65_535)],
    ['UInt32', { datatype: 7, int_value: 4_294_967_295 }, long(4_294_967_295)],
    ['UInt32 in the large field', { datatype: 7, long_value: 4_294_967_295 }, long(4_294_967_295)],
    ['UInt64', { datatype: 8, long_value: '9223372036854775807' }, long(2n ** 63n - 1n)],
    ['UInt64 beyond a LONG', { datatype: 8, long_value: '9223372036854775808' }, { type: 'DOUBLE', value: 2 ** 63 }],
    ['Float', { datatype: 9, float_value: 1.5 }, { type: 'DOUBLE', value: 1.5 }],
    ['Double', { datatype: 10, double_value: 0.1 }, { type: 'DOUBLE', value: 0.1 }],
    ['Double that is none', { datatype: 10, double_value: NaN }, undefined],
    ['Boolean', { datatype: 11, boolean_value: true }, { type: 'BOOLEAN', value: true }],
    ['String', { datatype: 12, string_value: 'a' }, { type: 'STRING', value: 'a' }],
    ['DateTime', { datatype: 13, long_value: 1_700_000_000_000 }, long(1_700_000_000_000)],
    ['Text', { datatype: 14, string_value: '12' }, { type: 'STRING', value: '12' }],
    ['UUID', { datatype: 15, string_value: 'u' }, { type: 'STRING', value: 'u' }],
    ['DataSet', { datatype: 16, dataset_value: { num_of_columns: 1, columns: ['a'], types: [3] } }, undefined],
    ['Bytes', { datatype: 17, bytes_value: Buffer.from([1, 255]) }, { type: 'JSON', value: '[1,-1]' }],
    ['File', { datatype: 18, bytes_value: Buffer.from([1]) }, undefined],
    ['an array', { datatype: 22, bytes_value: Buffer.from([1]) }, undefined],
    ['null', { datatype: 3, int_value: 1, is_null: true }, undefined],
    ['no value', { datatype: 3 }, undefined],
    ['a value of another type', { datatype: 3, string_value: 'a' }, undefined],
    ['no datatype', { int_value: 1 }, undefined],
  ]
  for (const [name, metric, value] of cases) {
    it(`${name} is stored as ${JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each))}`, () =>
      assert.deepEqual(storedOf({ name: 'm', ...metric }), value))
  }

  const commands: [number, string, unknown][] = [
    [1, '-128', { int_value: 0xffff_ff80 }],
    [1, '128', undefined],
    [3, '2.0', { int_value: 2 }],
    [3, '2.5', undefined],
    [3, '"-7"', { int_value: 0xffff_fff9 }],
    [3, 'true', { int_value: 1 }],
    [3, '"seven"', undefined],
    [3, '[1]', undefined],
    [4, '-9223372036854775808', { long_value: -(2 ** 63) }],
    [5, '-1', undefined],
    [7, '4294967295', { int_value: 4_294_967_295 }],
    [8, '"18446744073709551615"', { long_value: 2 ** 64 }],
    [8, '18446744073709551616', undefined],
    [9, '"1.5"', { float_value: 1.5 }],
    [10, 'false', { double_value: 0 }],
    [10, '"1e999"', undefined],
    [11, '"TRUE"', { boolean_value: true }],
    [11, '0', { boolean_value: false }],
    [11, '"maybe"', undefined],
    [12, '5', { string_value: '5' }],
    [12, '{"a":1}', { string_value: '{"a":1}' }],
    [12, 'null', undefined],
    [13, '1700000000000', { long_value: 1_700_000_000_000 }],
    [17, '[1,-1,255]', { bytes_value: Buffer.from([1, 255, 255]) }],
    [17, '[256]', undefined],
    [16, '{}', undefined],
  ]
  for (const [datatype, json, sent] of commands) {
    it(`a command of datatype ${datatype} takes ${json}${sent === undefined ? ' not' : ''}`, () => {
      const value = commandValue(datatype, parseJson(json), undefined)
      if (value === undefined) return assert.equal(sent, undefined)
      const bytes = encodeCommand([{ name: 'm', alias: undefined, datatype, value }], 5)
      const [read] = readPayload(bytes) as [Record<string, unknown>]
      const { long_value: asLong } = read
      // The library reads what has a sign as if it had none.
      const isNegative = datatype === 4 && typeof asLong === 'number'
      const shown = isNegative ? { ...read, long_value: -(2 ** 64 - asLong) } : read
      assert.deepEqual(shown, { name: 'm', datatype, ...(sent as object) })
    })
  }

  it('a command stands in the field in which its metric was born', () => {
    assert.deepEqual(commandValue(7, 5, 11), { field: 11, value: 5n })
    assert.deepEqual(commandValue(1, 5, 11), { field: 10, value: 5n })
  })
})

describe('topics of Sparkplug', () => {
  it('are those of nodes and devices, with the prefix of certificates or without', () => {
    const node = { group: 'g', node: 'n', device: undefined }
    assert.deepEqual(parseTopic('spBv1.0/g/NBIRTH/n'), { ...node, type: 'NBIRTH' })
    assert.deepEqual(parseTopic('$sparkplug/certificates/spBv1.0/g/NBIRTH/n'), { ...node, type: 'NBIRTH' })
    assert.deepEqual(parseTopic('spBv1.0/g/DDATA/n/d'), { ...node, type: 'DDATA', device: 'd' })
    const wrong = [
      'g/NBIRTH/n/d',
      'g/DDATA/n',
      'g/STATE/n',
      'g/nbirth/n',
      'g//n',
      '/NBIRTH/n',
      'g/DDATA/n/d/e',
      'g/DDATA/n/',
    ]
    for (const topic of wrong) assert.equal(parseTopic(`spBv1.0/${topic}`), undefined, topic)
    assert.equal(parseTopic('spAv1.0/g/NBIRTH/n'), undefined)
  })
})

describe('messages of Sparkplug', () => {
  it('have bounds: metrics, lengths of names and texts, times', () => {
    const strict = new SparkplugDecoder({
      ...DEFAULT_PAYLOAD_LIMITS,
      maxEntries: 2,
      maxKeyLength: 3,
      maxStringLength: 2,
    })
    const code = (payload: SentPayload) => {
      try {
        strict.decode(payloadBytes(payload))
        return undefined
      } catch (error) {
        return isMillraceError(error) ? error.code : error
      }
    }
    assert.equal(code({ metrics: [{ name: 'abc', string_value: 'ab' }, {}] }), undefined)
    assert.equal(code({ metrics: [{}, {}, {}] }), 'payload.TOO_MANY_ENTRIES')
    assert.equal(code({ metrics: [{ name: 'abcd' }] }), 'payload.KEY_TOO_LONG')
    assert.equal(code({ metrics: [{ name: 'a', string_value: 'abc' }] }), 'payload.STRING_TOO_LONG')
    assert.equal(code({ timestamp: 8.64e15 + 2 }), 'payload.BAD_TIME')
  })

  it(`that are mutated are read or refused, ${MUTATIONS} of them, and keep the count of births`, () => {
    const room = new TenantShares(1 << 20, 1 << 20)
    const births = new Births(room, 'tenant', 20_000)
    const samples = [
      { timestamp: 5, seq: 1, metrics: [{ name: 'a', alias: 1, datatype: 3, int_value: 7, timestamp: 9 }] },
      {
        seq: 255,
        metrics: [
          { alias: 1, datatype: 17, bytes_value: Buffer.from([1, 2, 3]) },
          { name: 'b', datatype: 12, string_value: 'text' },
        ],
      },
      {
        metrics: [
          { name: 'c', datatype: 16, dataset_value: { columns: ['x'], types: [1] } },
          { name: 'd', datatype: 10, double_value: 2 },
        ],
      },
      {
        timestamp: 7,
        metrics: [
          { name: 'bdSeq', datatype: 4, long_value: 300 },
          { name: 'e', datatype: 9, float_value: 3, is_null: true },
        ],
      },
    ].map(payloadBytes)
    const seed = Number(process.env['SEED'] ?? 5)
    const random = seeded(seed)
    const types = ['NBIRTH', 'DBIRTH', 'NDATA', 'DDATA'] as const
    let read = 0
    const endCost = watchCost()
    for (let round = 0; round < MUTATIONS; round++) {
      const bytes = Buffer.from(samples[random(samples.length)] ?? '')
      const changes = 1 + random(4)
      for (let change = 0; change < changes; change++) bytes[random(bytes.length)] = random(256)
      const body = random(4) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes
      const type = types[random(types.length)] ?? 'NDATA'
      const owner = type.startsWith('D') ? `d${random(3)}` : undefined
      try {
        const payload = decoder.decode(body)
        if (type.endsWith('BIRTH')) births.born(owner, payload.metrics)
        for (const { entries } of resolved(payload, type, owner, births, deviceNamed('one')).groups)
          assert.equal(entries.length, 1)
        read++
      } catch (error) {
        const isRefused = isMillraceError(error) && (error.kind === 'invalid' || error.kind === 'denied')
        assert.ok(isRefused, `round ${round}, SEED=${seed}, ${body.toString('hex')}: ${String(error)}`)
      }
    }
    endCost()
    assert.ok(read > MUTATIONS / 10, `${read} were read`)
    births.forgetAll()
    assert.equal(room.size, 0)
  })
})
