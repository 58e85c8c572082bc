/** What a stranger sends as a CoAP message, and a proxy as frames, is read or refused in words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMillraceError } from '../../model/errors.ts'
import { encodeMessage, headOf, OptionNumber, parseMessage, unreadableId } from './codec.ts'
import { MUTATIONS, mutationsOf } from '../mutations.testkit.ts'
import { answerOf, requestOf } from './message.ts'
import { FrameReader } from './proxy/frames.ts'

const PEER = { address: '127.0.0.1', port: 1, key: '127.0.0.1 1' }
const MESSAGE = encodeMessage({
  ...{ type: 'CON', code: '0.02', id: 4711, token: Buffer.from([1, 2, 3, 4]) },
  options: [
    { number: OptionNumber.OBSERVE, value: Buffer.alloc(0) },
    { number: OptionNumber.URI_PATH, value: Buffer.from('rd') },
    { number: OptionNumber.CONTENT_FORMAT, value: Buffer.from([40]) },
    { number: OptionNumber.URI_QUERY, value: Buffer.from('ep=urn:meter:1') },
    { number: OptionNumber.BLOCK2, value: Buffer.from([0x0e]) },
    { number: OptionNumber.BLOCK1, value: Buffer.from([0x1e]) },
  ],
  payload: Buffer.from('</3/0>'),
})
const OPEN = Buffer.from(
  '\u0000\u0000\u0000\u0061\u0001{"channel":7,"address":"10.0.0.1","port":9,"proven":{"kind":"PSK","identity":"one","keyId":"k"}}',
)
const DATAGRAM = Buffer.from('0000000702000000070102', 'hex')

test('a mutated CoAP message is read, or is none', () => {
  let read = 0
  for (const bytes of mutationsOf(MESSAGE)) {
    unreadableId(bytes)
    headOf(bytes)
    const message = parseMessage(bytes)
    if (message === undefined) continue
    read++
    refusedInWords(() => requestOf(message, PEER), bytes)
    refusedInWords(() => answerOf(message), bytes)
    const again = parseMessage(encodeMessage(message))
    assert.deepEqual([again?.code, again?.id, again?.payload], [message.code, message.id, message.payload])
  }
  assert.ok(read > MUTATIONS / 100 && read < MUTATIONS, `${read} of ${MUTATIONS} were read`)
})

test('mutated frames of a proxy are read, or end its stream', () => {
  let read = 0
  for (const bytes of mutationsOf(Buffer.concat([OPEN, DATAGRAM])))
    refusedInWords(() => (read += new FrameReader().read(bytes).length > 0 ? 1 : 0), bytes)
  assert.ok(read > 0 && read < MUTATIONS, `${read} of ${MUTATIONS} were read`)
})

function refusedInWords(run: () => unknown, bytes: Buffer): void {
  try {
    run()
  } catch (error) {
    assert.ok(isMillraceError(error) && error.kind === 'invalid', `${bytes.toString('hex')}: ${String(error)}`)
  }
}
