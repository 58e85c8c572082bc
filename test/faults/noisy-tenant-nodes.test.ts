/**
 * A tenant whose rule nodes call a service that never answers, and one whose nodes remember all that they may, each beside a neighbour
 * that keeps its rate. Alone and beside are compared in one run of the whole program.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { login, RestClient } from '../support/clients.ts'
import { makeHostileTenant, type HostileNode } from '../support/hostile-tenant.ts'
import { pacedPosts, type PacedPosts } from '../support/paced-posts.ts'
import { figure } from '../support/figure.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const DEVICES = 20
const SECONDS = Number(process.env['NOISY_SECONDS'] ?? 6)
const HEALTHY_RATE = 200
const HOSTILE_RATE = 200
/** Points with times of their own are messages of their own. */
const POINTS_PER_POST = 200
const HEALTHY: PacedPosts = { name: 'HEALTHY', devices: DEVICES, seconds: SECONDS, rate: HEALTHY_RATE }

async function makeHealthyDevices(millrace: RunningMillrace): Promise<readonly string[]> {
  const rest = new RestClient(millrace, await login(millrace))
  const ids: string[] = []
  for (let device = 0; device < DEVICES; device++)
    ids.push(await rest.createDevice(`healthy ${device}`, `HEALTHY_${device}`))
  return ids
}

/** Points of the healthy tenant that can be read. */
async function stored(millrace: RunningMillrace, ids: readonly string[]): Promise<number> {
  const rest = new RestClient(millrace, await login(millrace))
  let count = 0
  for (const id of ids) {
    const path = `/api/plugins/telemetry/DEVICE/${id}/values/timeseries?keys=counter&startTs=0&endTs=9999999999999&limit=100000`
    const series = await rest.expect<{ counter?: readonly unknown[] }>('GET', path)
    count += series.counter?.length ?? 0
  }
  return count
}

interface Trial {
  readonly node: HostileNode
  readonly hostile: PacedPosts
  readonly environment?: Readonly<Record<string, string>>
  /** Throws unless the hostile tenant did what the test is about. */
  readonly check: (millrace: RunningMillrace) => Promise<string>
}

async function keepsItsRate(context: TestContext, { node, hostile, environment = {}, check }: Trial): Promise<void> {
  const millrace = await startMillrace({ environment })
  try {
    const ids = await makeHealthyDevices(millrace)
    await makeHostileTenant(millrace, node, DEVICES)
    await pacedPosts(millrace, { ...HEALTHY, seconds: 1 })
    const alone = await pacedPosts(millrace, HEALTHY)
    const before = await stored(millrace, ids)
    const [beside, noisy] = await Promise.all([pacedPosts(millrace, HEALTHY), pacedPosts(millrace, hostile)])
    const points = (await stored(millrace, ids)) - before
    context.diagnostic(JSON.stringify({ alone, beside, points, noisy, found: await check(millrace) }))
    assert.equal(beside.refused, 0, 'healthy devices were refused')
    assert.ok(beside.acknowledged >= 0.9 * alone.acknowledged, `${beside.acknowledged} of ${alone.acknowledged} alone`)
    assert.ok(points >= 0.9 * beside.acknowledged, `${points} of ${beside.acknowledged} can be read`)
  } finally {
    await millrace.stop()
  }
}

test('a tenant whose rule nodes call a service that never answers leaves its neighbour 90 % of its rate', async (context) => {
  let calls = 0
  const silent = createServer(() => void calls++).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  context.after(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  await keepsItsRate(context, {
    node: {
      type: 'rest.TbRestApiCallNode',
      configuration: { restEndpointUrlPattern: `http://127.0.0.1:${port}/`, requestMethod: 'POST', headers: {} },
    },
    hostile: { ...HEALTHY, name: 'HOSTILE', rate: HOSTILE_RATE },
    environment: { OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1' },
    check: () => {
      assert.ok(calls > 0, 'the silent service was never called')
      return Promise.resolve(`${calls} calls without an answer`)
    },
  })
})

test('a tenant whose rule nodes remember as many messages as they may leaves its neighbour 90 % of its rate', async (context) => {
  const began = 1_700_000_000_000
  const point = (number: number): string => `{"ts":${began + number},"values":{"a":${number}}}`
  const body = (post: number): string =>
    `[${Array.from({ length: POINTS_PER_POST }, (_, index) => point(post * POINTS_PER_POST + index)).join(',')}]`
  await keepsItsRate(context, {
    node: {
      type: 'delay.TbMsgDelayNode',
      configuration: { periodInSeconds: 86_400, maxPendingMsgs: 10_000_000 },
    },
    hostile: { ...HEALTHY, name: 'HOSTILE', rate: 20, body },
    environment: { NODE_STATE_TENANT_MIB: '8' },
    check: async (millrace) => {
      const failed = await figure(millrace, 'millrace_queue_failed_tries_total')
      assert.ok(failed > 0, 'the share of what its nodes remember was never full')
      return `${failed} tries beyond its share, ${await figure(millrace, 'millrace_parked_messages')} messages parked`
    },
  })
})
