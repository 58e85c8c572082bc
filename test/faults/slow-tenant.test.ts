/**
 * A tenant whose messages all succeed, and come faster than its rule nodes pass them: these wait for a service that takes 300 ms. Its
 * neighbour is served as if it were alone: the whole program, over both links. `NOISY_SECONDS` makes it longer; `NOISY_P99=1` compares
 * latencies too, which needs a machine that is otherwise idle.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { login, RestClient } from '../support/clients.ts'
import { figure } from '../support/figure.ts'
import { makeHostileTenant } from '../support/hostile-tenant.ts'
import { FLOOR_MS, pacedPosts, type PacedPosts } from '../support/paced-posts.ts'
import { requireServer, startNats, startPostgres } from '../support/servers/index.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { natsAndPostgresEnvironment } from '../support/start-cluster.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const DEVICES = 20
const SECONDS = Number(process.env['NOISY_SECONDS'] ?? 8)
const HEALTHY: PacedPosts = { name: 'HEALTHY', devices: DEVICES, seconds: SECONDS, rate: 200 }
const COMPARES_P99 = process.env['NOISY_P99'] === '1'
const WARM_UP_SECONDS = COMPARES_P99 ? 20 : 1
const SERVICE_MS = 300
/** Points with times of their own are messages of their own: 20 devices at 300 ms each pass 66 of these 4,000 a second. */
const POINTS_PER_POST = 200
const SLOW: PacedPosts = { name: 'HOSTILE', devices: DEVICES, seconds: SECONDS, rate: 20, body: pointsOf }
const READABLE_MS = 2000 * SLOWNESS

function pointsOf(post: number): string {
  const began = 1_700_000_000_000 + post * POINTS_PER_POST
  const points = Array.from({ length: POINTS_PER_POST }, (_, index) => `{"ts":${began + index},"values":{"a":1}}`)
  return `[${points.join(',')}]`
}

/** A service outside that answers well, and late. */
async function startSlowService(context: TestContext): Promise<{ readonly url: string; readonly calls: () => number }> {
  let calls = 0
  const server = createServer((request, response) => {
    calls++
    request.resume()
    setTimeout(() => response.end('{}'), SERVICE_MS)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, calls: () => calls }
}

/** Posts a point, reads until it is there, and so on while it is told to; returns how long the slowest took, in ms. */
async function slowestPoint(millrace: RunningMillrace, id: string, goesOn: () => boolean): Promise<number> {
  const rest = new RestClient(millrace, await login(millrace))
  const path = `/api/plugins/telemetry/DEVICE/${id}/values/timeseries?keys=probe`
  let slowestMs = 0
  for (let number = 1; goesOn(); number++) {
    const began = performance.now()
    const body = `{"probe":${number}}`
    const posted = await fetch(`${millrace.url}/api/v1/PROBE/telemetry`, { method: 'POST', body })
    assert.equal(posted.status, 200, await posted.text())
    for (;;) {
      const { probe } = await rest.expect<{ probe?: readonly { value: unknown }[] }>('GET', path)
      if (String(probe?.[0]?.value) === String(number)) break
      assert.ok(performance.now() - began < 60_000, 'a healthy point is never there')
      await delay(10)
    }
    slowestMs = Math.max(slowestMs, performance.now() - began)
    await delay(100)
  }
  return Math.round(slowestMs)
}

async function leavesItsNeighbourAlone(context: TestContext, link: Readonly<Record<string, string>>): Promise<void> {
  const service = await startSlowService(context)
  const environment = { OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1', ...link }
  const millrace = await startMillrace({ environment })
  try {
    const rest = new RestClient(millrace, await login(millrace))
    for (let device = 0; device < DEVICES; device++) await rest.createDevice(`healthy ${device}`, `HEALTHY_${device}`)
    const probe = await rest.createDevice('probe', 'PROBE')
    const configuration = { restEndpointUrlPattern: service.url, requestMethod: 'POST', headers: {} }
    await makeHostileTenant(millrace, { type: 'rest.TbRestApiCallNode', configuration }, DEVICES)
    await pacedPosts(millrace, { ...HEALTHY, seconds: WARM_UP_SECONDS })
    const alone = await pacedPosts(millrace, HEALTHY)
    let isOver = false
    const loads = Promise.all([pacedPosts(millrace, HEALTHY), pacedPosts(millrace, SLOW)])
    const [[beside, slow], slowestMs] = await Promise.all([
      loads.finally(() => (isOver = true)),
      slowestPoint(millrace, probe, () => !isOver),
    ])
    const parked = await figure(millrace, 'millrace_parked_messages')
    const held = await figure(millrace, 'millrace_queue_held_messages')
    context.diagnostic(JSON.stringify({ alone, beside, slowestMs, slow, calls: service.calls(), parked, held }))
    assert.equal(beside.refused, 0, 'healthy devices were refused')
    assert.ok(beside.acknowledged >= 0.9 * alone.acknowledged, `${beside.acknowledged} of ${alone.acknowledged} alone`)
    assert.ok(slow.acknowledged * POINTS_PER_POST > 20_000, `${slow.acknowledged} posts fill no queue`)
    assert.ok(slowestMs < READABLE_MS, `a healthy point could be read after ${slowestMs} ms`)
    const isLate = beside.p99Ms > Math.max(FLOOR_MS, 2 * alone.p99Ms)
    assert.ok(!COMPARES_P99 || !isLate, `p99 ${beside.p99Ms} ms, alone ${alone.p99Ms} ms`)
    assert.equal(await figure(millrace, 'millrace_queue_buried_messages_total'), 0)
  } finally {
    await millrace.stop()
  }
}

test('a tenant whose nodes wait for a slow service leaves its neighbour its rate and its time, embedded link', async (context) => {
  await leavesItsNeighbourAlone(context, {})
})

test('the same over JetStream', async (context) => {
  if (!requireServer(context, 'nats', 'postgres')) return
  const [nats, postgres] = await Promise.all([startNats({ syncInterval: 'always' }), startPostgres()])
  try {
    await leavesItsNeighbourAlone(context, natsAndPostgresEnvironment({ nats: nats.url, postgres: postgres.url }))
  } finally {
    await Promise.all([nats.stop(), postgres.stop()])
  }
})
