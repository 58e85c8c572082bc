import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityId, type EntityId } from '../../../model/entity-id.ts'
import { TenantReads } from './tenant-reads.ts'

const ENTITY: EntityId = entityId('DEVICE', '11111111-1111-4111-8111-111111111111')

test('a tenant reads so much at once, others at once what they need, and all is read', async () => {
  const reads = new TenantReads()
  const open: (() => void)[] = []
  let most = 0
  let running = 0
  const read = async (): Promise<EntityId> => {
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => void open.push(resolve))
    running--
    return ENTITY
  }
  const all = Array.from({ length: 250 }, () => reads.run('greedy', read))
  assert.equal(running, 100)
  assert.equal(await reads.run('other', () => Promise.resolve(ENTITY)), ENTITY)
  await assert.rejects(reads.run('other', () => Promise.reject(new Error('away'))))
  let ended = 0
  while (ended < 250) {
    const batch = open.splice(0)
    ended += batch.length
    for (const end of batch) end()
    await Promise.all(all.slice(0, ended))
  }
  assert.deepEqual(
    await Promise.all(all),
    Array.from({ length: 250 }, () => ENTITY),
  )
  assert.equal(most, 100)
})
