import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { queryObjects } from 'node:v8'
import type { IConnectPacket } from 'mqtt-packet'
import { deviceNamed } from '../testkit.ts'
import { startMqttTransport } from './server.ts'
import { MqttSession } from './session.ts'
import { PLAIN, openMqttBench, type MqttBench, type RawClient } from './testkit.ts'

async function bench(run: (bench: MqttBench) => Promise<void>, limits = {}): Promise<void> {
  const opened = await openMqttBench(limits)
  try {
    await run(opened)
    assert.deepEqual(opened.logged, [])
  } finally {
    await opened.close()
  }
}

function codes(client: RawClient): readonly unknown[] {
  return client.packets.map((packet) => {
    if (packet.cmd === 'connack') return packet.reasonCode ?? packet.returnCode
    return packet.cmd === 'disconnect' ? packet.reasonCode : packet.cmd
  })
}

describe('MQTT connect', () => {
  it('accepts an access token as user name, with no session present', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      device.send(device.connectPacket('one', { clientId: 'x' }))
      const [connack] = await device.received(1)
      assert.deepEqual(connack?.cmd === 'connack' && [connack.returnCode, connack.sessionPresent], [0, false])
      assert.deepEqual(
        [...gateway.sessions].map((session) => [session.device.deviceName, session.kind]),
        [['one', 'lasting']],
      )
    }))

  it('refuses a device whose profile is of another protocol, and takes one without user name by its client id', () =>
    bench(async ({ gateway, client }) => {
      const other = deviceNamed('one')
      gateway.lookUp = (login) =>
        login.type === 'MQTT_LOGIN' && login.userName === ''
          ? { ...other, transportType: login.clientId === 'coap' ? 'COAP' : 'MQTT' }
          : undefined
      for (const [clientId, code] of [
        ['coap', 3],
        ['mqtt', 0],
      ] as const) {
        const device = await client()
        device.send({ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, clientId, keepalive: 0 })
        const [connack] = await device.received(1)
        assert.equal(connack?.cmd === 'connack' && connack.returnCode, code)
      }
    }))

  it('holds what comes behind CONNECT until the device is known, then takes it', () =>
    bench(async ({ gateway, client }) => {
      gateway.cold = true
      const device = await client()
      device.send(device.connectPacket('one'), device.publish('v1/devices/me/telemetry', '{"a":1}', 4))
      await device.received(2)
      assert.deepEqual(
        device.packets.map((packet) => packet.cmd),
        ['connack', 'puback'],
      )
    }))

  const REFUSALS: readonly {
    name: string
    token?: string
    change?: Partial<IConnectPacket>
    v4: number
    v5: number
  }[] = [
    { name: 'unknown token', token: 'nobody', v4: 5, v5: 0x86 },
    { name: 'unknown token with password', token: 'nobody', change: { password: Buffer.from('x') }, v4: 5, v5: 0x86 },
    { name: 'client id alone', change: { clientId: 'someone' }, v4: 2, v5: 0x85 },
    { name: 'nothing at all', change: { clientId: '' }, v4: 5, v5: 0x87 },
  ]
  for (const { name, token, change, v4, v5 } of REFUSALS) {
    it(`refuses ${name} with ${v4} (3.1.1) and 0x${v5.toString(16)} (5), then closes`, () =>
      bench(async ({ client }) => {
        for (const [version, code] of [
          [4, v4],
          [5, v5],
        ] as const) {
          const device = await client(version)
          device.send(device.connectPacket(token, change))
          await device.end()
          assert.deepEqual(codes(device), [code])
        }
      }))
  }

  it('says server unavailable when the credentials cannot be looked up', () =>
    bench(async ({ gateway, client }) => {
      gateway.cold = true
      gateway.storeFails = true
      const device = await client(5)
      device.send(device.connectPacket('one'))
      await device.end()
      assert.deepEqual(codes(device), [0x88])
    }))

  it('issue-8: ends a connection whose session cannot be opened after its credentials were looked up', () =>
    bench(async ({ gateway, client, logged }) => {
      gateway.cold = true
      gateway.openSession = () => {
        throw new Error('no more sessions')
      }
      const device = await client(5)
      device.send(device.connectPacket('one'))
      await device.end()
      assert.deepEqual(codes(device), [0x80])
      assert.match(String(logged.splice(0)), /no more sessions/)
    }))

  it('issue-8 2.13: tells a v5 client its bounds, that nothing is retained and that there are wildcards', () =>
    bench(async ({ client }) => {
      const device = await client(5)
      device.send(device.connectPacket('one', { clientId: '', properties: { sessionExpiryInterval: 60 } }))
      const [connack] = await device.received(1)
      assert.ok(connack?.cmd === 'connack')
      const { assignedClientIdentifier, ...properties } = connack.properties ?? {}
      assert.match(assignedClientIdentifier ?? '', /^[0-9a-f-]{36}$/)
      assert.deepEqual(properties, {
        receiveMaximum: 1000,
        retainAvailable: false,
        wildcardSubscriptionAvailable: true,
        maximumPacketSize: 65_540,
        sharedSubscriptionAvailable: false,
        subscriptionIdentifiersAvailable: false,
        topicAliasMaximum: 16,
      })
    }))

  it('tells a v5 client with 0x95 alone, or nothing, that no CONNACK fits its Maximum Packet Size', () =>
    bench(async ({ client, gateway }) => {
      const shortest = (maximumPacketSize: number) => ({ properties: { maximumPacketSize } })
      const longest = (maximumPacketSize: number) => ({
        ...{ clientId: '', keepalive: 0 },
        properties: { maximumPacketSize, sessionExpiryInterval: 3_000_000_000 },
      })
      for (const [sized, size] of [
        [shortest, 24],
        [longest, 71],
      ] as const) {
        const fits = await client(5)
        let bytes = 0
        fits.socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
        fits.send(fits.connectPacket('one', sized(size)))
        await fits.received(1)
        assert.deepEqual([codes(fits), bytes], [[0], size])
        const small = await client(5)
        small.send(small.connectPacket('two', sized(size - 1)))
        await small.end()
        assert.deepEqual(codes(small), [0x95])
      }
      const tiny = await client(5)
      tiny.send(tiny.connectPacket('two', shortest(4)))
      await tiny.end()
      assert.deepEqual(codes(tiny), [])
      assert.deepEqual(new Set([...gateway.sessions].map(({ device }) => device.deviceName)), new Set(['one']))
    }))

  it('takes a CONNECT of MQTT 3.1 that ends before the user name or password of its flags', () =>
    bench(async ({ client, gateway }) => {
      gateway.lookUp = (login) =>
        login.type === 'MQTT_LOGIN' && login.clientId === 'x' ? deviceNamed('one') : undefined
      const begin = (flags: string) => `00064d514973647003${flags}003c000178`
      for (const [name, body, code] of [
        ['neither is there', begin('c2'), 0],
        ['the user name is not there', begin('82'), 0],
        ['the password is not there', `${begin('c2')}0001${'75'}`, 0],
        ['both are there', `${begin('c2')}0001${'75'}0001${'70'}`, 0],
      ] as const) {
        const device = await client(3)
        device.socket.write(Buffer.concat([Buffer.of(0x10, body.length / 2), Buffer.from(body, 'hex')]))
        await device.received(1)
        assert.deepEqual(codes(device), [code], name)
      }
      const cut = await client(3)
      const body = `${begin('82')}0005${'75'}`
      cut.socket.write(Buffer.concat([Buffer.of(0x10, body.length / 2), Buffer.from(body, 'hex')]))
      await cut.end()
      assert.deepEqual(codes(cut), [], 'half of a user name is none')
    }))

  const CLOSED_SILENTLY: readonly { name: string; bytes: string }[] = [
    { name: 'a packet before CONNECT', bytes: 'c000' },
    { name: 'a CONNECT with nothing in it', bytes: '1000' },
    { name: 'half of the name of 3.1', bytes: '100500064d5149' },
    { name: 'another protocol level', bytes: '100e00044d51545406020000000278790000' },
    { name: 'the name of 3.1 with the level of 3.1.1', bytes: '101000064d514973647004020000000278790000' },
    { name: 'a bridge bit in the level', bytes: '100e00044d51545484020000000278790000' },
    { name: 'a reserved connect flag', bytes: '100e00044d51545404030000000278790000' },
    { name: 'a client id longer than its packet', bytes: '100e00044d5154540402000000ff78790000' },
    { name: 'a byte behind the last field', bytes: '100e00044d515454040200000001780000' },
    { name: 'HTTP', bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n').toString('hex') },
  ]
  for (const { name, bytes } of CLOSED_SILENTLY) {
    it(`closes without a word on ${name}`, () =>
      bench(async ({ transport, client }) => {
        const device = await client()
        device.socket.write(Buffer.from(bytes, 'hex'))
        await device.end()
        assert.deepEqual(codes(device), [])
        assert.equal(transport.figures().malformed, 1)
      }))
  }

  it('ends a connection that sends CONNECT twice', () =>
    bench(async ({ client }) => {
      const device = await client(5)
      await device.login('one')
      device.send(device.connectPacket('one'))
      await device.end()
      assert.deepEqual(codes(device), [0x82])
    }))

  it('ends a connection whose packet is over the limit with 0x95 before the packet is there', () =>
    bench(async ({ client }) => {
      const device = await client(5)
      await device.login('one')
      device.socket.write(Buffer.from([0x30, 0x81, 0x80, 0x04]))
      await device.end()
      assert.deepEqual(codes(device), [0x95])
    }))

  it('takes a packet that comes byte by byte', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.login('one')
      for (const byte of device.bytes(device.publish('v1/devices/me/telemetry', '{"a":1}', 5))) {
        device.socket.write(Buffer.from([byte]))
        await new Promise(setImmediate)
      }
      await device.received(1)
      assert.equal(gateway.uploads.length, 1)
    }))
})

describe('MQTT silence', () => {
  it('closes who never finishes CONNECT', () =>
    bench(async ({ client, clock, transport }) => {
      const device = await client()
      device.socket.write(Buffer.from([0x10]))
      const other = await client()
      await other.login('one')
      clock.advance(11_000)
      await device.end()
      assert.equal(transport.figures().malformed, 0)
    }))

  it('closes after one and a half keep alives of silence, not before, and a ping counts', () =>
    bench(async ({ client, clock }) => {
      const device = await client(5)
      await device.login('one', { keepalive: 10 })
      for (let second = 0; second < 60; second += 10) {
        clock.advance(10_000)
        device.send({ cmd: 'pingreq' })
        await device.received(second / 10 + 1)
      }
      clock.advance(15_000)
      device.send({ cmd: 'pingreq' })
      await device.received(7)
      clock.advance(17_000)
      await device.end()
      assert.equal(codes(device).at(-1), 0x8d)
    }))

  it('does not take half packets for a sign of life', () =>
    bench(async ({ client, clock, gateway }) => {
      const device = await client()
      await device.login('one', { keepalive: 2 })
      for (let second = 0; second < 5; second++) {
        device.socket.write(Buffer.from(second === 0 ? [0x30, 0x50] : [0x00]))
        const other = await client()
        await other.login('two')
        clock.advance(1000)
      }
      await device.end()
      assert.equal(gateway.sessions.size, 5)
    }))

  it('does not hold against a client that its pings are not read while the platform is full', () =>
    bench(async ({ client, clock, gateway }) => {
      const device = await client()
      await device.login('one', { keepalive: 10 })
      const full = gateway.becomeFull()
      device.send({ cmd: 'pingreq' })
      await full
      clock.advance(300_000)
      gateway.becomeWritable()
      await device.received(1)
      assert.equal(device.packets[0]?.cmd, 'pingresp')
    }))

  it('closes a session without keep alive after the idle time', () =>
    bench(
      async ({ client, clock }) => {
        const device = await client(5)
        await device.login('one', { keepalive: 0 })
        clock.advance(400_000)
        device.send({ cmd: 'pingreq' })
        await device.received(1)
        clock.advance(602_000)
        await device.end()
        assert.deepEqual(codes(device), ['pingresp', 0x8d])
      },
      { idleTimeoutMs: 600_000 },
    ))
})

describe('MQTT session end', () => {
  const ENDS = [
    ['DEVICE_DELETED', 0x98],
    ['CREDENTIALS_CHANGED', 0x98],
    ['TAKEN_OVER', 0x8e],
    ['SHUTDOWN', 0x8b],
  ] as const
  for (const [end, code] of ENDS) {
    it(`tells a v5 client ${end} as 0x${code.toString(16)}`, () =>
      bench(async ({ gateway, client }) => {
        const device = await client(5)
        await device.login('one')
        for (const session of gateway.sessions) session.listener.closed(end)
        await device.end()
        assert.deepEqual(codes(device), [code])
      }))
  }

  it('closes its device session when the client disconnects or vanishes', () =>
    bench(async ({ gateway, client, transport }) => {
      const polite = await client()
      await polite.login('one')
      polite.send({ cmd: 'disconnect' })
      await polite.end()
      const rude = await client()
      await rude.login('two')
      assert.deepEqual(
        [...gateway.sessions].map((session) => session.device),
        [deviceNamed('two')],
      )
      rude.socket.resetAndDestroy()
      while (transport.figures().connections > 0) await new Promise(setImmediate)
      assert.equal(gateway.sessions.size, 0)
    }))

  it('tells everybody on close and leaves no connection', async () => {
    const opened = await openMqttBench()
    const device = await opened.client(5)
    await device.login('one')
    const closing = opened.transport.close()
    await device.end()
    await closing
    await opened.transport.close()
    assert.deepEqual(codes(device), [0x8b])
    assert.equal(opened.transport.figures().connections, 0)
  })

  it('says which address it cannot listen on, and which setting names another', () =>
    bench(async ({ gateway, clock, transport }) => {
      const port = transport.ports['mqtt'] ?? 0
      const second = startMqttTransport({
        gateway,
        clock,
        plain: { ...PLAIN, port },
        log: { debug() {}, info() {}, warn() {}, error() {} },
      })
      await assert.rejects(second, {
        code: 'mqtt.LISTEN_FAILED',
        message: new RegExp(`127\\.0\\.0\\.1:${port} .*EADDRINUSE.*MQTT_BIND_PORT`),
      })
    }))

  it('issue-8 2.10: one tenant’s connections leave room for another’s, and the refusal says so', () =>
    bench(
      async ({ client, transport }) => {
        for (let count = 0; count < 3; count++) await (await client()).login('one')
        for (const [version, code] of [
          [4, 3],
          [5, 0x97],
        ] as const) {
          const fourth = await client(version)
          fourth.send(fourth.connectPacket('two'))
          await fourth.end()
          assert.equal(codes(fourth)[0], code)
        }
        await (await client()).login('foreign')
        assert.equal(transport.figures().overTenantLimit, 2)
      },
      { maxConnections: 6, maxConnectionsPerTenant: 3 },
    ))

  it('gives a tenant’s place back with the connection', () =>
    bench(
      async ({ client, transport }) => {
        for (let count = 0; count < 3; count++) {
          const device = await client()
          await device.login('one')
          device.send({ cmd: 'disconnect' })
          await device.end()
          while (transport.figures().connections > 0) await new Promise(setImmediate)
        }
      },
      { maxConnectionsPerTenant: 1 },
    ))

  it('issue-8 2.10: connections that never speak give way to those that do', () =>
    bench(
      async ({ client, transport }) => {
        const silent = [await client(), await client(), await client()]
        const device = await client()
        await device.login('one')
        await silent[0]?.end()
        assert.equal(silent[1]?.closed, false)
        assert.equal(transport.figures().silentDropped, 1)
      },
      { maxConnections: 4, maxSilentConnections: 3 },
    ))

  it('keeps nothing of connections that are gone while there is no room for what they said', () =>
    bench(
      async ({ gateway, client, transport }) => {
        for (let count = 0; count < 10; count++) {
          const device = await client()
          const asked = gateway.becomeFull()
          device.send(device.connectPacket('one'))
          await asked
        }
        while (transport.figures().connections > 1) await new Promise(setImmediate)
        const left = queryObjects(MqttSession, { format: 'count' })
        assert.ok(left <= 2, `${left} are left`)
        gateway.becomeWritable()
      },
      { maxSilentConnections: 1 },
    ))

  it('refuses connections over its bound', () =>
    bench(
      async ({ client, transport }) => {
        const first = await client()
        await first.login('one')
        const second = await client()
        await second.end()
        assert.equal(transport.figures().overConnectionLimit, 1)
      },
      { maxConnections: 1 },
    ))
})
