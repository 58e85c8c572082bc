/** Clients that a proxy has proven: whose registration is whose, told by what the handshake proved and by nothing else. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { systemRandom } from '../../model/system-clock.ts'
import { encodeMessage, OptionNumber, parseMessage, uintBytes, type CoapMessage } from '../coap-messages/codec.ts'
import { datagramFrame, FrameReader } from '../coap-messages/proxy/frames.ts'
import { FakeGateway, recordingLog, StandingClock } from '../testkit.ts'
import { startLwm2mTransport } from './server.ts'
import { LINKS, TestClient } from './testkit.ts'

const OPEN = 1
const SENML_JSON = 110
/** What a message and all its repetitions take, and more. */
const SILENCE_MS = 130_000
const VALUES = Buffer.from('[{"n":"/3/0/9","v":50}]')
const ONE = { kind: 'PSK', identity: 'one', keyId: 'first' }
const SAME_KEY_ELSEWHERE = { kind: 'PSK', identity: 'two', keyId: 'first' }
const LATER_KEY = { ...ONE, keyId: 'later' }
const RAW = { kind: 'RPK', key: Buffer.from('one').toString('base64') }

describe('a registration of a client that was proven', () => {
  it('is updated and ended by no other identity, nor by one without any', () =>
    bench(async ({ gateway, proxy, plain }) => {
      const one = proxy.channel(1, ONE)
      const path = await one.register('one')
      for (const [number, proven] of [SAME_KEY_ELSEWHERE, LATER_KEY, RAW].entries()) {
        const other = proxy.channel(2 + number, proven)
        assert.equal(await other.ask('0.02', path), '4.04')
        assert.equal(await other.ask('0.04', path), '4.04')
      }
      plain.registrationId = path.slice('/rd/'.length)
      assert.equal(await plain.update(), '4.04')
      assert.equal(await plain.deregister(), '4.04')
      assert.equal(gateway.sessionsOf('one').length, 1)
      // From elsewhere, and the same still.
      assert.equal(await proxy.channel(9, ONE).ask('0.02', path), '2.04')
      assert.equal(await one.ask('0.04', path), '2.02')
    }))

  it('is not one of the plain port, at the same address or with the same name', () =>
    bench(async ({ gateway, proxy, plain }) => {
      await plain.register('one')
      const proven = proxy.channel(1, ONE, { port: plain.raw.ownPort })
      assert.equal(await proven.ask('0.02', `/rd/${plain.registrationId}`), '4.04')
      assert.equal(await proven.ask('0.02', '/dp', VALUES), '4.04')
      assert.equal(gateway.uploads.length, 0)
      assert.equal(await plain.update(), '2.04')
    }))

  it('tells values by its own channel alone, also where another one has its address', () =>
    bench(async ({ gateway, proxy }) => {
      await proxy.channel(1, ONE).register('one')
      assert.equal(await proxy.channel(2, SAME_KEY_ELSEWHERE).ask('0.02', '/dp', VALUES), '4.04')
      assert.equal(gateway.uploads.length, 0)
      assert.equal(await proxy.channel(1).ask('0.02', '/dp', VALUES), '2.04')
      assert.deepEqual(
        gateway.uploads.map(({ device }) => device),
        ['one'],
      )
    }))

  it('outlives the connection of the proxy: the client is known by its identity in the next one', () =>
    bench(async ({ proxy, reconnect }) => {
      const path = await proxy.channel(1, ONE).register('one')
      const next = await reconnect()
      assert.equal(await next.channel(1, SAME_KEY_ELSEWHERE).ask('0.02', path), '4.04')
      const one = next.channel(2, ONE)
      assert.equal(await one.ask('0.02', path), '2.04')
      assert.equal(await one.ask('0.02', '/dp', VALUES), '2.04')
    }))

  it('is observed anew once its client shook hands anew, and not for another address', () =>
    bench(
      async ({ gateway, proxy, reconnect }) => {
        const one = proxy.channel(1, ONE, { handshake: 'first' })
        const path = await one.register('one')
        const { id, token } = await one.asked()
        void one.answer({ type: 'ACK', id, token, value: '50', number: 1 })
        await gateway.uploaded(1)
        const moved = proxy.channel(2, ONE, { port: 2_000, handshake: 'first' })
        for (let updates = 0; updates < 2; updates++) assert.equal(await moved.ask('0.02', path), '2.04')
        assert.equal(proxy.questions, 1)
        const same = proxy.channel(2, ONE, { port: 2_000, handshake: 'second' })
        assert.equal(await same.ask('0.02', path), '2.04')
        const again = await same.asked()
        void same.answer({ type: 'ACK', id: again.id, token: again.token, value: '51', number: 1 })
        await gateway.uploaded(2)
        assert.equal(await same.answer({ type: 'CON', id: 900, token, value: '52', number: 2 }), 'RST')
        const next = (await reconnect()).channel(1, ONE, { handshake: 'third' })
        assert.equal(await next.ask('0.02', path), '2.04')
        const last = await next.asked()
        void next.answer({ type: 'ACK', id: last.id, token: last.token, value: '53', number: 1 })
        await gateway.uploaded(3)
      },
      { observe: ['/3/0/9'] },
    ))

  it('is observed anew by values that it sends after another handshake', () =>
    bench(
      async ({ gateway, proxy }) => {
        const one = proxy.channel(1, ONE, { handshake: 'first' })
        await one.register('one')
        const { id, token } = await one.asked()
        void one.answer({ type: 'ACK', id, token, value: '50', number: 1 })
        await gateway.uploaded(1)
        const same = proxy.channel(1, ONE, { handshake: 'second' })
        assert.equal(await same.ask('0.02', '/dp', VALUES), '2.04')
        const again = await same.asked()
        assert.notDeepEqual(again.token, token)
      },
      { observe: ['/3/0/9'] },
    ))

  it('is observed anew while it was asked by a handshake that is over', () =>
    bench(
      async ({ gateway, proxy, clock }) => {
        const path = await proxy.channel(1, ONE, { handshake: 'first' }).register('one')
        const { token } = await proxy.channel(1).asked()
        const next = proxy.channel(2, ONE, { handshake: 'second' })
        assert.equal(await next.ask('0.02', path), '2.04')
        clock.advance(SILENCE_MS)
        for (;;) {
          const again = await next.asked()
          if (again.token.equals(token)) continue
          void next.answer({ type: 'ACK', id: again.id, token: again.token, value: '51', number: 1 })
          break
        }
        await gateway.uploaded(1)
      },
      { observe: ['/3/0/9'] },
    ))

  it('is heard where its client comes from elsewhere, and nobody else with its token is', () =>
    bench(
      async ({ gateway, proxy }) => {
        const one = proxy.channel(1, ONE)
        await one.register('one')
        const { id, token } = await one.asked()
        void one.answer({ type: 'ACK', id, token, value: '50', number: 1 })
        await gateway.uploaded(1)
        const other = proxy.channel(2, SAME_KEY_ELSEWHERE)
        assert.equal(await other.answer({ type: 'CON', id: 900, token, value: '51', number: 2 }), 'RST')
        const moved = proxy.channel(3, ONE)
        assert.equal(await moved.answer({ type: 'CON', id: 901, token, value: '52', number: 3 }), 'ACK')
        assert.equal(gateway.uploads.length, 2)
      },
      { observe: ['/3/0/9'] },
    ))
})

interface Bench {
  readonly gateway: FakeGateway
  readonly clock: StandingClock
  readonly plain: TestClient
  readonly proxy: Proxy
  /** The proxy that was there is gone. */
  readonly reconnect: () => Promise<Proxy>
}

async function bench(run: (bench: Bench) => Promise<void>, more: JsonObject = {}): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-proven-'))
  const dtlsProxySocket = join(folder, 'server.sock')
  const gateway = new FakeGateway(['one', 'two'])
  gateway.lwm2m = { observeAttr: { keyName: { '/3/0/9': 'battery' }, telemetry: ['/3/0/9'], ...more } }
  const clock = new StandingClock()
  const transport = await startLwm2mTransport({
    ...{ gateway, dtlsProxySocket, clock, log: recordingLog([]) },
    ...{ bindAddress: '127.0.0.1', port: 0, random: systemRandom },
  })
  let proxy = await Proxy.open(dtlsProxySocket)
  const plain = await TestClient.open(transport.port)
  const reconnect = async (): Promise<Proxy> => {
    proxy.close()
    return (proxy = await Proxy.open(dtlsProxySocket))
  }
  try {
    await run({ gateway, clock, plain, proxy, reconnect })
  } finally {
    proxy.close()
    plain.raw.close()
    await transport.close()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Observed extends Pick<CoapMessage, 'type' | 'id' | 'token'> {
  readonly value: string
  /** Of the notification. */
  readonly number: number
}

/** The other end of the socket. */
class Proxy {
  private readonly link: Socket
  private readonly reader = new FrameReader()
  private readonly answers = new Map<string, (message: CoapMessage) => void>()
  private readonly asked: CoapMessage[] = []
  private messages = 0
  /** Requests of the server so far. */
  questions = 0
  private wake = (): void => undefined

  private constructor(link: Socket) {
    this.link = link
    link.on('data', (chunk: Buffer) => {
      for (const frame of this.reader.read(chunk)) {
        const message = frame.kind === 'datagram' ? parseMessage(frame.bytes) : undefined
        if (frame.kind !== 'datagram' || message === undefined) continue
        if (message.code.startsWith('0.') && message.code !== '0.00') {
          this.questions++
          this.asked.push(message)
        } else this.answers.get(`${frame.channel} ${message.id}`)?.(message)
        this.wake()
      }
    })
  }

  static async open(path: string): Promise<Proxy> {
    const link = connect(path)
    await once(link, 'connect')
    return new Proxy(link)
  }

  /** Opened where it is said who was proven. */
  channel(channel: number, proven?: object, { port = 1_000, handshake }: { port?: number; handshake?: string } = {}) {
    if (proven !== undefined) {
      const body = Buffer.from(JSON.stringify({ channel, address: '127.0.0.1', port, proven, handshake }))
      const head = Buffer.alloc(5)
      head.writeUInt32BE(1 + body.length)
      head[4] = OPEN
      this.link.write(Buffer.concat([head, body]))
    }
    const sent = (message: CoapMessage): Promise<CoapMessage> => {
      const answer = new Promise<CoapMessage>((resolve) => this.answers.set(`${channel} ${message.id}`, resolve))
      this.link.write(datagramFrame(channel, encodeMessage(message)))
      return answer
    }
    const answerTo = (code: string, path: string, query: readonly string[], payload: Buffer): Promise<CoapMessage> => {
      const options = [
        ...segments(path).map((segment) => ({ number: OptionNumber.URI_PATH, value: Buffer.from(segment) })),
        ...(path === '/dp' ? [{ number: OptionNumber.CONTENT_FORMAT, value: uintBytes(SENML_JSON) }] : []),
        ...query.map((part) => ({ number: OptionNumber.URI_QUERY, value: Buffer.from(part) })),
      ]
      return sent({ type: 'CON', code, id: ++this.messages, token: Buffer.from([1]), options, payload })
    }
    return {
      /** The path of what was registered. */
      register: async (endpoint: string): Promise<string> => {
        const query = [`ep=${endpoint}`, 'lwm2m=1.1', 'lt=86400']
        const { code, options } = await answerTo('0.02', '/rd', query, Buffer.from(LINKS))
        assert.equal(code, '2.01')
        const location = options.filter(({ number }) => number === OptionNumber.LOCATION_PATH)
        return `/${location.map(({ value }) => value.toString()).join('/')}`
      },
      /** The code of the answer. */
      ask: async (code: string, path: string, payload: Buffer = Buffer.alloc(0)): Promise<string> =>
        (await answerTo(code, path, [], payload)).code,
      /** What the server asks next, of any channel. */
      asked: async (): Promise<CoapMessage> => {
        for (;;) {
          const message = this.asked.shift()
          if (message !== undefined) return message
          await new Promise<void>((resolve) => (this.wake = resolve))
        }
      },
      /** The observed value; the type of the message that comes back. */
      answer: async ({ type, id, token, value, number }: Observed): Promise<string> => {
        const options = [{ number: OptionNumber.OBSERVE, value: uintBytes(number) }]
        return (await sent({ type, code: '2.05', id, token, options, payload: Buffer.from(value) })).type
      },
    }
  }

  close(): void {
    this.link.destroy()
  }
}

function segments(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '')
}
