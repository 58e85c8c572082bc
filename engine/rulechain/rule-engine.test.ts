import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineErrors } from '../../model/errors.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { chainOf, loaded, testEngine, testWork } from './testkit.ts'
import type { MakeNode, TestEngine } from './testkit.ts'

const TestErrors = defineErrors('test', {
  LATER: { kind: 'retryable', status: 503, text: 'not yet' },
  NEVER: { kind: 'invalid', status: 400, text: 'never' },
})

const pass: MakeNode = () => ({ handle: () => 'Success' })
const byType: MakeNode = () => ({ handle: (message) => message.type })

/** A node that notes what reaches it. */
function sink(): { readonly seen: Message[]; readonly make: MakeNode } {
  const seen: Message[] = []
  return { seen, make: () => ({ handle: (message) => (seen.push(message), 'Success') }) }
}

function load(setup: TestEngine, ...parts: Parameters<typeof chainOf>) {
  const { chain, graph } = chainOf(...parts)
  return loaded(setup.clock, setup.engine.load(chain, graph))
}

test('a message follows its relations, whatever their case, and settles at the end', async () => {
  const end = sink()
  const setup = testEngine({ byType, end: end.make })
  await load(setup, 'A', [{ type: 'byType' }, { type: 'end' }], [[0, 'Post TELEMETRY', 1]])
  const taken = testWork({ type: 'post telemetry' })
  const untaken = testWork({ type: 'something else' })
  await setup.run(taken, untaken)
  assert.deepEqual(end.seen, [taken.message])
  assert.ok(taken.isSettled && untaken.isSettled)
  assert.deepEqual([...taken.errors, ...untaken.errors], [])
})

test('a tenant without a root chain fails its messages with that reason', async () => {
  const setup = testEngine({})
  const work = testWork()
  await setup.run(work)
  assert.match(work.errors[0]?.message ?? '', /no root rule chain/)
})

test('a message addressed to a chain of another tenant does not reach it', async () => {
  const end = sink()
  const setup = testEngine({ end: end.make })
  await load(setup, 'A', [{ type: 'end' }], [])
  const work = testWork({ tenantId: '20000000-0000-4000-8000-000000000002', ruleChainId: 'A' })
  await setup.run(work)
  assert.equal(end.seen.length, 0)
  assert.ok(work.errors[0] !== undefined)
})

test('a message addressed to a node starts there, and one to a node that is gone ends well', async () => {
  const end = sink()
  const setup = testEngine({ pass, end: end.make })
  await load(setup, 'A', [{ type: 'pass' }, { type: 'end' }], [])
  const direct = testWork({ ruleNodeId: 'A-1' })
  const gone = testWork({ ruleNodeId: 'A-9' })
  await setup.run(direct, gone)
  assert.deepEqual(end.seen, [direct.message])
  assert.ok(gone.isSettled)
  assert.deepEqual(gone.errors, [])
})

test('a thrown error takes Failure with the message as it was, where something is connected', async () => {
  const end = sink()
  const broken: MakeNode = () => ({
    handle: () => {
      throw TestErrors.NEVER()
    },
  })
  const setup = testEngine({ broken, end: end.make })
  await load(setup, 'A', [{ type: 'broken' }, { type: 'end' }], [[0, 'failure', 1]])
  const work = testWork({ metadata: { deviceName: 'A' } })
  await setup.run(work)
  assert.deepEqual(end.seen[0]?.metadata, { deviceName: 'A' })
  assert.deepEqual(work.message.metadata, { deviceName: 'A' })
  assert.deepEqual(work.errors, [])
})

test('a failure that nothing is connected to ends the message with chain, node and kind', async () => {
  const broken: MakeNode = () => ({
    handle: () => {
      throw TestErrors.LATER()
    },
  })
  const setup = testEngine({ broken })
  await load(setup, 'A', [{ type: 'broken', name: 'Breaker' }], [])
  const work = testWork()
  await setup.run(work)
  const [error] = work.errors
  assert.ok(isMillraceError(error))
  assert.equal(error.kind, 'retryable')
  assert.match(error.message, /chain A.*Breaker.*not yet/)
  assert.equal(setup.engine.figures()[0]?.nodes[0]?.failed, 1)
})

test('a fork settles its message only when the last of its branches has ended', async () => {
  const end = sink()
  const slow = Promise.withResolvers<string>()
  const setup = testEngine({ pass, end: end.make, slow: () => ({ handle: () => slow.promise }) })
  const nodes = [{ type: 'pass' }, { type: 'end' }, { type: 'slow' }, { type: 'end' }]
  await load(setup, 'A', nodes, [
    [0, 'Success', 1],
    [0, 'SUCCESS', 2],
    [2, 'Success', 3],
  ])
  const work = testWork()
  await setup.run(work)
  assert.equal(end.seen.length, 1)
  assert.equal(work.open, 1)
  slow.resolve('Success')
  await setup.clock.settle()
  assert.deepEqual(end.seen, [work.message, work.message])
  assert.ok(work.isSettled)
})

test('a message that runs through more nodes than allowed fails and takes no Failure relation', async () => {
  const end = sink()
  const setup = testEngine({ pass, end: end.make }, { maxNodeExecutions: 4 })
  const forks = Array.from({ length: 4 }, () => ({ type: 'pass' }))
  // Every node forks onto all that follow: the number of executions doubles with each.
  await load(
    setup,
    'A',
    [...forks, { type: 'end' }],
    [
      [0, 'Success', 1],
      [0, 'Success', 2],
      [1, 'Success', 2],
      [1, 'Success', 3],
      [2, 'Success', 3],
      [3, 'Success', 4],
      [3, 'Failure', 4],
    ],
  )
  const work = testWork()
  await setup.run(work)
  assert.ok(work.isSettled)
  assert.match(work.errors[0]?.message ?? '', /more than 4 rule nodes/)
})

test('messages of one originator leave a batch node in their order, however its batches end', async () => {
  const end = sink()
  const batches: { readonly size: number; finish(): void }[] = []
  const batched: MakeNode = () => ({
    handleBatch: (messages, result) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const finish = (): void => {
        for (let index = messages.length - 1; index >= 0; index--) result.emit(index, 'Success')
        resolve()
      }
      batches.push({ size: messages.length, finish })
      return promise
    },
  })
  const setup = testEngine({ batched, end: end.make }, { batchSize: 2, batchesInFlight: 3 })
  await load(setup, 'A', [{ type: 'batched' }, { type: 'end' }], [[0, 'Success', 1]])
  const works = Array.from({ length: 7 }, () => testWork())
  await setup.run(...works)
  assert.deepEqual(
    batches.map(({ size }) => size),
    [2, 2, 2],
    'three batches under way, one message waits',
  )
  batches[2]?.finish()
  batches[1]?.finish()
  await setup.clock.settle()
  assert.equal(end.seen.length, 0, 'the first batch holds the others back')
  batches[0]?.finish()
  await setup.clock.settle()
  batches[3]?.finish()
  await setup.clock.settle()
  assert.deepEqual(
    end.seen,
    works.map(({ message }) => message),
  )
  assert.ok(works.every(({ isSettled }) => isSettled))
})

test('a node whose batches are gathered has full ones under way beyond the limit, up to so many characters', async () => {
  const sizes: number[] = []
  const finishes: (() => void)[] = []
  const gathered: MakeNode = () => ({
    isGathered: true,
    handleBatch: (messages, result) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      sizes.push(messages.length)
      finishes.push(() => {
        for (let index = 0; index < messages.length; index++) result.emit(index, 'Success')
        resolve()
      })
      return promise
    },
  })
  const limits = { batchSize: 2, batchesInFlight: 1, gatheredCharacters: 50 }
  const setup = testEngine({ gathered }, limits)
  await load(setup, 'A', [{ type: 'gathered' }], [])
  const works = Array.from({ length: 9 }, () => testWork({ data: '{"a":1.25}' }))
  await setup.run(...works)
  assert.deepEqual(sizes, [2, 2, 2], 'of 10 characters each: the third began below 50')
  finishes[0]?.()
  await setup.clock.settle()
  assert.deepEqual(sizes, [2, 2, 2, 2], 'room for one more; the last message is no full batch')
  for (let place = 1; place < 4; place++) {
    finishes[place]?.()
    await setup.clock.settle()
  }
  assert.deepEqual(sizes, [2, 2, 2, 2, 1])
  finishes[4]?.()
  await setup.clock.settle()
  assert.ok(works.every(({ isSettled }) => isSettled))
})

test('a node that answers with a promise gets one message of an originator at a time, and others meanwhile', async () => {
  const entered: string[] = []
  const answers = new Map<string, (relation: string) => void>()
  const slow: MakeNode = () => ({
    handle: (message) => {
      entered.push(message.data)
      return new Promise((resolve) => answers.set(message.data, resolve))
    },
  })
  const setup = testEngine({ slow })
  await load(setup, 'A', [{ type: 'slow' }], [])
  const works = [
    testWork({ device: 'a', data: 'a1' }),
    testWork({ device: 'a', data: 'a2' }),
    testWork({ device: 'b', data: 'b1' }),
  ]
  await setup.run(...works)
  assert.deepEqual(entered, ['a1', 'b1'])
  answers.get('a1')?.('Success')
  await setup.clock.settle()
  assert.deepEqual(entered, ['a1', 'b1', 'a2'])
  answers.get('a2')?.('Success')
  answers.get('b1')?.('Success')
  await setup.clock.settle()
  assert.ok(works.every(({ isSettled }) => isSettled))
})

test('what a batch node leaves open or throws fails, and a second outcome is reported and changes nothing', async () => {
  const careless: MakeNode = () => ({
    handleBatch: (_messages, result) => {
      result.emit(0, 'Success')
      result.fail(0, new Error('changed its mind'))
    },
  })
  const throwing: MakeNode = () => ({
    handleBatch: async () => {
      throw TestErrors.NEVER()
    },
  })
  const setup = testEngine({ careless, throwing })
  await load(setup, 'A', [{ type: 'careless' }], [])
  await load(setup, 'B', [{ type: 'throwing' }], [], { root: false })
  const works = [testWork(), testWork(), testWork({ ruleChainId: 'B' })]
  await setup.run(...works)
  assert.deepEqual(
    works.map(({ isSettled }) => isSettled),
    [true, true, true],
  )
  assert.deepEqual(works[0]?.errors, [])
  assert.match(works[1]?.errors[0]?.message ?? '', /without an outcome/)
  assert.match(works[2]?.errors[0]?.message ?? '', /never/)
  assert.equal(setup.log.filter(({ text }) => text.includes('broke its contract')).length, 1)
})

test('a message goes through another chain and comes back by the name of its output node', async () => {
  const end = sink()
  const setup = testEngine({
    enter: () => ({ handle: () => ({ flow: 'enter', ruleChainId: 'B' }) }),
    output: (context) => ({ handle: () => ({ flow: 'return', relation: context.ruleNodeName }) }),
    pass,
    end: end.make,
  })
  await load(setup, 'A', [{ type: 'enter' }, { type: 'end' }], [[0, 'alarm', 1]])
  await load(setup, 'B', [{ type: 'pass' }, { type: 'output', name: 'Alarm' }], [[0, 'Success', 1]], { root: false })
  const work = testWork()
  const uncalled = testWork({ ruleChainId: 'B' })
  const addressed = testWork({ ruleNodeId: 'A-0' })
  await setup.run(work, uncalled, addressed)
  assert.deepEqual(
    end.seen.map(({ id }) => id),
    [work.message.id, addressed.message.id],
  )
  assert.ok(work.isSettled && uncalled.isSettled && addressed.isSettled)
  assert.deepEqual(work.errors, [])
})

test('a failure that a node emits with its reason ends with it where nothing is connected', async () => {
  const end = sink()
  const refusing: MakeNode = () => ({
    handle: (message) => ({
      message: message.with({ data: '{"why":1}' }),
      relations: ['Failure'],
      error: TestErrors.NEVER(),
    }),
  })
  const setup = testEngine({ refusing, end: end.make })
  await load(setup, 'A', [{ type: 'refusing' }, { type: 'end' }], [[0, 'Failure', 1]])
  await load(setup, 'B', [{ type: 'refusing' }], [], { root: false })
  const [handled, unhandled] = [testWork(), testWork({ ruleChainId: 'B' })]
  await setup.run(handled, unhandled)
  assert.equal(end.seen[0]?.data, '{"why":1}')
  assert.deepEqual(handled.errors, [])
  assert.match(unhandled.errors[0]?.message ?? '', /never/)
})

test('chains that enter each other fail the message instead of turning for ever', async () => {
  const end = sink()
  const setup = testEngine({
    enterA: () => ({ handle: () => ({ flow: 'enter', ruleChainId: 'A' }) }),
    enterB: () => ({ handle: () => ({ flow: 'enter', ruleChainId: 'B' }) }),
    enterC: () => ({ handle: () => ({ flow: 'enter', ruleChainId: 'C' }) }),
    end: end.make,
  })
  await load(setup, 'A', [{ type: 'enterB' }, { type: 'end' }], [[0, 'Failure', 1]])
  await load(setup, 'B', [{ type: 'enterA' }], [], { root: false })
  const work = testWork()
  const toItself = testWork({ ruleChainId: 'C' })
  await load(setup, 'C', [{ type: 'enterC' }], [], { root: false })
  await setup.run(work, toItself)
  assert.equal(end.seen.length, 1)
  assert.deepEqual(work.errors, [])
  assert.match(toItself.errors[0]?.message ?? '', /loop/)
  assert.ok(work.isSettled && toItself.isSettled)
})

test('an acknowledged message settles at once and goes on, its later failure counted and no longer its own', async () => {
  const release = Promise.withResolvers<string>()
  const setup = testEngine(
    { ack: () => ({ handle: () => ({ flow: 'acknowledge' }) }), slow: () => ({ handle: () => release.promise }) },
    { maxAcknowledged: 1 },
  )
  await load(setup, 'A', [{ type: 'ack' }, { type: 'slow' }], [[0, 'Success', 1]])
  const first = testWork({ device: 'a' })
  const second = testWork({ device: 'b' })
  await setup.run(first, second)
  assert.ok(first.isSettled)
  assert.ok(!second.isSettled, 'over the bound a message settles at its end')
  release.reject(new Error('too late'))
  await setup.clock.settle()
  assert.deepEqual(first.errors, [])
  assert.equal(second.errors.length, 1)
  assert.deepEqual(setup.engine.acknowledgedFigures(), { open: 0, failed: 1 })
})

test('emissions become branches of their own, and an unconnected Failure among them fails the message', async () => {
  const end = sink()
  const setup = testEngine({
    split: () => ({
      handle: (message) => [
        { message: message.with({ data: '1' }), relations: ['Success', 'success', 'Other'] },
        { message: message.with({ data: '2' }), relations: ['Success'] },
        { message: message.with({ data: '3' }), relations: ['Failure'] },
      ],
    }),
    end: end.make,
  })
  await load(
    setup,
    'A',
    [{ type: 'split' }, { type: 'end' }, { type: 'end' }],
    [
      [0, 'Success', 1],
      [0, 'Other', 2],
    ],
  )
  const work = testWork()
  await setup.run(work)
  assert.deepEqual(
    end.seen.map(({ data }) => data),
    ['1', '1', '2'],
  )
  assert.ok(work.isSettled)
  assert.equal(work.errors.length, 1)
})

test('a full mailbox refuses as retryable instead of growing', async () => {
  const setup = testEngine({ pass }, { mailboxCapacity: 2 })
  await load(setup, 'A', [{ type: 'pass' }], [])
  const works = [testWork(), testWork(), testWork()]
  await setup.run(...works)
  assert.deepEqual(
    works.map(({ errors }) => errors.length),
    [0, 0, 1],
  )
  const [error] = works[2]?.errors ?? []
  assert.ok(isMillraceError(error) && error.kind === 'retryable')
})

test('a work that is ended once too often is reported and its neighbours go on', async () => {
  const end = sink()
  const setup = testEngine({ end: end.make })
  await load(setup, 'A', [{ type: 'end' }], [])
  const settled = testWork()
  settled.end()
  const neighbour = testWork()
  await setup.run(settled, neighbour)
  assert.ok(neighbour.isSettled)
  assert.deepEqual(
    setup.log.map(({ level, fields }) => [level, fields['reason']]),
    [['error', 'ended once too often']],
  )
})

test('figures tell what each node received and failed, what waits and what found its node gone', async () => {
  const hang = Promise.withResolvers<string>()
  const setup = testEngine({ pass, slow: () => ({ handle: () => hang.promise }) })
  await load(setup, 'A', [{ type: 'pass' }, { type: 'slow' }], [[0, 'Success', 1]])
  await setup.run(testWork(), testWork(), testWork({ ruleNodeId: 'A-9' }))
  const [chain] = setup.engine.figures()
  assert.deepEqual(
    chain?.nodes.map(({ received }) => received),
    [2, 1 + 1],
  )
  assert.deepEqual([chain.inFlight, chain.dropped], [2, 1])
  hang.resolve('Failure')
  await setup.clock.settle()
  const [after] = setup.engine.figures()
  assert.deepEqual([after?.inFlight, after?.nodes[1]?.failed], [0, 2])
})

test('a node puts a new message into the link under a new id, at the start of its chain', async () => {
  const setup = testEngine({
    enqueue: (context) => ({
      handle: async (message) => {
        await context.enqueue(message.with({ type: 'ATTRIBUTES_UPDATED' }))
        return 'Success'
      },
    }),
  })
  await load(setup, 'A', [{ type: 'enqueue' }], [])
  const work = testWork({ ruleChainId: 'A', ruleNodeId: 'A-0' })
  await setup.run(work)
  const [published] = setup.published
  assert.ok(published !== undefined && work.isSettled)
  assert.notEqual(published.id, work.message.id)
  assert.equal(published.ruleNodeId, undefined)
  assert.equal(published.ruleChainId, 'A')
  assert.equal(published.type, 'ATTRIBUTES_UPDATED')
})
