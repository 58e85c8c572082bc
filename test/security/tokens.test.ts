/** Every way to present a token that is not one: refused alike, whatever was wrong with it. */
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { createAuth, type Auth } from '../../api/auth/auth.ts'
import {
  fixedKeys,
  HandClock,
  MemoryEndedSessions,
  MemorySettings,
  MemoryUsers,
  TEST_START,
  testRandom,
} from '../../api/auth/testkit.ts'
import { createTokens, type TokenPair } from '../../api/auth/tokens.ts'
import { errorAnswer } from '../../api/errors.ts'
import type { User } from '../../model/entities.ts'

const KEY = randomBytes(64)
const NOW_SECONDS = Math.floor(TEST_START / 1000)
const OTHER_TENANT = '99999999-9999-4999-8999-999999999999'

/** The two bodies that a refused token gets: what never was one of ours, and what no longer is (which makes clients refresh). */
const NOT_A_TOKEN = { status: 401, message: 'Invalid username or password', errorCode: 10 }
const NO_LONGER = { status: 401, message: 'Token has expired', errorCode: 11 }

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function hmac(content: string, key: Uint8Array | string = KEY, hash = 'sha512'): string {
  return createHmac(hash, key).update(content).digest('base64url')
}

/** A token made by hand; by default one that would be accepted. */
function made(
  parts: { header?: unknown; claims?: object; payload?: string; key?: Uint8Array | string },
  user: User,
): string {
  const header = encoded(parts.header ?? { alg: 'HS512' })
  const payload = parts.payload ?? encoded({ ...goodClaims(user), ...parts.claims })
  return `${header}.${payload}.${hmac(`${header}.${payload}`, parts.key)}`
}

function goodClaims(user: User): Record<string, unknown> {
  return {
    sub: user.email,
    userId: user.id,
    sessionId: '22222222-2222-4222-8222-222222222222',
    scopes: [user.authority],
    enabled: true,
    isPublic: false,
    tenantId: user.tenantId,
    customerId: '13814000-1dd2-11b2-8080-808080808080',
    iss: 'thingsboard.io',
    iat: NOW_SECONDS,
    exp: NOW_SECONDS + 9000,
  }
}

describe('a token is refused', () => {
  let clock: HandClock
  let users: MemoryUsers
  let auth: Auth
  let user: User
  let pair: TokenPair

  before(async () => {
    clock = new HandClock()
    users = new MemoryUsers(clock)
    user = users.add({ id: '33333333-3333-4333-8333-333333333333', email: 'admin@example.com' }, 'secret')
    auth = await createAuth({
      users,
      tokenKeys: fixedKeys(KEY),
      clock,
      random: testRandom,
      endedSessions: new MemoryEndedSessions(),
      settings: new MemorySettings(),
    })
    pair = await auth.login('admin@example.com', 'secret', '127.0.0.1')
  })

  const refused = async (token: string, answer: object): Promise<void> => {
    for (const presented of [token, `Bearer ${token}`]) {
      await assert.rejects(auth.authenticate(presented), (error) => {
        assert.deepEqual(errorAnswer(error), answer)
        return true
      })
    }
  }

  test('unless it is a good one, bare or behind Bearer', async () => {
    assert.equal((await auth.authenticate(pair.token)).userId, user.id)
    assert.equal((await auth.authenticate(`Bearer ${pair.token}`)).email, user.email)
    assert.equal((await auth.authenticate(made({}, user))).authority, 'TENANT_ADMIN')
  })

  test('when it claims to need no signature', async () => {
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
      const header = encoded({ alg })
      const payload = encoded(goodClaims(user))
      await refused(`${header}.${payload}.`, NOT_A_TOKEN)
      await refused(`${header}.${payload}.${hmac(`${header}.${payload}`)}`, NOT_A_TOKEN)
    }
  })

  test('when it names another algorithm, signed with whatever key', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const payload = encoded(goodClaims(user))
    const rsa = `${encoded({ alg: 'RS256' })}.${payload}`
    await refused(`${rsa}.${sign('sha256', Buffer.from(rsa), privateKey).toString('base64url')}`, NOT_A_TOKEN)
    const confused = `${encoded({ alg: 'HS256' })}.${payload}`
    const publicText = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    await refused(`${confused}.${hmac(confused, publicText, 'sha256')}`, NOT_A_TOKEN)
    await refused(`${confused}.${hmac(confused, KEY, 'sha256')}`, NOT_A_TOKEN)
  })

  test('when its header tries to choose the key', async () => {
    const key = randomBytes(64)
    const jwk = { kty: 'oct', k: key.toString('base64url') }
    for (const extra of [
      { kid: '../../../../dev/null' },
      { kid: "x' UNION SELECT 'key" },
      { jwk },
      { jku: 'http://127.0.0.1/keys' },
      { x5u: 'http://127.0.0.1/certificate' },
      { crit: ['exp'] },
    ]) {
      await refused(made({ header: { alg: 'HS512', ...extra }, key }, user), NOT_A_TOKEN)
      await refused(made({ header: { alg: 'HS512', ...extra } }, user), NOT_A_TOKEN)
    }
  })

  test('when its signature is missing, cut, of other content or of another key', async () => {
    const [header = '', payload = '', signature = ''] = pair.token.split('.')
    await refused(`${header}.${payload}`, NOT_A_TOKEN)
    await refused(`${header}.${payload}.`, NOT_A_TOKEN)
    await refused(`${header}.${payload}.${signature.slice(0, -4)}`, NO_LONGER)
    await refused(`${header}.${payload}.${signature}AAAA`, NO_LONGER)
    await refused(`${header}.${encoded({ ...goodClaims(user), scopes: ['SYS_ADMIN'] })}.${signature}`, NO_LONGER)
    await refused(made({ key: randomBytes(64) }, user), NO_LONGER)
    await refused(made({ key: new Uint8Array(64) }, user), NO_LONGER)
  })

  test('when its time is over, not yet come, or too long', async () => {
    const claims = [
      { iat: NOW_SECONDS - 10_000, exp: NOW_SECONDS - 1000 },
      { exp: NOW_SECONDS - 6 },
      { nbf: NOW_SECONDS + 60 },
      { iat: NOW_SECONDS + 60 },
      { iat: NOW_SECONDS - 9100, exp: NOW_SECONDS + 10_000_000 },
      { exp: undefined },
      { iat: undefined },
      { exp: 'never' },
      { iss: 'somebody.else' },
    ]
    for (const claim of claims) await refused(made({ claims: claim }, user), NO_LONGER)
  })

  test('when it is a refresh token, or has not exactly the claims of an access token', async () => {
    await refused(pair.refreshToken, NOT_A_TOKEN)
    const claims = [
      { scopes: ['REFRESH_TOKEN'] },
      { scopes: [] },
      { scopes: ['TENANT_ADMIN', 'SYS_ADMIN'] },
      { scopes: 'TENANT_ADMIN' },
      { scopes: ['ROOT'] },
      { userId: undefined },
      { userId: { toString: 'x' } },
      { sessionId: undefined },
      { sub: 7 },
    ]
    for (const claim of claims) {
      const answer = 'sub' in claim ? [NO_LONGER, NOT_A_TOKEN] : [NOT_A_TOKEN]
      await assert.rejects(auth.authenticate(made({ claims: claim }, user)), (error) => {
        assert.ok(answer.some((body) => body.errorCode === errorAnswer(error).errorCode))
        assert.equal(errorAnswer(error).status, 401)
        return true
      })
    }
  })

  test('when what it claims of its user is not so', async () => {
    await refused(made({ claims: { tenantId: OTHER_TENANT } }, user), NO_LONGER)
    await refused(made({ claims: { customerId: OTHER_TENANT } }, user), NO_LONGER)
    await refused(made({ claims: { scopes: ['SYS_ADMIN'] } }, user), NO_LONGER)
    await refused(made({ claims: { sub: 'else@example.com' } }, user), NO_LONGER)
    await refused(made({ claims: { userId: OTHER_TENANT } }, user), NO_LONGER)
  })

  test('when a claim stands in it twice, whoever signed it', async () => {
    const text = JSON.stringify(goodClaims(user))
    const twice = Buffer.from(`${text.slice(0, -1)},"userId":"${user.id}"}`).toString('base64url')
    await refused(made({ payload: twice }, user), NOT_A_TOKEN)
    const header = Buffer.from('{"alg":"none","alg":"HS512"}').toString('base64url')
    const content = `${header}.${encoded(goodClaims(user))}`
    await refused(`${content}.${hmac(content)}`, NOT_A_TOKEN)
  })

  test('when it is no token at all, or one of a mebibyte', async () => {
    for (const text of ['', 'x', 'abc.def.ghi', '..', '{}', 'null', `${pair.token}.x`, `${pair.token} `, 'Bearer ']) {
      await refused(text, NOT_A_TOKEN)
    }
    await refused(made({ claims: { filler: 'x'.repeat(1024 * 1024) } }, user), NOT_A_TOKEN)
    await refused('a'.repeat(1024 * 1024), NOT_A_TOKEN)
  })

  test('when its user is gone', async () => {
    const guest = users.add({ id: '44444444-4444-4444-8444-444444444444', email: 'guest@example.com' }, 'pw')
    const { token, refreshToken } = await auth.login('guest@example.com', 'pw', '127.0.0.1')
    assert.equal((await auth.authenticate(token)).userId, guest.id)
    users.remove(guest.id)
    await refused(token, NO_LONGER)
    await assert.rejects(auth.refresh(refreshToken), { code: 'auth.TOKEN_OUTDATED' })
  })

  test('when its user has another authority now', async () => {
    const id = '55555555-5555-4555-8555-555555555555'
    users.add({ id, email: 'once-admin@example.com' }, 'pw')
    const { token } = await auth.login('once-admin@example.com', 'pw', '127.0.0.1')
    assert.equal((await auth.authenticate(token)).authority, 'TENANT_ADMIN')
    users.add({ id, email: 'once-admin@example.com', authority: 'CUSTOMER_USER' }, 'pw')
    await refused(token, NO_LONGER)
  })

  test("when it is older than its user's password, even by less than a second", async () => {
    users.add({ id: '66666666-6666-4666-8666-666666666666', email: 'changer@example.com' }, 'old')
    const old = await auth.login('changer@example.com', 'old', '127.0.0.1')
    const principal = await auth.authenticate(old.token)
    const fresh = await auth.changePassword(principal, 'old', 'new', '127.0.0.1')
    await refused(old.token, NO_LONGER)
    await assert.rejects(auth.refresh(old.refreshToken), { code: 'auth.TOKEN_OUTDATED' })
    assert.equal((await auth.authenticate(fresh.token)).userId, principal.userId)
    assert.equal(
      (await auth.authenticate((await auth.login('changer@example.com', 'new', '127.0.0.1')).token)).userId,
      principal.userId,
    )
  })
})

test('who has a former signing key signs nothing new by it', async () => {
  const clock = new HandClock()
  const [former, current] = [randomBytes(64), randomBytes(64)]
  const rotated = createTokens(fixedKeys(current, { former: [former], retiredAt: clock.now() }))
  const user = new MemoryUsers(clock).add({ id: '33333333-3333-4333-8333-333333333333', email: 'a@example.org' }, 'x')
  const ids = ['22222222-2222-4222-8222-222222222222', '44444444-4444-4444-8444-444444444444'] as const
  clock.advance(60_000)
  const issuedAfter = (seconds: number) =>
    createTokens(fixedKeys(former)).issue(user, ...ids, Math.floor(TEST_START / 1000) + seconds)
  const inTime = await issuedAfter(5)
  assert.equal((await rotated.verifyAccess(inTime.token, clock.now())).userId, user.id)
  assert.equal((await rotated.verifyRefresh(inTime.refreshToken, clock.now())).userId, user.id)
  for (const seconds of [6, 60]) {
    const late = await issuedAfter(seconds)
    await assert.rejects(rotated.verifyAccess(late.token, clock.now()), { code: 'auth.TOKEN_EXPIRED' })
    await assert.rejects(rotated.verifyRefresh(late.refreshToken, clock.now()), { code: 'auth.TOKEN_EXPIRED' })
  }
})

test('a new signing key logs nobody out, and what it signs the former one does not open', async () => {
  const settings = { issuer: 'thingsboard.io', accessLifetimeSeconds: 60, refreshLifetimeSeconds: 60 }
  const [former, current] = [randomBytes(64), randomBytes(64)]
  const user = new MemoryUsers(new HandClock()).add({ id: OTHER_TENANT, email: 'rotated@example.org' }, 'secret')
  const old = createTokens(fixedKeys(former, settings))
  const rotated = createTokens(fixedKeys(current, { ...settings, former: [former] }))
  const before = await old.issue(user, OTHER_TENANT, OTHER_TENANT, NOW_SECONDS)
  const after = await rotated.issue(user, OTHER_TENANT, OTHER_TENANT, NOW_SECONDS)
  assert.equal((await rotated.verifyAccess(before.token, TEST_START)).userId, user.id)
  assert.equal((await rotated.verifyRefresh(before.refreshToken, TEST_START)).userId, user.id)
  assert.equal((await rotated.verifyAccess(after.token, TEST_START)).userId, user.id)
  await assert.rejects(old.verifyAccess(after.token, TEST_START), { status: 401 })
  await assert.rejects(createTokens(fixedKeys(current, settings)).verifyAccess(before.token, TEST_START), {
    status: 401,
  })
  await assert.rejects(rotated.verifyAccess(before.token, TEST_START + 120_000), { status: 401 })
})
