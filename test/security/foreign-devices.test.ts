/**
 * A device and a gateway of one tenant send to every topic and path, with every name and id of what another tenant has: they hear nothing of
 * it, and nothing of it changes. The cases are made of the tables below.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connectAsync, type MqttClient } from 'mqtt'
import { FILTERS } from '../../transports/mqtt/topics.ts'
import { RawClient } from '../../transports/coap/testkit.ts'
import { DEMO_SYSADMIN, RestClient, login } from '../support/clients.ts'
import { uploadPackage } from '../support/packages.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from '../conformance/wait.ts'

interface Entity {
  readonly id: { readonly id: string }
}
interface Device extends Entity {
  readonly deviceProfileId: { readonly id: string }
}

/** In whatever only the other tenant has. */
const SECRET = 'nobody-else-may-read-this'
const IMAGE = Buffer.from(SECRET.repeat(10))
/** By MQTT.js. */
const REFUSED = /Subscribe error/
const QUIET_MS = 500
/** Of the other tenant's packages, whose title is the same. */
const PACKAGES = [
  { type: 'FIRMWARE', feature: 'firmware', prefix: 'fw', version: '1' },
  { type: 'SOFTWARE', feature: 'software', prefix: 'sw', version: '2' },
] as const

/** What is to be had of the other tenant: whatever names it. */
type Names = Readonly<
  Record<'token' | 'gatewayToken' | 'device' | 'deviceId' | 'child' | 'childId' | 'package' | 'tenantId', string>
>

const OWN_TOPICS = ['v1/devices/me/', 'v2/t', 'v2/a', 'v2/t/j', 'v2/a/j'] as const

/** Topics with the payloads that could reach `who`. */
function publishesFor(who: string, callId: string): readonly (readonly [topic: string, payload: unknown])[] {
  const wanted = { sharedKeys: 'secret', clientKeys: 'secret', device: who, deviceName: who, deviceId: who }
  const values = { changed: 1, device: who, deviceName: who, deviceId: who }
  const ofMe = [
    ['telemetry', values],
    ['attributes', values],
    ['attributes/request/1', wanted],
    ['rpc/request/1', { method: 'get', params: wanted, ...wanted }],
    [`rpc/response/${callId}`, { answer: who }],
    ['claim', { secretKey: '', durationMs: 60_000, deviceName: who, device: who }],
  ] as const
  const packages = ['fw', 'sw'].flatMap((kind) => [
    [`v2/${kind}/request/${who}/chunk/0`, '32'] as const,
    [`v2/${kind}/request/1/chunk/0`, who] as const,
    [`v2/${kind}/${who}/request/1/chunk/0`, '32'] as const,
  ])
  return [
    ...ofMe.flatMap(([topic, payload]) => [
      [`v1/devices/me/${topic}`, payload] as const,
      [`v1/devices/${who}/${topic}`, payload] as const,
      [`v1/devices/me/../${who}/${topic}`, payload] as const,
    ]),
    ...OWN_TOPICS.map((topic) => [`${topic}/${who}`, values] as const),
    ['v2/a/req/1', wanted],
    ['v2/a/req/j/1', wanted],
    [`v2/r/res/${callId}`, { answer: who }],
    [`v2/r/res/j/${callId}`, { answer: who }],
    ...packages,
    ['v1/gateway/connect', { device: who, type: 'default' }],
    ['v1/gateway/telemetry', { [who]: [{ changed: 1 }] }],
    ['v1/gateway/attributes', { [who]: { changed: 1 } }],
    ['v1/gateway/attributes/request', { id: 1, device: who, client: false, key: 'secret' }],
    ['v1/gateway/attributes/request', { id: 2, device: who, client: true, keys: ['secret', 'other'] }],
    ['v1/gateway/rpc', { device: who, id: Number(callId), data: { answer: who } }],
    ['v1/gateway/claim', { [who]: { secretKey: '', durationMs: 60_000 } }],
    ['v1/gateway/disconnect', { device: who }],
    [`v1/gateway/${who}/telemetry`, { [who]: [{ changed: 1 }] }],
    [`spBv1.0/plant/DDATA/${who}/${who}`, 'x'],
  ]
}

function filtersFor(who: string): readonly string[] {
  const named = FILTERS.map((filter) => filter.replaceAll('+', who))
  const others = FILTERS.filter((filter) => filter.includes('/me/')).map((filter) => filter.replace('/me/', `/${who}/`))
  return [...FILTERS, ...named, ...others, '#', 'v1/#', 'v1/devices/+/attributes', `v1/gateway/${who}/attributes`]
}

/** Paths behind the host, with a token that is the device's own. */
function pathsFor(token: string, who: string, callId: string): readonly string[] {
  const query = `sharedKeys=secret&clientKeys=secret&device=${who}&deviceId=${who}`
  return [
    ...[`${token}/attributes?${query}`, `${token}/attributes/${who}?${query}`, `${who}/attributes?${query}`],
    ...[`${token}/../${who}/attributes?${query}`, `${token}%2F..%2F${who}/attributes?${query}`],
    ...[`${token}/rpc/${callId}`, `${token}/rpc/${who}`, `${who}/rpc/${callId}`, `${who}/telemetry`, `${who}/claim`],
    ...PACKAGES.flatMap(({ feature, version }) => [
      `${token}/${feature}?title=${who}&version=${version}`,
      `${token}/${feature}?title=${who}&version=${version}&size=64&chunk=0`,
      `${who}/${feature}?title=${who}&version=${version}`,
    ]),
  ]
}

function ended(client: MqttClient): Promise<void> {
  return new Promise((resolve) => client.once('close', () => resolve()))
}

describe('devices of one tenant', { timeout: 600_000 * SLOWNESS }, () => {
  let millrace: RunningMillrace
  let admin: RestClient
  let theirs: RestClient
  let mine: RestClient
  let names: Names
  let callId = ''
  let myPackageProfile = ''
  const clients: MqttClient[] = []

  /** An administrator of a new tenant. */
  async function tenant(title: string): Promise<{ readonly id: string; readonly rest: RestClient }> {
    const { id: tenantId } = await admin.expect<Entity>('POST', '/api/tenant', { title })
    const user = { email: `${title}@millrace.local`, authority: 'TENANT_ADMIN', tenantId }
    const { id } = await admin.expect<Entity>('POST', '/api/user?sendActivationMail=false', user)
    const { token } = await admin.expect<{ token: string }>('GET', `/api/user/${id.id}/token`)
    return { id: tenantId.id, rest: new RestClient(millrace, token) }
  }

  async function connect(username: string): Promise<MqttClient> {
    const client = await connectAsync(`mqtt://127.0.0.1:${millrace.ports['mqtt'] ?? 0}`, {
      ...{ username, protocolVersion: 5, reconnectPeriod: 0, clientId: `${username} ${clients.length}` },
    })
    client.on('error', () => undefined)
    clients.push(client)
    return client
  }

  before(async () => {
    millrace = await startMillrace()
    admin = new RestClient(millrace, await login(millrace, DEMO_SYSADMIN))
    const [other, own] = [await tenant('theirs'), await tenant('mine')]
    theirs = other.rest
    mine = own.rest
    const deviceId = await theirs.createDevice('their device', 'THEIR_TOKEN')
    const gateway = { name: 'their gateway', additionalInfo: { gateway: true } }
    await theirs.expect('POST', '/api/device?accessToken=THEIR_GATEWAY', gateway)
    const line = await connect('THEIR_GATEWAY')
    await line.publishAsync('v1/gateway/telemetry', JSON.stringify({ child: [{ n: 1 }] }), { qos: 1 })
    await line.endAsync()
    const child = await theirs.expect<Entity>('GET', '/api/tenant/devices?deviceName=child')
    for (const id of [deviceId, child.id.id])
      await theirs.expect('POST', `/api/plugins/telemetry/DEVICE/${id}/SHARED_SCOPE`, { secret: SECRET })
    await fetch(`${millrace.url}/api/v1/THEIR_TOKEN/attributes`, { method: 'POST', body: `{"secret":"${SECRET}"}` })
    const device = await theirs.expect<Device>('GET', `/api/device/${deviceId}`)
    const packages = await Promise.all(
      PACKAGES.map(({ type, version }) => {
        const deviceProfileId = device.deviceProfileId.id
        return uploadPackage(theirs, { deviceProfileId, type, title: 'their-package', version, image: IMAGE })
      }),
    )
    const [firmwareId, softwareId] = packages
    await theirs.expect('POST', '/api/device', { ...device, firmwareId, softwareId })
    const theirLine = await connect('THEIR_TOKEN')
    const called = new Promise<string>((resolve) => theirLine.once('message', resolve))
    await theirLine.subscribeAsync('v1/devices/me/rpc/request/+', { qos: 1 })
    const call = { method: 'get', params: {}, persistent: true, timeout: 3_600_000 }
    await theirs.expect('POST', `/api/rpc/twoway/${deviceId}`, call)
    callId = (await called).split('/').at(-1) ?? ''
    names = {
      ...{ token: 'THEIR_TOKEN', gatewayToken: 'THEIR_GATEWAY', device: 'their device', deviceId, child: 'child' },
      ...{ childId: child.id.id, package: 'their-package', tenantId: other.id },
    }
    const myId = await mine.createDevice('my device', 'MY_TOKEN')
    myPackageProfile = (await mine.expect<Device>('GET', `/api/device/${myId}`)).deviceProfileId.id
    await mine.expect('POST', '/api/device?accessToken=MY_GATEWAY', { ...gateway, name: 'my gateway' })
    // By hand: what the other tenant's package is called.
    for (const { prefix, version } of PACKAGES)
      await mine.expect('POST', `/api/plugins/telemetry/DEVICE/${myId}/SHARED_SCOPE`, {
        ...{ [`${prefix}_title`]: 'their-package', [`${prefix}_version`]: version, [`${prefix}_size`]: IMAGE.length },
      })
  })
  after(async () => {
    for (const client of clients) client.end(true)
    await millrace.stop()
  })

  /** All that the other tenant has, but for when it was last heard. */
  async function having(): Promise<unknown> {
    const { data } = await theirs.expect<{ data: readonly (Entity & { readonly name: string })[] }>(
      'GET',
      '/api/tenant/devices?pageSize=100&page=0',
    )
    return Promise.all(
      data.map(async (device) => {
        const of = `/api/plugins/telemetry/DEVICE/${device.id.id}`
        const rpcs = `/api/rpc/persistent/device/${device.id.id}?pageSize=10&page=0`
        const attributes = await theirs.expect<readonly { readonly key: string; readonly value: unknown }[]>(
          'GET',
          `${of}/values/attributes`,
        )
        return {
          device,
          telemetry: await theirs.expect('GET', `${of}/values/timeseries`),
          attributes: attributes
            .filter(({ key }) => !/^last.*Time$|^active$|^inactivity/.test(key))
            .map(({ key, value }) => [key, value])
            .sort(),
          calls: await theirs.expect('GET', rpcs),
        }
      }),
    )
  }

  /** Of each token that sends all of `sends`, what it heard. Whoever is disconnected comes again. */
  async function heardOver(
    username: string,
    sends: readonly (readonly [topic: string, payload: unknown])[],
    filters: readonly string[],
  ): Promise<readonly string[]> {
    const heard: string[] = []
    const open = async (): Promise<MqttClient> => {
      const client = await connect(username)
      client.on('message', (topic, payload) => heard.push(`${topic} ${payload.toString('latin1')}`))
      // Most are refused, and the client says so of all.
      await client
        .subscribeAsync([...filters], { qos: 1 })
        .catch((error: unknown) => assert.match(String(error), REFUSED))
      return client
    }
    let client = await open()
    let gone = ended(client)
    for (const [topic, payload] of sends) {
      if (!client.connected) {
        client = await open()
        gone = ended(client)
      }
      const bytes = typeof payload === 'string' ? payload : JSON.stringify(payload)
      const sent = client.publishAsync(topic, bytes, { qos: 1 }).then(
        () => undefined,
        () => undefined,
      )
      await Promise.race([sent, gone])
    }
    if (!client.connected) client = await open()
    // What changes with the other tenant now, it would hear.
    await theirs.expect('POST', `/api/plugins/telemetry/DEVICE/${names.deviceId}/SHARED_SCOPE`, { secret: SECRET })
    await theirs.expect('POST', `/api/plugins/telemetry/DEVICE/${names.childId}/SHARED_SCOPE`, { secret: SECRET })
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
    await client.publishAsync('v1/devices/me/attributes/request/77', '{"sharedKeys":"fw_title"}', { qos: 1 })
    await eventually(
      () => Promise.resolve(heard),
      (all) => all.some((text) => text.startsWith('v1/devices/me/attributes/response/77 ')),
    )
    await client.endAsync()
    return heard
  }

  const secretsOf = (heard: readonly string[]): readonly string[] => heard.filter((text) => text.includes(SECRET))

  test('what the walk looks for is heard by whoever may', async () => {
    const answers = await Promise.all(
      [
        '/api/v1/THEIR_TOKEN/attributes?sharedKeys=secret',
        '/api/v1/THEIR_TOKEN/firmware?title=their-package&version=1',
        '/api/v1/THEIR_TOKEN/software?title=their-package&version=2',
      ].map(async (path) => (await fetch(millrace.url + path)).text()),
    )
    assert.equal(secretsOf(answers).length, 3)
    const request = ['v1/devices/me/attributes/request/1', { sharedKeys: 'secret' }] as const
    const behind = ['v1/gateway/attributes/request', { id: 1, device: 'child', client: false, key: 'secret' }] as const
    const part = ['v2/fw/request/1/chunk/0', ''] as const
    assert.ok(secretsOf(await heardOver('THEIR_TOKEN', [request, part], FILTERS)).length >= 3)
    assert.ok(secretsOf(await heardOver('THEIR_GATEWAY', [behind], FILTERS)).length > 0)
  })

  test('reach nothing of another tenant by topics of MQTT', async (context) => {
    const before = await having()
    assert.match(JSON.stringify(before), /"status":"DELIVERED"/)
    const whos = [...new Set(Object.values(names))]
    const sends = whos.flatMap((who) => publishesFor(who, callId))
    const filters = [...new Set(whos.flatMap(filtersFor))]
    context.diagnostic(`${sends.length} publishes, ${filters.length} filters`)
    const heard = await Promise.all(['MY_TOKEN', 'MY_GATEWAY'].map((token) => heardOver(token, sends, filters)))
    assert.ok(heard.every((texts) => texts.length > 0))
    assert.deepEqual(secretsOf(heard.flat()), [])
    assert.deepEqual(await having(), before)
    // The names are free: a device behind my gateway is mine.
    const child = await mine.expect<Entity>('GET', '/api/tenant/devices?deviceName=child')
    assert.notEqual(child.id.id, names.childId)
  })

  test('reach nothing of another tenant by paths of HTTP and CoAP', async (context) => {
    const before = await having()
    const wholes = Object.entries(names).filter(([kind]) => kind !== 'token' && kind !== 'gatewayToken')
    const paths = wholes.flatMap(([, who]) => pathsFor('MY_TOKEN', encodeURIComponent(who), callId))
    context.diagnostic(`${paths.length} paths`)
    const answers: string[] = []
    const coap = await RawClient.open(millrace.ports['coap'] ?? 0)
    for (const path of paths) {
      const place = `/api/v1/${path}`
      for (const body of [undefined, '{"changed":1}']) {
        const answer = await fetch(millrace.url + place, body === undefined ? {} : { method: 'POST', body })
        answers.push(await answer.text())
        const [plain = '', query = ''] = place.split('?').map(decodeURIComponent)
        const asked = { path: plain, query: query.split('&') }
        const sent = body === undefined ? { ...asked, code: '0.01' } : { ...asked, payload: body }
        answers.push((await coap.answerTo(sent)).text)
      }
    }
    for (const { prefix, version } of PACKAGES)
      for (const who of Object.values(names)) {
        const query = [`title=${who}`, `version=${version}`]
        answers.push((await coap.answerTo({ code: '0.01', path: `/${prefix}/MY_TOKEN`, query })).text)
      }
    coap.close()
    assert.deepEqual(secretsOf(answers), [])
    assert.deepEqual(await having(), before)
  })

  test('get no package of another tenant, whatever their user says', async () => {
    const { data } = await theirs.expect<{ data: readonly (Entity & { readonly type: string })[] }>(
      'GET',
      '/api/otaPackages?pageSize=10&page=0',
    )
    assert.equal(data.length, 2)
    const own = await mine.expect<{ data: readonly (Device & { readonly name: string })[] }>(
      'GET',
      '/api/tenant/devices?pageSize=100&page=0&textSearch=my device',
    )
    const profile = await mine.expect<object>('GET', `/api/deviceProfile/${myPackageProfile}`)
    for (const { id, type } of data) {
      const named = { [type === 'FIRMWARE' ? 'firmwareId' : 'softwareId']: id }
      const saves = [
        await mine.call('POST', '/api/device', { ...own.data[0], ...named }),
        await mine.call('POST', '/api/deviceProfile', { ...profile, ...named }),
        await mine.call('GET', `/api/otaPackage/${id.id}/download`),
        await mine.call('GET', `/api/otaPackage/info/${id.id}`),
      ]
      for (const { status, text } of saves) {
        assert.ok(status >= 400 && status < 500, `${status} ${text}`)
        assert.ok(!text.includes(SECRET))
      }
    }
  })
})
