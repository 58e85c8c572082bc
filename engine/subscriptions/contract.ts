/** What every change feed promises; `change-feed.test.ts` and `cluster-change-feed.test.ts` run it. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { EntityId } from '../../model/entity-id.ts'
import type { Change, ChangeFeed } from './change.ts'

export interface FeedUnderTest {
  /** Where changes are published. */
  readonly publisher: ChangeFeed
  /** Where they are heard: the same feed, or another process's. */
  readonly listener: ChangeFeed
  /** What listeners threw. */
  readonly reported: readonly unknown[]
  /** Resolves when what was published and what was registered has arrived. */
  readonly arrived: () => Promise<void>
  readonly close: () => Promise<void>
}

const device = { entityType: 'DEVICE', id: '00000000-0000-4000-8000-000000000001' } as const
const other = { entityType: 'DEVICE', id: '00000000-0000-4000-8000-000000000002' } as const

function changeOf(entity: EntityId): Change {
  return { kind: 'device-changed', entity, credentialsChanged: false }
}

/** `open` gives nothing where it skipped the test. */
export function changeFeedContract(
  name: string,
  open: (context: TestContext) => Promise<FeedUnderTest | undefined>,
): void {
  const it = (behaviour: string, run: (feed: FeedUnderTest) => Promise<void>): void => {
    test(`${name}: ${behaviour}`, async (context) => {
      const feed = await open(context)
      if (feed === undefined) return
      try {
        await run(feed)
      } finally {
        await feed.close()
      }
    })
  }

  it('a listener hears the changes of its entity and no other', async ({ publisher, listener, arrived }) => {
    const heard: Change[] = []
    listener.listen(device, (change) => heard.push(change))
    await arrived()
    publisher.publish(changeOf(device))
    publisher.publish(changeOf(other))
    await arrived()
    assert.deepEqual(heard, [changeOf(device)])
  })

  it('who listens to a kind everywhere hears it of every entity, and no other kind', async (feed) => {
    const { publisher, listener, arrived } = feed
    const heard: string[] = []
    const stop = listener.listenToAll(['device-changed', 'telemetry'], (change) => heard.push(change.entity.id))
    await arrived()
    publisher.publish(changeOf(device))
    publisher.publish({ kind: 'entity-deleted', entity: device, tenantId: '' })
    publisher.publish(changeOf(other))
    await arrived()
    stop()
    publisher.publish(changeOf(device))
    await arrived()
    assert.deepEqual(heard, [device.id, other.id])
  })

  it('says whether anybody listens', async ({ publisher, listener, arrived }) => {
    assert.equal(publisher.hasListeners(device, 'telemetry'), false)
    const stop = listener.listen(device, () => undefined)
    await arrived()
    assert.equal(publisher.hasListeners(device, 'telemetry'), true)
    assert.equal(publisher.hasListeners(other, 'telemetry'), false)
    stop()
    stop()
    await arrived()
    assert.equal(publisher.hasListeners(device, 'telemetry'), false)
    const stopAll = listener.listenToAll(['attributes'], () => undefined)
    await arrived()
    assert.equal(publisher.hasListeners(device, 'attributes'), true)
    assert.equal(publisher.hasListeners(device, 'telemetry'), false)
    stopAll()
    stopAll()
    await arrived()
    assert.equal(publisher.hasListeners(device, 'attributes'), false)
  })

  it('one listener twice is two registrations, and stopping one leaves the other', async (feed) => {
    const { publisher, listener, arrived } = feed
    let heard = 0
    const listen = (): void => void heard++
    const stop = listener.listen(device, listen)
    listener.listen(device, listen)
    await arrived()
    publisher.publish(changeOf(device))
    await arrived()
    assert.equal(heard, 2)
    stop()
    stop()
    await arrived()
    publisher.publish(changeOf(device))
    await arrived()
    assert.equal(heard, 3)
  })

  it('a listener that throws is reported and the others still hear', async (feed) => {
    const { publisher, listener, reported, arrived } = feed
    const failure = new Error('a listener failed')
    const failing = (): never => {
      throw failure
    }
    let heard = 0
    listener.listenToAll(['device-changed'], failing)
    listener.listen(device, failing)
    listener.listen(device, () => heard++)
    await arrived()
    publisher.publish(changeOf(device))
    await arrived()
    assert.deepEqual(reported, [failure, failure])
    assert.equal(heard, 1)
  })

  it('what is published after `settled` is heard, in its order', async ({ publisher, listener, arrived }) => {
    const heard: boolean[] = []
    listener.listen(device, (change) => {
      if (change.kind === 'device-changed') heard.push(change.credentialsChanged)
    })
    await Promise.all([listener.settled(), arrived()])
    for (let count = 0; count < 20; count++) {
      publisher.publish({ kind: 'device-changed', entity: device, credentialsChanged: count % 3 === 0 })
    }
    await arrived()
    assert.deepEqual(
      heard,
      Array.from({ length: 20 }, (_, count) => count % 3 === 0),
    )
  })

  it('values keep their types on the way', async ({ publisher, listener, arrived }) => {
    const points = [
      { key: 'long', type: 'LONG', value: 2, ts: -5 },
      { key: 'exact', type: 'LONG', value: -(2n ** 63n), ts: 1 },
      { key: 'double', type: 'DOUBLE', value: 2, ts: 1 },
      { key: 'zero', type: 'DOUBLE', value: -0, ts: 1 },
      { key: 'endless', type: 'DOUBLE', value: Infinity, ts: 1 },
      { key: 'nothing', type: 'DOUBLE', value: NaN, ts: 1 },
      { key: '__proto__', type: 'STRING', value: '2.0\u0000"\ud83d\ude00', ts: 1 },
      { key: 'flag', type: 'BOOLEAN', value: false, ts: 1 },
      { key: 'object', type: 'JSON', value: '{"a":2.0}', ts: 1 },
    ] as const
    const attributes = [{ key: 'exact', type: 'LONG', value: 2n ** 63n - 1n, lastUpdateTs: 7 }] as const
    const heard: unknown[] = []
    listener.listen(device, (change) => {
      if (change.kind === 'telemetry') heard.push([change.sequence, change.points])
      if (change.kind === 'attributes') heard.push([change.sequence, change.scope, change.audience, change.attributes])
      if (change.kind.endsWith('-deleted') && 'keys' in change) heard.push([change.sequence, change.keys])
    })
    await arrived()
    publisher.publish({ kind: 'telemetry', entity: device, sequence: 7, points })
    const scope = 'SHARED_SCOPE'
    publisher.publish({ kind: 'attributes', entity: device, sequence: 8, scope, attributes, audience: 'device' })
    publisher.publish({ kind: 'telemetry-deleted', entity: device, sequence: 9, keys: ['a'] })
    publisher.publish({ kind: 'attributes-deleted', entity: device, sequence: undefined, scope, keys: ['b'] })
    await arrived()
    assert.deepEqual(heard, [
      [7, points],
      [8, 'SHARED_SCOPE', 'device', attributes],
      [9, ['a']],
      [undefined, ['b']],
    ])
  })
}
