/** How fast connections are accepted, counted in turns of the loop. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { DEFAULT_MQTT_LIMITS } from '../limits.ts'
import type { Door } from './listener.ts'
import { listenOnTcp } from './tcp.ts'

const AT = { label: 'MQTT', address: '127.0.0.1', addressName: 'ADDRESS', port: 0, portName: 'PORT' } as const
const CLIENTS = 96
const ON_LINUX = { skip: process.platform === 'linux' ? false : 'ports are shared by sockets on Linux' }

/** Takes nobody, and counts who comes. */
function countingDoor() {
  const counted = { came: 0 }
  const door = {
    limits: DEFAULT_MQTT_LIMITS,
    counts: {} as Door['counts'],
    hasRoom: () => true,
    accept: (stream) => {
      counted.came++
      stream.destroy()
      return undefined
    },
    unexpected: assert.fail,
  } satisfies Door
  return { door, counted }
}

test('connections that come at once are accepted many in a turn', ON_LINUX, async (context) => {
  const { door, counted } = countingDoor()
  const listener = await listenOnTcp(AT, door)
  context.after(() => listener.close())
  const closings = Array.from({ length: CLIENTS }, () => {
    const socket = connect(listener.port, '127.0.0.1')
    socket.on('error', () => undefined)
    return once(socket, 'close')
  })
  let turns = 0
  while (counted.came < CLIENTS) {
    const before = counted.came
    await new Promise(setImmediate)
    if (counted.came > before) turns++
  }
  await Promise.all(closings)
  assert.ok(turns < CLIENTS / 3, `${turns} turns for ${CLIENTS} connections`)
})

test('a port that another socket listens on is not shared with it', async (context) => {
  const { door } = countingDoor()
  const first = await listenOnTcp(AT, door)
  context.after(() => first.close())
  await assert.rejects(listenOnTcp({ ...AT, port: first.port }, door), { code: 'mqtt.LISTEN_FAILED' })
})
