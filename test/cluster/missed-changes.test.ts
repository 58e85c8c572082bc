/**
 * What is committed while NATS is away is told to nobody: when it is back, a device and a user on other processes have it all the same.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectAsync } from 'mqtt'
import WebSocket from 'ws'
import { RestClient, login } from '../support/clients.ts'
import { requireOwnServer, requireServer, startNats, startPostgres } from '../support/servers/index.ts'
import { natsAndPostgresEnvironment, startMember } from '../support/start-cluster.ts'

test(
  'an attribute that was written while NATS was away reaches the device and the user',
  { timeout: 600_000 },
  async (context) => {
    if (!requireOwnServer(context, 'nats') || !requireServer(context, 'postgres')) return
    const [nats, postgres] = await Promise.all([startNats(), startPostgres()])
    context.after(() => Promise.all([nats.stop(), postgres.stop()]))
    const environment = natsAndPostgresEnvironment({ nats: nats.url, postgres: postgres.url })
    const [writer, watched, transport] = await Promise.all([
      startMember(environment, ['api', 'engine']),
      startMember(environment, ['api']),
      startMember(environment, ['transport']),
    ])
    context.after(() => Promise.all([writer.stop(), watched.stop(), transport.stop()]))
    const rest = new RestClient(writer, await login(writer))
    const deviceId = await rest.createDevice('cut off', 'CUT_OFF')
    const path = `/api/plugins/telemetry/DEVICE/${deviceId}/SHARED_SCOPE`
    await rest.expect('POST', path, { setPoint: 1, deleted: 1 })

    const port = transport.ports['mqtt'] ?? 0
    const device = await connectAsync({ host: '127.0.0.1', port, username: 'CUT_OFF', protocolVersion: 4 })
    context.after(() => device.endAsync(true))
    await device.subscribeAsync('v1/devices/me/attributes', { qos: 1 })
    const pushed = new Promise<number>((resolve) => {
      device.on('message', (_topic, body) => {
        const { setPoint } = JSON.parse(body.toString()) as { setPoint?: number }
        if (setPoint !== undefined && setPoint > 1) resolve(setPoint)
      })
    })
    const user = await watchAttributes(watched.url, await login(watched), deviceId)
    context.after(() => user.socket.close())
    await user.shows('setPoint', '1')

    await nats.kill()
    await rest.expect('POST', path, { setPoint: 2 })
    await rest.expect('DELETE', `${path}?keys=deleted`)
    await nats.restart()
    assert.equal(await pushed, 2)
    await user.shows('setPoint', '2')
    await user.shows('deleted', '')
    await rest.expect('POST', path, { setPoint: 3 })
    await user.shows('setPoint', '3')
  },
)

async function watchAttributes(url: string, token: string, entityId: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/ws`)
  const shown = new Map<string, string>()
  let changed: () => void = () => undefined
  socket.on('message', (text) => {
    assert.ok(Buffer.isBuffer(text))
    const { data } = JSON.parse(text.toString()) as { data?: Record<string, [number, string][]> }
    for (const [key, values] of Object.entries(data ?? {})) shown.set(key, values.at(-1)?.[1] ?? '')
    changed()
  })
  await new Promise((resolve) => socket.once('open', resolve))
  const command = { type: 'ATTRIBUTES', entityType: 'DEVICE', entityId, scope: 'SHARED_SCOPE', cmdId: 1 }
  socket.send(JSON.stringify({ authCmd: { cmdId: 0, token }, cmds: [command] }))
  return {
    socket,
    /** Resolves when the user sees this value last. */
    shows: async (key: string, text: string): Promise<void> => {
      while (shown.get(key) !== text) await new Promise<void>((resolve) => (changed = resolve))
    },
  }
}
