/** Second factors by mail, and those that the system administrator insists on. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { NULL_UUID } from '../../model/entity-id.ts'
import { users } from '../../services/entities/user.ts'
import { MAIL_SETTINGS } from '../../services/mail/mail-settings.ts'
import { startTestMailServer, type TestMailServer } from '../../services/mail/testkit.ts'
import { hashOfToken } from '../../services/users/credentials.ts'
import { totpCode, totpSecretOf, totpStep } from '../../services/users/totp.ts'
import { openRestWorld, type RestWorld } from './rest-world.ts'

const CONFIG = '/api/2fa/account/config'
const PASSWORD = 'Secret1!'
const PLATFORM = {
  providers: [
    { providerType: 'TOTP', issuerName: 'Millrace' },
    { providerType: 'EMAIL', verificationCodeLifetime: 60 },
    { providerType: 'BACKUP_CODE', codesQuantity: 3 },
  ],
  minVerificationCodeSendPeriod: 5,
  totalAllowedTimeForVerification: 600,
}

let world: RestWorld
let mail: TestMailServer

before(async () => {
  ;[world, mail] = await Promise.all([openRestWorld(), startTestMailServer()])
})
after(async () => {
  await world.close()
  await mail.close()
})

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

async function call(method: string, path: string, token?: unknown, body?: unknown): Promise<Answer> {
  const response = await fetch(`${world.url}${path}`, {
    method,
    headers: typeof token === 'string' ? { 'x-authorization': `Bearer ${token}` } : {},
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> }
}

const savePlatform = (changes: object) =>
  call('POST', '/api/2fa/settings', world.systemAdministrator, { ...PLATFORM, ...changes })

async function newUser(email: string): Promise<string> {
  const { services, tenant } = world.platform
  const { id } = await services.declared.of(users).saveByUser(tenant, { email, authority: 'TENANT_ADMIN' })
  const { token } = await services.people.accounts.activation(id)
  await services.people.accounts.activate(token, PASSWORD)
  return id
}

const login = (username: string) => call('POST', '/api/auth/login', undefined, { username, password: PASSWORD })

const refusalOf = ({ status, body }: Answer) => [status, body['errorCode']]

function lastCode(): string {
  return /code is (\d{6})/.exec(mail.mails.at(-1) ?? '')?.[1] ?? ''
}

/** As digits, and not the right one. */
const wrong = () => String((Number(lastCode()) + 1) % 1_000_000).padStart(6, '0')

beforeEach(async () => {
  const { services, systemAdministrator } = world.platform
  await services.admin.save(systemAdministrator, MAIL_SETTINGS, {
    mailFrom: 'noreply@example.org',
    smtpHost: '127.0.0.1',
    smtpPort: mail.port,
  })
  assert.equal((await savePlatform({})).status, 200)
})

test('codes by mail need mail that is set up, and who insists on a second factor leaves a way to have one', async () => {
  assert.equal((await savePlatform({ enforceTwoFa: true, providers: [] })).status, 400)
  assert.equal((await savePlatform({ enforceTwoFa: true, providers: PLATFORM.providers.slice(2) })).status, 400)
  assert.equal((await savePlatform({ providers: [{ providerType: 'SMS' }] })).status, 400)
  const { body } = await call('GET', '/api/2fa/settings', world.systemAdministrator)
  assert.deepEqual([body['enforceTwoFa'], body['enforcedUsersFilter']], [false, null])
  const bare = await openRestWorld()
  const answer = await fetch(`${bare.url}/api/2fa/settings`, {
    method: 'POST',
    headers: { 'x-authorization': `Bearer ${bare.systemAdministrator}` },
    body: JSON.stringify(PLATFORM),
  })
  await bare.close()
  assert.equal(answer.status, 400)
  assert.equal(((await answer.json()) as { message: string }).message, 'Mail service is not set up')
})

test('one of the factors is asked for first, whatever is set up, chosen, taken away or no longer offered', async () => {
  const { clock } = world.platform
  await newUser('first@example.org')
  const { token } = (await login('first@example.org')).body
  const defaults = ({ configs }: Readonly<Record<string, unknown>>) =>
    Object.entries(configs as Record<string, { useByDefault: boolean }>).map(([type, config]) => [
      type,
      config.useByDefault,
    ])
  const generated = async (type: string) => (await call('POST', `${CONFIG}/generate?providerType=${type}`, token)).body
  const totp = await generated('TOTP')
  const code = totpCode(totpSecretOf(String(totp['authUrl'])) ?? '', totpStep(clock.now()))
  const set = await call('POST', `${CONFIG}?verificationCode=${code}`, token, totp)
  assert.deepEqual(defaults(set.body), [['TOTP', true]])
  const mailed = { ...(await generated('EMAIL')), useByDefault: true }
  assert.equal((await call('POST', `${CONFIG}/submit`, token, mailed)).status, 200)
  const both = await call('POST', `${CONFIG}?verificationCode=${lastCode()}`, token, mailed)
  assert.deepEqual(defaults(both.body), [
    ['TOTP', false],
    ['EMAIL', true],
  ])
  const absent = await call('PUT', `${CONFIG}?providerType=BACKUP_CODE`, token, { useByDefault: true })
  assert.deepEqual([absent.status, absent.body['message']], [400, 'Config for BACKUP_CODE 2FA provider not found'])
  const put = async (type: string, useByDefault: boolean) =>
    defaults((await call('PUT', `${CONFIG}?providerType=${type}`, token, { useByDefault })).body)
  const totpFirst = [
    ['TOTP', true],
    ['EMAIL', false],
  ]
  assert.deepEqual(await put('EMAIL', false), totpFirst)
  assert.deepEqual(await put('EMAIL', false), totpFirst)
  assert.deepEqual(await put('TOTP', true), totpFirst)
  const left = await call('DELETE', `${CONFIG}?providerType=TOTP`, token)
  assert.deepEqual(defaults(left.body), [['EMAIL', true]])
})

test('a factor that is set up is taken away before another of its kind takes its place', async () => {
  const { clock } = world.platform
  await newUser('twice@example.org')
  const { token } = (await login('twice@example.org')).body
  const codeOf = (config: Answer['body']) =>
    totpCode(totpSecretOf(String(config['authUrl'])) ?? '', totpStep(clock.now()))
  const refusal = async (path: string, config: Answer['body']) => {
    const { status, body } = await call('POST', path, token, config)
    return [status, body['errorCode'], body['message']]
  }
  const there = [400, 31, '2FA provider is already configured']
  const { body: first } = await call('POST', `${CONFIG}/generate?providerType=TOTP`, token)
  assert.equal((await call('POST', `${CONFIG}?verificationCode=${codeOf(first)}`, token, first)).status, 200)
  const { body: second } = await call('POST', `${CONFIG}/generate?providerType=TOTP`, token)
  for (const code of [codeOf(second), 'wrong', ''])
    assert.deepEqual(await refusal(`${CONFIG}?verificationCode=${code}`, second), there)
  const { body: codes } = await call('POST', `${CONFIG}/generate?providerType=BACKUP_CODE`, token)
  assert.equal((await call('POST', CONFIG, token, codes)).status, 200)
  assert.deepEqual(await refusal(CONFIG, codes), there)
  assert.equal((await call('DELETE', `${CONFIG}?providerType=BACKUP_CODE`, token)).status, 200)
  assert.equal((await call('POST', CONFIG, token, codes)).status, 200)
})

test('a code that was mailed opens once, for a while, and no sooner than one may be sent again', async () => {
  const { clock } = world.platform
  await newUser('mona@example.org')
  const { token } = (await login('mona@example.org')).body
  const { body: config } = await call('POST', `${CONFIG}/generate?providerType=EMAIL`, token)
  assert.deepEqual(config, { providerType: 'EMAIL', useByDefault: false, email: 'mona@example.org' })
  assert.equal((await call('POST', `${CONFIG}?verificationCode=000000`, token, config)).status, 400, 'none was sent')
  assert.equal((await call('POST', `${CONFIG}/submit`, token, config)).status, 200)
  assert.match(mail.mails.at(-1) ?? '', /^To: mona@example\.org/m)
  assert.equal((await call('POST', `${CONFIG}/submit`, token, config)).status, 429)
  const other = { ...config, email: 'other@example.org' }
  assert.equal((await call('POST', `${CONFIG}?verificationCode=${lastCode()}`, token, other)).status, 400)
  assert.equal((await call('POST', `${CONFIG}?verificationCode=${wrong()}`, token, config)).status, 400)
  assert.equal((await call('POST', `${CONFIG}?verificationCode=${lastCode()}`, token, config)).status, 200)

  const { body: half } = await login('mona@example.org')
  assert.equal(half['scope'], 'PRE_VERIFICATION_TOKEN')
  const { body: providers } = await call('GET', '/api/auth/2fa/providers', half['token'])
  assert.deepEqual(providers, [
    { type: 'EMAIL', default: true, contact: '****@example.org', minVerificationCodeSendPeriod: 5 },
  ])
  const verification = '/api/auth/2fa/verification'
  const check = (code: string) =>
    call('POST', `${verification}/check?providerType=EMAIL&verificationCode=${code}`, half['token'])
  assert.equal((await check(lastCode())).status, 400, 'the one that confirmed it is used up')
  clock.time += 5_000
  assert.equal((await call('POST', `${verification}/send?providerType=EMAIL`, half['token'])).status, 200)
  assert.equal((await call('POST', `${verification}/send?providerType=EMAIL`, half['token'])).status, 429)
  assert.equal((await call('POST', `${verification}/send?providerType=TOTP`, half['token'])).status, 400)
  for (const bad of [wrong(), '', 'éééééé', '1'.repeat(500)]) assert.equal((await check(bad)).status, 400)
  const opened = await check(lastCode())
  assert.equal((await call('GET', '/api/auth/user', opened.body['token'])).status, 200)
  assert.equal((await check(lastCode())).status, 400)
  clock.time += 5_000
  await call('POST', `${verification}/send?providerType=EMAIL`, half['token'])
  clock.time += 60_000
  assert.equal((await check(lastCode())).status, 400, 'too late')
})

test('codes go to addresses that nobody confirmed twenty times a day', async () => {
  const { clock } = world.platform
  await newUser('many@example.org')
  const { token } = (await login('many@example.org')).body
  const submit = async (email: string) => {
    clock.time += 5_000
    return (await call('POST', `${CONFIG}/submit`, token, { providerType: 'EMAIL', email })).status
  }
  assert.equal(await submit('own@example.org'), 200)
  const own = { providerType: 'EMAIL', email: 'own@example.org' }
  assert.equal((await call('POST', `${CONFIG}?verificationCode=${lastCode()}`, token, own)).status, 200)
  for (let mail = 1; mail < 20; mail++) assert.equal(await submit(`victim${mail}@example.org`), 200)
  assert.equal(await submit('victim@example.org'), 429)
  assert.equal((await call('DELETE', `${CONFIG}?providerType=TOTP`, token)).status, 200)
  assert.equal(await submit('victim@example.org'), 429, 'whatever is taken away')
  assert.equal(await submit('own@example.org'), 200, 'the own is not counted')
  const { body: half } = await login('many@example.org')
  clock.time += 5_000
  assert.equal((await call('POST', '/api/auth/2fa/verification/send?providerType=EMAIL', half['token'])).status, 200)
})

test('too many checks are 429, and too many wrong codes switch the user off', async () => {
  await savePlatform({ verificationCodeCheckRateLimit: '2:60', maxVerificationFailuresBeforeUserLockout: 3 })
  const { services, clock } = world.platform
  const id = await newUser('lock@example.org')
  const { token } = (await login('lock@example.org')).body
  const { body: config } = await call('POST', `${CONFIG}/generate?providerType=TOTP`, token)
  const secret = totpSecretOf(String(config['authUrl'])) ?? ''
  const code = totpCode(secret, totpStep(clock.now()))
  assert.equal((await call('POST', `${CONFIG}?verificationCode=${code}`, token, config)).status, 200)
  const { body: half } = await login('lock@example.org')
  const guess = async () => {
    const path = '/api/auth/2fa/verification/check?providerType=TOTP&verificationCode=x'
    const { status, body } = await call('POST', path, half['token'])
    return [status, body['message']]
  }
  assert.deepEqual((await guess())[0], 400)
  assert.deepEqual((await guess())[0], 400)
  assert.deepEqual(await guess(), [429, 'Too many requests'])
  clock.time += 60_000
  assert.deepEqual(await guess(), [401, 'User account was locked due to exceeded 2FA verification attempts'])
  assert.equal((await services.people.accounts.state(id)).isEnabled, false)
  assert.equal((await login('lock@example.org')).body['message'], 'User account is not active')
})

test('who must have a second factor can do nothing before it is set up', async () => {
  const { clock, tenantId } = world.platform
  await newUser('must@example.org')
  const enforce = (filter: object | null) => savePlatform({ enforceTwoFa: true, enforcedUsersFilter: filter })
  const scopeOf = async () => (await login('must@example.org')).body['scope']
  const none = '11111111-1111-4111-8111-111111111111'
  for (const [filter, scope] of [
    [{ type: 'SYSTEM_ADMINISTRATORS' }, undefined],
    [{ type: 'TENANT_ADMINISTRATORS', tenantsIds: [none] }, undefined],
    [{ type: 'TENANT_ADMINISTRATORS', tenantProfilesIds: [none] }, undefined],
    [{ type: 'TENANT_ADMINISTRATORS', tenantsIds: [tenantId] }, 'MFA_CONFIGURATION_TOKEN'],
    [{ type: 'TENANT_ADMINISTRATORS' }, 'MFA_CONFIGURATION_TOKEN'],
    [{ type: 'ALL_USERS' }, 'MFA_CONFIGURATION_TOKEN'],
    [null, 'MFA_CONFIGURATION_TOKEN'],
  ] as const) {
    assert.equal((await enforce(filter)).status, 200)
    assert.equal(await scopeOf(), scope, JSON.stringify(filter))
  }
  const { body: half } = await login('must@example.org')
  assert.equal(half['refreshToken'], undefined)
  const telemetry = `/api/plugins/telemetry/TENANT/${NULL_UUID}/keys/timeseries`
  for (const path of ['/api/auth/user', '/api/tenant/devices?pageSize=1&page=0', '/api/auth/2fa/providers', telemetry])
    assert.deepEqual(refusalOf(await call('GET', path, half['token'])), [403, 20], path)
  assert.equal((await call('POST', '/api/auth/token', undefined, { refreshToken: half['token'] })).status, 401)
  assert.deepEqual(refusalOf(await call('DELETE', `${CONFIG}?providerType=TOTP`, half['token'])), [403, 20])
  assert.equal((await call('POST', '/api/auth/2fa/login', half['token'])).status, 400, 'not set up yet')
  assert.deepEqual(refusalOf(await call('POST', '/api/auth/2fa/login', world.tenant)), [403, 20])

  assert.equal((await call('GET', '/api/2fa/account/settings', half['token'])).status, 200)
  assert.deepEqual((await call('GET', '/api/2fa/providers', half['token'])).body, ['TOTP', 'EMAIL', 'BACKUP_CODE'])
  const { body: config } = await call('POST', `${CONFIG}/generate?providerType=TOTP`, half['token'])
  const code = totpCode(totpSecretOf(String(config['authUrl'])) ?? '', totpStep(clock.now()))
  const saved = await call('POST', `${CONFIG}?verificationCode=${code}`, half['token'], config)
  const authUrl = 'otpauth://totp/Millrace:must%40example.org?issuer=Millrace&secret=hidden'
  assert.deepEqual(saved.body, { configs: { TOTP: { providerType: 'TOTP', useByDefault: true, authUrl } } })
  const { body: pair } = await call('POST', '/api/auth/2fa/login', half['token'])
  assert.equal((await call('GET', '/api/auth/user', pair['token'])).status, 200)
  assert.equal(await scopeOf(), 'PRE_VERIFICATION_TOKEN')
  const { body: whole } = await login('must@example.org')
  assert.deepEqual(refusalOf(await call('POST', '/api/auth/2fa/login', whole['token'])), [403, 20])
})

test('a session that could only set up a second factor ends with the factor that another session set up', async () => {
  const { clock } = world.platform
  assert.equal((await savePlatform({ enforceTwoFa: true })).status, 200)
  await newUser('early@example.org')
  const [thief, user] = [
    (await login('early@example.org')).body['token'],
    (await login('early@example.org')).body['token'],
  ]
  const setUp = async (token: unknown) => {
    const { body: config } = await call('POST', `${CONFIG}/generate?providerType=TOTP`, user)
    const code = totpCode(totpSecretOf(String(config['authUrl'])) ?? '', totpStep(clock.now()))
    return (await call('POST', `${CONFIG}?verificationCode=${code}`, token, config)).status
  }
  assert.equal((await call('GET', '/api/2fa/account/settings', thief)).status, 200)
  assert.equal(await setUp(user), 200)
  const refused = await call('POST', '/api/auth/2fa/login', thief)
  assert.equal(refused.status, 401)
  assert.match(String(refused.body['message']), /another session/)
  assert.equal(refused.body['token'], undefined)
  assert.equal(await setUp(thief), 401)
  assert.equal((await call('GET', '/api/2fa/account/settings', thief)).status, 401)
  assert.equal(await setUp(user), 400, 'it is set up already')
  const { body: codes } = await call('POST', `${CONFIG}/generate?providerType=BACKUP_CODE`, user)
  const saved = await call('POST', CONFIG, user, codes)
  assert.deepEqual(Object.keys(saved.body['configs'] as object), ['TOTP', 'BACKUP_CODE'])
  assert.ok(!JSON.stringify(saved.body).includes('session'))
  const { body: pair } = await call('POST', '/api/auth/2fa/login', user)
  const remove = (type: string) => call('DELETE', `${CONFIG}?providerType=${type}`, pair['token'])
  assert.equal((await remove('TOTP')).status, 200)
  assert.equal(await setUp(pair['token']), 200, 'a whole login may change it')
  assert.equal((await call('POST', '/api/auth/2fa/login', user)).status, 401)
  await savePlatform({ enforceTwoFa: true, providers: PLATFORM.providers.slice(1, 2) })
  const { body: half } = await login('early@example.org')
  assert.equal(
    (await call('POST', `${CONFIG}/generate?providerType=EMAIL`, half['token'])).status,
    200,
    'not offered any more',
  )
})

test('an account shows no secret, and keeps none that can be read', async () => {
  const { services, clock } = world.platform
  const id = await newUser('tess@example.org')
  const { token } = (await login('tess@example.org')).body
  const { body: config } = await call('POST', `${CONFIG}/generate?providerType=TOTP`, token)
  const secret = totpSecretOf(String(config['authUrl'])) ?? ''
  const code = totpCode(secret, totpStep(clock.now()))
  assert.equal((await call('POST', `${CONFIG}?verificationCode=${code}`, token, config)).status, 200)
  const shown = await call('GET', '/api/2fa/account/settings', token)
  assert.ok(!JSON.stringify(shown.body).includes(secret))
  const kept = JSON.stringify(await services.people.settings.find({ userId: id }, 'TWO_FACTOR'))
  assert.ok(kept.includes('sealed:1:') && !kept.includes(secret))

  const { settings, twoFactor } = services.people
  const { body: generated } = await call('POST', `${CONFIG}/generate?providerType=BACKUP_CODE`, token)
  assert.equal((await call('POST', CONFIG, token, generated)).status, 200)
  const codes = generated['codes'] as string[]
  const hashes = codes.map(hashOfToken)
  const keptText = async () => JSON.stringify(await settings.find({ userId: id }, 'TWO_FACTOR'))
  const isOpen = () => hashes.some((hash, index) => text.includes(hash) || text.includes(codes[index] ?? ''))
  let text = await keptText()
  assert.equal(isOpen(), false)
  const user = { id, tenantId: world.platform.tenantId }
  await twoFactor.check(user, 'BACKUP_CODE', codes[0] ?? '')
  const old = { hashes: hashes.slice(1), useByDefault: false }
  await settings.change({ userId: id, tenantId: user.tenantId }, 'TWO_FACTOR', (before) => ({ ...before, backup: old }))
  await twoFactor.sealAnew()
  text = await keptText()
  assert.equal(isOpen(), false, 'those of versions before are sealed at the next start')
  await twoFactor.check(user, 'BACKUP_CODE', codes[1] ?? '')
  await assert.rejects(twoFactor.check(user, 'BACKUP_CODE', codes[1] ?? ''), { code: 'users.TWO_FACTOR_CODE' })
})
