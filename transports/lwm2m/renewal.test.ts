/** Clients that come back by another way than they were observed by, and know nothing of it any more. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FakeGateway } from '../testkit.ts'
import { bench, type Bench, type Reply, type TestClient } from './testkit.ts'

const OBSERVING = { keyName: { '/3/0/9': 'battery' }, observe: ['/3/0/9'], telemetry: ['/3/0/9'] }
const PROFILE = { observeAttr: OBSERVING }
const OBSERVED = 'GET /3/0/9 observe=0'
const INTERVAL_MS = 600_000
/** What a message and all its repetitions take, and more. */
const SILENCE_MS = 130_000

const battery = (value: number, observe?: number): Reply => ({
  ...{ code: '2.05', format: 110, payload: `[{"n":"/3/0/9","v":${value}}]` },
  ...(observe === undefined ? {} : { observe }),
})

describe('a client that updates from another address', () => {
  it('is observed anew, once, and is told that nobody wants what it tells of before', () =>
    bench(PROFILE, async (bench) => {
      const { gateway, transport } = bench
      const { one, observing } = await registered(bench, 'one')
      const moved = await elsewhere(bench, one)
      const again = await moved.asked()
      assert.equal(again.text, OBSERVED)
      moved.reply(again, battery(2, 1))
      await gateway.uploaded(2)
      moved.notify(observing, 900, battery(3, 2))
      assert.equal((await moved.answerTo(900)).type, 'RST')
      moved.notify(again, 901, battery(3, 2))
      assert.equal((await moved.answerTo(901)).type, 'ACK')
      assert.deepEqual(valuesOf(gateway), [1, 2, 3])
      assert.equal(transport.figures().observations, 1)
      assert.equal(await moved.update(), '2.04')
      await moved.deregister()
      assert.equal(questionsTo(moved), 1)
    }))

  it('where it does so each time, is observed anew once in ten minutes', () =>
    bench(PROFILE, async (bench) => {
      const { clock } = bench
      const { one } = await registered(bench, 'one')
      const second = await elsewhere(bench, one)
      assert.equal(await second.answerNext(battery(2, 1)), OBSERVED)
      await bench.gateway.uploaded(2)
      const third = await elsewhere(bench, second)
      clock.advance(INTERVAL_MS - 1)
      assert.equal(await third.update(), '2.04')
      await third.answerTo(third.raw.send({ code: '0.01', path: '/nothing' }))
      assert.equal(questionsTo(third), 0)
      clock.advance(1)
      assert.equal(await third.update(), '2.04')
      assert.equal((await third.asked()).text, OBSERVED)
    }))

  it('and does not answer, is asked when it is heard again', () =>
    bench(PROFILE, async (bench) => {
      const { clock, gateway } = bench
      const { one } = await registered(bench, 'one')
      const moved = await elsewhere(bench, one)
      const { message: unanswered } = await moved.asked()
      clock.advance(SILENCE_MS)
      assert.equal(await moved.update(), '2.04')
      for (;;) {
        const again = await moved.asked()
        if (again.message.id === unanswered.id) continue
        assert.equal(again.text, OBSERVED)
        moved.reply(again, battery(2, 1))
        break
      }
      await gateway.uploaded(2)
    }))

  it('is observed anew for what a call asked for, and not read anew', () => {
    const reading = { ...OBSERVING, keyName: { '/3/0/0': 'maker' }, observe: [], telemetry: ['/3/0/0'] }
    return bench({ observeAttr: reading }, async (bench) => {
      const one = await bench.client()
      await one.register('one', ['lt=86400'])
      assert.equal(await one.answerNext({ code: '4.04' }), 'GET /3/0/0')
      const [session] = bench.gateway.sessionsOf('one')
      session?.listener.called?.({ id: 7, method: 'Observe', params: '{"id":"/3/0/9"}' })
      assert.equal(await one.answerNext(battery(1, 1)), OBSERVED)
      while (session?.callAnswers.length === 0) await new Promise((resolve) => setImmediate(resolve))
      const moved = await elsewhere(bench, one)
      assert.equal(await moved.answerNext(battery(2, 1)), OBSERVED)
      assert.equal(bench.transport.figures().observations, 1)
    })
  })

  it('and refuses, is observed no more and not asked again', () =>
    bench(PROFILE, async (bench) => {
      const { one } = await registered(bench, 'one')
      const moved = await elsewhere(bench, one)
      assert.equal(await moved.answerNext({ code: '4.05' }), OBSERVED)
      assert.equal(await moved.update(), '2.04')
      assert.equal(questionsTo(moved), 1)
      assert.equal(bench.transport.figures().observations, 0)
    }))
})

it('clients that come back at once are observed anew in turns, also those of another tenant', () =>
  bench(
    PROFILE,
    async (bench) => {
      const names = ['one', 'two', 'foreign']
      const before: TestClient[] = []
      for (const name of names) before.push((await registered(bench, name)).one)
      const moved: TestClient[] = []
      for (const each of before) moved.push(await elsewhere(bench, each))
      const [one, two, foreign] = moved
      assert.ok(one !== undefined && two !== undefined && foreign !== undefined)
      const first = await one.asked()
      assert.equal(first.text, OBSERVED)
      assert.equal((await foreign.asked()).text, OBSERVED)
      await two.answerTo(two.raw.send({ code: '0.01', path: '/nothing' }))
      assert.equal(questionsTo(two), 0)
      assert.equal(bench.transport.figures().renewalsWaiting, 1)
      one.reply(first, battery(2, 1))
      assert.equal((await two.asked()).text, OBSERVED)
    },
    { maxRenewals: 2, maxRenewalsPerTenant: 1 },
  ))

/** Observed, and its first value is stored. */
async function registered({ client, gateway }: Bench, name: string) {
  const one = await client()
  const stored = gateway.uploads.length
  await one.register(name, ['lt=86400'])
  const observing = await one.asked()
  assert.equal(observing.text, OBSERVED)
  one.reply(observing, battery(1, 1))
  await gateway.uploaded(stored + 1)
  return { one, observing }
}

/** The same client at another port, where it has updated its registration. */
async function elsewhere({ client }: Bench, { registrationId }: TestClient): Promise<TestClient> {
  const moved = await client()
  moved.registrationId = registrationId
  assert.equal(await moved.update(), '2.04')
  return moved
}

/** Requests to it so far. */
function questionsTo({ raw }: TestClient): number {
  return raw.messages.filter(({ code }) => code.startsWith('0.') && code !== '0.00').length
}

function valuesOf(gateway: FakeGateway): readonly unknown[] {
  return gateway.uploads.flatMap(({ groups }) => groups.flatMap(({ entries }) => entries.map(({ value }) => value)))
}
