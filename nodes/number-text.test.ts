import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numberOf } from './calculated/simple.ts'
import { numberIn } from './calculated/aggregation.ts'
import { calculateDelta } from './enrichment/calculate-delta.ts'
import { gpsGeofencingFilter } from './filter/gps-geofencing-filter.ts'
import { mathFunction } from './action/math-function.ts'
import { numberOfText } from './number-text.ts'
import { numberOf as readingOf } from './rules/typed-reading.ts'
import { createNode, runNode, testMessage } from './testkit.ts'

const NUMBERS = [
  ['7', 7],
  [' -7.50 ', -7.5],
  ['+.5', 0.5],
  ['5.', 5],
  ['1e3', 1000],
  ['1.5E-2', 0.015],
] as const
const NONE = ['', ' ', '0x10', '0b1', '0o7', '1,5', '1_000', 'Infinity', 'NaN', '5e', '.', 'abc']

test('a decimal text is a number, another is none', () => {
  for (const [text, number] of NUMBERS) assert.equal(numberOfText(text), number, text)
  for (const text of NONE) assert.ok(Number.isNaN(numberOfText(text)), text)
})

test('a long text of digits that is no number is looked through once', () => {
  const begin = performance.now()
  assert.ok(Number.isNaN(numberOfText(`${'1'.repeat(100_000)}x`)))
  assert.ok(performance.now() - begin < 1000, 'with two ways to match a digit it takes seconds')
})

test('hexadecimal texts are no numbers wherever a node or a rule reads one', async () => {
  const single = { kind: 'single', ts: 1, value: '0x10' } as const
  assert.throws(() => numberOf('x', single), /not a number/)
  assert.throws(() => numberIn('x', { type: 'STRING', value: '0x10' }), /not a number/)
  assert.equal(readingOf({ type: 'STRING', value: '0x10' }), undefined)
  const relationOf = async (node: Parameters<typeof createNode>[0], configuration: object, data: string) => {
    const instance = await createNode(node, { ...node.defaultConfiguration, ...configuration })
    return (await runNode(instance, testMessage({ data, metadata: { ss_perimeter: '[[0,0],[20,20]]' } })))[0]
      ?.emissions[0]
  }
  const emitted = await relationOf(mathFunction, {}, '{"temperature":"0x10"}')
  assert.deepEqual(emitted?.relations, ['Failure'])
  assert.deepEqual((await relationOf(gpsGeofencingFilter, {}, '{"latitude":"0x10","longitude":5}'))?.relations, [
    'Failure',
  ])
  const delta = await createNode(calculateDelta, { ...calculateDelta.defaultConfiguration, inputValueKey: 'p' })
  const results = await runNode(delta, testMessage({ data: '{"p":-1}' }), testMessage({ data: '{"p":"0x10"}' }))
  assert.equal(results[1]?.emissions[0]?.message.data, '{"p":"0x10","delta":1}')
})
