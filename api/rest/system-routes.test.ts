import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Clock } from '../../model/clock.ts'
import { openRows } from './declared/table.ts'
import { Query } from './query.ts'
import type { Answer, PublicCall } from './route.ts'
import { healthRoutes, type HealthCheck } from './system-routes.ts'

const call: PublicCall = {
  query: new Query(''),
  credentials: '',
  header: () => '',
  clientAddress: '127.0.0.1',
  isLocal: true,
  parameter: () => '',
  text: () => '',
  bytes: () => Buffer.alloc(0),
  json: () => null,
}

/** Time passes at once for whoever waits. */
const clock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  after: (_delayMs, run) => {
    const timer = setImmediate(run)
    return { cancel: () => clearImmediate(timer) }
  },
  soon: (run) => void setImmediate(run),
}

async function health(healthChecks: readonly HealthCheck[], told: string[] = []): Promise<Answer> {
  const onUnhealthy = (name: string, error: unknown) => void told.push(`${name}: ${String(error)}`)
  const [route] = openRows(healthRoutes({ clock, healthChecks, onUnhealthy }))
  assert.equal(route?.pattern, '/health')
  return route.handle(call)
}

describe('health', () => {
  test('is up while every check is', async () => {
    const { status, body } = await health([{ name: 'store', check: async () => undefined }])
    assert.deepEqual([status, body], [200, '{"status":"UP","components":{"store":{"status":"UP"}}}'])
  })

  test('is down when one check fails, names it, and keeps the reason for the log', async () => {
    const told: string[] = []
    const broken: HealthCheck = {
      name: 'link',
      check: async () => {
        throw new Error('disk full at /secret/place')
      },
    }
    const { status, body } = await health([{ name: 'store', check: async () => undefined }, broken], told)
    assert.equal(status, 503)
    assert.equal(body, '{"status":"DOWN","components":{"store":{"status":"UP"},"link":{"status":"DOWN"}}}')
    assert.deepEqual(told, ['link: Error: disk full at /secret/place'])
  })

  test('is down when a part does not answer at all', async () => {
    const told: string[] = []
    const { status } = await health([{ name: 'store', check: () => new Promise(() => undefined) }], told)
    assert.equal(status, 503)
    assert.match(told[0] ?? '', /^store: .*no answer within 2000 ms/)
  })
})
