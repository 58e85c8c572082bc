import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { createNode, runNode, testMessage } from '../testkit.ts'
import type { MessageDraft } from '../testkit.ts'
import { checkFieldsPresence } from './check-fields-presence.ts'

async function relation(configuration: JsonObject, draft: MessageDraft): Promise<string | undefined> {
  const [result] = await runNode(await createNode(checkFieldsPresence, configuration), testMessage(draft))
  return result?.emissions[0]?.relations[0]
}

test('all keys must be there, or any of them', async () => {
  const lists = { messageNames: ['a', 'b'], metadataNames: ['k'] }
  for (const [draft, all, any] of [
    [{ data: '{"a":1,"b":2}', metadata: { k: '' } }, 'True', 'True'],
    [{ data: '{"b":2}' }, 'False', 'True'],
    [{ data: '{}', metadata: { k: '' } }, 'False', 'True'],
    [{ data: '{"c":1}', metadata: { z: '1' } }, 'False', 'False'],
    [{ data: '{"constructor":1}', metadata: {} }, 'False', 'False'],
  ] as const) {
    assert.equal(await relation({ ...lists, checkAllKeys: true }, draft), all, draft.data)
    assert.equal(await relation({ ...lists, checkAllKeys: false }, draft), any, draft.data)
  }
  assert.equal(await relation({ messageNames: ['constructor'], checkAllKeys: false }, { data: '{}' }), 'False')
})

test('empty lists: all of nothing is there, any of nothing is not; the body is not looked at', async () => {
  assert.equal(await relation({ checkAllKeys: true }, { data: 'no JSON' }), 'True')
  assert.equal(await relation({ checkAllKeys: false }, { data: 'no JSON' }), 'False')
  assert.equal(await relation({ messageNames: null, metadataNames: null }, { data: '[]' }), 'False')
})

test('keys of a body that is no object fail', async () => {
  for (const data of ['[1,2]', '"text"', '5', 'null', '', '{']) {
    assert.equal(await relation({ messageNames: ['a'], checkAllKeys: false }, { data }), 'Failure', data)
  }
})
