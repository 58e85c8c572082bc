/** The LwM2M listener, datagram by datagram: who may register, what a client is asked, what of it is stored and when it is acknowledged. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import type { FakeGateway, FakeSession } from '../testkit.ts'
import { OptionNumber } from '../coap-messages/codec.ts'
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

/** What is due now is done. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

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
      assert.equal(await one.register(''), '4.00')
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
      // It comes again: it is stored once.
      one.notify(request, 9001, { code: '2.05', format: 110, observe: 2, payload: pack('/3/0/9', '"v":91') })
      await one.update()
      // What was sent before the answer to the update has come before it.
      assert.ok(!one.raw.messages.some(({ id, type }) => type === 'ACK' && id === 9001))
      assert.equal(gateway.uploads.length, length + 1)
      gateway.uploads.at(-1)?.receipt.stored()
      assert.equal((await one.answerTo(9001)).type, 'ACK')
      // One that is older is looked past.
      one.notify(request, 9002, { code: '2.05', format: 110, observe: 1, payload: pack('/3/0/9', '"v":1') })
      assert.equal((await one.answerTo(9002)).type, 'ACK')
      assert.equal(gateway.uploads.length, length + 1)
    }))

  it('knows the types of a model that was uploaded, before anything is stored', () =>
    bench(
      { observeAttr: { keyName: { '/9001_2.0/0/1': 'level' }, telemetry: ['/9001_2.0/0/1'] } },
      async ({ gateway, transport, client }) => {
        const links = '</>;ct="110",</9001>;ver=2.0,</9001/0>'
        const one = await client()
        await one.register('one', [], links)
        await one.answerNext({ code: '2.05', format: 110, payload: pack('/9001/0/1', '"v":1') })
        await one.update()
        assert.equal(gateway.uploads.length, 0)
        assert.equal(transport.figures().untyped, 1)
        gateway.objectTypes = new Map([['9001_2.0', new Map([[1, 'Unsigned Integer']])]])
        await one.update([], links)
        await one.answerNext({ code: '2.05', format: 110, payload: pack('/9001/0/1', '"v":2') })
        await gateway.uploaded(1)
        assert.deepEqual(gateway.uploads[0]?.groups[0]?.entries, [{ key: 'level', type: 'LONG', value: 2 }])
      },
    ))

  it('writes the newest value of a shared attribute last, and what a silent client missed once it is heard', () =>
    bench(
      { observeAttr: { keyName: { '/1/0/1': 'lifetime', '/3/0/14': 'offset' } } },
      async ({ gateway, clock, client }) => {
        const lifetime = { key: 'lifetime', type: 'LONG', value: 100 } as const
        const offset = (value: string) => ({ key: 'offset', type: 'STRING', value }) as const
        const change = (value: string): void => {
          gateway.answer = { client: [], shared: [lifetime, offset(value)] }
          sessionOf(gateway).listener.sharedAttributesChanged({ kind: 'updated', entries: [offset(value)] })
        }
        gateway.answer = { client: [], shared: [lifetime, offset('+02')] }
        const one = await client()
        await one.register('one', ['lt=86400'])
        const first = await one.asked()
        change('+03')
        one.reply(first, { code: '2.04' })
        const written: string[] = []
        while (written.at(-1)?.endsWith('"+03"}]') !== true) written.push(await one.answerNext({ code: '2.04' }))
        await one.update()
        await settled()
        const puts = () => one.raw.messages.filter(({ code }) => code === '0.03').length
        assert.equal(puts(), written.length + 1, 'nothing after the newest')
        change('+04')
        const lost = await one.asked()
        for (let sent = 0; sent < 5; sent++) clock.advance(60_000)
        await one.update()
        for (;;) {
          const again = await one.asked()
          if (again.message.id === lost.message.id) continue
          assert.equal(again.text, 'PUT /3/0/14 format=110 [{"n":"/3/0/14","vs":"+04"}]')
          return
        }
      },
    ))

  it('is written what it has not, by its own word, and anew what it changed since', () =>
    bench(
      { observeAttr: { keyName: { '/3/0/14': 'offset', '/3/0/15': 'zone' }, observe: ['/3/0/14'] } },
      async ({ gateway, client }) => {
        const value = (key: string, text: string) => ({ key, type: 'STRING', value: text }) as const
        const change = (text: string): void => {
          gateway.answer = { client: [], shared: [value('offset', text)] }
          sessionOf(gateway).listener.sharedAttributesChanged({ kind: 'updated', entries: [value('offset', text)] })
        }
        gateway.answer = { client: [], shared: [value('offset', '+02'), value('zone', 'UTC')] }
        const one = await client()
        await one.register('one')
        const observing = await one.asked()
        const told = (text: string) => ({ code: '2.05', format: 110, payload: pack('/3/0/14', `"vs":"${text}"`) })
        one.reply(observing, { ...told('+02'), observe: 1 })
        assert.equal(await one.answerNext({ code: '2.04' }), 'PUT /3/0/15 format=110 [{"n":"/3/0/15","vs":"UTC"}]')
        change('+03')
        assert.equal(await one.answerNext({ code: '2.04' }), 'PUT /3/0/14 format=110 [{"n":"/3/0/14","vs":"+03"}]')
        one.notify(observing, 900, { ...told('+09'), observe: 2 })
        await one.answerTo(900)
        await settled()
        change('+03')
        assert.equal(await one.answerNext({ code: '2.04' }), 'PUT /3/0/14 format=110 [{"n":"/3/0/14","vs":"+03"}]')
      },
    ))

  it('has in its telemetry what a shared attribute made of a resource', () =>
    bench(
      { observeAttr: { keyName: { '/3/0/14': 'offset' }, telemetry: ['/3/0/14'] } },
      async ({ gateway, client }) => {
        gateway.answer = { client: [], shared: [{ key: 'offset', type: 'STRING', value: '+02' }] }
        const one = await client()
        await one.register('one')
        await one.answerNext({ code: '4.04' })
        await one.answerNext({ code: '2.04' })
        await gateway.uploaded(1)
        assert.deepEqual(gateway.uploads[0]?.groups[0]?.entries, [{ key: 'offset', type: 'STRING', value: '+02' }])
      },
    ))

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

describe('a client in queue mode', () => {
  it('gets no calls while it sleeps, and what it missed once it is heard', () =>
    bench(BATTERY, async ({ gateway, clock, client }) => {
      const one = await client()
      await one.register('one', ['Q', 'lt=86400'])
      await one.answerNext({ code: '4.04' })
      await one.answerNext({ code: '4.04' })
      assert.equal(await one.answerNext({ code: '2.04' }), 'PUT /3/0/9 pmin=5 pmax=60')
      await one.update()
      const session = sessionOf(gateway)
      assert.equal(session.listening, 'all')
      clock.advance(93_000)
      assert.equal(session.listening, undefined)
      const offset = { key: 'offset', type: 'STRING', value: '+09' } as const
      session.listener.sharedAttributesChanged({ kind: 'updated', entries: [offset] })
      gateway.answer = { client: [], shared: [offset] }
      await one.update()
      assert.equal(session.listening, 'all')
      assert.equal(await one.answerNext({ code: '2.04' }), 'PUT /3/0/14 format=110 [{"n":"/3/0/14","vs":"+09"}]')
    }))
})

describe('bodies in blocks', () => {
  const long = 'x'.repeat(1500)

  it('go to a client that has room for smaller ones', () =>
    bench(
      NOTHING,
      async ({ gateway, client }) => {
        const one = await client()
        await one.register('one', [], '</>;ct="0",</3/0>')
        await settled()
        sessionOf(gateway).listener.called?.({
          ...{ id: 1, method: 'WriteReplace' },
          params: JSON.stringify({
            id: '/3/0/14',
            value: 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ',
          }),
        })
        const bodies: string[] = []
        for (const block of [8, 40, 48]) {
          const request = await one.asked()
          bodies.push(request.message.payload.toString())
          const isLast = block === 48
          const options = [{ number: OptionNumber.BLOCK1, value: Buffer.of(block) }]
          one.reply(request, { code: isLast ? '2.04' : '2.31', options })
        }
        assert.deepEqual(bodies, ['abcdefghijklmnopqrstuvwxyz012345', '6789ABCDEFGHIJKL', 'MNOPQRSTUVWXYZ'])
      },
      { blockBytes: 32 },
    ))

  it('come from a client, and no more of them than there is room for', () =>
    bench(
      NOTHING,
      async ({ gateway, client }) => {
        const one = await client()
        await one.register('one')
        await settled()
        const read = () => sessionOf(gateway).listener.called?.({ id: 1, method: 'Read', params: '{"id":"/3/0/0"}' })
        const block = (number: number, isMore: boolean) => [
          { number: OptionNumber.BLOCK2, value: Buffer.of(number * 16 + (isMore ? 8 : 0) + 6) },
        ]
        read()
        const first = { code: '2.05', format: 0, payload: long.slice(0, 1024), options: block(0, true) }
        assert.equal(await one.answerNext(first), 'GET /3/0/0')
        await one.answerNext({ ...first, payload: long.slice(1024), options: block(1, false) })
        const answers = sessionOf(gateway).callAnswers
        while (answers.length < 1) await settled()
        assert.match(answers[0]?.[1] ?? '', new RegExp(`value=${long.slice(0, 1024)}, type=STRING`))
        read()
        await one.answerNext(first)
        await one.answerNext({ ...first, options: block(1, true) })
        await one.answerNext({ ...first, options: block(2, true) })
        while (answers.length < 2) await settled()
        assert.match(answers[1]?.[1] ?? '', /at most 2500 bytes/)
      },
      { maxPayloadBytes: 2500 },
    ))

  it('are whole where more of them come: a client is not asked for empty ones without end', () =>
    bench(NOTHING, async ({ gateway, client }) => {
      const one = await client()
      await one.register('one')
      await settled()
      const empty = (number: number) => ({
        ...{ code: '2.05', format: 0 },
        options: [{ number: OptionNumber.BLOCK2, value: Buffer.of(number * 16 + 8 + 6) }],
      })
      const answers = sessionOf(gateway).callAnswers
      sessionOf(gateway).listener.called?.({ id: 1, method: 'Read', params: '{"id":"/3/0/0"}' })
      await one.answerNext({ ...empty(0), payload: long.slice(0, 1024) })
      await one.answerNext(empty(1))
      for (let turn = 0; answers.length === 0 && turn < 1000; turn++) await settled()
      assert.match(answers[0]?.[1] ?? '', /block option/)
    }))
})

it('blocks of two answers are not put together', () =>
  bench(NOTHING, async ({ gateway, client }) => {
    const one = await client()
    await one.register('one')
    await settled()
    const answers = sessionOf(gateway).callAnswers
    const block = (number: number, isMore: boolean, etag: string) => ({
      ...{ code: '2.05', format: 0, payload: String(number).repeat(isMore ? 16 : 3) },
      options: [
        { number: OptionNumber.ETAG, value: Buffer.from(etag, 'hex') },
        { number: OptionNumber.BLOCK2, value: Buffer.of(number * 16 + (isMore ? 8 : 0)) },
      ],
    })
    for (const [second, said] of [
      ['aa', /value=00000000000000001111/],
      ['ab', /two answers/],
    ] as const) {
      sessionOf(gateway).listener.called?.({ id: 1, method: 'Read', params: '{"id":"/3/0/0"}' })
      await one.answerNext(block(0, true, 'aa'))
      const before = answers.length
      await one.answerNext(block(1, true, second))
      if (second === 'aa') await one.answerNext(block(2, false, second))
      for (let turn = 0; answers.length === before && turn < 1000; turn++) await settled()
      assert.match(answers.at(-1)?.[1] ?? '', said)
    }
  }))

it('an answer that means nothing ends what was asked, and the next is asked', () =>
  bench(NOTHING, async ({ gateway, client }) => {
    const one = await client()
    await one.register('one')
    await settled()
    const answers = sessionOf(gateway).callAnswers
    const tooManyBytes = [{ number: OptionNumber.BLOCK2, value: Buffer.alloc(4, 1) }]
    for (const wrong of [{ code: '3.01' }, { code: '2.05', format: 0, payload: 'x', options: tooManyBytes }]) {
      const before = answers.length
      sessionOf(gateway).listener.called?.({ id: 1, method: 'Read', params: '{"id":"/3/0/0"}' })
      await one.answerNext(wrong)
      for (let turn = 0; answers.length === before && turn < 1000; turn++) await settled()
      assert.match(answers.at(-1)?.[1] ?? '', /BAD_REQUEST/)
    }
  }))

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
