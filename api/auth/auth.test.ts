import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import type { User } from '../../model/entities.ts'
import { TestFeed } from '../../engine/subscriptions/testkit.ts'
import { createAuth, type Auth } from './auth.ts'
import { DEFAULT_LOGIN_LIMITS } from './login-limiter.ts'
import { configuredKey } from './signing-key.ts'
import {
  fixedKeys,
  HandClock,
  MemoryEndedSessions,
  MemorySettings,
  MemoryUsers,
  TEST_START,
  testRandom,
} from './testkit.ts'

const KEY = randomBytes(64)
const HERE = '192.0.2.1'
const ELSEWHERE = '198.51.100.9'

describe('logins', () => {
  let clock: HandClock
  let users: MemoryUsers
  let settings: MemorySettings
  let endedSessions: MemoryEndedSessions
  let user: User
  let auth: Auth

  const start = (): Promise<Auth> =>
    createAuth({ users, tokenKeys: fixedKeys(KEY), clock, random: testRandom, endedSessions, settings })

  beforeEach(async () => {
    clock = new HandClock()
    users = new MemoryUsers(clock)
    settings = new MemorySettings()
    endedSessions = new MemoryEndedSessions()
    user = users.add({ id: '33333333-3333-4333-8333-333333333333', email: 'a@example.com', firstName: 'Ada' }, 'secret')
    auth = await start()
  })

  test('give tokens with the claims that existing clients decode', async () => {
    const { token, refreshToken } = await auth.login('a@example.com', 'secret', HERE)
    const seconds = Math.floor(TEST_START / 1000)
    assert.deepEqual(decodeProtectedHeader(token), { alg: 'HS512' })
    const { sessionId, ...claims } = decodeJwt(token)
    assert.deepEqual(claims, {
      sub: 'a@example.com',
      userId: user.id,
      scopes: ['TENANT_ADMIN'],
      firstName: 'Ada',
      enabled: true,
      isPublic: false,
      tenantId: user.tenantId,
      customerId: '13814000-1dd2-11b2-8080-808080808080',
      iss: 'thingsboard.io',
      iat: seconds,
      exp: seconds + 9000,
    })
    const refresh = decodeJwt(refreshToken)
    assert.equal(refresh['sessionId'], sessionId)
    assert.deepEqual(refresh['scopes'], ['REFRESH_TOKEN'])
    assert.equal(refresh.exp, seconds + 604_800)
  })

  test('name the issuer that is set, and take no token of another', async () => {
    const other = await createAuth({
      users,
      tokenKeys: fixedKeys(KEY, { issuer: 'a.example' }),
      clock,
      random: testRandom,
      endedSessions,
      settings,
    })
    const { token } = await other.login('a@example.com', 'secret', HERE)
    assert.equal(decodeJwt(token).iss, 'a.example')
    assert.equal((await other.authenticate(token)).userId, user.id)
    await assert.rejects(auth.authenticate(token), { code: 'auth.TOKEN_EXPIRED' })
  })

  test('are the same refusal for a wrong password and an unknown name', async () => {
    await assert.rejects(auth.login('a@example.com', 'wrong', HERE), { code: 'auth.BAD_CREDENTIALS' })
    await assert.rejects(auth.login('nobody@example.com', 'wrong', HERE), { code: 'auth.BAD_CREDENTIALS' })
  })

  test('are locked for a while after ten failures, known name or not, and open again later', async (context) => {
    context.mock.timers.enable({ apis: ['Date', 'setTimeout'] })
    for (const name of ['a@example.com', 'nobody@example.com']) {
      for (let failure = 0; failure < 10; failure++) {
        await assert.rejects(auth.login(name, 'wrong', HERE), { code: 'auth.BAD_CREDENTIALS' })
      }
      await assert.rejects(auth.login(name, 'secret', HERE), { code: 'auth.LOCKED' })
    }
    const checks = users.checks
    await assert.rejects(auth.login('A@example.com', 'secret', HERE), { code: 'auth.LOCKED' })
    assert.equal(users.checks, checks, 'a locked name costs no password check')
    context.mock.timers.tick(30_001)
    assert.ok(await auth.login('a@example.com', 'secret', HERE))
  })

  test('guessed all at once are locked as well', async () => {
    const wide = { ...DEFAULT_LOGIN_LIMITS, checksPerAddress: 60 }
    auth = await createAuth({
      users,
      tokenKeys: fixedKeys(KEY),
      clock,
      random: testRandom,
      endedSessions,
      settings,
      loginLimits: wide,
    })
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, () => auth.login('a@example.com', 'wrong', HERE)),
    )
    assert.equal(users.checks, 10)
    assert.ok(results.every(({ status }) => status === 'rejected'))
  })

  test('issue-8 2.9: ten wrong guesses lock a user for the guesser, and for nobody else', async () => {
    for (let guess = 0; guess < 10; guess++) {
      await assert.rejects(auth.login('a@example.com', 'wrong', ELSEWHERE), { code: 'auth.BAD_CREDENTIALS' })
    }
    await assert.rejects(auth.login('a@example.com', 'secret', ELSEWHERE), { code: 'auth.LOCKED', status: 401 })
    assert.ok(await auth.login('a@example.com', 'secret', HERE))
  })

  test('issue-8 2.9: 66 requests of one address leave places for another', async () => {
    const flood = Array.from({ length: 66 }, (_, index) => auth.login(`user${index}@example.com`, 'wrong', ELSEWHERE))
    const results = Promise.allSettled(flood)
    assert.ok(await auth.login('a@example.com', 'secret', HERE))
    const refused = (await results).filter(
      (result) => result.status === 'rejected' && (result.reason as { code: string }).code === 'api.TOO_BUSY',
    )
    assert.equal(refused.length, 66 - 8)
  })

  test('wait in a bounded queue, and are told so beyond it', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 80 }, (_, index) => auth.login(`user${index}@example.com`, 'wrong', `192.0.2.${index}`)),
    )
    const busy = results.filter(
      (result) => result.status === 'rejected' && (result.reason as { code: string }).code === 'api.TOO_BUSY',
    )
    assert.equal(busy.length, 80 - 2 - 64)
  })

  test('are renewed by the refresh token until it expires, never by the access token', async () => {
    const { token, refreshToken } = await auth.login('a@example.com', 'secret', HERE)
    await assert.rejects(auth.refresh(token), { code: 'auth.BAD_CREDENTIALS' })
    clock.advance(9_010_000)
    await assert.rejects(auth.authenticate(token), { code: 'auth.TOKEN_EXPIRED', restCode: 11 })
    assert.equal((await auth.authenticate((await auth.refresh(refreshToken)).token)).userId, user.id)
    clock.advance(604_800_000)
    await assert.rejects(auth.refresh(refreshToken), { code: 'auth.TOKEN_EXPIRED' })
  })

  test('end in every process, also where two log out at once, and where the news was lost', async () => {
    const feed = new TestFeed(assert.ifError)
    const open = (): Promise<Auth> =>
      createAuth({ users, tokenKeys: fixedKeys(KEY), clock, random: testRandom, endedSessions, settings, feed })
    const [one, two] = await Promise.all([open(), open()])
    const ended = await Promise.all([1, 2, 3].map(() => one.login('a@example.com', 'secret', HERE)))
    const [first, second, third] = ended.map(({ token }) => token)
    assert.ok(first !== undefined && second !== undefined && third !== undefined)
    await Promise.all([one.logout(first), two.logout(second)])
    for (const process of [one, two, await open()]) {
      await assert.rejects(process.authenticate(first), { code: 'auth.TOKEN_EXPIRED' })
      await assert.rejects(process.authenticate(second), { code: 'auth.TOKEN_EXPIRED' })
      assert.equal((await process.authenticate(third)).userId, user.id)
    }
    await auth.logout(third) // Of a process that the others do not hear.
    assert.equal((await two.authenticate(third)).userId, user.id)
    feed.gap()
    await new Promise((resolve) => setImmediate(resolve))
    await assert.rejects(two.authenticate(third), { code: 'auth.TOKEN_EXPIRED' })
    one.close()
    two.close()
  })

  test('issue-8 2.7: end though the answer to the logout was lost, here and in every process', async () => {
    const feed = new TestFeed(assert.ifError)
    const open = (): Promise<Auth> =>
      createAuth({ users, tokenKeys: fixedKeys(KEY), clock, random: testRandom, endedSessions, settings, feed })
    const processes = await Promise.all([open(), open()])
    const { token } = await auth.login('a@example.com', 'secret', HERE)
    for (const each of processes) await each.authenticate(token)
    endedSessions.losesAnswers = true
    await assert.rejects(processes[0].logout(token))
    for (const each of processes) await assert.rejects(each.authenticate(token), { code: 'auth.TOKEN_EXPIRED' })
  })

  test('are looked up once, until something ends', async () => {
    const { token } = await auth.login('a@example.com', 'secret', HERE)
    await auth.authenticate(token)
    const { reads } = endedSessions
    for (let count = 0; count < 10; count++) await auth.authenticate(token)
    assert.equal(endedSessions.reads, reads)
  })

  test('that a version before had ended stay ended', async () => {
    const { token } = await auth.login('a@example.com', 'secret', HERE)
    const sessionId = String(decodeJwt(token)['sessionId'])
    await settings.put('jwt.endedSessions', [[sessionId, TEST_START + 1e9]])
    await assert.rejects((await start()).authenticate(token), { code: 'auth.TOKEN_EXPIRED' })
    assert.deepEqual(await settings.find('jwt.endedSessions'), [])
  })

  test('end by a logout, for this session only, and stay ended after a restart', async () => {
    const ended = await auth.login('a@example.com', 'secret', HERE)
    const other = await auth.login('a@example.com', 'secret', HERE)
    await auth.logout(`Bearer ${ended.token}`)
    for (const present of [auth, await start()]) {
      await assert.rejects(present.authenticate(ended.token), { code: 'auth.TOKEN_EXPIRED' })
      await assert.rejects(present.refresh(ended.refreshToken), { code: 'auth.TOKEN_OUTDATED' })
      assert.equal((await present.authenticate(other.token)).userId, user.id)
    }
  })

  test('count wrong current passwords of a password change as guesses', async () => {
    const principal = await auth.authenticate((await auth.login('a@example.com', 'secret', HERE)).token)
    for (let failure = 0; failure < 10; failure++) {
      await assert.rejects(auth.changePassword(principal, 'wrong', 'next', HERE), { status: 400 })
    }
    await assert.rejects(auth.changePassword(principal, 'secret', 'next', HERE), { code: 'auth.LOCKED' })
  })
})

test('a signing key is refused when it is short or no Base64, without being shown', () => {
  const weak = Buffer.from('thingsboardDefaultSigningKey').toString('base64')
  assert.throws(
    () => configuredKey(weak),
    (error: Error) => {
      assert.match(error.message, /JWT_TOKEN_SIGNING_KEY has 28 bytes/)
      assert.ok(!error.message.includes(weak))
      return true
    },
  )
  assert.throws(() => configuredKey('not base64!'), { code: 'signing-key.NOT_BASE64' })
  assert.equal(configuredKey(''), undefined)
})
