/** What timed out is over: it enters no further node, and its own branches are all that it touches (`rule-engine.md` 5.4). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeOutput } from './node.ts'
import { chainOf, loaded, testEngine, testWork, type MakeNode, type TestEngine } from './testkit.ts'

/** A node whose answers are given by hand, and one that notes what comes behind it. */
function gate() {
  const entered: string[] = []
  const answers: ((output: NodeOutput) => void)[] = []
  const ends: string[] = []
  const held: MakeNode = () => ({
    handle: (message) => {
      entered.push(message.data)
      return new Promise<NodeOutput>((resolve) => answers.push(resolve))
    },
  })
  const heldBatch: MakeNode = () => ({
    handleBatch: (messages, result) => {
      entered.push(...messages.map(({ data }) => data))
      return new Promise<void>((resolve) => {
        answers.push((output) => {
          messages.forEach((_, index) => result.emit(index, output))
          resolve()
        })
      })
    },
  })
  const end: MakeNode = () => ({
    handle: ({ data }) => {
      ends.push(data)
      return undefined
    },
  })
  return { entered, answers, ends, types: { held, heldBatch, end } }
}

async function open(kind: string, setup: TestEngine): Promise<void> {
  const { chain, graph } = chainOf('A', [{ type: kind }, { type: 'end' }], [[0, 'Success', 1]])
  await loaded(setup.clock, setup.engine.load(chain, graph))
}

for (const kind of ['held', 'heldBatch']) {
  test(`a message that timed out in a node (${kind}) goes no further, and its neighbour does`, async () => {
    const { answers, ends, types } = gate()
    const setup = testEngine(types)
    await open(kind, setup)
    const [late, other] = [testWork({ data: 'late' }), testWork({ data: 'other', device: 'device-2' })]
    await setup.run(late, other)
    late.isCancelled = true
    for (const answer of answers) answer('Success')
    await setup.clock.settle()
    assert.deepEqual(ends, ['other'])
    assert.deepEqual([late.isSettled, other.isSettled], [true, true])
    assert.equal(setup.engine.figures()[0]?.inFlight, 0)
  })

  test(`a message that timed out while it waited for a node (${kind}) does not enter it, and those behind it do`, async () => {
    const { entered, answers, ends, types } = gate()
    const setup = testEngine(types, { batchSize: 1, batchesInFlight: 1 })
    await open(kind, setup)
    const works = ['first', 'late', 'next'].map((data) => testWork({ data }))
    await setup.run(...works)
    assert.deepEqual(entered, ['first'])
    for (const work of works.slice(1, 2)) work.isCancelled = true
    for (let answer = answers.shift(); answer !== undefined; answer = answers.shift()) {
      answer('Success')
      await setup.clock.settle()
    }
    assert.deepEqual(entered, ['first', 'next'])
    assert.deepEqual(ends, ['first', 'next'])
    assert.ok(works.every((work) => work.isSettled))
    assert.equal(setup.engine.figures()[0]?.inFlight, 0)
  })
}
