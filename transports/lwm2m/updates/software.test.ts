/** Software over LwM2M (object 9): as firmware, with another order of states, and what is installed makes room first. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../../model/json.ts'
import { bench, type Request, type TestClient } from '../testkit.ts'
import { answerWith, IMAGE, load, says, serve, takeImage, told, wanted } from './package.testkit.ts'

const configuration = (settings: JsonObject): JsonObject => ({
  observeAttr: {
    keyName: { '/9/0/7': 'state', '/9/0/9': 'result', '/9/0/0': 'name', '/9/0/1': 'version' },
    observe: ['/9/0/7', '/9/0/9'],
    telemetry: ['/9/0/7', '/9/0/9'],
    attribute: ['/9/0/0', '/9/0/1'],
  },
  clientLwM2mSettings: settings,
})

/** Has `app 1` in that state; returns the observations of state and result. */
async function registered(client: TestClient, stateNow = 0): Promise<readonly [Request, Request]> {
  await client.register('one', [], '</>;ct="110",</9/0>')
  const state = await answerWith(client, '/9/0/7', `"v":${stateNow}`, 1)
  const result = await answerWith(client, '/9/0/9', '"v":0', 1)
  await answerWith(client, '/9/0/0', '"vs":"app"')
  await answerWith(client, '/9/0/1', '"vs":"1"')
  return [state, result]
}

describe('software', () => {
  it('is written, installed once it is delivered, and its states are told', () =>
    bench(configuration({}), async ({ gateway, client }) => {
      serve(gateway)
      gateway.answer = wanted('sw', '2')
      const one = await client()
      const [state, result] = await registered(one)
      assert.deepEqual(await takeImage(one, '/9/0/2'), IMAGE)
      assert.equal(gateway.downloads[0]?.[1].kind, 'SOFTWARE')
      await says(one, state, '/9/0/7', 1, 2)
      await says(one, result, '/9/0/9', 1, 3)
      await says(one, state, '/9/0/7', 2, 4)
      await says(one, result, '/9/0/9', 3, 5)
      await says(one, state, '/9/0/7', 3, 6)
      assert.equal(await one.answerNext({ code: '2.04' }), 'POST /9/0/4')
      await says(one, state, '/9/0/7', 4, 7)
      await says(one, result, '/9/0/9', 2, 8)
      assert.deepEqual(told(gateway, 'sw_state'), ['DOWNLOADING', 'VERIFIED', 'DOWNLOADED', 'UPDATED'])
      const stored = ['Initial', 'DownloadStarted', 'Downloaded', 'Delivered', 'Installed']
      assert.deepEqual(told(gateway, 'state'), stored)
      const asked = one.raw.messages.length
      gateway.sessionsOf('one')[0]?.listener.sharedAttributesChanged({
        ...{ kind: 'updated', entries: wanted('sw', '2').shared },
      })
      await one.update()
      assert.equal(one.raw.messages.length, asked + 1, 'what is installed is not sent again')
    }))

  it('that is installed is made to leave before another comes', () =>
    bench(configuration({}), async ({ gateway, client }) => {
      serve(gateway)
      gateway.answer = wanted('sw', '2')
      const one = await client()
      await registered(one, 4)
      assert.equal(await one.answerNext({ code: '2.04' }), 'POST /9/0/6 format=0 1')
      assert.deepEqual(await takeImage(one, '/9/0/2'), IMAGE)
    }))

  it('is tried again three times', () =>
    bench(configuration({}), async ({ gateway, client }) => {
      serve(gateway)
      gateway.answer = wanted('sw', '2')
      const one = await client()
      const [, result] = await registered(one)
      await takeImage(one, '/9/0/2')
      for (const [index, failure] of [50, 52, 53].entries()) {
        await says(one, result, '/9/0/9', failure, index + 2)
        await takeImage(one, '/9/0/2')
      }
      await says(one, result, '/9/0/9', 58, 6)
      assert.deepEqual(told(gateway, 'sw_state'), ['FAILED'])
      assert.deepEqual(told(gateway, 'sw_error'), ['Software installation failure'])
    }))

  it('is loaded from here where the profile says so', () =>
    bench(configuration({ swUpdateStrategy: 2, swUpdateResource: 'coap://here:5685' }), async ({ gateway, client }) => {
      serve(gateway)
      gateway.answer = wanted('sw', '2')
      const one = await client()
      await registered(one)
      const text = await one.answerNext({ code: '2.04' })
      const [, found = ''] = /^PUT \/9\/0\/3 .*"vs":"([^"]+\/tbsw\/[^"]+)"/.exec(text) ?? []
      assert.deepEqual(await load(one, found), IMAGE)
    }))
})
