import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallRoom } from './call-room.ts'

const LIMITS = { calls: 4, bytes: 100, tenantCalls: 2, tenantBytes: 60, tenantWaiting: 3 }
const never = new AbortController().signal

/** Enters, and notes the name when it is in. */
function entering(room: CallRoom, tenantId: string, bytes: number, entered: string[], name = tenantId) {
  return room.enter(tenantId, bytes, never).then((leave) => {
    entered.push(name)
    return leave
  })
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a tenant has its share of calls, the others theirs', async () => {
  const room = new CallRoom(LIMITS)
  const entered: string[] = []
  const [first] = [1, 2, 3].map((index) => entering(room, 'slow', 1, entered, `slow ${index}`))
  const other = entering(room, 'quick', 1, entered)
  await turn()
  assert.deepEqual(entered, ['slow 1', 'slow 2', 'quick'])
  assert.deepEqual(room.figures, { calls: 3, bytes: 3, waiting: 1 })
  ;(await other)()
  await turn()
  assert.equal(entered.length, 3)
  const leave = await first
  leave?.()
  leave?.()
  await turn()
  assert.deepEqual(entered.at(-1), 'slow 3')
  assert.deepEqual(room.figures, { calls: 2, bytes: 2, waiting: 0 })
})

test('of those who wait the tenant with the fewest calls is let in first', async () => {
  const room = new CallRoom({ ...LIMITS, calls: 2 })
  const entered: string[] = []
  const first = entering(room, 'a', 1, entered, 'a1')
  const second = entering(room, 'a', 1, entered, 'a2')
  for (const name of ['a3', 'a4', 'b1', 'c1']) void entering(room, name.charAt(0), 1, entered, name)
  ;(await first)()
  ;(await second)()
  await turn()
  assert.deepEqual(entered, ['a1', 'a2', 'b1', 'c1'])
})

test('bytes are bounded too: a call that can never enter is refused, others wait', async () => {
  const room = new CallRoom(LIMITS)
  await assert.rejects(room.enter('a', 61, never), { code: 'outbound.CALL_TOO_BIG' })
  const entered: string[] = []
  const leave = await entering(room, 'a', 40, entered)
  void entering(room, 'a', 30, entered, 'second')
  await turn()
  assert.deepEqual(entered, ['a'])
  leave()
  await turn()
  assert.deepEqual(entered, ['a', 'second'])
})

test('a tenant whose calls wait to the bound is refused; who gives up leaves the line', async () => {
  const room = new CallRoom(LIMITS)
  const giveUp = new AbortController()
  await room.enter('a', 1, never)
  const leave = await room.enter('a', 1, never)
  const waiting = [1, 2, 3].map(() => assert.rejects(room.enter('a', 1, giveUp.signal), /enough/))
  await assert.rejects(room.enter('a', 1, never), { code: 'outbound.TENANT_FULL' })
  giveUp.abort(new Error('enough'))
  await Promise.all(waiting)
  assert.deepEqual(room.figures, { calls: 2, bytes: 2, waiting: 0 })
  leave()
  await room.enter('a', 1, never)
})
