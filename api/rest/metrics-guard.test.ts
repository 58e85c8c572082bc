import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Authority } from '../../model/entities.ts'
import type { Principal } from '../../model/principal.ts'
import { AuthErrors } from '../auth/errors.ts'
import { MetricsGuard } from './metrics-guard.ts'

const principal = (authority: Authority): Principal => ({
  userId: '0b1c2d3e-0000-4000-8000-000000000003',
  email: 'a@example.com',
  authority,
  tenantId: null,
  customerId: null,
  firstName: null,
  lastName: null,
})

const auth = {
  authenticate: async (token: string) => {
    if (token === 'Bearer sysadmin') return principal('SYS_ADMIN')
    if (token === 'Bearer tenant') return principal('TENANT_ADMIN')
    throw AuthErrors.BAD_CREDENTIALS()
  },
}

describe('issue-8 2.14: /metrics', () => {
  const guard = new MetricsGuard(auth, { withoutToken: 'loopback', token: 'scraper' })

  test('is for this machine alone, and without ids, where no token comes', async () => {
    assert.equal(await guard.audienceOf({ credentials: '', isLocal: true }), 'public')
    await assert.rejects(guard.audienceOf({ credentials: '', isLocal: false }), { status: 401 })
    const open = new MetricsGuard(auth, { withoutToken: 'anyone', token: undefined })
    assert.equal(await open.audienceOf({ credentials: '', isLocal: false }), 'public')
  })

  test('is shown whole to the token of the setting and to a system administrator, to no other login', async () => {
    for (const credentials of ['Bearer scraper', 'Bearer sysadmin'])
      assert.equal(await guard.audienceOf({ credentials, isLocal: false }), 'operator')
    await assert.rejects(guard.audienceOf({ credentials: 'Bearer tenant', isLocal: true }), { status: 403 })
    for (const credentials of ['Bearer scrape', 'scraper', 'Bearer undefined', 'Bearer '])
      await assert.rejects(guard.audienceOf({ credentials, isLocal: true }), { status: 401 })
  })
})
