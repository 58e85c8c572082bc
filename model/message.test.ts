import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityId } from './entity-id.ts'
import { Message } from './message.ts'

function messageWith(metadata: Readonly<Record<string, string>>): Message {
  return new Message(
    {
      id: 'a',
      ts: 7,
      type: 'POST_TELEMETRY_REQUEST',
      tenantId: 't',
      originator: entityId('DEVICE', 'd'),
      metadata,
      data: '{"a":1}',
    },
    { json: { a: 1 }, entries: [{ key: 'a', type: 'LONG', value: 1 }] },
  )
}

test('the metadata time goes first where it is a whole number, signed or not', () => {
  for (const [text, expected] of [
    ['1700000000000', 1_700_000_000_000],
    ['0', 0],
    ['-5', -5],
    ['+5', 5],
    ['007', 7],
    ['000000000000000012', 12],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ] as const) {
    assert.equal(messageWith({ ts: text }).metadataTs(), expected, text)
  }
})

test('a metadata time that is no whole number or too large leaves the message time', () => {
  for (const ts of ['', ' ', '1.5', '1e3', '0x10', '5 ', '-', '9007199254740992', 'soon', '१']) {
    assert.equal(messageWith({ ts }).metadataTs(), 7, ts)
  }
  assert.equal(messageWith({}).metadataTs(), 7)
})

test('a copy keeps what is known of the data until the data changes', () => {
  const message = messageWith({})
  message.sequence = 9
  const renamed = message.with({ type: 'OTHER' })
  assert.equal(renamed.json(), message.json())
  assert.equal(renamed.entries(), message.entries())
  assert.equal(renamed.sequence, 9)
  const changed = message.with({ data: '{"a":2}' })
  assert.deepEqual(changed.json(), { a: 2 })
  assert.equal(changed.entries(), undefined)
})
