/** Subscriptions in a cluster: what other processes commit has the store's numbers too, comes when it comes, and some is missed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DataPoint } from '../../model/value.ts'
import { Rereads } from './rereads.ts'
import { AttributesSelection, TimeSeriesSelection, type Selection } from './selection.ts'
import { Subscription } from './subscription.ts'
import { OPEN, DEVICE, point, settled, StepClock, TestErrors, TestStore } from './testkit.ts'

interface Frame {
  readonly data: Readonly<Record<string, readonly (readonly [number, string | null])[]>>
}

class Bench {
  readonly clock = new StepClock()
  readonly store = new TestStore()
  private readonly rereads = new Rereads(this.clock, () => undefined).of('tenant')
  private readonly sent: Frame[] = []

  timeSeries(window?: { startTs: number; endTs: number }): Subscription {
    return this.subscription(
      new TimeSeriesSelection(this.store.services.telemetry, {
        entity: DEVICE,
        keys: ['a', 'b'],
        window,
        latestOnly: false,
        now: () => 0,
      }),
    )
  }

  attributes(): Subscription {
    return this.subscription(new AttributesSelection(this.store.services.attributes, DEVICE, undefined, undefined))
  }

  /** Another process commits points here, and its telling comes when the returned function is called. */
  remote(...points: readonly DataPoint[]): () => void {
    const sequence = ++this.store.sequence
    for (const each of points) this.store.points.push({ ...each, sequence })
    return () => this.store.feed.publish({ kind: 'telemetry', entity: DEVICE, sequence, remote: true, points })
  }

  /** The same of an attribute; the last commit is what the store holds. */
  remoteAttribute(key: string, value: number, lastUpdateTs: number): () => void {
    const sequence = ++this.store.sequence
    const attribute = { key, type: 'LONG', value, lastUpdateTs } as const
    const scope = 'SHARED_SCOPE'
    const { attributes } = this.store
    attributes.splice(0, attributes.length, ...attributes.filter((each) => each.key !== key), { ...attribute, scope })
    return () =>
      this.store.feed.publish({
        ...{ kind: 'attributes', entity: DEVICE, sequence, remote: true, scope },
        attributes: [attribute],
      })
  }

  async turn(): Promise<void> {
    for (let count = 0; count < 5; count++) await settled()
    this.clock.endTurn()
  }

  /** What was sent since the last call. */
  frames(): unknown[] {
    return this.sent.splice(0).map(({ data }) => data)
  }

  private subscription(selection: Selection): Subscription {
    return new Subscription(
      7,
      'time-series',
      DEVICE,
      selection,
      {
        feed: this.store.feed,
        send: (text) => this.sent.push(JSON.parse(text) as Frame),
        isSlow: false,
        whenDrained: () => undefined,
        atTurnEnd: (each) => this.clock.soon(() => each.flush()),
        rereads: this.rereads,
      },
      OPEN,
    )
  }
}

test('the snapshot is read when every process knows of the subscription', async () => {
  const bench = new Bench()
  bench.store.feed.unsettle()
  const started = bench.timeSeries({ startTs: 0, endTs: 100 }).start()
  await bench.turn()
  bench.remote(point('a', 1, 1)) // Committed before the others knew: told to nobody.
  bench.store.feed.settle()
  await started
  assert.deepEqual(bench.frames(), [{ a: [[1, '1']] }])
})

test('a remote point is shown once, whether its telling comes before, in or after the snapshot that holds it', async () => {
  for (const when of ['before', 'in', 'after']) {
    const bench = new Bench()
    const tell = bench.remote(point('a', 1, 1), point('a', 2, 2))
    bench.store.hold()
    const started = bench.timeSeries({ startTs: 0, endTs: 100 }).start()
    if (when === 'before') tell()
    await bench.turn()
    if (when === 'in') tell()
    bench.store.release()
    await started
    if (when === 'after') tell()
    await bench.turn()
    const shown = bench.frames().flatMap((data) => (data as Frame['data'])['a'] ?? [])
    assert.deepEqual(shown.map(([ts]) => ts).sort(), [1, 2], when)
  }
})

test('a remote point that no snapshot holds is shown, and one that is in none for certain too', async () => {
  const bench = new Bench()
  bench.store.sequence = 1000
  await bench.timeSeries().start()
  bench.frames()
  bench.remote(point('a', 5, 7))()
  const unnumbered = { kind: 'telemetry', entity: DEVICE, sequence: undefined, remote: true } as const
  bench.store.feed.publish({ ...unnumbered, points: [point('a', 5, 8)] })
  await bench.turn()
  assert.deepEqual(bench.frames(), [
    {
      a: [
        [5, '7'],
        [5, '8'],
      ],
    },
  ])
})

test('a point that the snapshot held beyond its number is shown again, and is the same point', async () => {
  const bench = new Bench()
  bench.store.sequence = 10
  const tell = bench.remote(point('a', 1, 1))
  // As where an older transaction still runs: the store can not say more.
  bench.store.sequence = 10
  await bench.timeSeries().start()
  tell()
  await bench.turn()
  const shown = bench.frames().flatMap((data) => (data as Frame['data'])['a'] ?? [])
  assert.deepEqual(shown, [
    [1, '1'],
    [1, '1'],
  ])
})

test('after a gap the latest values that changed are sent, those that went too, and nothing else', async () => {
  const bench = new Bench()
  bench.store.save(point('a', 1, 1), point('b', 1, 1))
  await bench.timeSeries().start()
  bench.frames()
  bench.store.feed.gap()
  await bench.turn()
  assert.deepEqual(bench.frames(), [])
  bench.remote(point('a', 2, 2))
  bench.store.points.splice(1, 1)
  bench.store.feed.gap()
  await bench.turn()
  assert.deepEqual(bench.frames(), [{ a: [[2, '2']] }, { b: [[0, '']] }])
})

test('after a gap a chart gets every point that it missed', async () => {
  const bench = new Bench()
  bench.store.save(point('a', 1, 1))
  await bench.timeSeries({ startTs: 0, endTs: 10 }).start()
  bench.frames()
  for (const ts of [20, 21, 22]) bench.remote(point('a', ts, ts))
  bench.store.feed.gap()
  await bench.turn()
  const [shown] = bench.frames() as Frame['data'][]
  assert.deepEqual(shown?.['a']?.map(([ts]) => ts).toSorted(), [20, 21, 22])
})

test('what comes while it is read again is shown once', async () => {
  const bench = new Bench()
  bench.store.save(point('a', 1, 1))
  await bench.timeSeries().start()
  bench.frames()
  bench.store.hold()
  bench.store.feed.gap()
  await bench.turn()
  bench.remote(point('a', 2, 2))()
  bench.store.save(point('a', 3, 3))
  bench.store.release()
  await bench.turn()
  const shown = (bench.frames() as Frame['data'][]).flatMap((data) => data['a'] ?? [])
  assert.deepEqual(shown, [[3, '3']])
})

test('a gap while the snapshot is read has it read again', async () => {
  const bench = new Bench()
  bench.store.hold()
  const started = bench.timeSeries().start()
  await bench.turn()
  bench.store.feed.gap()
  bench.remote(point('a', 1, 1))
  bench.store.release()
  await started
  assert.deepEqual(bench.frames(), [
    {
      a: [[1, '1']],
      b: [[0, null]],
    },
  ])
})

test('a store that does not answer after a gap is asked until it does; what comes meanwhile is shown', async () => {
  const bench = new Bench()
  await bench.timeSeries().start()
  bench.frames()
  bench.remote(point('a', 1, 1))
  bench.store.failure = TestErrors.NOT_FOUND()
  bench.store.feed.gap()
  await bench.turn()
  bench.remote(point('b', 1, 1))()
  await bench.turn()
  assert.deepEqual(bench.frames(), [{ b: [[1, '1']] }])
  bench.store.failure = undefined
  bench.clock.advance(1000)
  await bench.turn()
  assert.deepEqual(bench.frames(), [{ a: [[1, '1']] }])
})

test('a closed subscription hears of no gap', async () => {
  const bench = new Bench()
  const subscription = bench.timeSeries()
  await subscription.start()
  subscription.close()
  assert.equal(bench.store.feed.gapListenerCount, 0)
})

test('of an attribute that two processes wrote the value stays that the store holds', async () => {
  const bench = new Bench()
  const first = bench.remoteAttribute('a', 1, 10)
  await bench.attributes().start()
  bench.frames()
  first()
  await bench.turn()
  assert.deepEqual(bench.frames(), [])
  const older = bench.remoteAttribute('a', 2, 11)
  const newer = bench.remoteAttribute('a', 3, 12)
  newer()
  older()
  await bench.turn()
  assert.deepEqual(bench.frames(), [{ a: [[12, '3']] }])
})

test('a remote deletion shows what the store has then', async () => {
  const bench = new Bench()
  const { feed } = bench.store
  bench.store.saveAttributes('SHARED_SCOPE', { key: 'a', type: 'LONG', value: 1, lastUpdateTs: 10 })
  bench.store.saveAttributes('SHARED_SCOPE', { key: 'b', type: 'LONG', value: 1, lastUpdateTs: 10 })
  await bench.attributes().start()
  bench.frames()
  const deletion = { kind: 'attributes-deleted', entity: DEVICE, sequence: 1000, remote: true } as const
  feed.publish({ ...deletion, scope: 'SHARED_SCOPE', keys: ['b'] }) // Written anew before this was told.
  await bench.turn()
  assert.deepEqual(bench.frames(), [])
  bench.store.attributes.splice(0, 1)
  feed.publish({ ...deletion, scope: 'SHARED_SCOPE', keys: ['a'] })
  await bench.turn()
  assert.deepEqual(bench.frames(), [{ a: [[0, '']] }])
})
