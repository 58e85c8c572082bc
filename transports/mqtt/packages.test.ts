import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Packet } from 'mqtt-packet'
import { DeviceErrors } from '../../engine/device/errors.ts'
import type { PackagePart, PackageRequest } from '../../engine/device/gateway.ts'
import { defineErrors } from '../../model/errors.ts'
import { openMqttBench, type MqttBench } from './testkit.ts'

const IMAGE = Buffer.from('0123456789abcdefghij')
const UNNAMED = { title: undefined, version: undefined }
const Errors = defineErrors('test', {
  NONE: { kind: 'invalid', status: 404, text: 'none' },
})

interface Served {
  /** Of the package that devices are to have. */
  packageId: string
  /** Held parts, for who asks. */
  held: number
  image: Buffer
  /** Packages that there were before, by id. */
  readonly earlier: Map<string, Buffer>
}

async function bench(run: (bench: MqttBench, served: Served) => Promise<void>, limits = {}): Promise<void> {
  const opened = await openMqttBench(limits)
  const served: Served = { packageId: '1', held: 0, image: IMAGE, earlier: new Map() }
  opened.gateway.downloadPackage = (device, request) => {
    opened.gateway.downloads.push([device.deviceName, request])
    const { packageId = served.packageId, size, chunk } = request
    const image = packageId === served.packageId ? served.image : served.earlier.get(packageId)
    if (image === undefined) return Promise.reject(Errors.NONE())
    served.held++
    const part: PackagePart = {
      ...{ packageId, title: 'fw', version: '1', fileName: 'fw', contentType: 'text/plain' },
      wholeBytes: image.length,
      bytes: size === 0 ? image : image.subarray(size * chunk, size * (chunk + 1)),
      release: () => served.held--,
    }
    return Promise.resolve(part)
  }
  try {
    await run(opened, served)
    assert.deepEqual(opened.logged, [])
  } finally {
    await opened.close()
  }
}

function seen(packets: readonly Packet[]): unknown[] {
  const publishes = packets.flatMap((packet) =>
    packet.cmd === 'publish' ? [`${packet.topic} ${packet.payload.toString()}`] : [packet.cmd],
  )
  return publishes.sort()
}

function asked({ gateway }: MqttBench): readonly PackageRequest[] {
  return gateway.downloads.map(([, request]) => request)
}

describe('packages over MQTT', () => {
  it('come in parts of the size that the payload says, which holds for the request number, of the package of its first part', () =>
    bench(async (opened, served) => {
      const device = await opened.client()
      await device.login('one')
      device.send(device.publish('v2/fw/request/7/chunk/0', '6', 1))
      device.send(device.publish('v2/fw/request/7/chunk/3', '', 2))
      device.send(device.publish('v2/sw/request/7/chunk/9', '6', 3))
      assert.deepEqual(seen(await device.received(6)), [
        'puback',
        'puback',
        'puback',
        'v2/fw/response/7/chunk/0 012345',
        'v2/fw/response/7/chunk/3 ij',
        'v2/sw/response/7/chunk/9 ',
      ])
      assert.deepEqual(asked(opened), [
        { kind: 'FIRMWARE', packageId: undefined, ...UNNAMED, size: 6, chunk: 0 },
        { kind: 'FIRMWARE', packageId: '1', ...UNNAMED, size: 6, chunk: 3 },
        { kind: 'SOFTWARE', packageId: undefined, ...UNNAMED, size: 6, chunk: 9 },
      ])
      assert.equal(served.held, 0)
    }))

  it('come whole where no size was said, within the bound', () =>
    bench(
      async ({ client }, served) => {
        const device = await client()
        await device.login('one')
        device.send(device.publish('v2/sw/request/1/chunk/0', '', 1))
        assert.deepEqual(seen(await device.received(2)), ['puback', `v2/sw/response/1/chunk/0 ${IMAGE.toString()}`])
        served.image = Buffer.concat([IMAGE, IMAGE])
        device.send(device.publish('v2/sw/request/1/chunk/0', '', 2))
        await device.end()
        assert.deepEqual(seen(device.packets.slice(2)), ['v2/sw/error PAYLOAD_TOO_LARGE'])
        assert.equal(served.held, 0)
      },
      { maxWholePackageBytes: IMAGE.length },
    ))

  it('never come as halves of two: a number goes on with the package of its first part, as long as there is one', () =>
    bench(async ({ client }, served) => {
      const device = await client()
      await device.login('one')
      const next = async (id: number, chunk: number): Promise<unknown> => {
        const { length } = device.packets
        device.send(device.publish(`v2/fw/request/${id}/chunk/${chunk}`, '6', length + 1))
        return seen((await device.received(length + 2)).slice(length))[1]
      }
      assert.equal(await next(1, 0), 'v2/fw/response/1/chunk/0 012345')
      served.earlier.set('1', IMAGE)
      Object.assign(served, { packageId: '2', image: Buffer.from('ABCDEFGHIJKL') })
      assert.equal(await next(1, 1), 'v2/fw/response/1/chunk/1 6789ab')
      assert.equal(await next(2, 0), 'v2/fw/response/2/chunk/0 ABCDEF')
      assert.equal(await next(1, 2), 'v2/fw/response/1/chunk/2 cdefgh')
      // With its first part a number begins anew.
      assert.equal(await next(1, 0), 'v2/fw/response/1/chunk/0 ABCDEF')
      assert.equal(await next(1, 1), 'v2/fw/response/1/chunk/1 GHIJKL')
      const { length } = device.packets
      served.packageId = '3'
      device.send(device.publish('v2/fw/request/1/chunk/1', '6', length + 1))
      await device.end()
      assert.deepEqual(seen(device.packets.slice(length)), ['v2/fw/error NOT_FOUND'])
    }))

  it('that are at a URL are a failure', () =>
    bench(async ({ client, gateway }) => {
      gateway.downloadPackage = () => Promise.reject(DeviceErrors.PACKAGE_ELSEWHERE())
      const device = await client()
      await device.login('one')
      device.send(device.publish('v2/fw/request/1/chunk/0', '6', 1))
      await device.end()
      assert.deepEqual(seen(device.packets), ['v2/fw/error FAILURE'])
    }))

  it('that are not there are told on the error topic, without PUBACK, before the connection ends', () =>
    bench(async ({ client, gateway }) => {
      gateway.downloadPackage = () => Promise.reject(Errors.NONE())
      for (const [version, end] of [
        [4, []],
        [5, ['disconnect']],
      ] as const) {
        const device = await client(version)
        await device.login('one')
        device.send(device.publish('v2/sw/request/1/chunk/0', '6', 1))
        await device.end()
        assert.deepEqual(seen(device.packets), [...end, 'v2/sw/error NOT_FOUND'])
      }
    }))

  it('are refused for a size that is no number or too large, and unknown for other topics', () =>
    bench(
      async (opened) => {
        for (const size of ['x', '-1', '1.5', '99999999999']) {
          const device = await opened.client()
          await device.login('one')
          device.send(device.publish('v2/fw/request/1/chunk/0', size, 1))
          await device.end()
          assert.deepEqual(seen(device.packets), [], size)
        }
        const device = await opened.client()
        await device.login('one')
        device.send(
          device.publish('v2/fw/request/x/chunk/0', '1', 1),
          device.publish('v2/fw/request/1/chunk/-1', '1', 2),
        )
        assert.deepEqual(seen(await device.received(2)), ['puback', 'puback'])
        device.send(device.publish('v2/fw/request/1/chunk/0', '4097', 3))
        await device.end()
        assert.deepEqual(seen(device.packets.slice(2)), ['v2/fw/error PAYLOAD_TOO_LARGE'])
        assert.deepEqual(asked(opened), [])
      },
      { maxPacketBytes: 4096 },
    ))

  it('are read one after the other: a client that does not read holds one, and is cut off where too many wait', () =>
    bench(
      async (opened, served) => {
        // More than the sockets take between them.
        served.image = Buffer.alloc(16 << 20)
        const device = await opened.client()
        await device.login('one')
        device.socket.pause()
        const size = '4000000'
        for (let chunk = 0; chunk < 8; chunk++) device.send(device.publish(`v2/fw/request/1/chunk/${chunk % 4}`, size))
        while (opened.gateway.downloads.length < 1) await new Promise((resolve) => setImmediate(resolve))
        for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
        assert.equal(served.held, 1)
        const read = opened.gateway.downloads.length
        assert.ok(read < 8, `${read} parts were read`)
        for (let more = 0; more < 8; more++) device.send(device.publish('v2/fw/request/1/chunk/0', size))
        while (opened.transport.figures().connections > 0) {
          // What it does not read within its time is cut off.
          opened.clock.advance(1000)
          await new Promise((resolve) => setImmediate(resolve))
        }
        assert.equal(served.held, 0)
        assert.equal(opened.gateway.downloads.length, read)
      },
      { maxPacketBytes: 5_000_000, maxPendingBytes: 64 << 20, maxQueuedPushes: 7 },
    ))

  it('are read no further while a part waits for the pushes before it, and given back where the connection ends', () =>
    bench(async (opened, served) => {
      const device = await opened.client(5)
      await device.login('one', { properties: { receiveMaximum: 1 } })
      const request = (chunk: number) => device.publish(`v2/fw/request/1/chunk/${chunk}`, '4')
      device.send(request(0), request(1), request(2), { cmd: 'pingreq' })
      // The first is not acknowledged: the second waits, the third is not read.
      await device.received(2)
      while (opened.gateway.downloads.length < 2) await new Promise((resolve) => setImmediate(resolve))
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual([opened.gateway.downloads.length, served.held], [2, 1])
      const first = device.packets.find(({ cmd }) => cmd === 'publish')
      assert.ok(first?.cmd === 'publish' && first.messageId !== undefined)
      device.send({ cmd: 'puback', messageId: first.messageId })
      await device.received(3)
      while (opened.gateway.downloads.length < 3) await new Promise((resolve) => setImmediate(resolve))
      device.send({ cmd: 'disconnect' })
      await device.end()
      while (served.held > 0) await new Promise((resolve) => setImmediate(resolve))
    }))
})
