/** Another chain becomes the root while messages are under way in the one before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../model/message.ts'
import { chainOf, loaded, testEngine, testWork } from './testkit.ts'
import type { MakeNode, TestEngine } from './testkit.ts'

/** A node that answers when it is let go, and notes what reaches it. */
function held(): { readonly make: MakeNode; readonly seen: Message[]; readonly letGo: () => void } {
  const { promise, resolve } = Promise.withResolvers<'Success'>()
  const seen: Message[] = []
  return { make: () => ({ handle: (message) => (seen.push(message), promise) }), seen, letGo: () => resolve('Success') }
}

function noting(ran: string[], chain: string): MakeNode {
  return () => ({ handle: (message) => (ran.push(`${message.data} in ${chain}`), 'Success') })
}

function load(setup: TestEngine, ...parts: Parameters<typeof chainOf>) {
  const { chain, graph } = chainOf(...parts)
  return loaded(setup.clock, setup.engine.load(chain, graph))
}

test('issue-8 campaign: the new root runs no message of a device before what the root before it has under way', async () => {
  const slow = held()
  const ran: string[] = []
  const setup = testEngine({ slow: slow.make, atA: noting(ran, 'A'), atB: noting(ran, 'B') })
  await load(setup, 'A', [{ type: 'slow' }, { type: 'atA' }], [[0, 'Success', 1]])
  await setup.run(testWork({ data: '1' }))
  await load(setup, 'B', [{ type: 'atB' }], [])
  const second = testWork({ data: '2' })
  await setup.run(second)
  assert.deepEqual(ran, [], 'the second message overtook the first')
  slow.letGo()
  await setup.clock.settle()
  assert.deepEqual(ran, ['1 in A', '2 in B'])
  assert.ok(second.isSettled)
})

test('a root that becomes the root again at once waits for nobody who waits for it', async () => {
  const slow = held()
  const ran: string[] = []
  const setup = testEngine({ slow: slow.make, atA: noting(ran, 'A'), atB: noting(ran, 'B') })
  await load(setup, 'A', [{ type: 'slow' }, { type: 'atA' }], [[0, 'Success', 1]])
  await setup.run(testWork({ data: '1' }))
  await load(setup, 'B', [{ type: 'atB' }], [])
  await setup.run(testWork({ data: '2' }))
  setup.engine.setRoot('10000000-0000-4000-8000-000000000001', 'A')
  await setup.run(testWork({ data: '3' }))
  slow.letGo()
  await setup.clock.settle()
  assert.deepEqual(ran, ['1 in A', '2 in B', '3 in A'])
})

test('what hangs in the root before holds the new one up for so long and no longer', async () => {
  const slow = held()
  const ran: string[] = []
  const setup = testEngine(
    { slow: slow.make, atB: noting(ran, 'B') },
    { drainTimeoutMs: 10_000, nodeTimeoutMs: 60_000 },
  )
  await load(setup, 'A', [{ type: 'slow' }], [])
  await setup.run(testWork({ data: '1' }))
  await load(setup, 'B', [{ type: 'atB' }], [])
  await setup.run(testWork({ data: '2' }))
  await setup.clock.advance(9_900)
  assert.deepEqual(ran, [])
  await setup.clock.advance(200)
  assert.deepEqual(ran, ['2 in B'])
})

test('a root that is removed holds up nobody', async () => {
  const slow = held()
  const ran: string[] = []
  const setup = testEngine({ slow: slow.make, atB: noting(ran, 'B') })
  await load(setup, 'A', [{ type: 'slow' }], [])
  await setup.run(testWork({ data: '1' }))
  await load(setup, 'B', [{ type: 'atB' }], [])
  const removal = setup.engine.remove('A')
  await setup.run(testWork({ data: '2' }))
  slow.letGo()
  await loaded(setup.clock, removal)
  await setup.clock.settle()
  assert.deepEqual(ran, ['2 in B'])
})
