import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../actor/testkit.ts'
import type { Change } from '../subscriptions/change.ts'
import { changeFeedContract } from '../subscriptions/contract.ts'
import { openClusterChangeFeed, type ClusterChangeFeed } from './cluster-change-feed.ts'
import { openMembership, type ClusterMembership } from './nats-membership.ts'
import { TestHub, type TestBus } from './testkit.ts'

const device = { entityType: 'DEVICE', id: '00000000-0000-4000-8000-000000000001' } as const

function changeOf(credentialsChanged = false): Change {
  return { kind: 'device-changed', entity: device, credentialsChanged }
}

interface TestProcess {
  readonly id: string
  readonly bus: TestBus
  readonly membership: ClusterMembership
  readonly feed: ClusterChangeFeed
  readonly reported: unknown[]
  /** Gaps told so far, and since when the last one was. */
  gaps: number
  since: number
}

class Bench {
  readonly clock = new ManualClock()
  readonly hub = new TestHub(this.clock)

  async start(id: string): Promise<TestProcess> {
    const bus = this.hub.connect()
    const reported: unknown[] = []
    const self = { id, roles: [], startedAt: this.clock.now() }
    const { clock } = this
    const membership = await this.when(openMembership({ bus, cluster: 'test', self, clock }))
    const report = (error: unknown): void => void reported.push(error)
    const feed = await this.when(openClusterChangeFeed({ bus, membership, cluster: 'test', clock, report }))
    const process = { id, bus, membership, feed, reported, gaps: 0, since: 0 }
    feed.onGap((since) => {
      process.gaps++
      process.since = since
    })
    return process
  }

  /** Moves the time until it is there. */
  async when<Value>(promise: Promise<Value>): Promise<Value> {
    let isOver = false
    const over = (): void => void (isOver = true)
    promise.then(over, over)
    for (let waited = 0; !isOver; waited += 10) {
      assert.ok(waited < 20_000, 'this takes too long')
      await this.clock.advance(10)
    }
    return promise
  }

  /** Whether it is there without any time passing. */
  async isAtOnce(promise: Promise<void>): Promise<boolean> {
    let isOver = false
    void promise.then(() => (isOver = true))
    await this.clock.settle()
    return isOver
  }
}

changeFeedContract('between two processes', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  const two = await bench.start('two')
  return {
    publisher: one.feed,
    listener: two.feed,
    reported: two.reported,
    arrived: () => bench.clock.settle(),
    close: async () => {
      await bench.when(Promise.all([one.feed.close(), two.feed.close()]))
      assert.deepEqual([one.gaps, two.gaps, one.reported], [0, 0, []])
    },
  }
})

test('`settled` waits until every member knows what is wanted, and no longer', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  assert.equal(await bench.isAtOnce(one.feed.settled()), true)
  const two = await bench.start('two')
  two.bus.pause()
  one.feed.listen(device, () => undefined)
  const settled = one.feed.settled()
  assert.equal(await bench.isAtOnce(settled), false)
  two.bus.goOn()
  assert.equal(await bench.isAtOnce(settled), true)
  assert.equal(two.feed.hasListeners(device, 'telemetry'), true)
  const { length } = bench.hub.said
  one.feed.listen(device, () => undefined)
  assert.equal(await bench.isAtOnce(one.feed.settled()), true)
  assert.equal(bench.hub.said.length, length, 'a second listener of the entity is no news')
})

test('`settled` does not wait for a member that is gone', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  const two = await bench.start('two')
  two.bus.pause()
  one.feed.listen(device, () => undefined)
  const settled = one.feed.settled()
  assert.equal(await bench.isAtOnce(settled), false)
  const leaving = two.membership.close()
  assert.equal(await bench.isAtOnce(settled), true)
  assert.equal(one.feed.figures().unsettled, 0)
  await leaving
})

test('a wait in vain ends, and a gap is told when the member has learnt what is wanted', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  const two = await bench.start('two')
  two.bus.pause()
  const heard: Change[] = []
  one.feed.listen(device, (change) => heard.push(change))
  await bench.when(one.feed.settled())
  assert.equal(one.feed.figures().unsettled, 1)
  assert.equal(one.gaps, 0)
  two.feed.publish(changeOf()) // Committed there, and not sent: nobody seemed to want it.
  two.bus.goOn()
  await bench.clock.settle()
  assert.deepEqual([heard, one.gaps], [[], 1])
})

test('a newcomer knows what everybody wants before its first change, and is no gap to anybody', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  const heard: string[] = []
  one.feed.listen(device, (change) => heard.push(change.kind))
  one.feed.listenToAll(['entity-deleted'], (change) => heard.push(change.kind))
  const two = await bench.start('two')
  two.feed.publish(changeOf())
  two.feed.publish({ kind: 'entity-deleted', entity: { ...device, id: 'another' }, tenantId: '' })
  await bench.clock.advance(2000)
  assert.deepEqual(heard, ['device-changed', 'entity-deleted'])
  assert.deepEqual([one.gaps, two.gaps], [0, 0])
})

test('the changes of a turn are one message to each who wants some, and none to who does not', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  const two = await bench.start('two')
  const three = await bench.start('three')
  let heard = 0
  two.feed.listen(device, () => heard++)
  three.feed.listenToAll(['rule-chain-changed'], () => heard++)
  await bench.clock.settle()
  bench.hub.said.length = 0
  for (let count = 0; count < 50; count++) one.feed.publish(changeOf())
  await bench.clock.settle()
  assert.equal(heard, 50)
  assert.deepEqual(
    bench.hub.said.map(({ subject }) => subject),
    ['test.changes.two'],
  )
})

test('a lost message is a gap, also where it was the last, and what comes after it is heard', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  const two = await bench.start('two')
  const heard: boolean[] = []
  two.feed.listen(device, (change) => heard.push(change.kind === 'device-changed' && change.credentialsChanged))
  await bench.clock.settle()
  bench.hub.loses = (_to, _subject, body) => body.includes('"credentialsChanged":true')
  one.feed.publish(changeOf(true))
  await bench.clock.settle()
  assert.deepEqual([heard, two.gaps], [[], 0])
  await bench.clock.advance(600)
  assert.ok(two.gaps > 0)
  one.feed.publish(changeOf(false))
  await bench.clock.advance(2000)
  assert.deepEqual(heard, [false])
  const { gaps } = two
  await bench.clock.advance(20_000)
  assert.equal(two.gaps, gaps, 'one loss is told until it is over and not for ever')
})

test('what was lost behind the loss that was found is a gap too', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  const two = await bench.start('two')
  let heard = 0
  two.feed.listen(device, () => heard++)
  await bench.clock.advance(1200)
  bench.hub.loses = (_to, _subject, body) => body.includes('"credentialsChanged":true')
  one.feed.publish(changeOf(true))
  await bench.clock.settle()
  one.feed.publish(changeOf(false)) // Shows that the one before is missing.
  bench.clock.turn()
  one.feed.publish(changeOf(true)) // Lost before the new session that will be asked for.
  await bench.clock.advance(3000)
  assert.equal(heard, 1)
  assert.equal(two.gaps, 2)
})

test('a loss is found and mended wherever it strikes', async () => {
  for (let lost = 0; lost < 30; lost++) {
    const bench = new Bench()
    let count = 0
    bench.hub.loses = (_to, subject) => subject.includes('.changes.') && count++ === lost
    const one = await bench.start('one')
    const two = await bench.start('two')
    const heard: boolean[] = []
    two.feed.listen(device, (change) => heard.push(change.kind === 'device-changed' && change.credentialsChanged))
    await bench.clock.settle()
    const wasMissed = !one.feed.hasListeners(device, 'device-changed')
    one.feed.publish(changeOf(true))
    await bench.clock.advance(3000)
    if (!heard.includes(true)) assert.ok(two.gaps > 0, `message ${lost} was lost, and nobody was told`)
    if (wasMissed) assert.ok(two.gaps > 0, `message ${lost} told what is wanted, and nobody said that it came late`)
    const before = heard.length
    one.feed.publish(changeOf(false))
    await bench.clock.settle()
    assert.deepEqual(heard.slice(before), [false], `message ${lost} is made good`)
  }
})

test('who went without good-bye is a gap, who said it is none', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  const two = await bench.start('two')
  const three = await bench.start('three')
  await bench.when(two.feed.close())
  await bench.when(two.membership.close())
  await bench.clock.advance(5000)
  assert.deepEqual([one.gaps, three.gaps], [0, 0])
  three.bus.cut()
  await bench.clock.advance(4000)
  assert.equal(one.gaps, 1)
  one.feed.listen(device, () => undefined)
  assert.equal(await bench.isAtOnce(one.feed.settled()), true, 'nobody is left')
})

test('who was cut off hears of a gap when it is back, and then of every change again', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  const two = await bench.start('two')
  let heard = 0
  two.feed.listen(device, () => heard++)
  await bench.clock.settle()
  for (const awayMs of [400, 10_000]) {
    heard = 0
    two.gaps = 0
    two.bus.cut()
    one.feed.publish(changeOf())
    await bench.clock.advance(awayMs)
    two.bus.mend()
    await bench.clock.advance(3000)
    assert.equal(heard, 0)
    assert.ok(two.gaps > 0)
    one.feed.publish(changeOf())
    await bench.clock.settle()
    assert.equal(heard, 1)
    two.gaps = 0
    await bench.clock.advance(20_000)
    assert.equal(two.gaps, 0, 'and then there is peace')
  }
})

test('a member that stood still tells its late changes, and those it did not tell are a gap', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  const two = await bench.start('two')
  let heard = 0
  one.feed.listen(device, () => heard++)
  await bench.clock.settle()
  bench.hub.loses = (to, _subject, body) => to === one.bus && body.includes('"two"')
  await bench.clock.advance(5000)
  assert.equal(one.gaps, 1)
  one.gaps = 0
  two.feed.publish(changeOf())
  await bench.clock.settle()
  bench.hub.loses = () => false
  await bench.clock.advance(3000)
  assert.equal(heard, 0)
  assert.ok(one.gaps > 0)
  two.feed.publish(changeOf())
  await bench.clock.settle()
  assert.equal(heard, 1)
})

test('a great many listeners are told in parts', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  const ids = Array.from({ length: 25_000 }, (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`)
  const stops = ids.map((id) => one.feed.listen({ entityType: 'DEVICE', id }, () => undefined))
  const two = await bench.start('two')
  const wanted = (): number =>
    ids.filter((id) => two.feed.hasListeners({ entityType: 'DEVICE', id }, 'telemetry')).length
  await bench.when(one.feed.settled())
  assert.equal(wanted(), ids.length)
  for (const { body } of bench.hub.said) assert.ok(body.length < 600_000)
  for (const stop of stops) stop()
  await bench.when(one.feed.settled())
  assert.equal(wanted(), 0)
})

test('a change of a kind that this version does not know is reported, and is a gap', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  const two = await bench.start('two')
  const heard: Change[] = []
  two.feed.listen(device, (change) => heard.push(change))
  await bench.clock.settle()
  const from = JSON.stringify({ from: 'one', session: 1e9, number: 1, changes: [{ kind: 'later' }, changeOf()] })
  one.bus.publish('test.changes.two', from)
  one.bus.publish('test.changes.two', 'no JSON')
  await bench.clock.settle()
  assert.deepEqual(heard, [changeOf()])
  assert.equal(two.reported.length, 2)
  assert.ok(two.gaps > 0)
})

test('a gap says since when: not later than the first change that was missed, and not long before it', async () => {
  const bench = new Bench()
  const one = await bench.start('one')
  const two = await bench.start('two')
  two.feed.listen(device, () => undefined)
  await bench.clock.advance(60_000)
  const lost = bench.clock.now()
  bench.hub.loses = (_to, subject) => subject.startsWith('test.changes')
  one.feed.publish(changeOf())
  await bench.clock.advance(1800)
  bench.hub.loses = () => false
  await bench.clock.advance(1000)
  assert.ok(two.gaps > 0)
  assert.ok(two.since <= lost && two.since > lost - 3000, `${lost - two.since} ms before`)
  await bench.clock.advance(60_000)
  two.gaps = 0
  two.bus.cut()
  const cut = bench.clock.now()
  await bench.clock.advance(20_000)
  two.bus.mend()
  await bench.clock.settle()
  assert.equal(two.gaps, 1)
  assert.ok(two.since <= cut && two.since > cut - 3000, `${cut - two.since} ms before`)
})
