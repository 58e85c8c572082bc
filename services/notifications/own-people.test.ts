/** Whom the targets of a tenant may name, on both databases. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { notificationTargets } from '../entities/notification.ts'

await onBothDatabases('people of targets, ', (open) => {
  test('a long list is looked up at once, and whoever is no user of the tenant is refused', async (t) => {
    const platform = await open()
    t.after(() => platform.close())
    const { tenant, customer, services } = platform
    const save = (name: string, usersIds: string[]) =>
      services.declared.of(notificationTargets).saveByUser(tenant, {
        name,
        configuration: { type: 'PLATFORM_USERS', usersFilter: { type: 'USER_LIST', usersIds } },
      })
    const { mock } = t.mock.method(services.declared, 'whose')
    await save(
      'many',
      Array.from({ length: 2_000 }, (_, index) => (index % 2 === 0 ? tenant.userId : customer.userId)),
    )
    assert.equal(mock.callCount(), 0)
    await assert.rejects(save('none', [tenant.userId, 'a\0b']), { status: 404 })
    await assert.rejects(save('system', [platform.systemAdministrator.userId]), { status: 403 })
  })
})
