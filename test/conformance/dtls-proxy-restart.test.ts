/** The DTLS proxy that ships ends hard and comes again: devices shake hands anew, and all that was acknowledged is there. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { createAuthority, type CertificateFiles } from '../support/certificates.ts'
import { RestClient, login } from '../support/clients.ts'
import { startDtlsProxy, type DtlsProxy } from '../support/dtls-proxy.ts'
import { requireTool } from '../support/require-tool.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { startUdpRelay, type UdpRelay } from '../support/udp-relay.ts'
import { eventually } from './wait.ts'

interface Entity {
  readonly id: { readonly id: string }
}

const run = promisify(execFile)
const TIMEOUT = { timeout: 600_000 }

interface Setup {
  readonly rest: RestClient
  readonly relay: UdpRelay
  /** Hard. Resolves when another has taken its place. */
  readonly restartProxy: () => Promise<void>
}

/** A server, and clients that reach it by a port behind which the proxy may change. */
async function open(context: TestContext, more: readonly string[]): Promise<Setup> {
  const { folder } = await createAuthority(context)
  const socket = join(folder, 'proxy.sock')
  const millrace = await startMillrace({ environment: { COAP_DTLS_PROXY_SOCKET: socket } })
  context.after(() => millrace.stop())
  let proxy: DtlsProxy = await startDtlsProxy('coap', socket, more)
  context.after(() => proxy.kill())
  const relay = await startUdpRelay(proxy.port)
  context.after(() => relay.close())
  return {
    rest: new RestClient(millrace, await login(millrace)),
    relay,
    restartProxy: async () => {
      await proxy.kill()
      proxy = await startDtlsProxy('coap', socket, more)
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
  const { rest, relay, restartProxy } = await open(context, ['--credentials', server.both])
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

async function inOneFile(issued: Promise<CertificateFiles>) {
  const { certFile, keyFile } = await issued
  const certificate = await readFile(certFile, 'utf8')
  const both = `${certFile}.both.pem`
  await writeFile(both, `${await readFile(keyFile, 'utf8')}${certificate}`, { mode: 0o600 })
  return { certFile, certificate, both }
}
