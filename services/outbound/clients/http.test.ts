import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { testOutbound } from '../testkit.ts'

const UNREADABLE = { certificate: 'no PEM', privateKey: 'no PEM' }
const node = testOutbound({ timeoutMs: 2000 }).ofNode({ tenantId: 'a' })

test('a certificate that cannot be read is told at the start, before any connection', async (t) => {
  const client = node.open('http', { maxAnswerBytes: 1024, certificates: UNREADABLE })
  t.after(() => client.close())
  await assert.rejects(client.ready(), { code: 'outbound.CALL_FAILED' })
})

test('a proxy that resets the connection it made fails the call, not the process', async (t) => {
  const proxy = createServer()
  proxy.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => undefined)
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    setTimeout(() => socket.resetAndDestroy(), 50)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => proxy.close())
  const { port } = proxy.address() as AddressInfo
  for (const certificates of [undefined, UNREADABLE]) {
    const client = node.open('http', {
      ...{ maxAnswerBytes: 1024, proxy: { host: '127.0.0.1', port } },
      ...(certificates === undefined ? {} : { certificates }),
    })
    t.after(() => client.close())
    await assert.rejects(client.call({ method: 'GET', url: 'https://target.invalid/', headers: {} }, 0))
    await new Promise((resolve) => setTimeout(resolve, 150))
  }
})
