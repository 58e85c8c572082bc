import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DeviceErrors } from '../../../engine/device/errors.ts'
import { loginOf, NODE, payloadBytes, willOf, type SentPayload } from './testkit.ts'
import { bench, publish, answered, commands, stored, NBIRTH, DBIRTH, born, data } from './node.testkit.ts'

describe('an edge node of Sparkplug', () => {
  it('needs the will that is its NDEATH', () =>
    bench(async ({ client }) => {
      const will = willOf(1)
      const wrong = [
        {},
        { will: { ...will, qos: 0 as const } },
        { will: { ...will, retain: true } },
        { will: { ...will, topic: `${NODE}/NBIRTH/node` } },
        { will: { ...will, topic: 'v1/devices/me/telemetry' } },
        { will: { ...will, payload: Buffer.from([0xff]) } },
        { will: { ...will, payload: payloadBytes({ metrics: [{ datatype: 4, long_value: 1 }] }) } },
        { will: { ...will, payload: payloadBytes({ metrics: [{ alias: 1, datatype: 4, long_value: 1 }] }) } },
        { will, clean: false },
      ]
      for (const change of wrong) {
        const three = await client(4)
        three.send(three.connectPacket('one', change))
        const [refused] = await three.received(1)
        assert.ok(refused?.cmd === 'connack' && refused.returnCode === 3, JSON.stringify(change))
      }
      const five = await client(5)
      five.send(five.connectPacket('one', { will }))
      const [refused] = await five.received(1)
      assert.ok(refused?.cmd === 'connack' && refused.reasonCode === 0x88)
    }))

  it('is born with its devices: states, metrics as telemetry, those of the profile as shared attributes', () =>
    bench(async (opened) => {
      assert.deepEqual(stored(opened), [['one', 'telemetry', [5, 'NDEATH bdSeq', 3]]])
      assert.equal(await answered(opened.node, 'NODE/NBIRTH/node', NBIRTH), 0)
      assert.deepEqual(stored(opened), [
        ['one', 'shared attributes', [undefined, 'serial', 'S1']],
        [
          ...['one', 'telemetry', [undefined, 'sparkplugConnectionState', 'ONLINE']],
          ...[
            [10, 'NBIRTH bdSeq', 3],
            [10, 'Node Control/Rebirth', false],
            [11, 'speed', -1],
          ],
        ],
      ])
      assert.equal(await answered(opened.node, 'NODE/DBIRTH/node/D', DBIRTH), 0)
      const child = { name: 'plant:node:D', type: 'line device', label: 'D', formerName: 'D' }
      assert.deepEqual(opened.gateway.children, [child])
      assert.deepEqual(stored(opened), [
        ['plant:node:D', 'shared attributes', [undefined, 'conf/mode', 'eco']],
        [
          ...['plant:node:D', 'telemetry', [undefined, 'sparkplugConnectionState', 'ONLINE']],
          ...[
            [21, 'temperature', 20.5],
            [22, 'target', -1],
            [20, 'DBIRTH seq', 1],
          ],
        ],
      ])
    }))

  it('may count beyond what a LONG holds', () =>
    bench(async (opened) => {
      await born(opened)
      assert.equal(await answered(opened.node, 'NODE/DBIRTH/node/D', { seq: 2 ** 63, metrics: [] }), 0)
      const entries = opened.gateway.uploads.flatMap(({ groups }) => groups.flatMap((group) => group.entries))
      assert.deepEqual(
        entries.map(({ type }) => type),
        ['STRING', 'DOUBLE'],
      )
    }))

  it('sends data by name or alias, of the datatype of the birth', () =>
    bench(async (opened) => {
      await born(opened)
      const metrics = [
        { alias: 2, int_value: 7 },
        { name: 'other', datatype: 11, boolean_value: true, timestamp: 31 },
      ]
      assert.equal(await answered(opened.node, 'NODE/NDATA/node', data(2, ...metrics)), 0)
      const own = [
        { alias: 3, double_value: 21, timestamp: 32 },
        { alias: 4, is_null: true, int_value: 1 },
      ]
      assert.equal(await answered(opened.node, 'NODE/DDATA/node/D', data(3, ...own)), 0)
      assert.deepEqual(stored(opened), [
        ['one', 'telemetry', [undefined, 'speed', 7], [31, 'other', true]],
        ['plant:node:D', 'telemetry', [32, 'temperature', 21]],
      ])
      // Nothing that is stored, and one answer.
      assert.equal(await answered(opened.node, 'NODE/NDATA/node', data(4)), 0)
      assert.deepEqual(commands(opened.node), [])
    }))

  it('is acknowledged once all of it is durable', () =>
    bench(async (opened) => {
      const { gateway, node } = opened
      await born(opened)
      gateway.holding = true
      const metrics = [
        { name: 'serial', datatype: 12, string_value: 'S2' },
        { alias: 2, int_value: 1 },
      ]
      const before = node.packets.length
      node.send(publish(node, 'NODE/NDATA/node', data(2, ...metrics)), { cmd: 'pingreq' })
      await gateway.uploaded(2)
      gateway.uploads[1]?.receipt.stored()
      node.send({ cmd: 'pingreq' })
      await node.received(before + 2)
      gateway.uploads[0]?.receipt.stored()
      await node.received(before + 3)
      assert.deepEqual(
        node.packets.slice(before).map(({ cmd }) => cmd),
        ['pingresp', 'pingresp', 'puback'],
      )
    }))

  it('is told what is wrong, and stays connected', () =>
    bench(async (opened) => {
      const { node } = opened
      await born(opened)
      const cases: [string, SentPayload | Buffer][] = [
        ['v1/devices/me/telemetry', Buffer.from('{"a":1}')],
        ['spBv1.0/other/NDATA/node', data(2)],
        ['NODE/NDATA/other', data(2)],
        ['NODE/NDATA/node/D', data(2)],
        ['NODE/DDATA/node', data(2)],
        ['NODE/NDATA/node', Buffer.from([0x12, 0xff])],
        ['NODE/NDATA/node', data(2, { alias: 99, int_value: 1 })],
        // Of the device, not of the node.
        ['NODE/NDATA/node', data(3, { alias: 3, double_value: 1 })],
        ['NODE/NDATA/node', data(4, { int_value: 1, datatype: 3 })],
        ['NODE/NDATA/node', data(5, { name: 'x'.repeat(1025), datatype: 3, int_value: 1 })],
        ['NODE/NDATA/node', data(6, { name: 'x', datatype: 3, int_value: 1, timestamp: 8.64e15 + 2 })],
        ['NODE/DBIRTH/node/E', { seq: 7, metrics: [{ name: 'taken', alias: 3, datatype: 3, int_value: 1 }] }],
        ['NODE/DBIRTH/node/E', { seq: 8, metrics: [{ alias: 9, datatype: 3, int_value: 1 }] }],
        ['NODE/NDEATH/node', { metrics: [{ name: 'bdSeq', datatype: 4, long_value: 4 }] }],
        ['NODE/NDEATH/node', { metrics: [] }],
      ]
      for (const [topic, payload] of cases) {
        assert.equal(await answered(node, topic, payload), 0x99, `${topic} ${JSON.stringify(payload)}`)
      }
      assert.deepEqual(stored(opened), [])
      assert.equal(opened.transport.figures().undecodable, cases.length)
    }))

  it('of MQTT 3 is cut off for it', () =>
    bench(
      async (opened) => {
        opened.node.send(publish(opened.node, 'NODE/NDATA/node', data(1, { alias: 1, int_value: 1 })))
        await opened.node.end()
      },
      { version: 4 },
    ))

  it('is asked to be born again, not too often, where a message is missing', () =>
    bench(async (opened) => {
      const { node, clock } = opened
      await answered(node, 'NODE/NDATA/node', data(1, { name: 'a', datatype: 3, int_value: 1 }))
      const byName = [`${NODE}/NCMD/node`, [{ name: 'Node Control/Rebirth', datatype: 11, boolean_value: true }]]
      assert.deepEqual(commands(node), [byName])
      await born(opened)
      for (const seq of [2, 3, 5]) await answered(node, 'NODE/NDATA/node', data(seq, { alias: 2, int_value: 1 }))
      assert.deepEqual(commands(node).length, 1)
      clock.advance(61_000)
      for (const seq of [255, 0, 1, 1, 4])
        await answered(node, 'NODE/DDATA/node/D', data(seq, { alias: 4, int_value: 1 }))
      const byAlias = [`${NODE}/NCMD/node`, [{ alias: 1, datatype: 11, boolean_value: true }]]
      assert.deepEqual(commands(node), [byName, byAlias])
    }))

  it('and its devices are offline when the connection breaks', () =>
    bench(async (opened) => {
      await born(opened)
      opened.node.socket.destroy()
      await opened.gateway.uploaded(2)
      const offline = [undefined, 'sparkplugConnectionState', 'OFFLINE']
      assert.deepEqual(stored(opened), [
        ['one', 'telemetry', offline],
        ['plant:node:D', 'telemetry', offline],
      ])
      while (opened.transport.figures().connections > 0) await new Promise((resolve) => setImmediate(resolve))
      const { children, birthBytes } = opened.transport.figures()
      assert.deepEqual([children, birthBytes, opened.gateway.sessions.size], [0, 0, 0])
    }))

  it('that dies itself is acknowledged after its end is stored, once, and disconnected', () =>
    bench(async (opened) => {
      const { gateway, node } = opened
      await born(opened)
      gateway.holding = true
      const before = node.packets.length
      node.send(publish(node, 'NODE/NDEATH/node', { metrics: [{ name: 'bdSeq', datatype: 4, long_value: 3 }] }))
      await gateway.uploaded(2)
      const uploads = gateway.uploads.slice()
      assert.equal(node.packets.length, before)
      for (const { receipt } of uploads) receipt.stored()
      await node.end()
      assert.deepEqual(
        node.packets.slice(before).map(({ cmd }) => cmd),
        ['puback', 'disconnect'],
      )
      assert.equal(gateway.uploads.length, uploads.length)
    }))

  it('that dies while a device of it is being connected leaves that one offline too', () =>
    bench(async (opened) => {
      const { gateway, node } = opened
      assert.equal(await answered(node, 'NODE/NBIRTH/node', NBIRTH), 0)
      stored(opened)
      gateway.holdsConnections = true
      const death = { metrics: [{ name: 'bdSeq', datatype: 4, long_value: 3 }] }
      node.send(publish(node, 'NODE/DBIRTH/node/D', DBIRTH, 8), publish(node, 'NODE/NDEATH/node', death, 9))
      await gateway.uploaded(1)
      const offline = ['telemetry', [undefined, 'sparkplugConnectionState', 'OFFLINE']]
      assert.deepEqual(stored(opened), [['one', ...offline]])
      gateway.connectNext()
      await node.end()
      assert.deepEqual(stored(opened).at(-1), ['plant:node:D', ...offline])
    }))

  it('says that a device dies: offline, its session closed, its metrics forgotten', () =>
    bench(async (opened) => {
      await born(opened)
      assert.equal(await answered(opened.node, 'NODE/DDEATH/node/D', { seq: 2 }), 0)
      const offline = [undefined, 'sparkplugConnectionState', 'OFFLINE']
      assert.deepEqual(stored(opened), [['plant:node:D', 'telemetry', offline]])
      assert.equal(opened.gateway.sessionsOf('plant:node:D').length, 0)
      assert.equal(await answered(opened.node, 'NODE/DDEATH/node/unknown', { seq: 3 }), 0)
      assert.equal(opened.gateway.children.length, 1)
      assert.equal(await answered(opened.node, 'NODE/DDATA/node/D', data(4, { alias: 3, double_value: 1 })), 0x99)
      assert.equal(await answered(opened.node, 'NODE/DBIRTH/node/D', { ...DBIRTH, seq: 5 }), 0)
      assert.equal(opened.gateway.sessionsOf('plant:node:D').length, 1)
    }))

  it('keeps the order of birth, death and birth of a device that is still looked up', () =>
    bench(async (opened) => {
      const { gateway, node } = opened
      await answered(node, 'NODE/NBIRTH/node', NBIRTH)
      stored(opened)
      gateway.holdsConnections = true
      node.send(
        publish(node, 'NODE/DBIRTH/node/D', DBIRTH, 1),
        publish(node, 'NODE/DDEATH/node/D', { seq: 2 }, 2),
        publish(node, 'NODE/DBIRTH/node/D', { seq: 3, metrics: [] }, 3),
        { cmd: 'pingreq' },
      )
      await node.received(2)
      gateway.connectNext()
      await node.received(5)
      const states = gateway.uploads.flatMap(({ groups }) =>
        groups.flatMap(({ entries }) => entries.filter(({ key }) => key === 'sparkplugConnectionState')),
      )
      assert.deepEqual(
        states.map(({ value }) => value),
        ['ONLINE', 'OFFLINE', 'ONLINE'],
      )
      assert.equal(gateway.sessionsOf('plant:node:D').length, 1)
    }))

  it('has devices that stay connected as long as it is heard', () =>
    bench(async (opened) => {
      await born(opened)
      for (let seconds = 0; seconds < 1200; seconds += 30) {
        opened.clock.advance(30_000)
        const before = opened.node.packets.length
        opened.node.send({ cmd: 'pingreq' })
        await opened.node.received(before + 1)
      }
      assert.equal(opened.gateway.sessionsOf('plant:node:D').length, 1)
      assert.deepEqual(stored(opened), [])
    }))

  it('has its devices within the bounds of gateways, and its births within a bound of bytes', () =>
    bench(
      async (opened) => {
        assert.equal(await answered(opened.node, 'NODE/NBIRTH/node', NBIRTH), 0)
        assert.equal(await answered(opened.node, 'NODE/DBIRTH/node/A', { seq: 1 }), 0)
        assert.equal(await answered(opened.node, 'NODE/DBIRTH/node/B', { seq: 2 }), 0x97)
        const metrics = Array.from({ length: 60 }, (_, index) => ({ name: `m${index}`, datatype: 3, int_value: 1 }))
        assert.equal(await answered(opened.node, 'NODE/DBIRTH/node/A', { seq: 3, metrics }), 0x97)
        assert.ok(opened.transport.figures().birthBytes < 10_000)
      },
      { limits: { maxChildrenPerGateway: 1, maxBirthBytesPerNode: 10_000 } },
    ))

  it('is told where something can not be stored, and nothing of gateways', () =>
    bench(async (opened) => {
      await born(opened)
      opened.gateway.refusal = DeviceErrors.RATE_LIMIT()
      assert.equal(await answered(opened.node, 'NODE/DDATA/node/D', data(2, { alias: 3, double_value: 1 })), 0x97)
      await opened.node.end()
      assert.deepEqual(commands(opened.node), [])
    }))

  it('may subscribe to filters of Sparkplug, and to nothing else', () =>
    bench(async ({ node }) => {
      const filters = [`${NODE}/NCMD/node/#`, 'spBv1.0/STATE/host', 'STATE/host', `${NODE}/DCMD/node/#`]
      const subscriptions = [...filters, 'v1/devices/me/attributes', '#'].map((topic) => ({ topic, qos: 1 as const }))
      node.send(
        { cmd: 'subscribe', messageId: 1, subscriptions },
        { cmd: 'unsubscribe', messageId: 2, unsubscriptions: ['#'] },
      )
      const [suback] = await node.received(2)
      assert.deepEqual(suback?.cmd === 'suback' && suback.granted, [1, 1, 1, 1, 0x8f, 0x8f])
    }))
})

describe('the session of an edge node', () => {
  it('that the platform ends is offline, but where a newer connection took it over', async () => {
    for (const [reason, count] of [
      ['CREDENTIALS_CHANGED', 2],
      ['TAKEN_OVER', 1],
    ] as const) {
      await bench(async (opened) => {
        await born(opened)
        opened.gateway.sessionsOf('one')[0]?.listener.closed(reason)
        await opened.node.end()
        assert.equal(stored(opened).length, count)
      })
    }
  })

  it('of MQTT 3.1.1 needs no property', () =>
    bench(
      async (opened) => {
        await born(opened)
        assert.deepEqual(loginOf(4).will.qos, 1)
      },
      { version: 4 },
    ))
})
