/** Customers. Source: `rest-api.md` section 11. */
import { customers, isPublic } from '../../services/entities/customer.ts'
import { found, tenantOf } from './authorize.ts'
import { crud, oneByName, pageOf, someByIds, type EntityRoutesParts } from './declared/entity-routes.ts'
import { saveUnlike } from './declared/crud-routes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { rawAnswer } from './declared/declare.ts'
import { TENANT, TENANT_AND_CUSTOMER, textAnswer } from './route.ts'

const WORDS = { one: 'customer', many: 'customers', nameParameter: 'customerTitle' } as const

export function customerRoutes(parts: EntityRoutesParts): readonly DeclaredRoute[] {
  const { make, declared } = parts
  const service = declared.of(customers)
  const one = {
    method: 'GET',
    authorities: TENANT_AND_CUSTOMER,
    targets: { customerId: { entity: customers, operation: 'READ' } },
    query: {},
    body: undefined,
  } as const
  const authorities = { read: TENANT_AND_CUSTOMER, save: TENANT }
  return [
    ...crud(parts, service, WORDS, authorities, service, saveUnlike(parts, service, WORDS, authorities.save)),
    pageOf(parts, service, WORDS, '/api/customers'),
    someByIds(parts, service, WORDS, '/api/customers', { onlyWith: true, authorities: TENANT }),
    someByIds(parts, service, WORDS, '/api/customers/list', { authorities: TENANT }),
    oneByName(parts, service, WORDS, '/api/tenant/customers'),
    make.route({
      ...one,
      path: '/api/customer/{customerId}/shortInfo',
      about: 'Title of a customer, and whether everybody may see what is assigned to it.',
      answer: { type: 'object', properties: { title: { type: 'string' }, isPublic: { type: 'boolean' } } },
      handle: async ({ principal, path }) => {
        const customer = found(await service.find(tenantOf(principal), path.customerId), 'Customer', path.customerId)
        return { title: customer.title, isPublic: isPublic(customer) }
      },
    }),
    make.route({
      ...one,
      path: '/api/customer/{customerId}/title',
      about: 'Title of a customer as plain text.',
      answer: { type: 'string' },
      handle: async ({ principal, path }) => {
        const customer = found(await service.find(tenantOf(principal), path.customerId), 'Customer', path.customerId)
        return rawAnswer(textAnswer(customer.title))
      },
    }),
  ]
}
