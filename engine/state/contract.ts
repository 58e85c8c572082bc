/** What every store of node states promises. A store's test is a call of {@link testNodeStateStore} and what only it can do wrong. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import { Message } from '../../model/message.ts'
import type { NodeStateStore, StateCommit, StoredOutput, StoredState } from './store.ts'

export interface StoreUnderTest {
  /** As a process of this name sees it: all see the same states. */
  readonly storeOf: (process: string) => NodeStateStore
  /** Whose states they are. */
  readonly tenantId: string
  readonly close: () => Promise<void>
}

export const NO_CHANGE: StateCommit = { states: [], removedStates: [], outputs: [], removedOutputs: [] }
export const DEVICE = '99999999-0000-4000-8000-000000000001'
export const CHAIN = '99999999-0000-4000-8000-000000000002'
export const NODE = '99999999-0000-4000-8000-000000000003'

const STALE = { code: 'node-state.OWNER_STALE', isOutage: true }
/** How often an owner and the next one meet. */
const MEETINGS = 20

export function testNodeStateStore(name: string, open: () => Promise<StoreUnderTest>): void {
  async function opened(context: TestContext): Promise<StoreUnderTest> {
    const under = await open()
    context.after(() => under.close())
    return under
  }

  test(`${name}: what was committed is read, and goes`, async (context) => {
    const { storeOf, tenantId } = await opened(context)
    const store = storeOf('one')
    const partition = await store.claim(0, undefined)
    const state = stateOf(tenantId, { value: '{"a":1}', wakeAt: 500, done: '[]' })
    const output = outputOf(tenantId, store)
    await partition.commit({ ...NO_CHANGE, states: [state], outputs: [output] })
    assert.deepEqual(await partition.load([state.id, 'other']), [state])
    assert.deepEqual(await partition.woken(499, 10), [])
    assert.deepEqual(await partition.woken(500, 10), [state])
    assert.deepEqual(await partition.due(700, 10), [output])
    assert.deepEqual(await partition.due(699, 10), [])
    assert.equal(await partition.nextTime(), 500)
    const waiting = (await partition.waiting()).map(({ id, ruleNodeId, entityId: of }) => ({ id, ruleNodeId, of }))
    assert.deepEqual(waiting, [{ id: output.id, ruleNodeId: NODE, of: DEVICE }])
    assert.equal(await store.bytesOf(tenantId), 110)
    const changed = { ...state, value: null, wakeAt: null, bytes: 7 }
    await partition.commit({ ...NO_CHANGE, states: [changed], removedOutputs: [output.id] })
    assert.deepEqual(await partition.load([state.id]), [changed])
    assert.equal(await store.bytesOf(tenantId), 7)
    await partition.commit({ ...NO_CHANGE, removedStates: [state.id] })
    assert.deepEqual(await partition.load([state.id]), [])
    assert.equal(await partition.nextTime(), undefined)
  })

  test(`${name}: messages due at the same time come in the order in which they were committed, of whatever ids`, async (context) => {
    const { storeOf, tenantId } = await opened(context)
    const store = storeOf('one')
    const output = outputOf(tenantId, store)
    const of = (digit: string): StoredOutput => ({ ...output, id: `${output.id.slice(0, -1)}${digit}` })
    const before = await store.claim(0, undefined)
    await before.commit({ ...NO_CHANGE, outputs: [of('7'), of('6')] })
    await before.commit({ ...NO_CHANGE, outputs: [of('9'), of('5'), { ...of('0'), due: output.due - 1 }] })
    const due = async (): Promise<string> => (await before.due(700, 10)).map(({ id }) => id.slice(-1)).join('')
    assert.equal(await due(), '07695')
    // One that is kept again stands where it stood.
    await before.commit({ ...NO_CHANGE, outputs: [of('7')] })
    assert.equal(await due(), '07695')
  })

  test(`${name}: a message is read as it was`, async (context) => {
    const { storeOf, tenantId } = await opened(context)
    const store = storeOf('one')
    const message = messageOf(tenantId)
    const read = store.decode(store.encode(message))
    assert.deepEqual(read.resumption, message.resumption)
    assert.deepEqual({ ...read }, { ...message })
  })

  test(`${name}: epochs rise, and a claim under an earlier one is refused`, async (context) => {
    const { storeOf } = await opened(context)
    const [one, two] = [storeOf('one'), storeOf('two')]
    assert.equal(await one.epochOf(3), 0)
    const first = await one.claim(3, 4)
    await one.claim(3, 4)
    await first.commit(NO_CHANGE)
    await two.claim(3, undefined)
    assert.equal(await one.epochOf(3), 5)
    assert.equal(await two.epochOf(4), 0)
    await assert.rejects(one.claim(3, 4), STALE)
    await assert.rejects(first.commit(NO_CHANGE), STALE)
  })

  test(`${name}: of an old owner's commit nothing is done, whatever it holds, and its other partitions are its own`, async (context) => {
    const { storeOf, tenantId } = await opened(context)
    const [one, two] = [storeOf('one'), storeOf('two')]
    const [before, other] = [await one.claim(3, 4), await one.claim(5, 4)]
    const state = stateOf(tenantId, { value: '1', wakeAt: 500 })
    const output = outputOf(tenantId, one)
    await before.commit({ ...NO_CHANGE, states: [state], outputs: [output] })
    const after = await two.claim(3, 5)
    const late: StateCommit = {
      states: [{ ...state, value: '2', wakeAt: 1 }, stateOf(tenantId, { id: 'new', value: '3', wakeAt: 2 })],
      removedStates: [state.id],
      outputs: [
        { ...output, due: 3 },
        { ...output, id: '99999999-0000-4000-8000-00000000000a', due: 4 },
      ],
      removedOutputs: [output.id],
    }
    for (const part of ['states', 'removedStates', 'outputs', 'removedOutputs'] as const)
      await assert.rejects(before.commit({ ...NO_CHANGE, [part]: late[part] }), STALE, part)
    await assert.rejects(before.commit(late), STALE)
    assert.deepEqual(await after.load([state.id, 'new']), [state])
    assert.deepEqual(await after.woken(1000, 10), [state])
    assert.deepEqual(await after.due(1000, 10), [output])
    const elsewhere = stateOf(tenantId, { id: 'elsewhere', value: '4' })
    await other.commit({ ...NO_CHANGE, states: [elsewhere] })
    assert.deepEqual(await other.load(['elsewhere']), [elsewhere])
  })

  test(`${name}: a commit that meets the next owner is seen by it, or refused`, async (context) => {
    const { storeOf, tenantId } = await opened(context)
    const owners = [storeOf('one'), storeOf('two')] as const
    let owner = await owners[0].claim(3, 1)
    for (let meeting = 1; meeting <= MEETINGS; meeting++) {
      const next = owners[meeting % 2 === 0 ? 0 : 1]
      const state = stateOf(tenantId, { value: String(meeting) })
      const [committed, claimed] = await Promise.all([
        owner.commit({ ...NO_CHANGE, states: [state] }).then(
          () => true,
          (error: unknown) => {
            if (isMillraceError(error) && error.code === STALE.code) return false
            throw error
          },
        ),
        next.claim(3, meeting + 1).then(async (store) => ({ store, seen: await store.load([state.id]) })),
      ])
      const value = claimed.seen[0]?.value
      assert.equal(value === String(meeting), committed, `meeting ${meeting}: ${value} is seen`)
      owner = claimed.store
    }
  })
}

export function stateOf(tenantId: string, change: Partial<StoredState>): StoredState {
  const place = { tenantId, ruleChainId: CHAIN, ruleNodeId: NODE, entityId: DEVICE }
  return { ...place, id: `${NODE}:DEVICE:${DEVICE}`, value: null, done: '', wakeAt: null, bytes: 10, ...change }
}

function messageOf(tenantId: string): Message {
  return new Message({
    id: '99999999-0000-4000-8000-000000000009',
    ts: 5,
    type: 'A_TYPE',
    tenantId,
    originator: entityId('DEVICE', DEVICE),
    customerId: '99999999-0000-4000-8000-000000000008',
    metadata: { a: 'b' },
    dataType: 'TEXT',
    data: '{"c":1}',
    queueName: 'Slow',
    calculatedFieldIds: [NODE],
    resumption: {
      ...{ ruleChainId: CHAIN, ruleNodeId: NODE, relation: 'Success', executions: 3, firstQueueName: 'Slow' },
      callers: [{ ruleChainId: NODE, ruleNodeId: CHAIN }],
    },
  })
}

function outputOf(tenantId: string, store: NodeStateStore): StoredOutput {
  const message = messageOf(tenantId)
  const place = { tenantId, ruleChainId: CHAIN, ruleNodeId: NODE, entityId: DEVICE }
  return { ...place, id: message.id, due: 700, message: store.encode(message), bytes: 100 }
}
