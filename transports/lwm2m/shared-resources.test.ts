/** Shared attributes against what the client said: what is not there is written, whatever was there before. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Entry } from '../../model/value.ts'
import { bench, type Bench, type TestClient } from './testkit.ts'

const LINKS = '</>;ct="110",</3/0>,</3303/0>'
const told = (path: string, value: string) => ({ code: '2.05', format: 110, payload: `[{"n":"${path}",${value}}]` })
const written = (path: string, value: string): string => `PUT ${path} format=110 [{"n":"${path}",${value}}]`

/** The attribute is this now, and the client is told. */
function change({ gateway }: Bench, entry: Entry): void {
  gateway.answer = { client: [], shared: [entry] }
  const [session] = gateway.sessionsOf('one')
  session?.listener.sharedAttributesChanged({ kind: 'updated', entries: [entry] })
}

async function registered({ client, gateway }: Bench, entry: Entry): Promise<TestClient> {
  gateway.answer = { client: [], shared: [entry] }
  const one = await client()
  await one.register('one', ['lt=86400'], LINKS)
  return one
}

const OFFSET = { observeAttr: { keyName: { '/3/0/14': 'offset' }, telemetry: ['/3/0/14'] } }
const offset = (value: string): Entry => ({ key: 'offset', type: 'STRING', value })

it('a value goes back to what it was though nobody stored the one between', () =>
  bench(OFFSET, async (place) => {
    const one = await registered(place, offset('+02'))
    await one.answerNext(told('/3/0/14', '"vs":"+02"'))
    await place.gateway.uploaded(1)
    place.gateway.holding = true
    change(place, offset('+03'))
    assert.equal(await one.answerNext({ code: '2.04' }), written('/3/0/14', '"vs":"+03"'))
    await place.gateway.uploaded(2)
    change(place, offset('+02'))
    assert.equal(await one.answerNext({ code: '2.04' }), written('/3/0/14', '"vs":"+02"'))
  }))

it('a value goes back to what it was where the client did not say whether it has the one between', () =>
  bench(OFFSET, async (place) => {
    const one = await registered(place, offset('+02'))
    await one.answerNext(told('/3/0/14', '"vs":"+02"'))
    await place.gateway.uploaded(1)
    // What it is asked after its registration is done then.
    await one.update()
    change(place, offset('+03'))
    const lost = await one.asked()
    assert.equal(lost.text, written('/3/0/14', '"vs":"+03"'))
    for (let sent = 0; sent < 5; sent++) place.clock.advance(60_000)
    place.gateway.answer = { client: [], shared: [offset('+02')] }
    await one.update()
    let next = await one.asked()
    while (next.message.id === lost.message.id) next = await one.asked()
    assert.equal(next.text, written('/3/0/14', '"vs":"+02"'))
  }))

it('floats that 4 bytes do not tell apart are two where the client has 8', () =>
  bench({ observeAttr: { keyName: { '/3303/0/5603': 'low' }, telemetry: ['/3303/0/5603'] } }, async (place) => {
    const low = (value: number): Entry => ({ key: 'low', type: 'DOUBLE', value })
    const one = await registered(place, low(1_000_000.02))
    await one.answerNext(told('/3303/0/5603', '"v":1000000.01'))
    assert.equal(await one.answerNext({ code: '2.04' }), written('/3303/0/5603', '"v":1000000.02'))
    await place.gateway.uploaded(2)
    const messages = one.raw.messages.length
    change(place, low(1_000_000.02))
    await one.update()
    assert.equal(one.raw.messages.length, messages + 1, 'the answer to the update alone')
  }))

it('one that says a float with 4 bytes has it', () =>
  bench({ observeAttr: { keyName: { '/3303/0/5603': 'low' }, telemetry: ['/3303/0/5603'] } }, async (place) => {
    const one = await registered(place, { key: 'low', type: 'DOUBLE', value: 0.1 })
    await one.answerNext(told('/3303/0/5603', `"v":${Math.fround(0.1)}`))
    await place.gateway.uploaded(1)
    const messages = one.raw.messages.length
    await one.update()
    assert.equal(one.raw.messages.length, messages + 1, 'the answer to the update alone')
  }))

it('instances that were there before do not count for those that are there', () =>
  bench(
    { observeAttr: { keyName: { '/3/0/6': 'sources' }, observe: ['/3/0/6'], telemetry: ['/3/0/6'] } },
    async (place) => {
      const sources: Entry = { key: 'sources', type: 'JSON', value: '{"0":1,"1":5}' }
      const pack = (...ids: number[]): string =>
        JSON.stringify(ids.map((id) => ({ n: `/3/0/6/${id}`, v: id === 0 ? 1 : 5 })))
      const one = await registered(place, sources)
      const observing = await one.asked()
      one.reply(observing, { code: '2.05', format: 110, payload: pack(0, 1), observe: 1 })
      one.notify(observing, 900, { code: '2.05', format: 110, payload: pack(0), observe: 2 })
      await one.answerTo(900)
      change(place, sources)
      const put = `PUT /3/0/6 format=110 ${pack(0, 1)}`
      assert.equal(await one.answerNext({ code: '2.04' }), put)
    },
  ))
