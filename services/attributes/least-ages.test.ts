import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LeastAges } from './least-ages.ts'

/** A look at the clock of the shared store. */
function look(ages: LeastAges, entityId: string, now: number): void {
  ages.learn(entityId, ages.moment, now)
}

test('nothing is said before the clock was looked at, then what is read from there on will do', () => {
  const ages = new LeastAges()
  assert.equal(ages.of('e'), undefined)
  look(ages, 'e', 100)
  assert.deepEqual(ages.of('e'), { commit: 0, began: 100 })
  look(ages, 'e', 200)
  assert.deepEqual(ages.of('e'), { commit: 0, began: 100 })
})

test('of a commit the number counts, whichever is heard last', () => {
  const ages = new LeastAges()
  look(ages, 'e', 100)
  ages.changed('e', 7)
  ages.changed('e', 5)
  assert.deepEqual(ages.of('e'), { commit: 7, began: 100 })
  assert.deepEqual(ages.of('other'), { commit: 0, began: 100 })
})

test('of a commit without a number, only what is read afterwards will do', () => {
  const ages = new LeastAges()
  look(ages, 'e', 100)
  const asked = ages.moment
  ages.changed('e')
  ages.changed('e', 7)
  ages.learn('e', asked, 150) // A look from before.
  assert.equal(ages.of('e'), undefined)
  look(ages, 'other', 160)
  assert.equal(ages.of('e'), undefined)
  look(ages, 'e', 170)
  assert.deepEqual(ages.of('e'), { commit: 7, began: 170 })
})

test('after a gap only what is read afterwards will do, of any entity', () => {
  const ages = new LeastAges()
  look(ages, 'e', 100)
  const asked = ages.moment
  ages.missed()
  ages.learn('e', asked, 150)
  assert.equal(ages.of('f'), undefined)
  look(ages, 'e', 200)
  assert.deepEqual(ages.of('f'), { commit: 0, began: 200 })
})

test('with many changed entities, those of long ago are known by a time that is after their change', () => {
  const ages = new LeastAges(2)
  look(ages, 'a', 100)
  ages.changed('a', 1)
  ages.changed('b', 2)
  ages.changed('c', 3) // `a` and `b` are the older half now.
  look(ages, 'a', 200)
  assert.deepEqual(ages.of('a'), { commit: 1, began: 100 })
  ages.changed('d', 4)
  ages.changed('e', 5) // `a` and `b` are gone.
  assert.deepEqual(ages.of('a'), { commit: 0, began: 200 })
  assert.deepEqual(ages.of('c'), { commit: 3, began: 200 })
})

test('an older half that went before the clock was looked at makes it look again', () => {
  const ages = new LeastAges(1)
  look(ages, 'a', 100)
  for (const [place, entityId] of ['a', 'b', 'c'].entries()) ages.changed(entityId, place + 1)
  assert.equal(ages.of('a'), undefined)
  look(ages, 'a', 200)
  assert.deepEqual(ages.of('a'), { commit: 0, began: 200 })
})
