import assert from 'node:assert/strict'
import { test } from 'node:test'
import { summarized, type SummaryMetric } from './group-summary.ts'
import { LatestColumnBuilder } from './latest-column.ts'
import { valueText } from './entry-json.ts'
import { SeededRandom } from './manual-clock.ts'
import type { TypedValue } from './value.ts'

function columnOf(values: readonly (TypedValue | undefined)[]) {
  const column = new LatestColumnBuilder(values.length)
  for (const [place, value] of values.entries()) if (value !== undefined) column.put(place, value)
  return column.build()
}

const FUNCTIONS: readonly SummaryMetric['function'][] = [
  ...(['MIN', 'MAX', 'SUM', 'AVG', 'COUNT', 'COUNT_UNIQUE', 'COUNT_NUMBERS'] as const),
  ...(['MEDIAN', 'DEVIATION', 'VARIANCE'] as const),
]

test('values of any type: numbers in texts and flags count as numbers, others are ignored save by counts', () => {
  const column = columnOf([
    { type: 'LONG', value: 3 },
    { type: 'STRING', value: ' 4.5' },
    { type: 'STRING', value: '' },
    { type: 'STRING', value: 'broken' },
    { type: 'BOOLEAN', value: true },
    { type: 'JSON', value: '{"a":1}' },
    undefined,
    { type: 'DOUBLE', value: 3 },
    { type: 'STRING', value: '3' },
  ])
  const job = { size: 9, columns: [column], rankings: [{ column: 0, count: 2, order: 'HIGHEST' }] as const }
  const metrics = (['SUM', 'COUNT', 'COUNT_NUMBERS', 'COUNT_UNIQUE'] as const).map((of) => ({
    column: 0,
    function: of,
  }))
  const { ignored, entities, ...told } = summarized({ ...job, metrics })
  // 3 and the text 3 are written alike, 3.0 is not.
  assert.deepEqual(told.metrics, [14.5, 8, 5, 7])
  assert.deepEqual([ignored, entities], [3, 9])
  assert.deepEqual(told.rankings, [
    [
      { place: 1, value: 4.5 },
      { place: 0, value: 3 },
    ],
  ])
  const selected = Uint8Array.from([0, 0, 0, 1, 0, 0, 1, 0, 0])
  const least = { column: 0, function: 'MIN', missing: -1 } as const
  assert.deepEqual(summarized({ ...job, selected, metrics: [least, { column: 0, function: 'AVG' }] }), {
    ...{ metrics: [-1, null], rankings: [[]], entities: 2, ignored: 1 },
  })
})

test('sums of decimals are exact, those of computed doubles are as good as doubles are', () => {
  const sumOf = (values: readonly number[]): number => {
    const columns = [columnOf(values.map((value) => ({ type: 'DOUBLE', value })))]
    const job = { size: values.length, columns, metrics: [{ column: 0, function: 'SUM' }], rankings: [] } as const
    return summarized(job).metrics[0] ?? Number.NaN
  }
  assert.equal(sumOf([0.1, 0.2]), 0.3)
  assert.equal(sumOf([1e100, 1, -1e100]), 1)
  assert.equal(sumOf([Math.PI, 1e17 + 16, -1e17 - 16]), Math.PI)
  assert.equal(sumOf([1.7e308, 1.7e308]), Infinity)
})

test('random columns are told as a plain model tells them', () => {
  const seed = 3
  const random = new SeededRandom(seed)
  for (let round = 0; round < 300; round++) {
    const size = Math.floor(random.next() * 60)
    const values = Array.from({ length: size }, (): TypedValue | undefined => {
      const kind = random.next()
      const cents = Math.floor((random.next() - 0.5) * 2_000)
      if (kind < 0.2) return undefined
      if (kind < 0.5) return { type: 'DOUBLE', value: cents / 100 }
      return kind < 0.9 ? { type: 'LONG', value: cents } : { type: 'STRING', value: kind < 0.95 ? String(cents) : 'x' }
    })
    const selected = random.next() < 0.5 ? undefined : Uint8Array.from(values, () => (random.next() < 0.6 ? 1 : 0))
    const missing = random.next() < 0.3 ? 7 : undefined
    const percentile = Math.floor(random.next() * 101)
    const order = random.next() < 0.5 ? 'HIGHEST' : 'LOWEST'
    const count = 1 + Math.floor(random.next() * 10)
    const metrics: SummaryMetric[] = FUNCTIONS.map((of) => ({ column: 0, function: of, missing }))
    metrics.push({ column: 0, function: 'PERCENTILE', percentile, missing })
    const told = summarized({
      ...{ size, columns: [columnOf(values)], selected, metrics },
      rankings: [{ column: 0, count, order }],
    })

    const counted = values.filter((_, place) => selected === undefined || selected[place] === 1)
    const present = counted.flatMap((value): TypedValue[] =>
      value === undefined ? (missing === undefined ? [] : [{ type: 'DOUBLE', value: missing }]) : [value],
    )
    const numbers = present.map(({ value }) => Number(value)).filter((number) => Number.isFinite(number))
    const sorted = numbers.toSorted((a, b) => a - b)
    const sum = numbers.reduce((total, number) => total + Math.round(number * 100), 0) / 100
    const mean = sum / numbers.length
    const variance = numbers.reduce((total, number) => total + (number - mean) ** 2, 0) / numbers.length
    const rank = (percent: number): number => {
      const at = ((sorted.length - 1) * percent) / 100
      const [low = 0, high = 0] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
      return low + (high - low) * (at - Math.floor(at))
    }
    const unique = new Set(present.map(valueText)).size
    const text = `seed ${seed}, round ${round}`
    if (numbers.length === 0) {
      assert.deepEqual(told.metrics, [null, null, null, null, present.length, unique, 0, null, null, null, null], text)
    } else {
      const expected = [
        ...[sorted[0], sorted.at(-1), sum, mean, present.length, unique, numbers.length],
        ...[rank(50), Math.sqrt(variance), variance, rank(percentile)],
      ]
      for (const [place, value] of expected.entries())
        assert.ok(Math.abs((told.metrics[place] ?? Number.NaN) - (value ?? 0)) < 1e-9, `${text}, metric ${place}`)
      assert.equal(told.metrics[2], sum, text)
    }
    assert.equal(told.entities, counted.length, text)
    assert.equal(told.ignored, present.length - numbers.length, text)
    const sign = order === 'HIGHEST' ? -1 : 1
    const best = values
      .flatMap((value, place) => {
        const isOne = value !== undefined && (selected === undefined || selected[place] === 1)
        return isOne && value.value !== 'x' ? [{ place, value: Number(value.value) }] : []
      })
      .sort((a, b) => sign * (a.value - b.value) || a.place - b.place)
    assert.deepEqual(told.rankings, [best.slice(0, count)], text)
  }
})

test('the best of many are found without sorting all of them', () => {
  const size = 50_000
  const column = new LatestColumnBuilder(size)
  for (let place = 0; place < size; place++) column.put(place, { type: 'LONG', value: (place * 7919) % size })
  const rankings = [{ column: 0, count: 3, order: 'HIGHEST' }] as const
  const { rankings: told } = summarized({ size, columns: [column.build()], metrics: [], rankings })
  assert.deepEqual(
    told[0]?.map(({ value }) => value),
    [49_999, 49_998, 49_997],
  )
})
