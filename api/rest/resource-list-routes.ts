/** Lists of files, and of the LwM2M objects in them. Source: `rest-api.md` 14.3. */
import type { JsonObject } from '../../model/json.ts'
import type { Resources } from '../../services/content/resources.ts'
import { RESOURCE_SUB_TYPES, RESOURCE_TYPES } from '../../services/entities/tb-resource.ts'
import type { EntityRoutesParts } from './declared/entity-routes.ts'
import { optionalChoice, paging, requiredChoice, textList, uuidList } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { listShape, pageShape } from './declared/shapes.ts'
import { RESOURCE } from './resource-shapes.ts'
import { SYSTEM_AND_TENANT, TENANT } from './route.ts'

interface ListParts extends EntityRoutesParts {
  readonly content: { readonly resources: Resources }
}

const OBJECT: JsonObject = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    keyId: { type: 'string' },
    name: { type: 'string' },
    multiple: { type: 'boolean' },
    mandatory: { type: 'boolean' },
    instances: { type: 'array' },
  },
  required: ['id', 'keyId', 'name', 'multiple', 'mandatory', 'instances'],
}

export function resourceListRoutes({ make, content: { resources } }: ListParts): readonly DeclaredRoute[] {
  const { service } = resources
  const common = { method: 'GET', targets: {}, body: undefined } as const
  const some = {
    ...common,
    about: 'The files of these ids, of the tenant and the system.',
    authorities: SYSTEM_AND_TENANT,
    query: { resourceIds: uuidList },
    answer: listShape(RESOURCE),
  } as const
  return [
    make.route({
      ...common,
      path: '/api/resource',
      about: 'The files of the tenant and of the system; scripts, images and dashboards only where asked for.',
      authorities: SYSTEM_AND_TENANT,
      query: {
        resourceType: optionalChoice(RESOURCE_TYPES),
        resourceSubType: optionalChoice(RESOURCE_SUB_TYPES),
        page: paging,
      },
      answer: pageShape(RESOURCE),
      handle: async ({ principal, query: { resourceType, resourceSubType, page } }) => {
        const filter = {
          ...(resourceType === undefined ? {} : { types: [resourceType] }),
          ...(resourceSubType === undefined ? {} : { subTypes: [resourceSubType] }),
        }
        const found = await resources.page(principal, filter, page)
        return { ...found, data: await service.render(found.data) }
      },
    }),
    ...[
      { ...some, path: '/api/resource', onlyWith: ['resourceIds'] } as const,
      { ...some, path: '/api/resource/list' } as const,
    ].map((place) =>
      make.route({
        ...place,
        handle: async ({ principal, query: { resourceIds } }) =>
          service.render(await resources.byIds(principal, resourceIds)),
      }),
    ),
    make.route({
      ...common,
      path: '/api/resource/tenant',
      about: 'The files of the tenant, of all kinds.',
      authorities: TENANT,
      query: { page: paging },
      answer: pageShape(RESOURCE),
      handle: async ({ principal, query }) => {
        const found = await resources.page(principal, { types: RESOURCE_TYPES, isOwnOnly: true }, query.page)
        return { ...found, data: await service.render(found.data) }
      },
    }),
    make.route({
      ...common,
      path: '/api/resource/lwm2m',
      about: 'LwM2M objects by the keys of their models.',
      authorities: TENANT,
      query: {
        sortOrder: requiredChoice(['ASC', 'DESC']),
        sortProperty: requiredChoice(['id', 'name']),
        objectIds: textList,
      },
      answer: listShape(OBJECT),
      handle: async ({ principal, query: { sortOrder, sortProperty, objectIds } }) =>
        sorted(await resources.lwm2mObjects(principal, objectIds), sortProperty, sortOrder),
    }),
    make.route({
      ...common,
      path: '/api/resource/lwm2m/page',
      about: 'LwM2M objects of all models.',
      authorities: TENANT,
      query: { page: paging },
      answer: listShape(OBJECT),
      handle: async ({ principal, query: { page } }) => {
        const found = await resources.lwm2mPage(principal, page)
        return sorted(found, page.sortProperty === 'name' ? 'name' : 'id', page.sortOrder ?? 'ASC')
      },
    }),
  ]
}

function sorted(objects: readonly JsonObject[], property: 'id' | 'name', order: 'ASC' | 'DESC'): JsonObject[] {
  const direction = order === 'DESC' ? -1 : 1
  const key = (object: JsonObject): number | string => {
    const value = object[property]
    return typeof value === 'number' || typeof value === 'string' ? value : ''
  }
  return objects.toSorted((a, b) => {
    const [one, other] = [key(a), key(b)]
    return one === other ? 0 : one < other ? -direction : direction
  })
}
