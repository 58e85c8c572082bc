import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DecimalSum } from './decimal-sum.ts'
import { SeededRandom } from './manual-clock.ts'

function sumOf(values: readonly number[]): number {
  const sum = new DecimalSum()
  for (const value of values) sum.add(value)
  return sum.value
}

/** The same by big integers of 400 places. */
function exactly(values: readonly number[]): number {
  let digits = 0n
  for (const value of values) {
    const [mantissa = '0', exponent = '0'] = String(value).split('e')
    const [whole = '0', fraction = ''] = mantissa.split('.')
    digits += BigInt(whole + fraction) * 10n ** BigInt(400 - fraction.length + Number(exponent))
  }
  return Number(`${digits}e-400`)
}

test('numbers are added as they are written', () => {
  assert.equal(sumOf([0.1, 0.2]), 0.3)
  assert.equal(sumOf([1.1, 2.2, -3.3]), 0)
  assert.equal(sumOf([]), 0)
  assert.equal(sumOf([9_007_199_254_740_991, 1, 0.5, -0.5]), 9_007_199_254_740_992)
  assert.equal(sumOf([1e300, 1, -1e300]), 1)
  assert.equal(sumOf([999_999_999_999_999, 0.000001, -999_999_999_999_999]), 0.000001)
  assert.equal(sumOf([900_000_000_000_000.1, 0.000001]), 900_000_000_000_000.1)
})

test('sums of any numbers are those of big integers, also when read between', () => {
  const seed = 11
  const random = new SeededRandom(seed)
  for (let round = 0; round < 500; round++) {
    const values = Array.from({ length: 1 + Math.floor(random.next() * 30) }, () => {
      const kind = random.next()
      const sign = random.next() < 0.5 ? -1 : 1
      if (kind < 0.4) return sign * Number((random.next() * 1000).toFixed(Math.floor(random.next() * 7)))
      if (kind < 0.6) return sign * Math.floor(random.next() * Number.MAX_SAFE_INTEGER)
      if (kind < 0.8) return sign * random.next() * 10 ** Math.floor(random.next() * 40 - 20)
      return sign * Number(`${Math.floor(random.next() * 1e15)}e-${Math.floor(random.next() * 7)}`)
    })
    const sum = new DecimalSum()
    for (const [index, value] of values.entries()) {
      sum.add(value)
      if (random.next() < 0.3)
        assert.equal(sum.value, exactly(values.slice(0, index + 1)), `seed ${seed}, round ${round}`)
    }
    assert.equal(sum.value, exactly(values), `seed ${seed}, round ${round}: ${values.join(' ')}`)
  }
})
