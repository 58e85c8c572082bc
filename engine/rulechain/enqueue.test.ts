import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineErrors, isMillraceError, type MillraceError } from '../../model/errors.ts'
import { entityId } from '../../model/entity-id.ts'
import type { Message } from '../../model/message.ts'
import type { PublishReceipt } from '../link/link.ts'
import type { NodeOutcome } from './node.ts'
import type { RuleEngineSettings } from './rule-engine.ts'
import { chainOf, loaded, testEngine, testWork, TestWork, type MakeNode, type TestEngine } from './testkit.ts'

const LinkErrors = defineErrors('test-link', {
  FULL: { kind: 'retryable', isOutage: true, status: 503, text: 'full' },
})

const enqueue: MakeNode = (_context, { queueName }) => {
  const step = { flow: 'enqueue', relation: 'Success' } as const
  return { handle: () => (typeof queueName === 'string' ? { ...step, queueName } : step) }
}
const pass: MakeNode = () => ({ handle: () => 'Success' })

function sink() {
  const seen: Message[] = []
  const make: MakeNode = () => ({
    handle: (message) => {
      seen.push(message)
      return undefined
    },
  })
  return { seen, make }
}

async function load(setup: TestEngine, ...chain: Parameters<typeof chainOf>): Promise<void> {
  const { chain: record, graph } = chainOf(...chain)
  const start = await loaded(setup.clock, setup.engine.load(record, graph))
  assert.equal(start.error, undefined)
}

/** Hands what was put into queues back to the engine, as a link does, until nothing more comes. */
async function deliver(setup: TestEngine): Promise<TestWork[]> {
  const works: TestWork[] = []
  for (let next = setup.published.shift(); next !== undefined; next = setup.published.shift()) {
    const work = new TestWork(next)
    works.push(work)
    await setup.run(work)
  }
  return works
}

test('a message is put into the queue under a new id, and goes on from there behind the node', async () => {
  const end = sink()
  const setup = testEngine({ pass, enqueue, end: end.make })
  const nodes = [{ type: 'pass' }, { type: 'enqueue', configuration: { queueName: 'Slow' } }, { type: 'end' }]
  await load(setup, 'A', nodes, [
    [0, 'Success', 1],
    [1, 'Success', 2],
  ])
  const work = testWork({ ts: 5, data: '{"a":1}', metadata: { k: 'v' } })
  work.message.sequence = 77
  await setup.run(work)
  assert.ok(work.isSettled && work.errors.length === 0)
  assert.deepEqual(end.seen, [])
  const [queued] = setup.published
  assert.notEqual(queued?.id, work.message.id)
  assert.deepEqual([queued?.ts, queued?.data, queued?.metadata, queued?.queueName], [5, '{"a":1}', { k: 'v' }, 'Slow'])
  assert.equal(queued?.sequence, 0)
  const [onward] = await deliver(setup)
  assert.deepEqual(end.seen, [queued])
  assert.ok(onward?.isSettled)
})

test('without a queue of its own the message stays in the queue it came from', async () => {
  const setup = testEngine({ enqueue, end: sink().make })
  await load(setup, 'A', [{ type: 'enqueue' }, { type: 'end' }], [[0, 'Success', 1]])
  await setup.run(testWork({ queueName: 'Fast' }), testWork())
  assert.deepEqual(
    setup.published.map(({ queueName }) => queueName),
    ['Fast', undefined],
  )
})

test('each connected node gets a message of its own; without one the message ends', async () => {
  const end = sink()
  const setup = testEngine({ enqueue, end: end.make })
  const nodes = [{ type: 'enqueue' }, { type: 'end' }, { type: 'end' }]
  await load(setup, 'A', nodes, [
    [0, 'Success', 1],
    [0, 'Success', 2],
  ])
  await setup.run(testWork())
  assert.deepEqual(
    setup.published.map(({ resumption }) => resumption?.ruleNodeId),
    ['A-1', 'A-2'],
  )
  assert.notEqual(setup.published[0]?.id, setup.published[1]?.id)
  await deliver(setup)
  assert.equal(end.seen.length, 2)
  await load(setup, 'A', [{ type: 'enqueue' }], [])
  const unconnected = testWork()
  await setup.run(unconnected)
  assert.ok(unconnected.isSettled && unconnected.errors.length === 0)
  assert.deepEqual(setup.published, [])
})

test('an inner chain’s checkpoint still returns to its caller, and the way forward keeps the device’s own chain', async () => {
  const end = sink()
  const enter: MakeNode = () => ({ handle: () => ({ flow: 'enter', ruleChainId: 'INNER' }) })
  const back: MakeNode = () => ({ handle: () => ({ flow: 'return', relation: 'Done' }) })
  const setup = testEngine({ enter, back, enqueue, end: end.make })
  await load(setup, 'OUTER', [{ type: 'enter' }, { type: 'end' }], [[0, 'Done', 1]])
  await load(setup, 'INNER', [{ type: 'enqueue' }, { type: 'back' }], [[0, 'Success', 1]], { root: false })
  const work = testWork({ ruleChainId: 'OUTER', queueName: 'Fast' })
  await setup.run(work)
  assert.deepEqual(setup.published[0]?.resumption, {
    ruleChainId: 'INNER',
    ruleNodeId: 'INNER-1',
    executions: 2,
    firstQueueName: 'Fast',
    callers: [{ ruleChainId: 'OUTER', ruleNodeId: 'OUTER-0' }],
  })
  await deliver(setup)
  assert.deepEqual(
    end.seen.map(({ ruleChainId }) => ruleChainId),
    ['OUTER'],
  )
})

test('what a node enqueues behind a checkpoint begins anew, in the queue in which its cause began', async () => {
  const notify: MakeNode = (context) => ({
    handle: async (message) => {
      await context.enqueue(message.with({ type: 'ATTRIBUTES_UPDATED' }))
      return undefined
    },
  })
  const setup = testEngine({ enqueue, notify })
  const slow = { type: 'enqueue', configuration: { queueName: 'Slow' } }
  const slower = { type: 'enqueue', configuration: { queueName: 'Slower' } }
  await load(
    setup,
    'A',
    [slow, slower, { type: 'notify' }],
    [
      [0, 'Success', 1],
      [1, 'Success', 2],
    ],
  )
  await setup.run(testWork({ ruleChainId: 'A', queueName: 'Fast' }))
  for (const queueName of ['Slow', 'Slower']) {
    const next = setup.published.shift()
    assert.equal(next?.queueName, queueName)
    await setup.run(new TestWork(next))
  }
  const [caused] = setup.published
  assert.deepEqual(
    [caused?.type, caused?.ruleChainId, caused?.queueName, caused?.resumption],
    ['ATTRIBUTES_UPDATED', 'A', 'Fast', undefined],
  )
})

test('Q4: what goes round over queues without end is cut where its executions are used up, with the reason', async () => {
  const setup = testEngine({ pass, enqueue }, { maxNodeExecutions: 50 })
  const nodes = [{ type: 'pass' }, { type: 'enqueue' }, { type: 'pass' }]
  await load(setup, 'A', nodes, [
    [0, 'Success', 1],
    [1, 'Success', 2],
  ])
  await setup.run(testWork())
  // No chain that can be saved leads back: the message is sent back by hand, as a loop over chains would.
  let hops = 0
  let last: TestWork | undefined
  for (let next = setup.published.shift(); next !== undefined && hops < 1000; next = setup.published.shift()) {
    const { resumption } = next
    assert.ok(resumption !== undefined)
    last = new TestWork(next.with({ resumption: { ...resumption, ruleNodeId: 'A-0' } }))
    await setup.run(last)
    hops++
  }
  assert.equal(hops, 25)
  assert.match(last?.errors[0]?.message ?? '', /more than 50 rule nodes/)
})

test('Q4: a chain that is entered a second time through the same node is refused behind a checkpoint too', async () => {
  const enterB: MakeNode = () => ({ handle: () => ({ flow: 'enter', ruleChainId: 'B' }) })
  const enterA: MakeNode = () => ({ handle: () => ({ flow: 'enter', ruleChainId: 'A' }) })
  const setup = testEngine({ enqueue, enterA, enterB })
  await load(setup, 'A', [{ type: 'enqueue' }, { type: 'enterB' }], [[0, 'Success', 1]])
  await load(setup, 'B', [{ type: 'enqueue' }, { type: 'enterA' }], [[0, 'Success', 1]], { root: false })
  await setup.run(testWork({ ruleChainId: 'A' }))
  const works = await deliver(setup)
  const failed = works.filter(({ errors }) => errors.length > 0)
  assert.equal(works.length, 3)
  assert.match(failed[0]?.errors[0]?.message ?? '', /loop/)
  assert.equal(failed[0], works.at(-1))
})

function refusing(settings: Partial<RuleEngineSettings> = {}) {
  const receipts: PublishReceipt[] = []
  const end = sink()
  const setup = testEngine({ enqueue, end: end.make }, settings, {
    publish: (_message, receipt) => void receipts.push(receipt),
  })
  return { setup, receipts, end }
}

test('a message that the link refuses takes Failure, and ends with the link’s reason where nothing is connected', async () => {
  const { setup, receipts, end } = refusing()
  const refuse = (error: MillraceError): void => receipts.splice(0).forEach((receipt) => receipt.refused(error))
  const nodes = [{ type: 'enqueue' }, { type: 'end' }, { type: 'end' }]
  await load(setup, 'A', nodes, [
    [0, 'Success', 1],
    [0, 'Failure', 2],
  ])
  const handled = testWork()
  await setup.run(handled)
  assert.equal(handled.isSettled, false)
  refuse(LinkErrors.FULL())
  assert.equal(end.seen.length, 1)
  assert.ok(handled.isSettled)
  await load(setup, 'A', [{ type: 'enqueue' }, { type: 'end' }], [[0, 'Success', 1]])
  const unhandled = testWork()
  await setup.run(unhandled)
  refuse(LinkErrors.FULL())
  const [error] = unhandled.errors
  assert.ok(isMillraceError(error) && error.isOutage)
})

test('the message ends only when every one of its queue messages is stored', async () => {
  const { setup, receipts } = refusing()
  const nodes = [{ type: 'enqueue' }, { type: 'end' }, { type: 'end' }]
  await load(setup, 'A', nodes, [
    [0, 'Success', 1],
    [0, 'Success', 2],
  ])
  const work = testWork()
  await setup.run(work)
  receipts.shift()?.stored()
  assert.equal(work.isSettled, false)
  receipts.shift()?.stored()
  assert.ok(work.isSettled && work.errors.length === 0)
})

test('a new version of the chain waits until the old one’s messages are stored', async () => {
  const { setup, receipts } = refusing({ drainTimeoutMs: 60_000 })
  await load(setup, 'A', [{ type: 'enqueue' }, { type: 'end' }], [[0, 'Success', 1]])
  await setup.run(testWork())
  const { chain, graph } = chainOf('A', [{ type: 'end' }], [])
  let isIn = false
  const change = setup.engine.load(chain, graph).then(() => (isIn = true))
  await setup.clock.settle()
  assert.equal(isIn, false)
  receipts.shift()?.stored()
  await setup.clock.settle()
  assert.equal(isIn, true)
  await change
})

test('issue-8 I: a message delivered twice makes the same children, each of them once', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<undefined>()
  const split: MakeNode = () => ({
    handle: (message) => ['a', 'b', 'b'].map((data) => ({ message: message.with({ data }), relations: ['Success'] })),
  })
  /** The second time it answers later than its neighbour: the order of the branches is not the same. */
  let runs = 0
  const late: MakeNode = () => ({
    handle: async () => {
      if (++runs > 4) await held
      return 'Success'
    },
  })
  const told: MakeNode = (context) => ({
    handle: async (message) => {
      await context.enqueue(message.with({ type: 'ATTRIBUTES_UPDATED' }))
      return 'Success'
    },
  })
  const setup = testEngine({ pass, split, late, told, enqueue, end: sink().make })
  // Each of three messages takes two ways, which meet again in front of one checkpoint with two nodes behind it.
  const nodes = ['split', 'late', 'pass', 'told', 'enqueue', 'end', 'end'].map((type) => ({ type }))
  await load(setup, 'A', nodes, [
    [0, 'Success', 1],
    [0, 'Success', 2],
    [1, 'Success', 3],
    [2, 'Success', 4],
    [3, 'Success', 4],
    [4, 'Success', 5],
    [4, 'Success', 6],
  ])
  const parent = testWork({ id: '0b1c2d3e-0000-4000-8000-000000000001' }).message
  const childrenOf = async (message: Message): Promise<string[]> => {
    await setup.run(new TestWork(message))
    release(undefined)
    await setup.clock.settle()
    return setup.published
      .splice(0)
      .map(({ id, data, type, resumption }) => `${id} ${type} ${data} ${resumption?.ruleNodeId}`)
  }
  const first = await childrenOf(parent)
  const second = await childrenOf(parent)
  const other = await childrenOf(parent.with({ id: '0b1c2d3e-0000-4000-8000-000000000002' }))
  // Twelve checkpointed, and what the node told of "a" and of "b": told twice in the same words, that is one message.
  assert.equal(new Set(first).size, 14)
  assert.deepEqual([...second].sort(), [...first].sort())
  const ids = (children: readonly string[]): Set<string> => new Set(children.map((child) => child.split(' ')[0] ?? ''))
  assert.equal(ids(first).size, 14)
  assert.ok(![...ids(other)].some((id) => ids(first).has(id)))
  for (const id of ids(first)) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('issue-8 I: a message that comes through one fork twice has children of its own from each visit, the same on a redelivery', async () => {
  const enterFork: MakeNode = () => ({ handle: () => ({ flow: 'enter', ruleChainId: 'FORK' }) })
  const backBy = (relation: string): MakeNode => {
    return () => ({ handle: () => ({ flow: 'return', relation }) })
  }
  const types = { pass, enterFork, first: backBy('first'), second: backBy('second'), enqueue, end: sink().make }
  const setup = testEngine(types)
  // The fork's first way leads back into the fork through another node, its second one to the checkpoint.
  const nodes = ['enterFork', 'enterFork', 'enqueue', 'end'].map((type) => ({ type }))
  await load(setup, 'A', nodes, [
    [0, 'first', 1],
    [0, 'second', 2],
    [1, 'second', 2],
    [2, 'Success', 3],
  ])
  const fork = ['pass', 'first', 'second'].map((type) => ({ type }))
  const ways = [[0, 'Success', 1] as const, [0, 'Success', 2] as const]
  await load(setup, 'FORK', fork, ways, { root: false })
  const parent = testWork({ id: '0b1c2d3e-0000-4000-8000-000000000003' }).message
  const childrenOf = async (): Promise<string[]> => {
    await setup.run(new TestWork(parent))
    return setup.published.splice(0).map(({ id }) => id)
  }
  const first = await childrenOf()
  assert.equal(first.length, 2)
  assert.equal(new Set(first).size, 2, 'two children have one id')
  assert.deepEqual(await childrenOf(), first)
})

test('what comes of a message that was settled before goes on behind its node, by way of the queue', async () => {
  const call = Promise.withResolvers<NodeOutcome>()
  const end = sink()
  const asks: MakeNode = () => ({ handle: () => ({ flow: 'afterwards', outcome: call.promise }) })
  const setup = testEngine({ asks, end: end.make })
  await load(setup, 'A', [{ type: 'asks' }, { type: 'end' }], [[0, 'Failure', 1]])
  const work = testWork({ id: '44444444-4444-4444-8444-444444444444' })
  await setup.run(work)
  assert.ok(work.isSettled)
  assert.equal(setup.engine.acknowledgedFigures().open, 1)
  call.resolve({ message: work.message.with({ data: '{"error":1}' }), relation: 'Failure' })
  await setup.clock.settle()
  assert.equal(end.seen.length, 0)
  const [came] = setup.published
  assert.ok(came !== undefined && came.id !== work.message.id)
  assert.equal(setup.engine.acknowledgedFigures().open, 0)
  await setup.run(testWork({ ...came, resumption: came.resumption }))
  assert.deepEqual(
    end.seen.map(({ data }) => data),
    ['{"error":1}'],
  )
})

test('an outcome that fails takes Failure; over the bound of settled messages it is the message’s own', async () => {
  const asks: MakeNode = () => ({ handle: () => ({ flow: 'afterwards', outcome: Promise.reject(new Error('lost')) }) })
  const setup = testEngine({ asks }, { maxAcknowledged: 1 })
  await load(setup, 'A', [{ type: 'asks' }], [])
  const [first, second] = [testWork(), testWork()]
  await setup.run(first, second)
  assert.ok(first.isSettled && second.isSettled)
  assert.deepEqual(first.errors, [])
  assert.match(second.errors[0]?.message ?? '', /lost/)
  assert.equal(setup.engine.acknowledgedFigures().failed, 1)
})

test('what a node makes begins where messages of its originator begin, also where a node changed that one', async () => {
  const known = entityId('DEVICE', '00000000-0000-4000-8000-0000000000d2')
  const gone = entityId('DEVICE', '00000000-0000-4000-8000-0000000000d3')
  const tells: MakeNode = (context) => ({
    handle: async (message) => {
      await context.enqueue(message.with({ type: 'NEW' }))
      for (const originator of [known, gone]) await context.enqueue(message.with({ type: 'NEW', originator }))
      return 'Success'
    },
  })
  const routes = {
    of: async ({ id }: { readonly id: string }) =>
      id === known.id ? { ruleChainId: undefined, queueName: 'Slow' } : undefined,
  }
  const setup = testEngine({ tells }, {}, undefined, { capabilities: { routes: () => routes } })
  await load(setup, 'A', [{ type: 'tells' }], [])
  await setup.run(testWork({ ruleChainId: 'A', queueName: 'Fast' }))
  assert.deepEqual(
    setup.published.map(({ ruleChainId, queueName }) => [ruleChainId, queueName]),
    [
      ['A', 'Fast'],
      [undefined, 'Slow'],
      ['A', 'Fast'],
    ],
  )
})
