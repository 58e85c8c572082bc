import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ManualClock } from '../actor/testkit.ts'
import { SeededRandom } from '../actor/testkit.ts'
import type { NodeOutput } from './node.ts'
import { chainOf, loaded, testEngine, testWork } from './testkit.ts'
import type { MakeNode, TestWork } from './testkit.ts'

/** `SEED=<n>` repeats one run; without it each run takes a new one and prints it. */
const seed = process.env['SEED'] === undefined ? Date.now() % 1_000_000 : Number(process.env['SEED'])
const RELATIONS = ['Success', 'Failure', 'Other', 'SUCCESS']

/** Nodes that answer at random: at once, later, in batches, with several emissions, with errors. */
function randomNodes(random: SeededRandom, delayed: (() => void)[], passed: (node: string, work: string) => void) {
  const output = (message: Parameters<NonNullable<ReturnType<typeof probe>['handle']>>[0]): NodeOutput => {
    const relation = RELATIONS[random.below(RELATIONS.length)] ?? 'Success'
    if (random.chance(0.1)) throw new Error('planned failure')
    if (random.chance(0.1)) return undefined
    if (random.chance(0.2)) return { message, relations: ['Success', relation] }
    if (random.chance(0.1)) return [1, 2].map(() => ({ message, relations: [relation] }))
    return relation
  }
  const probe = (name: string) => ({
    handle: (message: TestWork['message']) => {
      passed(name, message.id)
      return output(message)
    },
  })
  const immediate: MakeNode = (context) => probe(context.ruleNodeId)
  const promising: MakeNode = (context) => ({
    handle: (message) => {
      if (random.chance(0.3)) return probe(context.ruleNodeId).handle(message)
      return new Promise<NodeOutput>((resolve) => delayed.push(() => resolve(undefined))).then(() =>
        probe(context.ruleNodeId).handle(message),
      )
    },
  })
  const batched: MakeNode = (context) => ({
    handleBatch: async (messages, result) => {
      if (random.chance(0.5)) await new Promise<void>((resolve) => delayed.push(resolve))
      const order = messages.map((_, index) => index)
      if (random.chance(0.5)) order.reverse()
      for (const index of order) {
        const message = messages[index]
        if (message === undefined) continue
        try {
          result.emit(index, probe(context.ruleNodeId).handle(message))
        } catch (error) {
          result.fail(index, error as Error)
        }
      }
    },
  })
  return { immediate, promising, batched }
}

test(`random graphs settle every message exactly once, through changes of the chain (SEED=${seed})`, async () => {
  const random = new SeededRandom(seed)
  for (let round = 0; round < 30; round++) {
    const delayed: (() => void)[] = []
    const visits = new Map<string, number>()
    const types = randomNodes(random, delayed, (node, work) => visits.set(`${node} ${work}`, 1))
    const setup = testEngine(types, { batchSize: 3, batchesInFlight: 2, maxNodeExecutions: 40 })
    const works: TestWork[] = []
    for (let step = 0; step < 12; step++) {
      if (step === 0 || random.chance(0.3)) {
        const { chain, graph } = randomChain(random, Object.keys(types))
        const change = setup.engine.load(chain, graph)
        await releasedUntil(change, delayed, setup.clock, random)
      }
      const arrived = Array.from({ length: random.below(8) }, () => testWork({ device: `device-${random.below(3)}` }))
      works.push(...arrived)
      await setup.run(...arrived)
      if (random.chance(0.5)) delayed.splice(random.below(delayed.length + 1), 1)[0]?.()
      await setup.clock.settle()
    }
    while (delayed.length > 0) {
      delayed.splice(random.below(delayed.length), 1)[0]?.()
      await setup.clock.settle()
    }
    assert.ok(works.length > 0 && visits.size > 0)
    assert.deepEqual(
      works.filter(({ isSettled }) => !isSettled).map(({ message }) => message.id),
      [],
      `round ${round}`,
    )
    assert.deepEqual(
      setup.log.filter(({ level }) => level === 'error'),
      [],
      `round ${round}`,
    )
  }
})

/** The old version drains before the new one takes over: what it waits for comes in random order meanwhile. */
async function releasedUntil(
  change: Promise<unknown>,
  delayed: (() => void)[],
  clock: ManualClock,
  random: SeededRandom,
) {
  let isDone = false
  void change.then(() => (isDone = true))
  for (;;) {
    await clock.settle()
    if (isDone) return
    assert.ok(delayed.length > 0, 'the new version waits for nothing')
    delayed.splice(random.below(delayed.length), 1)[0]?.()
  }
}

/** Connections only lead forward, so there is no cycle. */
function randomChain(random: SeededRandom, types: readonly string[]) {
  const count = 2 + random.below(5)
  const nodes = Array.from({ length: count }, () => ({ type: types[random.below(types.length)] ?? 'immediate' }))
  const connections: [number, string, number][] = []
  for (let from = 0; from < count - 1; from++) {
    for (let link = random.below(4); link > 0; link--) {
      const to = from + 1 + random.below(count - from - 1)
      connections.push([from, RELATIONS[random.below(RELATIONS.length)] ?? 'Success', to])
    }
  }
  return chainOf('A', nodes, connections)
}

test(`messages of one originator pass every node in their order, whatever the node is like (SEED=${seed})`, async () => {
  const random = new SeededRandom(seed)
  for (let round = 0; round < 20; round++) {
    const delayed: (() => void)[] = []
    const later = (): Promise<void> => new Promise((resolve) => delayed.push(resolve))
    const left = new Map<string, number[]>()
    const note: MakeNode = () => ({
      handle: (message) => {
        const order = left.get(message.originator.id) ?? []
        left.set(message.originator.id, order)
        order.push(Number(message.data))
        return 'Success'
      },
    })
    const setup = testEngine(
      {
        immediate: () => ({ handle: () => 'Success' }),
        promising: () => ({
          handle: () => (random.chance(0.5) ? 'Success' : later().then(() => 'Success')),
        }),
        batched: () => ({
          handleBatch: async (messages, result) => {
            if (random.chance(0.7)) await later()
            for (let index = messages.length - 1; index >= 0; index--) result.emit(index, 'Success')
          },
        }),
        note,
      },
      { batchSize: 2, batchesInFlight: 3 },
    )
    const types = ['immediate', 'promising', 'batched']
    const nodes = Array.from({ length: 4 }, () => ({ type: types[random.below(3)] ?? 'immediate' }))
    const line = [...nodes, { type: 'note' }]
    const { chain, graph } = chainOf(
      'A',
      line,
      nodes.map((_, index) => [index, 'Success', index + 1] as const),
    )
    await loaded(setup.clock, setup.engine.load(chain, graph))
    const sent = 60
    for (let index = 0; index < sent;) {
      const size = Math.min(sent - index, 1 + random.below(9))
      const works = Array.from({ length: size }, () =>
        testWork({ device: `device-${random.below(4)}`, data: String(index++) }),
      )
      await setup.run(...works)
      delayed.splice(random.below(delayed.length + 1), 1)[0]?.()
      await setup.clock.settle()
    }
    while (delayed.length > 0) {
      delayed.splice(random.below(delayed.length), 1)[0]?.()
      await setup.clock.settle()
    }
    assert.equal([...left.values()].flat().length, sent)
    for (const order of left.values())
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
        `round ${round}`,
      )
  }
})
