import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RowShares } from './row-shares.ts'

test('a tenant is counted at its first rows, and again when it wrote a part of what it had left', () => {
  const shares = new RowShares(1_000)
  assert.deepEqual(shares.due(), [])
  shares.noted('a', 1)
  assert.deepEqual(shares.due(), ['a'])
  shares.counted('a', 200)
  assert.deepEqual(shares.due(), [])
  shares.noted('a', 99)
  assert.deepEqual(shares.due(), [])
  shares.noted('a', 1)
  assert.deepEqual(shares.due(), ['a'])
})

test('a tenant at its bound is counted whenever it wrote, and left alone while it does not', () => {
  const shares = new RowShares(10)
  shares.counted('a', 12)
  assert.deepEqual(shares.due(), [])
  shares.noted('a', 1)
  assert.deepEqual(shares.due(), ['a'])
})

test('who turns out to have no rows is not counted again until it writes', async () => {
  const shares = new RowShares(10)
  const none = async () => []
  const nothing = async () => assert.fail('there is nothing to remove')
  await shares.cut(5, none, nothing)
  shares.noted('a', 3)
  assert.equal(await shares.cut(5, none, nothing), false)
  assert.deepEqual(shares.due(), [])
})
