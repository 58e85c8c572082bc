import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { CommitDoubts } from '../changes/commit-doubts.ts'
import { users } from '../entities/user.ts'
import { MAIL_SETTINGS } from '../mail/mail-settings.ts'
import { openTestPlatform, testRandom, testSecrets, type TestPlatform } from '../testkit.ts'
import { StoredUsers } from './users.ts'
import { createPeople, type People } from './people.ts'
import { HOUR_MS } from './credentials.ts'
import { SECURITY_SETTINGS, securityJson, securitySettingsSchema } from './security-settings.ts'
import { startTestMailServer } from '../mail/testkit.ts'

let platform: TestPlatform
const logged: Readonly<Record<string, unknown>>[] = []
let people: People

before(async () => {
  platform = await openTestPlatform()
  const { entities, services, clock, feed } = platform
  people = createPeople({
    entities,
    declared: services.declared,
    credentials: new StoredUsers(
      ...([entities, clock, feed, new CommitDoubts(clock)] as const),
      (by, action) => services.audit.succeeded(by, action),
      () => undefined,
    ),
    access: services.access,
    admin: services.admin,
    vault: testSecrets().vault,
    texts: { isSetUp: () => Promise.resolve(false), send: () => Promise.reject(new Error('no texts here')) },
    report: (_text, fields) => logged.push(fields),
    clock,
    random: testRandom,
  })
})
after(() => platform.close())

const lastLink = (): URL => new URL(String(logged.at(-1)?.['link']))

async function newUser(email: string) {
  return platform.services.declared.of(users).saveByUser(platform.tenant, { email, authority: 'TENANT_ADMIN' })
}

test('a user is activated once, by a link that is good for a day', async () => {
  const { accounts } = people
  const { services, clock } = platform
  const user = await newUser('ann@example.org')
  await assert.rejects(services.users.authenticate(user.email, 'Secret1!'), { message: 'User account is not active' })
  await accounts.mailActivation(user, 'https://example.org')
  const token = lastLink().searchParams.get('activateToken') ?? ''
  assert.equal(await accounts.activationIsKnown(token), 'known')
  clock.time += 24 * HOUR_MS
  assert.equal(await accounts.activationIsKnown(token), 'expired')
  await assert.rejects(accounts.activate(token, 'Secret1!'), { status: 400 })
  const renewed = await accounts.activation(user.id)
  assert.notEqual(renewed.token, token)
  assert.equal((await accounts.activation(user.id)).token, renewed.token)
  await assert.rejects(accounts.activate(renewed.token, 'short'), { status: 400 })
  assert.equal((await accounts.activate(renewed.token, 'Secret1!')).id, user.id)
  assert.equal((await services.users.authenticate(user.email, 'Secret1!'))?.id, user.id)
  await assert.rejects(accounts.activate(renewed.token, 'Secret1!'), { status: 400 })
  await assert.rejects(accounts.mailActivation(user, ''), { message: 'User is already activated!' })
})

test('an administrator may act for who was not activated yet, and for nobody who was switched off', async () => {
  const { accounts } = people
  const { services } = platform
  const user = await newUser('waiting@example.org')
  assert.equal(await services.users.tokensValidFrom(user.id), 0)
  await accounts.activate((await accounts.activation(user.id)).token, 'Secret1!')
  await accounts.setEnabled(user.id, false)
  assert.equal(await services.users.tokensValidFrom(user.id), Number.MAX_SAFE_INTEGER)
})

test('the audit log says who switched a user off and on, and who changed a password', async () => {
  const { accounts } = people
  const { services, tenant, tenantId, clock } = platform
  const user = await newUser('watched@example.org')
  await accounts.activate((await accounts.activation(user.id)).token, 'Secret1!')
  await accounts.setEnabled(user.id, false, tenant)
  await accounts.setEnabled(user.id, true, tenant)
  // Nothing changes.
  await accounts.setEnabled(user.id, true, tenant)
  const own = { ...tenant, userId: user.id, email: user.email }
  await services.users.changePassword(user.id, 'Secret1!', 'Secret2!', own)
  const entity = { entityType: 'USER', id: user.id }
  const actionTypes = ['ACTIVATED', 'SUSPENDED', 'CREDENTIALS_UPDATED'] as const
  const filter = { tenantId, entity, startTime: 0, endTime: clock.now(), actionTypes }
  const { data } = await services.audit.page(filter, { page: 0, pageSize: 10 })
  assert.deepEqual(
    data.map(({ actionType, userName, entityName }) => `${actionType} of ${entityName} by ${userName}`).toSorted(),
    [
      'ACTIVATED of watched@example.org by tenant@millrace.local',
      'CREDENTIALS_UPDATED of watched@example.org by watched@example.org',
      'SUSPENDED of watched@example.org by tenant@millrace.local',
    ],
  )
})

test('a forgotten password is replaced by a link that works once, and every token is withdrawn', async () => {
  const { accounts } = people
  const { services, clock, entities } = platform
  const user = await newUser('bob@example.org')
  await accounts.requestReset(user.email, '')
  await accounts.activate((await accounts.activation(user.id)).token, 'Secret1!')
  const before = logged.length
  await accounts.requestReset('nobody@example.org', 'https://example.org')
  assert.equal(logged.length, before, 'neither who is not there nor who is not active gets one')
  await accounts.requestReset(user.email, 'https://example.org')
  const token = lastLink().searchParams.get('resetToken') ?? ''
  await accounts.requestReset(user.email, 'https://example.org')
  assert.equal(logged.length, before + 1, 'one a minute')
  assert.notEqual((await entities.users.credentials(user.id))?.reset?.token, token, 'kept as a hash')
  assert.equal(await accounts.resetIsKnown(token), 'known')
  assert.equal(await accounts.resetIsKnown('guessed'), 'unknown')
  await assert.rejects(accounts.resetPassword('guessed', 'Other1!!'), { message: 'Invalid reset token!' })
  await assert.rejects(accounts.resetPassword(token, 'Secret1!'), { status: 400 })
  clock.time += 5000
  await accounts.resetPassword(token, 'Other1!!')
  assert.equal(await services.users.authenticate(user.email, 'Secret1!'), undefined)
  assert.equal((await services.users.authenticate(user.email, 'Other1!!'))?.id, user.id)
  assert.equal(await services.users.tokensValidFrom(user.id), Math.floor(clock.time / 1000) * 1000)
  await assert.rejects(accounts.resetPassword(token, 'Third1!!'), { message: 'Invalid reset token!' })
})

test('mails go to the server that is set, and the log holds no link then', async () => {
  const { accounts } = people
  const server = await startTestMailServer()
  await platform.services.admin.save(platform.systemAdministrator, MAIL_SETTINGS, {
    mailFrom: 'Millrace <noreply@example.org>',
    smtpProtocol: 'smtp',
    smtpHost: '127.0.0.1',
    smtpPort: String(server.port),
    timeout: '5000',
    enableTls: false,
  })
  const before = logged.length
  const user = await newUser('carl@example.org')
  await accounts.mailActivation(user, 'https://example.org')
  const [mail = ''] = server.mails
  assert.match(mail, /^To: carl@example\.org/m)
  assert.match(mail, /^From: Millrace <noreply@example\.org>/m)
  assert.ok(mail.replaceAll('=\r\n', '').includes('/api/noauth/activate?activateToken'))
  assert.equal(logged.length, before)
  await server.close()
  await accounts.mailActivation(user, 'https://example.org')
  assert.equal(logged.length, before + 1, 'no server takes it: the link is in the log')
})

test('passwords are as the policy says', async () => {
  const { accounts } = people
  const policy = { minimumLength: 8, minimumUppercaseLetters: 1, minimumDigits: 2, minimumSpecialCharacters: 1 }
  const strict = securitySettingsSchema.parse({ passwordPolicy: { ...policy, allowWhitespaces: false } })
  await platform.services.admin.settings.save(platform.systemAdministrator, SECURITY_SETTINGS, securityJson(strict))
  const user = await newUser('dora@example.org')
  const { token } = await accounts.activation(user.id)
  for (const bad of ['Ab1!', 'abcdefg12!', 'Abcdefgh1!', 'Abcdefgh12', 'Abcdefg 12!', `Ab12!${'x'.repeat(70)}`])
    await assert.rejects(accounts.activate(token, bad), { status: 400 }, bad)
  await accounts.activate(token, 'Abcdefg12!')
})
