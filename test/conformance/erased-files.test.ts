/** What deleted devices, users and tenants said and had is in no file any more: said by the server, and seen in the files. */
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { erase } from '../../commands/erase.ts'
import { DEMO_SYSADMIN, login, RestClient } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const MARKER = 'MARKER_OF_THE_ERASED'

async function filesWith(folder: string, text: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    // It may go while the folder is looked through.
    const bytes = await readFile(file).catch(() => Buffer.alloc(0))
    if (bytes.includes(text)) found.push(file)
  }
  return found
}

/** Resolves with what it said. */
async function eraseNow({ url }: RunningMillrace, log = /^log: by 20/m): Promise<string> {
  const lines: string[] = []
  const output = { out: (line: string) => lines.push(line), error: (line: string) => lines.push(line) }
  const { username, password } = DEMO_SYSADMIN
  assert.equal(await erase(['--url', url, '--user', username, '--password', password], output), 0, lines.join('\n'))
  for (const store of ['entities', 'series', 'parked lanes', 'dead letters'])
    assert.ok(lines.includes(`${store}: gone`), lines.join('\n'))
  assert.match(lines.join('\n'), log)
  return lines.join('\n')
}

async function filesBesideTheLog(dataDir: string, text: string): Promise<readonly string[]> {
  const found = await filesWith(dataDir, text)
  return found.filter((file) => !file.startsWith(join(dataDir, 'link')))
}

test('of a deleted device nothing is left in any file, as the server says', async (context) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-erased-files-'))
  const start = () => startMillrace({ dataDir, environment: { LINK_RETENTION_MINUTES: '0' } })
  let millrace = await start()
  context.after(async () => {
    await millrace.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const rest = new RestClient(millrace, await login(millrace))
  const id = await rest.createDevice('erased', 'TOKEN_OF_THE_ERASED')
  const send = async (kind: string, body: object) => {
    const url = `${millrace.url}/api/v1/TOKEN_OF_THE_ERASED/${kind}`
    assert.equal((await fetch(url, { method: 'POST', body: JSON.stringify(body) })).status, 200)
  }
  for (let index = 0; index < 20; index++)
    await send('telemetry', { said: `${MARKER} ${index}`, long: MARKER.repeat(900) })
  await send('attributes', { had: MARKER })
  const path = `/api/plugins/telemetry/DEVICE/${id}/values`
  await eventually(
    () => rest.call('GET', `${path}/timeseries?keys=said`),
    ({ text }) => text.includes(`${MARKER} 19`),
  )
  await eventually(
    () => rest.call('GET', `${path}/attributes/CLIENT_SCOPE`),
    ({ text }) => text.includes(MARKER),
  )
  assert.ok((await filesWith(dataDir, MARKER)).length > 1)

  await rest.expect('DELETE', `/api/device/${id}`)
  await eraseNow(millrace)
  assert.deepEqual(await filesBesideTheLog(dataDir, MARKER), [])
  // The file that the log was written to goes with the next start at the latest.
  await millrace.stop()
  millrace = await start()
  await eventually(
    () => filesWith(dataDir, MARKER),
    (files) => files.length === 0,
  )
})

test('of a deleted user and a deleted tenant nothing is left in any file', async (context) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-erased-owners-'))
  const start = () => startMillrace({ dataDir, environment: { LINK_RETENTION_MINUTES: '0' } })
  let millrace = await start()
  context.after(async () => {
    await millrace.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const system = new RestClient(millrace, await login(millrace, DEMO_SYSADMIN))
  interface Made {
    readonly id: { readonly id: string }
  }
  /** A user, as who it is logged in. */
  const newUser = async (email: string, members: object, as: RestClient) => {
    const { id } = await as.expect<Made>('POST', '/api/user?sendActivationMail=false', { email, ...members })
    const { token } = await as.expect<{ token: string }>('GET', `/api/user/${id.id}/token`)
    return { path: `/api/user/${id.id}`, rest: new RestClient(millrace, token) }
  }
  const authority = 'TENANT_ADMIN'
  const demo = new RestClient(millrace, await login(millrace))
  // What the audit log of a tenant that stays tells of the user goes by the rule of that log: it is told nothing of this.
  const own = (marker: string) => ({ marker, long: marker.repeat(900) })
  const user = await newUser('erased@example.org', { authority }, demo)
  await user.rest.expect('POST', '/api/user/settings', own('MARKER_OF_THE_USER'))
  const tenant = await system.expect<Made>('POST', '/api/tenant', { title: 'Erased' })
  const owner = await newUser('owner@example.org', { authority, tenantId: tenant.id }, system)
  const marker = 'MARKER_OF_THE_TENANT'
  const deviceId = await owner.rest.createDevice(marker, 'TOKEN_OF_THE_TENANT')
  await owner.rest.expect('POST', '/api/dashboard', { title: marker, configuration: own(marker) })
  const scope = `/api/plugins/telemetry/DEVICE/${deviceId}`
  await owner.rest.expect('POST', `${scope}/SERVER_SCOPE`, { had: marker })
  await owner.rest.expect('POST', `${scope}/timeseries/ANY`, own(marker))
  const url = `${millrace.url}/api/v1/TOKEN_OF_THE_TENANT/telemetry`
  assert.equal((await fetch(url, { method: 'POST', body: JSON.stringify({ said: marker }) })).status, 200)
  await eventually(
    () => owner.rest.call('GET', `${scope}/values/timeseries?keys=said`),
    ({ text }) => text.includes(marker),
  )
  const markers = ['MARKER_OF_THE_USER', marker, 'TOKEN_OF_THE_TENANT']
  for (const text of markers) assert.ok((await filesWith(dataDir, text)).length > 0, text)

  await demo.expect('DELETE', user.path)
  await system.expect('DELETE', `/api/tenant/${tenant.id.id}`)
  await eraseNow(millrace)
  for (const text of markers) assert.deepEqual(await filesBesideTheLog(dataDir, text), [], text)
  await millrace.stop()
  millrace = await start()
  for (const text of markers)
    await eventually(
      () => filesWith(dataDir, text),
      (files) => files.length === 0,
    )
})

test('of what a deleted device and a deleted tenant had parked nothing is left in any file; the lanes of others stay in order', async (context) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-erased-lanes-'))
  const environment = {
    LINK_RETENTION_MINUTES: '0',
    TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_RETRIES: '0',
    TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_RETRY_PAUSE: '600',
    TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_MAX_RETRY_PAUSE: '600',
    QUEUE_TRIES_BEFORE_PARKING: '1',
  }
  let millrace = await startMillrace({ dataDir, environment })
  context.after(async () => {
    await millrace.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  interface Made {
    readonly id: { readonly id: string }
  }
  const system = new RestClient(millrace, await login(millrace, DEMO_SYSADMIN))
  const tenant = await system.expect<Made>('POST', '/api/tenant', { title: 'Erased' })
  const { id } = await system.expect<Made>('POST', '/api/user?sendActivationMail=false', {
    ...{ email: 'owner@example.org', authority: 'TENANT_ADMIN', tenantId: tenant.id },
  })
  const { token } = await system.expect<{ token: string }>('GET', `/api/user/${id.id}/token`)
  const owner = new RestClient(millrace, token)
  const demo = new RestClient(millrace, await login(millrace))
  /** A device whose telemetry comes to a node that cannot start. Answers its id. */
  const failing = async (as: RestClient, name: string): Promise<string> => {
    const chain = await as.expect<Made & { version: number }>('POST', '/api/ruleChain', { name })
    await as.expect('POST', '/api/ruleChain/metadata', {
      ...{ ruleChainId: chain.id, version: chain.version, firstNodeIndex: 0 },
      nodes: [
        {
          type: 'org.thingsboard.rule.engine.filter.TbMsgTypeFilterNode',
          ...{ name: 'Telemetry alone', configuration: { messageTypes: ['POST_TELEMETRY_REQUEST'] } },
        },
        { type: 'org.example.NobodyKnowsNode', name: 'Unknown', configuration: {} },
      ],
      connections: [{ fromIndex: 0, toIndex: 1, type: 'True' }],
    })
    const profile = await as.expect<Made>('POST', '/api/deviceProfile', {
      ...{ name, type: 'DEFAULT', transportType: 'DEFAULT', provisionType: 'DISABLED', defaultRuleChainId: chain.id },
    })
    const device = await as.expect<Made>('POST', `/api/device?accessToken=${name}`, {
      ...{ name, deviceProfileId: profile.id },
    })
    for (let index = 0; index < 5; index++) {
      const url = `${millrace.url}/api/v1/${name}/telemetry`
      const body = JSON.stringify({ said: `SAID_BY_${name} ${index} ${'x'.repeat(3000)}` })
      assert.equal((await fetch(url, { method: 'POST', body })).status, 200)
    }
    return device.id.id
  }
  const erased = await failing(demo, 'LANE_OF_THE_DEVICE')
  const kept = await failing(demo, 'LANE_THAT_STAYS')
  await failing(owner, 'LANE_OF_THE_TENANT')
  /** Of each lane the device, where there are as many messages as it sent, with what else is said of it behind them. */
  const lanes = async () => {
    const { data } = await system.expect<{ data: { originator: { id: string }; messages: number }[] }>(
      'GET',
      '/api/parked?pageSize=10&page=0',
    )
    return data.filter(({ messages }) => messages >= 5).map(({ originator }) => originator.id)
  }
  const folder = join(dataDir, 'link', 'parked')
  // Of its name and its id the audit log tells, by its own rule.
  const markers = ['SAID_BY_LANE_OF_THE_DEVICE', 'SAID_BY_LANE_OF_THE_TENANT']
  await eventually(lanes, (found) => found.length === 3)
  for (const text of [...markers, erased]) assert.ok((await filesWith(folder, text)).length > 0, text)

  await demo.expect('DELETE', `/api/device/${erased}`)
  await system.expect('DELETE', `/api/tenant/${tenant.id.id}`)
  await eventually(
    () => eraseNow(millrace),
    (said) => !said.includes('ask once more'),
  )
  for (const text of markers) {
    const found = await filesWith(join(dataDir, 'link'), text)
    assert.deepEqual(
      found.filter((file) => dirname(file) !== join(dataDir, 'link')),
      [],
      text,
    )
    assert.deepEqual(await filesBesideTheLog(dataDir, text), [], text)
  }
  assert.deepEqual(await filesWith(folder, erased), [])
  assert.deepEqual(await lanes(), [kept])
  // One of the main log that was damaged stays, and is named.
  const damaged = join(dataDir, 'link', 'messages.log.damaged')
  await writeFile(damaged, '')
  await eraseNow(millrace, /^log: not yet; .*messages\.log\.damaged/m)
  await millrace.stop()
  millrace = await startMillrace({ dataDir, environment })
  for (const text of markers)
    await eventually(
      () => filesWith(dataDir, text),
      (files) => files.length === 0,
    )
  assert.ok((await filesWith(folder, 'SAID_BY_LANE_THAT_STAYS')).length > 0)
})
