import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Packet } from 'mqtt-packet'
import { DeviceErrors } from '../../../engine/device/errors.ts'
import { defineErrors } from '../../../model/errors.ts'
import { openMqttBench, type MqttBench, type RawClient } from '../testkit.ts'
import type { MqttLimits } from '../limits.ts'

async function bench(run: (bench: MqttBench) => Promise<void>, limits: Partial<MqttLimits> = {}): Promise<void> {
  const opened = await openMqttBench(limits)
  try {
    await run(opened)
    assert.deepEqual(opened.logged, [])
  } finally {
    await opened.close()
  }
}

/** What came, in short: a publish with its topic and payload, an acknowledgement with its id and reason. */
function seen(packet: Packet | undefined): unknown {
  if (packet?.cmd === 'publish') return [packet.topic, packet.payload.toString()]
  if (packet?.cmd === 'puback') return ['puback', packet.messageId, packet.reasonCode ?? 0]
  if (packet?.cmd === 'disconnect') return ['disconnect', packet.reasonCode]
  return packet?.cmd
}

async function gatewayOf({ client }: MqttBench, version: 4 | 5 = 4): Promise<RawClient> {
  const gateway = await client(version)
  await gateway.login('gateway')
  return gateway
}

/** The acknowledgement of one publish of QoS 1 alone. */
async function answered(client: RawClient, topic: string, payload: string): Promise<unknown> {
  const before = client.packets.length
  client.send(client.publish(topic, payload, 7))
  return seen((await client.received(before + 1))[before])
}

const TELEMETRY = 'v1/gateway/telemetry'
const ACKNOWLEDGED = ['puback', 7, 0]

describe('the gateway API', () => {
  it('gives each device a session of its own, made at its first message or by connect with its type', () =>
    bench(async (opened) => {
      const { gateway } = opened
      const client = await gatewayOf(opened)
      assert.deepEqual(await answered(client, 'v1/gateway/connect', '{"device":"A","type":"thermo"}'), ACKNOWLEDGED)
      assert.deepEqual(
        await answered(client, TELEMETRY, '{"B":[{"a":1}],"A":[{"ts":5,"values":{"b":2}}]}'),
        ACKNOWLEDGED,
      )
      assert.deepEqual(gateway.children, [
        { name: 'A', type: 'thermo' },
        { name: 'B', type: 'default' },
      ])
      const [session] = gateway.sessionsOf('A')
      assert.deepEqual([session?.kind, session?.subscribed, session?.listening], ['lasting', true, 'all'])
      const uploads = gateway.uploads.map(({ device, groups: [group] }) => [device, group?.ts, group?.entries[0]?.key])
      assert.deepEqual(new Set(uploads.map(String)), new Set(['B,,a', 'A,5,b']))
      await answered(client, 'v1/gateway/disconnect', '{"device":"A"}')
      assert.equal(gateway.sessionsOf('A').length, 0)
      client.socket.destroy()
      while (opened.transport.figures().connections > 0) await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual([opened.transport.figures().children, gateway.sessions.size], [0, 0])
    }))

  it('acknowledges once, after the last device is stored', () =>
    bench(async (opened) => {
      const { gateway } = opened
      const client = await gatewayOf(opened)
      gateway.holding = true
      client.send(client.publish(TELEMETRY, '{"A":[{"a":1}],"B":[{"a":1}]}', 1), { cmd: 'pingreq' })
      await gateway.uploaded(2)
      await client.received(1)
      gateway.uploads[1]?.receipt.stored()
      client.send({ cmd: 'pingreq' })
      await client.received(2)
      assert.deepEqual(client.packets.map(seen), ['pingresp', 'pingresp'])
      gateway.uploads[0]?.receipt.stored()
      await client.received(3)
      assert.deepEqual(seen(client.packets[2]), ['puback', 1, 0])
    }))

  it('keeps the order of what waits for a device to be connected, and asks for it once', () =>
    bench(async (opened) => {
      const { gateway } = opened
      const client = await gatewayOf(opened)
      gateway.holdsConnections = true
      client.send(
        client.publish(TELEMETRY, '{"A":[{"a":1}]}', 1),
        client.publish('v1/gateway/attributes', '{"A":{"b":1}}', 2),
        client.publish(TELEMETRY, '{"A":[{"c":1}]}', 3),
        { cmd: 'pingreq' },
      )
      await client.received(1)
      assert.deepEqual([gateway.children.length, gateway.uploads.length], [1, 0])
      gateway.connectNext()
      await client.received(4)
      assert.deepEqual(
        client.packets.slice(1).map(seen),
        [1, 2, 3].map((id) => ['puback', id, 0]),
      )
      assert.deepEqual(
        gateway.uploads.map(({ groups: [group] }) => group?.entries[0]?.key),
        ['a', 'b', 'c'],
      )
    }))

  it('takes what came before the end of the connection, for devices that are still to be found too', () =>
    bench(async (opened) => {
      const { gateway } = opened
      const client = await gatewayOf(opened)
      gateway.holdsConnections = true
      const names = Array.from({ length: 20 }, (_, number) => `D${number}`)
      const values = Object.fromEntries(names.map((name) => [name, [{ a: 1 }]]))
      client.send(client.publish(TELEMETRY, JSON.stringify(values)), { cmd: 'disconnect' })
      await client.end()
      assert.equal(gateway.uploads.length, 0)
      // They count as long as something is to be handed on: reconnecting gathers no more than the bounds allow.
      assert.equal(opened.transport.figures().children, names.length)
      while (gateway.uploads.length < names.length) {
        gateway.connectNext()
        await new Promise((resolve) => setImmediate(resolve))
      }
      assert.deepEqual(
        gateway.uploads.map(({ device }) => device),
        names,
      )
      assert.equal(gateway.sessionsOf('D0').length, 0, 'no session stays')
      assert.equal(opened.transport.figures().children, 0)
    }))

  it('connects a device anew that it disconnected while it was looked up', () =>
    bench(async (opened) => {
      const { gateway } = opened
      const client = await gatewayOf(opened)
      gateway.holdsConnections = true
      const device = '{"device":"A"}'
      for (const topic of ['telemetry', 'disconnect', 'connect'])
        client.send(client.publish(`v1/gateway/${topic}`, topic === 'telemetry' ? '{"A":[{"a":1}]}' : device, 1))
      while (gateway.children.length < 2) await new Promise((resolve) => setImmediate(resolve))
      gateway.connectNext()
      gateway.connectNext()
      await client.received(3)
      assert.deepEqual(
        gateway.sessionsOf('A').map(({ kind }) => kind),
        ['lasting'],
      )
      assert.deepEqual([gateway.uploads.length, opened.transport.figures().children], [1, 1])
    }))

  it('makes devices for the customer that the gateway has now', () =>
    bench(async (opened) => {
      const { gateway } = opened
      const client = await gatewayOf(opened)
      const asked: (string | null)[] = []
      const connect = gateway.connectChild.bind(gateway)
      gateway.connectChild = (identity, child) => {
        asked.push(identity.customerId)
        return connect(identity, child)
      }
      const [session] = gateway.sessionsOf('gateway')
      assert.ok(session)
      Object.assign(session, { device: { ...session.device, customerId: 'another' } })
      await answered(client, TELEMETRY, '{"A":[{"a":1}]}')
      assert.deepEqual(asked, ['another'])
    }))

  it('reads no more while too much waits for devices', () =>
    bench(async (opened) => {
      const { gateway } = opened
      const client = await gatewayOf(opened)
      gateway.holdsConnections = true
      const large = JSON.stringify({ A: [{ text: 'x'.repeat(60_000) }] })
      for (let id = 1; id <= 6; id++) client.send(client.publish(TELEMETRY, large, id))
      client.send({ cmd: 'pingreq' })
      while (opened.transport.figures().received < 5) await new Promise((resolve) => setImmediate(resolve))
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual([opened.transport.figures().received, client.packets.length], [5, 0])
      gateway.connectNext()
      await client.received(7)
      assert.equal(gateway.uploads.length, 6)
    }))

  it('pushes shared attributes and calls with the name, and takes the answer', () =>
    bench(async (opened) => {
      const { gateway } = opened
      const client = await gatewayOf(opened)
      await answered(client, 'v1/gateway/connect', '{"device":"A"}')
      const [session] = gateway.sessionsOf('A')
      assert.ok(session !== undefined)
      session.listener.sharedAttributesChanged({ kind: 'updated', entries: [{ key: 'k', type: 'LONG', value: 1 }] })
      session.listener.sharedAttributesChanged({ kind: 'deleted', keys: ['k'] })
      session.listener.called?.({ id: 3, method: 'm', params: '{"x":1}' })
      await client.received(4)
      assert.deepEqual(client.packets.slice(1).map(seen), [
        ['v1/gateway/attributes', '{"device":"A","data":{"k":1}}'],
        ['v1/gateway/attributes', '{"device":"A","data":{"deleted":["k"]}}'],
        ['v1/gateway/rpc', '{"device":"A","data":{"id":3,"method":"m","params":{"x":1}}}'],
      ])
      const push = client.packets[3]
      assert.ok(push?.cmd === 'publish' && push.qos === 1 && push.messageId !== undefined)
      client.send({ cmd: 'puback', messageId: push.messageId })
      await answered(client, 'v1/gateway/rpc', '{"device":"A","id":3,"data":{"ok":true}}')
      assert.deepEqual(session.deliveries, [
        [3, 'SENT'],
        [3, 'DELIVERED'],
      ])
      assert.deepEqual(session.callAnswers, [[3, '{"ok":true}']])
    }))

  it('pushes to all of many devices at once, whatever one connection of one device may hold', () =>
    bench(
      async (opened) => {
        const { gateway } = opened
        const client = await gatewayOf(opened)
        const names = Array.from({ length: 50 }, (_, number) => `D${number}`)
        await answered(client, TELEMETRY, JSON.stringify(Object.fromEntries(names.map((name) => [name, [{ a: 1 }]]))))
        for (const name of names)
          for (const { listener } of gateway.sessionsOf(name))
            listener.sharedAttributesChanged({ kind: 'updated', entries: [{ key: 'k', type: 'LONG', value: 1 }] })
        for (let count = 0; count < names.length; count++) {
          const push = (await client.received(2 + count))[1 + count]
          assert.ok(push?.cmd === 'publish' && push.messageId !== undefined)
          client.send({ cmd: 'puback', messageId: push.messageId })
        }
      },
      { maxOpenPushes: 2, maxQueuedPushes: 3, maxPendingBytes: 1000 },
    ))

  it('answers attribute requests: one as a value, several as values, nothing as nothing', () =>
    bench(async (opened) => {
      const { gateway } = opened
      const client = await gatewayOf(opened)
      const topic = 'v1/gateway/attributes/request'
      const ask = async (body: string) => {
        const before = client.packets.length
        client.send(client.publish(topic, body))
        return seen((await client.received(before + 1))[before])
      }
      const entry = { key: 'k', type: 'STRING', value: 'z' } as const
      gateway.answer = { client: [entry], shared: [] }
      const response = 'v1/gateway/attributes/response'
      assert.deepEqual(await ask('{"id":1,"device":"A","client":true,"key":"k"}'), [
        response,
        '{"id":1,"device":"A","value":"z"}',
      ])
      assert.deepEqual(await ask('{"id":2,"device":"A","client":true,"keys":["k","l"]}'), [
        response,
        '{"id":2,"device":"A","values":{"k":"z"}}',
      ])
      assert.deepEqual(await ask('{"id":3,"device":"A","client":false,"keys":["k"]}'), [
        response,
        '{"id":3,"device":"A"}',
      ])
      assert.deepEqual(gateway.sessionsOf('A')[0]?.requests, [
        { clientKeys: ['k'], sharedKeys: undefined },
        { clientKeys: ['k', 'l'], sharedKeys: undefined },
        { clientKeys: undefined, sharedKeys: ['k'] },
      ])
    }))

  it('offers devices to be claimed', () =>
    bench(async (opened) => {
      const client = await gatewayOf(opened)
      const body = '{"A":{"secretKey":"s","durationMs":60000},"B":{},"C":5}'
      assert.deepEqual(await answered(client, 'v1/gateway/claim', body), ACKNOWLEDGED)
      assert.deepEqual(opened.gateway.sessionsOf('A')[0]?.offers, [{ secretKey: 's', durationMs: 60_000 }])
      assert.deepEqual(opened.gateway.sessionsOf('B')[0]?.offers, [{ secretKey: '', durationMs: 0 }])
    }))

  for (const [what, topic, payload] of [
    ['no object', TELEMETRY, '[1]'],
    ['no usable entry', TELEMETRY, '{"A":5}'],
    ['nothing', 'v1/gateway/attributes', '{}'],
    ['an empty name', 'v1/gateway/connect', '{"device":""}'],
    ['no name', 'v1/gateway/disconnect', '{}'],
    ['no client', 'v1/gateway/attributes/request', '{"id":1,"device":"A","key":"k"}'],
    ['a wrong id', 'v1/gateway/rpc', '{"device":"A","id":"x","data":1}'],
  ] as const) {
    it(`ends the connection for ${what} on ${topic}, after the PUBACK`, () =>
      bench(async (opened) => {
        const v5 = await gatewayOf(opened, 5)
        v5.send(v5.publish(topic, payload, 7))
        await v5.end()
        assert.deepEqual(v5.packets.map(seen), [
          ['puback', 7, 0x83],
          ['disconnect', 0x83],
        ])
        const v3 = await gatewayOf(opened)
        v3.send(v3.publish(topic, payload, 7))
        await v3.end()
        assert.deepEqual(v3.packets.map(seen), [ACKNOWLEDGED])
        const unacknowledged = await gatewayOf(opened)
        unacknowledged.send(unacknowledged.publish(topic, payload), { cmd: 'pingreq' })
        await unacknowledged.received(1)
        assert.deepEqual(unacknowledged.packets.map(seen), ['pingresp'])
      }))
  }

  it('ends the connection for it only behind what came before', () =>
    bench(async (opened) => {
      const { gateway } = opened
      const v5 = await gatewayOf(opened, 5)
      await answered(v5, 'v1/gateway/connect', '{"device":"A"}')
      gateway.holding = true
      v5.send(v5.publish(TELEMETRY, '{"A":[{"a":1}]}', 1), v5.publish(TELEMETRY, '[1]', 2))
      v5.send(v5.publish(TELEMETRY, '{"A":[{"a":1}]}', 3))
      await gateway.uploaded(1)
      gateway.uploads[0]?.receipt.stored()
      await v5.end()
      assert.deepEqual(v5.packets.slice(1).map(seen), [
        ['puback', 1, 0],
        ['puback', 2, 0x83],
        ['disconnect', 0x83],
      ])
      assert.equal(gateway.uploads.length, 1)
    }))

  it('stores the good beside the undecodable, and says so once', () =>
    bench(async (opened) => {
      const { gateway } = opened
      const body = '{"A":[{"ts":"x","values":{}}],"B":[{"a":1}],"C":[7],"D":5,"E":[]}'
      const v5 = await gatewayOf(opened, 5)
      assert.deepEqual(await answered(v5, TELEMETRY, body), ['puback', 7, 0x99])
      assert.deepEqual(
        gateway.uploads.filter(({ groups }) => groups.length > 0).map(({ device }) => device),
        ['B'],
      )
      const malformed = await answered(v5, TELEMETRY, '{"A":[')
      assert.deepEqual(malformed, ['puback', 7, 0x99])
      const v3 = await gatewayOf(opened)
      v3.send(v3.publish(TELEMETRY, body, 7))
      await v3.end()
      assert.equal(gateway.uploads.filter(({ device }) => device === 'B').length, 2)
      assert.deepEqual(v3.packets, [])
    }))

  it('says what devices can not be made, and stays', () =>
    bench(async (opened) => {
      const { gateway } = opened
      for (const [refusal, reason] of [
        [DeviceErrors.CHILD_LIMIT(), 0x97],
        [DeviceErrors.CHILD_REFUSED(), 0x80],
      ] as const) {
        gateway.childRefusal = refusal
        const v5 = await gatewayOf(opened, 5)
        assert.deepEqual(await answered(v5, TELEMETRY, '{"A":[{"a":1}]}'), ['puback', 7, reason])
        const v3 = await gatewayOf(opened)
        assert.deepEqual(await answered(v3, TELEMETRY, '{"A":[{"a":1}]}'), ACKNOWLEDGED)
        assert.deepEqual(await answered(v3, 'v1/gateway/x', ''), ACKNOWLEDGED)
        assert.deepEqual(await answered(v5, 'v1/gateway/x', ''), ['puback', 7, 0x90])
      }
      assert.equal(opened.transport.figures().children, 0)
    }))

  it('takes no error of another room for one of the payload', () =>
    bench(async (opened) => {
      const Errors = defineErrors('elsewhere', { ODD: { kind: 'invalid', status: 400, text: 'odd' } })
      opened.gateway.childRefusal = Errors.ODD()
      const v5 = await gatewayOf(opened, 5)
      v5.send(v5.publish(TELEMETRY, '{"A":[{"a":1}]}', 7))
      await v5.end()
      assert.deepEqual(v5.packets.map(seen).at(-1), ['puback', 7, 0x80])
      assert.equal(opened.transport.figures().undecodable, 0)
    }))

  it('takes no more devices than a gateway may have, and no more than its tenant', () =>
    bench(
      async (opened) => {
        const client = await gatewayOf(opened, 5)
        assert.deepEqual(await answered(client, 'v1/gateway/connect', '{"device":"A"}'), ACKNOWLEDGED)
        assert.deepEqual(await answered(client, 'v1/gateway/connect', '{"device":"B"}'), ['puback', 7, 0x97])
        await answered(client, 'v1/gateway/disconnect', '{"device":"A"}')
        assert.deepEqual(await answered(client, 'v1/gateway/connect', '{"device":"B"}'), ACKNOWLEDGED)
      },
      { maxChildrenPerTenant: 1 },
    ))

  it('ends the connection for what is lost, and names the devices before: what was not stored is never acknowledged', () =>
    bench(async (opened) => {
      const { gateway } = opened
      gateway.refusal = DeviceErrors.MAILBOX_FULL()
      const v5 = await gatewayOf(opened, 5)
      v5.send(v5.publish(TELEMETRY, '{"A":[{"a":1}]}', 7))
      await v5.end()
      assert.deepEqual(v5.packets.map(seen), [
        ['v1/gateway/disconnect', '{"device":"A","reason":128}'],
        ['puback', 7, 0x80],
      ])
      const v3 = await gatewayOf(opened)
      v3.send(v3.publish(TELEMETRY, '{"A":[{"a":1}]}', 7))
      await v3.end()
      assert.deepEqual(v3.packets, [])
      const unacknowledged = await gatewayOf(opened, 5)
      unacknowledged.send(unacknowledged.publish(TELEMETRY, '{"A":[{"a":1}]}'), { cmd: 'pingreq' })
      await unacknowledged.received(1)
      assert.deepEqual(unacknowledged.packets.map(seen), ['pingresp'])
    }))

  it('a session that the platform ends is made anew by the next message; an idle one too', () =>
    bench(async (opened) => {
      const { gateway, clock } = opened
      const client = await gatewayOf(opened)
      await answered(client, 'v1/gateway/connect', '{"device":"A"}')
      const [session] = gateway.sessionsOf('A')
      session?.close()
      session?.listener.closed('TAKEN_OVER')
      await answered(client, TELEMETRY, '{"A":[{"a":1}]}')
      assert.deepEqual([gateway.children.length, gateway.sessionsOf('A').length], [2, 1])
      for (let passed = 0; passed < 11; passed++) {
        clock.advance(60_000)
        client.send({ cmd: 'pingreq' })
        await client.received(3 + passed)
      }
      assert.equal(gateway.sessionsOf('A').length, 0)
      await answered(client, TELEMETRY, '{"A":[{"a":1}]}')
      assert.equal(gateway.sessionsOf('A').length, 1)
    }))

  it('what the gateway does counts for its devices where it says so', () =>
    bench(async (opened) => {
      const { gateway, clock } = opened
      const client = await gatewayOf(opened)
      await answered(client, 'v1/gateway/connect', '{"device":"A"}')
      const [own] = gateway.sessionsOf('gateway')
      assert.ok(own !== undefined)
      for (const overwritesActivityTime of [undefined, true] as const) {
        if (overwritesActivityTime === true) Object.assign(own.device, { overwritesActivityTime })
        for (let passed = 0; passed < 11; passed++) {
          clock.advance(60_000)
          const before = client.packets.length
          client.send({ cmd: 'pingreq' })
          await client.received(before + 1)
        }
        assert.equal(gateway.sessionsOf('A').length, overwritesActivityTime === true ? 1 : 0)
        await answered(client, 'v1/gateway/connect', '{"device":"A"}')
      }
    }))

  it('tells latencies of its connectors once a minute, and stores none of it with the values', () =>
    bench(async (opened) => {
      const { gateway, clock } = opened
      const client = await gatewayOf(opened)
      const now = clock.now()
      const metadata = { connector: 'opc', receivedTs: now - 30, publishedTs: now - 10 }
      await answered(client, TELEMETRY, JSON.stringify({ A: [{ ts: 1, values: { a: 1 }, metadata }] }))
      assert.deepEqual(gateway.uploads[0]?.groups, [{ ts: 1, entries: [{ key: 'a', type: 'LONG', value: 1 }] }])
      clock.advance(61_000)
      await gateway.uploaded(2)
      const [entry] = gateway.uploads[1]?.groups[0]?.entries ?? []
      assert.deepEqual([gateway.uploads[1]?.device, entry?.key, entry?.type], ['gateway', 'gatewayMetrics', 'JSON'])
      const gw = { avgGwLatency: 20, minGwLatency: 20, maxGwLatency: 20 }
      const transport = { avgTransportLatency: 10, minTransportLatency: 10, maxTransportLatency: 10 }
      assert.deepEqual(JSON.parse(JSON.stringify(entry?.value) && (entry?.type === 'JSON' ? entry.value : '')), {
        opc: { ...gw, ...transport },
      })
      clock.advance(61_000)
      assert.equal(gateway.uploads.length, 2)
    }))

  it('tells session limits with those of the devices behind it', () =>
    bench(async (opened) => {
      const client = await gatewayOf(opened)
      client.send(client.publish('v1/devices/me/rpc/request/1', '{"method":"getSessionLimits","params":{}}'))
      const [packet] = await client.received(1)
      assert.ok(packet?.cmd === 'publish')
      const rates = { messages: null, telemetryMessages: null, telemetryDataPoints: null }
      assert.deepEqual(JSON.parse(packet.payload.toString()), {
        maxPayloadSize: 65_536,
        maxInflightMessages: 100,
        rateLimits: rates,
        gatewayRateLimits: rates,
      })
    }))

  it('is not for other devices', () =>
    bench(async (opened) => {
      const device = await opened.client(5)
      await device.login('one')
      assert.deepEqual(await answered(device, TELEMETRY, '{"A":[{"a":1}]}'), ['puback', 7, 0x87])
      assert.equal(opened.gateway.children.length, 0)
    }))
})
