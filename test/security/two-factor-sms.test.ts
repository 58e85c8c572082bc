/** The second factor whose codes go to a phone. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { users } from '../../services/entities/user.ts'
import { testOutbound } from '../../services/outbound/testkit.ts'
import { SMS_SETTINGS } from '../../services/sms/sms-settings.ts'
import { startTestCentre, type TestCentre } from '../../services/sms/testkit.ts'
import { openRestWorld, type RestWorld } from './rest-world.ts'

const CONFIG = '/api/2fa/account/config'
const PASSWORD = 'Secret1!'
const PHONE = '+15005550006'
const SMS = { providerType: 'SMS', phoneNumber: PHONE, useByDefault: true }
const PLATFORM = {
  providers: [
    {
      providerType: 'SMS',
      smsVerificationMessageTemplate: '${code} is the code of ${userEmail}, ${code}',
      verificationCodeLifetime: 60,
    },
    { providerType: 'BACKUP_CODE', codesQuantity: 3 },
  ],
  minVerificationCodeSendPeriod: 5,
  totalAllowedTimeForVerification: 600,
}

let world: RestWorld
let centre: TestCentre

before(async () => {
  ;[world, centre] = await Promise.all([openRestWorld({ outbound: testOutbound() }), startTestCentre()])
})
after(async () => {
  await world.close()
  centre.close()
})

async function call(method: string, path: string, token?: unknown, body?: unknown) {
  const response = await fetch(`${world.url}${path}`, {
    method,
    headers: typeof token === 'string' ? { 'x-authorization': `Bearer ${token}` } : {},
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> }
}

const savePlatform = (providers: readonly object[] = PLATFORM.providers) =>
  call('POST', '/api/2fa/settings', world.systemAdministrator, { ...PLATFORM, providers })

async function newUser(email: string): Promise<void> {
  const { services, tenant } = world.platform
  const { id } = await services.declared.of(users).saveByUser(tenant, { email, authority: 'TENANT_ADMIN' })
  const { token } = await services.people.accounts.activation(id)
  await services.people.accounts.activate(token, PASSWORD)
}

const login = (username: string) => call('POST', '/api/auth/login', undefined, { username, password: PASSWORD })
const lastCode = (): string => /^\d{6}/.exec(centre.texts.at(-1) ?? '')?.[0] ?? ''

test('codes to phones need a provider of texts, and words that hold the code', async () => {
  const unset = await savePlatform()
  assert.deepEqual([unset.status, unset.body['message']], [400, 'SMS service is not configured'])
  const { services, systemAdministrator } = world.platform
  await services.admin.save(systemAdministrator, SMS_SETTINGS, {
    ...{ type: 'SMPP', protocolVersion: '3.4', host: '127.0.0.1', port: centre.port, systemId: 'me', password: 'p' },
  })
  for (const smsVerificationMessageTemplate of [undefined, '', 'Your code'])
    assert.equal((await savePlatform([{ providerType: 'SMS', smsVerificationMessageTemplate }])).status, 400)
  assert.equal((await savePlatform()).status, 200)
})

test('a phone is confirmed by the code that it gets, and logs in by another', async () => {
  await newUser('phone@example.org')
  const { token } = (await login('phone@example.org')).body
  assert.deepEqual((await call('POST', `${CONFIG}/generate?providerType=SMS`, token)).body, {
    ...{ providerType: 'SMS', useByDefault: false, phoneNumber: null },
  })
  for (const phoneNumber of ['5005550006', '+0', '+1 500 555 0006', '', null])
    assert.equal((await call('POST', `${CONFIG}/submit`, token, { ...SMS, phoneNumber })).status, 400)
  assert.equal((await call('POST', `${CONFIG}/submit`, token, SMS)).status, 200)
  const first = lastCode()
  assert.equal(centre.texts.at(-1), `${first} is the code of phone@example.org, ${first}`)
  assert.equal(centre.numbers.at(-1), PHONE.slice(1))
  // Another phone than the one that the code went to.
  const other = { ...SMS, phoneNumber: '+15005550007' }
  assert.equal((await call('POST', `${CONFIG}?verificationCode=${first}`, token, other)).status, 400)
  const saved = await call('POST', `${CONFIG}?verificationCode=${first}`, token, SMS)
  assert.deepEqual(saved.body, { configs: { SMS } })

  const half = (await login('phone@example.org')).body
  assert.equal(half['scope'], 'PRE_VERIFICATION_TOKEN')
  assert.deepEqual((await call('GET', '/api/auth/2fa/providers', half['token'])).body, [
    { type: 'SMS', default: true, contact: '+15*******06', minVerificationCodeSendPeriod: 5 },
  ])
  const check = (code: string) =>
    call('POST', `/api/auth/2fa/verification/check?providerType=SMS&verificationCode=${code}`, half['token'])
  const send = () => call('POST', '/api/auth/2fa/verification/send?providerType=SMS', half['token'])
  assert.equal((await check(first)).status, 400)
  assert.equal((await send()).status, 429)
  world.platform.clock.time += 5000
  assert.equal((await send()).status, 200)
  const second = lastCode()
  world.platform.clock.time += 60_000
  assert.equal((await check(second)).status, 400)
  assert.equal((await send()).status, 200)
  const third = lastCode()
  const entered = await check(third)
  assert.deepEqual([entered.status, typeof entered.body['refreshToken']], [200, 'string'])
  assert.equal((await check(third)).status, 400)
})

test('a tenant that may send no texts gets no codes', async () => {
  await newUser('late@example.org')
  const { token } = (await login('late@example.org')).body
  const { meter } = world.platform.services
  const tenantId = world.platform.tenant.tenantId ?? ''
  meter.setDisabledOf(tenantId, 64)
  const refused = await call('POST', `${CONFIG}/submit`, token, SMS)
  meter.setDisabledOf(tenantId, 0)
  assert.deepEqual([refused.status, refused.body['message']], [403, 'SMS sending is disabled due to API limits!'])
})
