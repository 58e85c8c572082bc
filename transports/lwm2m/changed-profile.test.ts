/** A profile that changes while its clients are registered. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { bench } from './testkit.ts'

const observing = (id: number): JsonObject => ({
  observeAttr: { keyName: { [`/3/0/${id}`]: `key ${id}` }, observe: [`/3/0/${id}`], telemetry: [`/3/0/${id}`] },
})

it('what it names now is observed at once, what it names no more is let go, and what stayed is asked for by nobody', () =>
  bench(observing(9), async ({ gateway, transport, client }) => {
    const one = await client()
    await one.register('one')
    const before = await one.asked()
    one.reply(before, { code: '2.05', format: 110, observe: 1, payload: '[{"n":"/3/0/9","v":1}]' })
    await gateway.uploaded(1)
    const [session] = gateway.sessionsOf('one')
    assert.ok(session !== undefined)
    session.listener.refreshed?.()
    session.device = { ...session.device, lwm2m: observing(10) }
    session.listener.refreshed?.()
    const after = await one.asked()
    assert.equal(after.text, 'GET /3/0/10 observe=0')
    one.reply(after, { code: '2.05', format: 110, observe: 1, payload: '[{"n":"/3/0/10","v":2}]' })
    await gateway.uploaded(2)
    assert.deepEqual(gateway.uploads[1]?.groups[0]?.entries[0]?.key, 'key 10')
    assert.equal(transport.figures().observations, 1)
    one.notify(before, 900, { code: '2.05', format: 110, observe: 2, payload: '[{"n":"/3/0/9","v":3}]' })
    assert.equal((await one.answerTo(900)).type, 'RST')
    // One that can not be leaves it as it was.
    session.device = { ...session.device, lwm2m: { observeAttr: { observe: ['x'] } } }
    session.listener.refreshed?.()
    one.notify(after, 901, { code: '2.05', format: 110, observe: 2, payload: '[{"n":"/3/0/10","v":4}]' })
    assert.equal((await one.answerTo(901)).type, 'ACK')
    assert.equal(gateway.uploads.length, 3)
  }))

it('one that says the same to a client, though it was saved, has it asked for nothing', () => {
  const reading = (id: number): JsonObject => ({
    observeAttr: { keyName: { [`/3/0/${id}`]: `key ${id}` }, telemetry: [`/3/0/${id}`] },
  })
  return bench(reading(9), async ({ gateway, client }) => {
    const one = await client()
    await one.register('one')
    await one.answerNext({ code: '2.05', format: 110, payload: '[{"n":"/3/0/9","v":1}]' })
    await gateway.uploaded(1)
    const [session] = gateway.sessionsOf('one')
    assert.ok(session !== undefined)
    await turns()
    for (const id of [9, 10]) {
      session.device = { ...session.device, lwm2m: reading(id) }
      session.listener.refreshed?.()
      await turns()
    }
    assert.equal((await one.asked()).text, 'GET /3/0/10')
  })
})

/** For what is under way without a message to it. */
async function turns(): Promise<void> {
  for (let count = 0; count < 20; count++) await new Promise((resolve) => setImmediate(resolve))
}
