/** What is counted of a tenant, and messages that the log never takes. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { ManualClock } from '../actor/testkit.ts'
import { LinkErrors } from '../link/errors.ts'
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
const LIMIT = 500
const MAX_VISITS = 40

interface Options {
  readonly settings?: Partial<NodeStatesSettings>
  readonly store?: MemoryStateStore
  readonly settledBelow?: () => number
}

async function opened(
  t: TestContext,
  { settings = {}, settledBelow = () => 0, store = new MemoryStateStore() }: Options,
) {
  const clock = new ManualClock()
  const published: Message[] = []
  const reports: string[] = []
  const checkFits = ({ data }: Message): void => {
    if (data.length > LIMIT) throw LinkErrors.MESSAGE_TOO_LARGE({ size: data.length, limit: LIMIT })
  }
  const states = new NodeStates({
    ...{ store, clock, settings, serviceId: 'here', report: (_level, text) => void reports.push(text) },
    log: {
      streamOf: () => 0,
      settledBelow,
      checkFits,
      publish: (message, receipt) => {
        const { length } = message.data
        if (length > LIMIT) return receipt.refused(LinkErrors.MESSAGE_TOO_LARGE({ size: length, limit: LIMIT }))
        published.push(message)
        receipt.stored()
      },
    },
  })
  await states.taken(0)
  t.after(() => states.close())
  const instance = (node: KeyedNode<JsonValue>) => {
    const made = states.of(NODE).keyed(node)
    const answers: string[] = []
    const give = async (message: Message): Promise<void> => {
      void made.handleBatch?.([message], {
        visit: () => ({ id: message.id, originatorId: 'log', sequence: message.sequence }),
        emit: () => void answers.push('done'),
        fail: (_index, error) => void answers.push(error.message),
      })
      await clock.settle()
    }
    return { give, answers }
  }
  const defer = async (message: Message, at: number): Promise<void> => {
    const receipt = { stored: () => undefined, refused: assert.fail }
    states.defer({ message, at, node: NODE, originatorId: message.originator.id }, receipt)
    await clock.settle()
  }
  return { store, clock, published, reports, states, instance, defer }
}

function visits(data: string): KeyedNode<JsonValue> {
  return {
    per: 'originator',
    parse: (stored) => stored,
    handle(turn, message) {
      turn.set('x')
      return { message: message.with({ data }), relations: ['Success'] }
    },
  }
}

void test("visits that are remembered count in the tenant's bound, and room comes when the log has settled them", async (t) => {
  let settled = 0
  const settings = { maxTenantBytes: 5000 }
  const { instance, store } = await opened(t, { settings, settledBelow: () => settled })
  const { give, answers } = instance(visits('y'.repeat(400)))
  const message = (sequence: number): Message => Object.assign(testWork({ device: 'a' }).message, { sequence })
  for (let sequence = 1; sequence <= MAX_VISITS; sequence++) await give(message(sequence))
  const kept = answers.filter((answer) => answer === 'done').length
  assert.ok(kept > 2 && kept < 12, `${kept} visits of 400 bytes in 5000`)
  assert.match(answers.at(-1) ?? '', /may remember 5000/)
  assert.ok([...store.states.values()].reduce((sum, { bytes, done }) => sum + Math.min(bytes, done.length), 0) <= 5000)
  settled = MAX_VISITS + 1
  // The first prunes more than it adds only with the commit behind it.
  for (let sequence = 1; sequence <= 3; sequence++) await give(message(MAX_VISITS + sequence))
  assert.deepEqual(answers.slice(-3), ['done', 'done', 'done'])
})

void test('a message that waits since before a restart, and is kept again under its id, waits once', async (t) => {
  const store = new MemoryStateStore()
  const { message } = testWork()
  const before = await opened(t, { store })
  await before.defer(message, before.clock.now() + 1000)
  const { defer, states, clock } = await opened(t, { store })
  assert.equal(states.of(NODE).waiting(), 1)
  await defer(message, clock.now() + 1000)
  assert.equal(states.of(NODE).waiting(), 1)
  await clock.advance(1000)
  assert.equal(states.of(NODE).waiting(), 0)
})

void test('a message that the log never takes fails at its node, and nothing is changed', async (t) => {
  const { instance, store, published } = await opened(t, {})
  const { give, answers } = instance({
    ...visits('y'),
    handle(turn, message) {
      turn.set('x')
      turn.send(message.with({ data: 'y'.repeat(LIMIT + 1) }), 'Success')
      return 'Success'
    },
  })
  await give(testWork({ device: 'a' }).message)
  assert.match(answers.join(), /at most 500 are allowed/)
  assert.deepEqual([store.states.size, store.outputs.size, published.length], [0, 0, 0])
})

void test('one that is stored already goes on by its failure, told, and those behind it go', async (t) => {
  const { instance, store, clock, published, reports } = await opened(t, {})
  const { give } = instance({
    ...visits('y'),
    handle(turn) {
      turn.set('x')
      turn.wakeAt(turn.now + 1000)
      return 'Success'
    },
    wake(turn) {
      turn.set(undefined)
      for (const length of [LIMIT + 1, 1]) turn.send(testWork({ data: 'y'.repeat(length) }).message, 'Success')
    },
  })
  await give(testWork({ device: 'a' }).message)
  await clock.advance(1000)
  const gone = published.map(({ resumption, data, metadata }) => [resumption?.relation, data, metadata['error']])
  assert.deepEqual(gone, [
    ['Failure', '{}', 'message of 501 characters, at most 500 are allowed'],
    ['Success', 'y', undefined],
  ])
  assert.equal(store.outputs.size, 0)
  assert.equal(reports.length, 1)
})
