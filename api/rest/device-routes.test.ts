import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestPlatform } from '../../services/testkit.ts'
import { devices } from '../../services/entities/device.ts'
import { RouteMaker } from './declared/declare.ts'
import { tableRows } from './declared/table.ts'
import { deviceRoutes } from './device-routes.ts'
import { Query } from './query.ts'
import type { UserCall } from './route.ts'

test('issue-8 11: a list of 1,000 devices by id costs one read, and shows those of the tenant only', async (context) => {
  const platform = await openTestPlatform()
  context.after(() => platform.close())
  const { services, tenant } = platform
  const own = await services.devices.saveByUser(tenant, { name: 'own' })
  const ids = Array.from({ length: 999 }, (_, index) => `11111111-2222-1333-8444-${String(index).padStart(12, '0')}`)
  const make = new RouteMaker(services.access, () => Promise.resolve(undefined))
  const { access, declared, relations } = services
  const rows = tableRows(deviceRoutes({ make, access, declared, relations }, services))
  const route = rows.find(({ method, pattern }) => method === 'GET' && pattern === '/api/devices')
  assert.ok(route !== undefined)
  const each = context.mock.method(services.declared, 'findAnywhere')
  const together = context.mock.method(services.declared.of(devices), 'findByIds')
  const query = new Query(`deviceIds=${[own.id, ...ids].join(',')}`)
  const call: UserCall = {
    principal: tenant,
    query,
    parameter: () => '',
    text: () => '',
    bytes: () => Buffer.alloc(0),
    json: () => null,
    credentials: '',
    header: () => '',
    clientAddress: '127.0.0.1',
    isLocal: true,
  }
  const answer = await route.handle(call)
  assert.deepEqual([each.mock.callCount(), together.mock.callCount()], [0, 1])
  assert.match(answer.body, /"name":"own"/)
})
