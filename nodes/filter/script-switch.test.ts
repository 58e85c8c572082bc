import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scriptDefaults } from '../script-configuration.ts'
import { createNode, runNode, testMessage } from '../testkit.ts'
import { scriptSwitch } from './script-switch.ts'

async function relationsFor(body: string) {
  const instance = await createNode(scriptSwitch, scriptDefaults(body))
  const [result] = await runNode(instance, testMessage({ data: '{"a":1}' }))
  return result?.emissions.flatMap(({ relations }) => relations)
}

test('a text is one relation, a list a set of them, an empty list none', async () => {
  assert.deepEqual(await relationsFor("return 'one';"), ['one'])
  assert.deepEqual(await relationsFor("return ['one', 'two'];"), ['one', 'two'])
  assert.deepEqual(await relationsFor('return [];'), [])
})

test('any other result fails', async () => {
  assert.deepEqual(await relationsFor('return 5;'), ['Failure'])
})

test('the default script sends telemetry one way and the rest two', async () => {
  const instance = await createNode(scriptSwitch)
  const messages = ['POST_TELEMETRY_REQUEST', 'MY_TYPE'].map((type) => testMessage({ type, data: '{}' }))
  const results = await runNode(instance, ...messages)
  assert.deepEqual(
    results.map(({ emissions }) => emissions[0]?.relations),
    [['two'], ['one', 'nine']],
  )
})
