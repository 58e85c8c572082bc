import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { saveToCustomTable } from './save-to-custom-table.ts'

const CONFIGURATION = {
  tableName: 'readings',
  fieldsMapping: { $entityId: 'device', temperature: 'celsius', place: 'place' },
  defaultTtl: 60,
}
const DEVICE = '55555555-5555-4555-8555-555555555555'

test('members of the body become a row in the order of the columns; what is nested is JSON', async () => {
  const context = testContext()
  const node = await createNode(saveToCustomTable, CONFIGURATION, context)
  assert.deepEqual(context.fakes.tables.opened, [
    { name: 'readings', columns: ['device', 'celsius', 'place'], ttlSeconds: 60 },
  ])
  const results = await runNode(
    node,
    testMessage({ data: '{"temperature":2.0,"place":{"x":[1,true]},"other":1}' }),
    testMessage({ data: '{"temperature":null,"place":"hall"}' }),
  )
  assert.deepEqual(context.fakes.tables.rows, [
    [DEVICE, '2.0', '{"x":[1,true]}'],
    [DEVICE, null, 'hall'],
  ])
  assert.deepEqual(
    results.map(({ emissions }) => emissions[0]?.relations),
    [['Success'], ['Success']],
  )
})

test('a message without a member, or that the table refuses, fails alone', async () => {
  const context = testContext()
  context.fakes.tables.refuses = 'odd'
  const node = await createNode(saveToCustomTable, CONFIGURATION, context)
  const results = await runNode(
    node,
    ...['{"temperature":1}', '[]', '{"temperature":1,"place":"odd"}', '{"temperature":1,"place":"hall"}'].map((data) =>
      testMessage({ data }),
    ),
  )
  assert.deepEqual(
    results.map(({ error }) => error?.message),
    ['Incoming message has no place in data', 'Msg data is not a JSON object', 'refused', undefined],
  )
  assert.equal(context.fakes.tables.rows.length, 2)
})

test('where the store does not serve, all messages of the batch fail with its reason', async () => {
  const context = testContext()
  context.fakes.tables.failure = new Error('away')
  const node = await createNode(saveToCustomTable, { ...CONFIGURATION, fieldsMapping: { a: 'a' } }, context)
  const results = await runNode(node, testMessage({ data: '{"a":1}' }), testMessage({ data: '{"a":2}' }))
  assert.deepEqual(
    results.map(({ error }) => error?.message),
    ['away', 'away'],
  )
})

test('without a table it is saved and does not start; an old configuration keeps its rows for ever', async () => {
  saveToCustomTable.check(saveToCustomTable.defaultConfiguration)
  await assert.rejects(createNode(saveToCustomTable), /tableName/)
  assert.deepEqual(saveToCustomTable.upgrade?.({ tableName: 'a' }, 0), { tableName: 'a', defaultTtl: 0 })
})
