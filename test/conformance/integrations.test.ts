/** Integrations end to end: a webhook, another broker, ports and files, through the converter into devices; what was acknowledged survives `kill -9`. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connectAsync } from 'mqtt'
import { integration } from '../../commands/integration.ts'
import { RestClient, login } from '../support/clients.ts'
import { skipWithoutMosquitto, startMosquitto } from '../support/mosquitto.ts'
import { freePorts } from '../support/servers/ports.ts'
import { createAuthority } from '../support/certificates.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

interface Entity {
  readonly id: { readonly id: string }
}
interface Statistics {
  readonly state: string
  readonly received: number
  readonly stored: number
  readonly failed: number
  readonly lastError: string | null
}

const SCRIPT =
  'return {deviceName: payload.station, deviceType: "station", telemetry: {ts: payload.ts, values: {n: payload.n}}, attributes: {seen: true}};'
const START = 1_700_000_000_000
const EVERY = 100_000
/** Acknowledged ones before the kill. */
const ENOUGH = 60

async function restOf(millrace: RunningMillrace): Promise<RestClient> {
  return new RestClient(millrace, await login(millrace))
}

/** The values that are stored of a device's key, in the order of their times. */
async function madeOf(rest: RestClient, device: string): Promise<readonly number[]> {
  const answer = await rest.call('GET', `/api/tenant/devices?deviceName=${device}`)
  if (answer.status !== 200) return []
  const { id } = answer.json<Entity>()
  const path = `/api/plugins/telemetry/DEVICE/${id.id}/values/timeseries?keys=n&limit=${EVERY}&orderBy=ASC&useStrictDataTypes=true`
  const { n = [] } = await rest.expect<{ n?: { value: number }[] }>(
    'GET',
    `${path}&startTs=${START}&endTs=${START + EVERY}`,
  )
  return n.map(({ value }) => value)
}

const missing = (found: readonly number[], expected: readonly number[]): readonly number[] => {
  const all = new Set(found)
  return expected.filter((value) => !all.has(value))
}

test('integrations: a webhook and a broker', { skip: skipWithoutMosquitto() }, async (context) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-integrations-'))
  context.after(() => rm(dataDir, { recursive: true, force: true }))
  const environment = { OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.0/8' }
  let millrace = await startMillrace({ dataDir, environment })
  context.after(() => millrace.kill())
  const broker = await startMosquitto({ user: 'plant', password: 'plant secret' })
  context.after(() => broker.close())
  let rest = await restOf(millrace)

  const checked = await rest.expect<{ output: unknown[]; error: string }>('POST', '/api/integration/check', {
    converter: { language: 'JS', script: 'return {deviceName: payload.s, telemetry: {t: payload.t * 2}};' },
    payload: '{"s":"one","t":21}',
  })
  assert.deepEqual(checked, {
    output: [{ deviceName: 'one', deviceType: null, telemetry: [{ ts: null, values: { t: 42 } }], attributes: {} }],
    error: '',
  })

  const hook = await rest.expect<Entity>('POST', '/api/integration', {
    ...{ name: 'hook', type: 'HTTP', converter: { script: SCRIPT }, configuration: { secret: 'secret of the hook' } },
  })
  assert.ok(!JSON.stringify(hook).includes('secret of'))
  const { path } = await rest.expect<{ path: string }>('GET', `/api/integration/${hook.id.id}/webhook`)
  const send = (body: unknown, secret = 'secret of the hook') =>
    fetch(millrace.url + path, {
      method: 'POST',
      headers: { 'x-webhook-secret': secret },
      body: JSON.stringify(body),
    }).then(
      ({ status }) => status,
      () => 0,
    )
  const sourceOf = await rest.expect<Entity>('POST', '/api/integration', {
    ...{ name: 'plant', type: 'MQTT', converter: { script: SCRIPT } },
    configuration: {
      ...{ host: '127.0.0.1', port: broker.port, username: 'plant', password: 'plant secret' },
      topics: [{ filter: 'plant/+/measured', qos: 1 }],
    },
  })
  const statistics = (id: string) => rest.expect<Statistics>('GET', `/api/integration/${id}/statistics`)
  await eventually(
    () => statistics(sourceOf.id.id),
    ({ state }) => state === 'RUNNING',
  )
  await eventually(
    () => statistics(hook.id.id),
    ({ state }) => state === 'RUNNING',
  )

  assert.equal(await send({}, 'wrong'), 401)
  assert.equal(await send({ station: 7 }), 400)
  assert.equal(
    (await fetch(`${millrace.url}/api/v1/integrations/http/nobody`, { method: 'POST', body: '1' })).status,
    404,
  )
  const failed = await statistics(hook.id.id)
  assert.deepEqual([failed.failed, failed.stored], [1, 0])
  assert.match(failed.lastError ?? '', /deviceName/)

  const sent = 600
  const publisher = await connectAsync(`mqtt://127.0.0.1:${broker.port}`, {
    username: 'plant',
    password: 'plant secret',
  })
  context.after(() => publisher.endAsync(true))
  const publish = (n: number) =>
    publisher.publishAsync('plant/a/measured', JSON.stringify({ station: 'from-broker', ts: START + n, n }), { qos: 1 })
  const taken: number[] = []
  const enough = Promise.withResolvers<void>()
  const post = async (n: number): Promise<void> => {
    if ((await send({ station: 'from-hook', ts: START + n, n })) === 200) taken.push(n)
    if (taken.length > ENOUGH) enough.resolve()
  }
  await Promise.all([publish(0), post(0)])
  await eventually(
    () => madeOf(rest, 'from-broker'),
    (found) => found.length === 1,
  )

  // In the middle of it the process is killed.
  const numbers = Array.from({ length: sent }, (_, index) => index + 1)
  const publishing = Promise.all(numbers.map(publish))
  const left = numbers.values()
  const lane = async (): Promise<void> => {
    for (const n of left) await post(n)
  }
  const posting = Promise.all([lane(), lane(), lane(), lane()])
  await enough.promise
  await millrace.kill()
  await Promise.all([publishing, posting])
  assert.ok(taken.length > ENOUGH && taken.length < sent, `${taken.length} were acknowledged`)
  millrace = await startMillrace({ dataDir, environment })
  rest = await restOf(millrace)
  await eventually(
    async () => missing(await madeOf(rest, 'from-hook'), taken),
    (lost) => lost.length === 0,
  )
  await eventually(
    async () => missing(await madeOf(rest, 'from-broker'), [0, ...numbers]),
    (lost) => lost.length === 0,
  )

  // Nothing is made where the integration may not.
  await rest.expect('POST', '/api/integration', {
    ...{ id: hook.id, name: 'hook', type: 'HTTP', converter: { script: SCRIPT }, allowCreateDevices: false },
    configuration: { secret: '********' },
  })
  assert.equal(await send({ station: 'new one', ts: START, n: 1 }), 404)
  assert.equal(await send({ station: 'from-hook', ts: START, n: 1 }), 200)
  await rest.expect('DELETE', `/api/integration/${hook.id.id}`)
  assert.equal(await send({ station: 'from-hook', ts: START, n: 1 }), 404)
})

test('integrations: ports of the operator, over TCP and UDP', async (context) => {
  const [tcp = 0, udp = 0, other = 0] = await freePorts(3)
  const millrace = await startMillrace({ environment: { INTEGRATION_PORTS: `${tcp},${udp}` } })
  context.after(() => millrace.kill())
  const rest = await restOf(millrace)
  const script =
    'return {deviceName: "meter", telemetry: {ts: 1700000000000, values: {n: payload[0] * 256 + payload[1], from: metadata.remoteAddress}}};'
  const save = (type: string, configuration: object) =>
    rest.call('POST', '/api/integration', {
      ...{ name: type, type, configuration, converter: { script, payloadFormat: 'BINARY' } },
    })
  for (const [configuration, reason] of [
    [{ port: other }, /INTEGRATION_PORTS/],
    [{ port: tcp, address: '0.0.0.0' }, /INTEGRATION_ADDRESSES/],
    [{ port: tcp, framing: { type: 'DELIMITER' } }, /configuration\.framing/],
  ] as const) {
    const refused = await save('TCP', configuration)
    assert.equal(refused.status, 400)
    assert.match(refused.json<{ message: string }>().message, reason)
  }

  const noFolder = await save('FILE', { folder: 'in' })
  assert.equal(noFolder.status, 400)
  assert.match(noFolder.json<{ message: string }>().message, /INTEGRATION_FOLDER/)

  const made = await save('TCP', { port: tcp, framing: { type: 'LENGTH', bytes: 2, byteOrder: 'LITTLE' }, answer: 'A' })
  const { id } = made.json<Entity>()
  const statistics = () => rest.expect<Statistics>('GET', `/api/integration/${id.id}/statistics`)
  await eventually(statistics, ({ state }) => state === 'RUNNING')
  const socket = connect(tcp, '127.0.0.1')
  context.after(() => socket.destroy())
  socket.write(Buffer.from([2, 0, 1, 2]))
  const [answer] = (await once(socket, 'data')) as [Buffer]
  assert.equal(answer.toString(), 'A')
  await eventually(
    () => madeOf(rest, 'meter'),
    (found) => found[0] === 258,
  )

  assert.equal((await save('UDP', { port: udp, answer: 'B' })).status, 200)
  const sender = createSocket('udp4')
  context.after(() => sender.close())
  const heard = once(sender, 'message')
  // Until the port is listened at nobody hears it.
  const sending = setInterval(() => sender.send(Buffer.from([0, 9]), udp, '127.0.0.1'), 50)
  const [message] = (await heard) as [Buffer]
  clearInterval(sending)
  assert.equal(message.toString(), 'B')

  // The port is given back when it is disabled.
  await rest.expect('POST', '/api/integration', {
    ...{ id, name: 'TCP', type: 'TCP', enabled: false, converter: { script, payloadFormat: 'BINARY' } },
    configuration: { port: tcp },
  })
  await eventually(statistics, ({ state }) => state === 'STOPPED')
  const late = connect(tcp, '127.0.0.1')
  const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException]
  assert.equal(error.code, 'ECONNREFUSED')
})

test('integrations: a TCP port over TLS, with the certificate of the operator', async (context) => {
  const [port = 0] = await freePorts(1)
  const authority = await createAuthority(context)
  const { certFile, keyFile } = await authority.issue(['127.0.0.1'])
  const millrace = await startMillrace({
    environment: {
      ...{ INTEGRATION_PORTS: String(port), INTEGRATION_SSL_PEM_CERT: certFile, INTEGRATION_SSL_PEM_KEY: keyFile },
    },
  })
  context.after(() => millrace.kill())
  const rest = await restOf(millrace)
  const script = 'return {deviceName: "sealed", telemetry: {ts: 1700000000000, values: {n: payload.n}}};'
  const { id } = await rest.expect<Entity>('POST', '/api/integration', {
    ...{ name: 'sealed', type: 'TCP', converter: { script } },
    configuration: { port, tls: true, answer: 'OK\n' },
  })
  const statistics = () => rest.expect<Statistics>('GET', `/api/integration/${id.id}/statistics`)
  await eventually(statistics, ({ state }) => state === 'RUNNING')
  const socket = connectTls({ port, host: '127.0.0.1', ca: await readFile(authority.caFile) })
  context.after(() => socket.destroy())
  socket.write('{"n":7}\n')
  const [answer] = (await once(socket, 'data')) as [Buffer]
  assert.equal(answer.toString(), 'OK\n')
  await eventually(
    () => madeOf(rest, 'sealed'),
    (found) => found[0] === 7,
  )
})

test('integrations: files of a folder, with a report of bad lines', async (context) => {
  const files = await mkdtemp(join(tmpdir(), 'millrace-files-'))
  context.after(() => rm(files, { recursive: true, force: true }))
  const millrace = await startMillrace({ environment: { INTEGRATION_FOLDER: files } })
  context.after(() => millrace.kill())
  const rest = await restOf(millrace)
  const script =
    'return {deviceName: payload.meter, telemetry: {ts: 1700000000000 + parseInt(payload.n), values: {n: payload.n}}};'
  const save = (configuration: object) =>
    rest.call('POST', '/api/integration', { name: 'meters', type: 'FILE', configuration, converter: { script } })
  assert.equal((await save({ folder: '../others' })).status, 400)
  const { id } = (await save({ folder: 'meters', delimiter: ';', pollSeconds: 1 })).json<Entity>()
  const statistics = () =>
    rest.expect<Statistics & { progress: object | null }>('GET', `/api/integration/${id.id}/statistics`)
  await eventually(statistics, ({ state }) => state === 'RUNNING')

  const { tenantId } = await rest.expect<{ tenantId: { id: string } }>('GET', '/api/auth/user')
  const folder = join(files, tenantId.id, 'meters')
  const text = 'meter;n\n"from;file";1\n;2\n"from;file";3\n'
  await writeFile(join(folder, '.one.csv'), text)
  await rename(join(folder, '.one.csv'), join(folder, 'one.csv'))
  await eventually(
    () => readFile(join(folder, 'failed', 'one.csv'), 'utf8').catch(() => ''),
    (content) => content === text,
  )
  assert.match(await readFile(join(folder, 'failed', 'one.csv.report'), 'utf8'), /^line 3: .*deviceName.*\n$/)
  // A line is done with when it is durable: its rule chain stores it a moment later.
  const made = await eventually(
    () => madeOf(rest, 'from%3Bfile'),
    (found) => found.length >= 2,
  )
  assert.deepEqual(made, [1, 3])
  const { progress, stored, failed } = await statistics()
  assert.deepEqual(progress, { file: 'one.csv', bytesDone: text.length, bytesTotal: text.length, records: 3, bad: 1 })
  assert.deepEqual([stored, failed], [2, 1])

  const lines: string[] = []
  const output = { out: (line: string) => lines.push(line), error: (line: string) => lines.push(line) }
  const watch = (name: string) => integration(['watch', name, '--updates', '1', '--url', millrace.url], output)
  assert.equal(await watch('meters'), 0)
  assert.match(lines.join(), /^RUNNING {2}received 3, stored 2, failed 1, delayed 0 {2}last error: /)
  assert.equal(await watch('nothing'), 1)
  assert.match(lines.at(-1) ?? '', /no integration named 'nothing'/)
})
