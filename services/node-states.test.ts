import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { entityId } from '../model/entity-id.ts'
import { Message } from '../model/message.ts'
import type { StateCommit, StoredOutput, StoredState } from '../engine/state/store.ts'
import { onBothDatabases } from './both-databases.testkit.ts'
import { StoredNodeStates } from './node-states.ts'
import type { TestPlatform } from './testkit.ts'

const NOTHING: StateCommit = { states: [], removedStates: [], outputs: [], removedOutputs: [] }
const DEVICE = '99999999-0000-4000-8000-000000000001'
const CHAIN = '99999999-0000-4000-8000-000000000002'
const NODE = '99999999-0000-4000-8000-000000000003'

await onBothDatabases('states of rule nodes ', (open) => {
  async function opened(t: TestContext): Promise<{ platform: TestPlatform; store: StoredNodeStates }> {
    const platform = await open()
    t.after(() => platform.close())
    return { platform, store: storeOf(platform, 'one') }
  }

  void test('are read as they were committed, and go', async (t) => {
    const { platform, store } = await opened(t)
    const partition = await store.claim(0, undefined)
    const state = stateOf(platform, { value: '{"a":1}', wakeAt: 500, done: '[]' })
    const output = outputOf(platform, store)
    await partition.commit({ ...NOTHING, states: [state], outputs: [output] })
    assert.deepEqual(await partition.load([state.id, 'other']), [state])
    assert.deepEqual(await partition.woken(499, 10), [])
    assert.deepEqual(await partition.woken(500, 10), [state])
    assert.deepEqual(await partition.due(700, 10), [output])
    assert.deepEqual(await partition.due(699, 10), [])
    assert.equal(await partition.nextTime(), 500)
    assert.deepEqual(await partition.waiting(), [{ id: output.id, ruleNodeId: NODE, entityId: DEVICE }])
    assert.equal(await store.bytesOf(platform.tenantId), 110)
    const changed = { ...state, value: null, wakeAt: null, bytes: 7 }
    await partition.commit({ ...NOTHING, states: [changed], removedOutputs: [output.id] })
    assert.deepEqual(await partition.load([state.id]), [changed])
    assert.equal(await store.bytesOf(platform.tenantId), 7)
    await partition.commit({ ...NOTHING, removedStates: [state.id] })
    assert.deepEqual(await partition.load([state.id]), [])
    assert.equal(await partition.nextTime(), undefined)
  })

  void test('of a stale owner are refused whole', async (t) => {
    const { platform, store } = await opened(t)
    const before = await store.claim(3, 4)
    const state = stateOf(platform, { value: '1' })
    await before.commit({ ...NOTHING, states: [state] })
    const after = await storeOf(platform, 'two').claim(3, 5)
    const stale = { code: 'node-state.OWNER_STALE' }
    await assert.rejects(before.commit({ ...NOTHING, states: [{ ...state, value: '2' }] }), stale)
    assert.deepEqual(await after.load([state.id]), [state])
    await assert.rejects(store.claim(3, 4), stale)
    await assert.rejects(store.claim(3, 5), stale, 'the same epoch of another process')
    await storeOf(platform, 'two').claim(3, 5)
  })

  void test('a message is read as it was', async (t) => {
    const { platform, store } = await opened(t)
    const message = messageOf(platform)
    const read = store.decode(store.encode(message))
    assert.deepEqual(read.resumption, message.resumption)
    assert.deepEqual({ ...read }, { ...message })
  })

  void test('go with what they are of, and with nodes that are in no chain', async (t) => {
    const { platform, store } = await opened(t)
    const partition = await store.claim(0, undefined)
    const chainId = '99999999-0000-4000-8000-000000000007'
    const ofDevice = stateOf(platform, { value: '1', id: 'a' })
    const ofChain = { ...stateOf(platform, { value: '1', id: 'b' }), entityId: NODE, ruleChainId: chainId }
    const ofOthers = { ...stateOf(platform, { value: '1', id: 'c' }), entityId: NODE }
    await partition.commit({ ...NOTHING, states: [ofDevice, ofChain, ofOthers] })
    await platform.entities.write(platform.entities.deleteAttached(DEVICE))
    assert.deepEqual(await partition.load(['a', 'b', 'c']), [ofChain, ofOthers])
    await platform.entities.write(platform.entities.deleteAttached(chainId))
    assert.deepEqual(await partition.load(['a', 'b', 'c']), [ofOthers])
    assert.equal(await store.sweep(), false)
    assert.deepEqual(await partition.load(['a', 'b', 'c']), [])
  })
})

function storeOf({ entities, clock }: TestPlatform, self: string): StoredNodeStates {
  return new StoredNodeStates({ entities, clock, report: (text) => assert.fail(text), log: 'test', self })
}

function stateOf({ tenantId }: TestPlatform, change: Partial<StoredState>): StoredState {
  const place = { tenantId, ruleChainId: CHAIN, ruleNodeId: NODE, entityId: DEVICE }
  return { ...place, id: `${NODE}:DEVICE:${DEVICE}`, value: null, done: '', wakeAt: null, bytes: 10, ...change }
}

function messageOf({ tenantId }: TestPlatform): Message {
  return new Message({
    id: '99999999-0000-4000-8000-000000000009',
    ts: 5,
    type: 'A_TYPE',
    tenantId,
    originator: entityId('DEVICE', DEVICE),
    metadata: { a: 'b' },
    data: '{"c":1}',
    queueName: 'Slow',
    resumption: {
      ...{ ruleChainId: CHAIN, ruleNodeId: NODE, relation: 'Success', executions: 3, firstQueueName: 'Slow' },
      callers: [{ ruleChainId: NODE, ruleNodeId: CHAIN }],
    },
  })
}

function outputOf(platform: TestPlatform, store: StoredNodeStates): StoredOutput {
  const message = messageOf(platform)
  const place = { tenantId: platform.tenantId, ruleChainId: CHAIN, ruleNodeId: NODE, entityId: DEVICE }
  return { ...place, id: message.id, due: 700, message: store.encode(message), bytes: 100 }
}
