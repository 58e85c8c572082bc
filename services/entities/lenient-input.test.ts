import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from '../../model/json.ts'
import { wholeInput } from './lenient-input.ts'

const read = (text: string) => wholeInput.safeParse(parseJson(text)).data

test('a whole number is taken with a dot and as text, where every digit of it is exact', () => {
  assert.deepEqual(['7', '-7.0', '"7"', '2e3', '9007199254740991.0'].map(read), [7, -7, 7, 2000, 2 ** 53 - 1])
  assert.deepEqual(['null', '""'].map(read), [undefined, undefined])
  for (const text of ['1.5', '"1.5"', '1e20', '100000000000000000000', '100000000000000000000.0', '-1e300', 'true'])
    assert.equal(wholeInput.safeParse(parseJson(text)).success, false, text)
})
