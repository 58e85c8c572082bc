/**
 * Attacks over the REST API as clients send them: each gets its code, none a 5xx, and whoever behaves is served as before.
 * What tokens can be forged into is in `tokens.test.ts`; rubbish on the devices' side in `rubbish.test.ts`.
 */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { otaPackages } from '../../services/entities/ota-package.ts'
import { users } from '../../services/entities/user.ts'
import { DEMO_LOGINS } from '../../services/seed.ts'
import { openRestWorld, type RestWorld } from './rest-world.ts'

interface Sending {
  readonly method?: string
  readonly token?: string
  readonly body?: string
  /** The address of this end. */
  readonly from?: string
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

let world: RestWorld

before(async () => {
  world = await openRestWorld()
})
after(() => world.close())

/** The path goes as it is: `fetch` would tidy it up. */
function send(path: string, { method = 'GET', token, body, from }: Sending = {}): Promise<Answer> {
  const { hostname, port } = new URL(world.url)
  return new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { 'x-authorization': `Bearer ${token}` }
    const options = { hostname, port, path, method, headers, ...(from === undefined ? {} : { localAddress: from }) }
    const sent = request(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const asTenant = (path: string, sending: Sending = {}) => send(path, { token: world.tenant, ...sending })

async function assertUnharmed(): Promise<void> {
  const { status, text } = await asTenant('/api/tenant/devices?pageSize=100&page=0')
  assert.equal(status, 200)
  assert.match(text, /secret device/)
}

describe('tokens over the wire', () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

  test('that are forged are refused with 401', async () => {
    const [, claims = ''] = world.tenant.split('.')
    const told = JSON.parse(Buffer.from(claims, 'base64url').toString()) as object
    const foreign = (head: object, key: string, digest: string) => {
      const signed = `${part(head)}.${part(told)}`
      return `${signed}.${createHmac(digest, key).update(signed).digest('base64url')}`
    }
    const forged = [
      `${part({ alg: 'none' })}.${claims}.`,
      `${part({ alg: 'HS512' })}.${claims}.`,
      foreign({ alg: 'HS512' }, 'a key of our own that is long enough to sign with, sixty-four bytes', 'sha512'),
      foreign({ alg: 'HS256' }, '', 'sha256'),
      `${world.tenant.slice(0, -4)}AAAA`,
    ]
    for (const token of forged) {
      const { status } = await send('/api/auth/user', { token })
      assert.equal(status, 401, token)
    }
  })

  test('a refresh token is no access token, and none the other way round', async () => {
    const { refreshToken } = await login('replay@example.org')
    assert.equal((await send('/api/auth/user', { token: refreshToken })).status, 401)
    assert.equal((await refresh(world.tenant)).status, 401)
  })

  test('a refresh token that is replayed after its session was ended, or its password changed, is refused', async () => {
    const ended = await login('ended@example.org')
    assert.equal((await refresh(ended.refreshToken)).status, 200)
    assert.equal((await send('/api/auth/logout', { method: 'POST', token: ended.token, body: '{}' })).status, 200)
    assert.equal((await refresh(ended.refreshToken)).status, 401)
    const changed = await login('changed@example.org')
    const body = JSON.stringify({ currentPassword: 'Secret1!', newPassword: 'Secret2!' })
    assert.equal((await send('/api/auth/changePassword', { method: 'POST', token: changed.token, body })).status, 200)
    assert.equal((await refresh(changed.refreshToken)).status, 401)
  })

  async function login(email: string): Promise<{ readonly token: string; readonly refreshToken: string }> {
    const { services, tenant } = world.platform
    const { id } = await services.declared.of(users).saveByUser(tenant, { email, authority: 'TENANT_ADMIN' })
    const { token } = await services.people.accounts.activation(id)
    const body = JSON.stringify({ activateToken: token, password: 'Secret1!' })
    const { text } = await send('/api/noauth/activate', { method: 'POST', body })
    return JSON.parse(text) as { token: string; refreshToken: string }
  }

  const refresh = (refreshToken: string) =>
    send('/api/auth/token', { method: 'POST', body: JSON.stringify({ refreshToken }) })
})

describe('bodies', () => {
  const PATHS = ['/api/device', '/api/asset', '/api/entitiesQuery/find', '/api/relation', '/api/alarm']

  test('that are nested without end, or are no JSON, get 400', async () => {
    const deep = 30_000
    for (const path of PATHS) {
      for (const body of [
        '['.repeat(deep),
        `${'['.repeat(deep)}${']'.repeat(deep)}`,
        `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
        `{"name":"x","additionalInfo":${'['.repeat(deep)}${']'.repeat(deep)}}`,
        '{"name":',
        '{"name":"x"}}',
        '\u0000',
      ]) {
        const { status, text } = await asTenant(path, { method: 'POST', body })
        assert.equal(status, 400, `${path} ${body.slice(0, 40)}: ${text.slice(0, 200)}`)
      }
    }
    await assertUnharmed()
  })

  test('beyond the bound get 413, before anybody reads them', async () => {
    const { status } = await asTenant('/api/device', { method: 'POST', body: `{"name":"${'x'.repeat(100_000)}"}` })
    assert.equal(status, 413)
    await assertUnharmed()
  })

  test('whose members are those of every object change nobody else’s', async () => {
    const body = '{"name":"polluted","__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}'
    const { status } = await asTenant('/api/device', { method: 'POST', body })
    assert.equal(status, 200)
    assert.equal(Object.hasOwn(Object.prototype, 'isAdmin'), false)
  })
})

describe('text that is meant for another reader', () => {
  const SQL = [
    "' OR '1'='1",
    "'; drop table device; --",
    '" or ""="',
    "%' union select password_hash from user_credentials --",
    '\\',
    '%',
    '_',
    '\u0000',
  ]

  test('SQL in searches, names and sorting is text', async () => {
    for (const text of SQL) {
      const search = encodeURIComponent(text)
      const found = await send(`/api/tenant/devices?pageSize=100&page=0&textSearch=${search}`, {
        token: world.otherTenant,
      })
      assert.equal(found.status, 200, text)
      assert.doesNotMatch(found.text, /secret|password/, text)
      const named = await asTenant(`/api/tenant/devices?deviceName=${search}`)
      assert.ok([400, 404].includes(named.status), `${text}: ${named.status}`)
      const sorted = await asTenant(`/api/tenant/devices?pageSize=1&page=0&sortProperty=name${search}&sortOrder=ASC`)
      assert.equal(sorted.status, 400, text)
    }
    await assertUnharmed()
  })

  test('SQL in entity queries is text', async () => {
    for (const text of SQL) {
      const query = {
        entityFilter: { type: 'entityName', entityType: 'DEVICE', entityNameFilter: text },
        pageLink: { page: 0, pageSize: 10, textSearch: text },
        keyFilters: [
          {
            key: { type: 'ATTRIBUTE', key: text },
            valueType: 'STRING',
            predicate: { type: 'STRING', operation: 'EQUAL', value: { defaultValue: text } },
          },
        ],
      }
      const body = JSON.stringify(query)
      const { status, text: answer } = await send('/api/entitiesQuery/find', {
        ...{ method: 'POST', token: world.otherTenant, body },
      })
      assert.ok(status === 200 || status === 400, `${text}: ${status} ${answer}`)
      assert.doesNotMatch(answer, /secret|password/)
    }
    await assertUnharmed()
  })

  test('line ends in a file name make no header of their own', async () => {
    const { services, tenant } = world.platform
    const draft = { type: 'FIRMWARE', title: 'split', packageVersion: '1' } as const
    const made = await services.declared.of(otaPackages).saveByUser(tenant, draft)
    const fileName = 'a.bin"\r\nset-cookie: stolen=1\r\n\r\n<script>'
    const bytes = Buffer.from('x')
    await services.content.otaPackages.upload(tenant, made.id, 'MD5', undefined, {
      ...{ fileName, contentType: 'text/plain', bytes },
    })
    const { status, headers, text } = await asTenant(`/api/otaPackage/${made.id}/download`)
    assert.deepEqual([status, text, headers['set-cookie']], [200, 'x', undefined])
  })

  test('line ends in paths and parameters reach no header', async () => {
    for (const path of [
      '/api/device/%0d%0aset-cookie:%20a=b',
      '/api/tenant/devices?deviceName=a%0d%0aset-cookie:%20a',
    ]) {
      const { status, headers } = await asTenant(path)
      assert.ok([400, 404].includes(status), `${path}: ${status}`)
      assert.equal(headers['set-cookie'], undefined)
    }
  })
})

describe('paths', () => {
  test('that take a way around are nobody’s, or ask for a login like the straight one', async () => {
    const id = world.ids['deviceId'] ?? ''
    for (const path of [
      `/api/noauth/../device/${id}`,
      `/api/noauth/%2e%2e/device/${id}`,
      `/api/noauth/..%2fdevice/${id}`,
      `/api/noauth/..;/device/${id}`,
      `//api/device/${id}`,
      `/api//device/${id}`,
      `/api/device/${id};a=b`,
      `/api/device/${id}%00`,
      `/api/device/${id}/`,
      `/API/DEVICE/${id}`,
      `/api/device/${id}%2f..%2f${id}`,
      '/swagger-ui/../../../../etc/passwd',
      '/swagger-ui/..%2f..%2f..%2fetc%2fpasswd',
      '/swagger-ui/%2e%2e/%2e%2e/package.json',
      '/%c0%ae%c0%ae/',
      '/api/device/%ff%fe',
    ]) {
      for (const token of [undefined, world.otherTenant]) {
        const { status, text } = await send(path, token === undefined ? {} : { token })
        assert.ok([400, 401, 403, 404].includes(status), `${path}: ${status}`)
        assert.doesNotMatch(text, /secret|root:|"dependencies"/)
      }
    }
    await assertUnharmed()
  })
})

describe('a flood of logins', { timeout: 600_000 }, () => {
  test('is turned away by address, and harms neither those who are in nor those elsewhere', async () => {
    const { email, password } = DEMO_LOGINS.tenantAdministrator
    const login = (username: string, given: string, from: string) =>
      send('/api/auth/login', { method: 'POST', body: JSON.stringify({ username, password: given }), from })
    // What the same takes where nobody else calls.
    const aloneAt = performance.now()
    await assertUnharmed()
    const alone = performance.now() - aloneAt
    const flood = Array.from({ length: 300 }, (_, place) => login(`nobody${place % 150}@example.org`, 'x', '127.0.0.2'))
    const began = performance.now()
    await assertUnharmed()
    const waited = performance.now() - began
    const codes = new Set((await Promise.all(flood)).map(({ status }) => status))
    assert.deepEqual(
      [...codes].filter((code) => ![401, 429, 503].includes(code)),
      [],
    )
    assert.ok(codes.has(429), 'nobody was turned away')
    assert.ok(
      waited < Math.max(5000, 20 * alone),
      `a good call waited ${Math.round(waited)} ms, alone ${Math.round(alone)} ms`,
    )
    assert.equal((await login(email, password, '127.0.0.3')).status, 200)
  })
})
