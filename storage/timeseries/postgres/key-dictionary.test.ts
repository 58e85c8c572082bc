import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PostgresConnection } from '../../postgres/connection.ts'
import { migratePostgres } from '../../postgres/migrations.ts'
import { emptyDatabase, serverForFile } from '../../postgres/testkit.ts'
import { KEY_DICTIONARY, KeyDictionary } from './key-dictionary.ts'

const server = await serverForFile()

test('issue-8 2.3: keys in memory are bounded by their bytes', { skip: server === undefined }, async (context) => {
  assert.ok(server !== undefined)
  const connection = new PostgresConnection({ url: await emptyDatabase(server), applicationName: 'test' })
  context.after(() => connection.close())
  await migratePostgres(connection, KEY_DICTIONARY, 0)
  const dictionary = new KeyDictionary(connection, 1e6)
  const long = Array.from({ length: 30 }, (_, index) => `${index}${'k'.repeat(50_000)}`)
  const first = await dictionary.numbersOf(new Set(['used']))
  for (const key of long) await dictionary.numbersOf(new Set([key, 'used']))
  assert.ok(dictionary.bytes <= 1e6 && dictionary.bytes > 5e5, String(dictionary.bytes))
  const { count } = await connection.query({ text: 'delete from key_dictionary' })
  assert.equal(count, 31)
  assert.deepEqual(await dictionary.find(new Set(['used'])), first, 'what is used stays in memory')
  assert.equal((await dictionary.find(new Set([long[0] ?? '']))).size, 0, 'what is not used goes')
})
