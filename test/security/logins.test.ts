/** What stands in the place of a login: API keys, the login of everybody, tokens of users who are switched off or gone. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { customers } from '../../services/entities/customer.ts'
import { users } from '../../services/entities/user.ts'
import { totpCode, totpSecretOf, totpStep } from '../../services/users/totp.ts'
import { openRestWorld, type RestWorld } from './rest-world.ts'

let world: RestWorld

before(async () => {
  world = await openRestWorld()
})
after(() => world.close())

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

async function call(method: string, path: string, credentials: string | undefined, body?: unknown): Promise<Answer> {
  const response = await fetch(`${world.url}${path}`, {
    method,
    headers: credentials === undefined ? {} : { 'x-authorization': credentials },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const parsed: unknown = text === '' ? {} : JSON.parse(text)
  return { status: response.status, body: parsed as Record<string, unknown> }
}

const BAD = { status: 401, message: 'Invalid username or password', errorCode: 10 }

function refusal({ body }: Answer): unknown {
  const { timestamp: _timestamp, ...rest } = body
  return rest
}

async function newUser(email: string): Promise<{ readonly id: string; readonly pair: Record<string, unknown> }> {
  const { services, tenant } = world.platform
  const { id } = await services.declared.of(users).saveByUser(tenant, { email, authority: 'TENANT_ADMIN' })
  const { token } = await services.people.accounts.activation(id)
  const { status, body } = await call('POST', '/api/noauth/activate', undefined, {
    activateToken: token,
    password: 'Secret1!',
  })
  assert.equal(status, 200)
  return { id, pair: body }
}

describe('an API key', () => {
  test('acts as its user, is told once, and is kept as a hash', async () => {
    const { tenant, entities, tenantId } = world.platform
    const made = await call('POST', '/api/apiKey', `Bearer ${world.tenant}`, {
      userId: { entityType: 'USER', id: tenant.userId },
      description: 'ci',
    })
    const value = String(made.body['value'])
    assert.match(value, /^tb_\w{64}$/)
    const me = await call('GET', '/api/auth/user', `ApiKey ${value}`)
    assert.equal(me.body['email'], tenant.email)
    const listed = await call('GET', `/api/apiKeys/${tenant.userId}?pageSize=10&page=0`, `ApiKey ${value}`)
    assert.equal(listed.status, 200)
    assert.ok(!JSON.stringify(listed.body).includes(value))
    const { apiKeys } = world.platform.services.people
    const kept = await apiKeys.service.page(tenantId, {}, { page: 0, pageSize: 10 })
    assert.ok(kept.data.length > 0)
    assert.ok(!JSON.stringify(kept.data).includes(value.slice(3)))
    assert.ok(entities !== undefined)
  })

  test('is refused when it is unknown, switched off, over, or its user is', async () => {
    const { services, clock } = world.platform
    const { id, pair } = await newUser('keys@example.org')
    const bearer = `Bearer ${String(pair['token'])}`
    const made = await call('POST', '/api/apiKey', bearer, {
      userId: { id },
      description: 'mine',
      expirationTime: clock.now() + 1000,
    })
    const key = `ApiKey ${String(made.body['value'])}`
    const keyId = (made.body['id'] as { id: string }).id
    assert.equal((await call('GET', '/api/auth/user', key)).status, 200)
    assert.deepEqual(refusal(await call('GET', '/api/auth/user', 'ApiKey tb_nope')), BAD)
    await call('PUT', `/api/apiKey/${keyId}/enabled/false`, bearer)
    assert.equal((await call('GET', '/api/auth/user', key)).body['message'], 'User account is not active')
    await call('PUT', `/api/apiKey/${keyId}/enabled/true`, bearer)
    clock.time += 1000
    assert.equal((await call('GET', '/api/auth/user', key)).body['message'], 'API key is expired')
    clock.time -= 1000
    await services.people.accounts.setEnabled(id, false)
    assert.equal((await call('GET', '/api/auth/user', key)).status, 401)
    await services.declared.of(users).deleteByUser(world.platform.tenant, id)
    assert.deepEqual(refusal(await call('GET', '/api/auth/user', key)), BAD)
  })

  test("of another is not a customer user's to see or to make", async () => {
    const { tenant } = world.platform
    const own = await call('GET', '/api/auth/user', `Bearer ${world.customer}`)
    const ownId = (own.body['id'] as { id: string }).id
    const draft = { description: 'mine' }
    const ofOther = { ...draft, userId: { id: tenant.userId } }
    assert.equal((await call('POST', '/api/apiKey', `Bearer ${world.customer}`, ofOther)).status, 403)
    const mine = { ...draft, userId: { id: ownId } }
    const made = await call('POST', '/api/apiKey', `Bearer ${world.customer}`, mine)
    assert.equal(made.status, 200)
    const key = `ApiKey ${String(made.body['value'])}`
    const keyId = String(world.ids['apiKeyId'])
    assert.equal((await call('DELETE', `/api/apiKey/${keyId}`, key)).status, 403)
    const moved = { ...mine, id: { entityType: 'API_KEY', id: keyId } }
    assert.equal((await call('POST', '/api/apiKey', key, moved)).status, 403)
  })
})

describe('the login of everybody', () => {
  test('is for public customers only, and ends when the customer is public no more', async () => {
    const { services, tenant } = world.platform
    const service = services.declared.of(customers)
    const closed = await service.saveByUser(tenant, { title: 'closed' })
    const open = await service.saveByUser(tenant, { title: 'open', additionalInfo: { isPublic: true } })
    const login = (publicId: string) => call('POST', '/api/auth/login/public', undefined, { publicId })
    for (const id of [closed.id, 'nobody', '13814000-1dd2-11b2-8080-808080808080'])
      assert.deepEqual(refusal(await login(id)), BAD)
    const { body } = await login(open.id)
    const bearer = `Bearer ${String(body['token'])}`
    assert.equal((await call('GET', `/api/customer/${open.id}`, bearer)).status, 200)
    assert.equal((await call('GET', `/api/customer/${closed.id}`, bearer)).status, 403)
    assert.equal((await call('PUT', '/api/user/settings', bearer, { a: 1 })).status, 403)
    const again = await call('POST', '/api/auth/token', undefined, { refreshToken: body['refreshToken'] })
    assert.equal(again.status, 200)
    await service.saveByUser(tenant, { id: open.id, title: 'open', additionalInfo: null })
    assert.equal((await call('GET', `/api/customer/${open.id}`, bearer)).status, 401)
    const outdated = await call('POST', '/api/auth/token', undefined, { refreshToken: body['refreshToken'] })
    assert.equal(outdated.status, 401)
  })
})

describe('tokens', () => {
  test('of a user who is switched off are refused, the refresh token too; new ones come after he is let in again', async () => {
    const { services, clock } = world.platform
    const { id, pair } = await newUser('off@example.org')
    const bearer = `Bearer ${String(pair['token'])}`
    assert.equal((await call('GET', '/api/auth/user', bearer)).status, 200)
    clock.time += 2000
    await services.people.accounts.setEnabled(id, false)
    assert.equal((await call('GET', '/api/auth/user', bearer)).body['errorCode'], 11)
    const refreshed = await call('POST', '/api/auth/token', undefined, { refreshToken: pair['refreshToken'] })
    assert.equal(refreshed.body['message'], 'Token is outdated')
    const login = () =>
      call('POST', '/api/auth/login', undefined, { username: 'off@example.org', password: 'Secret1!' })
    assert.equal((await login()).body['message'], 'User account is not active')
    await services.people.accounts.setEnabled(id, true)
    assert.equal((await login()).status, 200)
    assert.equal((await call('GET', '/api/auth/user', bearer)).status, 401)
  })

  test('of a user who was deleted are refused, and so is the login', async () => {
    const { services, tenant } = world.platform
    const { id, pair } = await newUser('gone@example.org')
    await services.declared.of(users).deleteByUser(tenant, id)
    const bearer = `Bearer ${String(pair['token'])}`
    assert.equal((await call('GET', '/api/auth/user', bearer)).body['errorCode'], 11)
    const login = await call('POST', '/api/auth/login', undefined, {
      username: 'gone@example.org',
      password: 'Secret1!',
    })
    assert.deepEqual(refusal(login), BAD)
  })

  test('nobody makes himself more than he is', async () => {
    const { customer } = world.platform
    const own = {
      id: { id: customer.userId },
      email: customer.email,
      customerId: { entityType: 'CUSTOMER', id: customer.customerId },
    }
    const save = (body: object) => call('POST', '/api/user', `Bearer ${world.customer}`, { ...own, ...body })
    assert.equal((await save({ authority: 'SYS_ADMIN', customerId: null })).status, 403)
    assert.equal((await save({ authority: 'TENANT_ADMIN', customerId: null })).status, 403)
    assert.equal((await save({ authority: 'CUSTOMER_USER', customerId: { id: world.ids['customerId'] } })).status, 403)
    assert.equal((await save({ authority: 'CUSTOMER_USER', firstName: 'Ann' })).status, 200)
  })
})

test('the session of a mobile app is known by its header', async () => {
  const session = (method: string, body?: object) =>
    fetch(`${world.url}/api/user/mobile/session`, {
      method,
      headers: { 'x-authorization': `Bearer ${world.tenant}`, 'X-Mobile-Token': 'push token' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  assert.equal((await session('POST', { fcmTokenTimestamp: 5 })).status, 200)
  assert.deepEqual(await (await session('GET')).json(), { fcmTokenTimestamp: 5 })
  assert.equal((await session('DELETE')).status, 200)
  assert.equal(await (await session('GET')).text(), '')
  assert.equal((await call('GET', '/api/user/mobile/session', `Bearer ${world.tenant}`)).status, 400)
})

describe('with a second factor', () => {
  test('a password alone opens nothing, a code opens once, a backup code once', async () => {
    const { services, clock } = world.platform
    const platformSettings = {
      providers: [
        { providerType: 'TOTP', issuerName: 'Millrace' },
        { providerType: 'BACKUP_CODE', codesQuantity: 3 },
      ],
      minVerificationCodeSendPeriod: 5,
      totalAllowedTimeForVerification: 60,
    }
    assert.equal((await call('POST', '/api/2fa/settings', `Bearer ${world.tenant}`, platformSettings)).status, 403)
    const system = `Bearer ${world.systemAdministrator}`
    assert.equal((await call('POST', '/api/2fa/settings', system, platformSettings)).status, 200)
    const { pair } = await newUser('two@example.org')
    const bearer = `Bearer ${String(pair['token'])}`
    const config = '/api/2fa/account/config'
    const { body: totp } = await call('POST', `${config}/generate?providerType=TOTP`, bearer)
    const secret = totpSecretOf(String(totp['authUrl'])) ?? ''
    const codeNow = () => totpCode(secret, totpStep(clock.now()))
    assert.equal((await call('POST', `${config}?verificationCode=000000x`, bearer, totp)).status, 400)
    assert.equal((await call('POST', `${config}?verificationCode=${codeNow()}`, bearer, totp)).status, 200)
    const { body: backup } = await call('POST', `${config}/generate?providerType=BACKUP_CODE`, bearer)
    assert.equal((await call('POST', config, bearer, backup)).status, 200)
    const account = await call('GET', '/api/2fa/account/settings', bearer)
    const [first = ''] = backup['codes'] as string[]
    assert.ok(!JSON.stringify(account.body).includes(first))

    const login = () =>
      call('POST', '/api/auth/login', undefined, { username: 'two@example.org', password: 'Secret1!' })
    const { body: answer } = await login()
    assert.deepEqual([answer['scope'], answer['refreshToken']], ['PRE_VERIFICATION_TOKEN', undefined])
    const half = `Bearer ${String(answer['token'])}`
    for (const path of ['/api/auth/user', '/api/2fa/account/settings']) {
      const refused = await call('GET', path, half)
      assert.deepEqual([refused.status, refused.body['errorCode']], [403, 20], path)
    }
    const refreshed = await call('POST', '/api/auth/token', undefined, { refreshToken: answer['token'] })
    assert.equal(refreshed.status, 401)
    assert.equal((await call('GET', '/api/auth/2fa/providers', bearer)).status, 403)
    assert.equal((await call('GET', '/api/auth/2fa/providers', half)).status, 200)
    const check = (type: string, code: string) =>
      call('POST', `/api/auth/2fa/verification/check?providerType=${type}&verificationCode=${code}`, half)
    assert.equal((await check('TOTP', codeNow())).status, 400, 'the one that confirmed it is used up')
    clock.time += 30_000
    const code = codeNow()
    const opened = await check('TOTP', code)
    assert.equal((await call('GET', '/api/auth/user', `Bearer ${String(opened.body['token'])}`)).status, 200)
    assert.equal((await check('TOTP', code)).status, 400)
    assert.equal((await check('BACKUP_CODE', first)).status, 200)
    assert.equal((await check('BACKUP_CODE', first)).status, 400)
    clock.time += 60_000
    assert.equal((await check('TOTP', codeNow())).status, 401, 'the time to give it is over')

    const { body: late } = await login()
    const guess = (number: number) =>
      call(
        'POST',
        `/api/auth/2fa/verification/check?providerType=TOTP&verificationCode=${String(number).padStart(6, '0')}`,
        `Bearer ${String(late['token'])}`,
      )
    const answers = []
    for (let number = 0; number < 12; number++) answers.push((await guess(number)).status)
    assert.equal(answers.at(-1), 401, 'guessing locks')
    assert.equal((await call('DELETE', `${config}?providerType=TOTP`, bearer)).status, 200)
    assert.equal((await login()).body['scope'], undefined)
    await services.people.twoFactor.savePlatform(world.platform.systemAdministrator, {
      ...(await platformOf()),
      providers: [],
    })
  })
})

async function platformOf() {
  const found = await world.platform.services.people.twoFactor.platform()
  assert.ok(found !== undefined)
  return found
}
