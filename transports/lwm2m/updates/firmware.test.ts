/** Firmware over LwM2M: the package goes to the client in blocks, or its address; what the client says of it is telemetry. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OptionNumber } from '../../coap-messages/codec.ts'
import type { JsonObject } from '../../../model/json.ts'
import type { FakeGateway } from '../../testkit.ts'
import { bench, type Request, type TestClient } from '../testkit.ts'
import { answerWith, IMAGE, says, serve, takeImage, told, wanted } from './package.testkit.ts'

const FIRMWARE: JsonObject = {
  observeAttr: {
    keyName: { '/5/0/3': 'state', '/5/0/5': 'result', '/5/0/6': 'name', '/5/0/7': 'version' },
    observe: ['/5/0/3', '/5/0/5'],
    telemetry: ['/5/0/3', '/5/0/5'],
    attribute: ['/5/0/6', '/5/0/7'],
  },
}
/** Has `app 1`, idle; returns the observations of state and result. */
async function registered(client: TestClient, links = '</>;ct="110",</5/0>'): Promise<readonly [Request, Request]> {
  await client.register('one', [], links)
  const state = await answerWith(client, '/5/0/3', '"v":0', 1)
  const result = await answerWith(client, '/5/0/5', '"v":0', 1)
  await answerWith(client, '/5/0/6', '"vs":"app"')
  await answerWith(client, '/5/0/7', '"vs":"1"')
  return [state, result]
}

const statesOf = (gateway: FakeGateway) => told(gateway, 'fw_state')

describe('firmware', () => {
  it('is written in blocks, executed once it is there, and its states are told', () =>
    bench(
      FIRMWARE,
      async ({ gateway, client }) => {
        serve(gateway)
        gateway.answer = wanted('fw', '2')
        const one = await client()
        const [state, result] = await registered(one)
        assert.deepEqual(await takeImage(one, '/5/0/0'), IMAGE)
        await says(one, state, '/5/0/3', 1, 2)
        await says(one, state, '/5/0/3', 2, 3)
        assert.equal(await one.answerNext({ code: '2.04' }), 'POST /5/0/2')
        await says(one, state, '/5/0/3', 3, 4)
        await says(one, result, '/5/0/5', 1, 5)
        assert.deepEqual(statesOf(gateway), ['DOWNLOADING', 'DOWNLOADED', 'UPDATING', 'UPDATED'])
        assert.deepEqual(told(gateway, 'state'), ['Idle', 'Downloading', 'Downloaded', 'Updating'])
        assert.deepEqual(told(gateway, 'result'), ['Initial value', 'Firmware updated successfully'])
      },
      { blockBytes: 16 },
    ))

  it('is tried again where the connection was lost, and not where it can not be mended', () =>
    bench(FIRMWARE, async ({ gateway, client }) => {
      serve(gateway)
      gateway.answer = wanted('fw', '2')
      const one = await client()
      const [state, result] = await registered(one)
      await takeImage(one, '/5/0/0')
      await says(one, state, '/5/0/3', 1, 2)
      await says(one, state, '/5/0/3', 0, 3)
      await says(one, result, '/5/0/5', 4, 4)
      assert.deepEqual(await takeImage(one, '/5/0/0'), IMAGE)
      await says(one, result, '/5/0/5', 6, 5)
      assert.deepEqual(statesOf(gateway), ['DOWNLOADING', 'FAILED', 'FAILED'])
      assert.deepEqual(told(gateway, 'fw_error'), ['Unsupported package type'])
      const asked = one.raw.messages.length
      gateway
        .sessionsOf('one')[0]
        ?.listener.sharedAttributesChanged({ kind: 'updated', entries: wanted('fw', '2').shared })
      await one.update()
      assert.equal(one.raw.messages.length, asked + 1, 'the answer to the update alone')
      gateway.answer = wanted('fw', '3')
      gateway
        .sessionsOf('one')[0]
        ?.listener.sharedAttributesChanged({ kind: 'updated', entries: wanted('fw', '3').shared })
      assert.deepEqual(await takeImage(one, '/5/0/0'), IMAGE)
    }))

  it('that a restart cut off begins anew, without a block of what was before', () =>
    bench(
      FIRMWARE,
      async ({ gateway, client }) => {
        serve(gateway)
        gateway.answer = wanted('fw', '2')
        const one = await client()
        await registered(one)
        const first = await one.asked()
        assert.match(first.text, /^PUT \/5\/0\/0 format=42/)
        await one.register('one', [], '</>;ct="110",</5/0>')
        const block = first.message.options.find(({ number }) => number === OptionNumber.BLOCK1)
        assert.ok(block !== undefined)
        one.reply(first, { code: '2.31', options: [block] })
        await answerWith(one, '/5/0/3', '"v":0', 1)
        await answerWith(one, '/5/0/5', '"v":0', 1)
        await answerWith(one, '/5/0/6', '"vs":"app"')
        await answerWith(one, '/5/0/7', '"vs":"1"')
        assert.deepEqual(await takeImage(one, '/5/0/0'), IMAGE)
        assert.deepEqual(statesOf(gateway), [])
      },
      { blockBytes: 16 },
    ))

  it('of an address is loaded from there', () =>
    bench(FIRMWARE, async ({ gateway, client }) => {
      gateway.answer = wanted('fw', '2', { url: 'coap://files/2' })
      const one = await client()
      await registered(one)
      const asked = await one.answerNext({ code: '2.04' })
      assert.equal(asked, 'PUT /5/0/1 format=110 [{"n":"/5/0/1","vs":"coap://files/2"}]')
    }))

  it('that the client has is not sent', () =>
    bench(FIRMWARE, async ({ gateway, client }) => {
      serve(gateway)
      gateway.answer = wanted('fw', '1')
      const one = await client()
      await registered(one)
      const asked = one.raw.messages.length
      await one.update()
      await one.update()
      assert.equal(one.raw.messages.length, asked + 2, 'the answers to the updates alone')
      assert.deepEqual(statesOf(gateway), [])
    }))

  it('that nobody can read is a failure', () =>
    bench(FIRMWARE, async ({ gateway, client }) => {
      gateway.downloadPackage = () => Promise.reject(new Error('the store does not answer'))
      gateway.answer = wanted('fw', '2')
      const one = await client()
      await registered(one)
      while (statesOf(gateway).length === 0) await one.update()
      assert.deepEqual(statesOf(gateway), ['FAILED'])
    }))
})
