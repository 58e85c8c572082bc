import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Packet } from 'mqtt-packet'
import { defineErrors } from '../../model/errors.ts'
import { openMqttBench, type MqttBench } from './testkit.ts'

const Refusals = defineErrors('test', {
  BUSY: { kind: 'retryable', status: 503, text: 'busy' },
})
const TELEMETRY = 'v1/devices/me/telemetry'

async function bench(run: (bench: MqttBench) => Promise<void>, limits = {}): Promise<void> {
  const opened = await openMqttBench(limits)
  try {
    await run(opened)
    assert.deepEqual(opened.logged, [])
  } finally {
    await opened.close()
  }
}

describe('MQTT publish', () => {
  it('does not copy all that came of a packet with each byte that follows', (context) =>
    bench(async ({ client }) => {
      const device = await client()
      await device.login('one')
      const bytes = device.bytes(device.publish(TELEMETRY, `{"a":"${'x'.repeat(4000)}"}`, 7))
      const concat = context.mock.method(Buffer, 'concat')
      for (let at = 0; at < bytes.length; at++) {
        device.socket.write(bytes.subarray(at, at + 1))
        await new Promise(setImmediate)
      }
      await device.received(1)
      const copied = concat.mock.calls.reduce((sum, { result }) => sum + (result?.length ?? 0), 0)
      assert.ok(copied < 4 * bytes.length, `${copied} bytes for ${bytes.length}`)
    }))

  it('answers a QoS 1 publish only when its receipt says stored', () =>
    bench(async ({ gateway, client }) => {
      gateway.holding = true
      const device = await client()
      await device.login('one')
      device.send(device.publish(TELEMETRY, '{"a":1}', 7), { cmd: 'pingreq' })
      await device.received(1)
      assert.deepEqual(
        device.packets.map((packet) => packet.cmd),
        ['pingresp'],
      )
      gateway.uploads[0]?.receipt.stored()
      await device.received(2)
      assert.equal(device.packets[1]?.cmd, 'puback')
      assert.equal(device.packets[1]?.messageId, 7)
    }))

  for (const version of [4, 5] as const) {
    it(`says nothing of a publish that is not stored, on any topic that takes data (MQTT ${version})`, () =>
      bench(async ({ gateway, client }) => {
        gateway.holding = true
        const device = await client(version)
        await device.login('one')
        const topics = [TELEMETRY, 'v2/t', 'v2/t/j', 'v1/devices/me/attributes', 'v2/a', 'v2/a/j']
        device.send(...topics.map((topic, id) => device.publish(topic, '{"a":1}', id + 1)))
        device.send({ ...device.publish(TELEMETRY, '{"a":1}', 99), qos: 2 } as const)
        device.send({ cmd: 'pingreq' })
        await device.received(1)
        assert.deepEqual(
          device.packets.map((packet) => packet.cmd),
          ['pingresp'],
        )
        for (const upload of gateway.uploads) upload.receipt.stored()
        await device.received(8)
        const answers = device.packets.slice(1).map((packet) => packet.cmd)
        assert.deepEqual(answers, [...topics.map(() => 'puback'), 'pubrec'])
      }))
  }

  it('answers all publishes of one read in one write, in their order', () =>
    bench(async ({ gateway, client }) => {
      gateway.holding = true
      const device = await client()
      await device.login('one')
      device.send(...[1, 2, 3, 4, 5].map((id) => device.publish(TELEMETRY, `{"a":${id}}`, id)))
      await gateway.uploaded(5)
      // Settled backwards: the line still begins with the first.
      for (const upload of [...gateway.uploads].reverse()) upload.receipt.stored()
      await device.received(5)
      assert.equal(device.reads.length, 1)
      assert.deepEqual(
        device.packets.map((packet) => packet.messageId),
        [1, 2, 3, 4, 5],
      )
    }))

  it('holds back acknowledgements behind one that is still open', () =>
    bench(async ({ gateway, client }) => {
      gateway.holding = true
      const device = await client()
      await device.login('one')
      device.send(device.publish(TELEMETRY, '{"a":1}', 1), device.publish(TELEMETRY, '{"a":2}', 2))
      await gateway.uploaded(2)
      gateway.uploads[1]?.receipt.stored()
      device.send({ cmd: 'pingreq' })
      await device.received(1)
      assert.equal(device.packets[0]?.cmd, 'pingresp')
      gateway.uploads[0]?.receipt.stored()
      await device.received(3)
      assert.deepEqual(
        device.packets.slice(1).map((packet) => packet.messageId),
        [1, 2],
      )
    }))

  for (const version of [3, 4] as const) {
    it(`closes MQTT ${version} without a PUBACK where the payload cannot be decoded`, () =>
      bench(async ({ gateway, client }) => {
        const device = await client(version)
        await device.login('one')
        device.send(device.publish(TELEMETRY, '{"a":', 1))
        await device.end()
        assert.deepEqual(device.packets, [])
        assert.equal(gateway.uploads.length, 0)
        assert.equal(gateway.sessions.size, 0)
      }))
  }

  it('tells a v5 client 0x99 for an undecodable payload and keeps the connection', () =>
    bench(async ({ gateway, client }) => {
      const device = await client(5)
      await device.login('one')
      device.send(device.publish(TELEMETRY, '{"a":', 1), device.publish(TELEMETRY, '{"a":1}', 2))
      const [first, second] = await device.received(2)
      assert.equal(first?.cmd === 'puback' && first.reasonCode, 0x99)
      assert.equal(second?.cmd === 'puback' && second.reasonCode, 0)
      assert.equal(gateway.uploads.length, 1)
    }))

  it('ends a v5 connection with 0x99 for an undecodable QoS 0 payload', () =>
    bench(async ({ client }) => {
      const device = await client(5)
      await device.login('one')
      device.send(device.publish(TELEMETRY, '5'))
      await device.end()
      assert.deepEqual(
        device.packets.map((packet) => packet.cmd === 'disconnect' && packet.reasonCode),
        [0x99],
      )
    }))

  for (const version of [4, 5] as const) {
    it(`closes MQTT ${version} without a PUBACK where the platform refuses for now`, () =>
      bench(async ({ gateway, client }) => {
        const device = await client(version)
        await device.login('one')
        gateway.refusal = Refusals.BUSY()
        device.send(device.publish(TELEMETRY, '{"a":1}', 1))
        await device.end()
        assert.deepEqual(
          device.packets.map((packet) => packet.cmd === 'disconnect' && packet.reasonCode),
          version === 5 ? [0x83] : [],
        )
      }))
  }

  const OUTCOMES: readonly { topic: string; payload: string; v4: 'puback' | 'close'; v5: number }[] = [
    { topic: 'some/other/topic', payload: 'x', v4: 'puback', v5: 0x90 },
    { topic: 'v1/gateway/telemetry', payload: '{}', v4: 'puback', v5: 0x87 },
    { topic: 'v2/t/p', payload: '\u0001', v4: 'close', v5: 0x99 },
    { topic: 'v1/devices/me/attributes/request/x', payload: '{}', v4: 'close', v5: 0x99 },
    { topic: 'v1/devices/me/attributes/request/1', payload: '', v4: 'close', v5: 0x99 },
    { topic: TELEMETRY, payload: '[]', v4: 'puback', v5: 0 },
    { topic: TELEMETRY, payload: '{}', v4: 'puback', v5: 0 },
    { topic: 'v2/t', payload: '{"a":1}', v4: 'puback', v5: 0 },
    { topic: 'v2/a/j', payload: '{"a":1}', v4: 'puback', v5: 0 },
    { topic: 'v1/devices/me/attributes', payload: '[{"a":1}]', v4: 'close', v5: 0x99 },
  ]
  for (const { topic, payload, v4, v5 } of OUTCOMES) {
    it(`answers ${JSON.stringify(payload)} on ${topic} with ${v4} (3.1.1) and 0x${v5.toString(16)} (5)`, () =>
      bench(async ({ client }) => {
        const old = await client(4)
        await old.login('one')
        old.send(old.publish(topic, payload, 9))
        if (v4 === 'close') {
          await old.end()
          assert.deepEqual(old.packets, [])
        } else assert.equal((await old.received(1))[0]?.messageId, 9)
        const device = await client(5)
        await device.login('two')
        device.send(device.publish(topic, payload, 9))
        const [answer] = await device.received(1)
        assert.equal(answer?.cmd === 'puback' && answer.reasonCode, v5)
      }))
  }

  it('keeps numbers, times and order of an upload', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.login('one')
      device.send(device.publish(TELEMETRY, '[{"ts":5,"values":{"a":2.0}},{"b":9007199254740993}]', 1))
      await device.received(1)
      assert.deepEqual(
        gateway.uploads[0]?.groups.map(({ ts, entries }) => ({ ts, entries })),
        [
          { ts: 5, entries: [{ key: 'a', type: 'DOUBLE', value: 2 }] },
          { ts: undefined, entries: [{ key: 'b', type: 'LONG', value: 9007199254740993n }] },
        ],
      )
    }))

  for (const version of [3, 4, 5] as const) {
    it(`gives a QoS 2 publish its handshake and takes its repetition once (MQTT protocol level ${version})`, () =>
      bench(async ({ gateway, client }) => {
        const device = await client(version)
        await device.login('one')
        const publish = { ...device.publish(TELEMETRY, '{"a":1}', 3), qos: 2 } as const
        device.send(publish)
        await device.received(1)
        device.send({ ...publish, dup: true }, { cmd: 'pubrel', messageId: 3 })
        await device.received(3)
        assert.deepEqual(device.packets.map((packet) => packet.cmd).sort(), ['pubcomp', 'pubrec', 'pubrec'])
        assert.equal(gateway.uploads.length, 1)
        device.send(publish)
        await gateway.uploaded(2)
      }))

    it(`answers a repetition no sooner than the first delivery is stored (MQTT protocol level ${version})`, () =>
      bench(async ({ gateway, client }) => {
        gateway.holding = true
        const device = await client(version)
        await device.login('one')
        const publish = { ...device.publish(TELEMETRY, '{"a":1}', 3), qos: 2 } as const
        device.send(publish, { ...publish, dup: true }, { cmd: 'pingreq' })
        await device.received(1)
        assert.equal(device.packets[0]?.cmd, 'pingresp')
        assert.equal(gateway.uploads.length, 1)
        gateway.uploads[0]?.receipt.stored()
        await device.received(2)
        assert.equal(device.packets[1]?.cmd, 'pubrec')
      }))
  }

  it('frees the packet id of a QoS 2 publish whose PUBREC told a v5 client of a failure', () =>
    bench(async ({ gateway, client }) => {
      const device = await client(5)
      await device.login('one')
      device.send({ ...device.publish(TELEMETRY, '{"a":', 3), qos: 2 } as const)
      await device.received(1)
      device.send({ ...device.publish(TELEMETRY, '{"a":1}', 3), qos: 2 } as const)
      const [first, second] = await device.received(2)
      assert.deepEqual(first?.cmd === 'pubrec' && first.reasonCode, 0x99)
      assert.deepEqual(second?.cmd === 'pubrec' && second.reasonCode, 0)
      assert.equal(gateway.uploads.length, 1)
      device.send({ cmd: 'pubrel', messageId: 3 }, { cmd: 'pubrel', messageId: 9 })
      const [, , known, unknown] = await device.received(4)
      assert.equal(known?.cmd === 'pubcomp' && known.reasonCode, 0)
      assert.equal(unknown?.cmd === 'pubcomp' && unknown.reasonCode, 0x92)
    }))

  it('counts a QoS 2 publish of a v5 client in its Receive Maximum until the PUBCOMP', () =>
    bench(
      async ({ client }) => {
        const device = await client(5)
        await device.login('one')
        const publish = (id: number) => ({ ...device.publish(TELEMETRY, '{"a":1}', id), qos: 2 }) as const
        device.send(publish(1), publish(2))
        await device.received(2)
        device.send({ cmd: 'pubrel', messageId: 1 }, publish(3))
        await device.received(4)
        device.send(publish(4))
        await device.end()
        const last = device.packets.at(-1)
        assert.equal(last?.cmd === 'disconnect' && last.reasonCode, 0x93)
      },
      { maxInFlight: 2 },
    ))

  const hoards: readonly [what: string, payload: string, between: readonly Packet[]][] = [
    ['that is released before it is answered', '{"a":1}', [{ cmd: 'pubrel', messageId: 3 }]],
    ['that is refused', '{"a":', []],
  ]
  for (const [what, payload, between] of hoards) {
    it(`ends a v5 connection that sends a QoS 2 publish ${what} again and again behind one that is not answered`, () =>
      bench(
        async ({ gateway, client }) => {
          gateway.holding = true
          const device = await client(5)
          await device.login('one')
          const publish = { ...device.publish(TELEMETRY, payload, 3), qos: 2 } as const
          device.send(device.publish(TELEMETRY, '{"a":1}', 1))
          for (let time = 0; time < 50; time++) device.send(publish, ...between)
          await device.end()
          const last = device.packets.at(-1)
          assert.equal(last?.cmd === 'disconnect' && last.reasonCode, 0x93)
          assert.ok(gateway.uploads.length <= 4, `${gateway.uploads.length} uploads`)
        },
        { maxInFlight: 4 },
      ))
  }

  it('ends a v5 connection whose repetitions of an answered QoS 2 publish are more than may be answered', () =>
    bench(
      async ({ gateway, client }) => {
        const device = await client(5)
        await device.login('one')
        const publish = { ...device.publish(TELEMETRY, '{"a":1}', 3), qos: 2 } as const
        device.send(publish)
        await device.received(1)
        gateway.holding = true
        device.send(device.publish(TELEMETRY, '{"a":1}', 1))
        for (let time = 0; time < 50; time++) device.send({ ...publish, dup: true })
        await device.end()
        const last = device.packets.at(-1)
        assert.equal(last?.cmd === 'disconnect' && last.reasonCode, 0x93)
      },
      { maxInFlight: 4 },
    ))

  it('stops reading while the platform is not writable and goes on afterwards', () =>
    bench(async ({ gateway, client }) => {
      const device = await client()
      await device.login('one')
      const full = gateway.becomeFull()
      device.send(device.publish(TELEMETRY, '{"a":1}', 1), device.publish(TELEMETRY, '{"a":2}', 2))
      await full
      assert.equal(gateway.uploads.length, 0)
      gateway.becomeWritable()
      await device.received(2)
      assert.equal(gateway.uploads.length, 2)
    }))

  it('takes no more than the bound of unacknowledged publishes from a 3.1.1 client, and all in the end', () =>
    bench(
      async ({ gateway, client }) => {
        gateway.holding = true
        const device = await client()
        await device.login('one')
        device.send(...Array.from({ length: 25 }, (_, id) => device.publish(TELEMETRY, '{"a":1}', id + 1)))
        await gateway.uploaded(10)
        const probe = await client()
        await probe.login('two')
        assert.equal(gateway.uploads.length, 10)
        gateway.holding = false
        for (const upload of gateway.uploads.slice(0, 10)) upload.receipt.stored()
        await device.received(25)
        assert.deepEqual(
          device.packets.map((packet) => packet.messageId),
          Array.from({ length: 25 }, (_, id) => id + 1),
        )
      },
      { maxInFlight: 10 },
    ))

  it('goes on when there is room, though its last publish was acknowledged while there was none', () =>
    bench(
      async ({ gateway, client }) => {
        gateway.holding = true
        const device = await client()
        await device.login('one')
        device.send(...Array.from({ length: 10 }, (_, id) => device.publish(TELEMETRY, '{"a":1}', id + 1)))
        await gateway.uploaded(10)
        gateway.holding = false
        const full = gateway.becomeFull()
        for (const upload of gateway.uploads.slice(0, 10)) upload.receipt.stored()
        await full
        await device.received(10)
        device.send(device.publish(TELEMETRY, '{"a":1}', 11))
        gateway.becomeWritable()
        await device.received(11)
      },
      { maxInFlight: 10 },
    ))

  it('disconnects a v5 client that sends more than its Receive Maximum with 0x93', () =>
    bench(
      async ({ gateway, client }) => {
        gateway.holding = true
        const device = await client(5)
        await device.login('one')
        device.send(...Array.from({ length: 11 }, (_, id) => device.publish(TELEMETRY, '{"a":1}', id + 1)))
        await device.end()
        assert.deepEqual(
          device.packets.map((packet) => packet.cmd === 'disconnect' && packet.reasonCode),
          [0x93],
        )
      },
      { maxInFlight: 10 },
    ))
})
