import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ManualClock } from '../actor/testkit.ts'
import type { DeviceIdentity } from './gateway.ts'
import type { DeviceAttributes } from './owner/device-owner.ts'
import { identityOf, ListeningSession, openGatewayBench } from './testkit.ts'

const DEVICES = 20_000
const READ_MS = 100
const NO_ATTRIBUTES: DeviceAttributes = {
  find: () => Promise.resolve({ value: [] }),
  save: () => Promise.resolve(),
}

function slowDirectory(clock: ManualClock, devices: Map<string, DeviceIdentity>) {
  const figures = { reads: 0, atOnce: 0, mostAtOnce: 0, fails: false }
  const changes: { readonly deviceId: string; readonly at: number }[] = []
  const directory = {
    async findCredentialsChanged(since: number, limit: number) {
      await new Promise<void>((resolve) => void clock.after(READ_MS, resolve))
      if (figures.fails) throw new Error('the store does not answer')
      const ids = changes.filter(({ at }) => at >= since).map(({ deviceId }) => deviceId)
      return [...new Set(ids.reverse())].slice(0, limit)
    },
    async findByCredentials(tokens: readonly string[]) {
      figures.reads++
      figures.mostAtOnce = Math.max(figures.mostAtOnce, ++figures.atOnce)
      await new Promise<void>((resolve) => void clock.after(READ_MS, resolve))
      figures.atOnce--
      if (figures.fails) throw new Error('the store does not answer')
      const found = new Map<string, DeviceIdentity>()
      for (const token of tokens) {
        const device = devices.get(token)
        if (device !== undefined) found.set(token, { ...device })
      }
      return found
    },
  }
  return { directory, figures, changes }
}

async function openFleet() {
  const devices = new Map<string, DeviceIdentity>()
  for (let index = 0; index < DEVICES; index++) devices.set(`t${index}`, identityOf(String(index)))
  let store: ReturnType<typeof slowDirectory> | undefined
  const bench = openGatewayBench({ maxLogins: 10_000, stateCheckIntervalMs: 3_600_000 }, (clock) => {
    store = slowDirectory(clock, devices)
    return { directory: store.directory, attributes: NO_ATTRIBUTES }
  })
  if (store === undefined) throw new Error('no directory')
  const { gateway, clock } = bench
  const listeners = new Map<string, ListeningSession>()
  const opened = []
  for (const token of devices.keys()) {
    opened.push(
      gateway.authenticate({ type: 'ACCESS_TOKEN', token }).then((device) => {
        if (device === undefined) throw new Error('unknown')
        const listener = new ListeningSession()
        listeners.set(token, listener)
        gateway.openSession(device, 'lasting', listener)
      }),
    )
    if (opened.length % 5000 === 0) {
      await clock.advance(5000)
      await Promise.all(opened)
    }
  }
  await clock.advance(10_000)
  const { figures, changes } = store
  /** As the store notes it in the same transaction. */
  function revoke(token: string): void {
    const device = devices.get(token)
    if (device === undefined) throw new Error(`nobody has ${token}`)
    devices.delete(token)
    changes.push({ deviceId: device.deviceId, at: clock.now() })
  }
  return { ...bench, devices, listeners, figures, revoke }
}

test('issue-8 E: after a gap revoked credentials end within seconds, nobody else is sent away, and new logins come first', async () => {
  const fleet = await openFleet()
  const { clock, gateway, devices, listeners, feed, figures } = fleet
  const revoked = ['t3', 't9999', 't10001', `t${DEVICES - 1}`]
  for (const token of revoked) devices.delete(token)
  for (let index = 0; index < 500; index++) devices.set(`new ${index}`, identityOf(`9${index}`))
  const readsBefore = figures.reads
  feed.gap(clock.now())
  await clock.advance(1)
  const logins: Promise<DeviceIdentity | undefined>[] = []
  for (let index = 0; index < 500; index++) {
    logins.push(gateway.authenticate({ type: 'ACCESS_TOKEN', token: `new ${index}` }))
  }
  // Of devices that are connected already: they come back, or speak HTTP too.
  for (let index = 0; index < DEVICES; index++) {
    if (!revoked.includes(`t${index}`)) logins.push(gateway.authenticate({ type: 'ACCESS_TOKEN', token: `t${index}` }))
  }
  let newcomers = 0
  for (const login of logins.slice(0, 500)) void login.then(() => newcomers++)
  await clock.advance(4 * READ_MS)
  assert.equal(newcomers, 500, 'a login waits for no refresh')
  await clock.advance(5000)
  assert.ok((await Promise.all(logins)).every((device) => device !== undefined))
  const ended = [...listeners].filter(([, { ends }]) => ends.length > 0).map(([token]) => token)
  assert.deepEqual(ended.sort(), [...revoked].sort())
  for (const token of revoked) assert.deepEqual(listeners.get(token)?.ends, ['CREDENTIALS_CHANGED'])
  assert.ok(figures.mostAtOnce <= 4, `${figures.mostAtOnce} reads at once`)
  assert.ok(figures.reads - readsBefore < 400, `${figures.reads - readsBefore} reads`)
})

test('issue-8 E: after a gap without a login everybody is looked up in turns, also over a store that does not answer at first', async () => {
  const { clock, devices, listeners, feed, figures } = await openFleet()
  devices.delete('t19000')
  figures.fails = true
  const readsBefore = figures.reads
  figures.mostAtOnce = 0
  feed.gap(clock.now())
  await clock.advance(10_000)
  assert.ok(figures.reads - readsBefore < 30, `${figures.reads - readsBefore} reads of a store that does not answer`)
  assert.ok([...listeners.values()].every(({ ends }) => ends.length === 0))
  figures.fails = false
  await clock.advance(8000)
  const ended = [...listeners].filter(([, { ends }]) => ends.length > 0).map(([token]) => token)
  assert.deepEqual(ended, ['t19000'])
  assert.ok(figures.mostAtOnce <= 2, `${figures.mostAtOnce} reads at once: logins find one free`)
})

test('issue-8 E: a token revoked during a gap is refused within a second, however many devices are connected', async () => {
  const { clock, gateway, listeners, feed, revoke } = await openFleet()
  const revoked = ['t19998', 't12000']
  // Noted before its commit, by another clock: seen although it is older than the gap.
  revoke('t12000')
  await clock.advance(30_000)
  const gapSince = clock.now()
  await clock.advance(30_000)
  revoke('t19998')
  await clock.advance(30_000)
  feed.gap(gapSince)
  // Everybody knocks at once: the new logins go first, and the revoked do not wait behind all of them.
  const knocks = Array.from({ length: DEVICES }, (_, index) =>
    gateway.authenticate({ type: 'ACCESS_TOKEN', token: `t${index}` }),
  )
  await clock.advance(1000)
  for (const token of revoked) assert.deepEqual(listeners.get(token)?.ends, ['CREDENTIALS_CHANGED'], token)
  await clock.advance(10_000)
  assert.equal((await Promise.all(knocks)).filter((device) => device === undefined).length, revoked.length)
  const ended = [...listeners.values()].filter(({ ends }) => ends.length > 0)
  assert.equal(ended.length, revoked.length)
})

test('issue-8 E: what changed since the gap is asked for again until the store answers', async () => {
  const { clock, listeners, feed, figures, revoke } = await openFleet()
  revoke('t19998')
  figures.fails = true
  feed.gap(clock.now())
  await clock.advance(10_000)
  assert.deepEqual(listeners.get('t19998')?.ends, [])
  figures.fails = false
  await clock.advance(2000)
  assert.deepEqual(listeners.get('t19998')?.ends, ['CREDENTIALS_CHANGED'])
})
