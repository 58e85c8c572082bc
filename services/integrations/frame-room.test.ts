import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameRoom } from './frame-room.ts'

/** Waits for room for so many bytes, enters once it is told, and notes so. */
function waitFor(room: FrameRoom, told: string[], name: string, tenantId: string, bytes: number, enters = true): void {
  room.onRoom(tenantId, bytes, () => {
    told.push(name)
    if (enters) assert.equal(room.enterInTurn(tenantId, bytes), undefined, `${name} was told and finds no room`)
  })
}

test('of those who wait only as many are told as there is room for, in their order', () => {
  const room = new FrameRoom(100, 1)
  for (let count = 0; count < 10; count++) assert.equal(room.enter('a', 10), undefined)
  const told: string[] = []
  for (let count = 0; count < 1000; count++) waitFor(room, told, `${count}`, 'a', 10)
  room.leave('a', 10)
  assert.deepEqual(told, ['0'])
  room.leave('a', 30)
  assert.deepEqual(told, ['0', '1', '2', '3'])
  assert.equal(room.bytes, 100)
})

test('tenants have turns, and one that has all of its part holds up no other', () => {
  const room = new FrameRoom(100, 0.5)
  room.enter('a', 50)
  room.enter('b', 30)
  room.enter('c', 20)
  const told: string[] = []
  for (const name of ['a1', 'a2', 'a3']) waitFor(room, told, name, 'a', 10)
  for (const name of ['b1', 'b2']) waitFor(room, told, name, 'b', 10)
  room.leave('c', 20)
  assert.deepEqual(told, ['b1', 'b2'])
  room.leave('a', 30)
  room.leave('b', 20)
  assert.deepEqual(told, ['b1', 'b2', 'a1', 'a2', 'a3'])
})

test('a large frame waits until there is room for it, and small ones of its tenant do not pass it', () => {
  const room = new FrameRoom(100, 1)
  for (let count = 0; count < 10; count++) room.enter('a', 10)
  const told: string[] = []
  waitFor(room, told, 'large', 'a', 60)
  waitFor(room, told, 'small', 'a', 10)
  for (let count = 0; count < 5; count++) room.leave('a', 10)
  assert.deepEqual(told, [])
  assert.equal(room.enterInTurn('a', 10), 'tenant', 'it waits behind the others')
  assert.equal(room.enter('a', 10), undefined, 'one who can not wait does not')
  room.leave('a', 10)
  room.leave('a', 10)
  assert.deepEqual(told, ['large'])
  room.leave('a', 10)
  assert.deepEqual(told, ['large', 'small'])
})

test('who is told and does not enter leaves his turn to the next; one who waits again is told of other room only', () => {
  const room = new FrameRoom(20, 1)
  room.enter('a', 20)
  const told: string[] = []
  waitFor(room, told, 'gone', 'a', 10, false)
  const again = (): void => {
    told.push('again')
    room.onRoom('a', 10, again)
  }
  room.onRoom('a', 10, again)
  waitFor(room, told, 'next', 'a', 10)
  room.leave('a', 20)
  assert.deepEqual(told, ['gone', 'again', 'next'])
  assert.equal(room.enterInTurn('b', 10), undefined)
  room.leave('a', 10)
  room.leave('b', 10)
  assert.equal(room.enterInTurn('a', 20), undefined, 'an empty room is nobody’s')
})

test('who changes what he has keeps it from those who wait, and one who leaves while he is told makes room too', () => {
  const room = new FrameRoom(100, 1)
  room.enter('a', 60)
  room.enter('a', 40)
  const told: string[] = []
  waitFor(room, told, 'waits', 'a', 50)
  assert.equal(room.exchange('a', 60, 60), undefined)
  assert.deepEqual(told, [])
  assert.equal(room.exchange('a', 60, 70), 'tenant')
  assert.deepEqual([told, room.bytes], [['waits'], 90])
  const chain: string[] = []
  room.onRoom('a', 20, () => {
    chain.push('first')
    room.leave('a', 40)
  })
  waitFor(room, chain, 'second', 'a', 60)
  room.leave('a', 40)
  assert.deepEqual(chain, ['first', 'second'])
})
