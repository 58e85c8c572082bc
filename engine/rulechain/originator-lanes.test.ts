/** One message of an originator at a time in a node that answers later. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import type { NodeOutput } from './node.ts'
import { chainOf, loaded, testEngine, testWork } from './testkit.ts'

test('a message that goes on as one of another originator frees the lane that it came by', async () => {
  const answers: (() => void)[] = []
  const ends: string[] = []
  const setup = testEngine({
    rename: () => ({
      handle: (message) =>
        new Promise<NodeOutput>((resolve) => {
          const renamed = message.with({ originator: entityId('ASSET', `asset of ${message.originator.id}`) })
          answers.push(() => resolve({ message: renamed, relations: ['Success'] }))
        }),
    }),
    end: () => ({
      handle: ({ data, originator }) => {
        ends.push(`${data} ${originator.id}`)
        return undefined
      },
    }),
  })
  const { chain, graph } = chainOf('A', [{ type: 'rename' }, { type: 'end' }], [[0, 'Success', 1]])
  await loaded(setup.clock, setup.engine.load(chain, graph))
  const works = ['first', 'second', 'third'].map((data) => testWork({ data, device: 'device-1' }))
  await setup.run(...works.slice(0, 2))
  assert.equal(answers.length, 1)
  answers[0]?.()
  await setup.run()
  assert.equal(answers.length, 2)
  answers[1]?.()
  await setup.run(...works.slice(2))
  answers[2]?.()
  await setup.run()
  assert.deepEqual(
    ends,
    ['first', 'second', 'third'].map((data) => `${data} asset of device-1`),
  )
})
