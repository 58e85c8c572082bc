import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import type { JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { ManualClock } from '../actor/testkit.ts'
import type { KeyedNode } from '../rulechain/capabilities/state.ts'
import { chainOf, loaded, testEngine, testWork, TENANT_ID, type TestWork } from '../rulechain/testkit.ts'
import { NodeStates, type NodeStatesSettings } from './node-states.ts'
import { MemoryStateStore } from './testkit.ts'

interface Process {
  readonly clock: ManualClock
  readonly states: NodeStates
  readonly published: Message[]
  readonly reports: string[]
  /** What came to the end of the chain. */
  readonly seen: Message[]
  readonly run: (...works: readonly TestWork[]) => Promise<void>
}

interface ProcessOptions {
  readonly store?: MemoryStateStore
  readonly clock?: ManualClock
  readonly settings?: Partial<NodeStatesSettings>
  readonly settledBelow?: () => number
  readonly owned?: boolean
  readonly streamOf?: (id: string) => number
  readonly isUnconnected?: boolean
  /** Stands before the node. */
  readonly before?: (message: Message) => Message
}

/** A chain of one node with a memory, and behind it the end. */
async function processOf(node: KeyedNode<JsonValue>, options: ProcessOptions = {}): Promise<Process> {
  const { store = new MemoryStateStore(), clock = new ManualClock(), before = (message) => message } = options
  const published: Message[] = []
  const seen: Message[] = []
  const reports: string[] = []
  const link = {
    publish: (message: Message, receipt: { stored(): void }) => {
      published.push(message)
      receipt.stored()
    },
  }
  const states = new NodeStates({
    store,
    clock,
    serviceId: 'here',
    log: { ...link, streamOf: options.streamOf ?? (() => 0), settledBelow: options.settledBelow ?? (() => 0) },
    settings: options.settings ?? {},
    report: (_level, text) => void reports.push(text),
  })
  const tested = testEngine(
    {
      keyed: ({ services }) => services.state.keyed(node),
      before: () => ({ handle: (message) => ({ message: before(message), relations: ['Success'] }) }),
      end: () => ({ handle: (message) => void seen.push(message) }),
    },
    {},
    link,
    { clock, capabilities: { state: (identity) => states.of(identity) }, deferral: states },
  )
  if (options.owned !== false) await states.taken(0)
  const nodes = [{ type: 'before' }, { type: 'keyed' }, { type: 'end' }]
  const { chain, graph } = chainOf('chain', nodes, [
    [0, 'Success', 1],
    ...(options.isUnconnected === true ? [] : [[1, 'Success', 2] as const]),
  ])
  await loaded(clock, tested.engine.load(chain, graph))
  await clock.settle()
  return { clock, states, published, seen, reports, run: (...works) => tested.run(...works) }
}

/** Numbers the messages of each originator. */
const counting: KeyedNode<JsonValue> = {
  per: 'originator',
  parse: (stored) => stored,
  handle(turn, message) {
    const count = Number(turn.state ?? 0) + 1
    turn.set(count)
    return { message: message.with({ data: String(count) }), relations: ['Success'] }
  },
}

test('each originator has its own state, and outputs leave only after the commit', async () => {
  const store = new MemoryStateStore()
  let open = (): void => undefined
  store.gate = () => new Promise((resolve) => (open = resolve))
  const { run, seen } = await processOf(counting, { store })
  const works = [testWork({ device: 'a' }), testWork({ device: 'b' }), testWork({ device: 'a' })]
  await run(...works)
  assert.equal(seen.length, 0)
  assert.equal(
    works.some(({ isSettled }) => isSettled),
    false,
  )
  open()
  await run()
  assert.deepEqual(
    seen.map(({ originator, data }) => `${originator.id}${data}`),
    ['a1', 'b1', 'a2'],
  )
  assert.equal(store.commits.length, 1, 'a batch is one transaction')
  assert.ok(works.every(({ isSettled }) => isSettled))
})

test('a message that comes again has the same output and changes nothing, in the next process too', async () => {
  const store = new MemoryStateStore()
  const first = await processOf(counting, { store })
  const work = testWork({ device: 'a' })
  await first.run(work, testWork({ device: 'a' }))
  const again = (): TestWork => testWork({ id: work.message.id, device: 'a' })
  await first.run(again())
  assert.deepEqual(
    first.seen.map(({ data }) => data),
    ['1', '2', '1'],
  )
  const second = await processOf(counting, { store })
  await second.run(again(), testWork({ device: 'a' }))
  assert.deepEqual(
    second.seen.map(({ data, id }) => [data, id === work.message.id]),
    [
      ['1', true],
      ['3', false],
    ],
  )
})

test('a node hears of the output that a message has again, before it has the next one', async () => {
  const store = new MemoryStateStore()
  const heard: string[] = []
  const node: KeyedNode<JsonValue> = {
    per: 'originator',
    parse: (stored) => stored,
    handle: (turn, message) => {
      heard.push(`handled ${message.type}`)
      turn.set(message.type)
      return 'Success'
    },
    replayed: (message, output) => void heard.push(`${message.type} again: ${JSON.stringify(output)}`),
  }
  const first = await processOf(node, { store })
  const work = testWork({ device: 'a', type: 'ONE' })
  await first.run(work)
  await first.states.close()
  const second = await processOf(node, { store })
  await second.run(testWork({ id: work.message.id, device: 'a', type: 'ONE' }), testWork({ device: 'a', type: 'TWO' }))
  assert.deepEqual(heard, ['handled ONE', 'ONE again: "Success"', 'handled TWO'])
})

test('visits are forgotten once the log has settled their messages durably, but those that came again', async () => {
  const store = new MemoryStateStore()
  let settled = 0
  const { run } = await processOf(counting, { store, settledBelow: () => settled })
  const works = [1, 2, 3].map((sequence) => {
    const work = testWork({ device: 'a' })
    work.message.sequence = sequence
    return work
  })
  await run(...works)
  const second = testWork({ id: works[1]?.message.id ?? '', device: 'a' })
  await run(second)
  settled = 4
  const last = testWork({ device: 'a' })
  last.message.sequence = 4
  await run(last)
  const [row] = [...store.states.values()]
  const visits = JSON.parse(row?.done ?? '') as { v: string }[]
  assert.deepEqual(
    visits.map(({ v }) => v),
    [second.message.id, last.message.id],
  )
})

test('a commit that fails undoes all that was built on it, and the message is done once when it comes again', async () => {
  for (const fate of ['refused', 'unanswered'] as const) {
    const store = new MemoryStateStore()
    const { run, seen } = await processOf(counting, { store })
    store.fate = () => fate
    const work = testWork({ device: 'a' })
    await run(work)
    assert.match(work.errors[0]?.message ?? '', new RegExp(fate))
    store.fate = () => 'done'
    await run(testWork({ id: work.message.id, device: 'a' }), testWork({ device: 'a' }))
    assert.deepEqual(
      seen.map(({ data }) => data),
      ['1', '2'],
      fate,
    )
  }
})

test('a stale owner commits nothing and sends nothing', async () => {
  const store = new MemoryStateStore()
  const old = await processOf(counting, { store })
  await old.run(testWork({ device: 'a' }))
  const next = await processOf(counting, { store })
  const late = testWork({ device: 'a' })
  await old.run(late)
  assert.match(late.errors[0]?.message ?? '', /another process/)
  assert.equal(old.reports.length, 1)
  assert.deepEqual(
    old.seen.map(({ data }) => data),
    ['1'],
  )
  await next.run(testWork({ id: late.message.id, device: 'a' }))
  assert.deepEqual(
    next.seen.map(({ data }) => data),
    ['2'],
  )
})

test('an error that a node throws leaves the state, one that it returns keeps the change', async () => {
  const failing = (isReturned: boolean): KeyedNode<JsonValue> => ({
    ...counting,
    handle(turn) {
      turn.set(Number(turn.state ?? 0) + 1)
      const error = new Error('no')
      if (isReturned) return error
      throw error
    },
  })
  for (const isReturned of [true, false]) {
    const store = new MemoryStateStore()
    const { run } = await processOf(failing(isReturned), { store })
    const work = testWork({ device: 'a' })
    await run(work)
    assert.match(work.errors[0]?.message ?? '', /no$/)
    assert.equal(store.states.size, isReturned ? 1 : 0)
  }
})

const waking: KeyedNode<JsonValue> = {
  per: 'originator',
  parse: (stored) => stored,
  handle(turn, message) {
    turn.set(message.data)
    turn.wakeAt(turn.now + 86_400_000)
    return undefined
  },
  wake(turn) {
    const message = testWork({ data: textOf(turn.state), device: turn.entity?.id ?? '' }).message
    turn.send(message, 'Success')
    turn.set(undefined)
  },
}

test('a node is woken a day later in another process, and what it sends is published once, under the same id, and goes', async () => {
  const store = new MemoryStateStore()
  const clock = new ManualClock()
  const first = await processOf(waking, { store, clock })
  const work = testWork({ device: 'a', data: '"one"' })
  await first.run(work)
  assert.ok(work.isSettled, 'nobody waits for the timer')
  await clock.advance(3_600_000)
  await first.states.close()
  const second = await processOf(waking, { store, clock })
  await clock.advance(86_400_000 - 3_600_001)
  assert.equal(second.published.length, 0)
  await clock.advance(2)
  const [sent] = second.published
  assert.equal(second.published.length, 1)
  assert.equal(sent?.data, '"one"')
  assert.equal(sent?.resumption?.relation, 'Success')
  assert.equal(store.outputs.size, 0)
  assert.equal(first.published.length, 0)
  await second.run(testWork({ ...sent, id: sent?.id ?? '' }))
  assert.deepEqual(
    second.seen.map(({ data }) => data),
    ['"one"'],
  )
})

test('a message goes on later: its source ends when it is durable, and it goes on in time, once', async () => {
  const store = new MemoryStateStore()
  const later: KeyedNode<JsonValue> = {
    ...counting,
    handle: (turn) => ({ flow: 'later', relation: 'Success', at: turn.now + 10_000 }),
  }
  const { run, clock, published, seen } = await processOf(later, { store })
  const work = testWork({ device: 'a', data: '"x"' })
  await run(work)
  assert.ok(work.isSettled)
  assert.equal(store.outputs.size, 1)
  await clock.advance(9_999)
  assert.equal(published.length, 0)
  await clock.advance(1)
  assert.equal(published.length, 1)
  assert.equal(store.outputs.size, 0)
  const [sent] = published
  await run(testWork({ ...sent, id: sent?.id ?? '' }))
  assert.deepEqual(
    seen.map(({ data }) => data),
    ['"x"'],
  )
  assert.notEqual(seen[0]?.id, work.message.id)
})

test('a message that goes on later waits also where nothing is connected', async () => {
  const store = new MemoryStateStore()
  const later: KeyedNode<JsonValue> = {
    ...counting,
    handle: (turn) => ({ flow: 'later', relation: 'Success', at: turn.now + 10_000 }),
  }
  const { run, clock, published, seen } = await processOf(later, { store, isUnconnected: true })
  const work = testWork({ device: 'a' })
  await run(work)
  assert.ok(work.isSettled)
  assert.equal(store.outputs.size, 1)
  await clock.advance(10_000)
  assert.equal(store.outputs.size, 0)
  const [sent] = published
  const returned = testWork({ ...sent, id: sent?.id ?? '' })
  await run(returned)
  assert.ok(returned.isSettled)
  assert.deepEqual(seen, [])
})

test('a source begins at the owner of its partition alone, and again after a restart where it stopped', async () => {
  const store = new MemoryStateStore()
  const clock = new ManualClock()
  const ticking: KeyedNode<JsonValue> = {
    ...counting,
    source: { entityType: 'TENANT', id: TENANT_ID },
    start: (turn) => {
      if (turn.wakesAt === undefined) turn.wakeAt(turn.now + 1000)
    },
    wake: (turn) => {
      const count = Number(turn.state ?? 0) + 1
      turn.set(count)
      turn.send(testWork({ data: String(count) }).message, 'Success')
      turn.wakeAt(turn.now + 1000)
    },
  }
  const elsewhere = await processOf(ticking, { store, clock, streamOf: () => 1 })
  await clock.advance(2000)
  assert.deepEqual(elsewhere.published, [])
  const first = await processOf(ticking, { store, clock })
  await clock.advance(2500)
  await first.states.close()
  const second = await processOf(ticking, { store, clock })
  await clock.advance(2500)
  assert.deepEqual(
    [...first.published, ...second.published].map(({ data }) => data),
    ['1', '2', '3', '4', '5'],
  )
})

test('a tenant that is full, and a state that is too large, fail their messages and leave the state as it was', async () => {
  const store = new MemoryStateStore()
  const growing: KeyedNode<JsonValue> = {
    ...counting,
    handle(turn, message) {
      turn.set(message.data)
      return 'Success'
    },
  }
  const { run, seen } = await processOf(growing, { store, settings: { maxStateBytes: 500, maxTenantBytes: 1400 } })
  const texts = [10, 600, 400, 400, 5].map((length) => 'x'.repeat(length))
  const works = texts.map((data, index) => testWork({ device: `d${index}`, data }))
  for (const work of works) await run(work)
  const errors = works.map(({ errors: [error] }) => error?.message.replace(/.*: the (state|tenant).*/, '$1'))
  assert.deepEqual(errors, [undefined, 'state', undefined, 'tenant', undefined])
  assert.equal(seen.length, 3)
  assert.equal(store.states.size, 3)
})

test('a message of an originator whose partition is elsewhere moves there; one of a partition that was lost fails as retryable', async () => {
  const store = new MemoryStateStore()
  const { run, published, states } = await processOf(counting, {
    store,
    streamOf: (id) => (id === 'other' ? 1 : 0),
    before: (message) => (message.data === '1' ? message.with({ originator: entityId('DEVICE', 'other') }) : message),
  })
  const moving = testWork({ device: 'a', data: '1' })
  await run(moving)
  assert.ok(moving.isSettled)
  const [moved] = published.splice(0)
  assert.equal(moved?.originator.id, 'other')
  assert.equal(moved?.resumption?.ruleNodeId, 'chain-1')
  states.gone(0)
  const lost = testWork({ device: 'a' })
  await run(lost)
  assert.match(lost.errors[0]?.message ?? '', /not at this process/)
  assert.deepEqual(published, [])
})

test('states that were not used lately leave the memory and are read again', async () => {
  const store = new MemoryStateStore()
  const { run, seen } = await processOf(counting, { store, settings: { maxEntries: 10 } })
  for (let round = 0; round < 2; round++) {
    for (let device = 0; device < 30; device++) await run(testWork({ device: `d${device}` }))
  }
  assert.ok(seen.slice(0, 30).every(({ data }) => data === '1'))
  assert.ok(seen.slice(30).every(({ data }) => data === '2'))
})

function textOf(state: JsonValue | undefined): string {
  return typeof state === 'string' ? state : ''
}
