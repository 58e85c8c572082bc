/** The login of a NATS address, at a real server that asks for one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../model/system-clock.ts'
import { requireOwnServer, startNats } from '../../test/support/servers/index.ts'
import { connectNats } from './nats-connection.ts'

test('the login in an address is used, and a wrong or absent one is refused without naming the password', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  // Digits first: nothing of it may be taken for a port.
  const server = await startNats({ login: { user: 'millrace', password: '12345%/:@' } })
  context.after(() => server.stop())
  const at = (login: string): string => server.url.replace('nats://', `nats://${login}`)
  const options = { name: 'test', clock: systemClock, connectWaitMs: 5_000 }

  const right = `millrace:${encodeURIComponent('12345%/:@')}@`
  const line = await connectNats({ ...options, servers: `${at(right)},${at(right)}` })
  assert.equal(line.connected, true)
  await line.connection.flush()
  await line.close()

  for (const login of ['', 'millrace:wrong@']) {
    await assert.rejects(connectNats({ ...options, servers: at(login) }), (error: Error & { code?: string }) => {
      assert.match(error.message, /refuses the login/)
      assert.doesNotMatch(error.message, /wrong/)
      return true
    })
  }
})
