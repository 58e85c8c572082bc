/** The LwM2M listener, datagram by datagram: who may register, what a client is asked, what of it is stored and when it is acknowledged. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import type { FakeGateway, FakeSession } from '../testkit.ts'
import { bench } from './testkit.ts'

const NOTHING: JsonObject = {}
const BATTERY: JsonObject = {
  observeAttr: {
    keyName: { '/3/0/9': 'battery', '/3/0/0': 'maker', '/3/0/14': 'offset', '/1/0/1': 'lifetime' },
    observe: ['/3/0/9'],
    telemetry: ['/3/0/9'],
    attribute: ['/3/0/0'],
    attributeLwm2m: { '/3/0/9': { pmin: 5, pmax: 60 } },
  },
}
const pack = (path: string, value: string): string => `[{"n":"${path}",${value}}]`

function sessionOf(gateway: FakeGateway): FakeSession {
  const [session, ...more] = gateway.sessionsOf('one')
  assert.ok(session !== undefined && more.length === 0, 'one session')
  return session
}

describe('a registration', () => {
  it('is a lasting session until the client ends it', () =>
    bench(NOTHING, async ({ gateway, transport, client }) => {
      const one = await client()
      assert.equal(await one.register('one'), '2.01')
      assert.equal(sessionOf(gateway).kind, 'lasting')
      assert.equal(await one.update(['lt=120']), '2.04')
      assert.equal(transport.figures().clients, 1)
      assert.equal(await one.deregister(), '2.02')
      assert.equal(gateway.sessions.size, 0)
      assert.equal(await one.update(), '4.04')
    }))

  it('is refused to who is not known, speaks another protocol or another version', () =>
    bench(NOTHING, async ({ gateway, transport, client }) => {
      const one = await client()
      assert.equal(await one.register('nobody'), '4.03')
      gateway.cold = true
      assert.equal(await one.register('nobody'), '4.03')
      assert.equal(await one.register('one', ['lwm2m=9.9']), '4.12')
      assert.equal(await one.register('one', [], '</3/0'), '4.00')
      gateway.storeFails = true
      assert.equal(await one.register('one'), '5.00')
      gateway.storeFails = false
      gateway.transportType = 'MQTT'
      assert.equal(await one.register('one'), '4.03')
      assert.equal(gateway.sessions.size, 0)
      assert.equal(transport.figures().clients, 0)
    }))

  it('takes the place of the one before, from wherever that came', () =>
    bench(NOTHING, async ({ gateway, transport, client }) => {
      const [before, after] = [await client(), await client()]
      await before.register('one')
      await after.register('one')
      sessionOf(gateway)
      assert.equal(transport.figures().clients, 1)
      assert.equal(await before.update(), '4.04')
      assert.equal(await after.update(), '2.04')
    }))

  it('ends after its lifetime, or with the session', () =>
    bench(NOTHING, async ({ gateway, clock, transport, client }) => {
      const one = await client()
      await one.register('one')
      clock.advance(50_000)
      assert.equal(await one.update(), '2.04')
      clock.advance(50_000)
      assert.equal(transport.figures().clients, 1)
      clock.advance(14_000)
      assert.equal(gateway.sessions.size, 0)
      await one.register('one')
      sessionOf(gateway).listener.closed('CREDENTIALS_CHANGED')
      assert.equal(transport.figures().clients, 0)
      assert.equal(await one.update(), '4.04')
    }))

  it('is one of a bounded number', () =>
    bench(
      NOTHING,
      async ({ client }) => {
        assert.equal(await (await client()).register('one'), '2.01')
        assert.equal(await (await client()).register('two'), '5.03')
        assert.equal(await (await client()).register('foreign'), '2.01')
      },
      { maxClientsPerTenant: 1 },
    ))

  it('of a profile that makes no sense leaves nothing behind', () =>
    bench({ observeAttr: { observe: ['nowhere'] } }, async ({ gateway, transport, client }) => {
      assert.equal(await (await client()).register('one'), '5.00')
      assert.equal(gateway.sessions.size, 0)
      assert.equal(transport.figures().clients, 0)
    }))

  it('tells strangers less than they sent', () =>
    bench(NOTHING, async ({ client }) => {
      const { raw } = await client()
      for (const path of ['/rd', '/rd/x', '/dp', '/bs', '/x']) {
        const query = path === '/rd' ? ['ep=nobody-in-particular', 'lwm2m=1.1'] : []
        const index = raw.messages.length
        raw.send({ path, query, payload: '</>;ct="110",</3/0>' })
        const { code, payload } = await raw.message(index)
        assert.match(code, /^4\./)
        assert.ok(payload.length <= 60, `${path}: ${payload.length} bytes`)
      }
    }))
})

describe('after registration', () => {
  it('is observed, read, told its notification attributes and given the shared attributes', () =>
    bench(BATTERY, async ({ gateway, client }) => {
      gateway.answer = { client: [], shared: [{ key: 'offset', type: 'STRING', value: '+02' }] }
      const one = await client()
      await one.register('one')
      const observed = { code: '2.05', format: 110, observe: 1, payload: pack('/3/0/9', '"v":90') }
      assert.equal(await one.answerNext(observed), 'GET /3/0/9 observe=0')
      const read = { code: '2.05', format: 0, payload: 'Acme' }
      assert.equal(await one.answerNext(read), 'GET /3/0/0')
      assert.equal(await one.answerNext({ code: '2.04' }), 'PUT /3/0/9 pmin=5 pmax=60')
      assert.equal(await one.answerNext({ code: '2.04' }), 'PUT /3/0/14 format=110 [{"n":"/3/0/14","vs":"+02"}]')
      assert.deepEqual(
        gateway.uploads.map(({ kind, groups }) => [kind, groups[0]?.entries]),
        [
          ['telemetry', [{ key: 'battery', type: 'LONG', value: 90 }]],
          ['attributes', [{ key: 'maker', type: 'STRING', value: 'Acme' }]],
        ],
      )
    }))

  it('acknowledges a notification once it is durable, and not what was refused', () =>
    bench(BATTERY, async ({ gateway, transport, client }) => {
      const one = await client()
      await one.register('one')
      const request = await one.asked()
      one.reply(request, { code: '2.05', format: 110, observe: 1, payload: pack('/3/0/9', '"v":90') })
      await one.asked()
      assert.equal(transport.figures().observations, 1)
      gateway.holding = true
      const { length } = gateway.uploads
      one.notify(request, 9001, { code: '2.05', format: 110, observe: 2, payload: pack('/3/0/9', '"v":91') })
      await gateway.uploaded(length + 1)
      assert.ok(!one.raw.messages.some(({ id, type }) => type === 'ACK' && id === 9001))
      // It comes again: it is stored once.
      one.notify(request, 9001, { code: '2.05', format: 110, observe: 2, payload: pack('/3/0/9', '"v":91') })
      await one.update()
      assert.equal(gateway.uploads.length, length + 1)
      gateway.uploads.at(-1)?.receipt.stored()
      assert.equal((await one.answerTo(9001)).type, 'ACK')
      // One that is older is looked past.
      one.notify(request, 9002, { code: '2.05', format: 110, observe: 1, payload: pack('/3/0/9', '"v":1') })
      assert.equal((await one.answerTo(9002)).type, 'ACK')
      assert.equal(gateway.uploads.length, length + 1)
    }))

  it('refuses notifications of nobody, and of others', () =>
    bench(BATTERY, async ({ client }) => {
      const [one, other] = [await client(), await client()]
      await one.register('one')
      const request = await one.asked()
      one.reply(request, { code: '2.05', format: 110, observe: 1, payload: pack('/3/0/9', '"v":90') })
      await one.asked()
      other.notify(request, 7001, { code: '2.05', format: 110, observe: 5, payload: pack('/3/0/9', '"v":0') })
      assert.equal((await other.answerTo(7001)).type, 'RST')
    }))

  it('asks again when a silent client is heard', () =>
    bench(BATTERY, async ({ clock, client }) => {
      const one = await client()
      await one.register('one', ['lt=86400'])
      assert.equal((await one.asked()).text, 'GET /3/0/9 observe=0')
      for (let sent = 0; sent < 5; sent++) clock.advance(60_000)
      await one.update()
      for (;;) {
        const { text, message } = await one.asked()
        if (message.id === one.raw.messages.find(({ code }) => code === '0.01')?.id) continue
        assert.equal(text, 'GET /3/0/9 observe=0')
        return
      }
    }))
})

describe('a call', () => {
  const call = async (gateway: FakeGateway, method: string, params: string) => {
    sessionOf(gateway).listener.called?.({ id: 7, method, params })
    await new Promise((resolve) => setImmediate(resolve))
  }
  const answerOf = async (gateway: FakeGateway): Promise<unknown> => {
    for (;;) {
      const [answer] = sessionOf(gateway).callAnswers
      if (answer !== undefined) return JSON.parse(answer[1])
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  it('reads', () =>
    bench(NOTHING, async ({ gateway, client }) => {
      const one = await client()
      await one.register('one')
      await call(gateway, 'Read', '{"id":"/3/0/9"}')
      const asked = await one.answerNext({ code: '2.05', format: 110, payload: pack('/3/0/9', '"v":100') })
      assert.equal(asked, 'GET /3/0/9')
      assert.deepEqual(await answerOf(gateway), {
        result: 'CONTENT',
        value: 'LwM2mSingleResource [id=9, value=100, type=INTEGER]',
      })
      assert.deepEqual(sessionOf(gateway).deliveries, [
        [7, 'SENT'],
        [7, 'DELIVERED'],
      ])
    }))

  it('executes, and writes what is then telemetry', () =>
    bench(BATTERY, async ({ gateway, client }) => {
      const one = await client()
      await one.register('one', [], '</>;ct="110",</4/0>')
      await call(gateway, 'Execute', '{"id":"/3/0/4"}')
      assert.equal(await one.answerNext({ code: '2.04' }), 'POST /3/0/4')
      assert.deepEqual(await answerOf(gateway), { result: 'CHANGED' })
    }))

  it('says what is wrong', () =>
    bench(NOTHING, async ({ gateway, client }) => {
      const one = await client()
      await one.register('one')
      await call(gateway, 'Fly', '{}')
      assert.deepEqual(await answerOf(gateway), { result: 'METHOD_NOT_ALLOWED', error: 'There is no method Fly' })
    }))

  it('says what the client says', () =>
    bench(NOTHING, async ({ gateway, client }) => {
      const one = await client()
      await one.register('one')
      await call(gateway, 'Read', '{"id":"/3/0/9"}')
      await one.answerNext({ code: '4.04' })
      assert.deepEqual(await answerOf(gateway), { result: 'NOT_FOUND', error: 'NOT_FOUND' })
    }))
})

describe('rubbish', () => {
  it('does nothing', () =>
    bench(NOTHING, async ({ transport, lines, client }) => {
      const { raw } = await client()
      for (const bytes of ['', 'ff', '40', '4f010001', '4002', 'deadbeefdeadbeef', '60450001ffff'])
        raw.sendBytes(Buffer.from(bytes, 'hex'))
      const one = await client()
      assert.equal(await one.register('one'), '2.01')
      assert.ok(transport.figures().malformed > 0)
      assert.deepEqual(lines, [])
    }))
})
