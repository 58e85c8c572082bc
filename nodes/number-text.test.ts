import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numberOf } from './calculated/simple.ts'
import { numberIn } from './calculated/aggregation.ts'
import { calculateDelta } from './enrichment/calculate-delta.ts'
import { gpsGeofencingFilter } from './filter/gps-geofencing-filter.ts'
import { mathFunction } from './action/math-function.ts'
import { numberOf as readingOf } from './rules/typed-reading.ts'
import { createNode, runNode, testMessage } from './testkit.ts'

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
