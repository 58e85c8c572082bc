import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processorMs } from '../test/support/processor-time.ts'
import { isNumberText, numberOfText } from './number-text.ts'

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
  const begin = processorMs()
  assert.ok(Number.isNaN(numberOfText(`${'1'.repeat(100_000)}x`)))
  assert.ok(processorMs() - begin < 1000, 'with two ways to match a digit it takes seconds')
})

test('blanks around it count for nothing where a number is read, and are none of its text', () => {
  assert.deepEqual([isNumberText('7'), isNumberText(' 7'), numberOfText(' 7')], [true, false, 7])
})
