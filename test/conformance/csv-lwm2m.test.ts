/** A table of LwM2M devices is imported, and real clients (Eclipse Leshan) are those devices: without security, and by the keys of the table. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { RestClient, login } from '../support/clients.ts'
import { startDtlsProxy } from '../support/dtls-proxy.ts'
import { requireLeshan, startLeshanClient } from '../support/leshan-client.ts'
import { createLwm2mProfile, serverToldOf } from '../support/lwm2m-device.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

interface Entity {
  readonly id: { readonly id: string }
}

const KEY = '0123456789abcdef0123456789abcdef'
const OTHER_KEY = 'ffffffffffffffffffffffffffffffff'
const COLUMNS = [
  'NAME',
  'TYPE',
  'LWM2M_CLIENT_ENDPOINT',
  'LWM2M_CLIENT_SECURITY_CONFIG_MODE',
  'LWM2M_CLIENT_IDENTITY',
  'LWM2M_CLIENT_KEY',
  'LWM2M_BOOTSTRAP_SERVER_SECURITY_MODE',
  'LWM2M_SERVER_SECURITY_MODE',
  'LWM2M_SERVER_CLIENT_PUBLIC_KEY_OR_ID',
  'LWM2M_SERVER_CLIENT_SECRET_KEY',
].map((type) => ({ type }))
const MAPPING = { columns: COLUMNS, delimiter: ';', update: true, header: true }
const HEADER = 'name;type;endpoint;mode;identity;key;bootstrap;server;server identity;server key'

test('clients of Eclipse Leshan are the devices of an imported table', { timeout: 600_000 }, async (context) => {
  if (!requireLeshan(context)) return
  const folder = await mkdtemp(join(tmpdir(), 'millrace-csv-lwm2m-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const sockets = { lwm2m: join(folder, 'lwm2m.sock'), bootstrap: join(folder, 'bs.sock') }
  const millrace = await startMillrace({
    environment: { LWM2M_DTLS_PROXY_SOCKET: sockets.lwm2m, LWM2M_BS_DTLS_PROXY_SOCKET: sockets.bootstrap },
  })
  context.after(() => millrace.stop())
  const secured = await startDtlsProxy('lwm2m', sockets.lwm2m)
  context.after(() => secured.kill())
  const bootstrap = await startDtlsProxy('lwm2m', sockets.bootstrap)
  context.after(() => bootstrap.kill())
  const rest = new RestClient(millrace, await login(millrace))
  await createLwm2mProfile(rest, 'meters', {
    observeAttr: {
      keyName: { '/3_1.2/0/9': 'battery', '/3_1.2/0/14': 'offset' },
      ...{ observe: ['/3_1.2/0/9'], telemetry: ['/3_1.2/0/9'], attribute: [], attributeLwm2m: {} },
    },
    bootstrap: [serverToldOf('PSK', secured.port)],
  })
  const imported = (...lines: readonly string[]) =>
    rest.expect('POST', '/api/device/bulk_import', { file: `${[HEADER, ...lines].join('\n')}\n`, mapping: MAPPING })
  const start = async (endpoint: string, port: number, proof: readonly string[] = []) => {
    const client = await startLeshanClient(endpoint, port, proof)
    context.after(() => client.kill())
    return client
  }
  const idOf = async (name: string): Promise<string> =>
    (await rest.expect<Entity>('GET', `/api/tenant/devices?deviceName=${encodeURIComponent(name)}`)).id.id
  const batteryIs = async (name: string, value: string): Promise<void> => {
    const path = `/api/plugins/telemetry/DEVICE/${await idOf(name)}/values/timeseries?keys=battery`
    await eventually(
      () => rest.expect<{ battery?: { value: string | null }[] }>('GET', path),
      ({ battery }) => battery?.[0]?.value === value,
    )
  }
  const call = async (name: string, method: string, params: object): Promise<unknown> =>
    rest.expect('POST', `/api/rpc/twoway/${await idOf(name)}`, { method, params, timeout: 60_000 })

  assert.deepEqual(
    await imported(
      'plain meter;meters;urn:csv:plain;;;;;;;',
      `keyed meter;meters;urn:csv:keyed;PSK;meter "é";${KEY};;;;`,
      `told meter;meters;urn:csv:told;PSK;told meter;${KEY};PSK;PSK;told meter;${KEY}`,
      // Its profile is not there yet.
      'first of its kind;new meters;urn:csv:new;NO_SEC;;;;;;',
    ),
    { created: 4, updated: 0, errors: 0, errorsList: [] },
  )

  const plain = await start('urn:csv:plain', millrace.ports['lwm2m'] ?? 0)
  await plain.heard('REGISTERED')
  await batteryIs('plain meter', '90')
  const keyed = await start('urn:csv:keyed', secured.port, ['psk', 'meter "é"', KEY])
  await keyed.heard('REGISTERED')
  await batteryIs('keyed meter', '90')
  keyed.tell('battery 42')
  await batteryIs('keyed meter', '42')
  const shared = `/api/plugins/telemetry/DEVICE/${await idOf('keyed meter')}/SHARED_SCOPE`
  await rest.expect('POST', shared, { offset: '+07' })
  await keyed.heard('WRITE 14 +07')
  await batteryIs('plain meter', '90')

  const told = await start('urn:csv:told', bootstrap.port, ['bootstrap', 'psk', 'told meter', KEY])
  await told.heard('BOOTSTRAPPED')
  await told.heard('REGISTERED')
  await batteryIs('told meter', '90')

  const first = await start('urn:csv:new', millrace.ports['lwm2m'] ?? 0)
  await first.heard('REGISTERED')
  const level = { result: 'CONTENT', value: 'LwM2mSingleResource [id=9, value=90, type=INTEGER]' }
  assert.deepEqual(await call('first of its kind', 'Read', { id: '/3_1.2/0/9' }), level)

  // Who is in the table with a key is nobody without it.
  const bare = await start('urn:csv:keyed', millrace.ports['lwm2m'] ?? 0)
  assert.match(await bare.heardFirst(['REGISTERED', 'REFUSED']), /^REFUSED FORBIDDEN/)
  await bare.kill()

  // The table once more with another key: the former one is nobody's.
  const changed = `keyed meter;meters;urn:csv:keyed;PSK;meter "é";${OTHER_KEY};;;;`
  assert.deepEqual(await imported(changed), { created: 0, updated: 1, errors: 0, errorsList: [] })
  keyed.tell('battery 13')
  keyed.tell('update')
  assert.match(await keyed.heardFirst(['REGISTERED', 'REFUSED', 'TIMED OUT']), /^REFUSED FORBIDDEN/)
  await keyed.kill()
  await batteryIs('keyed meter', '42')
  const anew = await start('urn:csv:keyed', secured.port, ['psk', 'meter "é"', OTHER_KEY])
  await anew.heard('REGISTERED')
  await batteryIs('keyed meter', '90')
})
