import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { credentialHash, credentialKey } from '../../engine/device/credential-keys.ts'
import { createAuthority } from '../../test/support/certificates.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import type { TestPlatform } from '../testkit.ts'

await onBothDatabases('a client certificate ', (open) => {
  let platform: TestPlatform
  before(async () => {
    platform = await open()
  })
  after(() => platform.close())

  const keyOf = (pem: string) =>
    credentialKey({
      type: 'X509_CERTIFICATE',
      certificate: new X509Certificate(pem).raw,
      authorities: [],
      clientAddress: '',
    }) ?? ''
  const whose = async (key: string) => (await platform.services.devices.findByCredentials([key])).get(key)?.deviceName
  const credentialsOf = (pem: string) =>
    ({ credentialsType: 'X509_CERTIFICATE', credentialsId: '', credentialsValue: pem }) as const

  test('is of the device that it was saved for as PEM; a replaced one is nobody’s; another type of credentials with its id is not it', async (context) => {
    const { services, tenant } = platform
    const authority = await createAuthority(context)
    const [first, next, other] = await Promise.all(
      ['first', 'next', 'other'].map(async (name) => readFile((await authority.issue([name])).certFile, 'utf8')),
    )
    assert.ok(first !== undefined && next !== undefined && other !== undefined)
    const device = await services.devices.saveByUser(tenant, { name: 'certified' }, credentialsOf(first))
    await services.devices.saveByUser(tenant, { name: 'plain' }, 'TOKEN')
    assert.deepEqual([await whose(keyOf(first)), await whose(keyOf(next))], ['certified', undefined])
    const many = await services.devices.findByCredentials([keyOf(other), 'TOKEN', keyOf(first)])
    assert.deepEqual([...many.values()].map(({ deviceName }) => deviceName).sort(), ['certified', 'plain'])

    await services.devices.saveCredentialsByUser(tenant, { deviceId: device.id, ...credentialsOf(next) })
    assert.deepEqual([await whose(keyOf(first)), await whose(keyOf(next))], [undefined, 'certified'])

    // However it was broken into lines, and whatever blanks came with it from where it was copied.
    const bare = first.replace(/-----.*-----|\s/g, '')
    const wrapped = (bare.match(/.{1,40}/g) ?? []).join(' \t\r\n  ')
    for (const text of [bare, wrapped, first.replaceAll('\n', '\r\n'), `\n  ${first.replaceAll('\n', '\n  ')}\n`]) {
      await services.devices.saveCredentialsByUser(tenant, { deviceId: device.id, ...credentialsOf(text) })
      assert.equal(await whose(keyOf(first)), 'certified', JSON.stringify(text.slice(0, 60)))
    }

    const id = keyOf(other).slice(2)
    await services.devices.saveByUser(tenant, { name: 'alike' }, id)
    assert.equal(await whose(keyOf(other)), undefined)
    assert.equal(await whose(id), 'alike')
  })

  test('that was stored with blanks is its device’s again once it is saved as it was read', async (context) => {
    const { services, tenant, entities } = platform
    const { certFile } = await (await createAuthority(context)).issue(['blanks'])
    const pem = await readFile(certFile, 'utf8')
    const device = await services.devices.saveByUser(tenant, { name: 'with blanks' }, credentialsOf(pem))
    const now = await entities.deviceCredentials.findByDevice(device.id)
    assert.ok(now !== undefined)
    // As versions before 495ee80b stored it, under an id that is no certificate's.
    const credentialsValue = ` ${(now.credentialsValue ?? '').replace(/.{40}/g, '$& ')} `
    const old = { ...now, version: now.version + 1, credentialsValue, credentialsId: credentialHash(credentialsValue) }
    await entities.write(entities.deviceCredentials.update(old))
    assert.equal(await whose(keyOf(pem)), undefined)
    const { version: _, ...read } = old
    const saved = await services.devices.saveCredentialsByUser(tenant, read)
    assert.deepEqual([saved.credentialsId, saved.credentialsValue], [now.credentialsId, now.credentialsValue])
    assert.equal(await whose(keyOf(pem)), 'with blanks')
  })
})
