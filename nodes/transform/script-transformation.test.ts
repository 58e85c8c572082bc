import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scriptDefaults } from '../script-configuration.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { scriptTransformation } from './script-transformation.ts'

async function run(body: string, scriptLang = 'TBEL') {
  const instance = await createNode(scriptTransformation, { ...scriptDefaults(body), scriptLang }, testContext())
  return runNode(instance, testMessage({ data: '{"a":1}', metadata: { deviceName: 'A' } }))
}

for (const language of ['TBEL', 'JS']) {
  test(`a missing member keeps the original (${language})`, async () => {
    const [onlyData] = await run('return {msg: {b: 2}};', language)
    const [onlyMetadata] = await run('return {metadata: {c: 3}};', language)
    const [onlyType] = await run("return {msgType: 'MY_TYPE'};", language)
    const [emptyType] = await run("return {msgType: ''};", language)
    const shown = [onlyData, onlyMetadata, onlyType, emptyType].map((result) => {
      const message = result?.emissions[0]?.message
      return [message?.data, message?.metadata, message?.type]
    })
    assert.deepEqual(shown, [
      ['{"b":2}', { deviceName: 'A' }, 'POST_TELEMETRY_REQUEST'],
      ['{"a":1}', { c: '3' }, 'POST_TELEMETRY_REQUEST'],
      ['{"a":1}', { deviceName: 'A' }, 'MY_TYPE'],
      ['{"a":1}', { deviceName: 'A' }, 'POST_TELEMETRY_REQUEST'],
    ])
  })

  test(`a list becomes one message an element, each with an id that is the same on a retry (${language})`, async () => {
    const body = 'return [{msg: {n: 1}}, {msg: {n: 2}}];'
    const [first] = await run(body, language)
    const [again] = await run(body, language)
    const ids = first?.emissions.map(({ message }) => message.id) ?? []
    assert.deepEqual(
      first?.emissions.map(({ message }) => message.data),
      ['{"n":1}', '{"n":2}'],
    )
    assert.equal(new Set([...ids, testMessage({ data: '' }).id]).size, 3)
    assert.deepEqual(
      again?.emissions.map(({ message }) => message.id),
      ids,
    )
  })

  test(`an empty list and a wrong result fail with the original message (${language})`, async () => {
    for (const body of ['return [];', 'return 5;', 'return null;']) {
      const [result] = await run(body, language)
      assert.ok(result?.error !== undefined, body)
      assert.equal(result.emissions[0]?.message.data, '{"a":1}')
    }
  })
}

test('what the decoder knew of the body is forgotten when the body changes', async () => {
  const instance = await createNode(scriptTransformation, scriptDefaults('return {msg: {b: 2}};'))
  const known = { entries: [{ key: 'a', type: 'LONG', value: 1 }] } as const
  const [result] = await runNode(instance, testMessage({ data: '{"a":1}', known }))
  assert.equal(result?.emissions[0]?.message.entries(), undefined)
})
