import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { test } from 'node:test'
import { errorText } from './errors.ts'

test('a server of several addresses, none of which answers, is told with all of them', async () => {
  const closed = net.createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const address = closed.address()
  assert.ok(address !== null && typeof address === 'object')
  const { port } = address
  await new Promise((resolve) => closed.close(resolve))
  const addresses = ['127.0.0.1', '127.0.0.2'].map((each) => ({ address: each, family: 4 }))
  const socket = net.connect({ host: 'database', port, lookup: (_name, _options, done) => done(null, addresses) })
  const error = await new Promise<Error>((resolve) => socket.on('error', resolve))
  assert.match(errorText(error), new RegExp(`127\\.0\\.0\\.1:${port}.*; .*127\\.0\\.0\\.2:${port}`))
})

test('anything thrown has a text', () => {
  assert.equal(errorText(new AggregateError([new Error('one')], 'its own')), 'its own')
  assert.equal(errorText(new Error('a reason')), 'a reason')
  assert.equal(errorText('a text'), 'a text')
})
