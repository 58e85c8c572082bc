import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { otaPackages } from '../entities/ota-package.ts'
import { tenantProfiles } from '../entities/tenant-profile.ts'
import { tenants } from '../entities/tenant.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { checksumOf, type ChecksumAlgorithm } from './checksums.ts'
import { PIECE_BYTES } from './stored-bytes.ts'

let platform: TestPlatform
beforeEach(async () => {
  platform = await openTestPlatform()
})
afterEach(() => platform.close())

const packages = () => platform.services.content.otaPackages
const service = () => platform.services.declared.of(otaPackages)
const fileOf = (bytes: Buffer) => ({ fileName: 'fw.bin', contentType: 'application/octet-stream', bytes })
const newPackage = (packageVersion: string, more: object = {}) =>
  service().saveByUser(platform.tenant, { type: 'FIRMWARE', title: 'fw', packageVersion, ...more })
const upload = (id: string, bytes: Buffer, checksum?: string) =>
  packages().upload(platform.tenant, id, 'SHA256', checksum, fileOf(bytes))

const OF_ABC: readonly (readonly [ChecksumAlgorithm, string])[] = [
  ['MD5', '900150983cd24fb0d6963f7d28e17f72'],
  ['SHA256', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ['CRC32', 'c2412435'],
  ['MURMUR3_32', 'fa93ddb3'],
  ['MURMUR3_128', '6778ad3f3f3f96b4522dca264174a23b'],
]
for (const [algorithm, checksum] of OF_ABC) {
  test(`the ${algorithm} of abc is ${checksum}`, async () => {
    assert.equal(await checksumOf(algorithm, Buffer.from('abc'), platform.clock), checksum)
  })
}

test('bytes come back whole and in parts, over the borders of their pieces', async () => {
  const bytes = Buffer.alloc(PIECE_BYTES * 2 + 1000, 'the quick brown fox ')
  const { id } = await newPackage('1')
  const saved = await upload(id, bytes)
  assert.deepEqual([saved.hasData, saved.dataSize, saved.version], [true, bytes.length, 2])
  assert.ok((await packages().download(id)).bytes.equals(bytes))
  const start = PIECE_BYTES - 10
  assert.ok((await packages().part(id, start, 20)).equals(bytes.subarray(start, start + 20)))
  assert.equal((await packages().part(id, bytes.length + 5, 20)).length, 0)
  assert.equal((await packages().part(id, bytes.length - 5, 20)).length, 5)
})

test('a package is uploaded once, with the bytes that its checksum says', async () => {
  const { id } = await newPackage('1')
  await assert.rejects(upload(id, Buffer.from('abc'), '00'), { message: 'Wrong otaPackage file!' })
  await upload(id, Buffer.from('abc'))
  await assert.rejects(upload(id, Buffer.from('abc')), { status: 400 })
  const named = await newPackage('2', { url: 'http://127.0.0.1/fw' })
  await assert.rejects(upload(named.id, Buffer.from('abc')), { status: 400 })
})

test('what a package is can not be changed, what is said of it can', async () => {
  const { id } = await newPackage('1')
  const changes = [{ title: 'x' }, { packageVersion: '2' }, { type: 'SOFTWARE' }, { url: 'http://x' }, { tag: 'fw 1' }]
  for (const change of changes)
    await assert.rejects(
      service().saveByUser(platform.tenant, { id, type: 'FIRMWARE', title: 'fw', packageVersion: '1', ...change }),
      { status: 400 },
    )
  const saved = await newPackage('1', { id, additionalInfo: { description: 'said' } })
  assert.deepEqual(saved.additionalInfo, { description: 'said' })
  await assert.rejects(newPackage('1'), { message: 'OtaPackage with such title and version already exists!' })
})

test('a tenant keeps no more bytes than its profile allows, and gets them back with a deletion', async () => {
  const profiles = platform.services.declared.of(tenantProfiles)
  const tenant = await platform.services.declared.of(tenants).findAnywhere(platform.tenantId)
  const profile = await profiles.findAnywhere(tenant?.tenantProfileId ?? '')
  assert.ok(profile)
  const limits = { ...profile.profileData.limits, maxOtaPackagesInBytes: 10 }
  await profiles.saveByUser(platform.systemAdministrator, {
    ...{ id: profile.id, name: profile.name },
    profileData: { limits },
  })
  const [first, second] = [await newPackage('1'), await newPackage('2')]
  await upload(first.id, Buffer.from('123456'))
  await assert.rejects(upload(second.id, Buffer.from('12345')), { code: 'content.SHARE_USED_UP' })
  assert.equal((await service().findAnywhere(second.id))?.hasData, false)
  await service().deleteByUser(platform.tenant, first.id)
  await upload(second.id, Buffer.from('12345'))
})
