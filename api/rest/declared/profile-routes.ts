/** Calls of device and asset profiles beside those that all entities have: short forms, names, the default. Source: `rest-api.md` 5.4, 5.7. */
import { entityId } from '../../../model/entity-id.ts'
import type { JsonObject } from '../../../model/json.ts'
import { findDefault, makeDefault, type ProfileColumns } from '../../../services/entities/default-profile.ts'
import type { ColumnSet, RecordOf } from '../../../services/entities/define.ts'
import type { EntityService } from '../../../services/entities/entity-service.ts'
import { ApiErrors } from '../../errors.ts'
import { TENANT, TENANT_AND_CUSTOMER } from '../route.ts'
import type { EntityRoutesParts, EntityWords } from './entity-words.ts'
import { flag, optionalChoice, paging, uuidList, type QuerySchema } from './query.ts'
import type { DeclaredRoute } from './route.ts'
import { idShape, listShape, pageShape, recordShape } from './shapes.ts'

export interface ProfileWords extends EntityWords {
  /** Members of the short form beside id, tenant and name. */
  readonly shown: readonly string[]
  /** Whose profiles they are, and the member by which. */
  readonly used: { readonly service: EntityService<ColumnSet>; readonly by: string }
  /** Parameters of the list of short forms, with the words that each may be. */
  readonly infoFilters?: Readonly<Record<string, readonly string[]>>
}

export function profileRoutes<Columns extends ProfileColumns>(
  { make, access }: EntityRoutesParts,
  service: EntityService<Columns>,
  words: ProfileWords,
): readonly DeclaredRoute[] {
  const { definition } = service
  const { one, used } = words
  const label = definition.label.toLowerCase()
  const infoOf = (record: RecordOf<Columns>): JsonObject => shortForm(definition.jsonOf(record), words.shown)
  const infoShape = shapeOfShort(recordShape(definition), words.shown)
  const byIds = {
    method: 'GET',
    about: `Short forms of the ${label}s of these ids.`,
    authorities: TENANT,
    targets: {},
    query: { [`${one}Ids`]: uuidList },
    body: undefined,
    answer: listShape(infoShape),
  } as const
  const someInfos = async (tenantId: string, ids: readonly string[] = []) =>
    (await service.findByIds(tenantId, ids)).map(infoOf)
  return [
    make.route({
      method: 'GET',
      path: `/api/${one}Infos`,
      about: `Short forms of the tenant's ${label}s.`,
      authorities: TENANT_AND_CUSTOMER,
      targets: {},
      query: { ...filterSchema(words), page: paging },
      body: undefined,
      answer: pageShape(infoShape),
      handle: async ({ principal, query }) => {
        access.checkAuthority(principal, 'READ', definition.type)
        const asked: Readonly<Record<string, unknown>> = query
        const members = Object.fromEntries(Object.keys(words.infoFilters ?? {}).map((name) => [name, asked[name]]))
        const page = await service.page(service.tenantOf(principal), members, query.page)
        return { ...page, data: page.data.map(({ record }) => infoOf(record)) }
      },
    }),
    make.route({
      ...byIds,
      path: `/api/${one}Infos`,
      onlyWith: [`${one}Ids`],
      handle: ({ principal, query }) => someInfos(service.tenantOf(principal), query[`${one}Ids`]),
    }),
    make.route({
      ...byIds,
      path: `/api/${one}Infos/list`,
      handle: ({ principal, query }) => someInfos(service.tenantOf(principal), query[`${one}Ids`]),
    }),
    make.route({
      method: 'GET',
      path: `/api/${one}Info/default`,
      about: `Short form of the default ${label}.`,
      authorities: TENANT_AND_CUSTOMER,
      targets: {},
      query: {},
      body: undefined,
      answer: infoShape,
      handle: async ({ principal }) => {
        const profile = await findDefault(service, service.tenantOf(principal))
        if (profile === undefined) throw ApiErrors.NOT_FOUND()
        return infoOf(profile)
      },
    }),
    make.route({
      method: 'GET',
      path: `/api/${one}Info/{${one}Id}`,
      about: `Short form of one ${label}.`,
      authorities: TENANT_AND_CUSTOMER,
      targets: { [`${one}Id`]: { entity: definition, operation: 'READ' as const } },
      query: {},
      body: undefined,
      answer: infoShape,
      handle: async ({ path }) => {
        const id = path[`${one}Id`] ?? ''
        const profile = await service.findAnywhere(id)
        if (profile === undefined) throw ApiErrors.NOT_FOUND_BY_ID({ type: definition.label, id })
        return infoOf(profile)
      },
    }),
    make.route({
      method: 'GET',
      path: `/api/${one}/names`,
      about: `Names of the ${label}s, sorted; those that are in use, or all.`,
      authorities: TENANT_AND_CUSTOMER,
      targets: {},
      query: { activeOnly: flag(false) },
      body: undefined,
      answer: listShape({
        type: 'object',
        properties: { id: idShape(definition.type), name: { type: 'string' } },
        required: ['id', 'name'],
      }),
      handle: async ({ principal, query }) => {
        const tenantId = service.tenantOf(principal)
        const ids = query.activeOnly ? await used.service.distinct(tenantId, used.by, {}) : undefined
        const found = ids === undefined ? await service.findAllBy(tenantId, {}) : await service.findByIds(tenantId, ids)
        return found
          .map((record) => ({ id: { ...entityId(definition.type, record.id) }, name: nameOf(record) }))
          .sort((a, b) => (a.name < b.name ? -1 : 1))
      },
    }),
    make.route({
      method: 'POST',
      path: `/api/${one}/{${one}Id}/default`,
      about: `Makes the ${label} the default: new entities that name none get it.`,
      authorities: TENANT,
      targets: { [`${one}Id`]: { entity: definition, operation: 'WRITE' as const } },
      query: {},
      body: undefined,
      answer: recordShape(definition),
      handle: async ({ principal, path }) =>
        service.renderOne(await makeDefault(service, principal, path[`${one}Id`] ?? '')),
    }),
  ]
}

/** The types that a tenant's entities have; a customer's user is shown those of the customer's. */
export function typesRoute<Columns extends ColumnSet>(
  { make }: EntityRoutesParts,
  service: EntityService<Columns>,
  { one, many }: EntityWords,
): DeclaredRoute {
  const { type } = service.definition
  return make.route({
    method: 'GET',
    path: `/api/${one}/types`,
    about: `Types of the ${many}, sorted.`,
    authorities: TENANT_AND_CUSTOMER,
    targets: {},
    query: {},
    body: undefined,
    answer: listShape({
      type: 'object',
      properties: { tenantId: idShape('TENANT'), entityType: { const: type }, type: { type: 'string' } },
      required: ['tenantId', 'entityType', 'type'],
    }),
    handle: async ({ principal }) => {
      const tenantId = service.tenantOf(principal)
      const members = principal.authority === 'CUSTOMER_USER' ? { customerId: principal.customerId } : {}
      const types = await service.distinct(tenantId, 'type', members)
      return types.map((each) => ({ tenantId: { ...entityId('TENANT', tenantId) }, entityType: type, type: each }))
    },
  })
}

function nameOf(record: Readonly<Record<string, unknown>>): string {
  return String(record['name'])
}

function filterSchema({ infoFilters = {} }: ProfileWords): QuerySchema {
  return Object.fromEntries(Object.entries(infoFilters).map(([name, words]) => [name, optionalChoice(words)]))
}

const IN_EVERY_SHORT_FORM = ['id', 'tenantId', 'name']

function shortForm(json: JsonObject, shown: readonly string[]): JsonObject {
  return Object.fromEntries([...IN_EVERY_SHORT_FORM, ...shown].map((member) => [member, json[member] ?? null]))
}

function shapeOfShort(shape: JsonObject, shown: readonly string[]): JsonObject {
  const members = [...IN_EVERY_SHORT_FORM, ...shown]
  const whole = shape['properties'] as JsonObject
  return {
    type: 'object',
    properties: Object.fromEntries(members.map((member) => [member, whole[member] ?? {}])),
    required: members,
  }
}
