import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { EntityId } from '../../model/entity-id.ts'
import { otaUpdateRows } from '../entities/assigned-packages.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import { devices, type Device } from '../entities/device.ts'
import { otaPackages, type OtaPackage } from '../entities/ota-package.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { OtaUpdates } from './ota-updates.ts'

let platform: TestPlatform
beforeEach(async () => {
  platform = await openTestPlatform()
})
afterEach(() => platform.close())

/** Of another process, which may be held up before it reads what a device was told. */
function otherUpdates(beforeRead?: (device: EntityId) => Promise<void>): OtaUpdates {
  const { entities, clock, services, feed, reports } = platform
  const { declared, attributes: stored, telemetry } = services
  const attributes: ConstructorParameters<typeof OtaUpdates>[0]['attributes'] = {
    find: async (entity, scope, keys) => {
      await beforeRead?.(entity)
      return stored.find(entity, scope, keys)
    },
    save: (request) => stored.save(request),
    delete: (entity, scope, keys) => stored.delete(entity, scope, keys),
  }
  return new OtaUpdates({
    entities,
    declared,
    attributes,
    telemetry,
    feed,
    clock,
    report: (text) => reports.push(text),
  })
}

const reports = () => platform.reports
const settled = () => platform.services.otaUpdates.settled()
const service = () => platform.services.declared.of(devices)
const profiles = () => platform.services.declared.of(deviceProfiles)
const waiting = () => otaUpdateRows(platform.entities).count([])

async function newPackage(version: string, members: object = {}): Promise<OtaPackage> {
  const draft = { type: 'FIRMWARE', title: 'fw', packageVersion: version, ...members }
  const made = await platform.services.declared.of(otaPackages).saveByUser(platform.tenant, draft)
  if ('url' in members) return made
  const file = { fileName: 'fw.bin', contentType: 'text/plain', bytes: Buffer.from('0123456789') }
  return platform.services.content.otaPackages.upload(platform.tenant, made.id, 'MD5', undefined, file)
}

const newDevice = (name: string, members: object = {}): Promise<Device> =>
  service().saveByUser(platform.tenant, { name, ...members })

const assign = (device: Device, members: object): Promise<Device> =>
  service().saveByUser(platform.tenant, {
    ...{ id: device.id, name: device.name, deviceProfileId: device.deviceProfileId },
    ...members,
  })

async function sharedOf({ id }: Device): Promise<Readonly<Record<string, unknown>>> {
  const entity = { entityType: 'DEVICE', id } as const
  const { value } = await platform.services.attributes.find(entity, 'SHARED_SCOPE', undefined)
  return Object.fromEntries(value.map((attribute) => [attribute.key, attribute.value]))
}

const statesOf = ({ id }: Device, key = 'fw_state') =>
  platform.timeSeries.writes
    .flat()
    .filter(({ entityId }) => entityId === id)
    .flatMap(({ points }) => points.filter((point) => point.key === key).map(({ value }) => value))

const ATTRIBUTES = {
  ...{ fw_title: 'fw', fw_version: '1', fw_size: 10, fw_checksum_algorithm: 'MD5' },
  fw_checksum: '781e5e245d69b566979b86e28d23f2c7',
}

test('a device is told of its package, and of its end', async () => {
  const device = await newDevice('d')
  const { id: firmwareId } = await newPackage('1')
  await assign(device, { firmwareId })
  await settled()
  assert.deepEqual(await sharedOf(device), ATTRIBUTES)
  assert.deepEqual(statesOf(device), ['QUEUED', 'INITIATED'])
  assert.deepEqual(statesOf(device, 'target_fw_version'), ['1'])
  await assign(device, { firmwareId, label: 'the same package' })
  assert.equal(await waiting(), 0)
  await assign(device, {})
  await settled()
  assert.deepEqual(await sharedOf(device), {})
  assert.deepEqual(statesOf(device), ['QUEUED', 'INITIATED'])
  assert.deepEqual([await waiting(), reports()], [0, []])
})

test('another package takes the place of one, without what only the former said', async () => {
  const device = await newDevice('d')
  const software = { type: 'SOFTWARE', url: 'http://127.0.0.1/sw', tag: 'beta' }
  await assign(device, { softwareId: (await newPackage('1', software)).id })
  await settled()
  const named = { sw_title: 'fw', sw_version: '1', sw_tag: 'beta', sw_url: 'http://127.0.0.1/sw' }
  assert.deepEqual(await sharedOf(device), named)
  await assign(device, { softwareId: (await newPackage('2', { type: 'SOFTWARE' })).id })
  await settled()
  assert.deepEqual(Object.keys(await sharedOf(device)).toSorted(), [
    ...['sw_checksum', 'sw_checksum_algorithm', 'sw_size', 'sw_title', 'sw_version'],
  ])
})

test('a package of a profile is for all its devices that have none of their own, also for new ones', async () => {
  const device = await newDevice('d', { type: 'pump' })
  const own = await newDevice('own', { type: 'pump' })
  const other = await newDevice('other', { type: 'fan' })
  await assign(own, { firmwareId: (await newPackage('9')).id })
  const profile = await profiles().findAnywhere(device.deviceProfileId)
  assert.ok(profile)
  const { id: firmwareId } = await newPackage('1', { deviceProfileId: profile.id })
  await profiles().saveByUser(platform.tenant, { ...profile, version: undefined, firmwareId })
  const late = await newDevice('late', { type: 'pump' })
  await settled()
  const versions = await Promise.all(
    [device, own, other, late].map(async (each) => (await sharedOf(each))['fw_version']),
  )
  assert.deepEqual(versions, ['1', '9', undefined, '1'])
  await assign(device, { deviceProfileId: other.deviceProfileId })
  await settled()
  assert.deepEqual(await sharedOf(device), {})
})

test('what is read twice says nothing twice, and what fails is done later', async () => {
  const device = await newDevice('d')
  const { id: firmwareId } = await newPackage('1')
  platform.timeSeries.failure = new Error('the disk is full')
  await assign(device, { firmwareId })
  await settled()
  assert.deepEqual([reports().length, await waiting(), await sharedOf(device)], [1, 1, {}])
  const [note] = await otaUpdateRows(platform.entities).findAll([])
  assert.ok(note)
  platform.timeSeries.failure = undefined
  await settled()
  assert.equal(await waiting(), 1, 'one that failed waits for its lease')
  platform.clock.time += 61_000
  await settled()
  assert.deepEqual([await waiting(), await sharedOf(device)], [0, ATTRIBUTES])
  await platform.entities.write([otaUpdateRows(platform.entities).insert({ ...note, version: 1 })])
  await settled()
  assert.deepEqual(statesOf(device), ['QUEUED', 'INITIATED'])
})

test('two processes do not both tell', async () => {
  const device = await newDevice('d')
  await assign(device, { firmwareId: (await newPackage('1')).id })
  const another = otherUpdates()
  await Promise.all([settled(), another.settled()])
  await another.close()
  assert.deepEqual([statesOf(device), reports()], [['QUEUED', 'INITIATED'], []])
})

/** Two devices of a profile with a package, and a note that is read anew by another process; `meanwhile` when it comes to one of the two. */
async function toldAgain(meanwhile: (late: Device, now: 'at the first' | 'at the last') => Promise<void>) {
  const two = [await newDevice('a', { type: 'pump' }), await newDevice('b', { type: 'pump' })] as const
  const [first, late] = two[0].id < two[1].id ? two : [two[1], two[0]]
  const profile = await profiles().findAnywhere(late.deviceProfileId)
  assert.ok(profile)
  const { id: firmwareId } = await newPackage('1')
  await profiles().saveByUser(platform.tenant, { ...profile, version: undefined, firmwareId })
  await settled()
  const note = { id: 'note', created_time: platform.clock.time, version: 1, tenant_id: platform.tenantId, told: '' }
  const ofProfile = { owner_type: 'DEVICE_PROFILE', owner_id: profile.id, kind: 'FIRMWARE' }
  await platform.entities.write([otaUpdateRows(platform.entities).insert({ ...note, ...ofProfile })])
  const seen = new Set<string>()
  const another = otherUpdates(async ({ id }) => {
    if (seen.has(id)) return
    seen.add(id)
    await meanwhile(late, id === first.id ? 'at the first' : 'at the last')
  })
  await another.settled()
  await another.close()
  assert.deepEqual([await waiting(), reports()], [0, []])
  return late
}

for (const moment of ['at the first', 'at the last'] as const)
  test(`a device that gets a package of its own while another process is ${moment} of its profile keeps it`, async () => {
    const late = await toldAgain(async (device, now) => {
      if (now !== moment) return
      await assign(device, { firmwareId: (await newPackage('2')).id })
      await settled()
    })
    assert.equal((await sharedOf(late))['fw_version'], '2')
    assert.equal(statesOf(late, 'target_fw_version').at(-1), '2')
  })

test('a device that goes while another process is at its profile is told nothing', async () => {
  const late = await toldAgain(async ({ id }, now) => {
    if (now === 'at the first') await service().deleteByUser(platform.tenant, id)
  })
  assert.deepEqual((await platform.entities.attributes.all(late.id)).rows, [])
  assert.deepEqual(statesOf(late), ['QUEUED', 'INITIATED'], 'from before')
})

test('a package that is not for the device is refused', async () => {
  const device = await newDevice('d', { type: 'pump' })
  const fan = await newDevice('f', { type: 'fan' })
  const empty = await platform.services.declared
    .of(otaPackages)
    .saveByUser(platform.tenant, { type: 'FIRMWARE', title: 'none', packageVersion: '1' })
  const own = await newPackage('1', { deviceProfileId: device.deviceProfileId })
  const cases: readonly (readonly [object, string])[] = [
    [{ firmwareId: empty.id }, "Can't assign firmware with empty data!"],
    [{ softwareId: own.id }, "Can't assign software with type: FIRMWARE"],
    [
      { firmwareId: own.id, deviceProfileId: fan.deviceProfileId },
      "Can't assign firmware with different deviceProfile!",
    ],
    [{ firmwareId: own.id, deviceProfileId: '' }, "Can't assign firmware with different deviceProfile!"],
  ]
  for (const [members, message] of cases) await assert.rejects(assign(device, members), { message, status: 400 })
  await assign(device, { firmwareId: own.id })
})

test('a device loads what it is to have, whole or in parts, and nothing else', async () => {
  const device = await newDevice('d')
  const { otaDownloads } = platform.services.content
  const identity = await platform.services.devices.findIdentity(device.id)
  assert.ok(identity)
  const load = async (members: object = {}) => {
    const request = { kind: 'FIRMWARE', title: 'fw', version: '1', size: 0, chunk: 0, ...members } as const
    return (await otaDownloads.part(identity, request)).bytes.toString()
  }
  await assert.rejects(load(), { status: 404 })
  const first = await newPackage('1')
  await assign(device, { firmwareId: first.id })
  assert.equal(await load(), '0123456789')
  assert.equal(await load({ size: 4, chunk: 2 }), '89')
  assert.equal(await load({ size: 4, chunk: 3 }), '')
  await assert.rejects(load({ version: '2' }), { status: 400 })
  await assert.rejects(load({ kind: 'SOFTWARE' }), { status: 404 })
  await assign(device, { firmwareId: (await newPackage('3', { url: 'http://127.0.0.1/' })).id })
  await assert.rejects(load({ version: '3' }), { status: 404, code: 'device.PACKAGE_ELSEWHERE' })
  // What it began to load before.
  const begun = { packageId: first.id, title: undefined, version: undefined }
  assert.equal(await load({ ...begun, size: 4, chunk: 1 }), '4567')
  await platform.services.declared.of(otaPackages).deleteByUser(platform.tenant, first.id)
  await assert.rejects(load(begun), { status: 404, code: 'content.NOT_FOUND' })
})
