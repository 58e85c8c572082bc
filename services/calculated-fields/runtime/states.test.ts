import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LongDecimal, parseJson, WholeDouble, type JsonValue } from '../../../model/json.ts'
import { payloadOf } from './payload.ts'
import { bytesOf, isWithin, stateOf, type FieldState } from './states.ts'

test('whether a state is within its bound is what its text says, for every kind of value and every bound around it', () => {
  const values: JsonValue[] = [
    ...[0, -0, 12, 20.5, 1e-7, -1.797_693_134_862_315_7e308, 5e-324, 1e21, 2 ** 53, 123n, new WholeDouble(2)],
    ...[new WholeDouble(1e300), new LongDecimal('0.12345678901234567'), true, false, null, '', 'plain', 'ü"\n\u0000'],
    ...[[], {}, [1, [2.5, 'x']], { a: { b: [null] } }, '\u0001'.repeat(50), '\ud800'],
  ]
  for (const value of values) {
    const state: FieldState = { version: 1, args: { 'a"': { one: [1_700_000_000_000, value] } }, own: value, wakeAt: 7 }
    const bytes = bytesOf(state)
    for (const most of [1, bytes - 1, bytes, bytes + 1, bytes * 2, bytes * 10, 32_768])
      assert.equal(isWithin(state, most), bytes <= most, `${bytes} of ${most}`)
  }
})

test('a state of another shape is none', () => {
  const good = { entity: ['DEVICE', 'd'], owner: 'o', fields: {} }
  assert.equal(stateOf(good), good)
  const others = [null, [], 7, {}, { ...good, entity: ['DEVICE'] }, { ...good, entity: ['PUMP', 'd'] }]
  const more = [
    { ...good, entity: ['DEVICE', 1] },
    { ...good, owner: null },
    { ...good, fields: [] },
  ]
  for (const other of [...others, ...more]) assert.throws(() => stateOf(other), TypeError)
})

test('what the log brings is taken as it is where it is values of the entity, and looked through where not', () => {
  const good =
    '{"kind":"values","source":"series","values":[["t",1,2.0],["u",2,{"a":null}]],"deleted":["v"],"type":"POST"}'
  assert.deepEqual(payloadOf(parseJson(good)), parseJson(good))
  const bad = [
    ...['"kind":"values"', '"source":"series"', '"deleted":["v"]', '"type":"POST"'].map((part) =>
      good.replace(`${part},`, '').replace(`,${part}`, ''),
    ),
    ...[good.replace('"series"', '"parallel"'), good.replace('["t",1,2.0]', '["t",1]'), good.replace('"v"', '1')],
    ...[good.replace('["t",1,2.0]', '["t","1",2.0]'), good.replace('["t",1,2.0]', '7'), '[]', 'null', '7'],
    good.replace('"type"', '"from":{"entityType":"PUMP","id":"x"},"type"'),
  ]
  for (const text of bad) assert.throws(() => payloadOf(parseJson(text)), text)
  const from = good.replace('"type"', '"from":{"entityType":"DEVICE","id":"x"},"type"')
  assert.deepEqual(payloadOf(parseJson(from)), parseJson(from))
})
