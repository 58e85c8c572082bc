/** Customers. Source: `rest-api.md` section 11. */
import { z } from 'zod'
import type { Customer } from '../../model/entities.ts'
import type { Services } from '../../services/services.ts'
import { ApiErrors } from '../errors.ts'
import { allow, found, tenantOf } from './authorize.ts'
import { anyJson, bodyOf, optionalId, optionalText } from './body.ts'
import { uuidOf } from './query.ts'
import { isPublicCustomer, renderPage } from './render.ts'
import { customerJson } from '../../services/entity-json.ts'
import { TENANT, TENANT_AND_CUSTOMER, jsonAnswer, textAnswer, type RestRoute, type UserCall } from './route.ts'

const customerSchema = z.object({ id: optionalId, title: optionalText, additionalInfo: anyJson.optional() })

export function customerRoutes({ customers, access }: Services): readonly RestRoute[] {
  const customer = async (call: UserCall): Promise<Customer> => {
    const id = uuidOf('customerId', call.parameter(0))
    await allow(access, call.principal, 'READ', 'CUSTOMER', id)
    return found(await customers.find(tenantOf(call.principal), id), 'Customer', id)
  }
  return [
    {
      method: 'GET',
      pattern: '/api/customer/:customerId',
      authorities: TENANT_AND_CUSTOMER,
      handle: async (call) => jsonAnswer(customerJson(await customer(call))),
    },
    {
      method: 'GET',
      pattern: '/api/customer/:customerId/shortInfo',
      authorities: TENANT_AND_CUSTOMER,
      handle: async (call) => {
        const found = await customer(call)
        return jsonAnswer({ title: found.title, isPublic: isPublicCustomer(found) })
      },
    },
    {
      method: 'GET',
      pattern: '/api/customer/:customerId/title',
      authorities: TENANT_AND_CUSTOMER,
      handle: async (call) => textAnswer((await customer(call)).title),
    },
    {
      method: 'POST',
      pattern: '/api/customer',
      authorities: TENANT,
      handle: async (call) => {
        const { id, title, additionalInfo } = bodyOf(call, customerSchema)
        if (id === undefined) access.checkAuthority(call.principal, 'CREATE', 'CUSTOMER')
        else await allow(access, call.principal, 'WRITE', 'CUSTOMER', id)
        const draft = {
          ...(id === undefined ? {} : { id }),
          title: title ?? '',
          additionalInfo: additionalInfo ?? null,
        }
        return jsonAnswer(customerJson(await customers.save(call.principal, draft)))
      },
    },
    {
      method: 'GET',
      pattern: '/api/customers',
      authorities: TENANT,
      handle: async ({ principal, query }) =>
        jsonAnswer(renderPage(await customers.page(tenantOf(principal), query.page()), customerJson)),
    },
    {
      method: 'GET',
      pattern: '/api/tenant/customers',
      authorities: TENANT,
      handle: async ({ principal, query }) => {
        const customer = await customers.findByTitle(tenantOf(principal), query.required('customerTitle'))
        if (customer === undefined) throw ApiErrors.NOT_FOUND()
        return jsonAnswer(customerJson(customer))
      },
    },
  ]
}
