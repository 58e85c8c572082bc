import assert from 'node:assert/strict'
import test from 'node:test'
import { compileRegex } from './regex-parser.ts'

test('nothing repeated is nothing, however often and however deep', () => {
  const nothing = compileRegex('').instructions
  for (const pattern of ['(?:){9999}', '(?:){9999}{9999}{9999}{9999}', '(?:(?:)*{9})+', 'a{0}{9999}{9999}{9999}'])
    assert.deepEqual(compileRegex(pattern).instructions, nothing, pattern)
})

test('repetitions within each other end by a bound', () => {
  assert.throws(() => compileRegex('a{9999}{9999}'), /pattern is too large/)
  assert.throws(() => compileRegex(`(?:a${'{1}'.repeat(300)}){1900}`), /pattern is too large/)
  assert.equal(compileRegex('(?:a{10}){10}').instructions.length, 103)
})
