/**
 * How libraries for Java, Go, Dart, Node and scripts put the same calls: parameters that are empty, bodies of no kind, headers of their own,
 * whole objects with their ids. Source: `rest-api.md` 1.1, 3.4, 4, 9, 10.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import type { PageOf, Ref, Row } from '../support/front-end.ts'

const T = 1_700_000_000_000

describe('client libraries', () => {
  let millrace: RunningMillrace
  let token: string
  let client: RestClient
  let device: Row

  before(async () => {
    millrace = await startMillrace()
    token = await login(millrace, DEMO_TENANT)
    client = new RestClient(millrace, token)
    device = await client.expect<Row>('POST', '/api/device', {
      id: null,
      name: 'Of a library',
      type: 'default',
      label: null,
    })
    const points = [1, 2].map((value) => ({ ts: T + value, values: { t: value, text: `x${value}` } }))
    await client.expect('POST', `/api/plugins/telemetry/DEVICE/${device.id.id}/timeseries/ANY`, points)
  })
  after(() => millrace.stop())

  const sent = async (method: string, path: string, headers: Readonly<Record<string, string>>, body?: string) => {
    const answer = await fetch(millrace.url + path, { method, headers, ...(body === undefined ? {} : { body }) })
    return { status: answer.status, text: await answer.text(), type: answer.headers.get('content-type') ?? '' }
  }

  test('of Java fill every parameter of the address, with nothing where they have nothing to say', async () => {
    const { id } = device.id
    const series = `/api/plugins/telemetry/DEVICE/${id}/values/timeseries`
    const asked = 'interval=0&limit=100&agg=NONE&useStrictDataTypes=true&orderBy=DESC'
    const found = await client.expect(`GET`, `${series}?keys=t&${asked}&startTs=${T}&endTs=${T + 10}`)
    assert.deepEqual(found, {
      t: [
        { ts: T + 2, value: 2 },
        { ts: T + 1, value: 1 },
      ],
    })
    const latest = await client.expect('GET', `${series}?keys=t&useStrictDataTypes=false`)
    assert.deepEqual(latest, { t: [{ ts: T + 2, value: '2' }] })
    const page = 'pageSize=10&page=0&textSearch=&sortProperty=&sortOrder='
    for (const path of [
      ...[
        `/api/tenant/devices?type=&${page}`,
        `/api/tenant/assets?type=&${page}`,
        `/api/tenant/entityViews?type=&${page}`,
      ],
      ...[
        `/api/ruleChains?type=&${page}`,
        `/api/customers?${page}`,
        `/api/audit/logs?startTime=&endTime=&actionTypes=&${page}`,
      ],
      ...[
        `/api/deviceProfileInfos?transportType=&${page}`,
        `/api/alarm/DEVICE/${id}?searchStatus=&status=&fetchOriginator=&${page}`,
      ],
      ...[
        `/api/v2/alarms?statusList=&severityList=&typeList=&assigneeId=&startTime=&endTime=&${page}`,
        `/api/resource?resourceType=&${page}`,
      ],
      ...[
        `/api/rpc/persistent/device/${id}?rpcStatus=&${page}`,
        `/api/widgetTypes?tenantOnly=&fullSearch=&deprecatedFilter=&${page}`,
      ],
      ...[`/api/DEVICE/${id}/calculatedFields?type=&${page}`, `/api/otaPackages?${page}`, `/api/users?${page}`],
    ]) {
      const answer = await client.call('GET', path)
      assert.deepEqual(
        [answer.status, Array.isArray(answer.json<PageOf>().data)],
        [200, true],
        `${path}: ${answer.text}`,
      )
    }
    const none = await client.call('GET', `/api/alarm/highestSeverity/DEVICE/${id}?searchStatus=&status=&assigneeId=`)
    assert.deepEqual([none.status, none.text], [200, ''])
    const relation = `fromId=${id}&fromType=DEVICE&relationType=&relationTypeGroup=`
    assert.deepEqual(await client.expect('GET', `/api/relations?${relation}`), [])
  })

  test('post nothing with and without a type, and send their tokens in either header', async () => {
    const customer = await client.expect<Row>('POST', '/api/customer', { title: 'Of a library' })
    const path = `/api/customer/${customer.id.id}/device/${device.id.id}`
    for (const headers of [
      { 'X-Authorization': `Bearer ${token}`, Accept: 'application/json, application/*+json' },
      { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json;charset=UTF-8' },
      { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
    ]) {
      const answer = await sent('POST', path, headers)
      assert.equal(answer.status, 200, answer.text)
      const { customerId } = JSON.parse(answer.text) as { customerId: Ref }
      assert.deepEqual(customerId, customer.id)
    }
    const again = await sent(
      'POST',
      path,
      { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      'null',
    )
    assert.equal(again.status, 200, again.text)
    const key = await client.expect<{ value: string }>('POST', '/api/apiKey', {
      ...{
        userId: (await client.expect<Row>('GET', '/api/auth/user')).id,
        description: 'library',
        enabled: true,
        expirationTime: 0,
      },
    })
    for (const header of ['X-Authorization', 'Authorization'])
      assert.equal((await sent('GET', '/api/auth/user', { [header]: `ApiKey ${key.value}` })).status, 200)
  })

  test('read a missing thing as nothing, by 404 in the form of all errors', async () => {
    const unknown = '11111111-2222-4333-8444-555555555555'
    for (const path of [
      ...[`/api/device/${unknown}`, `/api/device/info/${unknown}`, `/api/asset/${unknown}`, `/api/customer/${unknown}`],
      ...[
        '/api/tenant/devices?deviceName=none',
        '/api/tenant/assets?assetName=none',
        '/api/tenant/customers?customerTitle=none',
      ],
      ...[
        `/api/ruleChain/${unknown}`,
        `/api/ruleChain/${unknown}/metadata`,
        `/api/dashboard/${unknown}`,
        `/api/alarm/${unknown}`,
      ],
      ...[
        `/api/deviceProfile/${unknown}`,
        `/api/user/${unknown}`,
        `/api/entityView/${unknown}`,
        `/api/otaPackage/info/${unknown}`,
      ],
      ...[
        '/api/widgetType?fqn=system.none',
        `/api/resource/info/${unknown}`,
        `/api/rpc/persistent/${unknown}`,
        `/api/calculatedField/${unknown}`,
      ],
    ]) {
      const answer = await client.call('GET', path)
      const { status, errorCode, message } = answer.json<{ status: number; errorCode: number; message: string }>()
      assert.deepEqual(
        [answer.status, status, errorCode, message.length > 0],
        [404, 404, 32, true],
        `${path}: ${answer.text}`,
      )
    }
  })

  test('write values as scripts have them: texts for numbers, numbers for texts, times with a fraction', async () => {
    const made = await client.expect<Row>('POST', '/api/asset', { name: 12_345, type: 'default', label: true })
    assert.deepEqual([made['name'], made['label']], ['12345', 'true'])
    const query = {
      entityFilter: { type: 'entityType', entityType: 'ASSET' },
      keyFilters: [
        {
          key: { type: 'ENTITY_FIELD', key: 'name' },
          valueType: 'STRING',
          predicate: { type: 'STRING', operation: 'EQUAL', value: { defaultValue: 12_345 }, ignoreCase: 'true' },
        },
      ],
      pageLink: {
        page: '0',
        pageSize: '10',
        sortOrder: { key: { type: 'ENTITY_FIELD', key: 'name' }, direction: 'ASC' },
      },
    }
    assert.equal((await client.expect<PageOf>('POST', '/api/entitiesQuery/find', query)).totalElements, 1)
    const alarm = {
      originator: device.id,
      type: 'Scripted',
      severity: 'MAJOR',
      startTs: String(T),
      propagate: 'false',
      details: null,
    }
    assert.equal((await client.expect<Row>('POST', '/api/alarm', alarm))['startTs'], T)
    const { customerId: _customer, ...kept } = device
    const saved = await client.expect<Row>('POST', '/api/device', {
      ...kept,
      version: null,
      createdTime: null,
      tenantId: null,
      externalId: null,
    })
    assert.deepEqual(
      [saved.id, saved['createdTime'], saved['tenantId']],
      [device.id, device['createdTime'], device['tenantId']],
    )
    // Only the id, as scripts that know no types of entities write it.
    const bare = {
      id: { id: device.id.id },
      name: device['name'],
      deviceProfileId: { id: (device['deviceProfileId'] as Ref).id },
    }
    assert.deepEqual((await client.expect<Row>('POST', '/api/device', bare)).id, device.id)
  })
})
