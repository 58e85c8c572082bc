import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Rereads } from './rereads.ts'
import { Subscription } from './subscription.ts'
import { TimeSeriesSelection } from './selection.ts'
import { OPEN, DEVICE, point, settled, StepClock, TestStore } from './testkit.ts'

interface Frame {
  readonly data: Readonly<Record<string, readonly (readonly [number, string | null])[]>>
}

function subscribe(store: TestStore, clock: StepClock, window: boolean) {
  const frames: Frame[] = []
  const selection = new TimeSeriesSelection(store.services.telemetry, {
    entity: DEVICE,
    keys: ['a'],
    window: window ? { startTs: 0, endTs: 1e15 } : undefined,
    latestOnly: false,
    now: () => clock.now(),
  })
  const subscription = new Subscription(
    7,
    'time-series',
    DEVICE,
    selection,
    {
      feed: store.feed,
      send: (text) => frames.push(JSON.parse(text) as Frame),
      isSlow: false,
      whenDrained: () => undefined,
      atTurnEnd: (each) => clock.soon(() => each.flush()),
      rereads: new Rereads(clock, () => undefined).of('tenant'),
    },
    OPEN,
  )
  return { subscription, frames }
}

/** A small generator (mulberry32), so that a failing run can be repeated by its seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

describe('subscription', () => {
  test('shows every point once and in order, however commits, tellings, reads and turns interleave', async () => {
    const firstSeed = Date.now() % 1_000_000
    for (let seed = firstSeed; seed < firstSeed + 200; seed++) {
      const random = randomOf(seed)
      const clock = new StepClock()
      const store = new TestStore()
      const untold: (() => void)[] = []
      let made = 0
      const step = async (): Promise<void> => {
        const choice = random()
        if (choice < 0.4) untold.push(store.commit(point('a', ++made, made), point('other', made, 0)))
        else if (choice < 0.75) untold.shift()?.()
        else if (choice < 0.9) clock.endTurn()
        else await settled()
      }
      for (let count = 0; count < 5; count++) await step()
      store.hold()
      const { subscription, frames } = subscribe(store, clock, true)
      const started = subscription.start()
      for (let count = 0; count < 12; count++) await step()
      store.release()
      for (let count = 0; count < 12; count++) await step()
      await started
      for (const tell of untold) tell()
      clock.endTurn()
      const shown = frames.flatMap((frame) => frame.data['a'] ?? []).map(([ts]) => ts)
      const expected = Array.from({ length: made }, (_, index) => index + 1)
      assert.deepEqual(shown, expected, `seed ${seed}`)
      assert.ok(frames.every((frame) => frame.data['other'] === undefined))
    }
  })

  test('sends its snapshot first, also when it is empty, and one frame a turn afterwards', async () => {
    const clock = new StepClock()
    const store = new TestStore()
    const { subscription, frames } = subscribe(store, clock, true)
    await subscription.start()
    assert.deepEqual(frames.splice(0), [
      { subscriptionId: 7, errorCode: 0, errorMsg: null, data: {}, latestValues: {} },
    ])
    store.save(point('a', 2, 20))
    store.save(point('a', 1, 10))
    assert.deepEqual(frames, [])
    clock.endTurn()
    assert.deepEqual(frames, [
      {
        subscriptionId: 7,
        errorCode: 0,
        errorMsg: null,
        data: {
          a: [
            [2, '20'],
            [1, '10'],
          ],
        },
        latestValues: { a: 1 },
      },
    ])
  })

  test('shows what is told and never stored, even when the snapshot is newer', async () => {
    const clock = new StepClock()
    const store = new TestStore()
    store.hold()
    const { subscription, frames } = subscribe(store, clock, false)
    const started = subscription.start()
    store.feed.publish({ kind: 'telemetry', entity: DEVICE, sequence: undefined, points: [point('a', 5, 1)] })
    store.commit(point('a', 6, 2))
    store.release()
    await started
    clock.endTurn()
    assert.deepEqual(
      frames.map((frame) => frame.data['a']),
      [[[6, '2']], [[5, '1']]],
    )
  })

  test('reads again when more happens during the read than it keeps', async () => {
    const clock = new StepClock()
    const store = new TestStore()
    store.hold()
    const { subscription, frames } = subscribe(store, clock, true)
    const started = subscription.start()
    for (let ts = 1; ts <= 1500; ts++) store.save(point('a', ts, ts))
    store.release()
    await started
    assert.equal(frames.length, 1)
    assert.equal(frames[0]?.data['a']?.length, 1500)
    clock.endTurn()
    assert.equal(frames.length, 1)
  })

  test('tells a deleted key and its return in two frames', async () => {
    const clock = new StepClock()
    const store = new TestStore()
    const { subscription, frames } = subscribe(store, clock, false)
    await subscription.start()
    store.feed.publish({ kind: 'telemetry-deleted', entity: DEVICE, sequence: 1, keys: ['a', 'other'] })
    store.feed.publish({ kind: 'telemetry', entity: DEVICE, sequence: 1, points: [point('a', 3, 30)] })
    clock.endTurn()
    assert.deepEqual(
      frames.slice(1).map((frame) => frame.data),
      [{ a: [[0, '']] }, { a: [[3, '30']] }],
    )
  })

  test('is silent once it is closed, also during its read', async () => {
    const clock = new StepClock()
    const store = new TestStore()
    store.hold()
    const { subscription, frames } = subscribe(store, clock, false)
    const started = subscription.start()
    subscription.close()
    store.release()
    await started
    store.save(point('a', 1, 1))
    clock.endTurn()
    assert.deepEqual(frames, [])
    assert.equal(store.feed.hasListeners(DEVICE, 'telemetry'), false)
  })
})
