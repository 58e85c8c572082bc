/** Tenants. Source: `rest-api.md` section 11. */
import { SYSTEM_TENANT } from '../../services/changes/changes.ts'
import { tenants } from '../../services/entities/tenant.ts'
import type { TenantService } from '../../services/tenants/tenant-service.ts'
import { crud, pageOf, type EntityRoutesParts } from './declared/entity-routes.ts'
import { paging, uuidList } from './declared/query.ts'
import { listShape, pageShape, recordShape, shownShape } from './declared/shapes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { found } from './authorize.ts'
import { SYSTEM, SYSTEM_AND_TENANT } from './route.ts'

const WORDS = { one: 'tenant', many: 'tenants', nameParameter: 'title' } as const
const PATH = '/api/tenants'

export interface TenantRoutesParts extends EntityRoutesParts {
  readonly tenants: TenantService
}

export function tenantRoutes(parts: TenantRoutesParts): readonly DeclaredRoute[] {
  const { make, declared } = parts
  const service = declared.of(tenants)
  const authorities = { read: SYSTEM_AND_TENANT, save: SYSTEM, remove: SYSTEM_AND_TENANT }
  return [
    ...crud(parts, service, WORDS, authorities, parts.tenants),
    pageOf(parts, service, WORDS, PATH, SYSTEM),
    byIds(parts, PATH, true),
    byIds(parts, `${PATH}/list`, false),
    make.route({
      method: 'GET',
      path: '/api/tenant/info/{tenantId}',
      about: 'One tenant, with the name of its profile.',
      authorities: SYSTEM_AND_TENANT,
      targets: { tenantId: { entity: tenants, operation: 'READ' } },
      query: {},
      body: undefined,
      answer: shownShape(tenants),
      handle: async ({ path }) => {
        const { record, names } = found(await service.findShown(SYSTEM_TENANT, path.tenantId), 'Tenant', path.tenantId)
        return { ...tenants.jsonOf(record), tenantProfileName: names['tenantProfileName'] ?? null }
      },
    }),
    make.route({
      method: 'GET',
      path: '/api/tenantInfos',
      about: 'The tenants, with the names of their profiles.',
      authorities: SYSTEM,
      targets: {},
      query: { page: paging },
      body: undefined,
      answer: pageShape(shownShape(tenants)),
      handle: async ({ query }) => {
        const page = await service.page(SYSTEM_TENANT, {}, query.page, 'infos')
        const data = page.data.map(({ record, names }) => ({
          ...tenants.jsonOf(record),
          tenantProfileName: names['tenantProfileName'] ?? null,
        }))
        return { ...page, data }
      },
    }),
  ]
}

function byIds({ make, access, declared }: EntityRoutesParts, path: string, sharesPath: boolean): DeclaredRoute {
  return make.route({
    method: 'GET',
    path,
    about: 'The tenants of these ids, without those that the caller may not see.',
    authorities: SYSTEM_AND_TENANT,
    targets: {},
    query: { tenantIds: uuidList },
    ...(sharesPath ? { onlyWith: ['tenantIds'] } : {}),
    body: undefined,
    answer: listShape(recordShape(tenants)),
    handle: async ({ principal, query }) => {
      const records = await declared.of(tenants).findByIds(SYSTEM_TENANT, query.tenantIds)
      const owned = records.map((record) => ({ ...record, tenantId: record.id, customerId: null }))
      const allowed = access.allowed(principal, 'READ', 'TENANT', owned)
      return allowed.map((record) => tenants.jsonOf({ ...record, tenantId: SYSTEM_TENANT }))
    },
  })
}
