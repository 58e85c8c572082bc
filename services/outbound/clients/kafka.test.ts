import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { KafkaTarget } from '../../../engine/rulechain/capabilities/outbound.ts'
import { systemClock } from '../../../model/system-clock.ts'
import { AddressGuard } from '../address-guard.ts'
import { testOutbound } from '../testkit.ts'
import { answerCheck } from './kafka-guard.ts'
import { openKafka } from './kafka.ts'

const METADATA = 3
const SASL_HANDSHAKE = 17
const API_VERSIONS = 18
const SASL_AUTHENTICATE = 36

test('a broker that announces an endless answer fails the call', async (t) => {
  const client = await clientOf(t, () => Buffer.from([0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0]))
  await assert.rejects(client.call(RECORD, 1), /closed/i)
})

test('a broker whose words for a login make no sense fails the call, not the process', async (t) => {
  for (const words of ['', 'what', 'a=b', 'r=x,s=,i=many']) {
    const client = await clientOf(t, loginAnswers(words), true)
    await assert.rejects(client.call(RECORD, 1), (error: Error) => !/no answer within/.test(error.message))
  }
})

test('a broker that asks for endless work to log in is refused', async (t) => {
  const client = await clientOf(
    t,
    loginAnswers(({ nonce }) => `r=${nonce}1,s=c2FsdA==,i=2147483647`),
    true,
  )
  await assert.rejects(client.call(RECORD, 1), /2147483647 iterations/)
})

test('a topic is not waited for behind the end of the call', async (t) => {
  let asked = 0
  const port = await brokerOf(t, (request, apiKey) => {
    if (apiKey === METADATA) asked++
    return framed(request, apiKey === METADATA ? unknownTopic('t') : Buffer.from(ONLY_METADATA))
  })
  const abort = new AbortController()
  const after = (_delayMs: number, run: () => void) => {
    abort.abort()
    return systemClock.after(0, run)
  }
  const client = await openKafka(target(port), {
    guard: new AddressGuard(['127.0.0.0/8']),
    closing: new AbortController().signal,
    answerLimit: 1000,
    clock: { now: () => 0, monotonic: () => 0, soon: (run) => systemClock.soon(run), after },
  })
  t.after(() => client.close())
  await assert.rejects(
    client.call(RECORD, abort.signal, () => Promise.resolve()),
    /Unknown topic/,
  )
  assert.equal(asked, 1)
})

test('answers are followed through any chunks', () => {
  const whole = [0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0, 4, 1, 2, 3, 4, 0, 0, 1, 0, ...Array.from({ length: 256 }, () => 9)]
  for (let size = 1; size <= whole.length; size++) {
    const check = answerCheck(256)
    for (let at = 0; at < whole.length; at += size)
      assert.equal(check(Uint8Array.from(whole.slice(at, at + size))), undefined, `${size} at ${at}`)
  }
  for (const [bytes, reason] of [
    [[0, 0, 1, 1], /more than 256/],
    [[0x80, 0, 0, 0], /more than 256/],
    [[0, 0, 0, 3], /no answer/],
  ] as const)
    assert.match(answerCheck(256)(Uint8Array.from(bytes)) ?? '', reason)
})

const RECORD = { topic: 't', value: '{}', headers: new Map<Buffer, Buffer>() }

type Answers = (request: Buffer, apiKey: number) => Buffer

async function brokerOf(t: TestContext, answers: Answers): Promise<number> {
  const broker = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (request: Buffer) => socket.write(answers(request, request.readInt16BE(4))))
  }).listen(0, '127.0.0.1')
  await once(broker, 'listening')
  t.after(() => broker.close())
  return (broker.address() as AddressInfo).port
}

function target(port: number): KafkaTarget {
  const brokers = [{ host: '127.0.0.1', port }]
  return { brokers, clientId: 'c', acks: -1, retries: 0, tls: false, compression: 'none' }
}

async function clientOf(t: TestContext, answers: Answers, hasLogin = false) {
  const port = await brokerOf(t, answers)
  const client = testOutbound({ timeoutMs: 60_000 })
    .ofNode({ tenantId: 'a' })
    .open('kafka', {
      ...target(port),
      ...(hasLogin ? { sasl: { mechanism: 'SCRAM-SHA-256', username: 'u', password: 'p' } as const } : {}),
    })
  t.after(() => client.close())
  return client
}

/** API versions: metadata, in its oldest form but one. */
const ONLY_METADATA = [0, 0, 2, 0, METADATA, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]

/** Metadata of no broker and of one topic, of one letter. */
function unknownTopic(topic: string): Buffer {
  return Buffer.from([
    ...[0, 0, 0, 0],
    ...[0, 0, 0, 1],
    ...[0, 0, 0, 1, 0, 3, 0, 1, topic.charCodeAt(0), 0],
    ...[0, 0, 0, 0],
  ])
}

/** `words`: what the broker says first. */
function loginAnswers(words: string | ((said: { readonly nonce: string }) => string)): Answers {
  return (request, apiKey) => {
    const nonce = /r=([\w-]+)$/.exec(request.toString('latin1').replace(/\0+$/, ''))?.[1] ?? ''
    const said = Buffer.from(typeof words === 'string' ? words : words({ nonce }))
    return framed(request, bodyOf(apiKey, said))
  }
}

function bodyOf(apiKey: number, said: Buffer): Buffer {
  // One API, so that the oldest form of it is spoken.
  if (apiKey === API_VERSIONS)
    return Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 1, 0, SASL_AUTHENTICATE, 0, 0, 0, 0]), Buffer.alloc(4)])
  if (apiKey === SASL_HANDSHAKE) return Buffer.alloc(6)
  const length = Buffer.alloc(4)
  length.writeInt32BE(said.length)
  return Buffer.concat([Buffer.from([0, 0, 0xff, 0xff]), length, said])
}

function framed(request: Buffer, body: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeInt32BE(body.length + 4)
  head.writeInt32BE(request.readInt32BE(8), 4)
  return Buffer.concat([head, body])
}
