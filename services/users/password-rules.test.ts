/** What the security settings ask for beyond how a password looks, at log-in and when one is chosen. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { isMillraceError } from '../../model/errors.ts'
import { users } from '../entities/user.ts'
import { MAIL_SETTINGS } from '../mail/mail-settings.ts'
import { startTestMailServer } from '../mail/testkit.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { SECURITY_SETTINGS, securityJson, securitySettingsSchema } from './security-settings.ts'

const EMAIL = 'ann@example.org'
const DAY_MS = 86_400_000

let platform: TestPlatform
let id: string

beforeEach(async () => {
  platform = await openTestPlatform()
  const { services, tenant } = platform
  ;({ id } = await services.declared.of(users).saveByUser(tenant, { email: EMAIL, authority: 'TENANT_ADMIN' }))
  const { token } = await services.people.accounts.activation(id)
  await services.people.accounts.activate(token, 'First1!!')
})
afterEach(() => platform.close())

const security = (settings: object) =>
  platform.services.admin.settings.save(
    platform.systemAdministrator,
    SECURITY_SETTINGS,
    securityJson(securitySettingsSchema.parse(settings)),
  )
const login = (password: string) => platform.services.users.authenticate(EMAIL, password)

test('one wrong password too many switches the user off, and tells who asked for it', async (context) => {
  const { services, systemAdministrator } = platform
  const server = await startTestMailServer()
  context.after(() => server.close())
  const mail = { mailFrom: 'noreply@example.org', smtpHost: '127.0.0.1', smtpPort: server.port }
  await services.admin.save(systemAdministrator, MAIL_SETTINGS, mail)
  await security({ maxFailedLoginAttempts: 2, userLockoutNotificationEmail: 'guard@example.org' })
  for (const round of [1, 2]) {
    assert.equal(await login('wrong'), undefined)
    assert.equal(await login('wrong'), undefined)
    assert.equal((await login('First1!!'))?.id, id, `a right one begins anew: ${round}`)
    await services.users.noteLogin(id)
  }
  assert.equal(await login('wrong'), undefined)
  assert.equal(await login('wrong'), undefined)
  await assert.rejects(login('wrong'), { code: 'users.LOCKED', status: 401 })
  await assert.rejects(login('First1!!'), { code: 'users.NOT_ACTIVE' })
  assert.equal(await login('wrong'), undefined)
  while (server.mails.length === 0) await new Promise((resolve) => setImmediate(resolve))
  assert.match(server.mails[0] ?? '', /^To: guard@example\.org/m)
  await services.people.accounts.setEnabled(id, true)
  assert.equal((await login('First1!!'))?.id, id)
})

test('a lock that came while the right password was compared holds, also where the password is too old', async (context) => {
  const { services, clock, entities } = platform
  const { users } = entities
  const lockDuring = () => {
    const read = users.credentials.bind(users)
    const mocked = context.mock.method(users, 'credentials', async (userId: string) => {
      const before = await read(userId)
      mocked.mock.restore()
      await services.people.accounts.setEnabled(userId, false)
      return before
    })
  }
  lockDuring()
  await assert.rejects(login('First1!!'), { code: 'users.NOT_ACTIVE' })
  await services.people.accounts.setEnabled(id, true)
  await security({ passwordPolicy: { passwordExpirationPeriodDays: 30 } })
  clock.time += 30 * DAY_MS + 1
  lockDuring()
  await assert.rejects(login('First1!!'), { code: 'users.NOT_ACTIVE' })
  assert.equal((await users.credentials(id))?.isEnabled, false)
})

test('who read a user before the lock does not undo it', async () => {
  const { entities } = platform
  const before = await entities.users.credentials(id)
  assert.ok(before !== undefined)
  await entities.write(entities.users.replaceCredentials(before, { ...before, isEnabled: false }))
  const write = entities.write(entities.users.replaceCredentials(before, { ...before, lastLoginTime: 1 }))
  await assert.rejects(write, { code: 'entities.VERSION_CONFLICT' })
})

test('wrong passwords do not switch off the last system administrator who can log in', async () => {
  const { services, systemAdministrator } = platform
  const { accounts } = services.people
  await security({ maxFailedLoginAttempts: 1 })
  const add = async (email: string): Promise<string> => {
    const saved = await services.declared.of(users).saveByUser(systemAdministrator, { email, authority: 'SYS_ADMIN' })
    const { token } = await accounts.activation(saved.id)
    await accounts.activate(token, 'First1!!')
    return saved.id
  }
  const wrong = (email: string) => services.users.authenticate(email, 'wrong')
  const [first, second] = [await add('one@example.org'), await add('two@example.org')]
  await services.declared
    .of(users)
    .saveByUser(systemAdministrator, { email: 'idle@example.org', authority: 'SYS_ADMIN' })
  await accounts.setEnabled(systemAdministrator.userId, false)
  assert.equal(await wrong('one@example.org'), undefined)
  await assert.rejects(wrong('one@example.org'), { code: 'users.LOCKED' }, 'there is another')
  for (let time = 0; time < 4; time++) assert.equal(await wrong('two@example.org'), undefined)
  assert.equal((await services.users.authenticate('two@example.org', 'First1!!'))?.id, second)
  await accounts.setEnabled(first, true)
  await assert.rejects(wrong('two@example.org'), { code: 'users.LOCKED' })
})

test('a password that is too old opens nothing but the choice of another', async () => {
  const { services, clock } = platform
  await security({ passwordPolicy: { passwordExpirationPeriodDays: 30 } })
  assert.equal((await login('First1!!'))?.id, id)
  clock.time += 30 * DAY_MS + 1
  assert.equal(await login('wrong'), undefined, 'who does not have it learns nothing')
  const refused = await login('First1!!').catch((error: unknown) => error)
  assert.ok(isMillraceError(refused))
  assert.deepEqual([refused.status, refused.restCode, refused.shown], [401, 15, ['resetToken']])
  await services.people.accounts.resetPassword(String(refused.fields['resetToken']), 'Second1!')
  assert.equal((await login('Second1!'))?.id, id)
})

test('a password that the policy does not allow any more is refused with its words, where that is asked for', async () => {
  await security({ passwordPolicy: { minimumLength: 12 } })
  assert.equal((await login('First1!!'))?.id, id)
  await security({ passwordPolicy: { minimumLength: 12, forceUserToResetPasswordIfNotValid: true } })
  await assert.rejects(login('First1!!'), {
    status: 401,
    restCode: 45,
    message: 'Password must be 12 or more characters in length.',
  })
})

test('a password is not taken again before its days are over', async () => {
  const { services, clock } = platform
  await security({ passwordPolicy: { passwordReuseFrequencyDays: 10 } })
  await services.users.changePassword(id, 'First1!!', 'Second1!')
  clock.time += DAY_MS
  await assert.rejects(services.users.changePassword(id, 'Second1!', 'First1!!'), {
    message: 'Password was already used for the last 10 days',
  })
  await services.users.changePassword(id, 'Second1!', 'Third1!!')
  clock.time += 9 * DAY_MS + 1
  await services.users.changePassword(id, 'Third1!!', 'First1!!')
  assert.equal((await login('First1!!'))?.id, id)
})
