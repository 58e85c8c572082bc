import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMillraceError } from '../../model/errors.ts'
import { scriptDefaults } from '../script-configuration.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { scriptFilter } from './script-filter.ts'

const messages = [21, 'no number', 19].map((temperature) => testMessage({ data: JSON.stringify({ temperature }) }))

test('only the chosen language is compiled and runs', async () => {
  const configuration = { jsScript: 'return true;', tbelScript: 'return false;' }
  for (const [scriptLang, expected] of [
    ['JS', 'True'],
    ['TBEL', 'False'],
    [null, 'True'],
  ] as const) {
    const context = testContext()
    const instance = await createNode(scriptFilter, { ...configuration, scriptLang }, context)
    const [result] = await runNode(instance, testMessage({ data: '{}' }))
    assert.deepEqual(result?.emissions[0]?.relations, [expected])
    assert.equal(context.openScripts(), 1)
  }
})

test('one bad message of a batch fails alone', async () => {
  const body = "if (typeof msg.temperature !== 'number') throw new Error('no number'); return msg.temperature > 20;"
  for (const scriptLang of ['JS', 'TBEL']) {
    const instance = await createNode(scriptFilter, { ...scriptDefaults(body), scriptLang })
    assert.equal(instance.handleBatch !== undefined, scriptLang === 'JS')
    const results = await runNode(instance, ...messages)
    assert.deepEqual(
      results.map(({ emissions }) => emissions[0]?.relations[0]),
      ['True', 'Failure', 'False'],
    )
    assert.equal(results[1]?.error?.message, 'no number')
  }
})

test('the message goes on as it came even where the script changes it', async () => {
  const instance = await createNode(scriptFilter, scriptDefaults('msg.a = 2; metadata.b = 3; return true;'))
  const message = testMessage({ data: '{"a":1}', metadata: { b: '1' } })
  const [result] = await runNode(instance, message)
  assert.equal(result?.emissions[0]?.message, message)
  assert.deepEqual([message.json(), message.metadata], [{ a: 1 }, { b: '1' }])
})

test('a blank script is refused when the node is made', async () => {
  await assert.rejects(
    createNode(scriptFilter, { scriptLang: 'TBEL', jsScript: 'return true;' }),
    (error) => isMillraceError(error) && error.kind === 'invalid',
  )
})
