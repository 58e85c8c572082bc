/** Tenant profiles: for system administrators alone. Source: `rest-api.md` section 11. */
import type { JsonObject } from '../../model/json.ts'
import { SYSTEM_TENANT } from '../../services/changes/changes.ts'
import { tenantProfiles, type TenantProfile } from '../../services/entities/tenant-profile.ts'
import type { TenantService } from '../../services/tenants/tenant-service.ts'
import { ApiErrors } from '../errors.ts'
import { found } from './authorize.ts'
import { crud, pageOf, type EntityRoutesParts } from './declared/entity-routes.ts'
import { paging, uuidList } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { idShape, listShape, pageShape, recordShape } from './declared/shapes.ts'
import { SYSTEM } from './route.ts'

const WORDS = { one: 'tenantProfile', many: 'tenantProfiles', nameParameter: 'name' } as const
const PATH = '/api/tenantProfiles'
const PROFILE = recordShape(tenantProfiles)
const INFO: JsonObject = {
  type: 'object',
  properties: { id: idShape('TENANT_PROFILE'), name: { type: 'string' } },
  required: ['id', 'name'],
}

export interface TenantProfileRoutesParts extends EntityRoutesParts {
  readonly tenants: TenantService
}

export function tenantProfileRoutes(parts: TenantProfileRoutesParts): readonly DeclaredRoute[] {
  const { make, declared, tenants } = parts
  const service = declared.of(tenantProfiles)
  const reading = { method: 'GET', authorities: SYSTEM, body: undefined } as const
  return [
    ...crud(parts, service, WORDS, { read: SYSTEM, save: SYSTEM, remove: SYSTEM }),
    pageOf(parts, service, WORDS, PATH, SYSTEM),
    byIds(parts, PATH, true),
    byIds(parts, `${PATH}/list`, false),
    make.route({
      method: 'POST',
      path: '/api/tenantProfile/{tenantProfileId}/default',
      about: 'Makes a profile the one of tenants that name none.',
      authorities: SYSTEM,
      targets: { tenantProfileId: { entity: tenantProfiles, operation: 'WRITE' } },
      query: {},
      body: undefined,
      answer: PROFILE,
      handle: async ({ principal, path }) =>
        tenantProfiles.jsonOf(await tenants.setDefaultProfileByUser(principal, path.tenantProfileId)),
    }),
    make.route({
      ...reading,
      path: '/api/tenantProfileInfo/default',
      about: 'Name of the profile of tenants that name none.',
      targets: {},
      query: {},
      answer: INFO,
      handle: async () => {
        const profile = await service.findBy(SYSTEM_TENANT, { default: true })
        if (profile === undefined) throw ApiErrors.NOT_FOUND()
        return infoOf(profile)
      },
    }),
    make.route({
      ...reading,
      path: '/api/tenantProfileInfo/{tenantProfileId}',
      about: 'Name of a profile.',
      targets: { tenantProfileId: { entity: tenantProfiles, operation: 'READ' } },
      query: {},
      answer: INFO,
      handle: async ({ path: { tenantProfileId: id } }) =>
        infoOf(found(await service.findAnywhere(id), 'Tenant profile', id)),
    }),
    make.route({
      ...reading,
      path: '/api/tenantProfileInfos',
      about: 'Names of the profiles.',
      targets: {},
      query: { page: paging },
      answer: pageShape(INFO),
      handle: async ({ query }) => {
        const page = await service.page(SYSTEM_TENANT, {}, query.page)
        return { ...page, data: page.data.map(({ record }) => infoOf(record)) }
      },
    }),
  ]
}

function byIds({ make, declared }: EntityRoutesParts, path: string, sharesPath: boolean): DeclaredRoute {
  return make.route({
    method: 'GET',
    path,
    about: 'The tenant profiles of these ids.',
    authorities: SYSTEM,
    targets: {},
    query: { ids: uuidList },
    ...(sharesPath ? { onlyWith: ['ids'] } : {}),
    body: undefined,
    answer: listShape(PROFILE),
    handle: async ({ query }) => {
      const records = await declared.of(tenantProfiles).findByIds(SYSTEM_TENANT, query.ids)
      return records.map((record) => tenantProfiles.jsonOf(record))
    },
  })
}

function infoOf({ id, name }: TenantProfile): JsonObject {
  return { id: { entityType: 'TENANT_PROFILE', id }, name }
}
