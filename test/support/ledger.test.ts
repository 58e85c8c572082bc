import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, openLedger, take } from './ledger.ts'

function ledgerOf(sent: number, acknowledged: readonly number[]) {
  const ledger = openLedger('device', 'token', 'id')
  for (let value = 0; value < sent; value++) take(ledger)
  for (const value of acknowledged) ledger.acknowledged.add(value)
  return ledger
}

const at = (...values: number[]) => values.map((value, index) => ({ ts: 1000 + index, value }))

test('the ledger finds what is lost, twice, out of order and foreign, and lets an unknown value be there or not', () => {
  const ledger = ledgerOf(5, [1, 2, 4])
  assert.deepEqual(compare([{ ledger, points: at(1, 2, 3, 4) }]).findings, [])
  assert.deepEqual(compare([{ ledger, points: at(1, 2, 4) }]).findings, [])
  assert.equal(compare([{ ledger, points: at(1, 2) }]).lost, 1)
  assert.equal(compare([{ ledger, points: at(1, 2, 2, 4) }]).duplicated, 1)
  assert.equal(compare([{ ledger, points: at(2, 1, 4) }]).outOfOrder, 1)
  assert.equal(compare([{ ledger, points: at(1, 2, 4, 99) }]).foreign, 1)
})
