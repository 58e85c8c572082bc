import { customers } from '../../../services/entities/customer.ts'
import type { MakeThings } from './make-things.ts'

export const makeCustomers: MakeThings = async ({ services, tenant }) => {
  const customer = await services.declared.of(customers).saveByUser(tenant, { title: 'secret customer' })
  return { customerId: customer.id }
}
