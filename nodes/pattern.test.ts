import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringifyJson } from '../model/json.ts'
import { jsonPattern, pattern, patterns } from './pattern.ts'
import { testMessage } from './testkit.ts'

const given = (data: unknown, metadata: Record<string, string> = {}) =>
  testMessage({ data: typeof data === 'string' ? data : JSON.stringify(data), metadata })

const CASES: readonly (readonly [
  title: string,
  text: string,
  data: unknown,
  metadata: Record<string, string>,
  string,
])[] = [
  ['metadata and data go in', '${k}/$[d]', { d: 5 }, { k: 'v' }, 'v/5'],
  [
    'what is not there stays as written',
    '${none}/$[none]/$[none.x]',
    { d: 5 },
    { k: 'v' },
    '${none}/$[none]/$[none.x]',
  ],
  ['every place is filled', '${k}${k}-$[d]$[d]', { d: 5 }, { k: 'v' }, 'vv-55'],
  ['a metadata key may hold dots', '${a.b}', {}, { 'a.b': 'x' }, 'x'],
  ['a path walks objects', '$[a.b.c]', { a: { b: { c: 'deep' } } }, {}, 'deep'],
  ['a key that holds a dot is out of reach', '$[a.b]', { 'a.b': 1 }, {}, '$[a.b]'],
  ['objects and lists are not put in', '$[o] $[l] $[l[0]]', { o: {}, l: [1] }, {}, '$[o] $[l] $[l[0]]'],
  [
    'scalars print as JSON, texts without quotes',
    '$[s] $[b] $[n]',
    { s: 'a "b"', b: false, n: null },
    {},
    'a "b" false null',
  ],
  [
    'numbers keep their spelling',
    '$[a] $[b] $[c]',
    '{"a":2.0,"b":12345678901234567890,"c":1.5}',
    {},
    '2.0 12345678901234567890 1.5',
  ],
  ['all metadata and all data', '${*} $[*]', { d: 5 }, { k: 'v' }, '{"k":"v"} {"d":5}'],
  ['what metadata brings may name data', '${k}', { d: 5 }, { k: '$[d]' }, '5'],
  [
    'what data brings is not read again',
    '${k} and $[d]',
    { d: '${k} $1 \\ $[x]', x: 1 },
    { k: '$[d]' },
    '${k} $1 \\ $[x] and ${k} $1 \\ $[x]',
  ],
  ['what metadata brings names no metadata', '${k}', {}, { k: '${j}', j: '1' }, '${j}'],
  ['unclosed and empty places stay', '${k $[d ${} $[] $ {k}', { d: 5 }, { k: 'v' }, '${k $[d ${} $[] $ {k}'],
  ['an unclosed place hides none behind it', '${k ${k} $[d $[d]', { d: 5 }, { k: 'v' }, '${k v $[d 5'],
  [
    'members of every object are no values',
    '${constructor} $[constructor.name]',
    {},
    {},
    '${constructor} $[constructor.name]',
  ],
  ['a body that is no object leaves its places', '$[0] $[*] ${k}', [7], { k: 'v' }, '$[0] [7] v'],
]

for (const [title, text, data, metadata, expected] of CASES)
  test(title, () => assert.equal(pattern(text)(given(data, metadata)), expected))

test('a body that is no JSON fails, also where the text has no place', () => {
  for (const text of ['fixed', '${k}']) {
    assert.throws(() => pattern(text)(given('not json', { k: 'v' })), /Failed to process pattern!/)
    assert.throws(() => pattern(text)(given('', { k: 'v' })), /Failed to process pattern!/)
  }
})

test('a JSON text keeps its quotes whatever goes in', () => {
  const text = jsonPattern('{"a":"${k}","b":"$[d]"}')(given({ d: 'x\ny' }, { k: '","c":"' }))
  assert.deepEqual(JSON.parse(text), { a: '","c":"', b: 'x\ny' })
})

test('several texts keep their order', () => {
  assert.deepEqual(patterns(['$[d]', 'x'])(given({ d: 1 })), ['1', 'x'])
})

test('all of a message is serialised once, also for several texts and many places', () => {
  let reads = 0
  const body = new Proxy({ d: 5 }, { ownKeys: (target) => (reads++, Reflect.ownKeys(target)) })
  const message = given({})
  Object.defineProperty(message, 'json', { value: () => body })
  const texts = [...patterns(['$[*]$[*]', '$[*]'])(message), pattern('$[*]')(message), jsonPattern('$[*]')(message)]
  assert.deepEqual(texts, ['{"d":5}{"d":5}', '{"d":5}', '{"d":5}', '{\\"d\\":5}'])
  const readsOfAll = reads
  stringifyJson(body)
  assert.equal(readsOfAll, reads - readsOfAll, 'as often as one text of it')
})

test('what goes in has a bound, over all texts and places', () => {
  const message = given({ d: 'x'.repeat(10_000) }, { k: 'y'.repeat(10_000) })
  for (const place of ['$[*]', '${*}', '$[d]', '${k}']) {
    assert.ok(pattern(place.repeat(90))(message).length >= 900_000)
    assert.throws(() => pattern(place.repeat(110))(message), { code: 'node.PATTERN_SIZE' })
    assert.throws(() => jsonPattern(place.repeat(110))(message), { code: 'node.PATTERN_SIZE' })
    assert.throws(() => patterns(Array<string>(110).fill(place))(message), { code: 'node.PATTERN_SIZE' })
  }
  const many = given({ d: 'x'.repeat(10_000) }, { many: '$[*]'.repeat(110) })
  assert.throws(() => pattern('${many}')(many), { code: 'node.PATTERN_SIZE' })
})

test('openings without an end take no more than a linear walk', () => {
  const text = '${'.repeat(50_000) + '$['.repeat(50_000) + '}]'
  assert.equal(pattern(text)(given({})), text)
})
