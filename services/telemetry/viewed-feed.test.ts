import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import type { DataPoint } from '../../model/value.ts'
import type { Change } from '../../engine/subscriptions/change.ts'
import { TestFeed } from '../../engine/subscriptions/testkit.ts'
import type { Exposure } from './exposure.ts'
import { ViewedFeed } from './viewed-feed.ts'

const VIEW = entityId('ENTITY_VIEW', 'v')
const SOURCE = entityId('DEVICE', 'd')
const OTHER = entityId('DEVICE', 'e')
const point = (key: string, ts: number): DataPoint => ({ key, ts, type: 'LONG', value: ts })
const SAVED: Change = { kind: 'device-changed', entity: VIEW, credentialsChanged: false }

class World {
  readonly feed = new TestFeed((error) => {
    throw error
  })
  readonly heard: Change[] = []
  shown: Exposure | undefined = { source: SOURCE, keys: ['a', 'c'], startTimeMs: 10, endTimeMs: 30 }
  failure: Error | undefined
  readonly viewed = new ViewedFeed(this.feed, async () => {
    if (this.failure !== undefined) throw this.failure
    return this.shown
  })
  readonly stop = this.viewed.listen(VIEW, (change) => this.heard.push(change))

  save(source = SOURCE, ...points: readonly DataPoint[]): void {
    this.feed.publish({ kind: 'telemetry', entity: source, sequence: 1, points })
  }

  /** What was heard of points, which is then forgotten. */
  points(): string[] {
    const told = this.heard.splice(0).flatMap((change) => (change.kind === 'telemetry' ? [change] : []))
    assert.ok(told.every(({ entity }) => entity === VIEW))
    return told.flatMap(({ points }) => points.map(({ key, ts }) => `${key} ${ts}`))
  }
}

test('points of the source are told of the view, within its keys and its time', async () => {
  const world = new World()
  await world.viewed.settled()
  world.save(SOURCE, point('a', 9), point('a', 10), point('b', 20), point('c', 29), point('c', 30))
  assert.deepEqual(world.points(), ['a 10', 'c 29'])
  world.save(SOURCE, point('b', 20))
  world.save(OTHER, point('a', 20))
  assert.deepEqual(world.heard, [])
  world.feed.publish({ kind: 'telemetry-deleted', entity: SOURCE, sequence: 2, keys: ['b', 'c'] })
  assert.deepEqual(world.heard, [{ kind: 'telemetry-deleted', entity: VIEW, sequence: 2, keys: ['c'] }])
})

test('a saved view shows nothing of its former source, and of the new one once that is known', async () => {
  const world = new World()
  await world.viewed.settled()
  world.shown = { source: OTHER, keys: ['b'], startTimeMs: 0, endTimeMs: 0 }
  world.feed.publish(SAVED)
  assert.deepEqual(world.heard.splice(0), [SAVED])
  world.save(SOURCE, point('a', 20))
  await world.viewed.settled()
  world.save(SOURCE, point('a', 21))
  world.save(OTHER, point('b', 22))
  assert.deepEqual(world.points(), ['b 22'])
})

test('what is saved while a view is looked up is looked up again', async () => {
  const world = new World()
  const settled = world.viewed.settled()
  world.shown = { source: OTHER, keys: ['b'], startTimeMs: 0, endTimeMs: 0 }
  world.feed.publish(SAVED)
  await settled
  world.heard.splice(0)
  world.save(SOURCE, point('a', 20))
  world.save(OTHER, point('b', 20))
  assert.deepEqual(world.points(), ['b 20'])
})

test('who can not be told what a view shows is told so, and asks again', async () => {
  const world = new World()
  world.failure = new Error('no answer')
  await assert.rejects(world.viewed.settled(), /no answer/)
  world.failure = undefined
  await world.viewed.settled()
  world.save(SOURCE, point('a', 20))
  assert.deepEqual(world.points(), ['a 20'])
})

test('whoever stops following leaves nobody behind', async () => {
  const world = new World()
  const settled = world.viewed.settled()
  world.stop()
  await settled
  world.save(SOURCE, point('a', 20))
  world.feed.publish(SAVED)
  assert.deepEqual(world.heard, [])
  assert.equal(world.feed.hasListeners(SOURCE, 'telemetry'), false)
})
