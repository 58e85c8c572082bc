/** Requests for several paths at once, on the wire: what a profile groups, what is stored of it, and calls. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { OptionNumber } from '../coap-messages/codec.ts'
import { blockBytes } from '../coap-messages/message.ts'
import type { FakeGateway, FakeSession } from '../testkit.ts'
import { answeredText } from './answer-text.ts'
import type { ValueRecord } from './codecs/records.ts'
import { bench, type TestClient } from './testkit.ts'

const GROUPED: JsonObject = {
  observeAttr: {
    keyName: { '/3/0/9': 'battery', '/3/0/10': 'memory', '/3/0/0': 'maker', '/3/0/1': 'model' },
    ...{ observe: ['/3/0/9', '/3/0/10'], telemetry: ['/3/0/9', '/3/0/10'], attribute: ['/3/0/0', '/3/0/1'] },
    ...{ observeStrategy: 'COMPOSITE_ALL', initAttrTelAsObsStrategy: true },
  },
}
const FORMAT = 110
const BATTERY_MEMORY = '[{"n":"/3/0/9"},{"n":"/3/0/10"}]'
const VALUES = '[{"n":"/3/0/9","v":50},{"n":"/3/0/10","v":7}]'

it('what a profile groups is observed and read by one request each, and all of a notification is stored', () =>
  bench(GROUPED, async ({ gateway, transport, client }) => {
    const one = await client()
    await one.register('one')
    const observing = await one.asked()
    assert.equal(observing.text, `FETCH / observe=0 format=110 ${BATTERY_MEMORY}`)
    one.reply(observing, { code: '2.05', format: FORMAT, observe: 1, payload: VALUES })
    const read = '[{"n":"/3/0/0","vs":"Acme"},{"n":"/3/0/1","vs":"M"}]'
    assert.equal(
      await one.answerNext({ code: '2.05', format: FORMAT, payload: read }),
      'FETCH / format=110 [{"n":"/3/0/0"},{"n":"/3/0/1"}]',
    )
    await gateway.uploaded(2)
    assert.deepEqual(stored(gateway, 0), { battery: 50, memory: 7 })
    assert.deepEqual(stored(gateway, 1), { maker: 'Acme', model: 'M' })
    assert.equal(transport.figures().observations, 1)

    gateway.holding = true
    one.notify(observing, 900, { code: '2.05', format: FORMAT, observe: 2, payload: VALUES.replace('50', '51') })
    await gateway.uploaded(3)
    assert.deepEqual(stored(gateway, 2), { battery: 51, memory: 7 })
    const isAcknowledged = () => one.raw.messages.some(({ id, type }) => id === 900 && type === 'ACK')
    assert.equal(isAcknowledged(), false)
    gateway.uploads[2]?.receipt.stored()
    await one.answerTo(900)
    assert.equal(isAcknowledged(), true)
  }))

it('what a client does not tell together is observed one by one', () =>
  bench(GROUPED, async ({ transport, client }) => {
    const one = await client()
    await one.register('one')
    await one.answerNext({ code: '4.05' })
    for (const id of [9, 10]) {
      const answer = { code: '2.05', format: FORMAT, observe: 1, payload: `[{"n":"/3/0/${id}","v":1}]` }
      assert.equal(await one.answerNext(answer), `GET /3/0/${id} observe=0`)
    }
    assert.match((await one.asked()).text, /^FETCH \/ format=110/)
    assert.equal(transport.figures().observations, 2)
  }))

it('calls read, write and observe several paths, and end that', () =>
  bench({}, async ({ gateway, transport, client }) => {
    const one = await client()
    await one.register('one')
    const ids = '{"ids":["/3/0/9","/3/0/10"]}'
    const both =
      '{/3/0/9=LwM2mSingleResource [id=9, value=50, type=INTEGER], /3/0/10=LwM2mSingleResource [id=10, value=7, type=INTEGER]}'
    const told = { code: '2.05', format: FORMAT, payload: VALUES }
    assert.deepEqual(await called(gateway, one, 'ReadComposite', ids, told), [
      `FETCH / format=110 ${BATTERY_MEMORY}`,
      { result: 'CONTENT', value: both },
    ])
    const part = { ...told, payload: '[{"n":"/3/0/9","v":50}]' }
    const [, { value }] = await called(gateway, one, 'ReadComposite', ids, part)
    assert.equal(value, '{/3/0/9=LwM2mSingleResource [id=9, value=50, type=INTEGER], /3/0/10=null}')
    assert.deepEqual(await called(gateway, one, 'WriteComposite', '{"nodes":{"/3/0/14":"+04"}}', { code: '2.04' }), [
      'iPATCH / format=110 [{"n":"/3/0/14","vs":"+04"}]',
      { result: 'CHANGED' },
    ])
    const [asked, observed] = await called(gateway, one, 'ObserveComposite', ids, { ...told, observe: 4 })
    assert.deepEqual(
      [asked, observed],
      [`FETCH / observe=0 format=110 ${BATTERY_MEMORY}`, { result: 'CONTENT', value: both }],
    )
    assert.deepEqual(await called(gateway, one, 'ObserveReadAll', ''), [
      undefined,
      { result: 'CONTENT', value: '["CompositeObservation:[/3/0/10, /3/0/9]"]' },
    ])
    // Its paths together are what is observed, none alone.
    assert.deepEqual(await called(gateway, one, 'ObserveCancel', '{"id":"/3/0/9"}'), [
      undefined,
      { result: 'CONTENT', value: '0' },
    ])
    const reversed = '{"ids":["/3/0/10","/3/0/9"]}'
    assert.deepEqual(await called(gateway, one, 'ObserveCompositeCancel', reversed, told), [
      `FETCH / observe=1 format=110 ${BATTERY_MEMORY}`,
      { result: 'CONTENT', value: '1' },
    ])
    assert.equal(transport.figures().observations, 0)
  }))

it('what is told in blocks is asked for with its paths each time', () =>
  bench({}, async ({ gateway, client }) => {
    const one = await client()
    await one.register('one')
    for (let attempt = 0; sessionOf(gateway).listening === undefined && attempt < 1000; attempt++) await turn()
    sessionOf(gateway).listener.called?.({ id: 0, method: 'ReadComposite', params: '{"ids":["/3/0/9","/3/0/10"]}' })
    const part = (number: number, isMore: boolean) => ({
      ...{ code: '2.05', format: FORMAT, payload: VALUES.slice(16 * number, isMore ? 16 * (number + 1) : undefined) },
      options: [{ number: OptionNumber.BLOCK2, value: blockBytes({ number, isMore, size: 16 }) }],
    })
    const asked = `FETCH / format=110 ${BATTERY_MEMORY}`
    for (const [number, isMore] of [true, true, false].entries())
      assert.equal(await one.answerNext(part(number, isMore)), asked)
    for (let attempt = 0; sessionOf(gateway).callAnswers.length === 0 && attempt < 1000; attempt++) await turn()
    assert.match(sessionOf(gateway).callAnswers[0]?.[1] ?? '', /value=50.*value=7/)
  }))

it('what is observed by a request in blocks is told all the same', () =>
  bench(
    GROUPED,
    async ({ gateway, transport, client }) => {
      const one = await client()
      await one.register('one')
      let asked = await one.asked()
      for (const [number, isMore] of [true, false].entries()) {
        assert.match(asked.text, /^FETCH \/ observe=0 format=110/)
        const options = [{ number: OptionNumber.BLOCK1, value: blockBytes({ number, isMore, size: 16 }) }]
        if (!isMore) break
        one.reply(asked, { code: '2.31', options })
        asked = await one.asked()
      }
      one.reply(asked, { code: '2.05', format: FORMAT, observe: 1, payload: VALUES })
      await gateway.uploaded(1)
      assert.equal(transport.figures().observations, 1)
      one.notify(asked, 900, { code: '2.05', format: FORMAT, observe: 2, payload: VALUES.replace('50', '51') })
      assert.equal((await one.answerTo(900)).type, 'ACK')
      assert.deepEqual(stored(gateway, 1), { battery: 51, memory: 7 })
    },
    { blockBytes: 16 },
  ))

it('is put together with a look or two at each value, however many paths were named', () => {
  let looks = 0
  const records = Array.from({ length: 500 }, (_, id): ValueRecord => ({
    get path() {
      looks++
      return [3, 0, id]
    },
    value: { kind: 'number', value: id },
  }))
  const paths = [[], [3], [3, 0], [3, 1], ...Array.from({ length: 500 }, (_, id) => [3, 0, id])]
  const text = answeredText(records, { path: [], paths }, () => ({ type: 'INTEGER' }))
  assert.match(text, /\/3\/1=null, \/3\/0\/0=LwM2mSingleResource \[id=0, value=0, type=INTEGER\], /)
  assert.equal(text.match(/value=499,/g)?.length, 4)
  assert.ok(looks < 100 * records.length, `${looks} looks`)
})

function stored(gateway: FakeGateway, index: number): Record<string, unknown> {
  const entries = gateway.uploads[index]?.groups.flatMap((group) => group.entries) ?? []
  return Object.fromEntries(entries.map(({ key, value }) => [key, value]))
}

function sessionOf(gateway: FakeGateway): FakeSession {
  const [session] = gateway.sessionsOf('one')
  assert.ok(session !== undefined)
  return session
}

/** What the client was asked, undefined where nothing; and what the caller hears. */
async function called(
  gateway: FakeGateway,
  client: TestClient,
  method: string,
  params: string,
  reply?: Parameters<TestClient['reply']>[1],
): Promise<[string | undefined, { result?: string; value?: string }]> {
  const session = sessionOf(gateway)
  const before = session.callAnswers.length
  for (let attempt = 0; session.listening === undefined && attempt < 1000; attempt++) await turn()
  session.listener.called?.({ id: before, method, params })
  const asked = reply === undefined ? undefined : await client.answerNext(reply)
  for (;;) {
    const answer = session.callAnswers[before]
    if (answer !== undefined) return [asked, JSON.parse(answer[1]) as { result?: string; value?: string }]
    await turn()
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
