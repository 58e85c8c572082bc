/** What the examples of a definition can not say: several messages, and a wrong configuration. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownNodesOf } from '../../../nodes/own-nodes.ts'
import { createNode, runNode, testMessage } from '../../../nodes/testkit.ts'
import ownNodes from './deadband.ts'

async function deadband() {
  const [definition] = await ownNodesOf({ default: ownNodes }, 'deadband.ts')
  assert.ok(definition !== undefined)
  return definition
}

const WARM = '55555555-5555-4555-8555-555555555555'
const COLD = '66666666-6666-4666-8666-666666666666'

test('small changes are held back, however many there are, for each device by itself', async () => {
  const node = await createNode(await deadband(), { key: 't', threshold: 2 })
  const values: readonly (readonly [device: string, value: string])[] = [
    ...([20, 21, 22, 23] as const).map((value) => [WARM, `{"t":${value}.0}`] as const),
    [COLD, '{"t":23}'],
    [WARM, '{"t":20.5}'],
  ]
  const messages = values.map(([originatorId, data], index) =>
    testMessage({ id: `44444444-4444-4444-8444-44444444444${index}`, originatorId, data }),
  )
  const results = await runNode(node, ...messages)
  assert.deepEqual(
    results.map(({ emissions }) => emissions[0]?.relations[0]),
    ['True', 'False', 'False', 'True', 'True', 'True'],
  )
})

for (const example of (await deadband()).examples) {
  test(`example: ${example.title}`, async () => {
    const [result] = await runNode(
      await createNode(await deadband(), example.configuration),
      testMessage(example.given),
    )
    assert.deepEqual(
      result?.emissions.flatMap(({ relations }) => relations),
      example.expect.relations,
    )
  })
}

test('a threshold of nothing is refused with the name of the field', async () => {
  const definition = await deadband()
  assert.throws(() => definition.check({ key: 't', threshold: 0 }), /threshold/)
  assert.throws(() => definition.check({ key: 't', threshold: 1, other: 1 }), /other/)
})
