import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, before, test, type TestContext } from 'node:test'
import { credentialKey } from '../../engine/device/credential-keys.ts'
import type { ClientCertificate } from '../../engine/device/gateway.ts'
import { isJsonObject } from '../../model/json.ts'
import { createAuthority, type Authority } from '../../test/support/certificates.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import type { TestPlatform } from '../testkit.ts'

await onBothDatabases('a chain of certificates ', (open) => {
  let platform: TestPlatform
  let count = 0
  before(async () => {
    platform = await open()
  })
  after(() => platform.close())

  const saveProfile = (secret: string, change: Readonly<Record<string, string | boolean>> = {}) =>
    platform.services.declared.of(deviceProfiles).saveByUser(platform.tenant, {
      name: `chain ${++count}`,
      type: 'DEFAULT',
      transportType: 'DEFAULT',
      provisionType: 'X509_CERTIFICATE_CHAIN',
      profileData: {
        provisionConfiguration: {
          type: 'X509_CERTIFICATE_CHAIN',
          provisionDeviceSecret: secret,
          certificateRegExPattern: '(.*)\\.example',
          allowCreateNewDevicesByX509Certificate: true,
          ...change,
        },
      },
    })

  const derOf = async (file: string) => new X509Certificate(await readFile(file)).raw
  const shown = async (
    issuer: Authority,
    name: string,
    ...above: readonly Authority[]
  ): Promise<ClientCertificate> => ({
    type: 'X509_CERTIFICATE',
    certificate: await derOf((await issuer.issue([name])).certFile),
    authorities: await Promise.all([issuer, ...above].map(({ caFile }) => derOf(caFile))),
    clientAddress: `10.0.0.${++count}`,
  })
  const provision = (certificate: ClientCertificate) => platform.services.certificateChains.provision(certificate)
  const ownerOf = async (certificate: ClientCertificate) => {
    const key = credentialKey(certificate) ?? ''
    return (await platform.services.devices.findByCredentials([key])).get(key)
  }
  const maker = async (context: TestContext, change: Readonly<Record<string, string | boolean>> = {}) => {
    const authority = await createAuthority(context)
    return { authority, profile: await saveProfile(await readFile(authority.caFile, 'utf8'), change) }
  }

  test('makes a device of the profile, named by the common name; a newer certificate of its takes the place of the older', async (context) => {
    const { authority, profile } = await maker(context)
    const middle = await authority.subordinate()
    const first = await shown(middle, 'pump.example', authority)
    assert.equal(await provision(first), true)
    const device = await ownerOf(first)
    assert.deepEqual([device?.deviceName, device?.deviceProfileId], ['pump', profile.id])
    const next = await shown(authority, 'pump.example')
    assert.equal(await provision(next), true)
    assert.deepEqual([(await ownerOf(next))?.deviceId, await ownerOf(first)], [device?.deviceId, undefined])
    assert.ok(platform.changes.some((change) => change.kind === 'device-changed' && change.credentialsChanged))
  })

  test('that no profile names makes nothing, nor does a common name that does not fit', async (context) => {
    const { authority } = await maker(context)
    const before = await deviceCount()
    assert.equal(await provision(await shown(await createAuthority(context), 'stranger.example')), false)
    assert.equal(await provision(await shown(authority, 'another.name')), false)
    // The expression finds a name in it all the same.
    assert.equal(await provision(await shown(authority, `giant.example${'x'.repeat(243)}`)), false)
    assert.equal(await deviceCount(), before)
  })

  test('makes nothing where the profile says so, and takes no device of another profile or with other credentials', async (context) => {
    const { authority } = await maker(context, { allowCreateNewDevicesByX509Certificate: false })
    assert.equal(await provision(await shown(authority, 'new.example')), false)
    const { authority: other, profile } = await maker(context)
    const elsewhere = await shown(await createAuthority(context), 'elsewhere.example')
    await platform.services.devices.saveByUser(
      platform.tenant,
      { name: 'elsewhere' },
      {
        credentialsType: 'X509_CERTIFICATE',
        credentialsId: '',
        credentialsValue: elsewhere.certificate.toString('base64'),
      },
    )
    await platform.services.devices.saveByUser(
      platform.tenant,
      { name: 'by token', deviceProfileId: profile.id },
      'BY_TOKEN',
    )
    for (const name of ['elsewhere', 'by token']) {
      const certificate = await shown(other, `${name}.example`)
      assert.equal(await provision(certificate), false)
      assert.equal(await ownerOf(certificate), undefined)
    }
    assert.equal((await ownerOf(elsewhere))?.deviceName, 'elsewhere')
    assert.equal((await platform.services.devices.findByCredentials(['BY_TOKEN'])).size, 1)
  })

  test('that was refused is asked for again after a minute, and bars nobody behind its address until then', async (context) => {
    const { authority, profile } = await maker(context, { allowCreateNewDevicesByX509Certificate: false })
    const dead = await shown(authority, 'later.example')
    const { wrong } = platform.services.provisioning.figures()
    for (let time = 0; time < 101; time++) assert.equal(await provision(dead), false)
    assert.equal(platform.services.provisioning.figures().wrong, wrong + 1)
    const { authority: other } = await maker(context)
    const healthy = { ...(await shown(other, 'neighbour.example')), clientAddress: dead.clientAddress }
    assert.equal(await provision(healthy), true)
    const sent = profile.profileData?.['provisionConfiguration']
    const provisionConfiguration = {
      ...(isJsonObject(sent) ? sent : {}),
      allowCreateNewDevicesByX509Certificate: true,
    }
    const profileData = { ...profile.profileData, provisionConfiguration }
    await platform.services.declared.of(deviceProfiles).saveByUser(platform.tenant, { ...profile, profileData })
    assert.equal(await provision(dead), false)
    platform.clock.time += 60_000
    assert.equal(await provision(dead), true)
  })

  test('has its authority and its expression checked when the profile is saved; the hash is the key', async (context) => {
    const authority = await createAuthority(context)
    const pem = await readFile(authority.caFile, 'utf8')
    const leaf = await readFile((await authority.issue(['leaf'])).certFile, 'utf8')
    for (const secret of ['', 'rubbish', leaf])
      await assert.rejects(saveProfile(secret), { code: 'device.PROFILE_CERTIFICATE' })
    for (const certificateRegExPattern of ['(', '.*', '(a)\\1', `(${'a'.repeat(255)})`])
      await assert.rejects(saveProfile(pem, { certificateRegExPattern }), {
        code: 'device.PROFILE_CERTIFICATE_PATTERN',
      })
    const key = (await saveProfile(pem)).provisionDeviceKey ?? ''
    assert.match(key, /^[0-9a-f]{64}$/)
    const request = { deviceName: 'd', key, secret: pem, credentialsType: 'ACCESS_TOKEN', isGateway: false } as const
    const nothing = { token: undefined, clientId: undefined, userName: undefined, password: undefined }
    assert.deepEqual(
      await platform.services.provisioning.provision({ ...request, ...nothing, certificate: undefined }, '10.1.0.1'),
      { status: 'FAILURE' },
      'whoever knows the authority has nothing of it',
    )
    await assert.rejects(saveProfile(pem), { code: 'device.PROVISION_KEY_TAKEN' })
  })

  const deviceCount = () => platform.services.declared.countOf('DEVICE', platform.tenantId, {})
})
