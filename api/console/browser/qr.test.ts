import assert from 'node:assert/strict'
import { test } from 'node:test'
import { correctionOf, qrModules } from './qr.js'

test('corrections are those of the standard', () => {
  // ISO/IEC 18004, the worked example "01234567" of version 1, level M.
  const data = [0x10, 0x20, 0x0c, 0x56, 0x61, 0x80, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11]
  assert.deepEqual(correctionOf(data, 10), [0xa5, 0x24, 0xd4, 0xc1, 0xed, 0x36, 0xc7, 0x87, 0x2c, 0x55])
})

test('a text of each length has the smallest code that holds it, and one that is too long has none', () => {
  const sizes = [1, 14, 15, 26, 27, 42, 62, 84, 106, 122, 152, 180, 213].map(
    (length) => qrModules('x'.repeat(length))?.length,
  )
  assert.deepEqual(sizes, [21, 21, 25, 25, 29, 29, 33, 37, 41, 45, 49, 53, 57])
  assert.equal(qrModules('x'.repeat(214)), undefined)
})
