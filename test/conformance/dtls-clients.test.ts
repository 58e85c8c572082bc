/** Real clients over DTLS, through the proxy that ships: Eclipse Leshan by key, raw key and certificate, libcoap by certificate. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, after, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { createAuthority, type CertificateFiles } from '../support/certificates.ts'
import { RestClient, login } from '../support/clients.ts'
import { startDtlsProxy, type DtlsProxy } from '../support/dtls-proxy.ts'
import { canRunLeshan, startLeshanClient } from '../support/leshan-client.ts'
import { createLwm2mProfile, serverToldOf } from '../support/lwm2m-device.ts'
import { hasTool, requireTool } from '../support/require-tool.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

interface Entity {
  readonly id: { readonly id: string }
}

const run = promisify(execFile)
const KEY = '0123456789abcdef0123456789abcdef'
const OTHER_KEY = 'ffffffffffffffffffffffffffffffff'
const CAN_RUN = canRunLeshan() && hasTool('openssl')
const TIMEOUT = { timeout: 600_000 }
const NO_SECURITY = { securityMode: 'NO_SEC' }
const MODES = ['PSK', 'RPK', 'X509'] as const
type Mode = (typeof MODES)[number]

let folder = ''
let millrace: RunningMillrace
let rest: RestClient
/** By what their clients are told at the bootstrap server, ids. */
const profiles = new Map<Mode, string>()
let lwm2m: DtlsProxy
let bootstrap: DtlsProxy
let coap: DtlsProxy

before(async () => {
  if (!CAN_RUN) return
  folder = await mkdtemp(join(tmpdir(), 'millrace-dtls-'))
  for (const name of ['server', 'bootstrap', 'client', 'told', 'sensor', 'other', 'ca']) certificate(name)
  signed('known', 'urn:by-issuer')
  const sockets = { lwm2m: join(folder, 'lwm2m.sock'), bs: join(folder, 'bs.sock'), coap: join(folder, 'coap.sock') }
  millrace = await startMillrace({
    environment: {
      ...{ LWM2M_DTLS_PROXY_SOCKET: sockets.lwm2m, LWM2M_BS_DTLS_PROXY_SOCKET: sockets.bs },
      COAP_DTLS_PROXY_SOCKET: sockets.coap,
    },
  })
  const own = ['--credentials', join(folder, 'server.pem')]
  lwm2m = await startDtlsProxy('lwm2m', sockets.lwm2m, [...own, '--trust', join(folder, 'ca.crt')])
  bootstrap = await startDtlsProxy('lwm2m', sockets.bs, ['--credentials', join(folder, 'bootstrap.pem')])
  coap = await startDtlsProxy('coap', sockets.coap, own)
  rest = new RestClient(millrace, await login(millrace))
  const proofs = {
    ...{ PSK: {}, RPK: { serverPublicKey: await der('server.pub.der') } },
    X509: { serverCertificate: await der('server.crt.der') },
  }
  for (const mode of MODES) {
    const observeAttr = {
      keyName: { '/3_1.2/0/9': 'battery' },
      ...{ observe: ['/3_1.2/0/9'], telemetry: ['/3_1.2/0/9'], attribute: [], attributeLwm2m: {} },
    }
    const told = [serverToldOf(mode, lwm2m.port, proofs[mode])]
    profiles.set(mode, await createLwm2mProfile(rest, `meters, ${mode}`, { observeAttr, bootstrap: told }))
  }
})

after(async () => {
  if (!CAN_RUN) return
  await Promise.all([lwm2m.kill(), bootstrap.kill(), coap.kill()])
  await millrace.stop()
  await rm(folder, { recursive: true, force: true })
})

test('a client proves its key, is read and called, and is the device that has the key', TIMEOUT, async (context) => {
  if (!canRun(context)) return
  const device = await lwm2mDevice({
    ...{ securityConfigClientMode: 'PSK', endpoint: 'urn:psk', identity: 'identity "é"', key: KEY },
  })
  const client = await startLeshanClient('urn:psk', lwm2m.port, ['psk', 'identity "é"', KEY])
  context.after(() => client.kill())
  await client.heard('REGISTERED')
  await batteryIs(device, '90')
  client.tell('battery 42')
  await batteryIs(device, '42')
  const called = { method: 'Execute', params: { id: '/3_1.2/0/4' }, timeout: 60_000 }
  assert.deepEqual(await rest.expect('POST', `/api/rpc/twoway/${device}`, called), { result: 'CHANGED' })
  await client.heard('EXECUTE 4')
  client.tell('stop')
  await client.heard('DEREGISTERED')
})

test(
  'a client proves its key to the bootstrap server and registers with the one that it is told there',
  TIMEOUT,
  async (context) => {
    if (!canRun(context)) return
    const endpoint = 'urn:told'
    const keys = { clientPublicKeyOrId: 'told', clientSecretKey: OTHER_KEY }
    const device = await lwm2mDevice(
      { securityConfigClientMode: 'PSK', endpoint, identity: 'told', key: OTHER_KEY },
      { bootstrapServer: NO_SECURITY, lwm2mServer: { securityMode: 'PSK', ...keys } },
    )
    const stranger = await startLeshanClient(endpoint, millrace.ports['lwm2m_bootstrap'] ?? 0, ['bootstrap'])
    context.after(() => stranger.kill())
    assert.match(await stranger.heardFirst(['BOOTSTRAPPED', 'REFUSED']), /^REFUSED BAD_REQUEST/)
    const client = await startLeshanClient(endpoint, bootstrap.port, ['bootstrap', 'psk', 'told', OTHER_KEY])
    context.after(() => client.kill())
    await client.heard('BOOTSTRAPPED')
    await client.heard('REGISTERED')
    await batteryIs(device, '90')
    client.tell('battery 42')
    await batteryIs(device, '42')
  },
)

test(
  'a client proves its raw key or certificate to the bootstrap server and registers with what it is told there',
  TIMEOUT,
  async (context) => {
    if (!canRun(context)) return
    const kinds = [
      { mode: 'RPK', file: 'told.pub.der', server: 'bootstrap.pub.der', shown: { key: await der('told.pub.der') } },
      { mode: 'X509', file: 'told.crt.der', server: 'bootstrap.crt.der', shown: { cert: await der('told.crt.der') } },
    ] as const
    for (const { mode, file, server, shown } of kinds) {
      const endpoint = `urn:told:${mode}`
      const keys = { clientPublicKeyOrId: await der(file), clientSecretKey: await der('told.key.der') }
      const device = await lwm2mDevice(
        { securityConfigClientMode: mode, endpoint, ...shown },
        { bootstrapServer: NO_SECURITY, lwm2mServer: { securityMode: mode, ...keys } },
        mode,
      )
      const proof = [mode.toLowerCase(), at('told.key.der'), at(file), at(server)]
      const others = proof.map((each) => each.replace('told.', 'other.'))
      const stranger = await startLeshanClient(endpoint, bootstrap.port, ['bootstrap', ...others])
      context.after(() => stranger.kill())
      assert.match(await stranger.heardFirst(['BOOTSTRAPPED', 'REFUSED']), /^REFUSED BAD_REQUEST/)
      const client = await startLeshanClient(endpoint, bootstrap.port, ['bootstrap', ...proof])
      context.after(() => client.kill())
      await client.heard('BOOTSTRAPPED')
      // The two servers have different keys: it registers only with the one that it was told.
      await client.heard('REGISTERED')
      await batteryIs(device, '90')
      client.tell('battery 42')
      await batteryIs(device, '42')
    }
  },
)

test('a key that was changed ends the registration: nothing more is stored', TIMEOUT, async (context) => {
  if (!canRun(context)) return
  const device = await lwm2mDevice({
    ...{ securityConfigClientMode: 'PSK', endpoint: 'urn:changed', identity: 'changed', key: KEY },
  })
  const client = await startLeshanClient('urn:changed', lwm2m.port, ['psk', 'changed', KEY])
  context.after(() => client.kill())
  await client.heard('REGISTERED')
  await batteryIs(device, '90')
  const credentials = await rest.expect<{ credentialsValue: string }>('GET', `/api/device/${device}/credentials`)
  const credentialsValue = credentials.credentialsValue.replace(KEY, OTHER_KEY)
  assert.notEqual(credentialsValue, credentials.credentialsValue)
  await rest.expect('POST', '/api/device/credentials', { ...credentials, credentialsValue })
  client.tell('battery 13')
  client.tell('update')
  // It registers anew when its update is refused, by a handshake that proves nothing any more.
  assert.match(await client.heardFirst(['REGISTERED', 'REFUSED', 'TIMED OUT']), /^REFUSED FORBIDDEN/)
  await batteryIs(device, '90')
})

test('whoever proves one device is no other', TIMEOUT, async (context) => {
  if (!canRun(context)) return
  await lwm2mDevice({ securityConfigClientMode: 'PSK', endpoint: 'urn:mine', identity: 'mine', key: KEY })
  await lwm2mDevice({ securityConfigClientMode: 'PSK', endpoint: 'urn:theirs', identity: 'theirs', key: OTHER_KEY })
  const refused = async (endpoint: string, port: number, proof: readonly string[]): Promise<string> => {
    const client = await startLeshanClient(endpoint, port, proof)
    try {
      return await client.heardFirst(['REGISTERED', 'REFUSED', 'TIMED OUT'])
    } finally {
      await client.kill()
    }
  }
  assert.match(await refused('urn:theirs', lwm2m.port, ['psk', 'mine', KEY]), /^REFUSED FORBIDDEN/)
  // Without DTLS its name is nothing.
  assert.match(await refused('urn:mine', millrace.ports['lwm2m'] ?? 0, []), /^REFUSED FORBIDDEN/)
  // A key that is not its own ends the handshake: it says nothing while the owner, who began later, registers.
  const impostor = await startLeshanClient('urn:theirs', lwm2m.port, ['psk', 'theirs', KEY])
  context.after(() => impostor.kill())
  const owner = await startLeshanClient('urn:theirs', lwm2m.port, ['psk', 'theirs', OTHER_KEY])
  context.after(() => owner.kill())
  const first = await Promise.race([
    owner.heard('REGISTERED').then(() => 'the owner'),
    impostor.heardFirst(['REGISTERED']).catch(() => 'the owner'),
  ])
  assert.equal(first, 'the owner')
})

test(
  'a client proves a raw key, a certificate that is known, and one of a trusted issuer',
  TIMEOUT,
  async (context) => {
    if (!canRun(context)) return
    const clients = [
      { endpoint: 'urn:raw', mode: 'RPK', shown: { key: await der('client.pub.der') } },
      { endpoint: 'urn:pinned', mode: 'X509', shown: { cert: await der('client.crt.der') } },
      { endpoint: 'urn:by-issuer', mode: 'X509', shown: { cert: '' } },
    ]
    for (const { endpoint, mode, shown } of clients) {
      const device = await lwm2mDevice({ securityConfigClientMode: mode, endpoint, ...shown })
      const proof =
        mode === 'RPK'
          ? ['rpk', at('client.key.der'), at('client.pub.der'), at('server.pub.der')]
          : endpoint === 'urn:pinned'
            ? ['x509', at('client.key.der'), at('client.crt.der'), at('server.crt.der')]
            : ['x509', at('known.key.der'), at('known.crt.der'), at('server.crt.der')]
      const client = await startLeshanClient(endpoint, lwm2m.port, proof)
      context.after(() => client.kill())
      await client.heard('REGISTERED')
      await batteryIs(device, '90')
      const others = proof.map((each) => each.replace(/(?:client|known)\./, 'other.'))
      const stranger = await startLeshanClient(endpoint, lwm2m.port, others)
      context.after(() => stranger.kill())
      assert.match(await stranger.heardFirst(['REGISTERED', 'REFUSED']), /^REFUSED FORBIDDEN/)
    }
  },
)

test('a device of CoAP sends with its certificate, and without one with its token', TIMEOUT, async (context) => {
  if (!canRun(context)) return
  const tool = 'coap-client-openssl'
  if (!requireTool(context, tool)) return
  const pem = await readFile(join(folder, 'sensor.crt'), 'utf8')
  const device = await rest.expect<Entity>('POST', '/api/device-with-credentials', {
    device: { name: 'certified' },
    credentials: { credentialsType: 'X509_CERTIFICATE', credentialsId: '', credentialsValue: pem },
  })
  const send = (name: string, path: string, value: number) =>
    run(tool, [
      ...['-m', 'post', '-c', join(folder, `${name}.pem`), '-C', join(folder, 'server.crt'), '-n', '-B', '20'],
      ...['-t', '50', '-e', JSON.stringify({ battery: value })],
      `coaps://127.0.0.1:${coap.port}/api/v1/${path}`,
    ])
  await send('sensor', 'telemetry', 7)
  await batteryIs(device.id.id, '7')
  const answered = await send('other', 'telemetry', 8)
  assert.match(answered.stdout + answered.stderr, /4\.01/)
  const token = await rest.expect<Entity>('POST', '/api/device-with-credentials', {
    device: { name: 'with token' },
    credentials: { credentialsType: 'ACCESS_TOKEN', credentialsId: 'DTLS_TOKEN' },
  })
  await send('other', 'DTLS_TOKEN/telemetry', 9)
  await batteryIs(token.id.id, '9')
})

test('a certificate out of its dates ends the handshake, of CoAP and of LwM2M', TIMEOUT, async (context) => {
  if (!canRun(context)) return
  const authority = await createAuthority(context)
  const [past, future] = [new Date('2022-01-01T00:00:00Z'), new Date('2048-01-01T00:00:00Z')]
  for (const { port } of [coap, lwm2m]) {
    assert.match(await shakenHandsWith(port, await authority.issue(['good'])), /^CONNECTION ESTABLISHED$/m)
    for (const shown of [
      await authority.issue(['expired'], past),
      await authority.issue(['early'], undefined, future),
    ]) {
      const said = await shakenHandsWith(port, shown)
      assert.match(said, /alert number 45/, said)
      assert.doesNotMatch(said, /CONNECTION ESTABLISHED/)
    }
  }
})

/** What OpenSSL says of a handshake in which it shows this certificate. */
async function shakenHandsWith(port: number, { certFile, keyFile }: CertificateFiles): Promise<string> {
  const shown = ['-cert', certFile, '-key', keyFile]
  const running = run('openssl', ['s_client', '-dtls1_2', '-brief', '-connect', `127.0.0.1:${port}`, ...shown])
  running.child.stdin?.end()
  const { stdout, stderr } = await running.catch((error: { readonly stdout: string; readonly stderr: string }) => error)
  return stdout + stderr
}

function at(file: string): string {
  return join(folder, file)
}

async function der(file: string): Promise<string> {
  return (await readFile(at(file))).toString('base64')
}

function canRun(context: TestContext): boolean {
  if (CAN_RUN) return true
  assert.notEqual(process.env['REQUIRE_REAL'], '1', 'java, javac, mvn and openssl are required and not on this machine')
  context.skip('needs java, javac, mvn and openssl')
  return false
}

async function lwm2mDevice(
  client: { readonly endpoint: string } & Readonly<Record<string, string>>,
  told: object = { bootstrapServer: NO_SECURITY, lwm2mServer: NO_SECURITY },
  mode: Mode = 'PSK',
): Promise<string> {
  const device = await rest.expect<Entity>('POST', '/api/device-with-credentials', {
    device: { name: client.endpoint, deviceProfileId: { entityType: 'DEVICE_PROFILE', id: profiles.get(mode) } },
    credentials: {
      ...{ credentialsType: 'LWM2M_CREDENTIALS', credentialsId: client.endpoint },
      credentialsValue: JSON.stringify({ client, bootstrap: told }),
    },
  })
  return device.id.id
}

async function batteryIs(device: string, expected: string): Promise<void> {
  const path = `/api/plugins/telemetry/DEVICE/${device}/values/timeseries?keys=battery`
  await eventually(
    () => rest.expect<{ battery?: { value: string | null }[] }>('GET', path),
    ({ battery }) => battery?.[0]?.value === expected,
  )
}

function openssl(...parameters: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', parameters, { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
}

/** NAME.key, NAME.crt and NAME.pem with both, and in DER key, certificate and public key. */
function certificate(name: string): void {
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', `${name}.ec`)
  openssl('pkcs8', '-topk8', '-nocrypt', '-in', `${name}.ec`, '-out', `${name}.key`)
  openssl('req', '-x509', '-new', '-key', `${name}.key`, '-subj', `/CN=${name}`, '-days', '30', '-out', `${name}.crt`)
  inDer(name)
}

function signed(name: string, commonName: string): void {
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', `${name}.ec`)
  openssl('pkcs8', '-topk8', '-nocrypt', '-in', `${name}.ec`, '-out', `${name}.key`)
  openssl('req', '-new', '-key', `${name}.key`, '-subj', `/CN=${commonName}`, '-out', `${name}.csr`)
  const issuer = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '30']
  openssl('x509', '-req', '-in', `${name}.csr`, ...issuer, '-out', `${name}.crt`)
  inDer(name)
}

function inDer(name: string): void {
  const both = spawnSync('sh', ['-c', `cat ${name}.key ${name}.crt > ${name}.pem`], { cwd: folder })
  assert.equal(both.status, 0)
  openssl('pkcs8', '-topk8', '-nocrypt', '-in', `${name}.key`, '-outform', 'DER', '-out', `${name}.key.der`)
  openssl('x509', '-in', `${name}.crt`, '-outform', 'DER', '-out', `${name}.crt.der`)
  openssl('pkey', '-in', `${name}.key`, '-pubout', '-outform', 'DER', '-out', `${name}.pub.der`)
}
