import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeptList } from './kept-list.ts'

function itemsOf(list: KeptList<string>): readonly (string | undefined)[] {
  return Array.from({ length: list.length + 1 }, (_, index) => list.at(index))
}

test('a list that was emptied holds what came since, and nothing of before', () => {
  const list = new KeptList<string>()
  for (const item of ['a', 'b', 'c']) list.add(item)
  assert.deepEqual(itemsOf(list), ['a', 'b', 'c', undefined])
  list.clear()
  assert.deepEqual(itemsOf(list), [undefined])
  list.add('d')
  assert.deepEqual(itemsOf(list), ['d', undefined])
})

test('a list that held a burst is as any other when it was emptied', () => {
  const list = new KeptList<string>()
  for (let added = 0; added < 10_000; added++) list.add('a')
  list.clear()
  list.add('b')
  assert.deepEqual(itemsOf(list), ['b', undefined])
})
