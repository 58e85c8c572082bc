import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RuleTracer } from './tracer.ts'
import { FEATURE, UsageMeter } from '../usage/usage.ts'
import { chainOf, loaded, TENANT_ID, testEngine, testWork, type MakeNode, type TestEngine } from './testkit.ts'

const pass: MakeNode = () => ({ handle: () => 'Success' })
const later: MakeNode = ({ clock }) => ({
  handle: () => new Promise((resolve) => clock.after(40, () => resolve('Success'))),
})
const broken: MakeNode = () => ({
  handle: () => {
    throw new Error('it broke')
  },
})
const two: MakeNode = () => ({ handle: (message) => [{ message, relations: ['a', 'B'] }] })

type Ways = Parameters<typeof chainOf>[2]

async function load(setup: TestEngine, types: readonly string[], ways: Ways): Promise<void> {
  const { chain, graph } = chainOf(
    'A',
    types.map((type) => ({ type })),
    ways,
  )
  await loaded(setup.clock, setup.engine.load(chain, graph))
}

test('each way out of a node is counted, and what leads nowhere', async () => {
  const setup = testEngine({ pass, two })
  await load(
    setup,
    ['two', 'pass', 'pass'],
    [
      [0, 'A', 1],
      [0, 'A', 2],
      [0, 'b', 1],
    ],
  )
  await setup.run(testWork(), testWork())
  const [first, second, third] = setup.engine.statistics('A')?.nodes ?? []
  assert.deepEqual(first?.routes, [
    { relation: 'A', targets: ['A-1', 'A-2'], taken: 2 },
    { relation: 'b', targets: ['A-1'], taken: 2 },
  ])
  assert.deepEqual([second?.received, second?.ended, third?.received, third?.ended], [4, 4, 2, 2])
  assert.equal(setup.engine.statistics('none'), undefined)
})

test('how long a promise takes is measured to its end, and a new version goes on counting', async () => {
  const setup = testEngine({ later, pass })
  await load(setup, ['later', 'pass'], [[0, 'Success', 1]])
  const works = [testWork(), testWork({ originator: { entityType: 'DEVICE', id: 'other' } })]
  await setup.run(...works)
  await setup.clock.advance(40)
  await load(setup, ['later', 'pass', 'pass'], [[0, 'Success', 1]])
  const [node] = setup.engine.statistics('A')?.nodes ?? []
  assert.deepEqual([node?.latency.measured, node?.latency.max, node?.routes[0]?.taken], [2, 40, 2])
})

test('a tracer sees what enters, leaves and fails', async () => {
  const seen: string[] = []
  const tracer: RuleTracer = {
    run: ({ id }, { type }) => void seen.push(`run ${id} ${type}`),
    dispatch: ({ id }, { type }, relation) => void seen.push(`dispatch ${id} ${type} ${relation}`),
    fail: ({ id }, _message, error) => void seen.push(`fail ${id} ${String(error)}`),
  }
  const setup = testEngine({ pass, broken, two }, {}, undefined, { tracer })
  await load(
    setup,
    ['pass', 'two', 'broken'],
    [
      [0, 'Success', 1],
      [1, 'a', 2],
    ],
  )
  await setup.run(testWork({ type: 'T' }))
  assert.deepEqual(seen, [
    'run A-0 T',
    'dispatch A-0 T Success',
    'run A-1 T',
    'dispatch A-1 T a',
    'dispatch A-1 T B',
    'run A-2 T',
    'fail A-2 Error: it broke',
  ])
})

test('executions are told by tenant once each, those of a removed chain too', async () => {
  const setup = testEngine({ pass })
  await load(setup, ['pass', 'pass'], [[0, 'Success', 1]])
  await setup.run(testWork(), testWork())
  assert.deepEqual([...setup.engine.takeExecutions()], [[TENANT_ID, 4]])
  assert.equal(setup.engine.takeExecutions().size, 0)
  await load(setup, ['pass'], [])
  await setup.run(testWork())
  const removed = setup.engine.remove('A')
  await setup.clock.advance(1)
  await removed
  assert.deepEqual([...setup.engine.takeExecutions()], [[TENANT_ID, 1]])
})

test('messages of a tenant that used up its executions end well without entering a node', async () => {
  const meter = new UsageMeter()
  const setup = testEngine({ pass }, {}, undefined, { meter })
  await load(setup, ['pass'], [])
  meter.setDisabledOf(TENANT_ID, FEATURE.RE)
  const dropped = testWork()
  await setup.run(dropped)
  assert.deepEqual([dropped.open, dropped.errors], [0, []])
  meter.setDisabledOf(TENANT_ID, 0)
  await setup.run(testWork())
  assert.deepEqual([...setup.engine.takeExecutions()], [[TENANT_ID, 1]])
})

test('what was executed before the end is told after it', async () => {
  const setup = testEngine({ pass })
  await load(setup, ['pass'], [])
  await setup.run(testWork())
  await loaded(setup.clock, setup.engine.close())
  assert.deepEqual([...setup.engine.takeExecutions()], [[TENANT_ID, 1]])
})

test('a chain of the platform’s own is here before its first message, once, where that is asked for', async () => {
  const own = chainOf('A', [{ type: 'pass' }], [])
  const setup = testEngine({ pass }, {}, undefined, { ownChain: () => own })
  const { engine, clock } = setup
  await loaded(clock, Promise.all([engine.startOwn(TENANT_ID, 'A'), engine.startOwn(TENANT_ID, 'A')]))
  assert.deepEqual(
    engine.figures().map(({ ruleChainId, nodes }) => [ruleChainId, nodes.length]),
    [['A', 1]],
  )
  await setup.run(testWork({ ruleChainId: 'A' }))
  assert.deepEqual([...engine.takeExecutions()], [[TENANT_ID, 1]])
})

test('no chain of a tenant leads into one of the platform’s own', async () => {
  const enters: MakeNode = () => ({ handle: () => ({ flow: 'enter', ruleChainId: 'OWN' }) })
  const own = chainOf('OWN', [{ type: 'pass' }], [])
  const ownChain = (_tenantId: string, id: string) => (id === 'OWN' ? own : undefined)
  const setup = testEngine({ pass, enters }, {}, undefined, { ownChain })
  await load(setup, ['enters'], [])
  for (const isThere of [false, true]) {
    const work = testWork()
    await setup.run(work)
    assert.match(String(work.errors[0]), /OWN/, `the own chain is ${isThere ? '' : 'not '}loaded`)
    await loaded(setup.clock, setup.engine.startOwn(TENANT_ID, 'OWN'))
  }
})
