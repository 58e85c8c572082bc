import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SavesInOrder, type OpenWrite } from './saves-in-order.ts'

interface Named {
  readonly name: string
  readonly request: { readonly entity: { readonly id: string } }
}

function world() {
  const order = new SavesInOrder<Named>()
  const told: string[] = []
  const begin = (...names: readonly string[]) => {
    const saves = names.map((name): Named => ({ name, request: { entity: { id: name.charAt(0) } } }))
    const write: OpenWrite = order.begin(saves)
    return () => order.end(write, saves, ({ name }) => told.push(name))
  }
  return { told, begin, order }
}

test('a save is told behind an earlier one of its entity, others at once', () => {
  const { told, begin, order } = world()
  const first = begin('a1', 'b1')
  const second = begin('a2', 'c1')
  assert.deepEqual(order.underWay, { writes: 2, saves: 4 })
  second()
  assert.deepEqual(told, ['c1'])
  assert.deepEqual([order.underWay, order.late], [{ writes: 1, saves: 2 }, 1])
  first()
  assert.deepEqual(told, ['c1', 'a1', 'b1', 'a2'])
  assert.deepEqual([order.underWay, order.late], [{ writes: 0, saves: 0 }, 1])
})

test('whatever the order of the answers, each entity has its own', () => {
  const names = [
    ['a1', 'b1'],
    ['a2', 'c1'],
    ['a3', 'b2', 'c2'],
    ['a4', 'a5', 'b3'],
  ]
  for (const answers of permutations([0, 1, 2, 3])) {
    const { told, begin } = world()
    const ends = names.map((of) => begin(...of))
    for (const answer of answers) ends[answer]?.()
    for (const entity of ['a', 'b', 'c']) {
      const own = told.filter((name) => name.startsWith(entity))
      assert.deepEqual(own, own.toSorted(), `answers ${answers.join()}: ${told.join()}`)
    }
    assert.equal(told.length, names.flat().length)
  }
})

function permutations(values: readonly number[]): readonly (readonly number[])[] {
  if (values.length < 2) return [values]
  return values.flatMap((value) =>
    permutations(values.filter((other) => other !== value)).map((others) => [value, ...others]),
  )
}
