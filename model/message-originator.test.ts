import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityId } from './entity-id.ts'
import { Message } from './message.ts'

const fields = {
  ...{ id: 'm', ts: 1, type: 'T', tenantId: 't', metadata: {}, data: '{}' },
  originator: entityId('DEVICE', '55555555-5555-4555-8555-555555555555'),
}
const other = entityId('DEVICE', '66666666-5555-4555-8555-555555555555')
const resumption = { ruleChainId: 'c', ruleNodeId: 'n', executions: 0, callers: [] }

void test('a message knows whether a node may have changed its originator, also behind a queue', () => {
  const message = new Message(fields)
  assert.ok(message.hasOwnOriginator && message.with({ data: '1' }).hasOwnOriginator)
  assert.ok(!message.with({ originator: other }).hasOwnOriginator)
  assert.ok(!message.with({ originator: other }).with({ originator: fields.originator }).hasOwnOriginator)
  assert.ok(!new Message({ ...fields, resumption }).hasOwnOriginator)
})
