import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from './change.ts'
import { createChangeFeed } from './change-feed.ts'

const device = { entityType: 'DEVICE', id: '00000000-0000-4000-8000-000000000001' } as const
const other = { entityType: 'DEVICE', id: '00000000-0000-4000-8000-000000000002' } as const

function changeOf(entity: Change['entity']): Change {
  return { kind: 'device-changed', entity, credentialsChanged: false }
}

function failing(error: unknown): never {
  throw error
}

test('a listener hears the changes of its entity and no other', () => {
  const feed = createChangeFeed(failing)
  const heard: Change[] = []
  feed.listen(device, (change) => heard.push(change))
  feed.publish(changeOf(device))
  feed.publish(changeOf(other))
  assert.deepEqual(heard, [changeOf(device)])
})

test('who listens to a kind everywhere hears it of every entity, and no other kind', () => {
  const feed = createChangeFeed(failing)
  const heard: string[] = []
  const stop = feed.listenToAll(['device-changed', 'telemetry'], (change) => heard.push(change.entity.id))
  feed.publish(changeOf(device))
  feed.publish({ kind: 'entity-deleted', entity: device, tenantId: '' })
  feed.publish(changeOf(other))
  stop()
  feed.publish(changeOf(device))
  assert.deepEqual(heard, [device.id, other.id])
})

test('says whether anybody listens', () => {
  const feed = createChangeFeed(failing)
  assert.equal(feed.hasListeners(device, 'telemetry'), false)
  const stop = feed.listen(device, () => undefined)
  assert.equal(feed.hasListeners(device, 'telemetry'), true)
  assert.equal(feed.hasListeners(other, 'telemetry'), false)
  stop()
  stop()
  assert.equal(feed.hasListeners(device, 'telemetry'), false)
  const stopAll = feed.listenToAll(['attributes'], () => undefined)
  assert.equal(feed.hasListeners(device, 'attributes'), true)
  assert.equal(feed.hasListeners(device, 'telemetry'), false)
  stopAll()
  stopAll()
  assert.equal(feed.hasListeners(device, 'attributes'), false)
})

test('one listener twice is two registrations, and stopping one leaves the other', () => {
  const feed = createChangeFeed(failing)
  let heard = 0
  const listener = () => void heard++
  const stop = feed.listen(device, listener)
  feed.listen(device, listener)
  feed.publish(changeOf(device))
  assert.equal(heard, 2)
  stop()
  stop()
  feed.publish(changeOf(device))
  assert.equal(heard, 3)
})

test('a listener removed in the middle of a publish hears nothing more, one added hears the next', () => {
  const feed = createChangeFeed(failing)
  const heard: string[] = []
  const stops: (() => void)[] = []
  feed.listen(device, () => {
    heard.push('first')
    for (const stop of stops.splice(0)) stop()
    if (heard.length === 1) feed.listen(device, () => heard.push('third'))
  })
  stops.push(feed.listen(device, () => heard.push('second')))
  feed.publish(changeOf(device))
  assert.deepEqual(heard, ['first'])
  feed.publish(changeOf(device))
  assert.deepEqual(heard, ['first', 'first', 'third'])
})

test('a listener that throws is reported and the others still hear', () => {
  const reported: unknown[] = []
  const feed = createChangeFeed((error) => reported.push(error))
  const failure = new Error('a listener failed')
  let heard = 0
  feed.listenToAll(['device-changed'], () => failing(failure))
  feed.listen(device, () => failing(failure))
  feed.listen(device, () => heard++)
  feed.publish(changeOf(device))
  assert.deepEqual(reported, [failure, failure])
  assert.equal(heard, 1)
})
