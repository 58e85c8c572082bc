import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { isMillraceError } from '../../model/errors.ts'
import type { KeptSessionRow } from '../../model/kept-session.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { devices, type Device } from '../entities/device.ts'
import type { TestPlatform } from '../testkit.ts'
import { StoredKeptSessions } from './kept-sessions.ts'

await onBothDatabases('sessions that outlive their process ', (open) => {
  let platform: TestPlatform
  let device: Device
  let here: StoredKeptSessions
  let count = 0

  before(async () => {
    platform = await open()
    here = platform.services.keptSessions
  })
  after(() => platform.close())
  beforeEach(async () => {
    device = await platform.services.devices.saveByUser(platform.tenant, { name: `kept ${++count}` })
  })

  type Reads = (deviceIds: readonly string[]) => Promise<readonly KeptSessionRow[]>
  const stored: Reads = (deviceIds) => platform.entities.deviceSessions.ofDevices(deviceIds)
  const away: Reads = () => Promise.reject(new Error('away'))
  const elsewhere = (ofDevices: Reads = stored) => {
    const { deviceSessions, devices: named } = platform.entities
    return new StoredKeptSessions({
      ...platform,
      entities: {
        devices: named,
        write: (statements) => platform.entities.write(statements),
        deviceSessions: Object.assign(Object.create(deviceSessions) as typeof deviceSessions, { ofDevices }),
      },
      report: (text) => platform.reports.push(text),
    })
  }
  const row = (change: Partial<KeptSessionRow> = {}): KeptSessionRow => ({
    id: `session ${++count}`,
    version: 1,
    tenantId: platform.tenantId,
    deviceId: device.id,
    clientId: 'client',
    subscriptions: '[["v1/devices/me/attributes",1]]',
    expirySeconds: 60,
    toldTime: platform.clock.now(),
    expiresTime: platform.clock.now() + 60_000,
    ...change,
  })
  const found = (sessions: StoredKeptSessions = here, clientId = 'client') => sessions.find(device.id, clientId)

  test('are found by other processes, by device and client', async () => {
    const session = row()
    await here.save(session)
    assert.deepEqual(await found(elsewhere()), session)
    assert.equal(await found(here, 'another'), undefined)
    const foreign = await platform.services.devices.saveByUser(platform.tenant, { name: `foreign ${count}` })
    assert.equal(await here.find(foreign.id, 'client'), undefined)
  })

  test('are one process’s: who has an old version writes nothing', async () => {
    const session = row()
    await here.save(session)
    const taken = { ...session, version: 2, subscriptions: '[]' }
    await elsewhere().save(taken)
    await assert.rejects(here.save({ ...session, version: 2 }), (error) => here.isOvertaken(error))
    here.remove(session)
    here.renew([session], 0)
    here.told([session], 1)
    await platform.entities.write([])
    assert.deepEqual(await found(), taken)
  })

  test('are known to be overtaken, or over, by who has an old version', async () => {
    const [older, gone, own] = [row({ clientId: 'older' }), row(), row({ clientId: 'own' })]
    await here.save(older)
    await here.save(own)
    await elsewhere().save({ ...older, version: 2 })
    const others = Array.from({ length: 600 }, (_, number) => ({ id: `another ${number}`, version: 1 }))
    const overtaken = await here.findOvertaken([own, older, ...others, gone, { ...older, version: 2 }])
    assert.deepEqual(overtaken, [older, ...others, gone])
  })

  test('are renewed, told and removed by who has them', async () => {
    const session = row()
    const now = platform.clock.now()
    await here.save(session)
    here.renew([session, row()], now + 1000)
    here.told([session], now + 5)
    await platform.entities.write([])
    assert.deepEqual(await found(), { ...session, toldTime: now + 5, expiresTime: now + 61_000 })
    here.remove(session)
    await platform.entities.write([])
    assert.equal(await found(), undefined)
  })

  test('are over at their time, and removed some time after', async () => {
    const session = row()
    await here.save(session)
    platform.clock.time += 60_001
    assert.equal(await found(), undefined)
    assert.equal((await platform.entities.deviceSessions.ofDevices([device.id])).length, 1)
    await here.sweep()
    assert.deepEqual(await platform.entities.deviceSessions.ofDevices([device.id]), [])
  })

  test('are gone at once for a client that wants nothing of before, and a new one stays', async () => {
    await here.save(row())
    here.removeOf(device.id, 'client')
    assert.equal(await found(), undefined)
    const begun = row()
    await here.save(begun)
    await here.sweep()
    assert.deepEqual(await found(elsewhere()), begun)
  })

  test('are two of a device at most, the oldest gives way', async () => {
    for (const clientId of ['a', 'b', 'c']) {
      platform.clock.time++
      await here.save(row({ clientId }))
    }
    assert.equal(await found(here, 'a'), undefined)
    assert.ok(await found(here, 'b'))
    assert.ok(await found(here, 'c'))
  })

  test('end with the device, its credentials and its tenant', async () => {
    const { services, tenant, entities } = platform
    const left = async () => (await entities.deviceSessions.ofDevices([device.id])).length
    await here.save(row())
    const credentials = await services.devices.credentials(platform.tenantId, device.id)
    assert.ok(credentials)
    await services.devices.saveCredentialsByUser(tenant, { ...credentials, credentialsId: `token ${count}` })
    assert.equal(await left(), 0)

    await here.save(row())
    const other = await services.tenants.saveByUser(platform.systemAdministrator, { title: `Other ${count}` })
    await services.deviceMove.moveByUser(tenant, device.id, other.id)
    assert.equal(await left(), 0)
    await assert.rejects(here.save(row()), { code: 'services.ITEM_NOT_FOUND' })

    await services.declared.of(devices).deleteByUser({ ...tenant, tenantId: other.id }, device.id)
    device = await services.devices.saveByUser(tenant, { name: `kept ${++count}` })
    await here.save(row())
    await services.declared.of(devices).deleteByUser(tenant, device.id)
    assert.equal(await left(), 0)
  })

  test('go with the tenant', async () => {
    const { services, tenant, systemAdministrator, entities } = platform
    const other = await services.tenants.saveByUser(systemAdministrator, { title: `Gone ${count}` })
    await services.deviceMove.moveByUser(tenant, device.id, other.id)
    await here.save(row({ tenantId: other.id }))
    await services.tenants.deleteByUser(systemAdministrator, other.id)
    assert.deepEqual(await entities.deviceSessions.ofDevices([device.id]), [])
  })

  test('of many who come together are few reads', async () => {
    const asked: number[] = []
    const sessions = elsewhere((ids) => {
      asked.push(ids.length)
      return stored(ids)
    })
    await here.save(row())
    const all = Array.from({ length: 1000 }, (_, number) => sessions.find(`${device.id}${number || ''}`, 'client'))
    assert.equal((await Promise.all(all)).filter((session) => session !== undefined).length, 1)
    assert.deepEqual(asked, [256, 256, 256, 232])
  })

  test('that nobody wants are removed once the store answers, many at once', async () => {
    let reads = 0
    let read = away
    const sessions = elsewhere((ids) => {
      reads++
      return read(ids)
    })
    await here.save(row())
    for (let number = 0; number < 1100; number++) sessions.removeOf(`${device.id}${number || ''}`, 'client')
    await assert.rejects(sessions.sweep(), /away/)
    assert.equal(sessions.waiting, 1100)
    read = stored
    assert.equal(await found(sessions), undefined)
    assert.ok(await found())
    reads = 0
    while (await sessions.sweep()) assert.ok(reads < 10)
    assert.equal(await found(), undefined)
    assert.equal(reads, 5)
    assert.equal(sessions.waiting, 0)
  })

  test('that began at another process after a clean start stay', async () => {
    let read = away
    const sessions = elsewhere((ids) => read(ids))
    sessions.removeOf(device.id, 'client')
    await assert.rejects(sessions.sweep(), /away/)
    platform.clock.time++
    const begun = row()
    await here.save(begun)
    read = stored
    await sessions.sweep()
    assert.deepEqual(await found(), begun)
  })

  test('are few statements, however many they are', () => {
    const { deviceSessions } = platform.entities
    const texts = [5, 6, 7, 8].map(
      (length) =>
        deviceSessions.told(
          Array.from({ length }, () => row()),
          0,
        )[0]?.sql,
    )
    assert.equal(new Set(texts).size, 1)
  })

  test('of many who come while the store is away are a few reads, and bounded', async () => {
    const fails: (() => void)[] = []
    const sessions = elsewhere(() => new Promise((_, reject) => fails.push(() => reject(new Error('away')))))
    const refused: unknown[] = []
    const asked = Array.from({ length: 20_001 }, (_, number) =>
      sessions.find(`${device.id}${number}`, 'client').catch((error: unknown) => refused.push(error)),
    )
    await asked.at(-1)
    assert.deepEqual(
      refused.map((error) => isMillraceError(error) && error.code),
      ['entities.OVERLOADED'],
    )
    assert.equal(fails.length, 2)
    for (const fail of fails) fail()
    await Promise.all(asked)
    assert.deepEqual([refused.length, fails.length], [20_001, 2])
  })
})
