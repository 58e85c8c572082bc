/** The program as a process: how it starts, says that it is ready, refuses, and stops. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { requireTool } from '../support/require-tool.ts'
import { MILLRACE, startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

async function freshFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-process-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const QUIET_PORTS = {
  ...{ HTTP_BIND_PORT: '0', MQTT_BIND_PORT: '0', COAP_BIND_PORT: '0' },
  ...{ LWM2M_BIND_PORT: '0', LWM2M_BS_BIND_PORT: '0' },
}

function run(argv: readonly string[], environment: Readonly<Record<string, string>>) {
  return spawnSync(process.execPath, [...MILLRACE, ...argv], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    timeout: 120_000,
  })
}

test('the ready line names the real ports of what runs, and nothing else', async (context) => {
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  assert.deepEqual(Object.keys(millrace.ports).sort(), ['coap', 'http', 'lwm2m', 'lwm2m_bootstrap', 'mqtt'])
  for (const port of Object.values(millrace.ports)) assert.ok(port > 0)
  assert.equal((await fetch(`${millrace.url}/health`)).status, 200)
})

test('a transport that is off is left out of the ready line', async (context) => {
  const millrace = await startMillrace({
    environment: { MQTT_ENABLED: 'false', COAP_ENABLED: 'false', LWM2M_ENABLED: 'false' },
  })
  context.after(() => millrace.stop())
  assert.deepEqual(Object.keys(millrace.ports), ['http'])
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} stops it cleanly with exit code 0, and what was acknowledged is there after the next start`, async (context) => {
    const dataDir = await freshFolder(context)
    const first = await startMillrace({ dataDir })
    const sent = await fetch(`${first.url}/api/v1/DEMO_THERMOMETER/telemetry`, {
      method: 'POST',
      body: '{"ts":1700000000000,"values":{"stopped":1}}',
    })
    assert.equal(sent.status, 200)
    process.kill(first.pid, signal)
    assert.equal(await first.stop(), 0)

    const second = await startMillrace({ dataDir })
    context.after(() => second.stop())
    const rest = new RestClient(second, await login(second))
    const device = await rest.expect<{ id: { id: string } }>('GET', '/api/tenant/devices?deviceName=Demo%20Thermometer')
    // What the link had and no chain had stored yet runs after the start.
    const latest = await eventually(
      () =>
        rest.expect<{ stopped: readonly { value: unknown }[] }>(
          'GET',
          `/api/plugins/telemetry/DEVICE/${device.id.id}/values/timeseries?keys=stopped`,
        ),
      ({ stopped: [point] }) => point?.value !== null,
    )
    assert.deepEqual(latest, { stopped: [{ ts: 1700000000000, value: '1' }] })
  })
}

test('without READY_JSON it prints the address, the demo logins and a curl line that works', async (context) => {
  const dataDir = await freshFolder(context)
  const child = spawn(process.execPath, MILLRACE, {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, ...QUIET_PORTS },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  context.after(() => void child.kill('SIGKILL'))
  let text = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    text += String(chunk)
    if (text.includes('curl')) break
  }
  assert.match(text, /sysadmin@millrace.local \/ sysadmin/)
  assert.match(text, /tenant@millrace.local {3}\/ tenant/)
  assert.match(text, /customer@millrace.local \/ customer/)
  if (!requireTool(context, 'curl')) return
  const command = /^ +(curl .*)$/m.exec(text)?.[1]
  assert.ok(command !== undefined, text)
  const answer = spawnSync('sh', ['-c', `${command} -s -o /dev/null -w '%{http_code}'`], { encoding: 'utf8' })
  assert.equal(answer.stdout, '200')
})

test('config and --help print every setting with its value and source, and no secret', () => {
  const secret = Buffer.alloc(64, 1).toString('base64')
  for (const command of ['config', '--help']) {
    const { stdout, status } = run([command], { HTTP_BIND_PORT: '9999', JWT_TOKEN_SIGNING_KEY: secret })
    assert.equal(status, 0)
    assert.match(stdout, /HTTP_BIND_PORT=9999 .*\[environment\]/)
    assert.match(stdout, /MQTT_BIND_PORT=1883 .*\[default\]/)
    assert.match(stdout, /JWT_TOKEN_SIGNING_KEY=\*{8}/)
    assert.ok(!stdout.includes(secret))
  }
})

test('a bad value stops the start with the name, the value and what is allowed', () => {
  const { stderr, stdout, status } = run([], { MQTT_BIND_PORT: 'mqtt' })
  assert.equal(status, 1)
  assert.match(stderr, /^MQTT_BIND_PORT="mqtt" is not allowed: a whole number from 0 to 65535/)
  assert.equal(stdout, '')
})

test('an unknown command is refused with the ones there are', () => {
  const { stderr, status } = run(['serve'], {})
  assert.equal(status, 2)
  assert.match(stderr, /unknown command 'serve'[\s\S]*install-chain/)
})

test('a public address is refused while a demo login still works, and taken once none does', async (context) => {
  const publicAddress = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === 'IPv4' && !each.internal)
  const dataDir = await freshFolder(context)
  const refused = run([], { DATA_DIR: dataDir, HTTP_BIND_ADDRESS: '0.0.0.0', ...QUIET_PORTS })
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /HTTP_BIND_ADDRESS=0.0.0.0 .*demo login sysadmin@millrace.local.*DEMO=false/)
  const overMqtt = run([], {
    DATA_DIR: dataDir,
    MQTT_BIND_ADDRESS: publicAddress?.address ?? '0.0.0.0',
    ...QUIET_PORTS,
  })
  assert.match(overMqtt.stderr, /MQTT_BIND_ADDRESS=/)

  const own = await freshFolder(context)
  const millrace = await startMillrace({ dataDir: own, environment: { DEMO: 'false', HTTP_BIND_ADDRESS: '0.0.0.0' } })
  assert.equal(await millrace.stop(), 0)
})

test('DEMO=false seeds one administrator with a password that is shown once, and no demo login', async (context) => {
  const dataDir = await freshFolder(context)
  const first = await startMillrace({ dataDir, environment: { DEMO: 'false' } })
  // The log comes through a pipe of its own.
  const password = await eventually(
    async () => /sysadmin@millrace.local \/ (\S+)\s/.exec(first.log())?.[1] ?? '',
    (found) => found !== '',
  )
  assert.ok(password.length >= 20, first.log())
  assert.ok((await login(first, { username: 'sysadmin@millrace.local', password })).length > 0)
  await assert.rejects(login(first, DEMO_TENANT), /401/)
  await assert.rejects(login(first, { username: 'sysadmin@millrace.local', password: 'sysadmin' }), /401/)
  assert.equal(await first.stop(), 0)

  const second = await startMillrace({ dataDir, environment: { DEMO: 'false' } })
  context.after(() => second.stop())
  assert.doesNotMatch(second.log(), /sysadmin@millrace.local \//)
  assert.ok((await login(second, { username: 'sysadmin@millrace.local', password })).length > 0)
})

test('a port or a data folder that is in use stops the start with one clear sentence', async (context) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  context.after(() => taken.close())
  const port = String((taken.address() as AddressInfo).port)
  const dataDir = await freshFolder(context)
  const http = run([], { ...QUIET_PORTS, DATA_DIR: dataDir, HTTP_BIND_PORT: port })
  assert.equal(http.status, 1)
  assert.match(http.stderr, new RegExp(`cannot listen on 127.0.0.1:${port}`))
  const mqtt = run([], { ...QUIET_PORTS, DATA_DIR: dataDir, MQTT_BIND_PORT: port })
  assert.equal(mqtt.status, 1)
  assert.match(mqtt.stderr, new RegExp(`127.0.0.1:${port}`))

  const millrace = await startMillrace({ dataDir })
  context.after(() => millrace.stop())
  const second = run([], { DATA_DIR: dataDir, ...QUIET_PORTS })
  assert.equal(second.status, 1)
  assert.match(second.stderr, /in use/)

  const unusable = run([], { DATA_DIR: '/dev/null/millrace', ...QUIET_PORTS })
  assert.equal(unusable.status, 1)
  assert.match(unusable.stderr, /DATA_DIR=\/dev\/null\/millrace can not be used/)
})
