import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { WholeDouble, parseJson } from '../../model/json.ts'
import { parseSent } from './parse-sent.ts'

const form = z.discriminatedUnion('type', [
  z.object({ type: z.literal('A'), count: z.int().max(9).nullish(), share: z.number().optional() }),
  z.object({ type: z.literal('B'), isOn: z.boolean().nullish(), name: z.string().optional() }),
])
const schema = z.object({
  forms: z.array(form).default([]),
  limit: z.union([z.number(), z.instanceof(WholeDouble)]).optional(),
  names: z.record(z.string(), z.string()).optional(),
})

const read = (sent: unknown) => parseSent(schema, sent).data

test('a text is read as the number or the flag that the schema wants, wherever it stands', () => {
  const forms = [
    { type: 'A', count: '3', share: '-0.5' },
    { type: 'B', isOn: 'True', name: 'x' },
  ]
  assert.deepEqual(read({ forms, limit: '20' }), {
    forms: [
      { type: 'A', count: 3, share: -0.5 },
      { type: 'B', isOn: true, name: 'x' },
    ],
    limit: 20,
  })
})

test('a whole number with a dot is one where the schema wants a whole one', () => {
  const sent = parseJson('{"forms":[{"type":"A","count":3.0,"share":1.0}],"limit":2.0}')
  assert.deepEqual(read(sent), { forms: [{ type: 'A', count: 3, share: 1 }], limit: new WholeDouble(2) })
  assert.equal(read(parseJson('{"forms":[{"type":"A","count":10.0}]}')), undefined)
})

test('numbers and flags are read as the text that the schema wants, as they were written', () => {
  const sent = parseJson('{"names":{"a":1,"b":true,"c":2.0,"__proto__":7}}')
  const names = read(sent)?.names ?? {}
  assert.deepEqual([names['a'], names['b'], names['c']], ['1', 'true', '2.0'])
})

test('an empty text for a number or a flag is none', () => {
  const forms = [
    { type: 'A', count: '' },
    { type: 'B', isOn: '' },
  ]
  assert.deepEqual(read({ forms })?.forms, [
    { type: 'A', count: null },
    { type: 'B', isOn: null },
  ])
})

test('what stands for nothing that the schema wants is refused, and bounds hold for what is meant', () => {
  for (const wrong of [{ count: 'three' }, { count: '1.5' }, { count: '10' }, { count: true }, { share: '0x1' }])
    assert.equal(read({ forms: [{ type: 'A', ...wrong }] }), undefined, JSON.stringify(wrong))
  assert.equal(read({ forms: [{ type: 'B', isOn: 'yes' }] }), undefined)
  assert.equal(read({ limit: '9'.repeat(20) }), undefined)
})

test('what was sent stays as it came', () => {
  const sent = { forms: [{ type: 'A', count: '3' }], limit: '1' }
  const before = structuredClone(sent)
  assert.notEqual(read(sent), undefined)
  assert.deepEqual(sent, before)
})

test('a body of thousands of wrong values is read once', () => {
  let readings = 0
  const counted = z.object({ many: z.array(z.int()) })
  const counting = z.preprocess((sent) => {
    readings += 1
    return sent
  }, counted)
  assert.equal(parseSent(counting, { many: Array.from({ length: 5_000 }, () => '1') }).data?.many.length, 5_000)
  assert.equal(readings, 2)
  assert.equal(parseSent(counting, { many: Array.from({ length: 5_001 }, () => '1') }).success, false)
  assert.equal(readings, 3)
})

test('a large list, object or map is read no further than what is refused first', () => {
  let readings = 0
  const counted = z.unknown().transform((sent) => {
    readings += 1
    return sent
  })
  const part = z.object({ a: counted, b: z.int(), c: z.int() })
  const large = z.object({ list: z.array(part).optional(), map: z.record(z.string(), part).optional() })
  const readingsOf = (sent: unknown): number => {
    readings = 0
    assert.equal(parseSent(large, sent).success, false)
    return readings
  }
  const many = Array.from({ length: 100_000 }, () => ({}))
  assert.equal(readingsOf({ list: many }), 1)
  assert.ok(readingsOf({ map: Object.fromEntries(many.map((wrong, index) => [`m${index}`, wrong])) }) <= 1_000)
})

test('a large body names what it refuses, and its texts for numbers are taken', () => {
  const fits = Array.from({ length: 10_000 }, () => ({ count: 1 }))
  const counts = z.object({ list: z.array(z.object({ count: z.int() })) })
  assert.equal(parseSent(counts, { list: [...fits, { count: '7' }] }).data?.list.at(-1)?.count, 7)
  const [issue] = parseSent(counts, { list: [...fits, { count: 'x' }] }).error?.issues ?? []
  assert.deepEqual(issue?.path, ['list', 10_000, 'count'])
})

test('a large map is read to its end where its first members fit', () => {
  const map = z.object({ map: z.record(z.string(), z.int()), last: z.int() })
  const sent = { map: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`m${index}`, index] as const)) }
  assert.equal(Object.keys(parseSent(map, { ...sent, last: 1 }).data?.map ?? {}).length, 10_000)
  assert.deepEqual(parseSent(map, { ...sent, last: true }).error?.issues[0]?.path, ['last'])
  const whole = z.object({ map: z.record(z.string(), z.int()).refine((members) => Object.hasOwn(members, 'm9999')) })
  assert.equal(parseSent(whole, sent).success, true)
  const wide = { ...sent.map, last: 1 }
  assert.deepEqual(parseSent(z.object({ last: z.int() }), wide).data, { last: 1 })
})
