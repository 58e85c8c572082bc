import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Packet } from 'mqtt-packet'
import type { SharedAttributesUpdate } from '../../engine/device/gateway.ts'
import { SLOWNESS } from '../../test/support/slowness.ts'
import { deviceNamed } from '../testkit.ts'
import { HOUR, bench, connect, leave } from './kept-sessions.testkit.ts'
import type { MqttBench, RawClient } from './testkit.ts'

const ATTRIBUTES = 'v1/devices/me/attributes'
const CALLS = 'v1/devices/me/rpc/request/+'

async function subscribe(device: RawClient, ...filters: readonly string[]): Promise<void> {
  device.send({ cmd: 'subscribe', messageId: 1, subscriptions: filters.map((topic) => ({ topic, qos: 1 })) })
  await device.received(1)
  device.packets.length = 0
}

function change({ gateway }: MqttBench, update: SharedAttributesUpdate): void {
  for (const session of gateway.sessions) if (session.subscribed) session.listener.sharedAttributesChanged(update)
}

function updated(...pairs: readonly (readonly [string, number])[]): SharedAttributesUpdate {
  return { kind: 'updated', entries: pairs.map(([key, value]) => ({ key, type: 'LONG', value })) }
}

function texts(packets: readonly Packet[]): string[] {
  return packets.map((packet) => (packet.cmd === 'publish' ? String(packet.payload) : packet.cmd))
}

describe('MQTT 5 sessions that outlive their connection', { timeout: 120_000 * SLOWNESS }, () => {
  it('tell what changed meanwhile, each key at its newest value, and go on with their subscriptions', () =>
    bench(async (opened) => {
      const first = await connect(opened, HOUR)
      assert.deepEqual([first.isPresent, first.expiry], [false, undefined])
      await subscribe(first.device, ATTRIBUTES, CALLS)
      await leave(opened, first.device)
      change(opened, updated(['a', 1], ['b', 1]))
      change(opened, updated(['a', 2]))
      change(opened, { kind: 'deleted', keys: ['b', 'c'] })
      const second = await connect(opened, HOUR)
      assert.equal(second.isPresent, true)
      await second.device.received(2)
      assert.deepEqual(texts(second.device.packets), ['{"deleted":["b","c"]}', '{"a":2}'])
      change(opened, updated(['a', 3]))
      await second.device.received(3)
      assert.deepEqual(texts(second.device.packets).slice(2), ['{"a":3}'])
      assert.equal([...opened.gateway.sessions].find(({ kind }) => kind === 'lasting')?.listening, 'all')
    }))

  it('repeat the pushes that were not acknowledged, under their packet ids and with DUP, and no others', () =>
    bench(async (opened) => {
      const first = await connect(opened, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      change(opened, updated(['a', 1]))
      change(opened, updated(['b', 2]))
      const [one, two] = await first.device.received(2)
      assert.ok(one?.cmd === 'publish' && two?.cmd === 'publish')
      first.device.send({ cmd: 'puback', messageId: one.messageId ?? 0 }, { cmd: 'pingreq' })
      await first.device.received(3)
      await leave(opened, first.device)
      const second = await connect(opened, HOUR)
      const [again] = await second.device.received(1)
      assert.ok(again?.cmd === 'publish')
      assert.deepEqual([again.messageId, again.dup, String(again.payload)], [two.messageId, true, '{"b":2}'])
      change(opened, updated(['c', 3]))
      const next = (await second.device.received(2))[1]
      assert.ok(next?.cmd === 'publish' && next.messageId !== again.messageId && !next.dup)
    }))

  it('know a QoS 2 publish that was sent again', () =>
    bench(async (opened) => {
      const first = await connect(opened, HOUR)
      const telemetry = { ...first.device.publish('v1/devices/me/telemetry', '{"a":1}', 5), qos: 2 } as const
      first.device.send(telemetry)
      await first.device.received(1)
      await leave(opened, first.device)
      const second = await connect(opened, HOUR)
      second.device.send({ ...telemetry, dup: true }, { cmd: 'pubrel', messageId: 5 })
      const packets = await second.device.received(2)
      assert.deepEqual(packets.map((packet) => [packet.cmd, 'reasonCode' in packet && packet.reasonCode]).sort(), [
        ['pubcomp', 0],
        ['pubrec', 0],
      ])
      assert.equal(opened.gateway.uploads.length, 1)
    }))

  it('end when their time is over, at a clean start, and where the client says so', () =>
    bench(async (opened) => {
      const away = async (packet?: Packet) => {
        const { device } = await connect(opened, HOUR)
        await subscribe(device, ATTRIBUTES)
        await leave(opened, device, packet)
      }
      await away()
      opened.clock.advance(HOUR * 1000 + 1)
      assert.equal(opened.gateway.sessions.size, 0)
      assert.equal((await connect(opened, HOUR)).isPresent, false)
      await away()
      assert.equal((await connect(opened, HOUR, true)).isPresent, false)
      await away({ cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 0 } })
      assert.equal(opened.gateway.sessions.size, 0)
      assert.equal((await connect(opened, undefined)).isPresent, false)
    }))

  it('end with the connection where the client wants that of the next one', () =>
    bench(async (opened) => {
      const first = await connect(opened, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      await leave(opened, first.device)
      const second = await connect(opened, undefined)
      assert.equal(second.isPresent, true)
      await leave(opened, second.device)
      assert.equal((await connect(opened, HOUR)).isPresent, false)
    }))

  it('go over from a connection that is still there', () =>
    bench(async (opened) => {
      const first = await connect(opened, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      const second = await connect(opened, HOUR)
      await first.device.end()
      const last = first.device.packets.at(-1)
      assert.equal(last?.cmd === 'disconnect' && last.reasonCode, 0x8e)
      assert.equal(second.isPresent, true)
      change(opened, updated(['a', 1]))
      await second.device.received(1)
      assert.deepEqual(texts(second.device.packets), ['{"a":1}'])
    }))

  it('are cut to the longest time, and told so', () =>
    bench(
      async (opened) => {
        assert.equal((await connect(opened, 0xffff_ffff)).expiry, 60)
      },
      { maxSessionExpirySeconds: 60 },
    ))

  it('are not promised where the tenant has its share, and gone where too much waits', () =>
    bench(
      async (opened) => {
        const first = await connect(opened, HOUR)
        await subscribe(first.device, ATTRIBUTES)
        await leave(opened, first.device)
        const other = await opened.client(5)
        other.send(other.connectPacket('two', { clean: false, properties: { sessionExpiryInterval: HOUR } }))
        const [connack] = await other.received(1)
        assert.equal(connack?.cmd === 'connack' && connack.properties?.sessionExpiryInterval, 0)
        change(opened, updated(['a'.repeat(500), 1], ['b'.repeat(600), 1]))
        assert.equal((await connect(opened, HOUR)).isPresent, false)
      },
      { maxKeptSessionsPerTenant: 1, maxKeptBytesPerSession: 1000 },
    ))

  it('end where the platform ends the device, and with the server', () =>
    bench(async (opened) => {
      const first = await connect(opened, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      await leave(opened, first.device)
      for (const { listener } of [...opened.gateway.sessions]) listener.closed('CREDENTIALS_CHANGED')
      opened.gateway.sessions.clear()
      const second = await connect(opened, HOUR)
      assert.equal(second.isPresent, false)
      await opened.transport.close()
      assert.equal(opened.gateway.sessions.size, 0)
    }))

  it('end with the device also where it has subscribed to nothing', () =>
    bench(async (opened) => {
      const first = await connect(opened, HOUR)
      await leave(opened, first.device)
      const [kept] = opened.gateway.sessions
      assert.ok(kept?.kind === 'brief' && kept.subscribed, 'the platform knows of it')
      kept.listener.closed('DEVICE_DELETED')
      opened.gateway.sessions.clear()
      assert.equal((await connect(opened, HOUR)).isPresent, false)
    }))

  it("hear of nothing that they have not subscribed to, and are no other device's, or client's", () =>
    bench(async (opened) => {
      const first = await connect(opened, HOUR)
      await leave(opened, first.device)
      change(opened, updated(['a', 1]))
      assert.equal(opened.transport.figures().keptBytes, 0)
      assert.equal((await connect(opened, HOUR, false, { token: 'two' })).isPresent, false)
      assert.equal((await connect(opened, HOUR, false, { clientId: 'another' })).isPresent, false)
      assert.equal((await connect(opened, HOUR)).isPresent, true)
    }))

  it('end where the device is of another tenant now', () =>
    bench(async (opened) => {
      const first = await connect(opened, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      await leave(opened, first.device)
      opened.gateway.become('one', { ...deviceNamed('one'), tenantId: deviceNamed('foreign').tenantId })
      assert.equal((await connect(opened, HOUR)).isPresent, false)
      await opened.transport.close()
      assert.deepEqual([opened.transport.figures().keptSessions, opened.transport.figures().keptBytes], [0, 0])
    }))

  it('end where the client comes with MQTT 3.1, or a clean session of 3.1.1', () =>
    bench(async (opened) => {
      for (const [version, clean] of [
        [3, false],
        [4, true],
      ] as const) {
        const first = await connect(opened, HOUR)
        await leave(opened, first.device)
        const old = await opened.client(version)
        await old.login('one', { clean })
        assert.equal(opened.transport.figures().keptSessions, 0)
        await leave(opened, old)
      }
    }))

  it('of one device are at most so many, the oldest gives way', () =>
    bench(
      async (opened) => {
        for (const clientId of ['a', 'b', 'c']) {
          const { device, expiry } = await connect(opened, HOUR, false, { clientId })
          assert.equal(expiry, undefined)
          await leave(opened, device)
        }
        assert.equal(opened.transport.figures().keptSessions, 2)
        assert.equal((await connect(opened, HOUR, false, { clientId: 'b' })).isPresent, true)
        assert.equal((await connect(opened, HOUR, false, { clientId: 'c' })).isPresent, true)
        assert.equal((await connect(opened, HOUR, false, { clientId: 'a' })).expiry, 0, 'somebody is at both')
      },
      { maxKeptSessionsPerDevice: 2 },
    ))

  it('count what the client does not acknowledge, together with what its tenant keeps elsewhere', () =>
    bench(
      async (opened) => {
        const hoard = async (token: string, count: number) => {
          const { device } = await connect(opened, HOUR, false, { token })
          await subscribe(device, ATTRIBUTES)
          const own = [...opened.gateway.sessions].filter(({ device: { deviceName } }) => deviceName === token)
          for (let number = 0; number < count; number++)
            for (const { listener, subscribed } of own)
              if (subscribed) listener.sharedAttributesChanged(updated(['a'.repeat(200), number]))
          await device.received(count)
          return device
        }
        await leave(opened, await hoard('one', 2))
        const { keptBytes } = opened.transport.figures()
        assert.ok(keptBytes > 400 && keptBytes < 1000, String(keptBytes))
        const full = await hoard('two', 2)
        const [first] = full.packets
        assert.ok(opened.transport.figures().keptBytes <= 1000)
        await leave(opened, full)
        assert.equal((await connect(opened, HOUR, false, { token: 'two' })).isPresent, false)
        assert.ok(first?.cmd === 'publish')
        const back = await connect(opened, HOUR)
        assert.equal(back.isPresent, true)
        for (const packet of await back.device.received(2))
          if (packet.cmd === 'publish') back.device.send({ cmd: 'puback', messageId: packet.messageId ?? 0 })
        while (opened.transport.figures().keptBytes > 0) await new Promise(setImmediate)
      },
      { maxKeptBytesPerTenant: 1000 },
    ))

  it('wait for PUBACKs of a client that takes fewer at once than before', () =>
    bench(async (opened) => {
      const first = await connect(opened, HOUR)
      await subscribe(first.device, ATTRIBUTES)
      for (const value of [1, 2, 3]) change(opened, updated(['a', value]))
      await first.device.received(3)
      await leave(opened, first.device)
      const { device } = await connect(opened, HOUR, false, { receiveMaximum: 1 })
      for (const count of [1, 2, 3]) {
        const packet = (await device.received(count))[count - 1]
        assert.ok(packet?.cmd === 'publish')
        assert.equal(device.packets.length, count, 'no more than it takes')
        assert.equal(String(packet.payload), `{"a":${count}}`)
        device.send({ cmd: 'puback', messageId: packet.messageId ?? 0 })
      }
    }))

  it('end where a push was lost because too many wait', () =>
    bench(
      async (opened) => {
        const first = await connect(opened, HOUR, false, { receiveMaximum: 1 })
        await subscribe(first.device, ATTRIBUTES)
        for (const value of [1, 2, 3]) change(opened, updated(['a', value]))
        await first.device.end()
        assert.equal((await connect(opened, HOUR)).isPresent, false)
      },
      { maxQueuedPushes: 1 },
    ))

  it('stay as long as the client says at its end', () =>
    bench(async (opened) => {
      const first = await connect(opened, HOUR)
      await leave(opened, first.device, { cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 10 } })
      opened.clock.advance(9000)
      assert.equal(opened.transport.figures().keptSessions, 1)
      opened.clock.advance(1001)
      assert.equal(opened.transport.figures().keptSessions, 0)
    }))

  it('may be asked for at the end by who asked before and got none', () =>
    bench(
      async (opened) => {
        const { device, expiry } = await connect(opened, HOUR)
        assert.equal(expiry, 0)
        device.send({ cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 10 } })
        await device.end()
        assert.deepEqual(device.packets, [])
      },
      { maxSessionExpirySeconds: 0 },
    ))

  it('may not be asked for at the end where none was wanted at the beginning', () =>
    bench(async (opened) => {
      await leave(opened, (await connect(opened, HOUR)).device)
      const { device, isPresent } = await connect(opened, undefined)
      assert.equal(isPresent, true)
      device.send({ cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 10 } })
      await device.end()
      const last = device.packets.at(-1)
      assert.equal(last?.cmd === 'disconnect' && last.reasonCode, 0x82)
    }))
})
