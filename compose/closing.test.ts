import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Log } from '../model/log.ts'
import { Closing } from './closing.ts'

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} }

test('parts are closed in reverse order, each awaited, and only once', async () => {
  const order: string[] = []
  const closing = new Closing(silent)
  for (const name of ['store', 'engine', 'server']) {
    closing.add(name, async () => {
      await Promise.resolve()
      order.push(name)
    })
  }
  const [first, second] = await Promise.all([closing.run(), closing.run()])
  assert.deepEqual(order, ['server', 'engine', 'store'])
  assert.deepEqual([first, second], [true, true])
})

test('a part that fails to close does not keep the others open, and is told', async () => {
  const told: unknown[] = []
  const order: string[] = []
  const closing = new Closing({ ...silent, error: (_text, fields) => told.push(fields) })
  closing.add('store', () => void order.push('store'))
  closing.add('server', () => {
    throw new Error('stuck')
  })
  assert.equal(await closing.run(), false)
  assert.deepEqual(order, ['store'])
  assert.deepEqual(told, [{ part: 'server', reason: 'stuck' }])
})
