/** An edge node whose server is killed and that does not come back: nobody was left to say that it and its device are offline. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connectAsync } from 'mqtt'
import { NODE, payloadBytes, willOf } from '../../transports/mqtt/sparkplug/testkit.ts'
import { eventually } from '../conformance/wait.ts'
import { RestClient, login } from '../support/clients.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { EDGE_NODES } from './fault-run.ts'

const STATE = 'sparkplugConnectionState'
const KEY = 'temperature'

test('an edge node whose server was killed is offline with its device', { timeout: 600_000 }, async (context) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-sparkplug-kill-'))
  let millrace: RunningMillrace | undefined
  context.after(async () => {
    await millrace?.kill()
    await rm(dataDir, { recursive: true, force: true })
  })
  millrace = await startMillrace({ dataDir })
  let rest = new RestClient(millrace, await login(millrace))
  await rest.expect('POST', '/api/deviceProfile', EDGE_NODES)
  await rest.expect('POST', '/api/device?accessToken=NODE', { name: 'node', type: EDGE_NODES.name })
  const port = millrace.ports['mqtt']
  const node = await connectAsync(`mqtt://127.0.0.1:${port}`, {
    username: 'NODE',
    will: willOf(3),
    reconnectPeriod: 0,
  })
  node.on('error', () => undefined)
  const born = (topic: string, seq: number) => {
    const metrics = [{ name: KEY, datatype: 10, double_value: 20.5, timestamp: Date.now() }]
    return node.publishAsync(`${NODE}/${topic}`, payloadBytes({ seq, metrics }), { qos: 1 })
  }
  await born('NBIRTH/node', 0)
  await born('DBIRTH/node/D', 1)
  // Without a word of the node's: its process is gone, and so is the one that would have said the rest.
  await millrace.kill()
  await node.endAsync(true)
  millrace = await startMillrace({ dataDir })
  rest = new RestClient(millrace, await login(millrace))

  const latest = async (name: string): Promise<Readonly<Record<string, string | undefined>>> => {
    const { id } = await rest.expect<{ id: { id: string } }>('GET', `/api/tenant/devices?deviceName=${name}`)
    const path = `/api/plugins/telemetry/DEVICE/${id.id}/values/timeseries?keys=${STATE},${KEY}`
    const found = await rest.expect<Record<string, { value: string }[]>>('GET', path)
    return Object.fromEntries(Object.entries(found).map(([key, [point]]) => [key, point?.value]))
  }
  for (const name of ['node', 'plant:node:D']) {
    const last = await eventually(
      () => latest(name),
      (values) => values[STATE] === 'OFFLINE',
      60_000 * SLOWNESS,
    )
    assert.equal(last[KEY], '20.5', 'what its birth said was acknowledged')
  }
})
