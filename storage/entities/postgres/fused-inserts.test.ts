import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SqlValue } from '../database.ts'
import { FusedInserts } from './fused-inserts.ts'
import { StatementNames, stepOf } from './statement-queries.ts'

const names = new StatementNames()
const columns = new Map([
  ['thing.name', 'text'],
  ['thing.size', 'bigint'],
  ['thing.share', 'double precision'],
])
const sql = 'insert into "thing" ("name", "size", "share") values ($1, $2, $3)'

/** How many rows stand in each statement. */
function fusedOf(rows: readonly (readonly SqlValue[])[]): readonly number[] {
  const writes = rows.map((parameters) => ({ steps: [stepOf({ sql, parameters }, names)] }))
  const units = new FusedInserts(columns, names).unitsOf(writes)
  assert.deepEqual(
    units.flatMap((unit) => unit.writes),
    writes,
  )
  for (const { queries } of units) assert.equal(queries.length, 1)
  return units.map((unit) => unit.writes.length)
}

test('a row with a value that its column does not hold goes alone, and the server judges it', () => {
  const good = ['a', 1, 0.5]
  const odd: readonly SqlValue[] = [1e20, -1e300, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2n ** 63n, '1.0', 'one']
  for (const size of odd) {
    const bad = ['a', size, 0.5]
    assert.deepEqual(fusedOf([good, good, bad, bad, good, good]), [2, 1, 1, 2], String(size))
  }
  assert.deepEqual(fusedOf([good, ['a', 1, 'half'], good]), [1, 1, 1])
  assert.deepEqual(fusedOf([good, [null, null, null], ['b', -(2n ** 63n), -0], ['c', 2 ** 53 - 1, Number.NaN]]), [4])
})

test('rows go together up to so many letters: they travel in one message', () => {
  const rows = (letters: number) => Array.from({ length: 12 }, () => ['x'.repeat(letters), 1, 0.5])
  assert.deepEqual(fusedOf(rows(1_000)), [12])
  assert.deepEqual(fusedOf(rows(1 << 20)), [4, 4, 4])
  assert.deepEqual(fusedOf(rows(5 << 20).slice(0, 3)), [1, 1, 1])
})
