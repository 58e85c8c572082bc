/**
 * What the REST API refuses, in the reference's words, where no recorded case says it (`rest-api.md` 2.4, 8, 10, 14, 15.4): members that a save
 * may not change, names of what is not there, things in use; and beside it what must go on working.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DEMO_SYSADMIN, DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

interface Saved {
  readonly id: { readonly entityType: string; readonly id: string }
  readonly version: number
}
interface Listed {
  readonly data: readonly (Saved & { readonly ruleId: unknown })[]
}

const NOBODY = '11111111-2222-4333-8444-555555555555'
const PAGE = 'pageSize=100&page=0'

describe('the REST API refuses', () => {
  let millrace: RunningMillrace
  let tenant: RestClient
  let sysadmin: RestClient
  let foreignCustomer: string

  before(async () => {
    millrace = await startMillrace()
    tenant = new RestClient(millrace, await login(millrace, DEMO_TENANT))
    sysadmin = new RestClient(millrace, await login(millrace, DEMO_SYSADMIN))
    const other = await sysadmin.expect<Saved>('POST', '/api/tenant', { title: 'Other' })
    const email = 'other@example.org'
    const admin = await sysadmin.expect<Saved>('POST', '/api/user?sendActivationMail=false', {
      ...{ email, authority: 'TENANT_ADMIN', tenantId: other.id },
    })
    const { token } = await sysadmin.expect<{ token: string }>('GET', `/api/user/${admin.id.id}/token`)
    const customer = await new RestClient(millrace, token).expect<Saved>('POST', '/api/customer', { title: 'Foreign' })
    foreignCustomer = customer.id.id
  })
  after(() => millrace.stop())

  const refused = async (method: string, path: string, body: unknown, message: string, status = 400) => {
    const answer = await tenant.call(method, path, body)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    assert.equal(answer.json<{ message: string }>().message, message)
  }
  const save = (path: string, body: unknown) => tenant.expect<Saved>('POST', path, body)
  const customer = (id: string) => ({ entityType: 'CUSTOMER', id })
  const upload = async (otaId: string, algorithm: string, bytes = 'abc') => {
    const form = new FormData()
    form.set('file', new Blob([bytes]), 'fw.bin')
    const response = await fetch(`${millrace.url}/api/otaPackage/${otaId}?checksumAlgorithm=${algorithm}`, {
      method: 'POST',
      headers: { 'x-authorization': `Bearer ${await login(millrace, DEMO_TENANT)}` },
      body: form,
    })
    assert.equal(response.status, 200, await response.clone().text())
    return (await response.json()) as { checksumAlgorithm: string }
  }

  test('a customer that is not there or another tenant’s, in the words of each kind of thing', async () => {
    const device = await save('/api/device', { name: 'Owned' })
    const view = { name: 'Owned', type: 'default', entityId: device.id, keys: null, startTimeMs: 0, endTimeMs: 0 }
    for (const [path, body, what] of [
      ['/api/device', { name: 'Owned too' }, 'device'],
      ['/api/asset', { name: 'Owned' }, 'asset'],
      ['/api/entityView', view, 'entity view'],
    ] as const) {
      const words = `Can't assign ${what} to`
      await refused('POST', path, { ...body, customerId: customer(NOBODY) }, `${words} non-existent customer!`)
      const foreign = { ...body, customerId: customer(foreignCustomer) }
      await refused('POST', path, foreign, `${words} customer from different tenant!`)
    }
    const user = { email: 'jo@example.org', authority: 'CUSTOMER_USER' }
    const path = '/api/user?sendActivationMail=false'
    const foreign = { ...user, customerId: customer(foreignCustomer) }
    await refused('POST', path, foreign, "User can't be assigned to customer from different tenant!")
  })

  test('to make a user another’s or more than he was', async () => {
    const [one, two] = [await save('/api/customer', { title: 'One' }), await save('/api/customer', { title: 'Two' })]
    const path = '/api/user?sendActivationMail=false'
    const user = { email: 'ann@example.org', authority: 'CUSTOMER_USER', customerId: one.id }
    const { id } = await save(path, user)
    await refused('POST', path, { ...user, id, customerId: two.id }, "Can't update user customer id!")
    const raised = { ...user, id, authority: 'TENANT_ADMIN', customerId: null }
    await refused('POST', path, raised, "Can't update user authority!")
    await save(path, { ...user, id, firstName: 'Ann' })
    const me = await sysadmin.expect<Saved>('GET', '/api/auth/user')
    const second = { email: 'second@example.org', authority: 'SYS_ADMIN' }
    await sysadmin.expect('POST', path, second)
    const himself = await sysadmin.call('DELETE', `/api/user/${me.id.id}`)
    assert.deepEqual(
      [himself.status, himself.json<{ message: string }>().message],
      [403, 'Sysadmin is not allowed to delete himself'],
    )
  })

  test('an API key without a description, and to change how long one holds', async () => {
    const me = await tenant.expect<Saved>('GET', '/api/auth/user')
    const key = { userId: me.id, description: 'mine', enabled: true, expirationTime: 0 }
    const blank = 'Validation error: description must not be blank'
    await refused('POST', '/api/apiKey', { ...key, description: ' ' }, blank)
    await refused('POST', '/api/apiKey', { ...key, description: undefined }, blank)
    const { id } = await save('/api/apiKey', key)
    const longer = { ...key, id, expirationTime: 9_999_999_999_999 }
    await refused('POST', '/api/apiKey', longer, 'Cannot update API key expiration time!')
    await save('/api/apiKey', { ...key, id, description: 'still mine' })
    await refused('DELETE', `/api/apiKey/${NOBODY}`, undefined, `Api key with id [${NOBODY}] is not found`, 404)
  })

  test('credentials without a type, keys of a profile that is not there, a transport that is none', async () => {
    const { id } = await save('/api/device', { name: 'Without a type' })
    const credentials = await tenant.expect<object>('GET', `/api/device/${id.id}/credentials`)
    for (const credentialsType of [null, undefined])
      await refused(
        ...(['POST', '/api/device/credentials', { ...credentials, credentialsType }] as const),
        'Device credentials type should be specified',
      )
    for (const kind of ['timeseries', 'attributes'])
      await refused(
        ...(['GET', `/api/deviceProfile/devices/keys/${kind}?deviceProfileId=${NOBODY}`, undefined] as const),
        ...([`Device profile with id [${NOBODY}] is not found`, 404] as const),
      )
    assert.equal((await tenant.call('GET', `/api/deviceProfileInfos?${PAGE}&transportType=NOPE`)).status, 400)
  })

  test('a graph without its chain or a configuration of a node', async () => {
    const { id: ruleChainId } = await save('/api/ruleChain', { name: 'Refused' })
    const path = '/api/ruleChain/metadata'
    const node = { type: 'org.thingsboard.rule.engine.filter.TbMsgTypeSwitchNode', name: 12, configuration: {} }
    const graph = { ruleChainId, firstNodeIndex: 0, nodes: [node], connections: [] }
    await refused('POST', path, { ...graph, ruleChainId: undefined }, 'Invalid entity id')
    const empty = { ...graph, nodes: [{ ...node, configuration: null }] }
    await refused('POST', path, empty, 'HV000116: The object to be validated must not be null.')
    const saved = await tenant.expect<{ nodes: { name: string }[] }>('POST', path, graph)
    assert.equal(saved.nodes[0]?.name, '12')
    const all = await tenant.call('GET', '/api/ruleChains/export?limit=2147483647')
    assert.equal(all.status, 200, all.text)
  })

  test('to change a package that devices may have, or to delete one in use', async () => {
    const profile = { type: 'DEFAULT', transportType: 'DEFAULT', name: 'With packages' }
    const { id: deviceProfileId } = await save('/api/deviceProfile', profile)
    const draft = { deviceProfileId, type: 'SOFTWARE', title: 'sw', version: '1', tag: 'sw 1' }
    const { id } = await save('/api/otaPackage', draft)
    assert.equal((await upload(id.id, 'sha256')).checksumAlgorithm, 'SHA256')
    for (const [member, value, what] of [
      ['type', 'FIRMWARE', 'type'],
      ['title', 'other', 'otaPackage title'],
      ['version', '2', 'otaPackage version'],
      ['tag', 'other', 'otaPackage tag'],
      ['deviceProfileId', null, 'otaPackage deviceProfile'],
    ] as const)
      await refused('POST', '/api/otaPackage', { ...draft, id, [member]: value }, `Updating ${what} is prohibited!`)
    await save('/api/otaPackage', { ...draft, id, additionalInfo: { description: 'known now' } })
    const device = await save('/api/device', { name: 'Updated', deviceProfileId, softwareId: id })
    const words = 'The software referenced by the'
    await refused('DELETE', `/api/otaPackage/${id.id}`, undefined, `${words} devices cannot be deleted!`)
    await save('/api/device', { name: 'Updated', deviceProfileId, id: device.id })
    await save('/api/deviceProfile', { ...profile, id: deviceProfileId, softwareId: id })
    await refused('DELETE', `/api/otaPackage/${id.id}`, undefined, `${words} device profile cannot be deleted!`)
    await tenant.expect('DELETE', `/api/device/${device.id.id}`)
    await tenant.expect('DELETE', `/api/deviceProfile/${deviceProfileId.id}`)
    await refused('GET', `/api/otaPackage/${id.id}`, undefined, `Ota package with id [${id.id}] is not found`, 404)
  })

  test('a notification request without what it says or by which way; and lists those of users alone', async () => {
    const configuration = { type: 'PLATFORM_USERS', usersFilter: { type: 'ALL_USERS' } }
    const target = await save('/api/notification/target', { name: 'Refusing', configuration })
    const targets = [target.id.id]
    const path = '/api/notification/request'
    const templateOf = (enabled: boolean) => ({
      notificationType: 'ENTITY_ACTION',
      configuration: { deliveryMethodsTemplates: { WEB: { method: 'WEB', enabled, subject: 'Hi', body: 'There' } } },
    })
    const again = 'Notification request cannot be updated. You may only cancel/delete it'
    await refused('POST', path, { targets }, 'Template is missing')
    await refused('POST', `${path}/preview`, { targets }, 'Template is missing')
    const none = { targets, template: templateOf(false) }
    await refused('POST', path, none, 'No delivery methods to send notification with')
    const { id } = await save(path, { targets, template: templateOf(true) })
    await refused('POST', path, { id, targets, template: templateOf(true) }, again)
    const template = await save('/api/notification/template', { name: 'Refusing', ...templateOf(true) })
    await save('/api/notification/rule', {
      ...{ name: 'Refusing', templateId: template.id, triggerType: 'ENTITY_ACTION' },
      triggerConfig: { triggerType: 'ENTITY_ACTION', entityTypes: ['ASSET'], created: true },
      recipientsConfig: { triggerType: 'ENTITY_ACTION', targets },
    })
    await save('/api/asset', { name: 'Told of' })
    const sorted = await tenant.call('GET', `/api/notification/rules?${PAGE}&sortProperty=templateName&sortOrder=ASC`)
    assert.equal(sorted.status, 200, sorted.text)
    const inUse = 'Recipients group is being used in notification rule'
    await refused('DELETE', `/api/notification/target/${target.id.id}`, undefined, inUse)
    const taken = 'Recipients group with such name already exists'
    await refused('POST', '/api/notification/target', { name: 'Refusing', configuration }, taken)
    const { data } = await tenant.expect<Listed>('GET', `/api/notification/requests?${PAGE}`)
    assert.deepEqual(
      data.map(({ ruleId }) => ruleId),
      [null],
    )
  })

  test('nothing of a search that names no type of relation; a bundle keeps its version when its content is set', async () => {
    const [hall, pump] = [await save('/api/asset', { name: 'Hall' }), await save('/api/asset', { name: 'Pump' })]
    await tenant.expect('POST', '/api/relation', { from: hall.id, to: pump.id, type: 'Contains' })
    await refused('POST', '/api/relation', { from: hall.id, type: 'Contains' }, 'Validation error: to must not be null')
    const parameters = { rootId: hall.id.id, rootType: 'ASSET', direction: 'FROM', maxLevel: 1 }
    const filters = [{ relationType: '', entityTypes: ['ASSET'] }]
    const found = await tenant.expect<unknown[]>('POST', '/api/relations', { parameters, filters })
    assert.equal(found.length, 1)
    const card = await save('/api/widgetType', { name: 'Card', fqn: 'card', descriptor: { type: 'latest' } })
    const bundle = await save('/api/widgetsBundle', { title: 'Cards' })
    await tenant.expect('POST', `/api/widgetsBundle/${bundle.id.id}/widgetTypes`, [card.id.id])
    assert.equal((await save('/api/widgetsBundle', { ...bundle, title: 'Cards', description: 'few' })).version, 2)
  })
})
