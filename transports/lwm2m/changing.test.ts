/** Resources that change while they are told in blocks (RFC 7959, 2.4): what was told is not put together, and nothing waits for it. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { OptionNumber } from '../coap-messages/codec.ts'
import { bench, type Reply } from './testkit.ts'

const MODEL = {
  observeAttr: { keyName: { '/3/0/0': 'maker', '/3/0/14': 'offset' }, observe: ['/3/0/0'], telemetry: ['/3/0/0'] },
}

/** Of two, 16 bytes and 3. */
function block(number: number, etag: string | undefined, observe?: number): Reply {
  const isMore = number === 0
  const named = etag === undefined ? [] : [{ number: OptionNumber.ETAG, value: Buffer.from(etag, 'hex') }]
  return {
    ...{ code: '2.05', format: 0, payload: String(number).repeat(isMore ? 16 : 3) },
    ...(observe === undefined ? {} : { observe }),
    options: [...named, { number: OptionNumber.BLOCK2, value: Buffer.of(number * 16 + (isMore ? 8 : 0)) }],
  }
}

const WHOLE = [{ key: 'maker', type: 'STRING', value: '0'.repeat(16) + '111' }]

it('one is asked for once more, and is observed then', () =>
  bench(MODEL, async ({ gateway, client, transport }) => {
    const one = await client()
    await one.register('one')
    await one.answerNext(block(0, 'aa', 1))
    await one.answerNext(block(1, 'ab'))
    assert.equal(await one.answerNext(block(0, 'ab', 2)), 'GET /3/0/0 observe=0')
    await one.answerNext(block(1, 'ab'))
    await gateway.uploaded(1)
    assert.deepEqual(gateway.uploads[0]?.groups[0]?.entries, WHOLE)
    assert.equal(transport.figures().observations, 1)
  }))

it('one that always changes is left, and the rest of the plan is done', () =>
  bench(MODEL, async ({ gateway, client }) => {
    gateway.answer = { client: [], shared: [{ key: 'offset', type: 'STRING', value: '+02' }] }
    const one = await client()
    await one.register('one')
    for (const [first, second] of [
      ['aa', 'ab'],
      ['ac', 'ad'],
    ] as const) {
      await one.answerNext(block(0, first, 1))
      await one.answerNext(block(1, second))
    }
    assert.equal(await one.answerNext({ code: '2.04' }), 'PUT /3/0/14 format=110 [{"n":"/3/0/14","vs":"+02"}]')
  }))

it('a notification of one is acknowledged: the change is told by the next', () =>
  bench(MODEL, async ({ gateway, client }) => {
    const one = await client()
    await one.register('one')
    const observing = await one.asked()
    one.reply(observing, { code: '2.05', format: 0, payload: 'x', observe: 1 })
    await gateway.uploaded(1)
    one.notify(observing, 900, block(0, 'aa', 2))
    await one.answerNext(block(1, 'ab'))
    assert.equal((await one.answerTo(900)).type, 'ACK')
    one.notify(observing, 901, block(0, 'ab', 3))
    await one.answerNext(block(1, 'ab'))
    assert.equal((await one.answerTo(901)).type, 'ACK')
    assert.deepEqual(gateway.uploads.at(-1)?.groups[0]?.entries, WHOLE)
  }))

it('one whose first block alone has an ETag is whole', () =>
  bench(MODEL, async ({ gateway, client }) => {
    const one = await client()
    await one.register('one')
    await one.answerNext(block(0, 'aa', 1))
    await one.answerNext(block(1, undefined))
    await gateway.uploaded(1)
    assert.deepEqual(gateway.uploads[0]?.groups[0]?.entries, WHOLE)
  }))
