import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import type { SmsTarget } from '../../engine/rulechain/capabilities/sms-provider.ts'
import { TestFeed } from '../../engine/subscriptions/testkit.ts'
import type { Principal } from '../../model/principal.ts'
import { openEntityStore, type EntityStore } from '../../storage/entities/entity-store.ts'
import type { Statement } from '../../storage/entities/database.ts'
import { CommitDoubts } from '../changes/commit-doubts.ts'
import { DECLARED_TABLES } from '../entities/declared.ts'
import type { MailSettings } from '../mail/mail-settings.ts'
import type { Mail } from '../mail/smtp.ts'
import { TestClock, testRandom, testSecrets } from '../testkit.ts'
import { Vault, VAULT_KEY_BYTES } from '../vault/vault.ts'
import { Admin } from './admin.ts'
import { shownValue } from './admin-settings.ts'
import { HIDDEN_SIGNING_KEY } from './jwt-settings.ts'

const PASSWORD = 'correct-horse-battery-staple'
const MAIL = { mailFrom: 'a@example.org', smtpHost: 'mail.example.org', smtpPort: '25', username: 'ann' }
const KEY = randomBytes(VAULT_KEY_BYTES)
const principal: Principal = {
  userId: '33333333-3333-4333-8333-333333333333',
  email: 'root@example.org',
  authority: 'SYS_ADMIN',
  tenantId: null,
  customerId: null,
  firstName: null,
  lastName: null,
}

let folder: string
let clock: TestClock
let entities: EntityStore
let feed: TestFeed
let audited: string[]
let sent: [MailSettings, Mail][]
let texts: [SmsTarget, number: string, text: string][]
let admins: Admin[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-admin-'))
  clock = new TestClock()
  feed = new TestFeed(assert.ifError)
  audited = []
  sent = []
  texts = []
  admins = []
  entities = await openEntityStore({
    file: join(folder, 'entities.db'),
    durability: 'process-death',
    clock,
    tables: DECLARED_TABLES,
  })
})

afterEach(async () => {
  for (const admin of admins) admin.close()
  await entities.close()
  await rm(folder, { recursive: true })
})

/** A process over the one database. */
async function start(vault = new Vault(KEY), envKey?: Uint8Array, formerKeys: Uint8Array[] = []): Promise<Admin> {
  const admin = new Admin({
    ...{ entities, vault, feed, clock },
    doubts: new CommitDoubts(clock),
    changes: {
      auditedAction: async (_principal, { entityName = '', actionData }): Promise<Statement> => {
        audited.push(`${entityName} ${actionData}`)
        return entities.cleanups.note(testRandom.uuid())
      },
    },
    jwt: { ...testSecrets().jwt, key: envKey, formerKeys },
    mail: undefined,
    send: async (settings, mail) => void sent.push([settings, mail]),
    sendSms: async (...text) => void texts.push(text),
  })
  admins.push(admin)
  await admin.start()
  return admin
}

async function rawBytes(): Promise<string> {
  const files = await readdir(folder)
  return (await Promise.all(files.map((file) => readFile(join(folder, file), 'latin1')))).join('\n')
}

test('a mail password is in no file, no answer and no audit row, and stays where a save leaves it out', async () => {
  const admin = await start()
  await admin.save(principal, 'mail', { ...MAIL, password: PASSWORD })
  await admin.save(principal, 'mail', { ...MAIL, timeout: 5000 })
  const saved = await admin.settings.find('mail')
  assert.ok(saved !== undefined)
  assert.deepEqual(shownValue(saved), { ...MAIL, timeout: 5000 })
  assert.equal((await admin.mailSettings())?.password, PASSWORD)
  assert.equal(audited.length, 2)
  assert.ok(!audited.join('').includes(PASSWORD))
  const raw = await rawBytes()
  assert.ok(raw.includes('mail.example.org'), 'the files are read')
  assert.ok(!raw.includes(PASSWORD))
  assert.ok(!raw.includes(Buffer.from(PASSWORD).toString('base64')))
})

test('the signing key is in no file', async () => {
  const admin = await start()
  const { signing } = await admin.jwt.current()
  const raw = await rawBytes()
  assert.ok(raw.includes('tokenSigningKey'), 'the files are read')
  assert.ok(!raw.includes(Buffer.from(signing.key).toString('base64')))
  assert.ok(!raw.includes(Buffer.from(signing.key).toString('latin1')))
  const again = await start()
  assert.deepEqual(await again.jwt.current(), await admin.jwt.current())
})

test('a new key seals what the former one sealed, which is not needed after that', async () => {
  const before = await start()
  await before.save(principal, 'mail', { ...MAIL, password: PASSWORD })
  const next = randomBytes(VAULT_KEY_BYTES)
  await assert.rejects(start(new Vault(next)), { code: 'vault.KEY_UNKNOWN' })
  await start(new Vault(next, [KEY]))
  const after = await start(new Vault(next))
  assert.equal((await after.mailSettings())?.password, PASSWORD)
})

test('what versions before kept open is taken over once', async () => {
  const old = randomBytes(64).toString('base64')
  await entities.settings.put('jwt.signingKey', old)
  await entities.settings.put('security', { passwordPolicy: { minimumLength: 9 } })
  const admin = await start()
  assert.equal(Buffer.from((await admin.jwt.current()).signing.key).toString('base64'), old)
  assert.deepEqual((await admin.settings.find('securitySettings'))?.value, { passwordPolicy: { minimumLength: 9 } })
  assert.equal(await entities.settings.find('jwt.signingKey'), undefined)
  assert.equal(await entities.settings.find('security'), undefined)
})

test('what one process saves the others have at once', async () => {
  const [one, two] = [await start(), await start()]
  assert.equal(await two.settings.find('general'), undefined)
  await one.save(principal, 'general', { baseUrl: 'https://iot.example.org/' })
  assert.equal(await two.baseUrl(), 'https://iot.example.org')
  await Promise.all([
    one.settings.change('count', (before) => ({ n: Number(before['n'] ?? 0) + 1 })),
    two.settings.change('count', (before) => ({ n: Number(before['n'] ?? 0) + 1 })),
  ])
  assert.deepEqual((await one.settings.find('count'))?.value, { n: 2 })
})

test('a signing key is changed without logging anybody out, and the former one goes when its tokens have expired', async () => {
  const admin = await start()
  const { signing: before } = await admin.jwt.current()
  const key = randomBytes(64).toString('base64')
  const draft = { tokenExpirationTime: 120, refreshTokenExpTime: 1000, tokenIssuer: 'iot.example.org' }
  await admin.jwt.save(principal, { ...draft, tokenSigningKey: key })
  const { signing, former } = await admin.jwt.current()
  assert.equal(Buffer.from(signing.key).toString('base64'), key)
  assert.deepEqual(former.map(plain), [{ ...plain(before), retiredAt: clock.time }])
  for (const hidden of [undefined, '', HIDDEN_SIGNING_KEY]) {
    await admin.jwt.save(principal, { ...draft, tokenSigningKey: hidden })
    assert.deepEqual(plain((await admin.jwt.current()).signing), plain(signing), 'nothing changed')
  }
  assert.ok(!audited.join('').includes(key))
  assert.ok(!(await rawBytes()).includes(key))
  clock.time += before.refreshLifetimeSeconds * 1000 + 1
  assert.deepEqual((await admin.jwt.current()).former, [])
})

test('a key of the environment signs until another is saved, and is good after that', async () => {
  const envKey = randomBytes(64)
  const admin = await start(new Vault(KEY), envKey)
  assert.deepEqual(Buffer.from((await admin.jwt.current()).signing.key), envKey)
  assert.equal(await admin.settings.find('jwt'), undefined)
  const saved = randomBytes(64)
  const draft = { tokenExpirationTime: 120, refreshTokenExpTime: 1000, tokenIssuer: 'thingsboard.io' }
  await admin.jwt.save(principal, { ...draft, tokenSigningKey: saved.toString('base64') })
  const { signing, former } = await admin.jwt.current()
  assert.deepEqual(Buffer.from(signing.key), saved)
  assert.deepEqual(
    former.map(({ key, retiredAt }) => [Buffer.from(key), retiredAt]),
    [[envKey, clock.time]],
  )
  clock.time += 604_800_000
  assert.deepEqual((await admin.jwt.current()).former, [], 'and goes as others do')
})

test('a former key of the environment was in use until a first process started without it, and the hour of the others', async () => {
  const HOUR_MS = 3_600_000
  const [old, next] = [randomBytes(64), randomBytes(64)]
  const retiredAt = async (admin: Admin) => (await admin.jwt.current()).former[0]?.retiredAt
  const notYet = await start(new Vault(KEY), old, [next])
  const begun = clock.time
  assert.equal(await retiredAt(notYet), begun + HOUR_MS)
  clock.time += 5 * HOUR_MS
  const first = await start(new Vault(KEY), next, [old])
  assert.equal(await retiredAt(first), clock.time + HOUR_MS)
  assert.equal(await retiredAt(notYet), Infinity, 'a process signs by it now')
  clock.time += 1000
  assert.equal(await retiredAt(await start(new Vault(KEY), next, [old])), begun + 6 * HOUR_MS, 'no start puts it off')
  const draft = { tokenExpirationTime: 120, refreshTokenExpTime: 1000, tokenIssuer: 'thingsboard.io' }
  await first.jwt.save(principal, draft)
  const { former } = await first.jwt.current()
  assert.ok(
    former.some(({ key, retiredAt: at }) => old.equals(key) && at === begun + 6 * HOUR_MS),
    'nor a save',
  )
})

test('settings of tokens that nobody could use are refused', async () => {
  const admin = await start()
  const good = { tokenExpirationTime: 120, refreshTokenExpTime: 1000, tokenIssuer: 'x' }
  const { signing } = await admin.jwt.current()
  for (const [bad, code] of [
    [{ tokenIssuer: ' ' }, 'JWT_ISSUER'],
    [{ refreshTokenExpTime: 899 }, 'JWT_REFRESH_TIME'],
    [{ tokenExpirationTime: 59 }, 'JWT_TIME'],
    [{ tokenExpirationTime: 1000 }, 'JWT_ORDER'],
    [{ refreshTokenExpTime: 40_000_000 }, 'JWT_LONGEST'],
    [{ tokenSigningKey: 'no base64!' }, 'JWT_KEY_NOT_BASE64'],
    [{ tokenSigningKey: 'YQ==' }, 'JWT_KEY_SHORT'],
  ] as const)
    await assert.rejects(admin.jwt.save(principal, { ...good, ...bad }), { code: `admin.${code}`, status: 400 })
  for (let change = 0; change < 20; change++)
    await admin.jwt.save(principal, { ...good, tokenExpirationTime: 100 + change })
  await assert.rejects(admin.jwt.save(principal, good), { code: 'admin.JWT_TOO_MANY_KEYS' })
  const { former } = await admin.jwt.current()
  assert.deepEqual(plain(former.at(-1)), { ...plain(signing), retiredAt: clock.time }, 'and nobody is logged out by it')
})

test('settings with a call of their own are saved by that alone, and mail settings are looked at', async () => {
  const admin = await start()
  for (const key of ['jwt', 'securitySettings', 'twoFaSettings'])
    await assert.rejects(admin.save(principal, key, {}), { code: 'admin.KEY_OF_ANOTHER_CALL' })
  await assert.rejects(admin.save(principal, 'mail', { ...MAIL, smtpPort: '0' }), { message: /smtpPort/ })
  await assert.rejects(admin.save(principal, 'general', { baseUrl: 'javascript:alert(1)' }), { code: 'admin.BASE_URL' })
})

test('a mail password that was not given goes to the server it was given for, and only the way it went', async () => {
  const admin = await start()
  await admin.save(principal, 'mail', { ...MAIL, password: PASSWORD })
  await admin.sendTestMail(principal, { ...MAIL, smtpPort: 25, mailFrom: 'b@example.org' })
  const elsewhere = [
    { smtpHost: 'evil.example.org' },
    { smtpPort: 587 },
    { smtpProtocol: 'smtps' },
    { enableTls: true },
    { enableProxy: true, proxyHost: 'proxy.example.org', proxyPort: 3128 },
  ]
  for (const other of elsewhere) {
    const value = { ...MAIL, ...other }
    await assert.rejects(admin.sendTestMail(principal, value), {
      code: 'admin.MAIL',
      message: /password: give it again/,
    })
    await assert.rejects(admin.save(principal, 'mail', value), { code: 'admin.MAIL', status: 400 })
    await admin.sendTestMail(principal, { ...value, password: null })
  }
  assert.equal((await admin.mailSettings())?.password, PASSWORD)
  await admin.save(principal, 'mail', { ...MAIL, smtpHost: 'open.example.org', username: '' })
  assert.equal((await admin.mailSettings())?.password, null, 'forgotten where nobody logs in')
  await admin.save(principal, 'mail', { ...MAIL, smtpHost: 'other.example.org', password: 'another' })
  assert.equal((await admin.mailSettings())?.password, 'another')
  assert.deepEqual(
    sent.map(([{ password }]) => password),
    [PASSWORD, null, null, null, null, null],
  )
})

test('what a provider gave goes to no other provider', async () => {
  const admin = await start()
  const oauth = { ...MAIL, enableOauth2: true, clientId: 'c', tokenUri: 'https://mail.example.org/token' }
  await admin.save(principal, 'mail', { ...oauth, clientSecret: 's', refreshToken: 'r' })
  await admin.save(principal, 'mail', { ...oauth, timeout: 5000 })
  assert.equal((await admin.mailSettings())?.refreshToken, 'r')
  const elsewhere = { ...oauth, tokenUri: 'https://evil.example.org/token' }
  for (const given of [{}, { clientSecret: 's' }, { refreshToken: 'r' }])
    await assert.rejects(admin.save(principal, 'mail', { ...elsewhere, ...given }), { code: 'admin.MAIL' })
  await admin.save(principal, 'mail', { ...elsewhere, clientSecret: 'other', refreshToken: null })
  assert.equal((await admin.mailSettings())?.clientSecret, 'other')
})

function plain(signing: { readonly key: Uint8Array } | undefined) {
  return signing && { ...signing, key: Buffer.from(signing.key).toString('base64') }
}

const TWILIO = { type: 'TWILIO', accountSid: 'AC1', numberFrom: '+15005550006' }

test('the token of an SMS provider is in no file and no answer, and is kept for its own account alone', async () => {
  const admin = await start()
  await admin.save(principal, 'sms', { ...TWILIO, accountToken: PASSWORD })
  await admin.save(principal, 'sms', { ...TWILIO, numberFrom: '+15005550007' })
  const saved = await admin.settings.find('sms')
  assert.ok(saved !== undefined)
  assert.deepEqual(shownValue(saved), { ...TWILIO, numberFrom: '+15005550007' })
  assert.equal(saved.value['accountToken'], PASSWORD)
  const centre = { type: 'SMPP', protocolVersion: '3.4', host: 'c', port: 2775, systemId: 'me' }
  for (const other of [{ ...TWILIO, accountSid: 'AC2' }, centre]) {
    await assert.rejects(admin.save(principal, 'sms', other), { code: 'admin.SMS', message: /is missing/ })
    await assert.rejects(admin.sendTestSms(other, '+15005550009', 'm'), { code: 'admin.SMS' })
  }
  await admin.save(principal, 'sms', { ...centre, password: 'one' })
  for (const other of [{ host: 'evil' }, { port: 1 }, { systemId: 'you' }])
    await assert.rejects(admin.save(principal, 'sms', { ...centre, ...other }), { message: /password is missing/ })
  await assert.rejects(admin.save(principal, 'sms', { type: 'FAX' }), { message: /'FAX' is none of/ })
  assert.ok(!audited.join('').includes(PASSWORD))
  assert.ok(!(await rawBytes()).includes(PASSWORD))
})

test('a test text goes by the settings of the call, with the kept secret of the same account', async () => {
  const admin = await start()
  await admin.save(principal, 'sms', { ...TWILIO, accountToken: PASSWORD })
  await admin.sendTestSms({ ...TWILIO, numberFrom: '+15005550007' }, '+15005550009', 'Hello')
  const settings = { accountSid: 'AC1', accountToken: PASSWORD, numberFrom: '+15005550007' }
  assert.deepEqual(texts, [[{ kind: 'twilio', settings }, '+15005550009', 'Hello']])
  await assert.rejects(admin.sendTestSms(TWILIO, '0049123', 'Hello'), { code: 'admin.SMS_FAILED' })
  assert.equal(texts.length, 1)
})

test('the password of a mail proxy goes to that proxy alone', async () => {
  const admin = await start()
  const proxied = { ...MAIL, username: '', enableProxy: true, proxyHost: 'p', proxyPort: '3128', proxyUser: 'u' }
  await admin.save(principal, 'mail', { ...proxied, proxyPassword: PASSWORD })
  await admin.save(principal, 'mail', { ...proxied, timeout: 5000 })
  assert.equal((await admin.mailSettings())?.proxyPassword, PASSWORD)
  await assert.rejects(admin.save(principal, 'mail', { ...proxied, proxyHost: 'evil' }), {
    code: 'admin.MAIL',
    message: /proxyPassword: give it again/,
  })
  await admin.save(principal, 'mail', { ...MAIL, username: '' })
  assert.equal((await admin.mailSettings())?.proxyPassword, null)
})
