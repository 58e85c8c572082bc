/**
 * Who may come in with what, over each protocol that has it; and a device whose credentials are withdrawn while it is connected is cut off
 * within five seconds, by whatever withdraws them: nothing that it sends afterwards is stored.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createAuthority } from '../support/certificates.ts'
import { DEMO_SYSADMIN, RestClient, login } from '../support/clients.ts'
import type { DtlsProxy } from '../support/dtls-proxy.ts'
import { createLwm2mProfile } from '../support/lwm2m-device.ts'
import { hasTool, requireTool } from '../support/require-tool.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from '../conformance/wait.ts'
import { unlessRefused, type Connected, type Entity, type Kind, type Made, type World } from './revoked/kinds.ts'
import { DTLS_KINDS, DTLS_TOOLS, startCoapProxy } from './revoked/dtls-kinds.ts'
import { chainProfile, makeByChain, MQTT_KINDS, saveProfile } from './revoked/mqtt-kinds.ts'
import { OTHER_KINDS } from './revoked/other-kinds.ts'

const HAS_DTLS = DTLS_TOOLS.every(hasTool)
/** What has no connection to the platform itself. */
const LOOSE_KINDS: readonly Kind[] = [...OTHER_KINDS, ...(HAS_DTLS ? DTLS_KINDS : [])]
const KINDS: readonly Kind[] = [...MQTT_KINDS, ...LOOSE_KINDS]
const CUT_MS = 5000 * SLOWNESS
/** What a device sent before, and what it tries to send afterwards. */
const BEFORE = 1
const AFTER = 2

interface Case {
  readonly name: string
  readonly made: Made
  readonly connected: Connected
}

describe('devices', { timeout: 600_000 }, () => {
  let millrace: RunningMillrace
  let proxy: DtlsProxy | undefined
  let admin: RestClient
  let authority: World['authority']
  const cleanUps: (() => Promise<unknown>)[] = []
  let count = 0

  before(async () => {
    authority = await createAuthority({ after: (clean) => void cleanUps.push(async () => (clean as () => unknown)()) })
    const server = await authority.issue(['127.0.0.1'])
    millrace = await startMillrace({
      environment: {
        ...{ MQTT_SSL_ENABLED: 'true', MQTT_SSL_BIND_PORT: '0', MQTT_WS_ENABLED: 'true', MQTT_WS_BIND_PORT: '0' },
        ...{ MQTT_SSL_PEM_CERT: server.certFile, MQTT_SSL_PEM_KEY: server.keyFile },
        COAP_DTLS_PROXY_SOCKET: join(authority.folder, 'coap.sock'),
      },
    })
    if (HAS_DTLS) proxy = await startCoapProxy({ authority }, join(authority.folder, 'coap.sock'))
    admin = new RestClient(millrace, await login(millrace, DEMO_SYSADMIN))
  })
  after(async () => {
    await proxy?.kill()
    await millrace.stop()
    for (const clean of cleanUps) await clean()
  })

  /** A tenant of its own, with what devices need. */
  async function world(): Promise<World & { readonly tenantId: string }> {
    const title = `tenant ${++count}`
    const { id: tenantId } = await admin.expect<Entity>('POST', '/api/tenant', { title })
    const user = { email: `user${count}@millrace.local`, authority: 'TENANT_ADMIN', tenantId }
    const { id } = await admin.expect<Entity>('POST', '/api/user?sendActivationMail=false', user)
    const { token } = await admin.expect<{ token: string }>('GET', `/api/user/${id.id}/token`)
    const rest = new RestClient(millrace, token)
    const sparkplug = await rest.expect<Entity>('POST', '/api/deviceProfile', {
      ...{ name: 'edge node', type: 'DEFAULT', transportType: 'MQTT' },
      profileData: {
        configuration: { type: 'DEFAULT' },
        provisionConfiguration: { type: 'DISABLED' },
        transportConfiguration: { type: 'MQTT', sparkplug: true },
      },
    })
    const observeAttr = {
      ...{ keyName: { '/3/0/9': 'n' }, observe: [], telemetry: ['/3/0/9'], attribute: [] },
      attributeLwm2m: {},
    }
    const lwm2m = await createLwm2mProfile(rest, 'meters', { observeAttr })
    const profiles = { sparkplug: sparkplug.id.id, lwm2m }
    return { millrace, rest, authority, profiles, dtlsPort: proxy?.port, tenantId: tenantId.id }
  }

  /** Of each kind one that is connected and has stored a value. */
  async function connectAll(of: World, kinds: readonly Kind[] = KINDS): Promise<readonly Case[]> {
    return Promise.all(
      kinds.map(async (kind): Promise<Case> => {
        const made = await kind.make(of, `DEVICE_${++count}`)
        const connected = await made.connect()
        assert.ok(await connected.send(BEFORE), `${kind.name}: the first value was refused`)
        await eventually(
          () => valuesOf(of.rest, made.writesTo),
          (values) => values?.includes(String(BEFORE)) === true,
          60_000 * SLOWNESS,
        )
        return { name: kind.name, made, connected }
      }),
    )
  }

  /** Undefined where there is no such device. */
  async function valuesOf(rest: RestClient, name: string): Promise<readonly string[] | undefined> {
    const found = await rest.call('GET', `/api/tenant/devices?deviceName=${encodeURIComponent(name)}`)
    if (found.status !== 200) return undefined
    const path = `/api/plugins/telemetry/DEVICE/${found.json<Entity>().id.id}/values/timeseries?keys=n&startTs=0&endTs=9999999999999`
    const { n = [] } = await rest.expect<{ n?: { value: string }[] }>('GET', path)
    return n.map(({ value }) => value)
  }

  /** What went wrong with those whose credentials `revoke` took away; empty: nothing. `rests`: of whoever may see the devices now. */
  async function revoked(
    cases: readonly Case[],
    revoke: (made: Made) => Promise<unknown>,
    rests: readonly RestClient[],
  ): Promise<readonly string[]> {
    const wrong: string[] = []
    const began = new Map<Case, number>()
    await Promise.all(
      cases.map(async (each) => {
        const { name, made, connected } = each
        began.set(each, performance.now())
        await revoke(made)
        const cut = await within(CUT_MS, connected.ended)
        if (!cut) wrong.push(`${name}: was not cut off`)
        if (await connected.send(AFTER)) wrong.push(`${name}: was acknowledged afterwards`)
        const again = await unlessRefused(made.connect())
        if (again !== undefined) {
          wrong.push(`${name}: came in again`)
          if (await again.send(AFTER)) wrong.push(`${name}: was acknowledged when it came again`)
          await again.close()
        }
        await connected.close()
      }),
    )
    // Whatever was under way is stored by then: a device that may send is behind it in the queue.
    await settled()
    for (const { name, made } of cases)
      for (const rest of rests)
        if ((await valuesOf(rest, made.writesTo))?.includes(String(AFTER)) === true)
          wrong.push(`${name}: a value is stored that was sent afterwards`)
    return wrong
  }

  async function settled(): Promise<void> {
    const answer = await fetch(`${millrace.url}/api/v1/DEMO_THERMOMETER/telemetry`, { method: 'POST', body: '{"n":1}' })
    assert.equal(answer.status, 200)
    await new Promise((resolve) => setTimeout(resolve, 300))
  }

  async function change(rest: RestClient, { deviceId, others }: Made): Promise<void> {
    const present = await rest.expect<object>('GET', `/api/device/${deviceId}/credentials`)
    await rest.expect('POST', '/api/device/credentials', { ...present, ...others })
  }

  test('have on this machine what proves certificates over CoAP', (context) => {
    for (const tool of DTLS_TOOLS) if (!requireTool(context, tool)) return
  })

  test('come in with what is theirs, and with nothing else', async () => {
    const of = await world()
    const cases = await connectAll(of)
    const wrong: string[] = []
    for (const { name, made, connected } of cases) {
      for (const [shown, connect] of Object.entries(made.strangers)) {
        const came = await unlessRefused(connect())
        if (came !== undefined) wrong.push(`${name}: came in with ${shown}`)
        await came?.close()
      }
      if (!(await connected.send(BEFORE))) wrong.push(`${name}: was cut off by a stranger`)
      await connected.close()
    }
    assert.deepEqual(wrong, [])
  })

  test('are cut off when their credentials are others', async () => {
    const of = await world()
    assert.deepEqual(await revoked(await connectAll(of), (made) => change(of.rest, made), [of.rest]), [])
  })

  test('are cut off when they are deleted', async () => {
    const of = await world()
    const deleted = async ({ deviceId, makeNoMore }: Made) => {
      await makeNoMore?.()
      await of.rest.expect('DELETE', `/api/device/${deviceId}`)
    }
    assert.deepEqual(await revoked(await connectAll(of), deleted, [of.rest]), [])
  })

  test('are cut off when they go to another tenant, which alone has what they send then', async () => {
    const [from, to] = [await world(), await world()]
    const cases = await connectAll(from)
    const wrong: string[] = []
    await Promise.all(
      cases.map(async ({ name, made, connected }) => {
        await from.rest.expect('POST', `/api/tenant/${to.tenantId}/device/${made.deviceId}`)
        if (!(await within(CUT_MS, connected.ended))) wrong.push(`${name}: was not cut off`)
        // What has no connection comes by its credentials, which it keeps: for the other tenant.
        const mayBeTaken = LOOSE_KINDS.some((kind) => kind.name === name)
        if ((await connected.send(AFTER)) && !mayBeTaken) wrong.push(`${name}: was acknowledged afterwards`)
        await connected.close()
      }),
    )
    await settled()
    for (const { name, made } of cases)
      if ((await valuesOf(from.rest, made.writesTo))?.includes(String(AFTER)) === true)
        wrong.push(`${name}: a value is stored with the former tenant`)
    assert.deepEqual(wrong, [])
  })

  test('are cut off when their tenant is deleted', async () => {
    const of = await world()
    const cases = await connectAll(of)
    const deleted = admin.expect('DELETE', `/api/tenant/${of.tenantId}`)
    assert.deepEqual(await revoked(cases, () => deleted, []), [])
  })

  test('are no gateway any more when they are told so', async () => {
    const of = await world()
    const kinds = MQTT_KINDS.filter(({ name }) => name.startsWith('gateway'))
    const cases = await connectAll(of, kinds)
    assert.equal(cases.length, 1)
    const wrong: string[] = []
    for (const { name, made, connected } of cases) {
      const device = await of.rest.expect<object>('GET', `/api/device/${made.deviceId}`)
      await of.rest.expect('POST', '/api/device', { ...device, additionalInfo: { gateway: false } })
      if (!(await within(CUT_MS, connected.ended))) wrong.push(`${name}: was not cut off`)
      if (await connected.send(AFTER)) wrong.push(`${name}: was acknowledged afterwards`)
      // It is a device yet, but nobody comes through it.
      const again = await made.connect()
      if (await again.send(AFTER)) wrong.push(`${name}: sends for others when it came again`)
      await again.close()
      await settled()
      if ((await valuesOf(of.rest, made.writesTo))?.includes(String(AFTER)) === true)
        wrong.push(`${name}: a value of another device is stored`)
    }
    assert.deepEqual(wrong, [])
  })

  test('come no more by a maker whom their profile names no longer', async () => {
    const of = await world()
    const made = await makeByChain(of, `DEVICE_${++count}`)
    const newOne = `DEVICE_${++count}`
    await (await made.connectAs(newOne)).close()
    await saveProfile(of.rest, made.profileId, await chainProfile(await authority.subordinate(), 'of another'))
    // Neither one that was never there, nor one with a new certificate in the place of its own.
    await assert.rejects(made.connectAs(`DEVICE_${++count}`))
    await assert.rejects(made.connectAs(newOne))
    await saveProfile(of.rest, made.profileId, await chainProfile(made.maker, 'closed', false))
    await assert.rejects(made.connectAs(`DEVICE_${++count}`))
    // Who is there has a certificate of its own, and stays: it is cut off by other credentials.
    const connected = await made.connect()
    await change(of.rest, made)
    assert.ok(await within(CUT_MS, connected.ended))
    await connected.close()
  })
})

async function within(limitMs: number, ended: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), limitMs)))
  const cut = await Promise.race([ended.then(() => true), late])
  clearTimeout(timer)
  return cut
}
