/** Properties of what an MQTT 5 client sends beside its publishes, byte by byte: one that may not stand there, or stands there twice, ends the connection. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openMqttBench, type RawClient } from './testkit.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

const FLAGS = { USER: 0x80, CLEAN: 2, WILL: 4 } as const

/** With a length before it. */
function counted(bytes: Buffer | string): Buffer {
  const body = Buffer.from(bytes)
  return Buffer.concat([Buffer.of(body.length >> 8, body.length & 0xff), body])
}

function packet(first: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  assert.ok(body.length < 128)
  return Buffer.concat([Buffer.of(first, body.length), body])
}

function properties(text: string): Buffer {
  const bytes = hex(text)
  return Buffer.concat([Buffer.of(bytes.length), bytes])
}

function connect(sent: string, will?: string, more = 0): Buffer {
  const flags = FLAGS.USER | FLAGS.CLEAN | (will === undefined ? 0 : FLAGS.WILL) | more
  const ofWill = will === undefined ? [] : [properties(will), counted('bye'), counted('{}')]
  const head = [counted('MQTT'), Buffer.of(5, flags, 0, 60)]
  return packet(0x10, ...head, properties(sent), counted('id'), ...ofWill, counted('one'))
}

const ATTRIBUTES = counted('v1/devices/me/attributes')
const ID = Buffer.of(0, 9)
const PAIR = '26 0001 61 0001 62'

async function bench(run: (client: RawClient) => Promise<void>): Promise<void> {
  const opened = await openMqttBench()
  try {
    await run(await opened.client(5))
    assert.deepEqual(opened.logged, [])
  } finally {
    await opened.close()
  }
}

/** What it was told last. */
async function ended(client: RawClient): Promise<unknown> {
  await client.end()
  const last = client.packets.at(-1)
  return last?.cmd === 'disconnect' ? last.reasonCode : last?.cmd
}

describe('a CONNECT', () => {
  const TAKEN: readonly (readonly [name: string, bytes: Buffer])[] = [
    ['without any', connect('')],
    ['with all of them', connect(`11 0000000a 21 0005 27 00001000 22 0003 19 01 17 00 ${PAIR} ${PAIR}`)],
    ['with those of a will', connect('', `18 00000001 01 01 02 00000005 03 0001 61 08 0001 62 09 0001 63 ${PAIR}`)],
  ]
  for (const [name, bytes] of TAKEN) {
    it(`is taken ${name}`, () =>
      bench(async (client) => {
        client.socket.write(bytes)
        const [connack] = await client.received(1)
        assert.equal(connack?.cmd === 'connack' && connack.reasonCode, 0)
      }))
  }

  const REFUSED: readonly (readonly [name: string, bytes: Buffer])[] = [
    ['Receive Maximum twice', connect('21 0001 21 0002')],
    ['Maximum Packet Size twice', connect('27 00001000 27 00001000')],
    ['Session Expiry Interval twice', connect('11 0000000a 11 0000000a')],
    ['Authentication Method twice', connect('15 0001 61 15 0001 61')],
    ['authentication data without a method', connect('16 0001 61')],
    ['a flag that is neither 0 nor 1', connect('17 02')],
    ['a property of a PUBLISH', connect('23 0001')],
    ['a property that nobody knows', connect('7f 00')],
    ['a property that is cut off', connect('21 00')],
    ['a will delay of its own', connect('18 00000001')],
    ['a property of the will twice', connect('', '18 00000001 18 00000001')],
    ['a Receive Maximum of the will', connect('', '21 0001')],
    ['a payload format of the will that there is not', connect('', '01 02')],
    ['QoS 3 of the will', connect('', '', 0x18)],
    ['a byte behind its last field', Buffer.concat([connect('').fill(connect('').length - 1, 1, 2), Buffer.of(0)])],
    // One byte short of what follows.
    ['properties longer than itself', hex('100d 0004 4d515454 05 82 003c 7f 21 00')],
  ]
  for (const [name, bytes] of REFUSED) {
    it(`ends without a CONNACK with ${name}`, () =>
      bench(async (client) => {
        client.socket.write(bytes)
        assert.equal(await ended(client), undefined)
      }))
  }
})

describe('a packet behind it', () => {
  const filter = Buffer.concat([ATTRIBUTES, Buffer.of(0)])
  const TAKEN: readonly (readonly [name: string, bytes: Buffer, answer: string])[] = [
    ['a SUBSCRIBE with user properties', packet(0x82, ID, properties(`${PAIR} ${PAIR}`), filter), 'suback'],
    ['an UNSUBSCRIBE with user properties', packet(0xa2, ID, properties(`${PAIR} ${PAIR}`), ATTRIBUTES), 'unsuback'],
  ]
  for (const [name, bytes, answer] of TAKEN) {
    it(`is taken: ${name}`, () =>
      bench(async (client) => {
        await client.login('one')
        client.socket.write(bytes)
        assert.equal((await client.received(1))[0]?.cmd, answer)
      }))
  }

  const REFUSED: readonly (readonly [name: string, bytes: Buffer, code: number | undefined])[] = [
    ['a SUBSCRIBE with a property of a CONNECT', packet(0x82, ID, properties('21 0001'), filter), 0x81],
    ['a SUBSCRIBE with two identifiers', packet(0x82, ID, properties('0b 01 0b 02'), filter), 0x82],
    ['an UNSUBSCRIBE with an identifier', packet(0xa2, ID, properties('0b 01'), ATTRIBUTES), 0x81],
    ['a DISCONNECT with two expiries', packet(0xe0, Buffer.of(0), properties('11 00000000 11 00000000')), 0x82],
    ['a DISCONNECT with a server reference', packet(0xe0, Buffer.of(0), properties('1c 0001 61')), 0x81],
    ['a PINGREQ with a body', packet(0xc0, Buffer.of(0)), 0x81],
    ['a DISCONNECT with a reason alone', packet(0xe0, Buffer.of(4)), undefined],
    ['a DISCONNECT with a reason text', packet(0xe0, Buffer.of(0), properties('1f 0001 61')), undefined],
  ]
  for (const [name, bytes, code] of REFUSED) {
    it(`ends the connection ${code === undefined ? 'as it should' : `with 0x${code.toString(16)}`}: ${name}`, () =>
      bench(async (client) => {
        await client.login('one')
        client.socket.write(bytes)
        assert.equal(await ended(client), code)
      }))
  }
})
