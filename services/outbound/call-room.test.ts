import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallRoom } from './call-room.ts'

const LIMITS = { calls: 4, bytes: 100, tenantCalls: 2, tenantBytes: 60, tenantWaiting: 3 }
const never = new AbortController().signal

/** Enters, and notes the name when it is in. */
function entering(room: CallRoom, tenantId: string, bytes: number, entered: string[], name = tenantId) {
  return room.enter(tenantId, bytes, never).then((place) => {
    entered.push(name)
    return () => place.leave()
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
  const place = await room.enter('a', 1, never)
  const waiting = [1, 2, 3].map(() => assert.rejects(room.enter('a', 1, giveUp.signal), /enough/))
  await assert.rejects(room.enter('a', 1, never), { code: 'outbound.TENANT_FULL' })
  giveUp.abort(new Error('enough'))
  await Promise.all(waiting)
  assert.deepEqual(room.figures, { calls: 2, bytes: 2, waiting: 0 })
  place.leave()
  await room.enter('a', 1, never)
})

test('an answer takes the place of its call, or waits for room and holds nothing meanwhile', async () => {
  const room = new CallRoom(LIMITS)
  const first = await room.enter('a', 30, never)
  const second = await room.enter('a', 30, never)
  await assert.rejects(first.takeAnswer(61, never), { code: 'outbound.ANSWER_TOO_BIG' })
  // Together with the other's call it is too much for the tenant.
  let isIn = false
  const waits = first.takeAnswer(50, never).then(() => (isIn = true))
  await turn()
  assert.deepEqual([isIn, room.figures], [false, { calls: 2, bytes: 30, waiting: 1 }])
  // Two that wait for each other's bytes both go on.
  const both = second.takeAnswer(40, never)
  await waits
  assert.deepEqual(room.figures, { calls: 2, bytes: 50, waiting: 1 })
  first.leave()
  await both
  assert.deepEqual(room.figures, { calls: 1, bytes: 40, waiting: 0 })
  second.leave()
  second.leave()
  assert.deepEqual(room.figures, { calls: 0, bytes: 0, waiting: 0 })
})

test('an answer of another tenant finds room, and one whose call is given up leaves nothing behind', async () => {
  const room = new CallRoom(LIMITS)
  const big = await room.enter('a', 0, never)
  await big.takeAnswer(60, never)
  const other = await room.enter('b', 0, never)
  await other.takeAnswer(40, never)
  const third = await room.enter('c', 0, never)
  const giveUp = new AbortController()
  const refused = assert.rejects(third.takeAnswer(1, giveUp.signal), /enough/)
  giveUp.abort(new Error('enough'))
  await refused
  third.leave()
  const late = await room.enter('c', 0, never)
  const waits = late.takeAnswer(1, never)
  late.leave()
  big.leave()
  await waits
  assert.deepEqual(room.figures, { calls: 1, bytes: 40, waiting: 0 })
})

test('what an answer whose call is gone gives back goes to who waits', async () => {
  const room = new CallRoom({ ...LIMITS, tenantBytes: 100 })
  const big = await room.enter('a', 100, never)
  const gone = await room.enter('b', 0, never)
  const answer = gone.takeAnswer(80, never)
  gone.leave()
  const entered: string[] = []
  void entering(room, 'c', 50, entered)
  await turn()
  big.leave()
  await answer
  await turn()
  assert.deepEqual(entered, ['c'])
  assert.deepEqual(room.figures, { calls: 1, bytes: 50, waiting: 0 })
})
