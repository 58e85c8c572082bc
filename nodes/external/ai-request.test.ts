import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { aiRequest } from './ai-request.ts'

const MODEL = '77777777-7777-4777-8777-777777777777'
const CONFIGURATION: JsonObject = {
  ...aiRequest.defaultConfiguration,
  modelId: { entityType: 'AI_MODEL', id: MODEL },
  systemPrompt: 'You judge ${kind}.',
  userPrompt: 'Is $[t] normal?',
  forceAck: false,
}

async function asked(answer: string | Error, change: JsonObject = {}) {
  const context = testContext()
  const { ai } = context.fakes
  if (answer instanceof Error) ai.failure = answer
  else ai.answer = answer
  const node = await createNode(aiRequest, { ...CONFIGURATION, ...change }, context)
  const [result] = await runNode(node, testMessage({ data: '{"t":80}', metadata: { kind: 'boilers' } }))
  await node.close?.()
  assert.equal(ai.isClosed, true)
  return { ai, result, emission: result?.emissions[0] }
}

test('both prompts are filled in, and a JSON object becomes the body as it came', async () => {
  const { ai, emission } = await asked('{ "isNormal": false }')
  assert.deepEqual(ai.opened, [[MODEL, { timeoutMs: 60_000, isAwaited: true, fileIds: [] }]])
  assert.deepEqual(ai.asked, [{ system: 'You judge boilers.', user: 'Is 80 normal?', format: { type: 'JSON' } }])
  assert.deepEqual([emission?.relations, emission?.message.data], [['Success'], '{ "isNormal": false }'])
})

test('any other answer stands in a member of its own', async () => {
  for (const [answer, data] of [
    ['No.', '{"response":"No."}'],
    ['[1]', '{"response":"[1]"}'],
    ['"x"', '{"response":"\\"x\\""}'],
  ] as const) {
    assert.equal((await asked(answer)).emission?.message.data, data)
  }
})

test('with forced acknowledgement the message settles first, and the call may take long', async () => {
  const { ai, result } = await asked('{"a":1}', { forceAck: true, timeoutSeconds: 300, systemPrompt: null })
  assert.deepEqual(ai.opened, [[MODEL, { timeoutMs: 300_000, isAwaited: false, fileIds: [] }]])
  const step = result?.step
  assert.ok(step?.flow === 'afterwards')
  const { message, relation } = await step.outcome
  assert.deepEqual([relation, message.data], ['Success', '{"a":1}'])
  assert.deepEqual(ai.asked, [{ user: 'Is 80 normal?', format: { type: 'JSON' } }])
})

test('files are asked for once each', async () => {
  const [one, two] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
  const { ai } = await asked('{}', { resourceIds: [one, two, one] })
  assert.deepEqual(ai.opened[0]?.[1].fileIds, [one, two])
})

test('what the model refuses goes through Failure with its reason', async () => {
  const { emission } = await asked(new Error('OPENAI answered 401'))
  assert.deepEqual(emission?.relations, ['Failure'])
  assert.match(emission?.message.metadata['error'] ?? '', /OPENAI answered 401/)
})

test('without a model or a prompt, with an id that is none, or with a schema that is missing it does not start', async () => {
  const refused: readonly (readonly [JsonObject, RegExp])[] = [
    [{ modelId: null }, /modelId/],
    [{ userPrompt: ' ' }, /userPrompt/],
    [{ resourceIds: ['no id'] }, /resourceIds/],
    [{ responseFormat: { type: 'JSON_SCHEMA' } }, /responseFormat/],
    [{ timeoutSeconds: 601 }, /timeoutSeconds/],
    [{ userPrompt: 'x'.repeat(500_001) }, /userPrompt/],
  ]
  for (const [change, field] of refused) {
    await assert.rejects(createNode(aiRequest, { ...CONFIGURATION, ...change }), field)
  }
})
