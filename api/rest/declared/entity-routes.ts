/**
 * The calls that entities have in common, made from their declarations: lists of the tenant and of a customer, the same with names beside
 * them, and assignment to customers; to read, save and delete one is in `crud-routes.ts`. Source: `rest-api.md` 3.3, 5.1, 5.7.
 */
import type { Authority } from '../../../model/entities.ts'
import type { JsonObject } from '../../../model/json.ts'
import type { ColumnSet, EntityDefinition } from '../../../services/entities/define.ts'
import { customers, isPublic } from '../../../services/entities/customer.ts'
import { publicCustomer } from '../../../services/entities/public-customer.ts'
import type { EntityService, Shown } from '../../../services/entities/entity-service.ts'
import { customerOf } from '../../../services/entities/record-members.ts'
import { ApiErrors } from '../../errors.ts'
import { TENANT, TENANT_AND_CUSTOMER } from '../route.ts'
import type { EntityRoutesParts, EntityWords } from './entity-words.ts'
import { optionalFlag, optionalText, optionalUuid, paging, requiredText, uuidList, type QuerySchema } from './query.ts'
import { listShape, pageShape, recordShape, shownShape } from './shapes.ts'
import type { DeclaredRoute } from './route.ts'

export { crud, draftSchema } from './crud-routes.ts'

export type { EntityRoutesParts, EntityWords } from './entity-words.ts'

/** A page of the tenant's. */
export function pageOf<Columns extends ColumnSet>(
  { make }: EntityRoutesParts,
  service: EntityService<Columns>,
  words: EntityWords,
  path: string,
  authorities: readonly Authority[] = TENANT,
): DeclaredRoute {
  const { definition } = service
  return make.route({
    method: 'GET',
    path,
    about: `The ${words.many} of the tenant.`,
    authorities,
    targets: {},
    query: { ...filterSchema(words), page: paging },
    body: undefined,
    answer: pageShape(recordShape(definition)),
    handle: async ({ principal, query }) => {
      const page = await service.page(service.tenantOf(principal), membersOf(words, query), query.page)
      return { ...page, data: await service.render(page.data.map(({ record }) => record)) }
    },
  })
}

/** The one of that name; where `onlyWith` the path has another meaning without the parameter. */
export function oneByName<Columns extends ColumnSet>(
  { make }: EntityRoutesParts,
  service: EntityService<Columns>,
  { nameParameter }: EntityWords,
  path: string,
  options: { readonly onlyWith?: boolean } = {},
): DeclaredRoute {
  const { definition } = service
  return make.route({
    method: 'GET',
    path,
    about: `The ${definition.label.toLowerCase()} of that name.`,
    authorities: TENANT,
    targets: {},
    query: { [nameParameter]: requiredText },
    ...(options.onlyWith === true ? { onlyWith: [nameParameter] } : {}),
    body: undefined,
    answer: recordShape(definition),
    handle: async ({ principal, query }) => {
      const record = await service.findByName(service.tenantOf(principal), query[nameParameter] ?? '')
      if (record === undefined) throw ApiErrors.NOT_FOUND()
      return service.renderOne(record)
    },
  })
}

/** Those of a list of ids, without what the caller may not see. */
export function someByIds<Columns extends ColumnSet>(
  { make, access }: EntityRoutesParts,
  service: EntityService<Columns>,
  { one, many }: EntityWords,
  path: string,
  options: { readonly onlyWith?: boolean; readonly authorities?: readonly Authority[] } = {},
): DeclaredRoute {
  const { definition } = service
  return make.route({
    method: 'GET',
    path,
    about: `The ${many} of these ids, without those that the caller may not see.`,
    authorities: options.authorities ?? TENANT_AND_CUSTOMER,
    targets: {},
    query: { [`${one}Ids`]: uuidList },
    ...(options.onlyWith === true ? { onlyWith: [`${one}Ids`] } : {}),
    body: undefined,
    answer: listShape(recordShape(definition)),
    handle: async ({ principal, query }) => {
      const found = await service.findByIds(service.tenantOf(principal), query[`${one}Ids`] ?? [])
      const owned = found.map((record) => ({ ...record, customerId: customerOf(definition, record) }))
      return service.render(access.allowed(principal, 'READ', definition.type, owned))
    },
  })
}

/** A page of those that are assigned to a customer. */
export function pageOfCustomer<Columns extends ColumnSet>(
  { make }: EntityRoutesParts,
  service: EntityService<Columns>,
  words: EntityWords,
): DeclaredRoute {
  const { definition } = service
  return make.route({
    method: 'GET',
    path: `/api/customer/{customerId}/${words.many}`,
    about: `The ${words.many} that are assigned to a customer.`,
    authorities: TENANT_AND_CUSTOMER,
    targets: { customerId: CUSTOMER_TO_READ },
    query: { ...filterSchema(words), page: paging },
    body: undefined,
    answer: pageShape(recordShape(definition)),
    handle: async ({ principal, path, query }) => {
      const members = { ...membersOf(words, query), customerId: path.customerId }
      const page = await service.page(service.tenantOf(principal), members, query.page)
      return { ...page, data: await service.render(page.data.map(({ record }) => record)) }
    },
  })
}

/** The lists of what is assigned to customers. */
export function lists<Columns extends ColumnSet>(
  parts: EntityRoutesParts,
  service: EntityService<Columns>,
  words: EntityWords,
): readonly DeclaredRoute[] {
  const { one, many } = words
  return [
    pageOf(parts, service, words, `/api/tenant/${many}`),
    oneByName(parts, service, words, `/api/tenant/${many}`, { onlyWith: true }),
    oneByName(parts, service, words, `/api/tenant/${one}`),
    pageOfCustomer(parts, service, words),
    someByIds(parts, service, words, `/api/${many}`),
  ]
}

/** The same with names beside them. */
export function infos<Columns extends ColumnSet>(
  parts: EntityRoutesParts,
  service: EntityService<Columns>,
  words: EntityWords,
): readonly DeclaredRoute[] {
  const { definition } = service
  const { one } = words
  const { make } = parts
  const filters = filterSchema(words)
  const answer = shownShape(definition)
  return [
    make.route({
      method: 'GET',
      path: `/api/${one}/info/{${one}Id}`,
      about: `One ${definition.label.toLowerCase()}, with the names of what it belongs to.`,
      authorities: TENANT_AND_CUSTOMER,
      targets: { [`${one}Id`]: { entity: definition, operation: 'READ' as const } },
      query: {},
      body: undefined,
      answer,
      handle: async ({ principal, path }) => {
        const shown = await service.findShown(service.tenantOf(principal), path[`${one}Id`] ?? '')
        if (shown === undefined) throw ApiErrors.NOT_FOUND()
        return (await shownJson(parts, definition, [shown]))[0] ?? {}
      },
    }),
    make.route({
      method: 'GET',
      path: `/api/tenant/${one}Infos`,
      about: `The ${words.many} of the tenant, with the names of what they belong to.`,
      authorities: TENANT,
      targets: {},
      query: { ...filters, page: paging },
      body: undefined,
      answer: pageShape(answer),
      handle: async ({ principal, query }) => {
        const page = await service.page(service.tenantOf(principal), membersOf(words, query), query.page, 'infos')
        return { ...page, data: await shownJson(parts, definition, page.data) }
      },
    }),
    make.route({
      method: 'GET',
      path: `/api/customer/{customerId}/${one}Infos`,
      about: `The ${words.many} of a customer, with the names of what they belong to.`,
      authorities: TENANT_AND_CUSTOMER,
      targets: { customerId: CUSTOMER_TO_READ },
      query: { ...filters, page: paging },
      body: undefined,
      answer: pageShape(answer),
      handle: async ({ principal, path, query }) => {
        const members = { ...membersOf(words, query), customerId: path.customerId }
        const page = await service.page(service.tenantOf(principal), members, query.page, 'infos')
        return { ...page, data: await shownJson(parts, definition, page.data) }
      },
    }),
  ]
}

/** To and from customers, among them the public one. */
export function assignment<Columns extends ColumnSet>(
  { make, declared }: EntityRoutesParts,
  service: EntityService<Columns>,
  { one }: EntityWords,
): readonly DeclaredRoute[] {
  const { definition } = service
  const label = definition.label.toLowerCase()
  const assigned = { [`${one}Id`]: { entity: definition, operation: 'ASSIGN_TO_CUSTOMER' as const } }
  const common = { authorities: TENANT, query: {}, body: undefined, answer: recordShape(definition) } as const
  return [
    make.route({
      ...common,
      method: 'POST',
      path: `/api/customer/{customerId}/${one}/{${one}Id}`,
      about: `Assigns the ${label} to a customer.`,
      targets: { ...assigned, customerId: CUSTOMER_TO_READ },
      handle: async ({ principal, path }) => {
        const id = path['customerId'] ?? ''
        const customer = await declared.of(customers).find(service.tenantOf(principal), id)
        if (customer === undefined) throw ApiErrors.NOT_FOUND_BY_ID({ type: 'Customer', id })
        return definition.jsonOf(await service.assignByUser(principal, path[`${one}Id`] ?? '', customer))
      },
    }),
    make.route({
      ...common,
      method: 'POST',
      path: `/api/customer/public/${one}/{${one}Id}`,
      about: `Assigns the ${label} to the public customer, which is made where there is none: then everybody may see it.`,
      targets: assigned,
      handle: async ({ principal, path }) => {
        const customer = await publicCustomer(declared, principal)
        return definition.jsonOf(await service.assignByUser(principal, path[`${one}Id`] ?? '', customer))
      },
    }),
    make.route({
      ...common,
      method: 'DELETE',
      path: `/api/customer/${one}/{${one}Id}`,
      about: `Takes the ${label} from its customer.`,
      targets: assigned,
      handle: async ({ principal, path }) =>
        definition.jsonOf(await service.assignByUser(principal, path[`${one}Id`] ?? '', null)),
    }),
  ]
}

const CUSTOMER_TO_READ = { entity: customers, operation: 'READ' } as const

const FILTERS = { text: optionalText, uuid: optionalUuid, flag: optionalFlag } as const

function filterSchema({ filters = {} }: EntityWords): QuerySchema {
  return Object.fromEntries(Object.entries(filters).map(([name, kind]) => [name, FILTERS[kind]]))
}

function membersOf(
  { filters = {} }: EntityWords,
  query: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.keys(filters).map((name) => [name, query[name]]))
}

async function shownJson<Columns extends ColumnSet>(
  { declared }: EntityRoutesParts,
  definition: EntityDefinition<Columns>,
  shown: readonly Shown<Columns>[],
): Promise<JsonObject[]> {
  const { shows = {}, columns } = definition
  const publicOnes = new Map<string, boolean>()
  for (const { record } of shown) {
    const customerId = customerOf(definition, record)
    if (customerId === null || publicOnes.has(customerId)) continue
    const customer = await declared.of(customers).find(record.tenantId, customerId)
    publicOnes.set(customerId, isPublic(customer))
  }
  return shown.map(({ record, names }) => {
    const json = definition.jsonOf(record)
    for (const [name, { isFlag }] of Object.entries(shows))
      json[name] = isFlag === true ? Number(names[name] ?? 0) === 1 : (names[name] ?? null)
    if ('customerId' in columns)
      json['customerIsPublic'] = publicOnes.get(customerOf(definition, record) ?? '') ?? false
    return json
  })
}
