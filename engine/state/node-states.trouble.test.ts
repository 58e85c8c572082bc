/** What a full tenant, a store that refuses and a deleted entity do to the states of the others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringifyJson, type JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { ManualClock } from '../actor/testkit.ts'
import type { NodeIdentity } from '../rulechain/capabilities.ts'
import type { KeyedNode } from '../rulechain/capabilities/state.ts'
import { TENANT_ID, testWork } from '../rulechain/testkit.ts'
import { NodeStates, type NodeStatesSettings } from './node-states.ts'
import { MemoryStateStore } from './testkit.ts'

const NODE: NodeIdentity = {
  tenantId: TENANT_ID,
  ruleChainId: 'chain',
  ruleChainName: 'chain',
  ruleNodeId: 'node',
  ruleNodeName: 'node',
}

const keeping: KeyedNode<JsonValue> = {
  per: 'originator',
  parse: (stored) => stored,
  handle(turn, message) {
    turn.set(message.data)
    return 'Success'
  },
}

async function opened(settings: Partial<NodeStatesSettings> = {}) {
  const store = new MemoryStateStore()
  const clock = new ManualClock()
  const published: Message[] = []
  const states = new NodeStates({
    ...{ store, clock, settings, serviceId: 'here', report: () => undefined },
    log: {
      streamOf: () => 0,
      settledBelow: () => 0,
      publish: (message, receipt) => {
        published.push(message)
        receipt.stored()
      },
    },
  })
  await states.taken(0)
  const defer = async (message: Message, at: number): Promise<string> => {
    let answer = 'none'
    states.defer(
      { message, at, node: NODE, originatorId: message.originator.id },
      { stored: () => void (answer = 'stored'), refused: ({ code }) => void (answer = code) },
    )
    await clock.settle()
    return answer
  }
  const instance = <Known>(node: KeyedNode<JsonValue, Known>) => {
    const made = states.of(NODE).keyed(node)
    const answers: string[] = []
    const give = async (...messages: readonly Message[]): Promise<void> => {
      void made.handleBatch?.(messages, {
        visit: (index) => ({ id: messages[index]?.id ?? '', originatorId: 'log', sequence: 0 }),
        emit: (index) => void answers.push(`${messages[index]?.originator.id} done`),
        fail: (index, error) => void answers.push(`${messages[index]?.originator.id} ${error.message}`),
      })
      await clock.settle()
    }
    return { give, answers, close: async () => made.close?.() }
  }
  return { store, clock, published, states, defer, instance }
}

test('a message that a full tenant wants kept for later fails for good, as at a node with a state', async () => {
  const { defer, clock } = await opened({ maxTenantBytes: 10 })
  assert.equal(await defer(testWork().message, clock.now() + 1000), 'node-state.TENANT_FULL')
})

test('a message that is kept again under its id waits once', async () => {
  const { defer, clock, states } = await opened()
  const { message } = testWork()
  for (let time = 0; time < 3; time++) assert.equal(await defer(message, clock.now() + 1000), 'stored')
  assert.equal(states.of(NODE).waiting(), 1)
  await clock.advance(1000)
  assert.equal(states.of(NODE).waiting(), 0)
})

test('what waited of a deleted entity waits no more', async () => {
  const { defer, clock, states, store } = await opened()
  await defer(testWork({ device: 'gone' }).message, clock.now() + 1000)
  await defer(testWork({ device: 'here' }).message, clock.now() + 1000)
  for (const [id, row] of store.outputs) if (row.entityId === 'gone') store.outputs.delete(id)
  states.forget({ entityType: 'DEVICE', id: 'gone' }, TENANT_ID)
  await clock.settle()
  assert.equal(states.of(NODE).waiting(), 1)
})

test('while the store refuses, it is asked once a second', async () => {
  const { defer, clock, store } = await opened()
  let asked = 0
  // The first keeps the message, the next are to remove it.
  store.fate = () => (++asked === 1 || asked > 50 ? 'done' : 'refused')
  await defer(testWork().message, clock.now())
  assert.equal(asked, 2)
  await clock.advance(3000)
  assert.ok(asked >= 4 && asked <= 6, `${asked}`)
  store.fate = () => 'done'
  await clock.advance(1000)
  assert.equal(store.outputs.size, 0)
})

test('a visit of an entity that is deleted meanwhile is answered', async () => {
  const { instance, states, store, clock } = await opened()
  const { give, answers } = instance(keeping)
  const [a, b] = ['a', 'b'].map((device) => testWork({ device }).message)
  if (a === undefined || b === undefined) throw new Error('two messages')
  await give(a, b)
  let open = (): void => undefined
  store.gate = () => new Promise((resolve) => (open = resolve))
  await give(testWork({ device: 'a' }).message)
  await give(testWork({ device: 'b' }).message)
  states.forget({ entityType: 'DEVICE', id: 'b' }, TENANT_ID)
  store.gate = () => Promise.resolve()
  open()
  await clock.settle()
  assert.deepEqual(answers, ['a done', 'b done', 'a done', 'b done'])
})

test('what a batch needs is not evicted for what it needs too', async () => {
  const { instance } = await opened({ maxEntries: 10 })
  const { give, answers } = instance(keeping)
  for (let device = 0; device < 10; device++) await give(testWork({ device: `d${device}` }).message)
  answers.length = 0
  await give(testWork({ device: 'd0' }).message, testWork({ device: 'new' }).message)
  assert.deepEqual(answers, ['d0 done', 'new done'])
})

test('a full tenant drains: what its nodes send in their time has no bound but that of a state', async () => {
  const { instance, clock, published } = await opened({ maxTenantBytes: 300 })
  const { give } = instance({
    ...keeping,
    handle(turn) {
      turn.set('x')
      turn.wakeAt(turn.now + 1000)
      return 'Success'
    },
    wake(turn) {
      turn.set(undefined)
      turn.send(testWork({ data: 'y'.repeat(400) }).message, 'Success')
    },
  })
  await give(testWork({ device: 'a' }).message)
  await clock.advance(1000)
  assert.equal(published.length, 1)
})

test('a deletion lets alone what is known of other tenants', async () => {
  const { instance, states, store, clock } = await opened()
  const { give } = instance(keeping)
  await give(testWork({ device: 'a' }).message)
  let read = 0
  const bytesOf = store.bytesOf.bind(store)
  store.bytesOf = (tenantId) => {
    read++
    return bytesOf(tenantId)
  }
  states.forget({ entityType: 'DEVICE', id: 'other' }, 'another tenant')
  states.forget({ entityType: 'ALARM', id: 'alarm' }, TENANT_ID)
  await give(testWork({ device: 'a' }).message)
  assert.equal(read, 0)
  states.forget({ entityType: 'DEVICE', id: 'b' }, TENANT_ID)
  await give(testWork({ device: 'a' }).message)
  await clock.settle()
  assert.equal(read, 1)
})

test('what can not be read for those that are due first keeps nobody else asleep, and is tried again in a while', async () => {
  const FAILING = 500
  let reads = 0
  const woken: string[] = []
  const waking: KeyedNode<JsonValue> = {
    ...keeping,
    handle(turn, message) {
      turn.set(message.originator.id)
      turn.wakeAt(turn.now + (message.originator.id === 'fine' ? 20_000 : 10_000))
      return 'Success'
    },
    readForWake(state) {
      if (++reads > 4 * FAILING) throw new Error('read again and again')
      return state === 'fine' ? Promise.resolve(undefined) : Promise.reject(new Error('away'))
    },
    wake: (turn) => void woken.push(turn.entity?.id ?? ''),
  }
  const { clock, instance } = await opened()
  const { give } = instance(waking)
  await give(...Array.from({ length: FAILING }, (_, index) => testWork({ device: `failing ${index}` }).message))
  await give(testWork({ device: 'fine' }).message)
  await clock.advance(21_000)
  assert.deepEqual(woken, ['fine'])
  assert.ok(reads <= 4 * FAILING, `${reads} reads`)
  const before = reads
  await clock.advance(5_000)
  assert.ok(reads > before)
})

for (const [how, ended] of [
  ['tells nothing', 'resolve'],
  ['puts nothing off', 'reject'],
] as const) {
  test(`a version that was replaced while it read for a wake ${how}: the one after it reads and is woken`, async () => {
    const told: string[] = []
    const reads: { resolve: (known: string) => void; reject: (error: Error) => void }[] = []
    const version = (name: string): KeyedNode<JsonValue, string> => ({
      ...{ per: 'originator', parse: (stored: JsonValue) => stored },
      handle(turn, message) {
        turn.set(message.data)
        turn.wakeAt(turn.now + 10_000)
        return 'Success'
      },
      readForWake: () => new Promise((resolve, reject) => reads.push({ resolve, reject })),
      wake: (_turn, known) => void told.push(`${name} ${known ?? ''}`),
    })
    const { clock, instance } = await opened()
    const before = instance(version('before'))
    await before.give(testWork({ device: 'one' }).message)
    await clock.advance(10_000)
    assert.equal(reads.length, 1)
    instance(version('after'))
    await before.close()
    if (ended === 'resolve') reads[0]?.resolve('read')
    else reads[0]?.reject(new Error('its script is closed'))
    await clock.advance(1)
    assert.deepEqual(told, [])
    assert.equal(reads.length, 2)
    reads[1]?.resolve('read')
    await clock.advance(1)
    assert.deepEqual(told, ['after read'])
  })
}

test('what a node reads that is at hand holds nobody up, and what it throws fails its own message alone', async () => {
  const { instance } = await opened()
  let handled = 0
  const { give, answers } = instance<number>({
    ...{ per: 'originator', parse: (stored) => stored },
    read(message) {
      if (message.data === 'broken') throw new Error('is broken')
      return message.data === 'far' ? Promise.reject(new Error('is away')) : message.data.length
    },
    handle(turn, message, known) {
      handled++
      turn.set(`${message.data} ${known}`)
      return 'Success'
    },
  })
  const of = (device: string, data: string) => testWork({ id: `${device} ${data}`, device, data }).message
  await give(of('a', 'first'), of('b', 'first'))
  assert.equal(handled, 2)
  void give(of('a', 'second'), of('b', 'broken'))
  assert.equal(handled, 3, 'in the same turn')
  await give(of('a', 'third'), of('b', 'far'), of('c', 'broken'))
  assert.deepEqual(answers.toSorted(), [
    'a done',
    'a done',
    'a done',
    'b done',
    'b is away',
    'b is broken',
    'c is broken',
  ])
})

test('what was read for a state whose commit fails meanwhile is read again for the one that is stored', async () => {
  const { instance, store, clock } = await opened()
  const reads: (() => void)[] = []
  const seen: string[] = []
  const textOf = (state: JsonValue | undefined): string => stringifyJson(state ?? 'none')
  const { give, answers } = instance<string>({
    ...{ per: 'originator', parse: (stored) => stored },
    read: (message, state) =>
      message.data === 'first' ? textOf(state) : new Promise((resolve) => reads.push(() => resolve(textOf(state)))),
    handle(turn, message, known = '') {
      seen.push(`${message.data}: ${textOf(turn.state)}, read for ${known}`)
      turn.set(message.data)
      return 'Success'
    },
  })
  let refuse = (): void => undefined
  store.gate = () => new Promise((_, reject) => (refuse = () => reject(new Error('away'))))
  await give(testWork({ data: 'first' }).message)
  await give(testWork({ data: 'second' }).message)
  refuse()
  store.gate = () => Promise.resolve()
  await clock.settle()
  for (let read = 0; read < reads.length; read++) {
    reads[read]?.()
    await clock.settle()
  }
  assert.deepEqual(seen, ['first: "none", read for "none"', 'second: "none", read for "none"'])
  assert.equal(reads.length, 2)
  assert.match(answers.join(), /away,.* done$/)
})
