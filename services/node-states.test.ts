import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { DEVICE, NO_CHANGE, NODE, stateOf, testNodeStateStore } from '../engine/state/contract.ts'
import { onBothDatabases } from './both-databases.testkit.ts'
import { StoredNodeStates } from './node-states.ts'
import type { TestPlatform } from './testkit.ts'

await onBothDatabases('states of rule nodes ', (open) => {
  async function opened(t: TestContext): Promise<{ platform: TestPlatform; store: StoredNodeStates }> {
    const platform = await open()
    t.after(() => platform.close())
    return { platform, store: storeOf(platform, 'one') }
  }

  testNodeStateStore('stored states of rule nodes', async () => {
    const platform = await open()
    const { tenantId } = platform
    return { tenantId, storeOf: (process) => storeOf(platform, process), close: () => platform.close() }
  })

  void test('of a stale owner are refused whole', async (t) => {
    const { platform, store } = await opened(t)
    const before = await store.claim(3, 4)
    const state = stateOf(platform.tenantId, { value: '1' })
    await before.commit({ ...NO_CHANGE, states: [state] })
    const after = await storeOf(platform, 'two').claim(3, 5)
    const stale = { code: 'node-state.OWNER_STALE' }
    await assert.rejects(before.commit({ ...NO_CHANGE, states: [{ ...state, value: '2' }] }), stale)
    assert.deepEqual(await after.load([state.id]), [state])
    await assert.rejects(store.claim(3, 4), stale)
    await assert.rejects(store.claim(3, 5), stale, 'the same epoch of another process')
    await storeOf(platform, 'two').claim(3, 5)
  })

  void test('go with what they are of, and with nodes that are in no chain', async (t) => {
    const { platform, store } = await opened(t)
    const partition = await store.claim(0, undefined)
    const chainId = '99999999-0000-4000-8000-000000000007'
    const ofDevice = stateOf(platform.tenantId, { value: '1', id: 'a' })
    const ofChain = { ...stateOf(platform.tenantId, { value: '1', id: 'b' }), entityId: NODE, ruleChainId: chainId }
    const ofOthers = { ...stateOf(platform.tenantId, { value: '1', id: 'c' }), entityId: NODE }
    await partition.commit({ ...NO_CHANGE, states: [ofDevice, ofChain, ofOthers] })
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
