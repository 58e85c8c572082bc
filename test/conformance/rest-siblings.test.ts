/**
 * Siblings of the recorded cases: the same refusals of other types of entities, the same changes by another road, values of another kind.
 * Source: `rest-api.md` 2.4, 3.3, 5.7, 6.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DEMO_SYSADMIN, DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

interface Saved {
  readonly id: { readonly entityType: string; readonly id: string }
  readonly version: number
  readonly default: boolean
}

const NOBODY = '11111111-2222-4333-8444-555555555555'

describe('the REST API, beside the recorded cases', () => {
  let millrace: RunningMillrace
  let tenant: RestClient
  let sysadmin: RestClient

  before(async () => {
    millrace = await startMillrace()
    tenant = new RestClient(millrace, await login(millrace, DEMO_TENANT))
    sysadmin = new RestClient(millrace, await login(millrace, DEMO_SYSADMIN))
  })
  after(() => millrace.stop())

  const save = (path: string, body: unknown, as = tenant) => as.expect<Saved>('POST', path, body)
  const refused = async (method: string, path: string, body: unknown, message: string, status = 400, as = tenant) => {
    const answer = await as.call(method, path, body)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    assert.equal(answer.json<{ message: string }>().message, message)
  }

  test('names the type of what is stale or nobody’s as where it is not found', async () => {
    const device = await save('/api/device', { name: 'Source' })
    const view = { name: 'View', type: 'default', entityId: device.id }
    const widget = { name: 'Card', descriptor: { type: 'latest' } }
    for (const [path, body, what] of [
      ['/api/entityView', view, 'Entity View'],
      ['/api/widgetType', widget, 'Widget type'],
      ['/api/widgetsBundle', { title: 'Cards' }, 'Widgets bundle'],
      ['/api/assetProfile', { name: 'Stale' }, 'Asset profile'],
    ] as const) {
      const { id, version } = await save(path, body)
      const stale = { ...body, id, version: version + 1 }
      await refused('POST', path, stale, `${what} was already changed by someone else`, 409)
    }
    const { id } = await save('/api/entityView', { ...view, name: 'Nobody’s' })
    const path = `/api/customer/entityView/${id.id}`
    await refused('DELETE', path, undefined, "Entity View isn't assigned to any customer!")
  })

  test('refuses of assets and their profiles what it refuses of devices and theirs', async () => {
    const other = await save('/api/tenant', { title: 'Sibling' }, sysadmin)
    const admin = { email: 'sibling@example.org', authority: 'TENANT_ADMIN', tenantId: other.id }
    const { id } = await save('/api/user?sendActivationMail=false', admin, sysadmin)
    const { token } = await sysadmin.expect<{ token: string }>('GET', `/api/user/${id.id}/token`)
    const foreign = await save('/api/assetProfile', { name: 'Foreign' }, new RestClient(millrace, token))
    const asset = { name: 'Hall', assetProfileId: foreign.id }
    const elsewhere = 'Asset can`t be referencing to asset profile from different tenant!'
    await refused('POST', '/api/asset', asset, elsewhere)
    const another = 'Another default asset profile is present in scope of current tenant!'
    await refused('POST', '/api/assetProfile', { name: 'Second', default: true }, another)
    const standard = await tenant.expect<Saved>('GET', '/api/assetProfileInfo/default')
    const whole = await tenant.expect<Saved>('GET', `/api/assetProfile/${standard.id.id}`)
    assert.equal((await save('/api/assetProfile', whole)).default, true)
    const shown = await save('/api/dashboard', { title: 'Of profiles' })
    const kinds = { assetProfile: 'an asset profile', deviceProfile: 'a device profile' }
    for (const [kind, words] of Object.entries(kinds)) {
      const draft = { name: 'Shows', type: 'DEFAULT', transportType: 'DEFAULT', defaultDashboardId: shown.id }
      const profile = await save(`/api/${kind}`, draft)
      await refused('DELETE', `/api/dashboard/${shown.id.id}`, undefined, `The dashboard is referenced by ${words}`)
      await tenant.expect('DELETE', `/api/${kind}/${profile.id.id}`)
    }
    await tenant.expect('DELETE', `/api/dashboard/${shown.id.id}`)
  })

  test('refuses an administrator of a tenant that is not there', async () => {
    const draft = { email: 'nowhere@example.org', authority: 'TENANT_ADMIN' }
    const tenantId = { entityType: 'TENANT', id: NOBODY }
    const path = '/api/user?sendActivationMail=false'
    const words = 'User is referencing to non-existent tenant!'
    await refused('POST', path, { ...draft, tenantId }, words, 400, sysadmin)
  })

  test('takes numbers and flags that are written as text, and refuses other words', async () => {
    const { id } = await save('/api/dashboard', { title: 'Text', mobileOrder: '3', mobileHide: 'true' })
    const read = await tenant.expect<object>('GET', `/api/dashboard/${id.id}`)
    assert.deepEqual({ ...read, mobileOrder: 3, mobileHide: true }, read)
    assert.equal((await save('/api/dashboard', { id, title: 'Text', version: '1' })).version, 2)
    const stale = 'Dashboard was already changed by someone else'
    await refused('POST', '/api/dashboard', { id, title: 'Text', version: '1' }, stale, 409)
    for (const wrong of [{ mobileOrder: 'three' }, { mobileHide: 'yes' }, { version: '1.5' }]) {
      const { status, text } = await tenant.call('POST', '/api/dashboard', { title: 'Text', ...wrong })
      assert.equal(status, 400, text)
    }
  })

  test('takes numbers and flags as text, and numbers for text, in graphs, searches, keys, queues, fields and settings', async () => {
    const chain = await save('/api/ruleChain', { name: 'Text' })
    const node = { type: 'org.thingsboard.rule.engine.action.TbLogNode', configuration: {}, additionalInfo: {} }
    const graph = {
      ...{ ruleChainId: chain.id, firstNodeIndex: '1' },
      nodes: [
        { ...node, name: 1, singletonMode: 'false', configurationVersion: '0' },
        { ...node, name: 2 },
      ],
      connections: [{ fromIndex: '1', toIndex: '0', type: 7 }],
    }
    const drawn = await tenant.expect<object>('POST', '/api/ruleChain/metadata', graph)
    assert.deepEqual({ ...drawn, firstNodeIndex: 1, connections: [{ fromIndex: 1, toIndex: 0, type: '7' }] }, drawn)

    const asset = await save('/api/asset', { name: 'Root' })
    const device = await save('/api/device', { name: 'Leaf', type: '42' })
    await tenant.expect('POST', '/api/relation', { from: asset.id, to: device.id, type: 5, typeGroup: 'COMMON' })
    const parameters = { rootId: asset.id.id, rootType: 'ASSET', direction: 'FROM', maxLevel: '1' }
    const search = { parameters: { ...parameters, fetchLastLevelOnly: 'false' }, filters: [{ relationType: '5' }] }
    assert.equal((await tenant.expect<unknown[]>('POST', '/api/relations', search)).length, 1)
    const typed = { parameters, relationType: 5, deviceTypes: [42, null] }
    assert.equal((await tenant.expect<unknown[]>('POST', '/api/devices', typed)).length, 1)
    const query = {
      entityFilter: { type: 'relationsQuery', rootEntity: asset.id, direction: 'FROM', multiRoot: 'false' },
      entityFields: [{ type: 'ENTITY_FIELD', key: 'name' }],
      pageLink: { page: '0', pageSize: '10', dynamic: 'true' },
    }
    assert.equal((await tenant.expect<{ data: unknown[] }>('POST', '/api/entitiesQuery/find', query)).data.length, 1)

    const user = await tenant.expect<Saved>('GET', '/api/auth/user')
    const key = { description: 9, enabled: 'false', expirationTime: '0', userId: user.id }
    const made = await tenant.expect<object>('POST', '/api/apiKey', key)
    assert.deepEqual({ ...made, enabled: false, expirationTime: 0, description: '9' }, made)
    const events = `/api/events/DEVICE/${device.id.id}?tenantId=13814000-1dd2-11b2-8080-808080808080&pageSize=1&page=0`
    await tenant.expect('POST', events, { eventType: 'STATS', minMessagesProcessed: '1' })

    const queue = {
      ...{
        name: 'Text',
        topic: 'tb_rule_engine.text',
        pollInterval: '25',
        partitions: '2',
        consumerPerPartition: 'true',
      },
      ...{ packProcessingTimeout: '2000', submitStrategy: { type: 'BATCH', batchSize: '10' } },
      processingStrategy: {
        ...{ type: 'RETRY_ALL', retries: '3', failurePercentage: '0.5' },
        ...{ pauseBetweenRetries: '1', maxPauseBetweenRetries: '2' },
      },
    }
    const saved = await sysadmin.expect<object>('POST', '/api/queues?serviceType=TB_RULE_ENGINE', queue)
    assert.deepEqual({ ...saved, pollInterval: 25, partitions: 2, consumerPerPartition: true }, saved)
    const profile = { name: 'Text', isolatedTbRuleEngine: 'false', profileData: { configuration: { type: 'DEFAULT' } } }
    const limits = { maxDataPointsPerRollingArg: '5', maxRelationLevelPerCfArgument: '5' }
    Object.assign(profile.profileData.configuration, limits, { maxRelatedEntitiesToReturnPerCfArgument: '5' })
    await sysadmin.expect('POST', '/api/tenantProfile', profile)
    const field = {
      ...{ entityId: device.id, type: 'SIMPLE', name: 'Text' },
      configuration: {
        type: 'SIMPLE',
        arguments: { t: { refEntityKey: { key: 't', type: 'TS_LATEST' } } },
        expression: 't',
        output: { type: 'TIME_SERIES', name: 'u', decimalsByDefault: '2' },
      },
    }
    await tenant.expect('POST', '/api/calculatedField', field)
    for (const wrong of [{ firstNodeIndex: 'one' }, { nodes: [{ ...node, name: 'x', singletonMode: 'yes' }] }])
      assert.equal((await tenant.call('POST', '/api/ruleChain/metadata', { ...graph, ...wrong })).status, 400)
    assert.equal((await tenant.call('POST', '/api/devices', { ...typed, deviceTypes: [{}] })).status, 400)
  })

  test('lists widgets as the front end of the reference asks for them, and knows files by the name of their type', async () => {
    await save('/api/widgetType', { name: 'Asked', descriptor: { type: 'latest' } })
    const page = 'pageSize=10&page=0&sortProperty=createdTime&sortOrder=DESC'
    const asked = `tenantOnly=true&fullSearch=true\n      &scadaFirst=false&deprecatedFilter=ALL&widgetTypeList=latest, rpc`
    const { data } = await tenant.expect<{ data: Saved[] }>('GET', `/api/widgetTypes?${page}&${asked}`)
    assert.ok(data.length > 0)
    const file = { title: 'Hours', resourceType: 'JS_MODULE', fileName: 'hours.js', data: 'eA==' }
    const { id } = await save('/api/resource', file)
    for (const type of ['js_module', 'JS_MODULE'])
      assert.deepEqual((await tenant.expect<Saved>('GET', `/api/resource/${type}/tenant/hours.js/info`)).id, id)
  })

  test('keeps a call to a device that says "true" of being persistent', async () => {
    const { id } = await save('/api/device', { name: 'Called' })
    const call = { method: 'm', persistent: 'true', retries: '2', expirationTime: Date.now() + 3_600_000 }
    const answer = await tenant.expect<{ rpcId: string }>('POST', `/api/rpc/oneway/${id.id}`, call)
    const rpc = await tenant.expect<{ request: { persisted: boolean; retries: number } }>(
      'GET',
      `/api/rpc/persistent/${answer.rpcId}`,
    )
    assert.deepEqual([rpc.request.persisted, rpc.request.retries], [true, 2])
  })
})
