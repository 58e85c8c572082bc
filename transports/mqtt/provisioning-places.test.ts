import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProvisioningPlaces } from './provisioning-places.ts'

const from = (address: string) => ({ address })

test('an address has a tenth of the places, and pushes out its own alone', () => {
  const places = new ProvisioningPlaces(20)
  const other = from('other')
  const mine = [from('mine'), from('mine'), from('mine'), from('mine')] as const
  const losers = [other, ...mine].map((holder) => places.take(holder))
  assert.deepEqual(losers, [undefined, undefined, undefined, mine[0], mine[1]])
  assert.equal(losers[3], mine[0])
  assert.equal(losers[4], mine[1])
})

test('where all places are taken the oldest gives way', () => {
  const places = new ProvisioningPlaces(3)
  const [first, second, third] = [from('a'), from('b'), from('c')] as const
  for (const holder of [first, second, third]) assert.equal(places.take(holder), undefined)
  places.give(first)
  assert.equal(places.take(from('d')), undefined)
  assert.equal(places.take(from('e')), second)
  // It has lost its place already: nothing is given back twice.
  places.give(second)
  assert.equal(places.take(from('f')), third)
})

test('at least one place is for an address, however few there are', () => {
  const places = new ProvisioningPlaces(1)
  const first = from('a')
  assert.equal(places.take(first), undefined)
  assert.equal(places.take(from('b')), first)
})
