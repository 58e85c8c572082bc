/** The formats of values on the examples of OMA LwM2M Core (1.0, 6.4; 1.1, 7.4), and on thousands of broken ones. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMillraceError } from '../../../model/errors.ts'
import { processorMs } from '../../../test/support/processor-time.ts'
import { plainText, rawOfPlainText, rawValueOf, tlvBytes, typedValue, type ResourceType } from '../values.ts'
import { decodeCbor, decodeSenmlCbor, encodeSenmlCbor } from './cbor.ts'
import { parseLinks } from './link-format.ts'
import { pathOf, pathText, type Path, type RawValue, type ValueRecord } from './records.ts'
import { decodeOmaJson, encodeOmaJson } from './oma-json.ts'
import { decodeSenmlJson, encodeSenmlJson } from './senml-json.ts'
import { decodeTlv, encodeTlv } from './tlv.ts'
import { MUTATIONS, mutationsOf } from '../../mutations.testkit.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

/** The device object, as the specification reads it. */
const DEVICE_TLV = hex(`
  c80014 4f70656e204d6f62696c6520416c6c69616e6365 c80116 4c69676874776569676874204d324d20436c69656e74
  c80209 333435303030313233 c303 312e30 8606 4100 01 4101 05 880708 42000ed8 42011388 8708 41007d 42010384
  c109 64 c10a 0f 830b 410000 c40d 5182428f c60e 2b30323a3030 c110 55`)

const DEVICE_TYPES: Readonly<Record<number, ResourceType>> = {
  ...{ 0: 'STRING', 1: 'STRING', 2: 'STRING', 3: 'STRING', 6: 'INTEGER', 7: 'INTEGER', 8: 'INTEGER' },
  ...{ 9: 'INTEGER', 10: 'INTEGER', 11: 'INTEGER', 13: 'TIME', 14: 'STRING', 16: 'STRING' },
}

const DEVICE_VALUES: Readonly<Record<string, unknown>> = {
  '/3/0/0': 'Open Mobile Alliance',
  '/3/0/1': 'Lightweight M2M Client',
  '/3/0/2': '345000123',
  '/3/0/3': '1.0',
  '/3/0/6/0': 1,
  '/3/0/6/1': 5,
  '/3/0/7/0': 3800,
  '/3/0/7/1': 5000,
  '/3/0/8/0': 125,
  '/3/0/8/1': 900,
  '/3/0/9': 100,
  '/3/0/10': 15,
  '/3/0/11/0': 0,
  '/3/0/13': 1_367_491_215_000,
  '/3/0/14': '+02:00',
  '/3/0/16': 'U',
}

const DEVICE_JSON = JSON.stringify([
  { bn: '/3/0/', n: '0', vs: 'Open Mobile Alliance' },
  { n: '1', vs: 'Lightweight M2M Client' },
  { n: '2', vs: '345000123' },
  { n: '3', vs: '1.0' },
  { n: '6/0', v: 1 },
  { n: '6/1', v: 5 },
  { n: '7/0', v: 3800 },
  { n: '7/1', v: 5000 },
  { n: '8/0', v: 125 },
  { n: '8/1', v: 900 },
  { n: '9', v: 100 },
  { n: '10', v: 15 },
  { n: '11/0', v: 0 },
  { n: '13', v: 1_367_491_215 },
  { n: '14', vs: '+02:00' },
  { n: '16', vs: 'U' },
])

/** `[{-2: "/3/0/", 0: "0", 3: "Open"}, {0: "9", 2: 100}, {0: "6/1", 2: -1}, {0: "1", 8: h'00ff'}, {0: "2", "vlo": "3:0"}]` */
const SENML_CBOR = hex(`
  85 a3 21 65 2f332f302f 00 61 30 03 64 4f70656e a2 00 61 39 02 18 64 a2 00 63 362f31 02 20
  a2 00 61 31 08 42 00ff a2 00 61 32 63 766c6f 63 333a30`)

const LINKS = '</>;rt="oma.lwm2m";ct="60 110 112 11542",</1/0>,</3/0>;ver=1.2,</5/0>;hb'

function shown(records: readonly ValueRecord[]): Record<string, unknown> {
  return Object.fromEntries(
    records.map(({ path, value }) => {
      const type = DEVICE_TYPES[path[2] ?? -1]
      assert.ok(type !== undefined)
      return [pathText(path), typedValue(type, value, path).value]
    }),
  )
}

/** What it can not read it refuses, in words. Returns how many of them it took. */
async function takes(samples: Iterable<Buffer>, decode: (bytes: Buffer) => unknown): Promise<number> {
  let taken = 0
  for (const sample of samples) {
    try {
      await decode(sample)
      taken++
    } catch (error) {
      assert.ok(isMillraceError(error) && error.kind === 'invalid', `${sample.toString('hex')}: ${String(error)}`)
    }
  }
  return taken
}

describe('TLV', () => {
  it('reads the device object of the specification', () => {
    assert.deepEqual(shown(decodeTlv(DEVICE_TLV, [3, 0])), DEVICE_VALUES)
  })

  it('reads it within its instance, asked for as an object', () => {
    const nested = Buffer.concat([hex('080079'), DEVICE_TLV])
    assert.equal(DEVICE_TLV.length, 0x79)
    assert.deepEqual(shown(decodeTlv(nested, [3])), DEVICE_VALUES)
    assert.deepEqual(shown(decodeTlv(nested, [3, 0])), DEVICE_VALUES)
    assert.deepEqual(shown(decodeTlv(DEVICE_TLV, [3])), DEVICE_VALUES)
  })

  it('reads one resource, and the instances of one', () => {
    assert.deepEqual(shown(decodeTlv(hex('c10964'), [3, 0, 9])), { '/3/0/9': 100 })
    assert.deepEqual(shown(decodeTlv(hex('8606 410001 410105'), [3, 0, 6])), { '/3/0/6/0': 1, '/3/0/6/1': 5 })
    assert.deepEqual(shown(decodeTlv(hex('410001 410105'), [3, 0, 6])), { '/3/0/6/0': 1, '/3/0/6/1': 5 })
  })

  it('writes what the specification writes', () => {
    const instances = new Map([
      [0, Buffer.of(1)],
      [1, Buffer.of(5)],
    ])
    const bytes = encodeTlv([
      { id: 9, value: Buffer.of(100) },
      { id: 6, value: instances },
    ])
    assert.deepEqual(bytes, hex('c10964 8606 410001 410105'))
  })

  it('writes wide ids and every width of a length', () => {
    for (const length of [0, 7, 8, 255, 256, 65_535, 65_536]) {
      const [record] = decodeTlv(encodeTlv([{ id: 4711, value: Buffer.alloc(length, 7) }]), [9, 0])
      assert.deepEqual(record, { path: [9, 0, 4711], value: { kind: 'encoded', bytes: Buffer.alloc(length, 7) } })
    }
  })

  it('refuses what is cut off, and values where none can stand', () => {
    for (const bytes of ['c10a', 'c8', 'e100', 'c3096400', '080103', '8602 c10964', '0802 4100'])
      assert.throws(() => decodeTlv(hex(bytes), [3, 0]), { code: 'lwm2m.BAD_PAYLOAD' }, bytes)
    assert.throws(() => decodeTlv(hex('c10964'), []), { code: 'lwm2m.BAD_PAYLOAD' })
  })

  it('refuses more values than a device has', () => {
    assert.throws(() => decodeTlv(Buffer.alloc(2 * 4097, hex('c001')), [3, 0]), { code: 'lwm2m.TOO_MANY_VALUES' })
  })

  it('survives what is broken', async () => {
    const taken = await takes(mutationsOf(DEVICE_TLV), (bytes) => decodeTlv(bytes, [3, 0]))
    assert.ok(taken > 0 && taken < MUTATIONS)
  })
})

describe('SenML', () => {
  it('reads the device object of the specification in JSON', () => {
    assert.deepEqual(shown(decodeSenmlJson(Buffer.from(DEVICE_JSON))), DEVICE_VALUES)
  })

  it('keeps every digit, and times', () => {
    const pack = '[{"bn":"/3/0/","bt":1700000000,"n":"9","v":9007199254740993},{"n":"10","t":-5,"v":2.0}]'
    assert.deepEqual(decodeSenmlJson(Buffer.from(pack)), [
      { path: [3, 0, 9], value: { kind: 'number', value: 9007199254740993n }, time: 1_700_000_000 },
      { path: [3, 0, 10], value: { kind: 'number', value: 2 }, time: 1_699_999_995 },
    ])
  })

  const values = [
    { path: [3, 0, 0], value: { kind: 'text', value: 'Öl' } },
    { path: [3, 0, 9], value: { kind: 'number', value: -5 } },
    { path: [3, 0, 6, 1], value: { kind: 'number', value: 2n ** 60n } },
    { path: [3303, 0, 5700], value: { kind: 'number', value: 22.5 } },
    { path: [4, 0, 1], value: { kind: 'boolean', value: true } },
    { path: [5, 0, 0], value: { kind: 'bytes', bytes: hex('00fffe3e') } },
    { path: [4, 0, 2], value: { kind: 'link', value: '3:0' } },
  ] satisfies { path: Path; value: RawValue }[]

  it('reads what it wrote in JSON', () => {
    assert.deepEqual(decodeSenmlJson(encodeSenmlJson(values)), values)
  })

  it('reads what it wrote in CBOR', async () => {
    assert.deepEqual(await decodeSenmlCbor(await encodeSenmlCbor(values)), values)
  })

  it('reads labels and base names in CBOR', async () => {
    assert.deepEqual(await decodeSenmlCbor(SENML_CBOR), [
      { path: [3, 0, 0], value: { kind: 'text', value: 'Open' } },
      { path: [3, 0, 9], value: { kind: 'number', value: 100 } },
      { path: [3, 0, 6, 1], value: { kind: 'number', value: -1 } },
      { path: [3, 0, 1], value: { kind: 'bytes', bytes: hex('00ff') } },
      { path: [3, 0, 2], value: { kind: 'link', value: '3:0' } },
    ])
  })

  it('refuses base values, which it would misread', () => {
    assert.throws(() => decodeSenmlJson(Buffer.from('[{"bn":"/3/0/9","bv":20,"v":1}]')), {
      code: 'lwm2m.BAD_PAYLOAD',
    })
  })

  it('refuses what it has to understand and does not', async () => {
    for (const member of ['"x_":1', '"bver":11', '"bver":"1"'])
      assert.throws(() => decodeSenmlJson(Buffer.from(`[{"n":"/3/0/9","v":1,${member}}]`)), {
        code: 'lwm2m.BAD_PAYLOAD',
      })
    assert.equal(decodeSenmlJson(Buffer.from('[{"n":"/3/0/9","v":1,"bver":10,"x":1}]')).length, 1)
    for (const member of ['62 785f 01', '20 0b'])
      await assert.rejects(decodeSenmlCbor(hex(`81 a3 00 66 2f332f302f39 02 01 ${member}`)), {
        code: 'lwm2m.BAD_PAYLOAD',
      })
    assert.equal((await decodeSenmlCbor(hex('81 a3 00 66 2f332f302f39 02 01 20 0a'))).length, 1)
  })

  it('refuses names that are no paths of values', () => {
    for (const name of ['', '/', '/3', '/3/0', '/3/0/x', '/3/0/70000', '/1/2/3/4/5'])
      assert.throws(() => decodeSenmlJson(Buffer.from(JSON.stringify([{ n: name, v: 1 }]))), name)
  })

  it('survives what is broken', async () => {
    const json = await takes(mutationsOf(Buffer.from(DEVICE_JSON)), decodeSenmlJson)
    const cbor = await takes(mutationsOf(SENML_CBOR), decodeSenmlCbor)
    assert.ok(json > 0 && json < MUTATIONS && cbor > 0 && cbor < MUTATIONS)
    const deep = Buffer.alloc(60_000, 0x81)
    assert.equal(await takes([deep, Buffer.from('['.repeat(60_000)), hex('9bffffffffffffffff')], decodeSenmlCbor), 0)
  })
})

describe('JSON of 1.0', () => {
  const device = {
    bn: '/3/0/',
    e: [
      ...[
        { n: '0', sv: 'Open Mobile Alliance' },
        { n: '1', sv: 'Lightweight M2M Client' },
        { n: '2', sv: '345000123' },
      ],
      ...[
        { n: '3', sv: '1.0' },
        { n: '6/0', v: 1 },
        { n: '6/1', v: 5 },
        { n: '7/0', v: 3800 },
        { n: '7/1', v: 5000 },
      ],
      ...[
        { n: '8/0', v: 125 },
        { n: '8/1', v: 900 },
        { n: '9', v: 100 },
        { n: '10', v: 15 },
        { n: '11/0', v: 0 },
      ],
      ...[
        { n: '13', v: 1_367_491_215 },
        { n: '14', sv: '+02:00' },
        { n: '16', sv: 'U' },
      ],
    ],
  }
  const read = (text: string, base: Path) => decodeOmaJson(Buffer.from(text), base)

  it('is read, the device object of the specification', () => {
    assert.deepEqual(shown(read(JSON.stringify(device), [3, 0])), DEVICE_VALUES)
    const { e } = device
    assert.deepEqual(shown(read(JSON.stringify({ e }), [3, 0])), DEVICE_VALUES, 'names below what was asked for')
    assert.deepEqual(shown(read(JSON.stringify({ bn: '/3/0', e }), [3])), DEVICE_VALUES, 'no slash between')
    assert.deepEqual(shown(read('{"bn":"/3/0/9","e":[{"v":100}]}', [3, 0, 9])), { '/3/0/9': 100 })
    assert.deepEqual(shown(read('{"e":[{"n":"","v":100}]}', [3, 0, 9])), { '/3/0/9': 100 })
  })

  it('keeps every digit, and times', () => {
    const text = '{"bn":"/3/0/","bt":1700000000,"e":[{"n":"9","v":9007199254740993},{"n":"10","t":-5,"v":2.0}]}'
    assert.deepEqual(read(text, []), [
      { path: [3, 0, 9], value: { kind: 'number', value: 9007199254740993n }, time: 1_700_000_000 },
      { path: [3, 0, 10], value: { kind: 'number', value: 2 }, time: 1_699_999_995 },
    ])
  })

  it('is read as it was written: opaque values are Base64', () => {
    const values: readonly (readonly [ResourceType, Path, RawValue, unknown])[] = [
      ['STRING', [3, 0, 0], { kind: 'text', value: 'AP/+' }, 'AP/+'],
      ['OPAQUE', [5, 0, 0], { kind: 'bytes', bytes: hex('00fffe') }, '00fffe'],
      ['BOOLEAN', [4, 0, 1], { kind: 'boolean', value: true }, true],
      ['OBJLNK', [4, 0, 2], { kind: 'link', value: '3:0' }, '3:0'],
      ['INTEGER', [3, 0, 6, 1], { kind: 'number', value: -5 }, -5],
    ]
    const written = encodeOmaJson(values.map(([, path, value]) => ({ path, value })))
    assert.match(
      written.toString(),
      /^\{"bn":"\/","e":\[\{"n":"3\/0\/0","sv":"AP\/\+"\},\{"n":"5\/0\/0","sv":"AP\/\+"\}/,
    )
    const back = decodeOmaJson(written, [])
    for (const [index, [type, path, , expected]] of values.entries()) {
      const { path: at, value } = back[index] ?? assert.fail()
      assert.deepEqual([at, typedValue(type, value, at).value], [path, expected])
    }
    const [{ value }] = read('{"e":[{"sv":"no Base64!"}]}', [5, 0, 0]) as [ValueRecord]
    assert.throws(() => typedValue('OPAQUE', value, [5, 0, 0]), { code: 'lwm2m.WRONG_VALUE' })
  })

  it('survives what is broken', async () => {
    const taken = await takes(mutationsOf(Buffer.from(JSON.stringify(device))), (bytes) => decodeOmaJson(bytes, [3, 0]))
    assert.ok(taken > 0 && taken < MUTATIONS)
    for (const wrong of ['[]', '{}', '{"e":[{"n":"x","v":1}]}', '{"e":[{"v":"1"}]}', '{'])
      assert.throws(() => read(wrong, [3, 0]), { code: 'lwm2m.BAD_PAYLOAD' }, wrong)
  })
})

describe('single values', () => {
  it('in CBOR', async () => {
    const read = async (bytes: string): Promise<unknown> => (await decodeCbor(hex(bytes), [3, 0, 9]))[0]?.value
    assert.deepEqual(await read('1864'), { kind: 'number', value: 100 })
    assert.deepEqual(await read('63 312e30'), { kind: 'text', value: '1.0' })
    assert.deepEqual(await read('42 0102'), { kind: 'bytes', bytes: hex('0102') })
    await assert.rejects(read('80'), { code: 'lwm2m.BAD_PAYLOAD' })
  })

  it('in CBOR, with a mark of what they are', async () => {
    const read = async (type: ResourceType, bytes: string): Promise<unknown> => {
      const [record] = await decodeCbor(hex(bytes), [3, 0, 13])
      return record === undefined ? undefined : typedValue(type, record.value, record.path).value
    }
    const date = Buffer.from('2013-05-02T10:40:15-00:00').toString('hex')
    assert.equal(await read('TIME', `c0 7819 ${date}`), 1_367_491_215_000)
    assert.equal(await read('TIME', `7819 ${date}`), 1_367_491_215_000)
    assert.equal(await read('TIME', 'c1 1a 5182428f'), 1_367_491_215_000)
    assert.equal(await read('FLOAT', 'c4 82 21 19 6ab3'), 273.15)
    assert.equal(await read('STRING', 'c0 61 61'), 'a')
    for (const wrong of ['c0 01', 'c1 61 61', 'c4 01', 'c4 83 01 01 01', 'c4 82 f9 3e00 01', 'd8 20 61 61', 'c1'])
      await assert.rejects(read('TIME', wrong), { code: 'lwm2m.BAD_PAYLOAD' }, wrong)
    for (const text of ['2013-05-02', '2013-13-02T10:40:15Z', 'today', '1367491215'])
      assert.throws(() => typedValue('TIME', { kind: 'text', value: text }, [3, 0, 13]), { code: 'lwm2m.WRONG_VALUE' })
  })

  const written: readonly [ResourceType, string, unknown, string][] = [
    ['STRING', 'Öl', 'Öl', 'c3966c'],
    ['INTEGER', '-129', -129, 'ff7f'],
    ['INTEGER', '+5', 5, '05'],
    ['INTEGER', '9007199254740993', 9007199254740993n, '0020000000000001'],
    ['UNSIGNED_INTEGER', '200', 200, 'c8'],
    ['FLOAT', '22.5', 22.5, '4036800000000000'],
    ['BOOLEAN', 'true', true, '01'],
    ['OPAQUE', '00AD', '00ad', '00ad'],
    ['TIME', '1367491215000', 1_367_491_215_000, '5182428f'],
    ['OBJLNK', '3:1', '3:1', '00030001'],
  ]

  it('are what was written, by TLV and by plain text', () => {
    for (const [type, text, expected, bytes] of written) {
      const raw = rawValueOf(type, text, [3, 0, 1])
      assert.equal(tlvBytes(type, raw).toString('hex'), bytes, type)
      const encoded: RawValue = { kind: 'encoded', bytes: tlvBytes(type, raw) }
      assert.equal(typedValue(type, encoded, [3, 0, 1]).value, expected, type)
      const plain = rawOfPlainText(type, plainText(raw), [3, 0, 1])
      assert.equal(typedValue(type, plain, [3, 0, 1]).value, expected, type)
    }
  })

  it('are refused where they are of another type', () => {
    const wrong: readonly [ResourceType, string][] = [
      ['INTEGER', '1.5'],
      ['INTEGER', '9223372036854775808'],
      ['UNSIGNED_INTEGER', '-1'],
      ['FLOAT', ''],
      ['FLOAT', 'Infinity'],
      ['FLOAT', '0x10'],
      ['FLOAT', '1e'],
      ['FLOAT', '.'],
      ['BOOLEAN', 'yes'],
      ['OPAQUE', '0'],
      ['OPAQUE', 'xy'],
      ['OBJLNK', '3:70000'],
    ]
    for (const [type, text] of wrong)
      assert.throws(() => rawValueOf(type, text, [3, 0, 1]), { code: 'lwm2m.WRONG_VALUE' }, `${type} ${text}`)
    for (const type of ['INTEGER', 'FLOAT', 'BOOLEAN', 'OBJLNK', 'TIME'] as const)
      assert.throws(() => typedValue(type, { kind: 'encoded', bytes: Buffer.alloc(3) }, [1]), type)
  })
})

it('a long text that is no number takes no time', () => {
  const began = processorMs()
  for (const text of [`${'1'.repeat(65_535)}x`, `1.${'1'.repeat(65_530)}x`, `1e${'1'.repeat(65_530)}x`])
    assert.throws(() => rawOfPlainText('FLOAT', text, [3303, 0, 5700]), { code: 'lwm2m.WRONG_VALUE' })
  assert.ok(processorMs() - began < 1000)
})

describe('numbers that nothing can store', () => {
  it('are refused, not cut', () => {
    const wide: readonly [ResourceType, RawValue][] = [
      ['INTEGER', { kind: 'number', value: 2n ** 63n }],
      ['INTEGER', { kind: 'number', value: 1.5 }],
      ['INTEGER', { kind: 'number', value: Number.NaN }],
      ['UNSIGNED_INTEGER', { kind: 'encoded', bytes: hex('8000000000000000') }],
      ['UNSIGNED_INTEGER', { kind: 'number', value: -1 }],
      ['TIME', { kind: 'number', value: 2n ** 62n }],
      ['FLOAT', { kind: 'number', value: Number.POSITIVE_INFINITY }],
      ['FLOAT', { kind: 'encoded', bytes: hex('7ff8000000000000') }],
    ]
    for (const [type, raw] of wide)
      assert.throws(() => typedValue(type, raw, [3, 0, 1]), { code: 'lwm2m.WRONG_VALUE' }, type)
  })
})

describe('links', () => {
  it('reads those of a registration', () => {
    const shownLinks = parseLinks(LINKS).map(({ target, parameters }) => [target, Object.fromEntries(parameters)])
    assert.deepEqual(shownLinks, [
      ['/', { rt: 'oma.lwm2m', ct: '60 110 112 11542' }],
      ['/1/0', {}],
      ['/3/0', { ver: '1.2' }],
      ['/5/0', { hb: '' }],
    ])
    assert.deepEqual(parseLinks(' '), [])
  })

  it('takes commas and semicolons within quotes for what they are', () => {
    assert.equal(parseLinks('</a>;t="x,y;\\"z\\""')[0]?.parameters.get('t'), 'x,y;"z"')
  })

  it('refuses what is none', () => {
    for (const text of ['x', '</a', '</a>,', '</a>;', '</a> </b>', '</a>;t="x', ',</a>'])
      assert.throws(() => parseLinks(text), { code: 'lwm2m.BAD_PAYLOAD' }, text)
  })

  it('survives what is broken, and takes time by its length', async () => {
    const taken = await takes(mutationsOf(Buffer.from(LINKS)), (bytes) => parseLinks(bytes.toString('latin1')))
    assert.ok(taken > 0 && taken < MUTATIONS)
    const long = [
      '</a>;t="' + '\\'.repeat(60_000),
      '<'.repeat(60_000),
      '</a>;a=' + ';a='.repeat(20_000),
      '</a>,'.repeat(12_000),
    ]
    const startedAt = processorMs()
    await takes(
      long.map((text) => Buffer.from(text)),
      (bytes) => parseLinks(bytes.toString('latin1')),
    )
    assert.ok(processorMs() - startedAt < 3000)
  })
})

it('paths are read back, and nothing else is one', () => {
  assert.deepEqual(pathOf('/3/0/9'), [3, 0, 9])
  assert.deepEqual(pathOf('3/0'), [3, 0])
  assert.deepEqual(pathOf('/'), [])
  for (const text of ['//', '/3/', '/-1', '/3/0/9/1/2', '/65536', '/ 3']) assert.equal(pathOf(text), undefined, text)
})
