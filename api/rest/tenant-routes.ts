/** Tenants, read only so far. Source: `rest-api.md` section 11. */
import type { Page, PageQuery, Tenant } from '../../model/entities.ts'
import type { Services } from '../../services/services.ts'
import { allow, found } from './authorize.ts'
import { uuidOf } from './query.ts'
import { renderPage, renderTenant } from './render.ts'
import { SYSTEM, SYSTEM_AND_TENANT, jsonAnswer, type RestRoute } from './route.ts'

export function tenantRoutes({ tenants, access }: Services): readonly RestRoute[] {
  return [
    {
      method: 'GET',
      pattern: '/api/tenant/:tenantId',
      authorities: SYSTEM_AND_TENANT,
      handle: async (call) => {
        const id = uuidOf('tenantId', call.parameter(0))
        await allow(access, call.principal, 'READ', 'TENANT', id)
        return jsonAnswer(renderTenant(found(await tenants.find(id), 'Tenant', id)))
      },
    },
    {
      method: 'GET',
      pattern: '/api/tenants',
      authorities: SYSTEM,
      handle: async ({ query }) => jsonAnswer(renderPage(pageOf(await tenants.all(), query.page()), renderTenant)),
    },
  ]
}

/** Reads every tenant for each page: tenants are few, and only system administrators ask. */
function pageOf(tenants: readonly Tenant[], query: PageQuery): Page<Tenant> {
  const search = query.textSearch?.toLowerCase() ?? ''
  const matching = tenants.filter(({ title }) => title.toLowerCase().includes(search))
  const byTitle = query.sortProperty === 'title' || query.sortProperty === 'name'
  const key = (tenant: Tenant): string => (byTitle ? tenant.title : tenant.id)
  const sorted = matching.toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
  if (query.sortOrder === 'DESC') sorted.reverse()
  const start = query.page * query.pageSize
  return {
    data: sorted.slice(start, start + query.pageSize),
    totalPages: Math.ceil(sorted.length / query.pageSize),
    totalElements: sorted.length,
    hasNext: start + query.pageSize < sorted.length,
  }
}
