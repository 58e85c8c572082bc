import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode, runNode, testMessage } from '../testkit.ts'
import { splitArray } from './split-array.ts'

test('each element is a message of its own, whatever it is, with an id that a retry makes again', async () => {
  const instance = await createNode(splitArray)
  const message = testMessage({ data: '[1.0,"two",null,[4],{"f":5}]', metadata: { k: 'v' } })
  const [first, again] = await runNode(instance, message, message)
  const parts = first?.emissions.map((out) => out.message) ?? []
  assert.deepEqual(
    parts.map(({ data }) => data),
    ['1.0', '"two"', 'null', '[4]', '{"f":5}'],
  )
  assert.equal(new Set([message.id, ...parts.map(({ id }) => id)]).size, 6)
  assert.deepEqual(
    again?.emissions.map((out) => out.message.id),
    parts.map(({ id }) => id),
  )
  assert.ok(parts.every(({ metadata, type }) => metadata['k'] === 'v' && type === message.type))
})

test('one element stays the message it was', async () => {
  const message = testMessage({ data: '[{"a":1}]' })
  const [result] = await runNode(await createNode(splitArray), message)
  assert.equal(result?.emissions.length, 1)
  assert.equal(result?.emissions[0]?.message.id, message.id)
  assert.equal(result?.emissions[0]?.message.data, '{"a":1}')
})
