/** The DTLS proxy that ships ends hard and comes again: devices shake hands anew, and all that was acknowledged is there. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createAuthority, type CertificateFiles } from '../support/certificates.ts'
import { RestClient, login } from '../support/clients.ts'
import { startDtlsProxy, type DtlsProxy } from '../support/dtls-proxy.ts'
import { requireLeshan, startLeshanClient } from '../support/leshan-client.ts'
import { createLwm2mDevice, createLwm2mProfile } from '../support/lwm2m-device.ts'
import { requireTool } from '../support/require-tool.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { startUdpRelay, type UdpRelay } from '../support/udp-relay.ts'
import { eventually } from './wait.ts'

interface Entity {
  readonly id: { readonly id: string }
}

const run = promisify(execFile)
const TIMEOUT = { timeout: 600_000 }
const KEY = '00112233445566778899aabbccddeeff'
const CHANGE_MS = 1000

interface Setup {
  readonly rest: RestClient
  readonly relay: UdpRelay
  /** Hard. Resolves when another has taken its place. */
  readonly restartProxy: () => Promise<void>
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
    // Its lines have times, such as 20:44:12.013.
    if (/ c:2\.01 /.test(stdout + stderr)) acknowledged.push(number)
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

test('an observation of LwM2M goes on behind a proxy that was restarted', TIMEOUT, async (context) => {
  if (!requireLeshan(context)) return
  const { rest, relay, restartProxy } = await open(context, 'lwm2m')
  const observed = ['/3_1.2/0/9']
  const profileId = await createLwm2mProfile(rest, 'meters', {
    observeAttr: {
      ...{ keyName: { '/3_1.2/0/9': 'battery' }, observe: observed, telemetry: observed },
      ...{ attribute: [], attributeLwm2m: {} },
    },
  })
  const identity = 'meter'
  const device = await createLwm2mDevice(
    rest,
    profileId,
    identity,
    {},
    { securityConfigClientMode: 'PSK', identity, key: KEY },
  )
  const battery = async (): Promise<string | undefined> => {
    const path = `/api/plugins/telemetry/DEVICE/${device}/values/timeseries?keys=battery`
    const { battery: values } = await rest.expect<{ battery?: { value: string | null }[] }>('GET', path)
    return values?.[0]?.value ?? undefined
  }
  const client = await startLeshanClient(identity, relay.port, ['psk', identity, KEY])
  context.after(() => client.kill())
  await client.heard('REGISTERED')
  await eventually(battery, (value) => value === '90')
  client.tell('battery 42')
  await eventually(battery, (value) => value === '42')

  await restartProxy()
  // Nobody answers it within the connection that only the former proxy knows: the client gives that up and shakes hands anew.
  client.tell('update')
  await client.heardFirst(['REGISTERED', 'UPDATED'])
  // A change between the reading for an observation and the answer with it is told to nobody: so there is another one behind each.
  let level = 100
  await eventually(
    async () => {
      client.tell(`battery ${++level}`)
      await delay(CHANGE_MS)
      return battery()
    },
    (value) => Number(value) > 100,
    240_000,
  )
})

async function inOneFile(issued: Promise<CertificateFiles>) {
  const { certFile, keyFile } = await issued
  const certificate = await readFile(certFile, 'utf8')
  const both = `${certFile}.both.pem`
  await writeFile(both, `${await readFile(keyFile, 'utf8')}${certificate}`, { mode: 0o600 })
  return { certFile, certificate, both }
}
