import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Packet } from 'mqtt-packet'
import { defineErrors } from '../../model/errors.ts'
import { SLOWNESS } from '../../test/support/slowness.ts'
import { HOUR, bench, connect, leave } from './kept-sessions.testkit.ts'
import type { MqttBench } from './testkit.ts'

const { AWAY } = defineErrors('test', { AWAY: { kind: 'retryable', status: 503, text: 'away' } })

/** A QoS 2 publish whose connection ended before it was answered. */
async function leftUnanswered(opened: MqttBench) {
  const { gateway } = opened
  gateway.holding = true
  const { device } = await connect(opened, HOUR)
  const telemetry = { ...device.publish('v1/devices/me/telemetry', '{"a":1}', 5), qos: 2 } as const
  device.send(telemetry)
  await gateway.uploaded(1)
  await leave(opened, device)
  return telemetry
}

describe('MQTT 5 sessions that outlive their connection', { timeout: 120_000 * SLOWNESS }, () => {
  for (const settledWhile of ['away', 'back'] as const)
    it(`store a QoS 2 publish once that was not answered when the connection ended, and is while its client is ${settledWhile}`, () =>
      bench(async (opened) => {
        const { gateway } = opened
        const telemetry = await leftUnanswered(opened)
        if (settledWhile === 'away') gateway.uploads[0]?.receipt.stored()
        const { device } = await connect(opened, HOUR)
        device.send({ ...telemetry, dup: true }, { ...telemetry, dup: true }, { cmd: 'pingreq' })
        const isAnswered = ({ cmd }: Packet): boolean => cmd === 'pubrec'
        await device.received(1)
        if (settledWhile === 'back') {
          assert.ok(!device.packets.some(isAnswered))
          gateway.uploads[0]?.receipt.stored()
        }
        while (!device.packets.some(isAnswered)) await device.received(device.packets.length + 1)
        assert.equal(gateway.uploads.length, 1)
        // Released, the number is another publish's.
        device.send({ cmd: 'pubrel', messageId: 5 }, telemetry)
        await gateway.uploaded(2)
      }))

  it('take a QoS 2 publish as a new one that was refused when the connection had ended', () =>
    bench(async (opened) => {
      const { gateway } = opened
      const telemetry = await leftUnanswered(opened)
      const second = await connect(opened, HOUR)
      second.device.send({ ...telemetry, dup: true }, { cmd: 'pingreq' })
      await second.device.received(1)
      gateway.uploads[0]?.receipt.refused(AWAY())
      await second.device.end()
      const third = await connect(opened, HOUR)
      third.device.send({ ...telemetry, dup: true })
      await gateway.uploaded(2)
      gateway.uploads[1]?.receipt.stored()
      assert.equal((await third.device.received(1))[0]?.cmd, 'pubrec')
    }))

  it('ask a QoS 2 request again whose answer was for the connection that ended', () =>
    bench(async (opened) => {
      const { gateway } = opened
      const { promise, resolve } = Promise.withResolvers<undefined>()
      const download = gateway.downloadPackage.bind(gateway)
      gateway.downloadPackage = async (...asked) => {
        const found = await download(...asked)
        if (gateway.downloads.length === 1) await promise
        return found
      }
      const first = await connect(opened, HOUR)
      const request = { ...first.device.publish('v2/fw/request/1/chunk/0', '4', 5), qos: 2 } as const
      first.device.send(request)
      while (gateway.downloads.length === 0) await new Promise(setImmediate)
      await leave(opened, first.device)
      const second = await connect(opened, HOUR)
      second.device.send({ ...request, dup: true })
      const packets = await second.device.received(2)
      assert.deepEqual(packets.map(({ cmd }) => cmd).sort(), ['publish', 'pubrec'])
      resolve(undefined)
    }))
})
