import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { credentialKey } from '../../engine/device/credential-keys.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import type { TestPlatform } from '../testkit.ts'

await onBothDatabases('a CONNECT ', (open) => {
  let platform: TestPlatform
  before(async () => {
    platform = await open()
    await deviceWith('by client', { clientId: 'C1' })
    await deviceWith('by user', { userName: 'U2' })
    await deviceWith('by user and password', { userName: 'U3', password: 'P3' })
    await deviceWith('by client and user', { clientId: 'C4', userName: 'U4' })
    await deviceWith('by all', { clientId: 'C5', userName: 'U5', password: 'P5' })
    await platform.services.devices.saveByUser(platform.tenant, { name: 'by token' }, 'TOKEN')
    // Somebody's token that is the user name of somebody else.
    await platform.services.devices.saveByUser(platform.tenant, { name: 'named alike' }, 'U5')
  })
  after(() => platform.close())

  async function deviceWith(name: string, basic: Readonly<Record<string, string>>) {
    return platform.services.devices.saveByUser(
      platform.tenant,
      { name },
      { credentialsType: 'MQTT_BASIC', credentialsId: '', credentialsValue: JSON.stringify(basic) },
    )
  }

  async function whose(clientId: string, userName = '', password = ''): Promise<string | undefined> {
    const key = credentialKey({ type: 'MQTT_LOGIN', clientId, userName, password }) ?? ''
    return (await platform.services.devices.findByCredentials([key])).get(key)?.deviceName
  }

  const logins: readonly (readonly [
    says: string,
    login: readonly [string, string?, string?],
    whose: string | undefined,
  ])[] = [
    ['the client id', ['C1'], 'by client'],
    ['another client id', ['C9'], undefined],
    ['the client id, and a user name that is not asked for', ['C1', 'x'], undefined],
    ['the user name', ['any', 'U2'], 'by user'],
    ['the user name, and a password that is not asked for', ['any', 'U2', 'p'], 'by user'],
    ['user name and password', ['any', 'U3', 'P3'], 'by user and password'],
    ['a wrong password', ['any', 'U3', 'P4'], undefined],
    ['no password where one is asked for', ['any', 'U3'], undefined],
    ['client id and user name', ['C4', 'U4', 'p'], 'by client and user'],
    ['another client id beside the user name', ['C9', 'U4'], undefined],
    ['all three', ['C5', 'U5', 'P5'], 'by all'],
    ['the password wrong, and a user name that is a token', ['C5', 'U5', 'P9'], undefined],
    ['another client id, and a user name that is a token', ['C9', 'U5', 'P5'], 'named alike'],
    ['a token', ['any', 'TOKEN', 'any'], 'by token'],
    ['nothing', ['', '', ''], undefined],
  ]
  for (const [says, login, name] of logins) {
    test(`with ${says} is ${name === undefined ? 'nobody' : `the device ${name}`}`, async () => {
      assert.equal(await whose(...login), name)
    })
  }

  test('many are found in one read, tokens among them', async () => {
    const key = credentialKey({ type: 'MQTT_LOGIN', clientId: 'C5', userName: 'U5', password: 'P5' }) ?? ''
    const found = await platform.services.devices.findByCredentials(['TOKEN', key, 'nobody'])
    assert.deepEqual(
      [...found].map(([each, device]) => [each === key, device.deviceName]),
      [
        [false, 'by token'],
        [true, 'by all'],
      ],
    )
  })

  test('with a password that was changed is nobody', async () => {
    const device = await deviceWith('rekeyed', { userName: 'U6', password: 'old' })
    assert.equal(await whose('any', 'U6', 'old'), 'rekeyed')
    await platform.services.devices.saveCredentialsByUser(platform.tenant, {
      deviceId: device.id,
      credentialsType: 'MQTT_BASIC',
      credentialsId: '',
      credentialsValue: JSON.stringify({ userName: 'U6', password: 'new' }),
    })
    assert.equal(await whose('any', 'U6', 'old'), undefined)
    assert.equal(await whose('any', 'U6', 'new'), 'rekeyed')
  })
})
