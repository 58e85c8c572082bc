import { users } from '../../../services/entities/user.ts'
import type { MakeThings } from './make-things.ts'

export const makeUsers: MakeThings = async ({ services, tenant }, ids) => {
  const user = await services.declared.of(users).saveByUser(tenant, {
    email: 'secret.user@example.org',
    authority: 'CUSTOMER_USER',
    customerId: ids['customerId'] ?? '',
  })
  const { key } = await services.people.apiKeys.create(tenant, {
    userId: tenant.userId,
    description: 'secret key',
    enabled: true,
    expirationTime: 0,
  })
  return {
    userId: user.id,
    apiKeyId: key.id,
    enabledValue: 'secret flag',
    type: 'QUICK_LINKS',
    paths: 'secret.path',
    action: 'visit',
  }
}
