import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { NO_LANES } from '../engine/parking/control.ts'
import { createServices } from '../services/create-services.ts'
import type { RuleChains } from '../services/rule-chains/rule-chains.ts'
import {
  openTestPlatform,
  TestClock,
  testCatalogue,
  testRandom,
  type TestPlatform,
  testSecrets,
  testScripts,
} from '../services/testkit.ts'
import { TestFeed } from '../engine/subscriptions/testkit.ts'
import { until } from '../test/support/until.ts'
import { RuleChainDeployment } from './rule-chain-deployment.ts'

/** A deployment in one process; `elsewhere` is another one on the same store, whose changes are told here or not. */
describe('rule chain deployment', () => {
  let platform: TestPlatform
  let elsewhere: RuleChains
  let elsewhereFeed: TestFeed
  let clock: TestClock
  let deployment: RuleChainDeployment
  let running: Map<string, string>
  let errors: string[]
  let isAway: boolean
  /** The chain that the engine was given as root last. */
  let root: string | undefined
  let loading: (name: string) => Promise<void>

  beforeEach(async () => {
    platform = await openTestPlatform()
    clock = new TestClock()
    running = new Map()
    errors = []
    isAway = false
    root = undefined
    loading = () => Promise.resolve()
    elsewhereFeed = new TestFeed(assert.ifError)
    const { entities, timeSeries, link, deadLetters, services, feed } = platform
    elsewhere = createServices({
      ...testSecrets(),
      entities,
      timeSeries,
      feed: elsewhereFeed,
      link,
      deadLetters,
      parked: NO_LANES,
      clock,
      random: testRandom,
      catalogue: testCatalogue,
      scripts: testScripts,
      attributeCacheBytes: 1 << 20,
      report: assert.ifError,
    }).ruleChains
    const note = (text: string): void => void errors.push(text)
    const inner = services.ruleChains
    const service = {
      root: (tenantId: string) => inner.root(tenantId),
      find: (tenantId: string, id: string) => answer(inner.find(tenantId, id)),
      sealedGraph: (tenantId: string, id: string) => answer(inner.sealedGraph(tenantId, id)),
      loadAll: () => answer(inner.loadAll()),
    }
    const engine = {
      load: async (chain: { readonly id: string; readonly name: string; readonly root: boolean }) => {
        await loading(chain.name)
        if (chain.root) root = chain.name
        running.set(chain.id, chain.name)
        return { error: undefined, nodes: [] }
      },
      remove: async (id: string) => void running.delete(id),
    }
    deployment = new RuleChainDeployment(service, engine, { debug: note, info: note, warn: note, error: note }, clock)
    services.deployments.follow('RULE_CHAIN', (id) => deployment.deployment(id))
    await deployment.start(feed)
  })

  afterEach(async () => {
    deployment.close()
    await platform.close()
  })

  async function answer<Value>(value: Promise<Value>): Promise<Value> {
    if (isAway) throw new Error('the store does not answer')
    return value
  }

  test('a chain of another process runs when that process tells of it', async () => {
    const stop = elsewhereFeed.listenToAll(['rule-chain-changed', 'entity-deleted'], (change) =>
      platform.feed.publish(change),
    )
    const { id } = await elsewhere.saveByUser(platform.tenant, { name: 'told' })
    await until(() => running.get(id) === 'told')
    await elsewhere.saveByUser(platform.tenant, { id, name: 'told anew' })
    await until(() => running.get(id) === 'told anew')
    await elsewhere.deleteByUser(platform.tenant, id)
    await until(() => !running.has(id))
    stop()
  })

  test('a former root that was read before its successor, and loaded after it, does not stay the root', async () => {
    const { ruleChains } = platform.services
    const former = await ruleChains.saveByUser(platform.tenant, { name: 'former' })
    const later = await ruleChains.saveByUser(platform.tenant, { name: 'later' })
    await ruleChains.setRootByUser(platform.tenant, former.id)
    await until(() => root === 'former')
    const held = Promise.withResolvers<undefined>()
    let isHeld = false
    loading = async (name) => {
      if (name !== 'former' || isHeld) return
      isHeld = true
      await held.promise
    }
    const saving = ruleChains.saveByUser(platform.tenant, { id: former.id, name: 'former' })
    await until(() => isHeld)
    await ruleChains.setRootByUser(platform.tenant, later.id)
    await until(() => root === 'later')
    let wasBack = false
    loading = async () => void (wasBack ||= root === 'former')
    held.resolve(undefined)
    await until(() => wasBack && root === 'later')
    await saving
  })

  test('after a gap the engine runs what the store has: new, changed, and nothing that is gone', async () => {
    const gone = await platform.services.ruleChains.saveByUser(platform.tenant, { name: 'gone' })
    const changed = await platform.services.ruleChains.saveByUser(platform.tenant, { name: 'before' })
    await until(() => running.get(gone.id) === 'gone' && running.get(changed.id) === 'before')
    await elsewhere.deleteByUser(platform.tenant, gone.id)
    await elsewhere.saveByUser(platform.tenant, { id: changed.id, name: 'after' })
    const { id } = await elsewhere.saveByUser(platform.tenant, { name: 'new' })
    assert.deepEqual([running.get(gone.id), running.get(changed.id), running.get(id)], ['gone', 'before', undefined])
    platform.feed.gap()
    await until(() => running.get(id) === 'new' && running.get(changed.id) === 'after' && !running.has(gone.id))
  })

  test('a store that does not answer after a gap, or after a change, is asked again', async () => {
    const { id } = await elsewhere.saveByUser(platform.tenant, { name: 'new' })
    isAway = true
    platform.feed.gap()
    await until(() => errors.length === 1)
    isAway = false
    clock.runTimers()
    await until(() => running.get(id) === 'new')
    await elsewhere.saveByUser(platform.tenant, { id, name: 'newer' })
    isAway = true
    const entity = { entityType: 'RULE_CHAIN', id } as const
    platform.feed.publish({ kind: 'rule-chain-changed', entity, tenantId: platform.tenantId })
    await until(() => errors.length === 2)
    isAway = false
    clock.runTimers()
    await until(() => running.get(id) === 'newer')
  })

  test('issue-8 I: a change waits for its own chain, and for no other', async () => {
    const held = Promise.withResolvers<undefined>()
    const other = await elsewhere.saveByUser(platform.tenant, { name: 'stuck' })
    loading = async (name) => (name === 'stuck' ? held.promise : undefined)
    const entity = { entityType: 'RULE_CHAIN', id: other.id } as const
    platform.feed.publish({ kind: 'rule-chain-changed', entity, tenantId: platform.tenantId })
    const service = platform.services.ruleChains
    const saved = await service.saveByUser(platform.tenant, { name: 'quick' })
    assert.equal(running.get(saved.id), 'quick')
    await service.saveGraphByUser(platform.tenant, {
      ruleChainId: saved.id,
      firstNodeIndex: null,
      nodes: [],
      connections: [],
    })
    await service.setRootByUser(platform.tenant, saved.id)
    assert.equal(root, 'quick')
    await service.setRootByUser(platform.tenant, (await service.createDefaultByUser(platform.tenant, 'next root')).id)
    assert.equal(root, 'next root')
    await service.deleteByUser(platform.tenant, saved.id)
    assert.equal(running.has(saved.id), false)
    held.resolve(undefined)
    await until(() => running.get(other.id) === 'stuck')
  })

  test('issue-8 I: a change is answered only when the engine runs its chain', async () => {
    const held = Promise.withResolvers<undefined>()
    loading = () => held.promise
    let isAnswered = false
    const saving = platform.services.ruleChains
      .saveByUser(platform.tenant, { name: 'mine' })
      .then(() => (isAnswered = true))
    for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(isAnswered, false)
    held.resolve(undefined)
    await saving
    assert.deepEqual([...running.values()].includes('mine'), true)
  })
})
