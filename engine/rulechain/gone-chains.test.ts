import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RuleChain } from '../../model/entities.ts'
import { isMillraceError } from '../../model/errors.ts'
import { chainOf, loaded, TENANT_ID, testEngine, testWork } from './testkit.ts'
import type { TestEngine, TestWork } from './testkit.ts'

const pass = { handle: () => 'Success' as const }
const gone = '30000000-0000-4000-8000-00000000dead'

function load(setup: TestEngine, ...parts: Parameters<typeof chainOf>) {
  const { chain, graph } = chainOf(...parts)
  return loaded(setup.clock, setup.engine.load(chain, graph))
}

/** An engine with a root chain, beside a store that has one chain at most and counts who asks. */
async function besideStore(stored: () => Promise<RuleChain | undefined>) {
  const asked: (readonly [string, string])[] = []
  const setup = testEngine({ pass: () => pass }, {}, undefined, {
    storedChain: (...named) => {
      asked.push(named)
      return stored()
    },
  })
  await load(setup, 'A', [{ type: 'pass' }], [])
  return { ...setup, asked }
}

function codesOf(work: TestWork): readonly unknown[] {
  return work.errors.map((error) => isMillraceError(error) && error.code)
}

test('messages to a chain that the store does not have end well, and one look serves those that wait for it', async () => {
  const setup = await besideStore(async () => undefined)
  const works = [testWork({ ruleChainId: gone }), testWork({ ruleChainId: gone }), testWork()]
  await setup.run(...works)
  assert.deepEqual(
    works.map((work) => [work.isSettled, work.errors.length]),
    [
      [true, 0],
      [true, 0],
      [true, 0],
    ],
  )
  assert.deepEqual(setup.asked, [[TENANT_ID, gone]])
  await setup.run(testWork({ ruleChainId: gone }))
  assert.equal(setup.asked.length, 2, 'it may have been made again')
})

test('what comes while the store is looked at has a look of its own: the chain may have been made meanwhile', async () => {
  const { chain } = chainOf('B', [{ type: 'pass' }], [])
  const answers: ((stored: RuleChain | undefined) => void)[] = []
  const setup = await besideStore(() => new Promise((resolve) => answers.push(resolve)))
  const [before, after] = [testWork({ ruleChainId: chain.id }), testWork({ ruleChainId: chain.id })]
  await setup.run(before)
  assert.equal(setup.asked.length, 1)
  await setup.run(after)
  answers[0]?.(undefined)
  await setup.clock.advance(1)
  answers[1]?.(chain)
  await setup.clock.advance(1)
  assert.deepEqual([before.isSettled, before.errors], [true, []])
  assert.deepEqual([after.isSettled, codesOf(after)], [true, ['rulechain.CHAIN_MISSING']])
})

test('messages to a chain of type EDGE end well: it runs elsewhere', async () => {
  const { chain } = chainOf('E', [{ type: 'pass' }], [])
  const setup = await besideStore(async () => ({ ...chain, type: 'EDGE' }))
  const work = testWork({ ruleChainId: chain.id })
  await setup.run(work)
  assert.deepEqual([work.isSettled, work.errors], [true, []])
})

test('messages to a chain of which only this process has not heard come again', async () => {
  const { chain } = chainOf('B', [{ type: 'pass' }], [])
  const setup = await besideStore(async () => chain)
  const work = testWork({ ruleChainId: chain.id })
  await setup.run(work)
  assert.deepEqual([work.isSettled, codesOf(work)], [true, ['rulechain.CHAIN_MISSING']])
})

test('messages come again where the store does not answer, and nobody is told that the chain is gone', async () => {
  const setup = await besideStore(() => Promise.reject(new Error('no connection')))
  const work = testWork({ ruleChainId: gone })
  await setup.run(work)
  assert.deepEqual([work.isSettled, codesOf(work)], [true, ['rulechain.CHAIN_MISSING']])
  assert.equal(setup.log.at(-1)?.fields.reason, 'no connection')
})

test('a store that never answers holds nothing for good: messages come again, those too that came during the look', async () => {
  const setup = await besideStore(() => new Promise(() => undefined))
  const [first, later] = [testWork({ ruleChainId: gone }), testWork({ ruleChainId: gone })]
  await setup.run(first)
  await setup.clock.advance(5000)
  await setup.run(later)
  await setup.clock.advance(5000)
  assert.deepEqual([first.isSettled, codesOf(first)], [true, ['rulechain.CHAIN_MISSING']])
  assert.equal(setup.log.at(-1)?.fields.reason, 'no answer within 10000 ms')
  await setup.clock.advance(10_000)
  assert.deepEqual([later.isSettled, codesOf(later)], [true, ['rulechain.CHAIN_MISSING']])
})

test('what waits for a chain that is removed comes again, and then ends well', async () => {
  const setup: TestEngine = await besideStore(async () => undefined)
  const { chain } = chainOf('B', [{ type: 'pass' }], [])
  await load(setup, 'B', [{ type: 'pass' }], [])
  await loaded(setup.clock, setup.engine.remove(chain.id))
  const work = testWork({ ruleChainId: chain.id })
  await setup.run(work)
  assert.deepEqual([work.isSettled, work.errors], [true, []])
})

test('of an engine that is closed nothing ends well: it runs no chain any more', async () => {
  const setup = await besideStore(async () => undefined)
  await loaded(setup.clock, setup.engine.close())
  const work = testWork({ ruleChainId: gone })
  await setup.run(work)
  assert.deepEqual(codesOf(work), ['rulechain.CHAIN_MISSING'])
  assert.equal(setup.asked.length, 0)
})
