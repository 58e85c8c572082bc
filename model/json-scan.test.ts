import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMillraceError } from './errors.ts'
import { LongDecimal, MAX_JSON_DEPTH, WholeDouble, exactNumber, javaDouble, parseJson, stringifyJson } from './json.ts'
import type { JsonValue } from './json.ts'
import { seededRandom } from '../test/support/seeded-random.ts'

/** Every number read by the slow road. */
function slowly(text: string): JsonValue {
  const reviver = (_key: string, value: unknown, context: { source?: string }): unknown =>
    typeof value === 'number' && context.source !== undefined ? exactNumber(context.source, value) : value
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown) as JsonValue
}

const numbers = [
  '2',
  '-7',
  '0',
  '-0',
  '-0.0',
  '-0.5',
  '2.0',
  '2.50',
  '2.05',
  '20.00',
  '1e3',
  '2.5E1',
  '1e-3',
  '0.1',
  '10',
  '100.001',
]
const long = ['9007199254740991', '9007199254740993', '123456789012345.5', '0.12345678901234567', '1234567890123456.0']
const texts = [
  'a',
  'say \\"2.0\\"',
  'back\\\\',
  '\\\\\\"1e5',
  '2024-01-05T10:00:00.000Z',
  '[[[{{{',
  '\\u005f_proto__',
  '__proto__',
  '',
]

test('the fast road is taken only where it reads the same as the slow one', () => {
  const values = [...numbers, ...long, ...texts.map((text) => `"${text}"`), 'true', 'null', '[]', '{}']
  for (const first of values) {
    for (const second of values) {
      for (const text of [`[${first},${second}]`, `{"${texts[1]}":${first}, "b" : [ ${second} ]}`]) {
        assert.deepEqual(parseJson(text), slowly(text), text)
      }
    }
  }
})

test('any text is read as by the slow road, with its blanks, escapes and repeated keys', () => {
  const random = seededRandom()
  const blank = (): string => random.pick(['', '', ' ', '\n\t', '\r\n  '])
  const text = (depth: number): string => {
    const kind = random.between(0, depth > 4 ? 3 : 6)
    const size = random.between(0, 4)
    const around = (value: string): string => blank() + value + blank()
    const name = (): string => around(`"${random.pick(texts)}"`)
    if (kind > 4) return `{${around(Array.from({ length: size }, () => `${name()}:${text(depth + 1)}`).join(','))}}`
    if (kind > 3) return `[${around(Array.from({ length: size }, () => text(depth + 1)).join(','))}]`
    return around(random.pick([...numbers, ...long, `"${random.pick(texts)}"`, 'true', 'false', 'null']))
  }
  for (let round = 0; round < 5000; round++) {
    const made = text(0)
    assert.deepEqual(parseJson(made), slowly(made), `SEED=${random.seed} ${made}`)
  }
})

test('what is kept of a text does not keep all of it in memory', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heap = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const first = (list: JsonValue): JsonValue | undefined => (Array.isArray(list) ? list[0] : undefined)
  for (const value of ['0.12345678901234567', '"of more than twelve characters"']) {
    const before = heap()
    const kept = Array.from({ length: 200 }, (_, number) =>
      first(parseJson(Buffer.from(`[${value},1.0,"${String(number).padEnd(50_000, '-')}"]`).toString())),
    )
    const bytes = heap() - before
    assert.ok(bytes < 1_000_000, `${kept.length} of ${value}: ${bytes} bytes`)
  }
})

test('numbers keep what their text says', () => {
  assert.deepEqual(parseJson('[2,2.0,-0,-0.0,9007199254740993,0.12345678901234567]'), [
    2,
    new WholeDouble(2),
    0,
    new WholeDouble(-0),
    9007199254740993n,
    new LongDecimal('0.12345678901234567'),
  ])
  assert.equal(stringifyJson(parseJson('{"a":2.0,"b":9007199254740993}')), '{"a":2.0,"b":9007199254740993}')
})

test('brackets inside strings do not count as depth, brackets outside do', () => {
  const brackets = '['.repeat(MAX_JSON_DEPTH + 1)
  assert.deepEqual(parseJson(`{"text":"\\"${brackets}"}`), { text: `"${brackets}` })
  assert.ok(Array.isArray(parseJson('['.repeat(MAX_JSON_DEPTH) + ']'.repeat(MAX_JSON_DEPTH))))
  assert.throws(
    () => parseJson(brackets + ']'.repeat(MAX_JSON_DEPTH + 1)),
    (error) => isMillraceError(error) && error.code === 'json.JSON_TOO_DEEP',
  )
})

test('text that is no JSON is refused, wherever it breaks off', () => {
  const whole = '{"a":[1.0,"x\\"y",-0.5e3],"b":{"c":null}}'
  for (let length = 0; length < whole.length; length++) {
    assert.throws(() => parseJson(whole.slice(0, length)), isMillraceError, whole.slice(0, length))
  }
})

/** Every value by the slow road. */
function writtenSlowly(value: JsonValue): string {
  if (typeof value === 'number')
    return Number.isInteger(value)
      ? Math.abs(value) < 1e21
        ? String(value)
        : BigInt(value).toString()
      : javaDouble(value)
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof WholeDouble) return javaDouble(value.value)
  if (value instanceof LongDecimal) return value.text
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(writtenSlowly).join(',')}]`
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${writtenSlowly(member)}`).join(',')}}`
}

test('the fast road is taken only where it writes the same as the slow one', () => {
  const edges = [0, -0, 1, -7, 1e7, 1e7 + 0.5, 9_999_999.5, -0.001, 0.000_999, 1e-7, 1e20, 1e21, -1e22, 2 ** 53, 1 / 3]
  const others = [new WholeDouble(2), 7n, new LongDecimal('0.12345678901234567'), true, null, 'a"\u2028\ud800', '']
  const values: JsonValue[] = [...edges, ...others, [], {}]
  for (const first of values) {
    for (const second of values) {
      for (const value of [first, [first, second], { a: first, 'b"': { c: [second] } }, { toJSON: first, b: second }])
        assert.equal(stringifyJson(value), writtenSlowly(value))
    }
  }
  const holed: { a: JsonValue; b?: JsonValue } = { a: 1 }
  Object.assign(holed, { b: undefined })
  assert.equal(stringifyJson({ ...holed }), '{"a":1}')
  const named = parseJson('{"__proto__":2.0,"constructor":{"prototype":1}}')
  assert.equal(stringifyJson(named), '{"__proto__":2.0,"constructor":{"prototype":1}}')
})
