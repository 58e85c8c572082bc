import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../engine/actor/testkit.ts'
import type { JsonObject } from '../../model/json.ts'
import { parseExpression } from '../math/expression.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import type { MessageDraft } from '../testkit.ts'
import { mathFunction } from './math-function.ts'

const body = (key: string): JsonObject => ({ name: key, type: 'MESSAGE_BODY', key })
const into = (type: string, change: JsonObject = {}): JsonObject => ({
  type,
  key: 'r',
  resultValuePrecision: 2,
  ...change,
})

async function run(configuration: JsonObject, draft: MessageDraft) {
  const context = testContext()
  const message = testMessage(draft)
  context.fakes.attributes.add([{ key: 'base', type: 'LONG', value: 2 }], message.originator, 'SERVER_SCOPE')
  context.fakes.history.add(message.originator, { key: 'load', type: 'STRING', value: '12.345', ts: 1 })
  const [result] = await runNode(await createNode(mathFunction, configuration, context), message)
  const [out] = result?.emissions ?? []
  return { relation: out?.relations[0], data: out?.message.data, metadata: out?.message.metadata, context }
}

test('operations calculate as the reference does; what is no finite number fails', async () => {
  for (const [operation, values, expected] of [
    ['ADD', [1, 2], '3.0'],
    ['DIV', [10, 4], '2.5'],
    ['DIV', [1, 0], undefined],
    ['FLOOR_DIV', [7, -2], '-4.0'],
    ['FLOOR_DIV', [7, 0], undefined],
    ['FLOOR_MOD', [7, -2], '-1.0'],
    ['SQRT', [2], '1.41'],
    ['SQRT', [-1], undefined],
    ['CEIL', [1.2], '2'],
    ['FLOOR', [-1.2], '-2'],
    ['GET_EXP', [10], '3'],
    ['POW', [2, 10], '1024.0'],
    ['CBRT', [27], '3.0'],
    ['HYPOT', [3, 4], '5.0'],
    ['DEG', [Math.PI], '180.0'],
  ] as const) {
    const names = ['x', 'y'].slice(0, values.length)
    const data = JSON.stringify(Object.fromEntries(names.map((name, index) => [name, values[index] ?? 0])))
    const configuration = { operation, arguments: names.map(body), result: into('MESSAGE_METADATA') }
    const { relation, metadata } = await run(configuration, { data })
    assert.deepEqual([relation, metadata?.['r']], [expected === undefined ? 'Failure' : 'Success', expected], operation)
  }
})

test('digits are rounded half up, none cuts off', async () => {
  for (const [value, digits, expected] of [
    ['3.5', 0, '3'],
    ['-3.5', 0, '-3'],
    ['2.345', 1, '2.3'],
    ['2.25', 1, '2.3'],
    ['-2.25', 1, '-2.3'],
    ['2', 3, '2.0'],
  ] as const) {
    const result = into('MESSAGE_BODY', { resultValuePrecision: digits })
    const { data } = await run(
      { operation: 'ADD', arguments: [body('x'), { type: 'CONSTANT', key: '0' }], result },
      { data: `{"x":"${value}"}` },
    )
    assert.equal(data, `{"x":"${value}","r":${expected}}`)
  }
})

test('values come from attributes, series, metadata and constants; what is missing has its default or fails', async () => {
  const stored = [
    { type: 'TIME_SERIES', key: 'load' },
    { type: 'ATTRIBUTE', key: '${which}', attributeScope: 'SERVER_SCOPE' },
  ]
  const result = into('ATTRIBUTE', { addToMetadata: true, attributeScope: 'SERVER_SCOPE' })
  const draft = { data: '{}', metadata: { which: 'base' } }
  const { context, metadata } = await run({ operation: 'SUB', arguments: stored, result }, draft)
  assert.equal(metadata?.['r'], '10.35')
  assert.deepEqual(context.attributeSaves[0]?.entries, [{ key: 'r', type: 'DOUBLE', value: 10.35 }])
  const absent = { type: 'ATTRIBUTE', key: 'nope', defaultValue: null }
  for (const [defaultValue, expected] of [
    [null, 'Failure'],
    [0, 'Success'],
  ] as const) {
    const configuration = {
      operation: 'ABS',
      arguments: [{ ...absent, defaultValue }],
      result: into('MESSAGE_METADATA'),
    }
    assert.equal((await run(configuration, draft)).relation, expected)
  }
  for (const data of ['{"x":"text"}', '{"x":true}', '{"x":null}', '{}', '[1]']) {
    const configuration = { operation: 'ABS', arguments: [body('x')], result: into('MESSAGE_METADATA') }
    assert.equal((await run(configuration, { data })).relation, 'Failure', data)
  }
})

test('a series gets all digits, the body the rounded value, where the body is an argument', async () => {
  const result = into('TIME_SERIES', { addToBody: true })
  const { context, data } = await run({ operation: 'SQRT', arguments: [body('x')], result }, { data: '{"x":2}' })
  assert.equal(data, '{"x":2,"r":1.41}')
  assert.deepEqual(context.telemetrySaves[0]?.points, [
    { key: 'r', type: 'DOUBLE', value: Math.SQRT2, ts: 1_700_000_000_000 },
  ])
  const without = await run({ operation: 'SQRT', arguments: [{ type: 'CONSTANT', key: '2' }], result }, { data: '{}' })
  assert.equal(without.relation, 'Failure')
})

test('what is not stored goes to the one place that its type says', async () => {
  for (const [type, place] of [
    ['MESSAGE_BODY', { data: '{"x":2.0,"r":1.41}', metadata: {} }],
    ['MESSAGE_METADATA', { data: '{"x":2.0}', metadata: { r: '1.41' } }],
  ] as const) {
    const result = into(type, { addToBody: true, addToMetadata: true })
    const out = await run({ operation: 'SQRT', arguments: [body('x')], result }, { data: '{"x":2.0}' })
    assert.deepEqual({ data: out.data, metadata: out.metadata }, place, type)
  }
})

test('a blank text in the body is no value; an expression may do without arguments', async () => {
  const blank = { operation: 'ABS', arguments: [{ ...body('x'), defaultValue: 7 }], result: into('MESSAGE_BODY') }
  assert.equal((await run(blank, { data: '{"x":" "}' })).data, '{"x":" ","r":7.0}')
  const fixed = { operation: 'CUSTOM', arguments: [], customFunction: '2 + 3', result: into('MESSAGE_BODY') }
  assert.equal((await run(fixed, { data: '{}' })).data, '{"r":5.0}')
})

test('expressions have precedence, functions and products without a sign', () => {
  const variables = new Map([
    ['x', 3],
    ['y', 4],
    ['e', 10],
  ])
  for (const [text, expected] of [
    ['sqrt(x^2 + y^2) + abs(-1.5) % 1 + log10(1000) - cbrt(27) + floor(x / y)', 5.5],
    ['-x^2', -9],
    ['2^3^2', 512],
    ['2^-1', 0.5],
    ['1 - 2 - 3', -4],
    ['2x + 3(y - 1)', 15],
    ['pow(2, x) * logab(2, 8)', 24],
    ['e + ln(1) + lg(10)', 11],
    ['pi', Math.PI],
    ['1.5e1 - .5', 14.5],
    ['cot(x) * tan(x)', 1],
    ['[x + 1] * {2} - (1]', 7],
    ['2 [x] {y}', 24],
    ['pow[2, x}', 8],
    ['2 * sqrt x * 3 + 7', 8],
    ['(log2 sqrt 16) + 1', 3],
  ] as const) {
    assert.equal(parseExpression(text, new Set(variables.keys()))(variables), expected, text)
  }
  for (const text of [
    '',
    'x +',
    'z',
    'nope(1)',
    'sqrt(1, 2)',
    'pow(2)',
    '(x',
    'x)',
    'x ? 1',
    '('.repeat(100),
    'constructor(1)',
    'pow 2, 3',
    'abs',
    'abs -5',
    'sqrt '.repeat(100),
  ]) {
    assert.throws(() => parseExpression(text, new Set(['x'])), /The expression is wrong/, text)
  }
})

test('degrees and radians are the doubles that the reference makes', async () => {
  for (const [operation, x, expected] of [
    ['RAD', 3, 0.05235987755982989],
    ['DEG', 11, 630.2535746439055],
  ] as const) {
    const given = { operation, arguments: [body('x')], result: into('TIME_SERIES') }
    const { context } = await run(given, { data: JSON.stringify({ x }) })
    assert.equal(context.telemetrySaves[0]?.points[0]?.value, expected, operation)
  }
})

test('a wrong expression fails messages; a wrong number of arguments keeps the node from starting', async () => {
  const custom = { operation: 'CUSTOM', arguments: [body('x')], result: into('MESSAGE_BODY') }
  assert.equal((await run({ ...custom, customFunction: 'nope(x)' }, { data: '{"x":1}' })).relation, 'Failure')
  for (const [change, field] of [
    [{ operation: 'ADD' }, /arguments/],
    [{ customFunction: '' }, /customFunction/],
    [{ customFunction: `x${' '.repeat(256)}` }, /customFunction/],
    [{ operation: 'ROOT' }, /operation/],
    [{ result: null }, /result/],
  ] as const) {
    await assert.rejects(createNode(mathFunction, { ...custom, ...change }), field)
  }
})

test('two nodes calculate one after the other for one originator: each sees what the other stored', async () => {
  const context = testContext()
  let stored = 0
  context.fakes.attributes.find = () => [{ key: 'n', type: 'LONG', value: stored, lastUpdateTs: 0 }]
  context.fakes.attributes.save = async ({ entries }) => {
    await Promise.resolve()
    stored = Number(entries[0]?.value)
  }
  const argument = { type: 'ATTRIBUTE', key: 'n', attributeScope: 'SERVER_SCOPE' }
  const result = { type: 'ATTRIBUTE', key: 'n', attributeScope: 'SERVER_SCOPE', resultValuePrecision: 0 }
  const configuration = { operation: 'ADD', arguments: [argument, { type: 'CONSTANT', key: '1' }], result }
  const nodes = await Promise.all([
    createNode(mathFunction, configuration, context),
    createNode(mathFunction, configuration, context),
  ])
  await Promise.all(nodes.map((node) => runNode(node, testMessage({ data: '{}' }))))
  assert.equal(stored, 2)
})

test('a calculation that never ends holds up those behind it for seconds, and no longer', async () => {
  const clock = new ManualClock()
  const context = testContext({ clock })
  let stuck = true
  const find = context.fakes.attributes.find.bind(context.fakes.attributes)
  const { attributes } = context.services
  attributes.find = (...asked) => (stuck ? new Promise(() => undefined) : find(...asked))
  const configuration = {
    operation: 'ADD',
    arguments: [
      { name: 'x', type: 'ATTRIBUTE', key: 'base', attributeScope: 'SERVER_SCOPE', defaultValue: 1 },
      body('y'),
    ],
    result: into('MESSAGE_METADATA'),
  }
  const node = await createNode(mathFunction, configuration, context)
  const message = testMessage({ data: '{"y":2}' })
  void runNode(node, message)
  await clock.settle()
  stuck = false
  const second = runNode(node, message)
  await clock.advance(10_000)
  const [result] = await second
  assert.equal(result?.emissions?.[0]?.message.metadata['r'], '3.0')
})
