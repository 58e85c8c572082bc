/**
 * Settle counting over every flow form at random: fan-out, nested chains, what is acknowledged, put into queues, kept for later, answered
 * afterwards, retries, time-outs, nodes that never answer. Each delivery ends exactly once, and nothing is left behind.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import type { Message } from '../../model/message.ts'
import type { DeferredMessage } from './deferral.ts'
import type { NodeOutput } from './node.ts'
import { chainOf, loaded, testEngine, testWork, TestWork } from './testkit.ts'
import type { MakeNode } from './testkit.ts'

/** `SEED=<n>` repeats one run; without it each run takes a new one and prints it. */
const seed = process.env['SEED'] === undefined ? Date.now() % 1_000_000 : Number(process.env['SEED'])
const ROUNDS = 40
const RELATIONS = ['Success', 'Failure', 'Other'] as const
const CHAINS = ['A', 'B', 'C'] as const
const TIMEOUT_MS = 1_000
const MAX_TRIES = 3

function flowNodes(random: SeededRandom, clock: ManualClock) {
  const relation = (): string => RELATIONS[random.below(RELATIONS.length)] ?? 'Success'
  const answer = (message: Message): NodeOutput => {
    if (random.chance(0.08)) throw new Error('planned failure')
    if (random.chance(0.08)) return undefined
    if (random.chance(0.15)) return { message, relations: ['Success', relation()] }
    if (random.chance(0.1)) return [1, 2].map(() => ({ message, relations: [relation()] }))
    return relation()
  }
  const soon = <Value>(make: () => Value): Promise<Value> =>
    new Promise((resolve, reject) =>
      clock.after(random.below(200), () => {
        try {
          resolve(make())
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      }),
    )
  const types: Record<string, MakeNode> = {
    now: () => ({ handle: answer }),
    promise: () => ({ handle: (message) => soon(() => answer(message)) }),
    batch: () => ({
      handleBatch: async (messages, result) => {
        await soon(() => undefined)
        // What is left out fails when the batch ends.
        messages.forEach((_message, index) => random.chance(0.9) && result.emit(index, relation()))
      },
    }),
    never: () => ({ handle: () => (random.chance(0.5) ? 'Success' : new Promise<NodeOutput>(() => undefined)) }),
    neverBatch: () => ({ handleBatch: () => new Promise<void>(() => undefined) }),
    acknowledge: () => ({ handle: () => ({ flow: 'acknowledge' }) }),
    enqueue: () => ({ handle: () => ({ flow: 'enqueue', relation: relation() }) }),
    later: () => ({ handle: () => ({ flow: 'later', relation: relation(), at: clock.now() + random.below(500) }) }),
    afterwards: () => ({
      handle: (message) => ({
        flow: 'afterwards',
        outcome: soon(() => {
          if (random.chance(0.2)) throw new Error('lost')
          return { message, relation: relation() }
        }),
      }),
    }),
    enter: () => ({ handle: () => ({ flow: 'enter', ruleChainId: CHAINS[random.below(3)] ?? 'A' }) }),
    return: () => ({ handle: () => ({ flow: 'return', relation: relation() }) }),
  }
  return types
}

/** Connections only lead forward, so there is no cycle within a chain; chains enter each other freely. */
function randomChain(id: string, random: SeededRandom, types: readonly string[]) {
  const count = 3 + random.below(6)
  const nodes = Array.from({ length: count }, () => ({ type: types[random.below(types.length)] ?? 'now' }))
  const connections: [number, string, number][] = []
  for (let from = 0; from < count - 1; from++)
    for (let link = random.below(7); link > 0; link--)
      connections.push([from, RELATIONS[random.below(3)] ?? 'Success', from + 1 + random.below(count - from - 1)])
  const made = chainOf(id, nodes, connections)
  return { ...made, chain: { ...made.chain, root: id === 'A' } }
}

test(`every delivery ends once, over all flow forms (SEED=${seed})`, async () => {
  const random = new SeededRandom(seed)
  const seen = { enqueued: 0, deferred: 0, retried: 0, acknowledged: 0, timedOut: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const clock = new ManualClock()
    const types = flowNodes(random, clock)
    const deliveries: { readonly work: TestWork; readonly tries: number }[] = []
    const comesBack: Message[] = []
    const give = (message: Message, tries = 1): TestWork => {
      const work = new TestWork(message)
      deliveries.push({ work, tries })
      return work
    }
    const setup = testEngine(
      types,
      { batchSize: 3, batchesInFlight: 2, maxNodeExecutions: 30, nodeTimeoutMs: TIMEOUT_MS, maxAcknowledged: 5 },
      {
        publish: (message, receipt) => {
          seen.enqueued++
          comesBack.push(message)
          if (random.chance(0.5)) receipt.stored()
          else clock.after(random.below(50), () => receipt.stored())
        },
      },
      {
        clock,
        deferral: {
          defer: ({ message, at }: DeferredMessage, receipt) => {
            seen.deferred++
            clock.after(at - clock.now(), () => comesBack.push(message))
            receipt.stored()
          },
        },
      },
    )
    for (const id of CHAINS) {
      const { chain, graph } = randomChain(id, random, Object.keys(types))
      await loaded(clock, setup.engine.load(chain, graph))
    }
    // Deliveries breed: what comes back is bounded, so that a round ends.
    let budget = 150
    for (let step = 0; step < 40; step++) {
      const works: TestWork[] = []
      if (step < 6)
        for (let more = random.below(5); more > 0; more--)
          works.push(give(testWork({ device: `device-${random.below(3)}` }).message))
      for (const message of comesBack.splice(0)) if (budget-- > 0) works.push(give(message))
      for (const { work, tries } of deliveries.slice()) {
        if (!work.isSettled || work.errors.length === 0 || tries >= MAX_TRIES || budget-- <= 0) continue
        work.errors.length = 0
        seen.retried++
        works.push(give(work.message, tries + 1))
      }
      await setup.run(...works)
      await clock.advance(random.below(400))
    }
    for (let rest = 0; rest < 40; rest++) await clock.advance(TIMEOUT_MS)
    const { open } = setup.engine.acknowledgedFigures()
    const left = deliveries.filter(({ work }) => !work.isSettled).length
    const inFlight = setup.engine.figures().reduce((sum, chain) => sum + chain.inFlight, 0)
    const broken = setup.log.filter(({ text }) => text.includes('invariant'))
    assert.deepEqual({ left, open, inFlight, broken }, { left: 0, open: 0, inFlight: 0, broken: [] }, `round ${round}`)
    seen.acknowledged += setup.engine.acknowledgedFigures().failed
    seen.timedOut += setup.engine.totals().timedOut
  }
  for (const [form, count] of Object.entries(seen)) assert.ok(count > 0, `no message was ${form}`)
})
