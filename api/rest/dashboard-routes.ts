/** Dashboards. Source: `rest-api.md` 14.1. */
import { z } from 'zod'
import type { Clock } from '../../model/clock.ts'
import { isUuid } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { Dashboards } from '../../services/content/dashboards.ts'
import { customers, type Customer } from '../../services/entities/customer.ts'
import { dashboardInfo, dashboards, type Dashboard } from '../../services/entities/dashboard.ts'
import { publicCustomer } from '../../services/entities/public-customer.ts'
import { found, tenantOf } from './authorize.ts'
import { optionalId } from './body.ts'
import { crudWithImages, type ImageRoutesParts } from './declared/image-crud.ts'
import { flag, paging, uuidList } from './declared/query.ts'
import { idShape, listShape, pageShape, recordShape } from './declared/shapes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { EMPTY_ANSWER, EVERYBODY, SYSTEM, TENANT, TENANT_AND_CUSTOMER } from './route.ts'

const WORDS = { one: 'dashboard', many: 'dashboards', nameParameter: 'dashboardTitle' } as const
/** Points that a widget may ask for at once (`rest-api.md` 14.1). */
const MAX_DATAPOINTS = 50_000

const INFO: JsonObject = {
  type: 'object',
  properties: {
    id: idShape('DASHBOARD'),
    createdTime: { type: 'integer' },
    tenantId: idShape('TENANT'),
    title: { type: 'string' },
    name: { type: 'string' },
    image: { type: ['string', 'null'] },
    mobileHide: { type: 'boolean' },
    mobileOrder: { type: ['integer', 'null'] },
    assignedCustomers: { type: ['array', 'null'] },
    version: { type: 'integer' },
  },
  required: ['id', 'createdTime', 'tenantId', 'title', 'name', 'assignedCustomers', 'version'],
}
const TO_READ = { entity: dashboards, operation: 'READ' } as const
const TO_ASSIGN = { entity: dashboards, operation: 'ASSIGN_TO_CUSTOMER' } as const
const CUSTOMER_TO_READ = { entity: customers, operation: 'READ' } as const

export interface DashboardRoutesParts extends ImageRoutesParts {
  readonly content: ImageRoutesParts['content'] & { readonly dashboards: Dashboards }
  readonly clock: Clock
}

export function dashboardRoutes(parts: DashboardRoutesParts): readonly DeclaredRoute[] {
  const service = parts.declared.of(dashboards)
  return [
    ...crudWithImages(
      parts,
      service,
      WORDS,
      { read: TENANT_AND_CUSTOMER, save: TENANT },
      { isGzipped: true, carriesFiles: true },
    ),
    ...listRoutes(parts),
    ...assignmentRoutes(parts),
    ...homeRoutes(parts),
    parts.make.route({
      ...ABOUT_THE_CALLER,
      path: '/api/dashboard/serverTime',
      about: 'The time of the server, Unix milliseconds.',
      answer: { type: 'integer' },
      handle: async () => parts.clock.now(),
    }),
    parts.make.route({
      ...ABOUT_THE_CALLER,
      path: '/api/dashboard/maxDatapointsLimit',
      about: 'How many points a widget may ask for at once.',
      answer: { type: 'integer' },
      handle: async () => MAX_DATAPOINTS,
    }),
  ]
}

const ABOUT_THE_CALLER = {
  method: 'GET',
  authorities: EVERYBODY,
  targets: {},
  query: {},
  body: undefined,
  isAboutTheCaller: true,
} as const

function listRoutes({ make, access, declared, content }: DashboardRoutesParts): readonly DeclaredRoute[] {
  const service = declared.of(dashboards)
  const infos = async (records: readonly Dashboard[]) => (await service.render(records)).map(dashboardInfo)
  const page = { method: 'GET', body: undefined, answer: pageShape(INFO) } as const
  const byIds = (path: '/api/dashboards' | '/api/dashboards/list') =>
    make.route({
      method: 'GET',
      path,
      about: 'The dashboards of these ids, without those that the caller may not see.',
      authorities: TENANT_AND_CUSTOMER,
      targets: {},
      query: { dashboardIds: uuidList },
      body: undefined,
      answer: listShape(INFO),
      handle: async ({ principal, query }) => {
        const records = await service.findByIds(tenantOf(principal), query.dashboardIds)
        const owned = await Promise.all(
          records.map(async (record) => ({
            ...record,
            customerId: null,
            customerIds: await content.dashboards.customerIds(record),
          })),
        )
        return infos(access.allowed(principal, 'READ', 'DASHBOARD', owned))
      },
    })
  return [
    make.route({
      method: 'GET',
      path: '/api/dashboard/info/{dashboardId}',
      about: 'One dashboard without its configuration.',
      authorities: EVERYBODY,
      targets: { dashboardId: TO_READ },
      query: {},
      body: undefined,
      answer: INFO,
      handle: async ({ path }) => {
        const record = found(await service.findAnywhere(path.dashboardId), 'Dashboard', path.dashboardId)
        return dashboardInfo(await service.renderOne(record))
      },
    }),
    make.route({
      ...page,
      path: '/api/tenant/dashboards',
      about: 'The dashboards of the tenant.',
      authorities: TENANT,
      targets: {},
      query: { mobile: flag(false), page: paging },
      handle: async ({ principal, query: { mobile, page: asked } }) => {
        const result = await content.dashboards.page({ tenantId: tenantOf(principal), mobile }, asked)
        return { ...result, data: await infos(result.data) }
      },
    }),
    make.route({
      ...page,
      path: '/api/tenant/{tenantId}/dashboards',
      about: 'The dashboards of any tenant.',
      authorities: SYSTEM,
      targets: { tenantId: { untargeted: 'only system administrators call it, who see those of every tenant' } },
      query: { page: paging },
      handle: async ({ path, query }) => {
        const result = await content.dashboards.page({ tenantId: path.tenantId }, query.page)
        return { ...result, data: await infos(result.data) }
      },
    }),
    make.route({
      ...page,
      path: '/api/customer/{customerId}/dashboards',
      about: 'The dashboards that a customer has.',
      authorities: TENANT_AND_CUSTOMER,
      targets: { customerId: CUSTOMER_TO_READ },
      query: { mobile: flag(false), page: paging },
      handle: async ({ principal, path: { customerId }, query: { mobile, page: asked } }) => {
        const result = await content.dashboards.page({ tenantId: tenantOf(principal), customerId, mobile }, asked)
        return { ...result, data: await infos(result.data) }
      },
    }),
    byIds('/api/dashboards'),
    byIds('/api/dashboards/list'),
  ]
}

const customerIds = z.array(
  z
    .string()
    .refine(isUuid, 'a UUID is expected')
    .transform((text) => text.toLowerCase()),
)

function assignmentRoutes(parts: DashboardRoutesParts): readonly DeclaredRoute[] {
  const { make, declared, content } = parts
  const service = declared.of(dashboards)
  const common = { authorities: TENANT, query: {}, answer: recordShape(dashboards) } as const
  const one = async (principal: Principal, id: string): Promise<readonly Customer[]> => [
    found(await declared.of(customers).find(tenantOf(principal), id), 'Customer', id),
  ]
  const some = (principal: Principal, ids: readonly string[]) =>
    declared.of(customers).findByIds(tenantOf(principal), ids)
  const ofMany = (
    suffix: '' | '/add' | '/remove',
    about: string,
    change: (principal: Principal, dashboardId: string, ids: readonly string[]) => Promise<Dashboard>,
  ) =>
    make.route({
      ...common,
      method: 'POST',
      path: `/api/dashboard/{dashboardId}/customers${suffix}`,
      about,
      targets: { dashboardId: TO_ASSIGN },
      body: customerIds,
      bodyTargets: (ids) =>
        ids.map((id) => ({ entity: { entityType: 'CUSTOMER', id } as const, operation: 'READ' as const })),
      example: (ids) => [ids['customerId'] ?? ''],
      handle: async ({ principal, path, body }) => service.renderOne(await change(principal, path.dashboardId, body)),
    })
  return [
    make.route({
      ...common,
      method: 'POST',
      path: '/api/customer/{customerId}/dashboard/{dashboardId}',
      about: 'Gives the dashboard to a customer too.',
      targets: { dashboardId: TO_ASSIGN, customerId: CUSTOMER_TO_READ },
      body: undefined,
      handle: async ({ principal, path }) => {
        const wanted = await one(principal, path.customerId)
        return service.renderOne(await content.dashboards.assign(principal, path.dashboardId, wanted))
      },
    }),
    make.route({
      ...common,
      method: 'DELETE',
      path: '/api/customer/{customerId}/dashboard/{dashboardId}',
      about: 'Takes the dashboard from a customer.',
      targets: { dashboardId: TO_ASSIGN, customerId: CUSTOMER_TO_READ },
      body: undefined,
      handle: async ({ principal, path }) =>
        service.renderOne(await content.dashboards.unassign(principal, path.dashboardId, [path.customerId])),
    }),
    make.route({
      ...common,
      method: 'POST',
      path: '/api/customer/public/dashboard/{dashboardId}',
      about: 'Lets everybody see the dashboard who has its link.',
      targets: { dashboardId: TO_ASSIGN },
      body: undefined,
      handle: async ({ principal, path }) => {
        const customer = await publicCustomer(declared, principal)
        return service.renderOne(await content.dashboards.assign(principal, path.dashboardId, [customer]))
      },
    }),
    make.route({
      ...common,
      method: 'DELETE',
      path: '/api/customer/public/dashboard/{dashboardId}',
      about: 'Ends that everybody sees the dashboard.',
      targets: { dashboardId: TO_ASSIGN },
      body: undefined,
      handle: async ({ principal, path }) => {
        const { id } = await publicCustomer(declared, principal)
        return service.renderOne(await content.dashboards.unassign(principal, path.dashboardId, [id]))
      },
    }),
    ofMany('', 'Gives the dashboard to these customers and no others.', async (principal, id, ids) =>
      content.dashboards.setCustomers(principal, id, await some(principal, ids)),
    ),
    ofMany('/add', 'Gives the dashboard to these customers too.', async (principal, id, ids) =>
      content.dashboards.assign(principal, id, await some(principal, ids)),
    ),
    ofMany('/remove', 'Takes the dashboard from these customers.', (principal, id, ids) =>
      content.dashboards.unassign(principal, id, ids),
    ),
  ]
}

const HOME_INFO: JsonObject = {
  type: 'object',
  properties: {
    dashboardId: { oneOf: [idShape('DASHBOARD'), { type: 'null' }] },
    hideDashboardToolbar: { type: 'boolean' },
  },
}

const homeSetting = z.object({
  dashboardId: optionalId,
  hideDashboardToolbar: z
    .boolean()
    .nullish()
    .transform((hides) => hides ?? true),
})

function homeRoutes({ make, declared, content }: DashboardRoutesParts): readonly DeclaredRoute[] {
  const service = declared.of(dashboards)
  return [
    make.route({
      ...ABOUT_THE_CALLER,
      path: '/api/dashboard/home',
      mayBeEmpty: true,
      about: 'The dashboard that the caller starts with; empty where there is none.',
      answer: recordShape(dashboards),
      isGzipped: true,
      handle: async ({ principal }) => {
        const home = await content.dashboards.homeOf(principal)
        const dashboard = home && (await service.findAnywhere(home.dashboardId))
        if (home === undefined || dashboard === undefined) return EMPTY_ANSWER
        return { ...(await service.renderOne(dashboard)), hideDashboardToolbar: home.hideDashboardToolbar }
      },
    }),
    make.route({
      ...ABOUT_THE_CALLER,
      path: '/api/dashboard/home/info',
      mayBeEmpty: true,
      about: 'Which dashboard the caller starts with; empty where there is none.',
      answer: HOME_INFO,
      handle: async ({ principal }) => {
        const home = await content.dashboards.homeOf(principal)
        if (home === undefined) return EMPTY_ANSWER
        return { ...home, dashboardId: { entityType: 'DASHBOARD', id: home.dashboardId } }
      },
    }),
    make.route({
      method: 'GET',
      path: '/api/tenant/dashboard/home/info',
      about: 'The dashboard that users of the tenant start with where nothing nearer says another.',
      authorities: TENANT,
      targets: {},
      query: {},
      body: undefined,
      answer: HOME_INFO,
      handle: async ({ principal }) => {
        const home = await content.dashboards.tenantHome(tenantOf(principal))
        if (home === undefined) return { dashboardId: null, hideDashboardToolbar: true }
        return { ...home, dashboardId: { entityType: 'DASHBOARD', id: home.dashboardId } }
      },
    }),
    make.route({
      method: 'POST',
      path: '/api/tenant/dashboard/home/info',
      about: 'Sets the dashboard that users of the tenant start with.',
      authorities: TENANT,
      targets: {},
      query: {},
      body: homeSetting,
      bodyTargets: ({ dashboardId }) =>
        dashboardId === undefined
          ? []
          : [{ entity: { entityType: 'DASHBOARD', id: dashboardId } as const, operation: 'READ' as const }],
      example: (ids) => ({
        dashboardId: { entityType: 'DASHBOARD', id: ids['dashboardId'] ?? '' },
        hideDashboardToolbar: false,
      }),
      answer: undefined,
      handle: async ({ principal, body }) => {
        await content.dashboards.setTenantHome(principal, tenantOf(principal), body)
        return EMPTY_ANSWER
      },
    }),
  ]
}
