/** The HTTP device API with plain HTTP requests, and what of it a person then reads. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { RestClient, login } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const TOKEN = 'HTTP_DEVICE_TOKEN'
const T = 1_700_000_000_000

describe('the HTTP device API', () => {
  let millrace: RunningMillrace
  let tenant: RestClient
  let path: string

  before(async () => {
    millrace = await startMillrace()
    tenant = new RestClient(millrace, await login(millrace))
    path = `/api/plugins/telemetry/DEVICE/${await tenant.createDevice('http device', TOKEN)}`
  })
  after(() => millrace.stop())

  const post = (what: string, body: string, token = TOKEN) =>
    fetch(`${millrace.url}/api/v1/${token}/${what}`, { method: 'POST', body })
  const latest = async (keys: string): Promise<string> =>
    (await tenant.call('GET', `${path}/values/timeseries?keys=${keys}&useStrictDataTypes=true`)).text

  /** Makes a chain the root that saves attributes as shared ones and notifies the device; returns the id of the root before. */
  async function saveSharedByRootChain(): Promise<string> {
    type Chain = { id: { id: string }; root: boolean }
    const { data } = await tenant.expect<{ data: Chain[] }>('GET', '/api/ruleChains?pageSize=100&page=0')
    const chain = await tenant.expect<Chain>('POST', '/api/ruleChain', { name: 'saves shared attributes' })
    const node = {
      type: 'org.thingsboard.rule.engine.telemetry.TbMsgAttributesNode',
      name: 'save',
      configurationVersion: 3,
      configuration: {
        processingSettings: { type: 'ON_EVERY_MESSAGE' },
        scope: 'SHARED_SCOPE',
        notifyDevice: true,
        sendAttributesUpdatedNotification: false,
        updateAttributesOnlyOnValueChange: false,
      },
    }
    const graph = { ruleChainId: chain.id, firstNodeIndex: 0, nodes: [node], connections: [] }
    await tenant.expect('POST', '/api/ruleChain/metadata', graph)
    await tenant.expect('POST', `/api/ruleChain/${chain.id.id}/root`)
    return data.find(({ root }) => root)?.id.id ?? ''
  }

  test('takes every payload form and keeps the type of each value', async () => {
    const bodies = [
      '{"flat":1.5,"on":true}',
      `{"ts":${T},"values":{"whole":2.0,"big":9223372036854775807}}`,
      `[{"item":"text"},{"ts":${T + 1},"values":{"nested":{"a":[1,2.0]}}}]`,
    ]
    for (const body of bodies) {
      const answer = await post('telemetry', body)
      assert.deepEqual([answer.status, await answer.text()], [200, ''], body)
    }
    const stored = await eventually(
      () => latest('flat,on,whole,big,item,nested'),
      (text) => !text.includes('null'),
    )
    assert.match(stored, /"flat":\[\{"ts":\d+,"value":1\.5\}\]/)
    assert.match(stored, /"on":\[\{"ts":\d+,"value":true\}\]/)
    assert.ok(stored.includes(`"whole":[{"ts":${T},"value":2.0}]`))
    assert.ok(stored.includes(`"big":[{"ts":${T},"value":9223372036854775807}]`))
    assert.match(stored, /"item":\[\{"ts":\d+,"value":"text"\}\]/)
    assert.ok(stored.includes(`"nested":[{"ts":${T + 1},"value":{"a":[1,2.0]}}]`))
  })

  test('takes an upload of nothing: it is no mistake of the device', async () => {
    // A device of its own: what its messages do in the rule chain is no matter here.
    await tenant.createDevice('has nothing to say', 'NOTHING_TOKEN')
    for (const body of ['{}', '[]', '{"only":null}']) {
      const answer = await post('telemetry', body, 'NOTHING_TOKEN')
      assert.deepEqual([answer.status, await answer.text()], [200, ''], body)
    }
  })

  test('refuses what is no upload, and a token nobody has, and stores nothing of it', async () => {
    for (const body of ['{"bad":', '5', '"text"', '[{"bad":1},5]', 'x', '{"ts":"x","values":{"bad":1}}']) {
      assert.equal((await post('telemetry', body)).status, 400, body)
    }
    assert.equal((await post('telemetry', '{"bad":1}', 'no-such-token')).status, 401)
    const wrongMethod = await fetch(`${millrace.url}/api/v1/${TOKEN}/telemetry`)
    assert.deepEqual([wrongMethod.status, wrongMethod.headers.get('allow')], [405, 'POST'])
    // What was sent after the refused ones is stored, so these would be too.
    assert.equal((await post('telemetry', '{"after":1}')).status, 200)
    await eventually(
      () => latest('after'),
      (text) => !text.includes('null'),
    )
    assert.match(await latest('bad'), /"value":null/)
  })

  test('takes client attributes and gives client and shared ones', async () => {
    assert.equal((await post('attributes', '{"fw":"x1","n":5}')).status, 200)
    assert.equal((await tenant.call('POST', `${path}/SHARED_SCOPE`, { target: 20.5, mode: 'eco' })).status, 200)
    const get = async (query: string) =>
      (await fetch(`${millrace.url}/api/v1/${TOKEN}/attributes${query}`)).json() as Promise<{
        client?: object
        shared?: object
      }>
    const all = await eventually(
      () => get(''),
      (answer) => answer.client !== undefined && 'n' in answer.client,
    )
    assert.deepEqual(all, { client: { fw: 'x1', n: 5 }, shared: { target: 20.5, mode: 'eco' } })
    assert.deepEqual(await get('?clientKeys=fw,absent&sharedKeys=target'), {
      client: { fw: 'x1' },
      shared: { target: 20.5 },
    })
    assert.equal((await fetch(`${millrace.url}/api/v1/no-such-token/attributes`)).status, 401)
    assert.equal((await post('attributes', '[1]')).status, 400)
  })

  test('a waiting poll is answered by a user’s save, by a deletion, and by a rule node that notifies the device', async () => {
    const id = await tenant.createDevice('polls', 'POLL_TOKEN')
    const scope = `/api/plugins/telemetry/DEVICE/${id}/SHARED_SCOPE`
    const updateAfter = async (change: () => Promise<unknown>): Promise<unknown> => {
      const poll = fetch(`${millrace.url}/api/v1/POLL_TOKEN/attributes/updates?timeout=20000`)
      await eventually(
        async () => (await fetch(`${millrace.url}/metrics`)).text(),
        (figures) => /^millrace_http_device_api_waiting_polls 1$/m.test(figures),
      )
      await change()
      return (await poll).json()
    }
    assert.deepEqual(await updateAfter(() => tenant.expect('POST', scope, { mode: 'eco' })), { mode: 'eco' })
    const deleted = await updateAfter(() => tenant.expect('DELETE', `${scope}?keys=mode`))
    assert.deepEqual(deleted, { deleted: ['mode'] })
    const root = await saveSharedByRootChain()
    const told = await updateAfter(() => post('attributes', '{"mode":"from the node"}', 'POLL_TOKEN'))
    assert.deepEqual(told, { mode: 'from the node' })
    await tenant.expect('POST', `/api/ruleChain/${root}/root`)
  })

  test('is closed to a device that was deleted', async () => {
    const id = await tenant.createDevice('short lived', 'SHORT_TOKEN')
    assert.equal((await post('telemetry', '{"a":1}', 'SHORT_TOKEN')).status, 200)
    await tenant.expect('DELETE', `/api/device/${id}`)
    assert.equal((await post('telemetry', '{"a":1}', 'SHORT_TOKEN')).status, 401)
  })
})
