import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { defineNode } from './define-node.ts'
import { createNode, runNode, testContext, testMessage } from './testkit.ts'

const BASICS = {
  type: 'org.thingsboard.rule.engine.test.TbTestNode',
  name: 'test',
  category: 'ACTION',
  relations: ['Success'],
  description: 'for a test',
  configuration: z.looseObject({}),
  defaults: {},
  examples: [],
} as const

test('a declaration says what it uses, and its context holds just that', async () => {
  const countingRelations = defineNode({
    ...BASICS,
    uses: ['relations'],
    create: (_configuration, { services }) => ({
      handle: async ({ originator }) => {
        // @ts-expect-error the node does not name entities
        void services.entities
        const related = await services.relations.list(originator, 'FROM')
        return related.length === 0 ? 'False' : 'True'
      },
    }),
  })
  assert.deepEqual(countingRelations.uses, ['relations'])
  assert.equal(countingRelations.effects, false)
  const context = testContext()
  const message = testMessage({ data: '{}' })
  const instance = await createNode(countingRelations, {}, context)
  assert.deepEqual((await runNode(instance, message))[0]?.emissions[0]?.relations, ['False'])
  await context.services.relations.create({ from: message.originator, to: message.originator, type: 'Contains' })
  assert.deepEqual((await runNode(instance, message))[0]?.emissions[0]?.relations, ['True'])
})

test('a node without capabilities sees none', () => {
  const plain = defineNode({
    ...BASICS,
    create: (_configuration, { services }) => {
      // @ts-expect-error it names nothing
      void services.attributes
      return { handle: () => 'Success' }
    },
  })
  assert.deepEqual([plain.uses, plain.effects], [[], false])
})
