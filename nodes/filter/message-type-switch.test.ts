import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MESSAGE_TYPE_LABELS } from '../../model/message-type.ts'
import { createNode, runNode, testMessage } from '../testkit.ts'
import { messageTypeSwitch } from './message-type-switch.ts'

test('every known type leaves by its label, and names of built-in members are no types', async () => {
  const instance = await createNode(messageTypeSwitch)
  const expected = new Map<string, string>(Object.entries(MESSAGE_TYPE_LABELS))
  for (const type of ['constructor', '__proto__', 'toString', '', 'post_telemetry_request']) expected.set(type, 'Other')
  const results = await runNode(instance, ...[...expected.keys()].map((type) => testMessage({ type, data: '{}' })))
  assert.deepEqual(
    results.map(({ emissions }) => emissions[0]?.relations[0]),
    [...expected.values()],
  )
})
