/** Answers to an observation that come in blocks, the last of them behind a newer notification (RFC 7641, 3.4). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { OptionNumber } from '../coap-messages/codec.ts'
import type { FakeGateway } from '../testkit.ts'
import { bench, type Reply, type Request, type TestClient } from './testkit.ts'

const RESOURCES = { keyName: { '/3/0/0': 'maker', '/3/0/9': 'battery' }, telemetry: ['/3/0/0', '/3/0/9'] }
const BATTERY: Reply = { code: '2.05', format: 110, payload: '[{"n":"/3/0/9","v":5}]' }
const NEWER: Reply = { code: '2.05', format: 0, observe: 2, payload: 'newer' }
const OLDER = '0'.repeat(16)

/** Of two, 16 bytes and 3. */
function block(number: 0 | 1, observe?: number): Reply {
  return {
    ...{ code: '2.05', format: 0, payload: number === 0 ? OLDER : '111' },
    ...(observe === undefined ? {} : { observe }),
    options: [{ number: OptionNumber.BLOCK2, value: Buffer.of(number * 16 + (number === 0 ? 8 : 0)) }],
  }
}

/** The notification is stored before the rest of what it follows has come. */
async function overtake(one: TestClient, observing: Request, later: Reply): Promise<void> {
  one.reply(observing, block(0, 1))
  const rest = await one.asked()
  one.notify(observing, 900, later)
  assert.equal((await one.answerTo(900)).type, 'ACK')
  one.reply(rest, block(1))
}

function valuesOf(gateway: FakeGateway): readonly unknown[] {
  return gateway.uploads.flatMap(({ groups }) => groups.flatMap(({ entries }) => entries.map(({ value }) => value)))
}

it('one is not stored behind the notification, and what is older than that is not either', () =>
  bench({ observeAttr: { ...RESOURCES, observe: ['/3/0/0'] } }, async ({ gateway, client, transport }) => {
    const one = await client()
    await one.register('one')
    const observing = await one.asked()
    await overtake(one, observing, NEWER)
    assert.equal(await one.answerNext(BATTERY), 'GET /3/0/9')
    await gateway.uploaded(2)
    one.notify(observing, 901, { ...NEWER, observe: 1, payload: 'older' })
    assert.equal((await one.answerTo(901)).type, 'ACK')
    assert.deepEqual(valuesOf(gateway), ['newer', 5])
    assert.equal(transport.figures().observations, 1)
  }))

it('one to a call tells the caller what the client said, and is not stored', () =>
  bench({ observeAttr: RESOURCES }, async ({ gateway, client }) => {
    const one = await client()
    await one.register('one')
    await one.answerNext({ code: '4.04' })
    await one.answerNext(BATTERY)
    await gateway.uploaded(1)
    const [session] = gateway.sessionsOf('one')
    session?.listener.called?.({ id: 7, method: 'Observe', params: '{"id":"/3/0/0"}' })
    await overtake(one, await one.asked(), NEWER)
    while (session?.callAnswers.length === 0) await new Promise((resolve) => setImmediate(resolve))
    assert.match(session?.callAnswers[0]?.[1] ?? '', new RegExp(`value=${OLDER}111`))
    assert.deepEqual(valuesOf(gateway), [5, 'newer'])
  }))
