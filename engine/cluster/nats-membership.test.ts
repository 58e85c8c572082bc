import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../actor/testkit.ts'
import type { Member } from './membership.ts'
import { openMembership, type ClusterMembership } from './nats-membership.ts'
import { TestHub, type TestBus } from './testkit.ts'

function memberOf(id: string): Member {
  return { id, roles: ['engine'], startedAt: 1 }
}

class Bench {
  readonly clock = new ManualClock()
  readonly hub = new TestHub(this.clock)

  async open(id: string, cluster = 'one'): Promise<{ membership: ClusterMembership; bus: TestBus }> {
    const bus = this.hub.connect()
    const opening = openMembership({ bus, cluster, self: memberOf(id), clock: this.clock })
    await this.clock.advance(300)
    return { membership: await opening, bus }
  }
}

function ids(membership: ClusterMembership): readonly string[] {
  return membership.members().map(({ id }) => id)
}

test('a newcomer knows everybody when it is open, and everybody knows the newcomer', async () => {
  const bench = new Bench()
  const { membership: b } = await bench.open('b')
  const { membership: a } = await bench.open('a')
  assert.deepEqual(ids(a), ['a', 'b'])
  assert.deepEqual(ids(b), ['a', 'b'])
  assert.deepEqual(a.members()[1], memberOf('b'))
})

test('who is silent is gone after the time of silence, and is a member again when it speaks', async () => {
  const bench = new Bench()
  const { membership: a } = await bench.open('a')
  const { bus } = await bench.open('b')
  let changes = 0
  a.onChange(() => changes++)
  await bench.clock.advance(10_000)
  assert.deepEqual(ids(a), ['a', 'b'])
  bus.cut()
  await bench.clock.advance(2000)
  assert.deepEqual(ids(a), ['a', 'b'])
  await bench.clock.advance(1500)
  assert.deepEqual(ids(a), ['a'])
  assert.equal(changes, 1)
  bus.mend()
  await bench.clock.advance(600)
  assert.deepEqual(ids(a), ['a', 'b'])
  assert.equal(changes, 2)
})

test('who says good-bye is gone at once', async () => {
  const bench = new Bench()
  const { membership: a } = await bench.open('a')
  const { membership: b } = await bench.open('b')
  const closing = b.close()
  await bench.clock.settle()
  await closing
  assert.deepEqual(ids(a), ['a'])
  await bench.clock.advance(5000)
  assert.deepEqual(ids(a), ['a'])
})

test('who is cut off keeps its last view, says so, and takes nobody for gone when it is back', async () => {
  const bench = new Bench()
  const { membership: a, bus } = await bench.open('a')
  await bench.open('b')
  assert.equal(a.isConnected, true)
  bus.cut()
  assert.equal(a.isConnected, false)
  await bench.clock.advance(60_000)
  assert.deepEqual(ids(a), ['a', 'b'])
  const seen: (readonly string[])[] = []
  a.onChange(() => seen.push(ids(a)))
  bus.mend()
  await bench.clock.advance(3000)
  assert.equal(a.isConnected, true)
  assert.deepEqual(ids(a), ['a', 'b'])
  assert.deepEqual(seen, [])
})

test('who no longer hears itself is cut off, though its bus says that it is there', async () => {
  const bench = new Bench()
  const { membership: a, bus } = await bench.open('a')
  await bench.open('b')
  bench.hub.loses = (to) => to === bus
  await bench.clock.advance(3500)
  assert.equal(a.isConnected, false)
  assert.deepEqual(ids(a), ['a', 'b'])
  bench.hub.loses = () => false
  await bench.clock.advance(1000)
  assert.equal(a.isConnected, true)
})

test('clusters of different names on one bus do not know each other', async () => {
  const bench = new Bench()
  const { membership: a } = await bench.open('a', 'one')
  const { membership: b } = await bench.open('b', 'other')
  assert.deepEqual(ids(a), ['a'])
  assert.deepEqual(ids(b), ['b'])
})
