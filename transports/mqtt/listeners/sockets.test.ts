/** How fast connections are accepted, counted in turns of the loop. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { createAuthority } from '../../../test/support/certificates.ts'
import { recordingLog, StandingClock } from '../../testkit.ts'
import { DEFAULT_MQTT_LIMITS } from '../limits.ts'
import type { Door, MqttListener } from './listener.ts'
import { listenOnTcp } from './tcp.ts'
import { listenOnTls } from './tls.ts'
import { listenOnWebSocket } from './web-socket.ts'

const AT = { label: 'MQTT', address: '127.0.0.1', addressName: 'ADDRESS', port: 0, portName: 'PORT' } as const
const CLIENTS = 96
const ON_LINUX = { skip: process.platform === 'linux' ? false : 'ports are shared by sockets on Linux' }

/** Takes nobody, and counts who comes. */
function countingDoor() {
  const counted = { came: 0 }
  const door = {
    limits: DEFAULT_MQTT_LIMITS,
    counts: {} as Door['counts'],
    hasRoom: () => {
      counted.came++
      return false
    },
    accept: (stream) => {
      counted.came++
      stream.destroy()
      return undefined
    },
    unexpected: assert.fail,
  } satisfies Door
  return { door, counted }
}

async function overTls(context: TestContext, door: Door, port = 0): Promise<MqttListener> {
  const { certFile, keyFile } = await (await createAuthority(context)).issue(['127.0.0.1'])
  const names = { enabled: 'ENABLED', certFile: 'CERTIFICATE', keyFile: 'KEY' }
  const certificate = { certFile, keyFile, keyPassword: undefined, names }
  const at = { ...AT, port, certificate, oldestVersion: 'TLSv1.2', skipsClientDates: false } as const
  return listenOnTls(at, door, { clock: new StandingClock(), log: recordingLog([]) })
}

const WAYS: Readonly<Record<string, (context: TestContext, door: Door, port?: number) => Promise<MqttListener>>> = {
  TCP: (_context, door, port = 0) => listenOnTcp({ ...AT, port }, door),
  TLS: overTls,
  WebSocket: (_context, door, port = 0) => listenOnWebSocket({ ...AT, port }, door),
}

for (const [way, listenOn] of Object.entries(WAYS)) {
  test(`connections over ${way} that come at once are accepted many in a turn`, ON_LINUX, async (context) => {
    const { door, counted } = countingDoor()
    const listener = await listenOn(context, door)
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

  test(`a port of ${way} that another socket listens on is not shared with it`, async (context) => {
    const { door } = countingDoor()
    const first = await listenOn(context, door)
    context.after(() => first.close())
    await assert.rejects(listenOn(context, door, first.port), { code: 'mqtt.LISTEN_FAILED' })
  })
}
