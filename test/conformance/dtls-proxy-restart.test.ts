/** The DTLS proxy that ships ends hard and comes again: clients shake hands anew, and all that was acknowledged is there. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { createAuthority, type CertificateFiles } from '../support/certificates.ts'
import { RestClient, login } from '../support/clients.ts'
import { startDtlsProxy, type DtlsProxy } from '../support/dtls-proxy.ts'
import { requireLeshan, startLeshanClient } from '../support/leshan-client.ts'
import { createLwm2mProfile } from '../support/lwm2m-device.ts'
import { requireTool } from '../support/require-tool.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { startUdpRelay, type UdpRelay } from '../support/udp-relay.ts'
import { eventually } from './wait.ts'

interface Entity {
  readonly id: { readonly id: string }
}

const run = promisify(execFile)
const TIMEOUT = { timeout: 600_000 }
const KEY = '0123456789abcdef0123456789abcdef'
const NO_SECURITY = { securityMode: 'NO_SEC' }
/** Gives a request up after 14 to 21 s, and not after 62 to 93. */
const IMPATIENT = { COAP_MAX_RETRANSMIT: '2' }

interface Setup {
  readonly rest: RestClient
  readonly relay: UdpRelay
  /** Hard. Resolves when another has taken its place. */
  restartProxy(): Promise<void>
}

/** A server, and clients that reach it by a port behind which the proxy may change. */
async function open(context: TestContext, kind: 'coap' | 'lwm2m', more: readonly string[] = []): Promise<Setup> {
  const { folder } = await createAuthority(context)
  const socket = join(folder, 'proxy.sock')
  const millrace = await startMillrace({ environment: { [`${kind.toUpperCase()}_DTLS_PROXY_SOCKET`]: socket } })
  context.after(() => millrace.stop())
  let proxy: DtlsProxy = await startDtlsProxy(kind, socket, more)
  context.after(() => proxy.kill())
  const relay = await startUdpRelay(proxy.port)
  context.after(() => relay.close())
  return {
    rest: new RestClient(millrace, await login(millrace)),
    relay,
    restartProxy: async () => {
      await proxy.kill()
      proxy = await startDtlsProxy(kind, socket, more)
      relay.turnTo(proxy.port)
    },
  }
}

test(
  'a client of LwM2M registers anew through a proxy that was restarted, is observed and is called',
  TIMEOUT,
  async (context) => {
    if (!requireLeshan(context)) return
    const { rest, relay, restartProxy } = await open(context, 'lwm2m')
    const keyName = { '/3_1.2/0/9': 'battery' }
    const observed = ['/3_1.2/0/9']
    const observeAttr = { keyName, observe: observed, telemetry: observed, attribute: [], attributeLwm2m: {} }
    const profile = await createLwm2mProfile(rest, 'meters', { observeAttr })
    const client = { securityConfigClientMode: 'PSK', endpoint: 'urn:meter', identity: 'meter', key: KEY }
    const { id } = await rest.expect<Entity>('POST', '/api/device-with-credentials', {
      device: { name: 'meter', deviceProfileId: { entityType: 'DEVICE_PROFILE', id: profile } },
      credentials: {
        ...{ credentialsType: 'LWM2M_CREDENTIALS', credentialsId: 'urn:meter' },
        credentialsValue: JSON.stringify({
          client,
          bootstrap: { bootstrapServer: NO_SECURITY, lwm2mServer: NO_SECURITY },
        }),
      },
    })
    const values = `/api/plugins/telemetry/DEVICE/${id.id}/values/timeseries?keys=battery`
    const batteryIs = (expected: string) =>
      eventually(
        () => rest.expect<{ battery?: { value: string | null }[] }>('GET', values),
        ({ battery }) => battery?.[0]?.value === expected,
      )
    const meter = await startLeshanClient('urn:meter', relay.port, ['psk', 'meter', KEY], IMPATIENT)
    context.after(() => meter.kill())
    await meter.heard('REGISTERED')
    await batteryIs('90')
    meter.tell('battery 42')
    await batteryIs('42')

    await restartProxy()
    meter.tell('battery 13')
    // The new proxy knows nothing of its handshake: it hears no answer, makes another, and registers.
    meter.tell('update')
    await meter.heard('REGISTERED')
    await batteryIs('13')
    meter.tell('battery 7')
    await batteryIs('7')
    const called = { method: 'Execute', params: { id: '/3_1.2/0/4' }, timeout: 60_000 }
    assert.deepEqual(await rest.expect('POST', `/api/rpc/twoway/${id.id}`, called), { result: 'CHANGED' })
    await meter.heard('EXECUTE 4')
  },
)

const SENDS = 12
const SENDS_BEFORE = 4

test('what a device of CoAP had acknowledged while the proxy was restarted is stored', TIMEOUT, async (context) => {
  for (const tool of ['java', 'javac', 'mvn', 'coap-client-openssl']) if (!requireTool(context, tool)) return
  const authority = await createAuthority(context)
  const [server, sensor] = [await inOneFile(authority.issue(['server'])), await inOneFile(authority.issue(['sensor']))]
  const { rest, relay, restartProxy } = await open(context, 'coap', ['--credentials', server.both])
  const { id } = await rest.expect<Entity>('POST', '/api/device-with-credentials', {
    device: { name: 'sensor' },
    credentials: { credentialsType: 'X509_CERTIFICATE', credentialsId: '', credentialsValue: sensor.certificate },
  })
  const acknowledged: number[] = []
  const send = async (number: number): Promise<void> => {
    const { stdout, stderr } = await run('coap-client-openssl', [
      ...['-v', '6', '-m', 'post', '-c', sensor.both, '-C', server.certFile, '-n', '-B', '120', '-t', '50'],
      ...['-e', JSON.stringify({ ts: 1_700_000_000_000 + number, values: { sent: number } })],
      `coaps://127.0.0.1:${relay.port}/api/v1/telemetry`,
    ])
    if (/2\.01/.test(stdout + stderr)) acknowledged.push(number)
  }
  let restarting: Promise<void> | undefined
  for (let number = 0; number < SENDS; number++) {
    if (number === SENDS_BEFORE) restarting = restartProxy()
    await send(number)
  }
  await restarting
  await send(SENDS)
  context.diagnostic(`${acknowledged.length} of ${SENDS + 1} were acknowledged`)
  assert.deepEqual(acknowledged.slice(0, SENDS_BEFORE), [0, 1, 2, 3])
  assert.equal(acknowledged.at(-1), SENDS)
  const history = `/api/plugins/telemetry/DEVICE/${id.id}/values/timeseries?keys=sent&startTs=1&endTs=1800000000000&limit=100`
  await eventually(
    () => rest.expect<{ sent?: { value: string }[] }>('GET', history),
    ({ sent = [] }) => acknowledged.every((number) => sent.some(({ value }) => value === String(number))),
  )
})

async function inOneFile(issued: Promise<CertificateFiles>) {
  const { certFile, keyFile } = await issued
  const certificate = await readFile(certFile, 'utf8')
  const both = `${certFile}.both.pem`
  await writeFile(both, `${await readFile(keyFile, 'utf8')}${certificate}`, { mode: 0o600 })
  return { certFile, certificate, both }
}
