import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { CLEAR, FaultyFlow } from './fault-flow.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import { seededRandom } from './seeded-random.ts'

test('bytes pass unchanged in both directions, whatever pieces the proxy makes of them', async (context) => {
  const { proxy, client } = await echoThrough(context)
  proxy.change({ largestPiece: 700 })
  const sent = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 31) % 251))
  client.end(sent)
  assert.deepEqual(await everything(client), sent)
  assert.deepEqual(proxy.carried, { toServer: sent.length, toClient: sent.length })
})

test('a delay counts for each direction by itself', async (context) => {
  const { proxy, client } = await echoThrough(context)
  proxy.change({ delayMs: 80 }, 'toServer')
  proxy.change({ delayMs: 40 }, 'toClient')
  const began = performance.now()
  client.write('late')
  await once(client, 'data')
  assert.ok(performance.now() - began >= 119, `${performance.now() - began} ms`)
})

test('a narrow line passes its bytes a second and holds back the sender', async (context) => {
  const { proxy, client } = await echoThrough(context)
  proxy.change({ bytesPerSecond: 100_000 }, 'toServer')
  const began = performance.now()
  client.end(Buffer.alloc(20_000))
  assert.equal((await everything(client)).length, 20_000)
  assert.ok(performance.now() - began >= 180, `${performance.now() - began} ms`)
})

test('what a stalled line holds arrives once it is healed', async (context) => {
  const { proxy, client } = await echoThrough(context)
  proxy.change({ stalled: true })
  client.write('held')
  let early = false
  const answer = once(client, 'data').then(([bytes]) => String(bytes))
  void answer.then(() => (early = true))
  await new Promise((wait) => setTimeout(wait, 100)) // Far longer than an echo over a good line takes.
  assert.equal(early, false)
  await proxy.heal()
  assert.equal(await answer, 'held')
})

test('a half-open connection takes bytes without an answer and is reset when the line is healed', async (context) => {
  const { proxy, client } = await echoThrough(context)
  proxy.change({ swallowing: true })
  client.on('data', () => assert.fail('an answer over a half-open connection'))
  await new Promise<void>((written) => client.write('into nothing', () => written()))
  const fresh = connect(proxy.port, '127.0.0.1')
  context.after(() => fresh.destroy())
  await once(fresh, 'connect') // New ones are taken, and as silent.
  await new Promise((wait) => setTimeout(wait, 50)) // The echo's time, and more.
  const reset = once(client, 'error')
  await proxy.heal()
  assert.equal(((await reset)[0] as NodeJS.ErrnoException).code, 'ECONNRESET')
})

test('cut resets with RST or ends with FIN', async (context) => {
  const first = await echoThrough(context)
  const reset = once(first.client, 'error')
  first.proxy.cut('reset')
  assert.equal(((await reset)[0] as NodeJS.ErrnoException).code, 'ECONNRESET')

  const second = await echoThrough(context)
  const ended = once(second.client.resume(), 'end')
  second.proxy.cut('finish')
  await ended
})

test('a connection is cut in the middle of what it carries', async (context) => {
  const { proxy, client } = await echoThrough(context)
  proxy.cutAfter(1_500, 'toClient')
  let received = 0
  client.on('data', (bytes: Buffer) => (received += bytes.length))
  client.on('error', () => undefined)
  client.write(Buffer.alloc(10_000))
  await once(client, 'close')
  assert.ok(received <= 1_500, `${received} bytes`)
  assert.equal(proxy.carried.toClient, 1_500)
})

test('refused connections are refused by the system, open ones stay, and healing takes new ones again', async (context) => {
  const { proxy, client } = await echoThrough(context)
  proxy.refuse()
  const refused = connect(proxy.port, '127.0.0.1')
  assert.equal(
    ((await once(refused, 'error').catch((error: unknown) => [error]))[0] as NodeJS.ErrnoException).code,
    'ECONNREFUSED',
  )
  client.write('still here')
  assert.equal(String((await once(client, 'data'))[0]), 'still here')
  await proxy.heal()
  const fresh = connect(proxy.port, '127.0.0.1')
  await once(fresh, 'connect')
  fresh.destroy()
})

test('one seed makes the same pieces', async () => {
  const [first, again, other] = [await piecesOf(7), await piecesOf(7), await piecesOf(8)]
  assert.deepEqual(again, first)
  assert.notDeepEqual(other, first)
  assert.ok(first.length > 6, `${first.length} pieces of at most 100 bytes for 600`)
})

test('the address keeps user, database and scheme', async (context) => {
  const proxy = await startFaultProxy({ target: 'postgres://postgres@127.0.0.1:5432/millrace' })
  context.after(() => proxy.close())
  assert.equal(proxy.url, `postgres://postgres@127.0.0.1:${proxy.port}/millrace`)
  const other = await startFaultProxy({ target: 'nats://127.0.0.1:4222' })
  context.after(() => other.close())
  assert.equal(other.url, `nats://127.0.0.1:${other.port}`)
})

async function piecesOf(seed: number): Promise<number[]> {
  const sizes: number[] = []
  const random = seededRandom(seed)
  const [from, to] = [new PassThrough(), new PassThrough()]
  const flow = new FaultyFlow(from, to, {
    weather: () => ({ ...CLEAR, largestPiece: 100 }),
    random: () => random.next(),
    allowed: (bytes) => {
      sizes.push(bytes)
      return bytes
    },
    cut: () => assert.fail('cut though all may pass'),
  })
  from.end(Buffer.alloc(600))
  await once(to.resume(), 'end')
  assert.equal(flow.hasHole, false)
  return sizes
}

async function echoThrough(context: TestContext): Promise<{ proxy: FaultProxy; client: Socket }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = await startFaultProxy({ target: `127.0.0.1:${(server.address() as AddressInfo).port}` })
  const client = connect(proxy.port, '127.0.0.1')
  await once(client, 'connect')
  context.after(async () => {
    client.destroy()
    await proxy.close()
    assert.equal(proxy.connections, 0)
    server.close()
  })
  return { proxy, client }
}

async function everything(socket: Socket): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of socket) parts.push(part as Buffer)
  return Buffer.concat(parts)
}
