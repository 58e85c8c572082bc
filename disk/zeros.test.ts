import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isZeros, ZEROS } from './zeros.ts'

test('zeros are zeros up to the last byte, however many', () => {
  for (const length of [0, 1, ZEROS.length, ZEROS.length + 1, 3 * ZEROS.length - 1]) {
    const bytes = Buffer.alloc(length)
    assert.equal(isZeros(bytes), true)
    for (const place of [0, length - 1, Math.floor(length / 2)]) {
      if (length === 0) continue
      bytes[place] = 1
      assert.equal(isZeros(bytes), false, `${place} of ${length}`)
      bytes[place] = 0
    }
  }
})
