/** Messages of a device that fail again and again wait apart: seen, tried and given up over REST and from the command line. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { DEMO_CUSTOMER, DEMO_SYSADMIN, DEMO_TOKEN, RestClient, login } from '../support/clients.ts'
import { MILLRACE, startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

interface ParkedPage {
  readonly totalElements: number
  readonly data: readonly {
    readonly id: string
    readonly queueName: string
    readonly messages: number
    readonly reason: string
    readonly tries: number
    readonly nextTry: number | null
  }[]
}

const run = promisify(execFile)

test('messages that fail again and again are parked, and are tried or given up by who may', async (context) => {
  const environment = {
    TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_RETRIES: '0',
    TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_RETRY_PAUSE: '600',
    TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_MAX_RETRY_PAUSE: '600',
    QUEUE_TRIES_BEFORE_PARKING: '1',
  }
  const first = await startMillrace({ environment })
  context.after(() => first.stop())
  const rest = new RestClient(first, await login(first))
  const chain = await rest.expect<{ id: { id: string }; version: number }>('POST', '/api/ruleChain', { name: 'fails' })
  // A node that can not start: what comes to it fails each time.
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ...{
      ruleChainId: chain.id,
      version: chain.version,
      firstNodeIndex: 0,
      connections: [],
      ruleChainConnections: null,
    },
    nodes: [{ type: 'org.example.NobodyKnowsNode', name: 'Unknown', configuration: {}, configurationVersion: 0 }],
  })
  const profiles = await rest.expect<{ data: readonly Record<string, unknown>[] }>(
    'GET',
    '/api/deviceProfiles?pageSize=10&page=0',
  )
  for (const profile of profiles.data) {
    await rest.expect('POST', '/api/deviceProfile', {
      ...profile,
      defaultRuleChainId: { entityType: 'RULE_CHAIN', id: chain.id.id },
    })
  }
  const send = (value: number) =>
    fetch(`${first.url}/api/v1/${DEMO_TOKEN}/telemetry`, { method: 'POST', body: `{"v":${value}}` })
  for (const value of [1, 2, 3]) assert.equal((await send(value)).status, 200)
  const list = (client = rest) => client.expect<ParkedPage>('GET', '/api/parked?pageSize=10&page=0')
  const page = await eventually(list, ({ data }) => (data[0]?.messages ?? 0) >= 3)
  const [lane] = page.data
  assert.ok(lane !== undefined)
  assert.deepEqual([page.totalElements, lane.queueName, lane.tries >= 1], [1, 'Main', true])
  assert.match(lane.reason, /NobodyKnowsNode/)

  const administrator = new RestClient(first, await login(first, DEMO_SYSADMIN))
  assert.equal((await list(administrator)).totalElements, 1)
  const customer = new RestClient(first, await login(first, DEMO_CUSTOMER))
  assert.equal((await customer.call('GET', '/api/parked?pageSize=10&page=0')).status, 403)
  assert.equal((await customer.call('POST', `/api/parked/${lane.id}/retry`)).status, 403)

  const metrics = await (await fetch(`${first.url}/metrics`)).text()
  assert.match(metrics, /millrace_parked_messages [1-9]/)
  const command = (...more: string[]) => run(process.execPath, [...MILLRACE, 'parked', ...more, '--url', first.url])
  assert.match((await command()).stdout, /1 parked, 1 shown\n\nDEVICE .* queue Main/)
  await command('--retry', lane.id)
  await eventually(list, ({ data }) => (data[0]?.tries ?? 0) > lane.tries)
  await command('--dead-letters', lane.id)
  await eventually(list, ({ totalElements }) => totalElements === 0)
  const letters = await rest.expect<{ data: readonly { message: { data: string } }[] }>(
    'GET',
    '/api/deadLetters?limit=10',
  )
  assert.deepEqual(
    letters.data.map(({ message }) => message.data).filter((data) => data.includes('"v"')),
    ['{"v":1}', '{"v":2}', '{"v":3}'],
  )
  assert.equal((await rest.call('POST', `/api/parked/${lane.id}/retry`)).status, 404)
})
