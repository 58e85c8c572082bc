import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { HeldTimeouts, testOutbound } from './testkit.ts'

const server = createServer((request, response) => {
  // The slow tenant's service takes calls and never answers.
  if (request.url === '/quick') response.end('{}')
}).listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => {
  server.close()
  server.closeAllConnections()
})
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const CALLS = 300
const SLOW = 200

test('a tenant whose service never answers leaves its neighbours their calls, and loses its own to the time limit', async (t) => {
  const clock = new HeldTimeouts()
  const { timeoutMs } = clock
  const outbound = testOutbound({ calls: 60, tenantCalls: 40, nodeCalls: 1000, timeoutMs }, clock)
  const target = { maxAnswerBytes: 1024 }
  const slow = outbound.ofNode({ tenantId: 'slow' }).open('http', target)
  const quick = outbound.ofNode({ tenantId: 'quick' }).open('http', target)
  t.after(() => Promise.all([slow.close(), quick.close()]))
  const call = (path: string) => ({ method: 'GET', url: `${base}/${path}`, headers: {} })
  const lost = Array.from({ length: SLOW }, () =>
    assert.rejects(slow.call(call('slow'), 0), { code: 'outbound.TIMEOUT' }),
  )
  const answers = await Promise.all(Array.from({ length: CALLS }, () => quick.call(call('quick'), 0)))
  // All of the neighbour's went through while the slow ones still held every place they may have.
  assert.equal(answers.filter(({ status }) => status === 200).length, CALLS)
  assert.deepEqual([outbound.figures.calls, outbound.figures.waiting], [40, SLOW - 40])
  clock.end()
  await Promise.all(lost)
  assert.deepEqual([outbound.figures.calls, outbound.figures.waiting], [0, 0])
})
