import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyNames, localTime, timeOf } from './entity-view-shapes.js'

test('keys are parted by commas, each once', () => {
  assert.deepEqual(keyNames(' a, b,,a ,c d '), ['a', 'b', 'c d'])
  assert.deepEqual(keyNames('  '), [])
})

test('a time that is shown is read back, in whatever zone', () => {
  for (const ts of [1_700_000_000_000, 1_720_000_000_000]) assert.equal(timeOf(localTime(ts)), ts)
  assert.equal(localTime(0), '')
  assert.equal(timeOf(''), 0)
})
