import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RuleChain, RuleChainGraph } from '../../model/entities.ts'
import { isJsonObject, parseJson, stringifyJson, type JsonObject } from '../../model/json.ts'
import { SECRET_MASK } from '../../model/secret-members.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { DECLARED_TABLES } from '../entities/declared.ts'
import { openTestPlatform, testSecrets, type TestPlatform } from '../testkit.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import { openEntityStore } from '../../storage/entities/entity-store.ts'
import { randomBytes } from 'node:crypto'
import { NOTIFICATION_SETTINGS } from '../notifications/settings.ts'
import { openMembers } from '../vault/sealed-members.ts'
import { VAULT_KEY_BYTES } from '../vault/vault.ts'
import { catalogue } from '../../nodes/catalogue.ts'
import type { NodeDraft } from './drafts.ts'
import { NodeSecrets } from './node-secrets.ts'

const refused = () => EntityStoreErrors.VERSION_CONFLICT({ entity: 'none' })
const NO_ERRORS = { taken: { tenant_id: refused }, overtaken: refused }
const SECRET = 'hunter2-of-the-broker'
const LOGIN = { host: 'broker', credentials: { type: 'basic', username: 'u', password: SECRET } }
const MASKED = { host: 'broker', credentials: { type: 'basic', username: 'u', password: SECRET_MASK } }

function draftOf(chain: RuleChain, nodes: readonly NodeDraft[]) {
  return { ruleChainId: chain.id, firstNodeIndex: 0, nodes, connections: [] }
}

function node(configuration: JsonObject, id?: string, type = 'test.Publisher'): NodeDraft {
  return { id, type, name: 'publish', configuration }
}

await onBothDatabases('secrets of rule nodes, ', (open) => {
  async function start(context: { after(run: () => Promise<void>): void }) {
    const platform = await open()
    context.after(() => platform.close())
    const { services, tenant, entities } = platform
    const chain = await services.ruleChains.saveByUser(tenant, { name: 'with secrets' })
    const save = async (nodes: readonly NodeDraft[], of = chain) =>
      (await services.ruleChains.saveGraphByUser(tenant, draftOf(of, nodes))).nodes
    const stored = async (of = chain) => (await entities.ruleChains.graph(of.id))?.nodes ?? []
    const opened = async (of = chain) => (await stored(of)).map((each) => services.ruleChains.openConfiguration(each))
    return { ...platform, chain, save, stored, opened }
  }

  test('a secret is stored sealed, answered masked, and open for the node that is made', async (context) => {
    const { save, stored, opened, services, tenantId, chain, link, changes, entities } = await start(context)
    const [answered] = await save([node(LOGIN)])
    assert.deepEqual(answered?.configuration, MASKED)
    assert.deepEqual((await services.ruleChains.graph(tenantId, chain.id))?.nodes[0]?.configuration, MASKED)
    assert.deepEqual(await opened(), [LOGIN])
    assert.match(stringifyJson((await stored())[0]?.configuration ?? null), /"password":"sealed:1:/)
    const file = await services.ruleChains.transfer.export(tenantId, 100)
    const audit = await entities.transferRows.findAll(
      { name: 'audit_log', keys: ['id'], owner: { column: 'tenant_id', of: [] } },
      { tenant_id: tenantId },
    )
    assert.ok(audit.length > 0)
    for (const told of [file, link.messages, changes, audit, await services.ruleChains.loadAll()]) {
      const text = JSON.stringify(told, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
      assert.ok(!text.includes(SECRET), text.slice(0, 200))
    }
  })

  test('a save with the mask keeps the secret, and the node as it is stored; another text takes its place', async (context) => {
    const { save, stored, opened } = await start(context)
    const [first] = await save([node(LOGIN)])
    const before = await stored()
    await save([node({ ...MASKED, host: 'broker' }, first?.id)])
    assert.deepEqual((await stored())[0]?.configuration, before[0]?.configuration)
    await save([node(LOGIN, first?.id)])
    assert.deepEqual((await stored())[0]?.configuration, before[0]?.configuration)
    await save([node({ ...MASKED, host: 'other' }, first?.id)])
    assert.deepEqual(await opened(), [{ ...LOGIN, host: 'other' }])
    const changed = { ...LOGIN, credentials: { ...LOGIN.credentials, password: 'another one' } }
    await save([node(changed, first?.id)])
    assert.deepEqual(await opened(), [changed])
    await save([node({ ...MASKED, credentials: { type: 'basic', username: 'u' } }, first?.id)])
    assert.deepEqual(await opened(), [{ host: 'broker', credentials: { type: 'basic', username: 'u' } }])
  })

  test('a mask takes no secret of another node, chain, type or tenant, and the node says what to fill in', async (context) => {
    const { save, stored, services, tenant, systemAdministrator: _, ...rest } = await start(context)
    const [first] = await save([node(LOGIN)])
    const other = await services.ruleChains.saveByUser(tenant, { name: 'another' })
    await save([node(MASKED, first?.id)], other)
    await save([node(LOGIN, first?.id), node(MASKED, first?.id), node(MASKED)])
    await save([node(LOGIN, first?.id), node(MASKED, first?.id)])
    const strangers = [...(await stored(other)), ...(await stored()).slice(1)]
    await save([node(MASKED, first?.id, 'test.Leaker')])
    strangers.push(...(await stored()))
    assert.equal(strangers.length, 3)
    for (const stranger of strangers) {
      assert.deepEqual(stranger.configuration, MASKED)
      assert.throws(() => services.ruleChains.openConfiguration(stranger), {
        code: 'rule-chain.SECRET_MASKED',
        message: /'credentials\.password' is masked: fill in/,
      })
    }
    assert.ok(rest.tenantId)
  })

  test('a sealed text that somebody brings along opens nothing', async (context) => {
    const { save, stored, opened } = await start(context)
    await save([node(LOGIN)])
    const sealed = (await stored())[0]?.configuration ?? {}
    await save([node(sealed)])
    assert.deepEqual(await opened(), [sealed])
  })

  test('a file says what to fill in; written over its own chain it keeps the secrets', async (context) => {
    const { save, stored, opened, services, tenant, tenantId, chain } = await start(context)
    await save([node(LOGIN)])
    const { ruleChains, metadata } = await services.ruleChains.transfer.export(tenantId, 100)
    const own = <Item extends RuleChain | RuleChainGraph>(items: readonly Item[]): readonly Item[] =>
      items.filter((item) => ('ruleChainId' in item ? item.ruleChainId : item.id) === chain.id)
    const file = { ruleChains: own(ruleChains).map(({ version: _, ...each }) => each), metadata: own(metadata) }
    const [written] = await services.ruleChains.transfer.importByUser(tenant, file, { overwrite: true })
    assert.deepEqual([written?.isUpdate, written?.ruleChainId, written?.toFillIn], [true, chain.id, []])
    assert.deepEqual(await opened(), [LOGIN])
    const [made] = await services.ruleChains.transfer.importByUser(tenant, file, { overwrite: false })
    assert.deepEqual([made?.error, made?.toFillIn], [undefined, ['publish: credentials.password']])
    assert.deepEqual((await stored({ ...chain, id: made?.ruleChainId ?? '' }))[0]?.configuration, MASKED)
  })

  test('what lies there in clear is sealed at the start, what is sealed under a former key too', async (context) => {
    const { save, stored, opened, services, entities } = await start(context)
    const [saved] = await save([node(LOGIN), node({ plain: 'x' })])
    const nodes = await stored()
    const asBefore = stringifyJson(LOGIN)
    const [sealed] = nodes
    assert.ok(saved && sealed)
    const lying = stringifyJson(sealed.configuration)
    await entities.write([entities.ruleChains.replaceConfiguration(saved.id, lying, LOGIN)])
    assert.equal(stringifyJson((await stored())[0]?.configuration ?? null), asBefore)
    // Other processes of an upgrade, and this one until then, take it as it is.
    assert.deepEqual((await opened())[0], LOGIN)
    await services.ruleChains.sealAnew()
    assert.match(stringifyJson((await stored())[0]?.configuration ?? null), /sealed:1:/)
    assert.deepEqual((await opened())[0], LOGIN)
    const after = await stored()
    await services.ruleChains.sealAnew()
    assert.deepEqual(await stored(), after)
  })
})

test('a key is changed: secrets of nodes are sealed under the next at the start, and open without the former one', async (context) => {
  const [old, next] = [randomBytes(VAULT_KEY_BYTES), randomBytes(VAULT_KEY_BYTES)]
  const entities = await openEntityStore({
    ...{ file: ':memory:', durability: 'process-death', clock: { now: () => 1 }, tables: DECLARED_TABLES },
  })
  context.after(() => entities.close())
  const start = (key: Buffer, former: readonly Buffer[] = []): Promise<TestPlatform> =>
    openTestPlatform({ openEntities: () => Promise.resolve(kept(entities)), secrets: testSecrets(key, former) })
  const first = await start(old)
  const chain = await first.services.ruleChains.saveByUser(first.tenant, { name: 'rotated' })
  await first.services.ruleChains.saveGraphByUser(first.tenant, draftOf(chain, [node(LOGIN)]))
  const botToken = { deliveryMethodsConfigs: { SLACK: { method: 'SLACK', botToken: 'xoxb-hunter2' } } } as const
  await first.services.notifications.settings.save(first.tenantId, botToken)
  await first.close()
  await (await start(next, [old])).close()
  const last = await start(next)
  const { vault } = testSecrets(next)
  const [stored] = (await entities.ruleChains.graph(chain.id))?.nodes ?? []
  assert.ok(stored)
  assert.deepEqual(last.services.ruleChains.openConfiguration(stored), LOGIN)
  const settings = await entities.rows(NOTIFICATION_SETTINGS, NO_ERRORS).findAll([])
  assert.deepEqual(
    settings.map(({ value, tenant_id: of }) => {
      const json = parseJson(String(value))
      return isJsonObject(json) ? openMembers(json, vault, `notification_settings/${String(of)}`) : undefined
    }),
    [botToken],
  )
  await last.close()
})

test('of a REST call the password, the login of its URL and the headers and parameters of a secret’s name are sealed', () => {
  const secrets = new NodeSecrets(testSecrets().vault, catalogue)
  const configuration = {
    restEndpointUrlPattern: 'https://me:hunter2@host/${path}',
    headers: { Authorization: 'Bearer hunter2', 'X-Token': '${token}', Accept: 'text/plain' },
    queryParams: [{ key: 'api_key', value: 'hunter2' }],
    credentials: { type: 'cert.PEM', privateKey: 'hunter2', password: 'hunter2', cert: 'shown' },
  }
  const call = { id: 'node', type: 'org.thingsboard.rule.engine.rest.TbRestApiCallNode', configuration }
  const sealed = secrets.sealed(call, undefined)
  const masked = secrets.masked({ ...call, configuration: sealed })
  for (const each of [sealed, masked]) assert.ok(!stringifyJson(each).includes('hunter2'))
  assert.deepEqual(masked, {
    restEndpointUrlPattern: `https://me:${SECRET_MASK}@host/\${path}`,
    headers: { Authorization: SECRET_MASK, 'X-Token': '${token}', Accept: 'text/plain' },
    queryParams: [{ key: 'api_key', value: SECRET_MASK }],
    credentials: { type: 'cert.PEM', privateKey: SECRET_MASK, password: SECRET_MASK, cert: 'shown' },
  })
  assert.deepEqual(secrets.opened({ ...call, configuration: sealed }), configuration)
  const stored = { ...call, configuration: sealed }
  const filled = secrets.filled({ ...call, configuration: masked }, stored)
  assert.deepEqual(filled, configuration)
  assert.deepEqual(secrets.sealed({ ...call, configuration: filled }, stored), sealed)
})

function kept(entities: EntityStore): EntityStore {
  return { ...entities, close: () => Promise.resolve() }
}
