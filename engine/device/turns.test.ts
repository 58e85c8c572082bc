import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attribute } from '../../model/value.ts'
import { createActorSystem } from '../actor/system.ts'
import { ManualClock, SeededRandom } from '../actor/testkit.ts'
import { TestFeed } from '../subscriptions/testkit.ts'
import { localDeviceLine } from './announcement.ts'
import { createDeviceGateway } from './device-gateway.ts'
import type { DeviceSession } from './gateway.ts'
import { createDeviceOwner, type DeviceAttributes } from './owner/device-owner.ts'
import { soleOwner } from './partition-owners.ts'
import { DEFAULT_BENCH_SETTINGS, identityOf, ListeningSession, RecordingLink } from './testkit.ts'

const DEVICES = 100_000
/** Actor messages in one turn: some 1 to 2 µs each. */
const MAX_PER_TURN = 2000

/** Counts the work of each turn. */
class CountingClock extends ManualClock {
  most = 0
  work: () => number = () => 0

  override turn(): boolean {
    const before = this.work()
    const ran = super.turn()
    this.most = Math.max(this.most, this.work() - before)
    return ran
  }
}

test('issue-8 H: no turn holds more than a slice of 100,000 devices that connect, ping, fall silent and are forgotten', async () => {
  const clock = new CountingClock()
  const random = new SeededRandom(1)
  const failures: unknown[] = []
  const actors = createActorSystem({ clock, random, onError: (failure) => failures.push(failure) })
  const link = new RecordingLink()
  const stored = new Map<string, Map<string, Attribute>>()
  const attributes: DeviceAttributes = {
    find: ({ id }) => Promise.resolve({ value: [...(stored.get(id)?.values() ?? [])] }),
    save: ({ entity, entries }) => {
      let values = stored.get(entity.id)
      if (values === undefined) stored.set(entity.id, (values = new Map<string, Attribute>()))
      for (const entry of entries) values.set(entry.key, { ...entry, lastUpdateTs: 0 })
      return Promise.resolve()
    },
  }
  const identities = Array.from({ length: DEVICES }, (_, index) => identityOf(String(index)))
  const byId = new Map(identities.map((identity) => [identity.deviceId, identity]))
  const line = localDeviceLine('self')
  const owners = soleOwner('self')
  const feed = new TestFeed((error) => failures.push(error))
  const settings = { ...DEFAULT_BENCH_SETTINGS, inactivityTimeoutMs: 30_000, stateCheckIntervalMs: 20_000 }
  const shared = { link, line, owners, attributes, feed, clock, random, actors, settings }
  const owner = createDeviceOwner({
    ...shared,
    directory: {
      findIdentity: (deviceId) => Promise.resolve(byId.get(deviceId)),
      findActive: () => Promise.resolve([]),
    },
  })
  const gateway = createDeviceGateway({
    ...shared,
    directory: {
      findByCredentials: () => Promise.resolve(new Map()),
      findCredentialsChanged: () => Promise.resolve([]),
    },
  })
  const sessions: DeviceSession[] = []
  for (const identity of identities) {
    sessions.push(gateway.openSession(identity, 'lasting', new ListeningSession()))
    // As sockets bring them: some a turn.
    if (sessions.length % 1000 === 0) clock.turn()
  }
  await clock.settle()
  clock.work = () => actors.figures().received
  await clock.advance(6000)
  assert.equal(link.ofType('ACTIVITY_EVENT').length, DEVICES)
  for (const session of sessions) session.touch()
  await clock.advance(6000)
  assert.equal(link.ofType('INACTIVITY_EVENT').length, 0)
  await clock.advance(70_000)
  assert.equal(link.ofType('INACTIVITY_EVENT').length, DEVICES)
  assert.ok(clock.most > 0 && clock.most <= MAX_PER_TURN, `${clock.most} messages of actors in one turn`)
  assert.deepEqual(failures, [])
  assert.equal(gateway.figures().devices, DEVICES)
  assert.equal(owner.figures().devices, DEVICES)
})
