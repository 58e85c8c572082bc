/** A system administrator who takes a tenant along reads its secrets: the tenant sees that it was done. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRestWorld } from './rest-world.ts'

test('an export is in the audit log of the tenant, once for all its pages', async (context) => {
  const world = await openRestWorld()
  context.after(() => world.close())
  const get = async (token: string, path: string) => {
    const answer = await fetch(`${world.url}${path}`, { headers: { 'X-Authorization': `Bearer ${token}` } })
    assert.equal(answer.status, 200, path)
    return answer.text()
  }
  const rowsOf = async (token: string) =>
    (await get(token, '/api/audit/logs?pageSize=1000&page=0')).split('"exported"').length - 1
  const { tenantId = '' } = world.ids
  // Not from the beginning: it is seen all the same.
  const after = encodeURIComponent('["0"]')
  for (const table of [`device_credentials&after=${after}`, 'user_credentials', 'attribute'])
    await get(world.systemAdministrator, `/api/tenant/${tenantId}/rows?table=${table}`)
  assert.equal(await rowsOf(world.tenant), 1)
  assert.equal(await rowsOf(world.otherTenant), 0)
  await get(world.systemAdministrator, `/api/tenant/${world.otherTenantId}/rows?table=device`)
  assert.equal(await rowsOf(world.otherTenant), 1)
})
