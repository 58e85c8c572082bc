/**
 * Rows Q1, Q3 and Q5 of the reliability table, with the real link, queue and rule engine on a simulated clock and disk: faults that last
 * minutes take milliseconds, and a delay is exact.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, SeededRandom } from '../../engine/actor/testkit.ts'
import { createActorSystem } from '../../engine/actor/system.ts'
import { openSegmentLog, type SegmentLog } from '../../engine/link/segments/segment-log.ts'
import { message, SimulatedDisk } from '../../engine/link/testkit.ts'
import { createQueue, type Queue } from '../../engine/queue/queue.ts'
import type { QueueSettings } from '../../engine/queue/settings.ts'
import { createRuleEngine, type RuleEngine } from '../../engine/rulechain/rule-engine.ts'
import { catalogueOf, chainOf, TENANT_ID, type MakeNode } from '../../engine/rulechain/testkit.ts'
import { defineErrors } from '../../model/errors.ts'
import type { MessageFields } from '../../model/message.ts'

const { AWAY } = defineErrors('queue-faults', {
  AWAY: { kind: 'retryable', isOutage: true, status: 503, text: 'the store is away' },
})

interface Platform {
  readonly clock: ManualClock
  readonly link: SegmentLog
  readonly engine: RuleEngine
  readonly queue: Queue
  /** What the link said it has, with the time. */
  readonly acknowledged: Map<string, number>
  readonly publish: (fields: Partial<MessageFields> & { readonly device?: number }) => void
  /** Runs something that waits for the disk, moving the clock until it ends. */
  readonly until: <Value>(work: Promise<Value>) => Promise<Value>
  readonly close: () => Promise<void>
}

async function open(
  nodesOf: (clock: ManualClock) => Readonly<Record<string, MakeNode>>,
  settings: Partial<QueueSettings> = {},
): Promise<Platform> {
  const clock = new ManualClock()
  const random = new SeededRandom(1)
  const until = async <Value>(work: Promise<Value>): Promise<Value> => {
    let isDone = false
    const mark = (): void => void (isDone = true)
    work.then(mark, mark)
    for (let step = 0; step < 100_000 && !isDone; step++) await clock.advance(clock.untilNextTimerMs ?? 1)
    return work
  }
  const disk = new SimulatedDisk(clock, random)
  const link = await until(openSegmentLog({ directory: 'log', disk, clock, durability: 'power-cut', partitions: 4 }))
  const actors = createActorSystem({ clock, onError: ({ error }) => assert.fail(String(error)) })
  const catalogue = catalogueOf(nodesOf(clock))
  const log = (): void => undefined
  const engine = createRuleEngine({ catalogue, capabilities: {}, clock, random, actors, log, link })
  const queue = createQueue({ link, processor: engine, clock, settings })
  const acknowledged = new Map<string, number>()
  const publish: Platform['publish'] = (fields) => {
    const next = message({ tenantId: TENANT_ID, ...fields })
    link.publish(next, { stored: () => void acknowledged.set(next.id, clock.monotonic()), refused: assert.fail })
  }
  const close = async (): Promise<void> => {
    await until(queue.close())
    await until(engine.close())
    await until(actors.close())
    await until(link.close())
  }
  return { clock, link, engine, queue, acknowledged, publish, until, close }
}

const load = async (platform: Platform, ...chain: Parameters<typeof chainOf>): Promise<void> => {
  const { chain: record, graph } = chainOf(...chain)
  const { error } = await platform.until(platform.engine.load(record, graph))
  assert.equal(error, undefined)
}

test('Q1: what fails, hangs or meets a store that is down is tried again; delivered and dead letters are what was acknowledged', async () => {
  const saved = new Map<string, string>()
  const rescued = new Set<string>()
  const seen = new Map<string, number>()
  let storeIsDown = false
  const platform = await open((clock) => ({
    fault: () => ({
      handle: ({ id, data }) => {
        const tries = (seen.get(id) ?? 0) + 1
        seen.set(id, tries)
        if (data === 'fails always' || (data === 'fails twice' && tries < 3)) throw new Error('the node threw')
        if (data === 'hangs once' && tries === 1) {
          return new Promise((resolve) => void clock.after(120_000, () => resolve('Success')))
        }
        return 'Success'
      },
    }),
    save: () => ({
      handle: ({ id, data }) => {
        if (storeIsDown) throw AWAY()
        saved.set(id, data)
        return undefined
      },
    }),
    rescue: () => ({ handle: ({ id }) => void rescued.add(id) }),
  }))
  await load(platform, 'PLAIN', [{ type: 'fault' }, { type: 'save' }], [[0, 'Success', 1]])
  await load(platform, 'CAUGHT', [{ type: 'fault' }, { type: 'rescue' }], [[0, 'Failure', 1]], { root: false })
  const kinds = ['fine', 'fails twice', 'fails always', 'hangs once']
  const { clock, link, queue, acknowledged, publish } = platform
  for (let second = 0; second < 80; second++) {
    // A minute without the store, in the middle.
    storeIsDown = second >= 10 && second < 70
    for (let count = 0; count < 20; count++) {
      const number = second * 20 + count
      publish({ device: number % 37, data: kinds[number % 31] ?? 'fine' })
    }
    if (second % 10 === 0) publish({ device: 99, data: 'fails always', ruleChainId: 'CAUGHT' })
    await clock.advance(1000)
  }
  for (let minute = 0; minute < 60 && queue.figures().held > 0; minute++) await clock.advance(60_000)
  const letters = await platform.until(link.deadLetters.list({ limit: 1000 }))
  assert.deepEqual([queue.figures().held, link.figures().unsettled], [0, 0])
  assert.equal(acknowledged.size, 1608)
  const outcomes = [...saved.keys(), ...rescued, ...letters.map((letter) => letter.message.id)]
  assert.equal(outcomes.length, acknowledged.size)
  assert.deepEqual(new Set(outcomes), new Set(acknowledged.keys()))
  assert.ok(
    letters.every(({ message: { data }, attempts }) => data === 'fails always' && attempts === 11),
    'a message is a dead letter after its last try, and for no outage or timeout',
  )
  assert.equal(rescued.size, 8, 'a connected Failure is where a failed message goes')
  assert.deepEqual([...new Set(saved.values())].sort(), ['fails twice', 'fine', 'hangs once'])
  assert.equal(queue.figures().skipped, 0)
  await platform.close()
})

test('Q3: a message that fails at every try is put aside with its body; its neighbours are not delayed', async () => {
  const delays: number[] = []
  const behind: string[] = []
  let acknowledgedAt = (_id: string): number => 0
  const platform = await open(
    (clock) => ({
      work: () => ({
        handle: async ({ id, data, originator }) => {
          await new Promise<void>((resolve) => void clock.after(5, resolve))
          if (data === 'poison') throw new Error('the worker died')
          if (originator.id === message({ device: 0 }).originator.id) behind.push(data)
          else delays.push(clock.monotonic() - acknowledgedAt(id))
          return undefined
        },
      }),
    }),
    { retries: 4 },
  )
  await load(platform, 'A', [{ type: 'work' }], [])
  const { clock, link, acknowledged, publish } = platform
  acknowledgedAt = (id) => acknowledged.get(id) ?? Infinity
  publish({ device: 0, data: 'poison' })
  await clock.advance(100)
  publish({ device: 0, data: 'behind it' })
  for (let step = 0; step < 40; step++) {
    for (let device = 1; device <= 50; device++) publish({ device })
    await clock.advance(500)
  }
  await clock.advance(60_000)
  const letters = await platform.until(link.deadLetters.list({ limit: 10 }))
  assert.deepEqual(
    letters.map(({ message: { data }, attempts, reason }) => [data, attempts, /the worker died/.test(reason)]),
    [['poison', 5, true]],
  )
  assert.equal(delays.length, 2000)
  assert.ok(Math.max(...delays) < 1000, `${Math.max(...delays)} ms`)
  assert.deepEqual(behind, ['behind it'], 'its own device goes on behind it')
  await platform.close()
})

/** The p99 delay of the messages of 99 chains, in ms of the simulated clock, beside one whose node takes `slowMs`. */
async function delayOfOthers(slowMs: number): Promise<{ p99: number; others: number; slow: number; timedOut: number }> {
  const delays: number[] = []
  let slow = 0
  let acknowledgedAt = (_id: string): number => 0
  const platform = await open((clock) => ({
    call: (_context, { ms }) => ({
      handle: async ({ id, data }) => {
        await new Promise<void>((resolve) => void clock.after(Number(ms), resolve))
        if (data === 'slow') slow++
        else delays.push(clock.monotonic() - acknowledgedAt(id))
        return undefined
      },
    }),
  }))
  for (let chain = 0; chain < 100; chain++) {
    const ms = chain === 0 ? slowMs : 5
    await load(platform, `C${chain}`, [{ type: 'call', configuration: { ms } }], [], { root: false })
  }
  const { clock, queue, acknowledged, publish } = platform
  acknowledgedAt = (id) => acknowledged.get(id) ?? Infinity
  for (let step = 0; step < 60; step++) {
    // Half of the chains at a time.
    for (let chain = step % 2; chain < 100; chain += 2) {
      publish({ device: chain * 10 + (step % 7), ruleChainId: `C${chain}`, data: chain === 0 ? 'slow' : 'other' })
    }
    await clock.advance(500)
  }
  await clock.advance(60_000)
  const { timedOut, held } = queue.figures()
  assert.equal(held, 0)
  delays.sort((a, b) => a - b)
  await platform.close()
  return { p99: delays[Math.floor(delays.length * 0.99)] ?? Infinity, others: delays.length, slow, timedOut }
}

test('Q5: a chain whose node hangs for ten seconds delays no message of the 99 others', async () => {
  const baseline = await delayOfOthers(5)
  const beside = await delayOfOthers(10_000)
  assert.deepEqual([baseline.others, beside.others, beside.slow], [2970, 2970, 30])
  assert.ok(beside.p99 < 2 * baseline.p99, `p99 ${beside.p99} ms beside it, ${baseline.p99} ms without`)
  assert.equal(beside.timedOut, 0)
})
