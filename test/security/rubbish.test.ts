/**
 * Ten thousand and more pieces of rubbish over HTTP and MQTT against the real program: each gets its answer, the process and its
 * neighbours live on, memory stays flat, and nothing of it is stored.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { RawClient } from '../../transports/mqtt/testkit.ts'
import { RestClient, login } from '../support/clients.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { badFilter, badPayload, badToken, badTopic, brokenPacket, randomBytes } from './rubbish.ts'

const random = seededRandom()
const WORKERS = 8
const BODY_LIMIT = 100_000
const RUBBISH_MEMORY_BYTES = 96 * 2 ** 20
const TELEMETRY = 'v1/devices/me/telemetry'
let millrace: RunningMillrace
let rest: RestClient
let neighbour: Neighbour
let pieces = 0
const deviceIds: string[] = []

/** Runs `piece` so many times, by workers that each have a device of their own. */
async function throwPieces(count: number, piece: (token: string) => Promise<void>): Promise<void> {
  let left = count
  const work = async (token: string) => {
    while (left-- > 0) {
      await piece(token)
      pieces++
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(`rubbish-${worker}`)))
}

async function call(method: string, path: string, body?: Buffer): Promise<{ status: number; text: string }> {
  const response = await fetch(millrace.url + path, { method, ...(body === undefined ? {} : { body }) })
  return { status: response.status, text: await response.text() }
}

function residentBytes(): number | undefined {
  if (process.platform !== 'linux') return undefined
  const pages = Number(readFileSync(`/proc/${millrace.pid}/statm`, 'utf8').split(' ')[1])
  return pages * 4096
}

/** A well-behaved device that goes on sending one publish after the other, each acknowledged before the next. */
class Neighbour {
  sent = 0
  private stopped = false
  private readonly running: Promise<void>
  private readonly client: RawClient

  constructor(client: RawClient) {
    this.client = client
    this.running = this.run()
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const id = (this.sent % 65_535) + 1
      this.client.send(this.client.publish(TELEMETRY, `{"ts":${this.sent + 1},"values":{"n":${this.sent}}}`, id))
      const [puback] = await this.client.received(1)
      assert.deepEqual([puback?.cmd, puback?.messageId], ['puback', id])
      this.client.packets.length = 0
      this.client.reads.length = 0
      this.sent++
    }
  }

  async stop(): Promise<void> {
    this.stopped = true
    await this.running
    this.client.socket.destroy()
  }
}

/** A connection of MQTT 5 on which many pieces are answered one by one. */
async function answered(
  token: string,
  count: number,
  send: (client: RawClient, id: number) => void,
): Promise<RawClient> {
  const client = await RawClient.open(millrace.ports['mqtt'] ?? 0, 5)
  await client.login(token)
  for (let id = 1; id <= count; id++) send(client, id)
  await client.received(count)
  client.socket.destroy()
  await client.end()
  return client
}

describe(`rubbish (seed ${random.seed}; repeat with SEED=${random.seed})`, { timeout: 600_000 }, () => {
  before(async () => {
    millrace = await startMillrace({ environment: { HTTP_TRANSPORT_MAX_PAYLOAD_SIZE: String(BODY_LIMIT) } })
    rest = new RestClient(millrace, await login(millrace))
    for (let worker = 0; worker < WORKERS; worker++) {
      deviceIds.push(await rest.createDevice(`rubbish ${worker}`, `rubbish-${worker}`))
    }
    deviceIds.push(await rest.createDevice('neighbour', 'neighbour'))
    const client = await RawClient.open(millrace.ports['mqtt'] ?? 0, 4)
    await client.login('neighbour')
    neighbour = new Neighbour(client)
  })

  after(async () => {
    await millrace.stop()
  })

  it('over HTTP as a payload is answered 400', async () => {
    await throwPieces(2500, async (token) => {
      const body = badPayload(random)
      const answer = await call('POST', `/api/v1/${token}/telemetry`, body)
      assert.equal(answer.status, 400, body.toString().slice(0, 200))
      assert.equal((JSON.parse(answer.text) as { status: number }).status, 400)
    })
  })

  it('over HTTP as a token is answered 401, as a method 405, as a path 404, as a number 400', async () => {
    await throwPieces(700, async () => {
      const token = badToken(random)
      const answer = await call('POST', `/api/v1/${encodeURIComponent(token)}/telemetry`, Buffer.from('{"a":1}'))
      assert.deepEqual([answer.status, answer.text], [401, ''], token)
    })
    await throwPieces(200, async (token) => {
      const method = random.pick(['GET', 'PUT', 'DELETE', 'PATCH'])
      assert.equal((await call(method, `/api/v1/${token}/telemetry`)).status, 405, method)
    })
    await throwPieces(200, async (token) => {
      assert.equal((await call('GET', `/api/v1/${token}/${random.between(0, 1e9)}/x`)).status, 404)
    })
    await throwPieces(100, async (token) => {
      const timeout = random.pick(['x', '-1', '1e3', '99999999999999999999', '%00', 'NaN'])
      assert.equal((await call('GET', `/api/v1/${token}/attributes/updates?timeout=${timeout}`)).status, 400, timeout)
    })
  })

  it('over HTTP as an over-long body is answered 413', async () => {
    await throwPieces(64, async (token) => {
      const body = Buffer.alloc(BODY_LIMIT + random.between(1, 100_000), 0x20)
      assert.equal((await call('POST', `/api/v1/${token}/telemetry`, body)).status, 413)
    })
  })

  it('as bytes that are no HTTP at all ends the connection', async () => {
    await throwPieces(300, async () => {
      const socket = connect(millrace.ports['http'] ?? 0, '127.0.0.1')
      socket.on('error', () => undefined)
      let text = ''
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
      const closed = once(socket, 'close')
      socket.end(Buffer.concat([randomBytes(random, random.between(1, 400)), Buffer.from('\r\n\r\n')]))
      await closed
      assert.match(text, /^(HTTP\/1\.1 [45]\d\d|$)/)
    })
  })

  it('over MQTT 5 as a payload is answered 0x99, as a topic 0x90, as a filter 0x8F', async () => {
    const each = 375
    await Promise.all(
      Array.from({ length: WORKERS }, async (_, worker) => {
        const token = `rubbish-${worker}`
        const payloads = await answered(token, each, (client, id) => {
          const packet = client.publish(TELEMETRY, '', id)
          client.send({ ...packet, payload: badPayload(random) })
        })
        for (const packet of payloads.packets) assert.equal(packet.cmd === 'puback' && packet.reasonCode, 0x99)
        const topics = await answered(token, 125, (client, id) =>
          client.send(client.publish(badTopic(random), 'x', id)),
        )
        for (const packet of topics.packets) assert.equal(packet.cmd === 'puback' && packet.reasonCode, 0x90)
        const filters = await answered(token, 50, (client, messageId) =>
          client.send({ cmd: 'subscribe', messageId, subscriptions: [{ topic: badFilter(random), qos: 1 }] }),
        )
        for (const packet of filters.packets) assert.deepEqual(packet.cmd === 'suback' && packet.granted, [0x8f])
        pieces += each + 125 + 50
      }),
    )
  })

  it('over MQTT 3.1.1 as a payload ends the connection without an acknowledgement', async () => {
    await throwPieces(300, async (token) => {
      const client = await RawClient.open(millrace.ports['mqtt'] ?? 0, 4)
      await client.login(token)
      const packet = client.publish(TELEMETRY, '', 1)
      client.send({ ...packet, payload: badPayload(random) })
      await client.end()
      assert.deepEqual(client.packets, [])
    })
  })

  it('over MQTT as a token is refused with 5 and 0x86', async () => {
    await throwPieces(700, async () => {
      const version = random.pick([4, 5] as const)
      const client = await RawClient.open(millrace.ports['mqtt'] ?? 0, version)
      client.send(client.connectPacket(badToken(random)))
      await client.end()
      const codes = client.packets.map((packet) => packet.cmd === 'connack' && (packet.reasonCode ?? packet.returnCode))
      assert.deepEqual(codes, [version === 5 ? 0x86 : 5])
    })
  })

  it('as bytes that are no MQTT at all, or broken packets, ends the connection', async () => {
    await throwPieces(500, async () => {
      const client = await RawClient.open(millrace.ports['mqtt'] ?? 0, 4)
      const bytes = randomBytes(random, random.between(1, 400))
      bytes[0] = random.pick([0x00, 0x11, 0x20, 0x30, 0x47, 0x82, 0xc0, 0xe0, 0xff])
      client.socket.write(bytes)
      await client.end()
      assert.deepEqual(client.packets, [])
    })
    await throwPieces(1200, async (token) => {
      const client = await RawClient.open(millrace.ports['mqtt'] ?? 0, 4)
      await client.login(token)
      // Whatever the broken packet began, the zeros end: they are no packet, and no packet is so long.
      client.socket.write(Buffer.concat([brokenPacket(random), Buffer.alloc(70_000)]))
      await client.end()
    })
    await throwPieces(50, async (token) => {
      const client = await RawClient.open(millrace.ports['mqtt'] ?? 0, 5)
      await client.login(token)
      client.socket.write(Buffer.from([0x30, 0xff, 0xff, random.pick([0x04, 0x7f])]))
      await client.end()
      assert.deepEqual(
        client.packets.map((packet) => packet.cmd === 'disconnect' && packet.reasonCode),
        [0x95],
      )
    })
  })

  it('a second time takes no more memory than the first', async () => {
    const start = residentBytes()
    await throwPieces(1000, async (token) => {
      await call('POST', `/api/v1/${token}/telemetry`, badPayload(random))
      await call('POST', `/api/v1/${encodeURIComponent(badToken(random))}/telemetry`, Buffer.from('{"a":1}'))
      const client = await RawClient.open(millrace.ports['mqtt'] ?? 0, 4)
      await client.login(token)
      client.socket.write(Buffer.concat([brokenPacket(random), Buffer.alloc(70_000)]))
      await client.end()
    })
    const end = residentBytes()
    if (start === undefined || end === undefined) return
    assert.ok(end - start < RUBBISH_MEMORY_BYTES, `${Math.round((end - start) / 2 ** 20)} MiB more`)
  })

  it('leaves the process, its log and its neighbours as they were, and nothing stored', async (test) => {
    await neighbour.stop()
    const [, ...rubbishIds] = [...deviceIds].reverse()
    for (const id of rubbishIds) {
      const keys = await rest.expect<string[]>('GET', `/api/plugins/telemetry/DEVICE/${id}/keys/timeseries`)
      assert.deepEqual(keys, [])
    }
    const path = `/api/plugins/telemetry/DEVICE/${deviceIds.at(-1)}/values/timeseries`
    let stored = 0
    while (stored < neighbour.sent) {
      const query = `keys=n&startTs=0&endTs=${neighbour.sent + 10}&agg=COUNT&interval=${neighbour.sent + 10}`
      const answer = await rest.expect<{ n?: { value: string }[] }>('GET', `${path}?${query}`)
      stored = Number(answer.n?.[0]?.value ?? 0)
    }
    assert.equal(stored, neighbour.sent)
    assert.doesNotMatch(millrace.log(), /unexpected|threw|failed/)
    assert.ok(pieces >= 10_000, `${pieces} pieces`)
    assert.ok(neighbour.sent > 100, `the neighbour sent ${neighbour.sent}`)
    test.diagnostic(`${pieces} pieces of rubbish, ${neighbour.sent} publishes of the neighbour acknowledged and stored`)
  })
})
