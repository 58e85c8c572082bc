import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { openEntityStore, type EntityStore } from '../../storage/entities/entity-store.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { DECLARED_TABLES } from '../entities/declared.ts'
import { openTestPlatform, testSecrets, type TestPlatform } from '../testkit.ts'
import { VAULT_KEY_BYTES } from '../vault/vault.ts'
import { differenceLines } from './diff.ts'
import type { NodeDraft } from './drafts.ts'
import { MAX_CHAIN_VERSIONS } from './versions.ts'

const SECRET = 'hunter2-of-the-broker'
const login = (password: string) => ({ host: 'broker', credentials: { type: 'basic', username: 'u', password } })

function publisher(password: string, id?: string): NodeDraft {
  return { id, type: 'test.Publisher', name: 'publish', configuration: login(password) }
}

function plain(name: string, x: number, id?: string): NodeDraft {
  return { id, type: 'test.Node', name, configuration: { x } }
}

async function started(platform: TestPlatform) {
  const { services, tenant, entities, clock } = platform
  const chain = await services.ruleChains.saveByUser(tenant, { name: 'kept' })
  const save = async (nodes: readonly NodeDraft[]) => {
    clock.time += 1000
    const draft = { ruleChainId: chain.id, firstNodeIndex: 0, nodes, connections: [] }
    return services.ruleChains.saveGraphByUser(tenant, draft)
  }
  const versions = () => services.ruleChains.versions.of(chain.id)
  const idOf = async (version: number) => (await versions()).find((each) => each.chainVersion === version)?.id ?? ''
  const restore = async (version: number) => services.ruleChains.restoreByUser(tenant, chain.id, await idOf(version))
  const opened = async () =>
    (await entities.ruleChains.graph(chain.id))?.nodes.map((node) => services.ruleChains.openConfiguration(node))
  return { ...platform, chain, save, versions, idOf, restore, opened }
}

await onBothDatabases('versions of rule chains, ', (open) => {
  test('each save is kept with author and time, newest first, and shown as it was', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { save, versions, services, tenant, chain, clock, idOf } = await started(platform)
    const first = await save([plain('a', 1)])
    await save([plain('a', 2, first.nodes[0]?.id), plain('b', 1)])
    const told = (await versions()).map(({ chainVersion, createdTime, authorName, authorId, nodeCount }) => {
      assert.equal(authorId, tenant.userId)
      return [chainVersion, createdTime, authorName, nodeCount]
    })
    assert.deepEqual(told, [
      [3, clock.time, tenant.email, 2],
      [2, clock.time - 1000, tenant.email, 1],
    ])
    assert.deepEqual((await services.ruleChains.versions.shown(chain.id, await idOf(2))).graph, first)
    const changes = await services.ruleChains.versions.differences(chain.id, await idOf(2), undefined)
    assert.deepEqual(changes.flatMap(differenceLines), [
      "~ node 'a'",
      '    - configuration.x: 1',
      '    + configuration.x: 2',
      "+ node 'b' (test.Node)",
    ])
    assert.deepEqual(await services.ruleChains.versions.differences(chain.id, await idOf(3), undefined), [])
  })

  test('a version is restored as a version of its own; nodes that are there still stay the same', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { save, restore, versions, services, tenantId, chain } = await started(platform)
    const first = await save([plain('a', 1), plain('gone', 7)])
    const kept = first.nodes[0]?.id
    await save([plain('a', 2, kept)])
    const restored = await restore(2)
    assert.deepEqual(
      restored.nodes.map(({ name, configuration }) => [name, configuration]),
      [
        ['a', { x: 1 }],
        ['gone', { x: 7 }],
      ],
    )
    assert.equal(restored.nodes[0]?.id, kept)
    assert.deepEqual(await services.ruleChains.graph(tenantId, chain.id), restored)
    assert.deepEqual(
      (await versions()).map(({ chainVersion }) => chainVersion),
      [4, 3, 2],
    )
  })

  test('secrets lie sealed in it, are masked where it is shown, and come back with it', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { save, restore, services, chain, idOf, opened, entities } = await started(platform)
    const first = await save([publisher(SECRET)])
    await save([publisher('another', first.nodes[0]?.id)])
    await save([plain('nothing left', 1)])
    for await (const version of entities.ruleChainVersions.all())
      assert.ok(!JSON.stringify(version).includes(SECRET), 'it is sealed')
    const shown = await services.ruleChains.versions.shown(chain.id, await idOf(2))
    assert.deepEqual(shown.graph.nodes[0]?.configuration, first.nodes[0]?.configuration)
    await restore(2)
    assert.deepEqual(await opened(), [login(SECRET)])
    await restore(3)
    assert.deepEqual(await opened(), [login('another')])
  })

  test('the oldest go, and all of them with the chain; those of another chain are not found', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { save, versions, services, tenant, chain, idOf } = await started(platform)
    for (let count = 0; count < MAX_CHAIN_VERSIONS + 3; count++) await save([plain('a', count)])
    assert.equal((await versions()).length, MAX_CHAIN_VERSIONS)
    assert.equal((await versions())[0]?.chainVersion, MAX_CHAIN_VERSIONS + 4)
    const other = await services.ruleChains.saveByUser(tenant, { name: 'other' })
    const version = await idOf(MAX_CHAIN_VERSIONS + 4)
    await assert.rejects(services.ruleChains.versions.shown(other.id, version), /no such version/)
    await assert.rejects(services.ruleChains.restoreByUser(tenant, other.id, version), /no such version/)
    await services.ruleChains.deleteByUser(tenant, chain.id)
    assert.deepEqual(await versions(), [])
  })
})

test('a key is changed: versions are sealed under the next at the start', async (context) => {
  const [old, next] = [randomBytes(VAULT_KEY_BYTES), randomBytes(VAULT_KEY_BYTES)]
  const entities = await openEntityStore({
    ...{ file: ':memory:', durability: 'process-death', clock: { now: () => 1 }, tables: DECLARED_TABLES },
  })
  context.after(() => entities.close())
  const kept: EntityStore = { ...entities, close: () => Promise.resolve() }
  const start = (key: Buffer, former: readonly Buffer[] = []) =>
    openTestPlatform({ openEntities: () => Promise.resolve(kept), secrets: testSecrets(key, former) })
  const first = await start(old)
  const { save, chain } = await started(first)
  await save([publisher(SECRET)])
  await save([plain('nothing left', 1)])
  await first.close()
  await (await start(next, [old])).close()
  const last = await start(next)
  const [, before] = await last.services.ruleChains.versions.of(chain.id)
  await last.services.ruleChains.restoreByUser(last.tenant, chain.id, before?.id ?? '')
  const [node] = (await entities.ruleChains.graph(chain.id))?.nodes ?? []
  assert.ok(node)
  assert.deepEqual(last.services.ruleChains.openConfiguration(node), login(SECRET))
  await last.close()
})
