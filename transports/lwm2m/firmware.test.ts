/** Firmware over LwM2M: the package goes to the client in blocks, or its address; what the client says of it is telemetry. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OptionNumber } from '../coap-messages/codec.ts'
import type { JsonObject } from '../../model/json.ts'
import type { FakeGateway } from '../testkit.ts'
import { bench, type Request, type TestClient } from './testkit.ts'

const FIRMWARE: JsonObject = {
  observeAttr: {
    keyName: { '/5/0/3': 'state', '/5/0/5': 'result', '/5/0/6': 'name', '/5/0/7': 'version' },
    observe: ['/5/0/3', '/5/0/5'],
    telemetry: ['/5/0/3', '/5/0/5'],
    attribute: ['/5/0/6', '/5/0/7'],
  },
}
const IMAGE = Buffer.from('0123456789abcdef0123456789ABCDEFtail')
const wanted = (version: string, ...more: readonly (readonly [string, string])[]) => ({
  client: [],
  shared: [['fw_title', 'app'] as const, ['fw_version', version] as const, ...more].map(
    ([key, value]) => ({ key, type: 'STRING', value }) as const,
  ),
})

function serve(gateway: FakeGateway): void {
  gateway.downloadPackage = (_device, { title = '', version = '', size, chunk }) =>
    Promise.resolve({
      ...{ title, version, fileName: 'fw', contentType: '', wholeBytes: IMAGE.length, release: () => undefined },
      bytes: IMAGE.subarray(size * chunk, size * (chunk + 1)),
    })
}

/** Has `app 1`, idle; returns the observations of state and result. */
async function registered(client: TestClient): Promise<readonly [Request, Request]> {
  await client.register('one', [], '</>;ct="110",</5/0>')
  const pack = (path: string, value: string) => ({ code: '2.05', format: 110, payload: `[{"n":"${path}",${value}}]` })
  const state = await client.asked()
  client.reply(state, { ...pack('/5/0/3', '"v":0'), observe: 1 })
  const result = await client.asked()
  client.reply(result, { ...pack('/5/0/5', '"v":0'), observe: 1 })
  await client.answerNext(pack('/5/0/6', '"vs":"app"'))
  await client.answerNext(pack('/5/0/7', '"vs":"1"'))
  return [state, result]
}

async function says(client: TestClient, request: Request, path: string, value: number, number: number): Promise<void> {
  client.notify(request, 5000 + number, {
    ...{ code: '2.05', format: 110, observe: number, payload: `[{"n":"${path}","v":${value}}]` },
  })
  await client.answerTo(5000 + number)
}

async function takeImage(client: TestClient): Promise<Buffer> {
  const parts: Buffer[] = []
  for (;;) {
    const request = await client.asked()
    assert.match(request.text, /^PUT \/5\/0\/0 format=42/)
    parts.push(request.message.payload)
    const block = request.message.options.find(({ number }) => number === OptionNumber.BLOCK1)
    assert.ok(block !== undefined)
    const isLast = ((block.value.at(-1) ?? 0) & 8) === 0
    client.reply(request, { code: isLast ? '2.04' : '2.31', options: [block] })
    if (isLast) return Buffer.concat(parts)
  }
}

const statesOf = (gateway: FakeGateway) =>
  gateway.uploads.flatMap(({ groups }) =>
    groups.flatMap(({ entries }) => entries.flatMap(({ key, value }) => (key === 'fw_state' ? [value] : []))),
  )

describe('firmware', () => {
  it('is written in blocks, executed once it is there, and its states are told', () =>
    bench(
      FIRMWARE,
      async ({ gateway, client }) => {
        serve(gateway)
        gateway.answer = wanted('2')
        const one = await client()
        const [state, result] = await registered(one)
        assert.deepEqual(await takeImage(one), IMAGE)
        await says(one, state, '/5/0/3', 1, 2)
        await says(one, state, '/5/0/3', 2, 3)
        assert.equal(await one.answerNext({ code: '2.04' }), 'POST /5/0/2')
        await says(one, state, '/5/0/3', 3, 4)
        await says(one, result, '/5/0/5', 1, 5)
        assert.deepEqual(statesOf(gateway), ['DOWNLOADING', 'DOWNLOADED', 'UPDATING', 'UPDATED'])
      },
      { blockBytes: 16 },
    ))

  it('is tried again where the connection was lost, and not where it can not be mended', () =>
    bench(FIRMWARE, async ({ gateway, client }) => {
      serve(gateway)
      gateway.answer = wanted('2')
      const one = await client()
      const [state, result] = await registered(one)
      await takeImage(one)
      await says(one, state, '/5/0/3', 1, 2)
      await says(one, state, '/5/0/3', 0, 3)
      await says(one, result, '/5/0/5', 4, 4)
      assert.deepEqual(await takeImage(one), IMAGE)
      await says(one, result, '/5/0/5', 6, 5)
      assert.deepEqual(statesOf(gateway), ['DOWNLOADING', 'FAILED', 'FAILED'])
      const asked = one.raw.messages.length
      gateway.sessionsOf('one')[0]?.listener.sharedAttributesChanged({ kind: 'updated', entries: wanted('2').shared })
      await one.update()
      assert.equal(one.raw.messages.length, asked + 1, 'the answer to the update alone')
      gateway.answer = wanted('3')
      gateway.sessionsOf('one')[0]?.listener.sharedAttributesChanged({ kind: 'updated', entries: wanted('3').shared })
      assert.deepEqual(await takeImage(one), IMAGE)
    }))

  it('of an address is loaded from there', () =>
    bench(FIRMWARE, async ({ gateway, client }) => {
      gateway.answer = wanted('2', ['fw_url', 'coap://files/2'])
      const one = await client()
      await registered(one)
      const asked = await one.answerNext({ code: '2.04' })
      assert.equal(asked, 'PUT /5/0/1 format=110 [{"n":"/5/0/1","vs":"coap://files/2"}]')
    }))

  it('that the client has is not sent', () =>
    bench(FIRMWARE, async ({ gateway, client }) => {
      serve(gateway)
      gateway.answer = wanted('1')
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
      gateway.answer = wanted('2')
      const one = await client()
      await registered(one)
      while (statesOf(gateway).length === 0) await one.update()
      assert.deepEqual(statesOf(gateway), ['FAILED'])
    }))
})
