/** A node has so long for a message or a batch, whatever becomes of its promise. */
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { test } from 'node:test'
import type { ProcessingStrategyType } from '../../model/entities.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { message } from '../link/testkit.ts'
import { createQueue } from '../queue/queue.ts'
import { MemoryLink } from '../queue/testkit.ts'
import type { BatchResult, NodeOutput } from './node.ts'
import { chainOf, loaded, testEngine, testWork, TENANT_ID, type MakeNode, type TestEngine } from './testkit.ts'

const TIMEOUT_MS = 20_000
const KINDS = ['held', 'heldBatch'] as const

/** Nodes whose promises settle only by hand, and one that notes what comes to it. */
function types() {
  const calls: { readonly data: readonly string[]; answer(output: NodeOutput): void; break(error: Error): void }[] = []
  const arrived: Message[] = []
  let closed = 0
  const close = (): void => void closed++
  const held: MakeNode = () => ({
    handle: ({ data }) =>
      new Promise<NodeOutput>((resolve, reject) => calls.push({ data: [data], answer: resolve, break: reject })),
    close,
  })
  const heldBatch: MakeNode = () => ({
    handleBatch: (messages, result: BatchResult) =>
      new Promise<void>((resolve, reject) => {
        const answer = (output: NodeOutput): void => {
          messages.forEach((_, index) => result.emit(index, output))
          resolve()
        }
        calls.push({ data: messages.map(({ data }) => data), answer, break: reject })
      }),
    close,
  })
  const end: MakeNode = () => ({
    handle: (got) => {
      arrived.push(got)
      return undefined
    },
  })
  const forever: MakeNode = () => ({ handle: () => new Promise<NodeOutput>(() => undefined) })
  const foreverBatch: MakeNode = () => ({ handleBatch: () => new Promise<void>(() => undefined) })
  return { calls, arrived, closedCount: () => closed, types: { held, heldBatch, end, forever, foreverBatch } }
}

async function load(setup: TestEngine, kind: string, relation?: string): Promise<void> {
  const ways = relation === undefined ? [] : ([[0, relation, 1]] as const)
  const { chain, graph } = chainOf('A', [{ type: kind, name: 'slow' }, { type: 'end' }], ways)
  await loaded(setup.clock, setup.engine.load(chain, graph))
}

for (const kind of KINDS) {
  test(`issue-8 F: a message whose node (${kind}) never answers takes Failure at the deadline, and is counted`, async () => {
    const { arrived, types: nodes } = types()
    const setup = testEngine(nodes, { nodeTimeoutMs: TIMEOUT_MS })
    await load(setup, kind, 'Failure')
    const work = testWork()
    await setup.run(work)
    await setup.clock.advance(TIMEOUT_MS * 0.87)
    assert.equal(work.isSettled, false)
    await setup.clock.advance(TIMEOUT_MS * 0.13)
    assert.deepEqual([work.isSettled, work.errors], [true, []])
    assert.equal(arrived.length, 1)
    const { received, failed, timedOut, late } = setup.engine.totals()
    assert.deepEqual({ received, failed, timedOut, late }, { received: 2, failed: 1, timedOut: 1, late: 0 })
    assert.equal(setup.engine.figures()[0]?.inFlight, 0)
  })

  test(`issue-8 F: an outcome after the deadline (${kind}) is ignored and counted`, async () => {
    const { arrived, calls, types: nodes } = types()
    const setup = testEngine(nodes, { nodeTimeoutMs: TIMEOUT_MS })
    await load(setup, kind, 'Success')
    const work = testWork()
    await setup.run(work)
    await setup.clock.advance(TIMEOUT_MS)
    const [error] = work.errors
    assert.ok(isMillraceError(error) && error.isTimeout)
    calls[0]?.answer('Success')
    await setup.clock.settle()
    assert.deepEqual(arrived, [])
    assert.equal(setup.engine.totals().late, 1)
    assert.deepEqual(setup.log, [])
  })

  test(`issue-8 F: what waits behind a call that never ends (${kind}) enters the node at its deadline`, async () => {
    const { arrived, calls, types: nodes } = types()
    const setup = testEngine(nodes, { nodeTimeoutMs: TIMEOUT_MS, batchSize: 1, batchesInFlight: 1 })
    await load(setup, kind, 'Success')
    const [stuck, next] = [testWork({ data: 'stuck' }), testWork({ data: 'next' })]
    await setup.run(stuck, next)
    assert.equal(calls.length, 1)
    await setup.clock.advance(TIMEOUT_MS)
    assert.deepEqual(calls[1]?.data, ['next'])
    calls[1].answer('Success')
    await setup.clock.settle()
    assert.deepEqual(
      arrived.map(({ data }) => data),
      ['next'],
    )
    assert.deepEqual([stuck.errors.length, next.errors.length, next.isSettled], [1, 0, true])
  })

  test(`issue-8 F: what its queue gave up leaves the node (${kind}) before its time, and the version retires`, async () => {
    const { closedCount, arrived, types: nodes } = types()
    const setup = testEngine(nodes, { nodeTimeoutMs: TIMEOUT_MS, drainTimeoutMs: 10 })
    await load(setup, kind, 'Failure')
    const work = testWork()
    await setup.run(work)
    const { chain, graph } = chainOf('A', [{ type: 'end' }], [], { version: 2 })
    const next = setup.engine.load(chain, graph)
    await setup.clock.advance(10)
    await next
    assert.equal(closedCount(), 0)
    work.isCancelled = true
    await setup.clock.advance(kind === 'held' ? TIMEOUT_MS / 8 : TIMEOUT_MS)
    assert.deepEqual([closedCount(), work.isSettled], [1, true])
    assert.deepEqual(arrived, [])
  })
}

for (const [processing, failures, buried] of [
  ['RETRY_TIMED_OUT', 1, 0],
  ['RETRY_FAILED', 0, 1],
] as const satisfies readonly (readonly [ProcessingStrategyType, number, number])[]) {
  test(`issue-8 F: to the queue it is a time-out: ${processing}`, async () => {
    const { types: nodes } = types()
    const setup = testEngine(nodes, { nodeTimeoutMs: TIMEOUT_MS })
    await load(setup, 'held')
    const link = new MemoryLink()
    const queue = createQueue({ link, processor: setup.engine, clock: setup.clock, settings: { processing } })
    link.publish(message({ tenantId: TENANT_ID }))
    await setup.clock.advance(TIMEOUT_MS)
    assert.deepEqual([link.failures.length, link.buried.length], [failures, buried])
    const closed = queue.close()
    await setup.clock.advance(TIMEOUT_MS)
    await closed
  })
}

for (const kind of ['forever', 'foreverBatch'] as const) {
  test(`issue-8 F: a million calls that never settle (${kind}) hold no memory`, async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const heapMiB = (): number => {
      collect()
      return process.memoryUsage().heapUsed / 2 ** 20
    }
    const setup = testEngine(types().types, { nodeTimeoutMs: TIMEOUT_MS })
    await load(setup, kind)
    const PACK = 20_000
    let failed = 0
    const round = async (number: number): Promise<void> => {
      const works = Array.from({ length: PACK }, (_, index) => testWork({ device: `device-${number}-${index}` }))
      setup.engine.process(works)
      // Some end at the node's deadline, the others at that of their queue.
      for (const work of works.slice(1000)) work.isCancelled = true
      await setup.clock.advance(TIMEOUT_MS)
      failed += works.filter(({ isSettled }) => isSettled).length
    }
    await round(0)
    const before = heapMiB()
    for (let number = 1; number < 1_000_000 / PACK; number++) await round(number)
    const grownMiB = heapMiB() - before
    assert.equal(failed, 1_000_000)
    assert.ok(grownMiB < 16, `the heap grew by ${grownMiB.toFixed(1)} MiB`)
    assert.equal(setup.engine.figures()[0]?.inFlight, 0)
  })
}
