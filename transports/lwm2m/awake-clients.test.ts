/** Clients that sleep: when they do, what waits meanwhile, and by what they are heard. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import type { FakeGateway, FakeSession } from '../testkit.ts'
import { OptionNumber, uintBytes } from '../coap-messages/codec.ts'
import { bench, type Request, type TestClient } from './testkit.ts'

const OBSERVING: JsonObject = {
  keyName: { '/3/0/9': 'battery', '/3/0/14': 'offset' },
  ...{ observe: ['/3/0/9'], telemetry: ['/3/0/9'] },
}
const SETTINGS: readonly (readonly [string, JsonObject, readonly string[], number | undefined])[] = [
  ['PSM', { powerMode: 'PSM', psmActivityTimer: 3000 }, [], 3000],
  ["PSM, whose time is the reference's", { powerMode: 'PSM', psmActivityTimer: null }, [], 10_000],
  ['eDRX', { powerMode: 'E_DRX', pagingTransmissionWindow: 4000, psmActivityTimer: 1 }, [], 4000],
  ['queue mode of its own', { powerMode: 'DRX' }, ['Q'], 93_000],
  ['queue mode of its own, and PSM', { powerMode: 'PSM', psmActivityTimer: 3000 }, ['Q'], 3000],
  ['neither', {}, [], undefined],
]
const PROFILE_PSM: JsonObject = { powerMode: 'PSM', psmActivityTimer: 3000, pagingTransmissionWindow: 4000 }
/** Of a device whose profile has this. */
const OWN_SETTINGS: readonly (readonly [string, JsonObject, number | undefined])[] = [
  ['eDRX of its own', { powerMode: 'E_DRX', pagingTransmissionWindow: 6000 }, 6000],
  ["PSM of its own, whose time is the reference's and not its profile's", { powerMode: 'PSM' }, 10_000],
  ["PSM of its profile's with a time of its own", { powerMode: null, psmActivityTimer: 7000 }, 7000],
  ["PSM of its profile's, with a time of its own that is none", { psmActivityTimer: 0 }, 3000],
  ["PSM of its profile's, with what is nothing of its own", { powerMode: 'NEVER', psmActivityTimer: '7000' }, 3000],
  ['DRX of its own', { powerMode: 'DRX' }, undefined],
]
const OFFSET = { key: 'offset', type: 'STRING', value: '+09' } as const
const WRITTEN = 'PUT /3/0/14 format=110 [{"n":"/3/0/14","vs":"+09"}]'

describe('a client listens', () => {
  for (const [name, settings, query, expected] of SETTINGS)
    it(`${expected === undefined ? 'always' : `${expected} ms`}, with ${name}`, () =>
      bench({ clientLwM2mSettings: settings }, async ({ gateway, clock, client }) => {
        const one = await client()
        await one.register('one', [...query, 'lt=86400'])
        const session = await listening(gateway)
        clock.advance((expected ?? 1_000_000) - 1)
        assert.equal(session.listening, 'all')
        clock.advance(1)
        assert.equal(session.listening, expected === undefined ? 'all' : undefined)
      }))
})

describe('a client whose device has a power mode of its own listens', () => {
  for (const [name, own, expected] of OWN_SETTINGS)
    it(`${expected === undefined ? 'always' : `${expected} ms`}, with ${name}`, () =>
      bench({ clientLwM2mSettings: PROFILE_PSM }, async ({ gateway, clock, client }) => {
        gateway.ownLwm2m = { type: 'LWM2M', ...own }
        const one = await client()
        await one.register('one', ['lt=86400'])
        const session = await listening(gateway)
        clock.advance((expected ?? 1_000_000) - 1)
        assert.equal(session.listening, 'all')
        clock.advance(1)
        assert.equal(session.listening, expected === undefined ? 'all' : undefined)
      }))

  it('as long as it is told while it is registered', () =>
    bench({ clientLwM2mSettings: PROFILE_PSM }, async ({ gateway, clock, client }) => {
      const one = await client()
      await one.register('one', ['lt=86400'])
      const session = await listening(gateway)
      session.device = { ...session.device, ownLwm2m: { powerMode: 'E_DRX', pagingTransmissionWindow: 20_000 } }
      session.listener.refreshed?.()
      clock.advance(19_999)
      assert.equal(session.listening, 'all')
      clock.advance(1)
      assert.equal(session.listening, undefined)
    }))
})

const PSM: JsonObject = { observeAttr: OBSERVING, clientLwM2mSettings: { powerMode: 'PSM', psmActivityTimer: 5000 } }

describe('a client that sleeps', () => {
  const heardBy = (name: string, say: (one: TestClient, observing: Request) => Promise<unknown> | void): void => {
    it(`gets what it missed once it is heard, by ${name}`, () =>
      bench(PSM, async ({ gateway, clock, client }) => {
        const one = await client()
        await one.register('one', ['lt=86400'])
        const observing = await one.asked()
        one.reply(observing, { code: '2.05', format: 110, observe: 1, payload: '[{"n":"/3/0/9","v":1}]' })
        await gateway.uploaded(1)
        const session = await listening(gateway)
        clock.advance(5000)
        assert.equal(session.listening, undefined)
        session.listener.sharedAttributesChanged({ kind: 'updated', entries: [OFFSET] })
        gateway.answer = { client: [], shared: [OFFSET] }
        await say(one, observing)
        assert.equal((await one.asked()).text, WRITTEN)
        assert.equal(session.listening, 'all')
        clock.advance(5000)
        assert.equal(session.listening, undefined)
      }))
  }
  heardBy('an update', (one) => one.update())
  heardBy('a notification', (one, observing) =>
    one.notify(observing, 900, { code: '2.05', format: 110, observe: 2, payload: '[{"n":"/3/0/9","v":2}]' }, 'NON'),
  )
  heardBy('what it sends', async (one) => {
    const payload = '[{"n":"/3/0/9","v":3}]'
    const format = { number: OptionNumber.CONTENT_FORMAT, value: uintBytes(110) }
    await one.answerTo(one.raw.send({ path: '/dp', options: [format], payload }))
  })

  it('listens on while it answers', () =>
    bench({ ...PSM, observeAttr: { ...OBSERVING, observe: [] } }, async ({ gateway, clock, client }) => {
      const one = await client()
      await one.register('one', ['lt=86400'])
      const session = await listening(gateway)
      const read = await one.asked()
      clock.advance(4000)
      one.reply(read, { code: '2.05', format: 110, payload: '[{"n":"/3/0/9","v":1}]' })
      await gateway.uploaded(1)
      clock.advance(4000)
      assert.equal(session.listening, 'all')
      clock.advance(1000)
      assert.equal(session.listening, undefined)
    }))

  it('is told of its new profile once it is heard, and at once where it sleeps no more', () =>
    bench(PSM, async ({ gateway, clock, client }) => {
      const one = await client()
      await one.register('one', ['lt=86400'])
      await one.answerNext({ code: '2.05', format: 110, observe: 1, payload: '[{"n":"/3/0/9","v":1}]' })
      await gateway.uploaded(1)
      const session = await listening(gateway)
      const become = (settings: JsonObject, observed: string): void => {
        const observeAttr = { ...OBSERVING, observe: [observed] }
        session.device = { ...session.device, lwm2m: { observeAttr, clientLwM2mSettings: settings } }
        session.listener.refreshed?.()
      }
      clock.advance(5000)
      become({ powerMode: 'PSM' }, '/3/0/10')
      assert.equal(session.listening, undefined)
      const count = one.raw.messages.length
      await one.update()
      assert.equal(one.raw.messages[count]?.code, '2.04', 'nothing was asked while it slept')
      assert.equal(await one.answerNext({ code: '4.04' }), 'GET /3/0/10 observe=0')
      assert.equal(await one.answerNext({ code: '2.05', format: 110, payload: '[{"n":"/3/0/9","v":2}]' }), 'GET /3/0/9')
      await gateway.uploaded(2)
      clock.advance(10_000)
      assert.equal(session.listening, undefined)
      become({ powerMode: 'DRX' }, '/3/0/11')
      assert.equal(await one.answerNext({ code: '4.04' }), 'GET /3/0/11 observe=0')
      assert.equal(session.listening, 'all')
    }))

  it('has another time to listen once its profile says so', () =>
    bench(PSM, async ({ gateway, clock, client }) => {
      const one = await client()
      await one.register('one', ['lt=86400'])
      const session = await listening(gateway)
      session.device = { ...session.device, lwm2m: { clientLwM2mSettings: { powerMode: 'DRX' } } }
      await one.update()
      clock.advance(100_000)
      assert.equal(session.listening, 'all')
      session.device = { ...session.device, lwm2m: { clientLwM2mSettings: { powerMode: 'PSM', psmActivityTimer: 50 } } }
      await one.update()
      clock.advance(50)
      assert.equal(session.listening, undefined)
    }))
})

async function listening(gateway: FakeGateway): Promise<FakeSession> {
  const [session] = gateway.sessionsOf('one')
  assert.ok(session !== undefined)
  for (let attempt = 0; session.listening === undefined && attempt < 1000; attempt++)
    await new Promise((resolve) => setImmediate(resolve))
  assert.equal(session.listening, 'all')
  return session
}
