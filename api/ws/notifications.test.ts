import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PRINCIPAL, sessionBench, settled } from './testkit.ts'

async function opened(kind: 'new' | 'notifications' = 'new') {
  const bench = sessionBench()
  const { session, socket } = bench.open(kind)
  session.openedWithToken('good')
  await settled()
  socket.frames()
  const say = async (frame: object): Promise<unknown[]> => {
    await bench.say(session, frame)
    await settled()
    return socket.frames()
  }
  const heard = async (): Promise<unknown[]> => {
    await settled()
    await settled()
    return socket.frames()
  }
  return { store: bench.store, say, heard }
}

const FIRST = '0b1c2d3e-0000-4000-8000-00000000000a'
const SECOND = '0b1c2d3e-0000-4000-8000-00000000000b'
const note = (id: string, type = 'ALARM') => ({ id, type, text: 'hot' })
const HEAD = { cmdId: 5, errorCode: 0, errorMsg: null }

test('the count is told at once and when it changes, and no more after the end', async () => {
  const { store, say, heard } = await opened()
  const count = (totalUnreadCount: number, sequenceNumber: number) => [
    { ...HEAD, cmdUpdateType: 'NOTIFICATIONS_COUNT', totalUnreadCount, sequenceNumber },
  ]
  assert.deepEqual(await say({ cmds: [{ type: 'NOTIFICATIONS_COUNT', cmdId: 5 }] }), count(0, 1))
  store.setUnread([note(FIRST)])
  assert.deepEqual(await heard(), count(1, 2))
  // Something else in the inbox changed.
  store.setUnread([note(SECOND)])
  assert.deepEqual(await heard(), [])
  store.feed.publish({ kind: 'inbox-changed', entity: { entityType: 'USER', id: `${PRINCIPAL.userId.slice(0, -1)}f` } })
  assert.deepEqual(await heard(), [])
  await say({ cmds: [{ type: 'NOTIFICATIONS_UNSUBSCRIBE', cmdId: 5 }] })
  store.setUnread([])
  assert.deepEqual(await heard(), [])
})

test('the list is told whole at first, what comes on top alone, and whole again when something left it', async () => {
  const { store, say, heard } = await opened()
  const list = (members: object, totalUnreadCount: number, sequenceNumber: number) => [
    { ...HEAD, cmdUpdateType: 'NOTIFICATIONS', ...members, totalUnreadCount, sequenceNumber },
  ]
  store.setUnread([note(FIRST)])
  const frames = await say({ cmds: [{ type: 'NOTIFICATIONS', cmdId: 5, limit: 2, types: ['ALARM'] }] })
  assert.deepEqual(frames, list({ notifications: [note(FIRST)], update: null }, 1, 1))
  store.setUnread([note(SECOND), note(FIRST)])
  assert.deepEqual(await heard(), list({ notifications: null, update: note(SECOND) }, 2, 2))
  // Of a type that was not asked for.
  store.setUnread([note('third', 'GENERAL'), note(SECOND), note(FIRST)])
  assert.deepEqual(await heard(), [])
  await say({ cmds: [{ type: 'MARK_NOTIFICATIONS_AS_READ', cmdId: 6, notifications: [FIRST] }] })
  store.setUnread(store.unread)
  assert.deepEqual(store.unread, [note('third', 'GENERAL'), note(SECOND)])
})

test('what is read leaves the list; an id that is none is refused', async () => {
  const { store, say } = await opened()
  store.setUnread([note(SECOND), note(FIRST)])
  await say({ cmds: [{ type: 'NOTIFICATIONS', cmdId: 5 }] })
  const frames = await say({ cmds: [{ type: 'MARK_NOTIFICATIONS_AS_READ', cmdId: 6, notifications: [SECOND] }] })
  const whole = { cmdUpdateType: 'NOTIFICATIONS', notifications: [note(FIRST)], update: null }
  assert.deepEqual(frames, [{ ...HEAD, ...whole, totalUnreadCount: 1, sequenceNumber: 2 }])
  const refused = await say({ cmds: [{ type: 'MARK_NOTIFICATIONS_AS_READ', cmdId: 7, notifications: ['x'] }] })
  assert.deepEqual(refused, [
    { subscriptionId: 7, errorCode: 1, errorMsg: 'Invalid UUID string: x', data: null, latestValues: {} },
  ])
})

test('the older endpoint takes the same in its own envelope', async () => {
  const { store, say, heard } = await opened('notifications')
  store.setUnread([note(FIRST)])
  const [list] = await say({ unreadSubCmd: { cmdId: 5, limit: 3 } })
  assert.deepEqual(list, {
    ...HEAD,
    ...{ cmdUpdateType: 'NOTIFICATIONS', notifications: [note(FIRST)], update: null },
    ...{ totalUnreadCount: 1, sequenceNumber: 1 },
  })
  await say({ markAllAsReadCmd: { cmdId: 6 } })
  assert.deepEqual(store.unread, [])
  await say({ unsubCmd: { cmdId: 5 } })
  store.setUnread([note(SECOND)])
  assert.deepEqual(await heard(), [])
})

test('a list of types that there are not, or of fewer than none, is refused', async () => {
  const { say } = await opened()
  for (const wrong of [{ types: ['RUMOUR'] }, { limit: -1 }]) {
    const [frame] = await say({ cmds: [{ type: 'NOTIFICATIONS', cmdId: 7, ...wrong }] })
    assert.ok(!JSON.stringify(frame ?? null).includes('"errorCode":0'), JSON.stringify(frame))
    assert.ok(frame !== undefined)
  }
})
