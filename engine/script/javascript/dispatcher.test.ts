/** Turns by run time, on a simulated clock: tasks take what the test says, and time passes from the end of one to that of the next. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Message } from '../../../model/message.ts'
import { Breaker } from './breaker.ts'
import { Dispatcher } from './dispatcher.ts'
import { ScriptLane, type LaneTask } from './script-lane.ts'
import { handClock, scriptMessage } from './testkit.ts'

const MESSAGE: Message = scriptMessage('{}')
const LIMITS = {
  argumentsLimit: 1000,
  resultLimit: 1000,
  memoryLimitMb: 8,
  timeoutMs: 1000,
  batchMessages: 1,
  batchCharacters: 1_000_000,
}

interface Running {
  readonly endsAt: number
  readonly lane: ScriptLane
  readonly runMs: number
  readonly end: (runMs: number) => void
}

class Pool {
  readonly clock = handClock()
  readonly dispatcher: Dispatcher
  /** Run time by tenant and by chain, ms. */
  readonly used = new Map<string, number>()
  private running: Running[] = []
  private readonly costs = new Map<ScriptLane, number>()
  private scripts = 0

  constructor(threads: number, concurrentTasks = 1) {
    const run = (lane: ScriptLane, task: LaneTask): Promise<number> =>
      new Promise((resolve) => {
        task.messages.forEach((_, index) => (task.outcomes[index] = true))
        const runMs = (this.costs.get(lane) ?? 0) * task.messages.length
        this.running.push({ lane, runMs, endsAt: this.clock.monotonic() + runMs, end: resolve })
      })
    this.dispatcher = new Dispatcher({ threads, concurrentTasks, queueBound: 1_000_000 }, run)
  }

  /** A script whose messages take so long each. */
  script(tenantId: string, ruleChainId: string, messageMs: number): ScriptLane {
    const lane = new ScriptLane({
      identity: { scriptId: ++this.scripts, tenantId, kind: 'filter', body: '' },
      ruleChainId,
      breaker: new Breaker(this.clock),
      work: [],
      limits: () => LIMITS,
      clock: this.clock,
    })
    this.costs.set(lane, messageMs)
    return lane
  }

  /** From now on its messages take so long each. */
  cost(lane: ScriptLane, messageMs: number): void {
    this.costs.set(lane, messageMs)
  }

  send(lane: ScriptLane, count: number): void {
    void lane.add('filter', new Array<Message>(count).fill(MESSAGE), { value: () => undefined, error: () => undefined })
    this.dispatcher.added(lane, count)
  }

  get lanesUnderWay(): readonly ScriptLane[] {
    return this.running.map(({ lane }) => lane)
  }

  /** Lets tasks end in the order of their ends until so much time has passed. */
  async pass(ms: number): Promise<void> {
    const until = this.clock.monotonic() + ms
    for (;;) {
      const next = this.running.toSorted((a, b) => a.endsAt - b.endsAt)[0]
      if (next === undefined || next.endsAt > until) break
      this.clock.advance(next.endsAt - this.clock.monotonic())
      this.running = this.running.filter((other) => other !== next)
      for (const name of [next.lane.identity.tenantId, next.lane.ruleChainId])
        this.used.set(name, (this.used.get(name) ?? 0) + next.runMs)
      next.end(next.runMs)
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.clock.advance(until - this.clock.monotonic())
  }
}

describe('turns by run time', () => {
  test('tenants get the same time, however long their tasks take', async () => {
    const pool = new Pool(1)
    pool.send(pool.script('slow', 'a', 1000), 1000)
    pool.send(pool.script('quick', 'b', 5), 100_000)
    await pool.pass(60_000)
    const [slow = 0, quick = 0] = [pool.used.get('slow'), pool.used.get('quick')]
    assert.ok(Math.abs(slow - quick) <= 2000, `slow ${slow} ms, quick ${quick} ms`)
    assert.ok(slow + quick >= 58_000, 'the pool was idle though messages waited')
  })

  test('a tenant gets no more for having many chains, a chain no more for having many scripts', async () => {
    const pool = new Pool(1)
    for (let chain = 0; chain < 10; chain++) pool.send(pool.script('many chains', `chain ${chain}`, 10), 10_000)
    for (let script = 0; script < 9; script++) pool.send(pool.script('two chains', 'many scripts', 10), 10_000)
    pool.send(pool.script('two chains', 'one script', 10), 10_000)
    await pool.pass(20_000)
    const used = (name: string): number => pool.used.get(name) ?? 0
    assert.ok(Math.abs(used('many chains') - used('two chains')) <= 100)
    assert.ok(Math.abs(used('many scripts') - used('one script')) <= 100)
  })

  test('who was away has saved nothing up, and who leaves with a debt comes back with it', async () => {
    const pool = new Pool(1)
    const busy = pool.script('busy', 'a', 10)
    pool.send(busy, 100_000)
    const other = pool.script('other', 'b', 1000)
    await pool.pass(10_000)
    // One long task at a time, each sent when the one before has ended.
    for (let task = 0; task < 10; task++) {
      pool.send(other, 1)
      await pool.pass(3000)
    }
    const late = pool.used.get('other') ?? 0
    assert.ok(late >= 9000 && late <= 16_000, `${late} ms of 30,000`)
  })
})

describe('slow scripts', () => {
  test('leave a thread free, and one tenant’s leave half of them', async () => {
    const pool = new Pool(4)
    for (const tenant of ['one', 'two', 'three'])
      for (let script = 0; script < 8; script++) pool.send(pool.script(tenant, `${tenant} ${script}`, 1000), 100)
    const mostOfOne = (): number =>
      Math.max(
        ...['one', 'two', 'three'].map(
          (tenant) => pool.lanesUnderWay.filter(({ identity }) => identity.tenantId === tenant).length,
        ),
      )
    assert.equal(mostOfOne(), 2)
    // Each script has run once: what is slow is known.
    await pool.pass(10_000)
    assert.equal(pool.lanesUnderWay.length, 3)
    assert.ok(mostOfOne() <= 2)
    const quick = pool.script('quick', 'q', 1)
    pool.send(quick, 1)
    assert.ok(pool.lanesUnderWay.includes(quick), 'a quick script waited')
  })

  test('stay slow while they are put aside and none of their messages runs', async () => {
    const pool = new Pool(2)
    const endless = [pool.script('hostile', 'a', 500), pool.script('hostile', 'b', 500)]
    for (const lane of endless) pool.send(lane, 1)
    await pool.pass(1000)
    for (const lane of endless) pool.cost(lane, 0)
    for (const lane of endless) pool.send(lane, 3)
    await pool.pass(1)
    for (const lane of endless) pool.cost(lane, 500)
    for (const lane of endless) pool.send(lane, 1)
    assert.equal(pool.lanesUnderWay.length, 1)
  })

  test('on one thread run one at a time, with a place for a quick one behind', async () => {
    const pool = new Pool(1, 2)
    const [first, second] = [pool.script('a', 'a', 500), pool.script('b', 'b', 500)]
    pool.send(first, 10)
    pool.send(second, 10)
    // Two that nobody knows yet run side by side; from then on one at a time.
    await pool.pass(500)
    assert.equal(pool.lanesUnderWay.length, 1)
    const quick = pool.script('c', 'c', 1)
    pool.send(quick, 1)
    assert.ok(pool.lanesUnderWay.includes(quick))
    assert.equal(pool.lanesUnderWay.length, 2)
  })
})

test('options may be changed at any time: more threads take what waits at once, fewer let tasks under way end', async () => {
  const pool = new Pool(1)
  const lane = pool.script('tenant', 'chain', 5)
  pool.send(lane, 1000)
  await pool.pass(100)
  assert.equal(pool.dispatcher.running, 1)
  pool.dispatcher.change({ threads: 6, concurrentTasks: 2, queueBound: 10 })
  assert.equal(pool.dispatcher.running, 12)
  assert.equal(pool.dispatcher.refusal('tenant', 1), pool.dispatcher.waiting)
  pool.dispatcher.change({ threads: 2, concurrentTasks: 1, queueBound: 10 })
  await pool.pass(10)
  assert.equal(pool.dispatcher.running, 2)
  await pool.pass(10_000)
  await pool.dispatcher.drained()
  assert.equal(pool.used.get('tenant'), 5000)
})
