import assert from 'node:assert/strict'
import { beforeEach, describe, test, type TestContext } from 'node:test'
import { FailureCounter } from './failure-counter.ts'
import { DEFAULT_LOGIN_LIMITS, LoginLimiter } from './login-limiter.ts'

const LIMITS = { ...DEFAULT_LOGIN_LIMITS, failuresAllowed: 3, failuresPerAddress: 5, failuresPerUser: 5 }

describe('login limits', () => {
  let limiter: LoginLimiter
  beforeEach((context) => {
    ;(context as TestContext).mock.timers.enable({ apis: ['Date', 'setTimeout'] })
    limiter = new LoginLimiter(LIMITS)
  })

  const guess = (name: string, address: string) => limiter.attempt(name, address, async () => undefined)
  const enter = (name: string, address: string) => limiter.attempt(name, address, async () => name)

  test('of an address hold for every user but those who logged in from it before', async () => {
    await enter('known', '192.0.2.1')
    for (let user = 0; user < 5; user++) await guess(`user${user}`, '192.0.2.1')
    await assert.rejects(enter('other', '192.0.2.1'), { code: 'auth.TOO_MANY_FAILURES', status: 429 })
    assert.equal(await enter('known', '192.0.2.1'), 'known')
    assert.equal(await enter('other', '192.0.2.2'), 'other')
  })

  test('of a user hold for guesses from many addresses, not for where the user was before', async () => {
    await enter('a', '192.0.2.1')
    for (let address = 10; address < 15; address++) await guess('A', `192.0.2.${address}`)
    await assert.rejects(enter('a', '192.0.2.99'), { code: 'auth.LOCKED' })
    assert.equal(await enter('a', '192.0.2.1'), 'a')
  })

  test('issue-8 2.9: an old password that is tried for ever locks out neither the office nor the user elsewhere', async (context) => {
    await enter('a', '192.0.2.1')
    for (let round = 0; round < 10; round++) {
      for (let count = 0; count < LIMITS.failuresAllowed; count++) await guess('a', '192.0.2.1')
      await assert.rejects(enter('a', '192.0.2.1'), { code: 'auth.LOCKED' })
      context.mock.timers.tick(LIMITS.lockSeconds * 1000 + 1)
    }
    assert.equal(await enter('colleague', '192.0.2.1'), 'colleague')
    assert.equal(await enter('a', '192.0.2.2'), 'a')
  })

  test('end with their window', async (context) => {
    for (let user = 0; user < 5; user++) await guess(`user${user}`, '192.0.2.1')
    await assert.rejects(enter('other', '192.0.2.1'))
    context.mock.timers.tick(LIMITS.windowSeconds * 1000 + 1)
    assert.equal(await enter('other', '192.0.2.1'), 'other')
  })

  test('take all addresses of an IPv6 network for one', async () => {
    for (const address of ['2001:db8:0:1::1', '2001:db8::1:5:6:7:8', '2001:db8:0:1:ffff::']) await guess('a', address)
    await assert.rejects(enter('a', '2001:db8:0:1::99'), { code: 'auth.LOCKED' })
    assert.equal(await enter('a', '2001:db8:0:2::1'), 'a')
  })
})

test('failures are counted in bounded memory: the key touched longest ago is forgotten', async () => {
  const counter = new FailureCounter({ failures: 1, windowSeconds: 900, lockSeconds: 900, maxKeys: 100 })
  for (let key = 0; key < 1000; key++) await counter.failed(`key${key}`)
  assert.equal(counter.size, 100)
  assert.deepEqual([await counter.isLocked('key0'), await counter.isLocked('key999')], [false, true])
})
