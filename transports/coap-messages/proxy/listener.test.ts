import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { recordingLog } from '../../testkit.ts'
import type { Peer } from '../message.ts'
import { FrameReader, MAX_FRAME_BYTES } from './frames.ts'
import { ProxyListener, type ProxyListenerOptions } from './listener.ts'

const OPEN = 1
const DATAGRAM = 2
const CLOSE = 3
const KEY = 4

test(
  'hears clients of a proxy with what they proved, and answers by the way they came',
  { timeout: 120_000 },
  async () => {
    await listening(async ({ link, received, next }) => {
      const proven = { kind: 'PSK', identity: 'one', keyId: 'k' }
      link.write(json(OPEN, { channel: 7, address: '10.0.0.1', port: 1234, proven }))
      link.write(frame(DATAGRAM, Buffer.from([0, 0, 0, 7, 1, 2])))
      const [datagram, peer] = await received()
      assert.deepEqual([...datagram], [1, 2])
      assert.deepEqual([peer.address, peer.port, peer.proven], ['10.0.0.1', 1234, proven])
      peer.reply?.(Buffer.from([9]))
      assert.deepEqual([...(await next())], [0, 0, 0, 6, DATAGRAM, 0, 0, 0, 7, 9])
      assert.equal(peer.handshake, undefined)
      link.write(json(OPEN, { channel: 7, address: '10.0.0.1', port: 1234, proven, handshake: '1700000000000' }))
      link.write(frame(DATAGRAM, Buffer.from([0, 0, 0, 7, 2])))
      const [, anew] = await received()
      assert.deepEqual([anew.key, anew.handshake], [peer.key, '1700000000000'])
      // Of a channel that was closed nothing is heard: the next that is heard is of the other.
      link.write(json(OPEN, { channel: 8, address: '10.0.0.2', port: 1, proven: { kind: 'ANONYMOUS' } }))
      link.write(json(CLOSE, { channel: 7 }))
      link.write(frame(DATAGRAM, Buffer.from([0, 0, 0, 7, 3])))
      link.write(frame(DATAGRAM, Buffer.from([0, 0, 0, 8, 4])))
      assert.deepEqual([...(await received())[0]], [4])
    })
  },
)

test('tells the key of an identity, and that nobody has it', { timeout: 120_000 }, async () => {
  await listening(async ({ link, next }) => {
    const answerTo = async (identity: string): Promise<unknown> => {
      link.write(json(KEY, { request: 1, identity }))
      return JSON.parse((await next()).subarray(5).toString())
    }
    assert.deepEqual(await answerTo('known'), { request: 1, key: '0102', keyId: 'id' })
    assert.deepEqual(await answerTo('nobody'), { request: 1 })
  })
})

test('answers each of a thousand handshakes that begin at once', { timeout: 120_000 }, async () => {
  const asked = 1_000
  let looking = 0
  let most = 0
  const findKey = async (): Promise<undefined> => {
    most = Math.max(most, ++looking)
    await new Promise((resolve) => setImmediate(resolve))
    looking--
  }
  await listening(async ({ link }) => {
    const frames = Array.from({ length: asked }, (_, request) => json(KEY, { request, identity: `device ${request}` }))
    link.write(Buffer.concat(frames))
    const answered = new Set<unknown>()
    let held = Buffer.alloc(0)
    for await (const chunk of link) {
      held = Buffer.concat([held, chunk as Buffer])
      while (held.length > 4 && held.length >= 4 + held.readUInt32BE(0)) {
        const end = 4 + held.readUInt32BE(0)
        answered.add((JSON.parse(held.subarray(5, end).toString()) as { request: number }).request)
        held = held.subarray(end)
      }
      if (answered.size === asked) break
    }
    assert.ok(most <= 256, `${most} at once`)
  }, findKey)
})

test('leaves a proxy that says what means nothing, and takes the next', { timeout: 120_000 }, async () => {
  await listening(async ({ link, path }) => {
    const left = once(link, 'close')
    link.resume()
    link.write(json(OPEN, { channel: -1, address: '', port: 0 }))
    await left
    const next = connect(path)
    await once(next, 'connect')
    next.destroy()
  })
})

test(
  'is for the user of the process alone, takes the place of what a killed one left, and not of a file',
  { timeout: 120_000 },
  async () => {
    await listening(async ({ path, folder }) => {
      assert.equal((await stat(path)).mode & 0o777, 0o600)
      await assert.rejects(listenerAt(path).listen(), { code: 'dtls-proxy.LISTEN_FAILED' })
      const file = join(folder, 'file')
      await writeFile(file, '')
      const left = join(folder, 'left.sock')
      const killed =
        "require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))"
      spawnSync(process.execPath, ['-e', killed, left])
      assert.ok((await stat(left)).isSocket())
      const successor = listenerAt(left)
      await successor.listen()
      await successor.close()
      await assert.rejects(listenerAt(file).listen(), { code: 'dtls-proxy.LISTEN_FAILED' })
    })
  },
)

test('reads frames however they are cut, and refuses what is no frame', () => {
  const whole = Buffer.concat([frame(DATAGRAM, Buffer.from([0, 0, 0, 1, 5])), json(CLOSE, { channel: 2 })])
  for (let cut = 0; cut <= whole.length; cut++) {
    const reader = new FrameReader()
    const frames = [...reader.read(whole.subarray(0, cut)), ...reader.read(whole.subarray(cut))]
    assert.deepEqual(
      frames.map(({ kind }) => kind),
      ['datagram', 'close'],
    )
  }
  const tooLong = Buffer.alloc(5)
  tooLong.writeUInt32BE(MAX_FRAME_BYTES + 1)
  for (const wrong of [tooLong, frame(99, Buffer.alloc(1)), frame(DATAGRAM, Buffer.alloc(3)), Buffer.alloc(5)])
    assert.throws(() => new FrameReader().read(wrong), { code: 'dtls-proxy.BAD_FRAME' })
})

interface Bench {
  readonly folder: string
  readonly path: string
  readonly link: Socket
  readonly received: () => Promise<readonly [Buffer, Peer]>
  /** The next bytes from the server. */
  readonly next: () => Promise<Buffer>
}

async function listening(
  run: (bench: Bench) => Promise<void>,
  findKey?: ProxyListenerOptions['findKey'],
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-proxy-'))
  const path = join(folder, 'server.sock')
  const heard: (readonly [Buffer, Peer])[] = []
  let wake = (): void => undefined
  const received = (datagram: Buffer, peer: Peer): void => {
    heard.push([datagram, peer])
    wake()
  }
  const listener = listenerAt(path, received, findKey)
  await listener.listen()
  const link = connect(path)
  try {
    await once(link, 'connect')
    const firstHeard = async (): Promise<readonly [Buffer, Peer]> => {
      for (;;) {
        const first = heard.shift()
        if (first !== undefined) return first
        await new Promise<void>((resolve) => (wake = resolve))
      }
    }
    const next = async (): Promise<Buffer> => {
      const [bytes] = (await once(link, 'data')) as [Buffer]
      return bytes
    }
    await run({ folder, path, link, received: firstHeard, next })
  } finally {
    link.destroy()
    await listener.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function listenerAt(
  path: string,
  received: (datagram: Buffer, peer: Peer) => void = () => undefined,
  findKey: ProxyListenerOptions['findKey'] = (identity) =>
    Promise.resolve(identity === 'known' ? { key: Buffer.from([1, 2]), keyId: 'id' } : undefined),
): ProxyListener {
  return new ProxyListener({
    ...{ path, received, findKey, label: 'LwM2M', setting: 'LWM2M_DTLS_PROXY_SOCKET', log: recordingLog([]) },
  })
}

function frame(kind: number, rest: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(1 + rest.length)
  head[4] = kind
  return Buffer.concat([head, rest])
}

function json(kind: number, value: object): Buffer {
  return frame(kind, Buffer.from(JSON.stringify(value)))
}
