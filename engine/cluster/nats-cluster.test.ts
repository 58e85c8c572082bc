/** Membership and change feed over a real NATS, with the real clock. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { systemClock } from '../../model/system-clock.ts'
import { requireOwnServer, requireServer, startNats } from '../../test/support/servers/index.ts'
import type { Change } from '../subscriptions/change.ts'
import { changeFeedContract, type FeedUnderTest } from '../subscriptions/contract.ts'
import { openClusterChangeFeed, type ClusterChangeFeed } from './cluster-change-feed.ts'
import { natsBus } from './nats-bus.ts'
import { connectNats } from './nats-connection.ts'
import { openMembership, type ClusterMembership } from './nats-membership.ts'

const device = { entityType: 'DEVICE', id: '00000000-0000-4000-8000-000000000001' } as const

interface TestProcess {
  readonly membership: ClusterMembership
  readonly feed: ClusterChangeFeed
  readonly reported: unknown[]
  close(): Promise<void>
}

async function startProcess(servers: string, cluster: string): Promise<TestProcess> {
  const clock = systemClock
  const reported: unknown[] = []
  const report = (error: unknown): void => void reported.push(error)
  const line = await connectNats({ servers, name: 'test', clock })
  const bus = natsBus(line, report)
  const self = { id: randomUUID(), roles: [], startedAt: clock.now() }
  const membership = await openMembership({ bus, cluster, self, clock })
  const feed = await openClusterChangeFeed({ bus, membership, cluster, clock, report })
  return {
    membership,
    feed,
    reported,
    close: async () => {
      await feed.close()
      await membership.close()
      await line.close()
    },
  }
}

function changeOf(credentialsChanged = false): Change {
  return { kind: 'device-changed', entity: device, credentialsChanged }
}

/** Resolves with the first gap from now on. */
function gapOf(feed: ClusterChangeFeed): Promise<void> {
  return new Promise((resolve) => {
    const stop = feed.onGap(() => {
      stop()
      resolve()
    })
  })
}

/** Resolves when the listener of the other process is known, or forgotten, here. */
async function knows(feed: ClusterChangeFeed, isKnown: boolean): Promise<void> {
  while (feed.hasListeners(device, 'telemetry') !== isKnown) await new Promise((resolve) => setImmediate(resolve))
}

test('real NATS', { timeout: 300_000 }, async (context) => {
  if (!requireServer(context, 'nats')) return
  const server = await startNats()
  context.after(() => server.stop())

  await context.test('three processes meet, and a change reaches those who want it', async () => {
    const cluster = randomUUID()
    const [one, two] = await Promise.all([startProcess(server.url, cluster), startProcess(server.url, cluster)])
    const three = await startProcess(server.url, cluster)
    try {
      assert.equal(three.membership.members().length, 3)
      assert.deepEqual(one.membership.members(), three.membership.members())
      const heard = new Promise<Change>((resolve) => void two.feed.listen(device, resolve))
      await two.feed.settled()
      assert.equal(three.feed.hasListeners(device, 'telemetry'), true)
      assert.equal(one.feed.hasListeners(device, 'telemetry'), true)
      three.feed.publish(changeOf(true))
      assert.deepEqual(await heard, changeOf(true))
      assert.deepEqual(two.feed.figures().gaps, 0)
    } finally {
      await Promise.all([one.close(), two.close(), three.close()])
    }
    assert.deepEqual([...one.reported, ...two.reported, ...three.reported], [])
  })

  await context.test('what does not fit into one message is a gap', async () => {
    const cluster = randomUUID()
    const one = await startProcess(server.url, cluster)
    const two = await startProcess(server.url, cluster)
    try {
      two.feed.listen(device, () => undefined)
      await two.feed.settled()
      const gap = gapOf(two.feed)
      const points = [{ key: 'text', type: 'STRING', value: 'x'.repeat(17 * 2 ** 20), ts: 1 }] as const
      one.feed.publish({ kind: 'telemetry', entity: device, sequence: 1, points })
      await gap
      assert.equal(one.feed.figures().refused, 1)
    } finally {
      await Promise.all([one.close(), two.close()])
    }
  })
})

test('NATS goes and comes back: a gap is told, and then all is heard', { timeout: 300_000 }, async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const server = await startNats()
  context.after(() => server.stop())
  const cluster = randomUUID()
  const one = await startProcess(server.url, cluster)
  const two = await startProcess(server.url, cluster)
  try {
    let shown = 0
    let stored = 0
    const heard: (() => void)[] = []
    two.feed.listen(device, () => {
      shown = stored
      for (const resolve of heard.splice(0)) resolve()
    })
    two.feed.onGap(() => (shown = stored))
    await two.feed.settled()
    await server.kill()
    stored = 1
    one.feed.publish(changeOf()) // Lost with the server.
    const gap = gapOf(two.feed)
    await server.restart()
    await gap
    assert.equal(shown, 1)
    // Until the two have met again, each loss is one more gap.
    while (shown < 2) {
      stored = 2
      const next = new Promise<void>((resolve) => heard.push(resolve))
      one.feed.publish(changeOf())
      await Promise.race([next, gapOf(two.feed)])
    }
    await knows(one.feed, true)
    assert.equal(one.membership.members().length, 2)
    assert.equal(two.membership.members().length, 2)
  } finally {
    await Promise.all([one.close(), two.close()])
  }
})

async function openFeeds(context: TestContext): Promise<FeedUnderTest | undefined> {
  if (!requireServer(context, 'nats')) return undefined
  const server = await startNats()
  context.after(() => server.stop())
  const cluster = randomUUID()
  const one = await startProcess(server.url, cluster)
  const two = await startProcess(server.url, cluster)
  return { publisher: one.feed, listener: two.feed, reported: two.reported, ...meeting(one, two) }
}

/** What is known of one another goes to and fro once: all that was said before has then arrived. */
function meeting(one: TestProcess, two: TestProcess): Pick<FeedUnderTest, 'arrived' | 'close'> {
  const roundTrip = async (from: TestProcess): Promise<void> => {
    const stop = from.feed.listen({ entityType: 'DEVICE', id: randomUUID() }, () => undefined)
    await from.feed.settled()
    stop()
  }
  return {
    arrived: async () => {
      await roundTrip(two)
      await roundTrip(one)
    },
    close: async () => {
      await Promise.all([one.close(), two.close()])
    },
  }
}

changeFeedContract('over NATS', openFeeds)
