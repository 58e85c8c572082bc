/** Processes that listen on one port in the same instant. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { DEFAULT_MQTT_LIMITS } from '../limits.ts'
import type { Door } from './listener.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { openSockets } from './sockets.ts'

const ON_LINUX = { skip: process.platform === 'linux' ? false : 'ports are shared by sockets on Linux' }
const DOOR: Door = {
  limits: DEFAULT_MQTT_LIMITS,
  counts: {} as Door['counts'],
  hasRoom: () => false,
  accept: () => undefined,
  unexpected: assert.fail,
}

/** Held at another address than the test's: nobody else gets it there. */
async function heldPort(context: TestContext): Promise<number> {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  context.after(() => holder.close())
  return (holder.address() as AddressInfo).port
}

/** More turns of the loop than it takes to listen. */
const MANY_TURNS = 500

test('a port that another process listens on in the same instant is not shared with it', ON_LINUX, async (context) => {
  const port = await heldPort(context)
  const at = { label: 'MQTT', address: '127.0.0.2', addressName: 'ADDRESS', port, portName: 'PORT' } as const
  const other = createServer()
  context.after(() => other.close())
  const seconds: Promise<void>[] = []
  await oneAtATime(port, async () => {
    const second = openSockets(createServer, at, DOOR).then((sockets) => sockets.close())
    seconds.push(assert.rejects(second, { code: 'mqtt.LISTEN_FAILED' }))
    for (let turn = 0; turn < MANY_TURNS; turn++) await new Promise(setImmediate)
    other.listen({ port, host: at.address, reusePort: true })
    await once(other, 'listening')
  })
  await Promise.all(seconds)
})

test('turns at a port come one after the other, also behind one that fails', ON_LINUX, async (context) => {
  const port = await heldPort(context)
  let running = 0
  let most = 0
  const turns = Array.from({ length: 8 }, (_, index) =>
    oneAtATime(port, async () => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      if (index % 2 === 1) throw new Error('fails')
    }),
  )
  const ended = await Promise.allSettled(turns)
  assert.deepEqual([most, ended.filter(({ status }) => status === 'rejected').length], [1, 4])
})
