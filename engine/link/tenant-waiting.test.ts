import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../model/message.ts'
import { TenantWaiting } from './tenant-waiting.ts'
import { message } from './testkit.ts'

const sizeOf = ({ data }: Message): number => data.length

test('what waits is counted by tenant, and nothing is left of a tenant that has none', () => {
  const waiting = new TenantWaiting()
  const [one, other] = [message({ tenantId: 'one' }), message({ tenantId: 'other' })]
  for (const each of [one, one, other, one]) waiting.add(each.tenantId, sizeOf(each))
  assert.deepEqual([waiting.isOver('one', 3, 1e9), waiting.isOver('other', 2, 1e9)], [true, false])
  assert.equal(waiting.isOver('one', 1e9, 3 * one.data.length + 1), true)
  waiting.remove([one, other, one], [one, other, one].map(sizeOf))
  assert.deepEqual([waiting.isOver('one', 1, 1e9), waiting.isOver('other', 0, 0)], [true, false])
  waiting.remove([one], [sizeOf(one)])
  assert.equal(waiting.isOver('one', 0, 0), false)
  waiting.add(one.tenantId, sizeOf(one))
  assert.deepEqual([waiting.isOver('one', 1, 1e9), waiting.isOver('one', 2, 1e9)], [true, false])
})
