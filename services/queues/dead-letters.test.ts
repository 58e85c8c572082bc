import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TenantDeadLetters } from './dead-letters.ts'
import { TestDeadLetters, letterOf } from '../failed-messages.testkit.ts'

function open(): { letters: TestDeadLetters; service: TenantDeadLetters } {
  const letters = new TestDeadLetters()
  return { letters, service: new TenantDeadLetters(letters) }
}

test('a tenant sees its own letters, page by page, however many of others lie between', async () => {
  const { letters, service } = open()
  for (let id = 1; id <= 3000; id++) letters.letters.push(letterOf(id, id % 1000 === 0 ? 'mine' : 'other'))
  const first = await service.list('mine', { limit: 2 })
  assert.deepEqual(
    first.map(({ id }) => id),
    [1000, 2000],
  )
  const next = await service.list('mine', { after: 2000, limit: 2 })
  assert.deepEqual(
    next.map(({ id }) => id),
    [3000],
  )
})

test('letters of another tenant can neither be replayed nor removed, and do not exist', async () => {
  const { letters, service } = open()
  letters.letters.push(letterOf(7, 'other'))
  await assert.rejects(service.replay('mine', 7), /wasn't found/)
  await assert.rejects(service.remove('mine', 7), /wasn't found/)
  await assert.rejects(service.replay('mine', 8), /wasn't found/)
  assert.equal(letters.count, 1)
  assert.deepEqual(letters.replayed, [])
  await service.replay('other', 7)
  assert.deepEqual(letters.replayed, [7])
})
