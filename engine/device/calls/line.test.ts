import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../actor/testkit.ts'
import { createCallLine } from './line.ts'

test('a word goes to members only: a name that is none, as a script may write it, is no subject', () => {
  const published: string[] = []
  const line = createCallLine({
    self: 'me',
    clock: new ManualClock(),
    cluster: {
      prefix: 'millrace',
      bus: {
        connected: true,
        onConnection: () => () => undefined,
        publish: (subject) => published.push(subject) > 0,
        subscribe: () => () => undefined,
        flush: () => Promise.resolve(),
      },
    },
  })
  const word = { kind: 'answer', id: '1', body: '{}' } as const
  for (const member of ['a b', '*', '>', 'a.b', '', 'a\r\n', 'ä'])
    assert.equal(line.toWaiter(member, word), false, member)
  const member = '6f1a2c9e-0000-4000-8000-000000000001'
  assert.equal(line.toWaiter(member, word), true)
  assert.deepEqual(published, [`millrace.calls.${member}`])
})
