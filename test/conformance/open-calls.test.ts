/**
 * Calls for everybody, log-in and all that comes before it: each answers as its clients need it, or is named with the test that calls it. With
 * `endpoints.test.ts` every described call is made.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { isDeclared } from '../../api/rest/declared/table.ts'
import { users } from '../../services/entities/user.ts'
import { publicCustomer } from '../../services/entities/public-customer.ts'
import { openRestWorld } from '../security/rest-world.ts'
import { areEndpointsThere, placeOf, Reference } from './reference-endpoints.ts'

const skip = areEndpointsThere ? false : "the reference's endpoints are not beside this checkout"

/** What they need is not in this world: the test that has it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'GET /api/device-connectivity/*/certificate/download': 'test/conformance/mqtts.test.ts',
  'GET /api/images/public/*': 'test/conformance/golden-api.test.ts, image',
  'POST /api/auth/2fa/login': 'test/security/two-factor.test.ts',
  'GET /api/auth/2fa/providers': 'test/security/two-factor.test.ts',
  'POST /api/auth/2fa/verification/check': 'test/security/two-factor.test.ts',
  'POST /api/auth/2fa/verification/send': 'test/security/two-factor.test.ts',
}

test('each call for everybody answers, or is called by another test', { skip, timeout: 120_000 }, async (context) => {
  // Without a mail server links are reported, behind the answer.
  const reset = Promise.withResolvers<string>()
  const world = await openRestWorld({
    report: (_text, { link }) => {
      const token = typeof link === 'string' ? new URL(link).searchParams.get('resetToken') : null
      if (token !== null) reset.resolve(token)
    },
  })
  context.after(() => world.close())
  const { services, tenant } = world.platform
  const called = new Set(Object.keys(ELSEWHERE))

  async function call(method: string, path: string, status: number, body?: object) {
    called.add(`${method} ${path.replace(/\?.*/, '')}`)
    const response = await fetch(world.url + path, {
      method,
      redirect: 'manual',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    assert.equal(response.status, status, `${method} ${path}: ${text}`)
    return { text, location: response.headers.get('location') ?? '' }
  }
  const pairOf = ({ text }: { readonly text: string }) => {
    const pair = JSON.parse(text) as { readonly token: string; readonly refreshToken: string }
    assert.deepEqual([typeof pair.token, typeof pair.refreshToken], ['string', 'string'], text)
    return pair
  }
  const members = ({ text }: { readonly text: string }) => Object.keys(JSON.parse(text) as object)

  const email = 'undeclared@example.org'
  const { id } = await services.declared.of(users).saveByUser(tenant, { email, authority: 'TENANT_ADMIN' })
  const { token: activateToken } = await services.people.accounts.activation(id)
  const page = await call('GET', `/api/noauth/activate?activateToken=${activateToken}`, 303)
  assert.match(page.location, /createPassword\?activateToken=/)
  const activation = { activateToken, password: 'Undeclared1!' }
  pairOf(await call('POST', '/api/noauth/activate?sendActivationMail=false', 200, activation))
  assert.ok(members(await call('GET', '/api/noauth/userPasswordPolicy', 200)).includes('minimumLength'))
  assert.equal((await call('POST', '/api/noauth/oauth2Clients', 200)).text, '[]')

  await call('POST', '/api/noauth/resetPasswordByEmail', 200, { email })
  const resetToken = await reset.promise
  const resetPage = await call('GET', `/api/noauth/resetPassword?resetToken=${resetToken}`, 303)
  assert.match(resetPage.location, /resetPassword\?resetToken=/)
  await call('POST', '/api/noauth/resetPassword', 200, { resetToken, password: 'Undeclared2!' })

  const pair = pairOf(await call('POST', '/api/auth/login', 200, { username: email, password: 'Undeclared2!' }))
  const { token } = pairOf(await call('POST', '/api/auth/token', 200, { refreshToken: pair.refreshToken }))
  const visited = await publicCustomer(services.declared, tenant)
  pairOf(await call('POST', '/api/auth/login/public', 200, { publicId: visited.id }))
  const own = await fetch(`${world.url}/api/auth/user`, { headers: { 'x-authorization': `Bearer ${token}` } })
  assert.deepEqual(new Reference().missing('User', await own.json()), [])
  await call('GET', '/health', 200)
  await call('GET', '/actuator/health', 200)
  assert.ok(members(await call('GET', '/api/noauth/mobile', 200)).includes('storeInfo'))

  const tokenUri = await openMailProvider(context)
  await services.admin.settings.change('mail', () => ({
    ...{ enableOauth2: true, clientId: 'client', clientSecret: 'secret', scope: ['mail'] },
    ...{ authUri: tokenUri, tokenUri, redirectUri: `${world.url}/api/admin/mail/oauth2/code` },
  }))
  const asked = new URL(await services.admin.mailOAuth2.authorizationUrl())
  const back = new URLSearchParams({ code: 'given', state: asked.searchParams.get('state') ?? '' })
  const settingsPage = await call('GET', `/api/admin/mail/oauth2/code?${back.toString()}`, 303)
  assert.equal(settingsPage.location, '/settings/outgoing-mail')
  assert.equal((await services.admin.settings.find('mail'))?.value['refreshToken'], 'a token')

  const open = world.routes.filter((route) => route.authorities === 'public').filter(isDeclared)
  assert.deepEqual(open.map(({ method, pattern }) => placeOf(method, pattern)).toSorted(), [...called].toSorted())
})

/** Where a provider gives a token for any code. */
async function openMailProvider(context: TestContext): Promise<string> {
  const server = createServer((_request, response) => void response.end('{"refresh_token":"a token"}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}
