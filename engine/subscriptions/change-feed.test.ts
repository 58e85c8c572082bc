import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from './change.ts'
import { createChangeFeed } from './change-feed.ts'
import { changeFeedContract } from './contract.ts'

const device = { entityType: 'DEVICE', id: '00000000-0000-4000-8000-000000000001' } as const

function failing(error: unknown): never {
  throw error
}

changeFeedContract('in one process', () => {
  const reported: unknown[] = []
  const feed = createChangeFeed((error) => reported.push(error))
  const done = (): Promise<void> => Promise.resolve()
  return Promise.resolve({ publisher: feed, listener: feed, reported, arrived: done, close: done })
})

test('a listener removed in the middle of a publish hears nothing more, one added hears the next', () => {
  const feed = createChangeFeed(failing)
  const change: Change = { kind: 'device-changed', entity: device, credentialsChanged: false }
  const heard: string[] = []
  const stops: (() => void)[] = []
  feed.listen(device, () => {
    heard.push('first')
    for (const stop of stops.splice(0)) stop()
    if (heard.length === 1) feed.listen(device, () => heard.push('third'))
  })
  stops.push(feed.listen(device, () => heard.push('second')))
  feed.publish(change)
  assert.deepEqual(heard, ['first'])
  feed.publish(change)
  assert.deepEqual(heard, ['first', 'first', 'third'])
})
