import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  SessionEnded,
  Unreachable,
  call,
  forgetTokens,
  freshToken,
  keepTokens,
  onSessionEnd,
  storedTokens,
} from './session.js'

/** A server at which `new` is good, and a browser that holds `old`. */
function world(context: TestContext, refresh: () => Response): string[] {
  const stored = new Map<string, string>()
  const calls: string[] = []
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  }
  Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true })
  context.mock.method(globalThis, 'fetch', async (path: string, { headers }: { headers: Record<string, string> }) => {
    calls.push(path)
    if (path === '/api/auth/token') return refresh()
    if (path === '/api/auth/changePassword') return Response.json({ message: 'Locked', errorCode: 10 }, { status: 401 })
    const isGood = headers['X-Authorization'] === 'Bearer new'
    return isGood
      ? Response.json({ path })
      : Response.json({ message: 'Token has expired', errorCode: 11 }, { status: 401 })
  })
  keepTokens({ token: 'old', refreshToken: 'r' })
  return calls
}

test('calls that find the token too old at once wait for one renewal', async (context) => {
  const calls = world(context, () => Response.json({ token: 'new', refreshToken: 'r2' }))
  const answers = await Promise.all(['/a', '/b', '/c'].map((path) => call('GET', path)))
  assert.deepEqual(answers, [{ path: '/a' }, { path: '/b' }, { path: '/c' }])
  assert.equal(calls.filter((path) => path === '/api/auth/token').length, 1)
  assert.deepEqual(storedTokens(), { token: 'new', refreshToken: 'r2' })
  assert.deepEqual(await call('GET', '/d'), { path: '/d' })
})

test('of two tabs that find the token too old at once, one renews it for both', async (context) => {
  let renewals = 0
  const calls = world(context, () => {
    renewals++
    return Response.json({ token: 'new', refreshToken: `r${renewals}` })
  })
  let last = Promise.resolve()
  const locks = {
    request: (_: string, work: () => Promise<unknown>) => {
      const done = last.then(work)
      last = done.then(() => undefined)
      return done
    },
  }
  const before = Object.getOwnPropertyDescriptor(navigator, 'locks')
  Object.defineProperty(navigator, 'locks', { value: locks, configurable: true })
  context.after(() => Object.defineProperty(navigator, 'locks', before ?? { value: undefined, configurable: true }))
  const other = (await import(new URL('./session.js?other-tab', import.meta.url).href)) as { call: typeof call }
  const answers = await Promise.all([call('GET', '/a'), other.call('GET', '/b')])
  assert.deepEqual(answers, [{ path: '/a' }, { path: '/b' }])
  assert.equal(calls.filter((path) => path === '/api/auth/token').length, 1)
  assert.deepEqual(storedTokens(), { token: 'new', refreshToken: 'r1' })
})

const OUTDATED = () => Response.json({ message: 'Token is outdated', errorCode: 10 }, { status: 401 })

test('what is large has the time of a slow line, and all else the time of an answer', async (context) => {
  world(context, OUTDATED)
  keepTokens({ token: 'new', refreshToken: 'r' })
  const timeouts = context.mock.method(AbortSignal, 'timeout', () => new AbortController().signal)
  await call('POST', '/a', { file: 'name' })
  await call('POST', '/b', { file: 'x'.repeat(200_000) })
  assert.deepEqual(
    timeouts.mock.calls.map(({ arguments: [ms] }) => ms),
    [30_000, 600_000],
  )
})

test('a password that is refused as a token would be does not end the session', async (context) => {
  world(context, OUTDATED)
  keepTokens({ token: 'new', refreshToken: 'r' })
  await assert.rejects(call('POST', '/api/auth/changePassword', {}), { message: 'Locked' })
  assert.equal(storedTokens()?.token, 'new')
})

test('a token that was withdrawn opens no connection, however long it would have lived', async (context) => {
  world(context, OUTDATED)
  const claims = Buffer.from(JSON.stringify({ exp: 1e10 })).toString('base64url')
  keepTokens({ token: `e30.${claims}.AAAA`, refreshToken: 'r' })
  let ends = 0
  onSessionEnd(() => ends++)
  await assert.rejects(freshToken(), SessionEnded)
  assert.equal(ends, 1)
  keepTokens({ token: 'new', refreshToken: 'r' })
  assert.equal(await freshToken(), 'new')
})

test('what another tab kept while this one was refused a renewal is used, not forgotten', async (context) => {
  world(context, () => {
    keepTokens({ token: 'new', refreshToken: 'r2' })
    return OUTDATED()
  })
  assert.deepEqual(await call('GET', '/a'), { path: '/a' })
  assert.equal(storedTokens()?.token, 'new')
})

test('a renewal under way while another tab logs out logs nobody in again', async (context) => {
  const calls = world(context, () => {
    forgetTokens()
    return Response.json({ token: 'new', refreshToken: 'r2' })
  })
  await assert.rejects(call('GET', '/a'), SessionEnded)
  assert.equal(storedTokens(), undefined)
  assert.equal(calls.at(-1), '/api/auth/logout')
})

test('a refused renewal ends the session; a server that is away does not', async (context) => {
  world(context, OUTDATED)
  await assert.rejects(call('GET', '/a'), SessionEnded)
  assert.equal(storedTokens(), undefined)
  world(context, () => Response.error())
  await assert.rejects(call('GET', '/a'))
  context.mock.method(globalThis, 'fetch', () => Promise.reject(new TypeError('fetch failed')))
  await assert.rejects(call('GET', '/a'), Unreachable)
  assert.deepEqual(storedTokens(), { token: 'old', refreshToken: 'r' })
})
