import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../model/clock.ts'
import { createNode, runNode, testContext, testMessage, TENANT_ID } from '../testkit.ts'
import { generator } from './generator.ts'

const COUNTING = 'return {msg: {n: (prevMsg.n || 0) + 1, was: prevMsgType}, metadata: {data: 40}, msgType: "TICK"};'

function opened() {
  let now = 1000
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    after: () => ({ cancel: () => undefined }),
    soon: (run) => queueMicrotask(run),
  }
  const context = testContext({ clock })
  return { context, state: context.fakes.state, pass: (ms: number) => (now += ms) }
}

for (const scriptLang of ['TBEL', 'JS'] as const) {
  test(`a message each period, of the one before, until there were enough (${scriptLang})`, async () => {
    const { context, state, pass } = opened()
    const configuration = {
      ...{ msgCount: 2, periodInSeconds: 5, originatorId: null, originatorType: 'TENANT' },
      ...{ scriptLang, jsScript: COUNTING, tbelScript: COUNTING },
    }
    const instance = await createNode(generator, configuration, context)
    state.start()
    pass(4999)
    await state.wake()
    assert.equal(state.sent.length, 0)
    for (let round = 0; round < 4; round++) {
      pass(5000)
      await state.wake()
      // As after a restart.
      state.start()
    }
    assert.deepEqual(
      state.sent.map(({ message, relation }) => [relation, message.type, message.data, message.metadata['data']]),
      [
        ['Success', 'TICK', '{"n":1,"was":""}', '40'],
        ['Success', 'TICK', '{"n":2,"was":"TICK"}', '40'],
      ],
    )
    assert.deepEqual(state.sent[0]?.message.originator, { entityType: 'TENANT', id: TENANT_ID })
    await instance.close?.()
    assert.equal(context.openScripts(), 0)
  })
}

test('another configuration begins anew', async () => {
  const { context, state, pass } = opened()
  for (const msgCount of [1, 2]) {
    await createNode(generator, { ...generator.defaultConfiguration, msgCount }, context)
    state.start()
    for (let round = 0; round < 3; round++) {
      pass(1000)
      await state.wake()
    }
  }
  assert.equal(state.sent.length, 3)
})

test('a script that fails tells so and counts, and a message that comes in ends', async () => {
  const { context, state, pass } = opened()
  const failing = { ...generator.defaultConfiguration, msgCount: 1, tbelScript: 'return prevMsg.a.b.c' }
  const instance = await createNode(generator, failing, context)
  state.start()
  for (let round = 0; round < 2; round++) {
    pass(1000)
    await state.wake()
  }
  assert.deepEqual(
    state.sent.map(({ message, relation }) => [relation, message.type, message.originator.entityType]),
    [['Failure', 'GENERATOR_NODE_SELF_MSG', 'RULE_NODE']],
  )
  const [result] = await runNode(instance, testMessage({ data: '{}' }))
  assert.deepEqual(result, { emissions: [] })
})

test('an originator that has to be named and is not', async () => {
  const configuration = { ...generator.defaultConfiguration, originatorType: 'DEVICE' }
  await assert.rejects(createNode(generator, configuration), /originatorId: is missing/)
})

test('an entity that is not the tenant’s is no originator', async () => {
  const { context } = opened()
  const foreign = '99999999-9999-4999-8999-999999999999'
  const configuration = { ...generator.defaultConfiguration, originatorType: 'DEVICE', originatorId: foreign }
  await assert.rejects(createNode(generator, configuration, context), { code: 'node.ORIGINATOR_UNKNOWN' })
  context.fakes.entities.add({ id: { entityType: 'DEVICE', id: foreign }, name: 'T1' })
  await (await createNode(generator, configuration, context)).close?.()
})

test('an old file without an originator makes messages of the node itself', () => {
  assert.equal(generator.upgrade?.({ originatorType: 'DEVICE', originatorId: null }, 1)['originatorType'], 'RULE_NODE')
})

test('a wake-up that comes late makes no period longer, and what was missed while nobody was there is left out', async () => {
  const { context, state, pass } = opened()
  await createNode(generator, { ...generator.defaultConfiguration, periodInSeconds: 10 }, context)
  state.start()
  for (const late of [100, 250, 0, 9_999, 60_000]) {
    const wakesAt = [...state.held.values()][0]?.wakesAt ?? 0
    pass(wakesAt - context.clock.now() + late)
    await state.wake()
  }
  // The clock stands at 1 s when it starts.
  assert.deepEqual(
    state.sent.map(({ message }) => message.ts),
    [11_100, 21_250, 31_000, 50_999, 111_000],
  )
  assert.equal([...state.held.values()][0]?.wakesAt, 121_000)
})
