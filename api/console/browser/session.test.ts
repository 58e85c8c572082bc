import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { SessionEnded, Unreachable, call, keepTokens, storedTokens } from './session.js'

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

test('a refused renewal ends the session; a server that is away does not', async (context) => {
  world(context, () => Response.json({ message: 'Token is outdated', errorCode: 10 }, { status: 401 }))
  await assert.rejects(call('GET', '/a'), SessionEnded)
  assert.equal(storedTokens(), undefined)
  world(context, () => Response.error())
  await assert.rejects(call('GET', '/a'))
  context.mock.method(globalThis, 'fetch', () => Promise.reject(new TypeError('fetch failed')))
  await assert.rejects(call('GET', '/a'), Unreachable)
  assert.deepEqual(storedTokens(), { token: 'old', refreshToken: 'r' })
})
