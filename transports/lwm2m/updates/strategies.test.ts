/** How a package comes to a client: written, by its address at this server, or in object 19 (`device-api.md` 13.9). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../../model/json.ts'
import { bench, type Bench, type TestClient } from '../testkit.ts'
import { answerWith, IMAGE, load, says, serve, takeImage, told, wanted } from './package.testkit.ts'

const BASE = 'coap://here:5685'
const LINKS = '</>;ct="110",</5/0>,</19/0>'
const configuration = (settings: JsonObject): JsonObject => ({
  observeAttr: {
    keyName: { '/5/0/3': 'state', '/5/0/7': 'version', '/5/0/9': 'delivery' },
    observe: ['/5/0/3'],
    telemetry: ['/5/0/3'],
    attribute: ['/5/0/7', '/5/0/9'],
  },
  clientLwM2mSettings: settings,
})

async function registered(one: TestClient, delivery = 2) {
  await one.register('one', [], LINKS)
  return said(one, delivery)
}

async function said(one: TestClient, delivery = 2) {
  const state = await answerWith(one, '/5/0/3', '"v":0', 1)
  await answerWith(one, '/5/0/7', '"vs":"1"')
  await answerWith(one, '/5/0/9', `"v":${delivery}`)
  return state
}

/** The address that the client is written. */
async function address(one: TestClient): Promise<string> {
  const text = await one.answerNext({ code: '2.04' })
  const [, found = ''] = /^PUT \/5\/0\/1 format=110 .*"vs":"([^"]+)"/.exec(text) ?? []
  assert.match(found, /^coap:\/\/here:5685\/tbfw\/[\w-]{22}$/)
  return found
}

function begin({ gateway }: Bench, more: Readonly<Record<string, string>> = {}): void {
  serve(gateway)
  gateway.answer = wanted('fw', '2', more)
}

describe('the strategy of an update', () => {
  it('2 has the package at an address here, in blocks, for whoever knows it, until the update ends', () =>
    bench(configuration({ fwUpdateStrategy: 2, fwUpdateResource: `${BASE}/` }), async (place) => {
      const { gateway, client } = place
      begin(place)
      const one = await client()
      const state = await registered(one)
      const found = await address(one)
      const other = await client()
      assert.deepEqual(await load(other, found), IMAGE)
      assert.deepEqual(await load(other, found, 1024), IMAGE)
      assert.equal(gateway.downloads[0]?.[0], 'one')
      await assert.rejects(load(other, `${BASE}/tbsw${found.slice(found.lastIndexOf('/'))}`), /4\.04 $/)
      await assert.rejects(load(other, `${found}x`), /4\.04 $/)
      await says(one, state, '/5/0/3', 2, 2)
      assert.equal(await one.answerNext({ code: '5.00' }), 'POST /5/0/2')
      while (told(gateway, 'fw_error').length === 0) await one.update()
      assert.deepEqual(told(gateway, 'fw_state'), ['DOWNLOADED', 'FAILED'])
      await assert.rejects(load(other, found), /4\.04 $/)
    }))

  it('2 keeps the address for one who registers anew, and no longer than somebody asks', () =>
    bench(configuration({ fwUpdateStrategy: 2, fwUpdateResource: BASE }), async (place) => {
      begin(place)
      const one = await place.client()
      await registered(one)
      const first = await address(one)
      await registered(one)
      assert.equal(await address(one), first)
      assert.deepEqual(await load(one, first), IMAGE)
      place.clock.advance(3_600_001)
      await assert.rejects(load(one, first), /4\.04 $/)
    }))

  it('2 keeps the address for one who registers anew before it answered', () =>
    bench(configuration({ fwUpdateStrategy: 2, fwUpdateResource: BASE }), async (place) => {
      begin(place)
      const one = await place.client()
      await registered(one)
      const asked = await one.asked()
      await one.register('one', [], LINKS)
      one.reply(asked, { code: '4.00' })
      await said(one)
      const found = await address(one)
      assert.deepEqual(await load(one, found), IMAGE)
      assert.deepEqual(told(place.gateway, 'fw_state'), [])
    }))

  it('2 without an address of this server fails, and says what is missing', () =>
    bench(configuration({ fwUpdateStrategy: 2 }), async (place) => {
      begin(place)
      const one = await place.client()
      await registered(one)
      while (told(place.gateway, 'fw_error').length === 0) await one.update()
      assert.deepEqual(told(place.gateway, 'fw_error'), [
        "The profile's fwUpdateResource is empty: it is this server as clients see it",
      ])
    }))

  it('2 is for as many at once as there is room for', () =>
    bench(
      configuration({ fwUpdateStrategy: 2, fwUpdateResource: BASE }),
      async (place) => {
        begin(place)
        const one = await place.client()
        await registered(one)
        while (told(place.gateway, 'fw_state').length === 0) await one.update()
        assert.deepEqual(told(place.gateway, 'fw_state'), ['FAILED'])
      },
      { maxOfferedPackages: 0 },
    ))

  it('3 writes the package to object 19', () =>
    bench(configuration({ fwUpdateStrategy: 3 }), async (place) => {
      begin(place)
      const one = await place.client()
      await registered(one)
      assert.deepEqual(await takeImage(one, '/19/0/0'), IMAGE)
    }))

  it('yields to what the client says of how it takes packages', () =>
    bench(configuration({ fwUpdateStrategy: 1, fwUpdateResource: BASE }), async (place) => {
      begin(place)
      const one = await place.client()
      await registered(one, 0)
      await address(one)
      const settings = { fwUpdateStrategy: 2, fwUpdateResource: BASE }
      place.gateway.lwm2m = configuration(settings)
      const two = await place.client()
      await registered(two, 1)
      assert.deepEqual(await takeImage(two, '/5/0/0'), IMAGE)
    }))

  it('may tell of the package in object 19 first, in an instance that is made for it', () =>
    bench(configuration({ fwUpdateStrategy: 1, useObject19ForOtaInfo: true }), async (place) => {
      begin(place, { checksum: 'abc', size: String(IMAGE.length) })
      const one = await place.client()
      await registered(one)
      const text = await one.answerNext({ code: '2.01' })
      const [, vd = ''] = /^POST \/19 format=110 \[{"n":"\/19\/65533\/0\/0","vd":"([\w-]+)"}\]$/.exec(text) ?? []
      const json = Buffer.from(Buffer.from(vd, 'base64url').toString(), 'base64').toString()
      assert.deepEqual(JSON.parse(json), {
        ...{ title: 'app', version: '2', fileName: 'file', checksum: 'abc', dataSize: IMAGE.length },
      })
      assert.deepEqual(await takeImage(one, '/5/0/0'), IMAGE)
    }))
})
