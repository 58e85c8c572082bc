/**
 * Queues of the tenant’s administrator over REST, and what they do to messages: a failure is skipped or kept as the queue says, the
 * profile of a device chooses its queue, and a checkpoint moves a message into another.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { DEMO_SYSADMIN, RestClient, login } from '../support/clients.ts'
import { natsAndPostgresEnvironment } from '../support/start-cluster.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { requireServer, startNats, startPostgres } from '../support/servers/index.ts'
import { eventually } from './wait.ts'

const SERVICE = 'serviceType=TB-RULE-ENGINE'
const PREFIX = 'org.thingsboard.rule.engine.'

interface Entity {
  readonly id: { readonly entityType: string; readonly id: string }
  readonly tenantId: { readonly id: string }
  readonly name: string
}

interface Letters {
  readonly data: readonly {
    readonly attempts: number
    readonly message: { readonly type: string; readonly originator: { readonly id: string } }
  }[]
}

function queue(name: string, processingStrategy: object) {
  return {
    name,
    topic: `tb_rule_engine.${name}`,
    pollInterval: 25,
    partitions: 10,
    consumerPerPartition: true,
    packProcessingTimeout: 2000,
    submitStrategy: { type: 'BURST', batchSize: 1000 },
    processingStrategy,
    additionalInfo: { description: 'made over REST' },
  }
}

const SKIP = {
  type: 'SKIP_ALL_FAILURES',
  retries: 3,
  failurePercentage: 0,
  pauseBetweenRetries: 0,
  maxPauseBetweenRetries: 0,
}
const RETRY_TWICE = { ...SKIP, type: 'RETRY_FAILED_AND_TIMED_OUT', retries: 2 }

const scriptFilter = (script: string) => ({
  type: `${PREFIX}filter.TbJsFilterNode`,
  name: 'filter',
  configurationVersion: 0,
  configuration: { scriptLang: 'TBEL', tbelScript: script, jsScript: script },
})
/** Fails every message, for a reason that may pass: the script says so. */
const failing = {
  type: `${PREFIX}filter.TbJsSwitchNode`,
  name: 'fails',
  configurationVersion: 0,
  configuration: { scriptLang: 'TBEL', tbelScript: "return ['Failure'];", jsScript: "return ['Failure'];" },
}
const saveTimeSeries = {
  type: `${PREFIX}telemetry.TbMsgTimeseriesNode`,
  name: 'save',
  configurationVersion: 1,
  configuration: { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } },
}
const checkpoint = (change: object) => ({
  type: `${PREFIX}flow.TbCheckpointNode`,
  name: 'checkpoint',
  ...change,
})

const KIND = { type: 'DEFAULT', transportType: 'DEFAULT' } as const

test('queues, everything in one process', async (context) => {
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  await testQueues(context, millrace)
})

test('queues on NATS JetStream and PostgreSQL', async (context) => {
  if (!requireServer(context, 'nats', 'postgres')) return
  const [nats, postgres] = await Promise.all([startNats(), startPostgres()])
  const started: { stop(): Promise<unknown> }[] = [nats, postgres]
  context.after(async () => {
    for (const each of started.toReversed()) await each.stop()
  })
  const environment = natsAndPostgresEnvironment({ nats: nats.url, postgres: postgres.url })
  const millrace = await startMillrace({ environment })
  started.push(millrace)
  await testQueues(context, millrace)
})

async function testQueues(context: TestContext, millrace: RunningMillrace): Promise<void> {
  const rest = new RestClient(millrace, await login(millrace))

  async function chainOf(
    name: string,
    nodes: readonly object[],
    connections: readonly (readonly [number, string, number])[],
  ): Promise<string> {
    const chain = await rest.expect<Entity>('POST', '/api/ruleChain', { name })
    await rest.expect('POST', '/api/ruleChain/metadata', {
      ruleChainId: chain.id,
      firstNodeIndex: 0,
      nodes,
      connections: connections.map(([fromIndex, type, toIndex]) => ({ fromIndex, type, toIndex })),
    })
    return chain.id.id
  }

  async function deviceUnder(name: string, profile: object): Promise<string> {
    const { id } = await rest.expect<Entity>('POST', '/api/deviceProfile', { name, ...KIND, ...profile })
    const device = await rest.expect<Entity>('POST', `/api/device?accessToken=${name}`, { name, deviceProfileId: id })
    return device.id.id
  }

  async function send(device: string, body: object): Promise<void> {
    const url = `${millrace.url}/api/v1/${device}/telemetry`
    const { status } = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
    assert.equal(status, 200)
  }

  const stored = async (deviceId: string): Promise<string | undefined> => {
    const path = `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries?keys=k`
    const answer = await rest.expect<{ k?: { value: string | null }[] }>('GET', path)
    return answer.k?.[0]?.value ?? undefined
  }
  /** Of what devices sent: the message about a device that was made goes to its profile's chain as well. */
  const letters = async () => {
    const { data } = await rest.expect<Letters>('GET', '/api/deadLetters?limit=1000')
    return data.filter(({ message }) => message.type === 'POST_TELEMETRY_REQUEST')
  }

  await context.test('are made, read by id and by name, listed, changed and deleted', async () => {
    const made = await rest.expect<Entity & { processingStrategy: object; additionalInfo: object }>(
      'POST',
      `/api/queues?${SERVICE}`,
      queue('Slow', SKIP),
    )
    assert.equal(made.id.entityType, 'QUEUE')
    assert.deepEqual(made.processingStrategy, SKIP)
    assert.deepEqual(made.additionalInfo, { description: 'made over REST' })
    assert.deepEqual(await rest.expect('GET', `/api/queues/${made.id.id}`), made)
    assert.deepEqual(await rest.expect('GET', '/api/queues/name/Slow'), made)
    const page = await rest.expect<{ data: Entity[]; totalElements: number }>(
      'GET',
      `/api/queues?${SERVICE}&pageSize=10&page=0&sortProperty=name&sortOrder=DESC`,
    )
    assert.deepEqual(
      page.data.map(({ name }) => name),
      ['Slow', 'SequentialByOriginator', 'Main', 'HighPriority'],
    )
    const changed = await rest.expect<{ packProcessingTimeout: number; processingStrategy: object }>(
      'POST',
      `/api/queues?${SERVICE}`,
      { ...made, packProcessingTimeout: 5000, processingStrategy: RETRY_TWICE },
    )
    assert.deepEqual([changed.packProcessingTimeout, changed.processingStrategy], [5000, RETRY_TWICE])
    assert.equal((await rest.call('DELETE', `/api/queues/${made.id.id}`)).status, 200)
    assert.equal((await rest.call('GET', `/api/queues/${made.id.id}`)).status, 404)
    assert.equal((await rest.call('GET', '/api/queues/name/Slow')).status, 404)
  })

  await context.test(
    'are refused without a service, with bad fields, under a taken name, and where they are the system’s',
    async () => {
      const main = await rest.expect<Entity>('GET', '/api/queues/name/Main')
      const refused = async (path: string, body: object, status: number, text: RegExp) => {
        const answer = await rest.call('POST', path, body)
        assert.equal(answer.status, status, answer.text)
        assert.match(answer.text, text)
      }
      await refused('/api/queues', queue('A', SKIP), 400, /serviceType/)
      await refused('/api/queues?serviceType=TB-CORE', queue('A', SKIP), 400, /TB-RULE-ENGINE/)
      await refused(`/api/queues?${SERVICE}`, queue('Main', SKIP), 400, /already exists/)
      await refused(`/api/queues?${SERVICE}`, { ...queue('A', SKIP), partitions: 0 }, 400, /partitions should be more/)
      await refused(`/api/queues?${SERVICE}`, queue('A', { ...SKIP, type: 'NEVER' }), 400, /processingStrategy/)
      await refused(`/api/queues?${SERVICE}`, { ...main, partitions: 5 }, 403, /permission/)
      assert.equal((await rest.call('DELETE', `/api/queues/${main.id.id}`)).status, 403)
      const system = new RestClient(millrace, await login(millrace, DEMO_SYSADMIN))
      assert.equal((await system.call('DELETE', `/api/queues/${main.id.id}`)).status, 400)
    },
  )

  await context.test('decide what becomes of a failure: one skips it, another tries again and keeps it', async () => {
    const nodes = [scriptFilter('return msg.k > 1;'), saveTimeSeries, failing]
    const chain = await chainOf('fails small values', nodes, [
      [0, 'True', 1],
      [0, 'False', 2],
    ])
    const defaultRuleChainId = { entityType: 'RULE_CHAIN', id: chain }
    await rest.expect('POST', `/api/queues?${SERVICE}`, queue('Skipping', SKIP))
    await rest.expect('POST', `/api/queues?${SERVICE}`, queue('Retrying', RETRY_TWICE))
    const skipped = await deviceUnder('skipped', { defaultQueueName: 'Skipping', defaultRuleChainId })
    const retried = await deviceUnder('retried', { defaultQueueName: 'Retrying', defaultRuleChainId })
    await send('skipped', { k: 1 })
    await send('retried', { k: 1 })
    await send('skipped', { k: 2 })
    await send('retried', { k: 2 })
    for (const device of [skipped, retried])
      await eventually(
        () => stored(device),
        (value) => value === '2',
      )
    const found = await eventually(letters, ({ length }) => length > 0)
    assert.deepEqual(
      found.map(({ attempts, message }) => [attempts, message.originator.id]),
      [[3, retried]],
    )
    const used = await rest.call('DELETE', `/api/queues/${(await named('Skipping')).id.id}`)
    assert.equal(used.status, 400)
    assert.match(used.text, /skipped/)
  })

  await context.test('are changed for a device by a change of its profile, from its next message on', async () => {
    const chain = await chainOf('always fails', [failing], [])
    const device = await deviceUnder('changing', { defaultRuleChainId: { id: chain }, defaultQueueName: 'Retrying' })
    const mine = async () => (await letters()).filter(({ message }) => message.originator.id === device).length
    await send('changing', { k: 1 })
    await eventually(mine, (count) => count === 1)
    const [profile] = (
      await rest.expect<{ data: Entity[] }>('GET', '/api/deviceProfiles?pageSize=10&page=0&textSearch=changing')
    ).data
    await rest.expect('POST', '/api/deviceProfile', { ...profile, defaultQueueName: 'Skipping' })
    await send('changing', { k: 2 })
    await rest.expect('POST', '/api/deviceProfile', { ...profile, version: null, defaultRuleChainId: null })
    await send('changing', { k: 3 })
    await eventually(
      () => stored(device),
      (value) => value === '3',
    )
    assert.equal(await mine(), 1)
  })

  await context.test('are moved between by a checkpoint, in an old export too', async () => {
    const old = checkpoint({ configuration: { queueName: 'SequentialByOriginator' } })
    const present = checkpoint({ queueName: 'HighPriority', configurationVersion: 1, configuration: {} })
    const chain = await chainOf(
      'checkpoints',
      [old, present, saveTimeSeries],
      [
        [0, 'Success', 1],
        [1, 'Success', 2],
      ],
    )
    const graph = await rest.expect<{ nodes: { queueName: string; configuration: object }[] }>(
      'GET',
      `/api/ruleChain/${chain}/metadata`,
    )
    assert.deepEqual(
      graph.nodes.map(({ queueName }) => queueName),
      ['SequentialByOriginator', 'HighPriority', null],
    )
    assert.deepEqual(graph.nodes[0]?.configuration, {})
    const device = await deviceUnder('checked', { defaultRuleChainId: { id: chain } })
    const before = await received()
    await send('checked', { k: 7 })
    await eventually(
      () => stored(device),
      (value) => value === '7',
    )
    const now = await received()
    for (const name of ['SequentialByOriginator', 'HighPriority']) {
      assert.ok((now.get(name) ?? 0) > (before.get(name) ?? 0), `nothing went through ${name}`)
    }
  })

  await context.test('that are not there are refused by profiles and rule nodes', async () => {
    const profile = await rest.call('POST', '/api/deviceProfile', { name: 'x', ...KIND, defaultQueueName: 'Nowhere' })
    assert.equal(profile.status, 400)
    assert.match(profile.text, /non-existent queue/)
    const chain = await rest.expect<Entity>('POST', '/api/ruleChain', { name: 'x' })
    const node = checkpoint({ queueName: 'Nowhere', configurationVersion: 1, configuration: {} })
    const graph = { ruleChainId: chain.id, firstNodeIndex: 0, nodes: [node], connections: [] }
    assert.match((await rest.call('POST', '/api/ruleChain/metadata', graph)).text, /does not exist: Nowhere/)
  })

  function named(name: string): Promise<Entity> {
    return rest.expect<Entity>('GET', `/api/queues/name/${name}`)
  }

  /** Messages that each queue took so far. */
  async function received(): Promise<Map<string, number>> {
    const text = await (await fetch(`${millrace.url}/metrics`)).text()
    const counts = new Map<string, number>()
    for (const [, name, count] of text.matchAll(
      /^millrace_queues_received_messages_total\{queue="([^"]+)"\} (\d+)/gm,
    )) {
      if (name !== undefined) counts.set(name, Number(count))
    }
    return counts
  }
}
