/** Widget types and widgets bundles. Source: `rest-api.md` 14.2. */
import { z } from 'zod'
import { entityId, isUuid } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { draftOf } from '../../services/entities/define.ts'
import type { Widgets } from '../../services/content/widgets.ts'
import { widgetTypeOnly, widgetTypes, type WidgetType } from '../../services/entities/widget-type.ts'
import { widgetsBundles, type WidgetsBundle } from '../../services/entities/widgets-bundle.ts'
import { found } from './authorize.ts'
import {
  crudWithImages,
  draftWithFiles,
  MAX_WITH_FILES_BYTES,
  withFiles,
  withoutImages,
  type ImageRoutesParts,
} from './declared/image-crud.ts'
import {
  optionalChoice,
  flag,
  paging,
  requiredFlag,
  requiredText,
  requiredUuid,
  textList,
  uuidList,
} from './declared/query.ts'
import { idShape, listShape, pageShape, recordShape } from './declared/shapes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { EMPTY_ANSWER, EVERYBODY, SYSTEM_AND_TENANT } from './route.ts'

export interface WidgetRoutesParts extends ImageRoutesParts {
  readonly content: ImageRoutesParts['content'] & { readonly widgets: Widgets }
}

const TYPE_WORDS = { one: 'widgetType', many: 'widgetTypes', nameParameter: 'fqn' } as const
const BUNDLE_WORDS = { one: 'widgetsBundle', many: 'widgetsBundles', nameParameter: 'title' } as const
const BUNDLE_TO_READ = { entity: widgetsBundles, operation: 'READ' } as const
const BUNDLE_TO_WRITE = { entity: widgetsBundles, operation: 'WRITE' } as const
const MAX_WIDGETS = 1_000

const COMMON = {
  id: idShape('WIDGET_TYPE'),
  createdTime: { type: 'integer' },
  tenantId: idShape('TENANT'),
  fqn: { type: 'string' },
  name: { type: 'string' },
  deprecated: { type: 'boolean' },
  scada: { type: 'boolean' },
  version: { type: 'integer' },
}
const WIDGET_TYPE: JsonObject = {
  type: 'object',
  properties: { ...COMMON, descriptor: {} },
  required: [...Object.keys(COMMON), 'descriptor'],
}
const WIDGET_TYPE_INFO: JsonObject = {
  type: 'object',
  properties: {
    ...COMMON,
    image: { type: ['string', 'null'] },
    description: { type: ['string', 'null'] },
    tags: { type: ['array', 'null'] },
    widgetType: { type: ['string', 'null'] },
    bundles: { type: 'array' },
  },
  required: [...Object.keys(COMMON), 'widgetType', 'bundles'],
}
const DETAILS = recordShape(widgetTypes)
const BUNDLE = recordShape(widgetsBundles)

const BY_ALIAS = { isSystem: requiredFlag, bundleAlias: requiredText } as const
const BY_BUNDLE = { widgetsBundleId: requiredUuid } as const
const bundleToRead = ({ widgetsBundleId }: { readonly widgetsBundleId: string }) => [
  { entity: entityId('WIDGETS_BUNDLE', widgetsBundleId), operation: 'READ' as const },
]
const DEPRECATED = { ALL: undefined, ACTUAL: false, DEPRECATED: true } as const
const TYPE_FILTERS = {
  fullSearch: flag(false),
  deprecatedFilter: optionalChoice(['ALL', 'ACTUAL', 'DEPRECATED']),
  widgetTypeList: textList,
  page: paging,
} as const
const GET = { method: 'GET', body: undefined, targets: {} } as const

export function widgetRoutes(parts: WidgetRoutesParts): readonly DeclaredRoute[] {
  return [...typeRoutes(parts), ...typesOfBundleRoutes(parts), ...bundleRoutes(parts), ...contentRoutes(parts)]
}

function typeRoutes(parts: WidgetRoutesParts): readonly DeclaredRoute[] {
  const { make, declared, content } = parts
  const service = declared.of(widgetTypes)
  const only = async (type: WidgetType) => widgetTypeOnly(await service.renderOne(type))
  const authorities = { read: SYSTEM_AND_TENANT, save: SYSTEM_AND_TENANT, remove: SYSTEM_AND_TENANT }
  // The save has a parameter of its own.
  const shared = crudWithImages(parts, service, TYPE_WORDS, authorities, { carriesFiles: true }).filter(
    ({ method }) => method !== 'POST',
  )
  return [
    ...shared,
    make.route({
      method: 'POST',
      path: '/api/widgetType',
      about: 'Makes a widget type, or replaces the one that the body names.',
      authorities: SYSTEM_AND_TENANT,
      targets: {},
      query: { updateExistingByFqn: flag(false) },
      body: draftWithFiles(widgetTypes),
      maxBodyBytes: MAX_WITH_FILES_BYTES,
      example: (ids) => ({
        ...widgetTypes.example(ids),
        id: { entityType: 'WIDGET_TYPE', id: ids['widgetTypeId'] ?? '' },
      }),
      creates: ({ id }) => (id === undefined ? 'WIDGET_TYPE' : undefined),
      bodyTargets: ({ id }) =>
        id === undefined ? [] : [{ entity: entityId('WIDGET_TYPE', id), operation: 'WRITE' as const }],
      answer: DETAILS,
      handle: async ({ principal, query, body: { resources, ...members } }) => {
        const draft = await withoutImages(parts, widgetTypes, principal, draftOf(members), resources)
        return service.renderOne(await content.widgets.saveType(principal, draft, query.updateExistingByFqn))
      },
    }),
    make.route({
      ...GET,
      path: '/api/widgetTypeInfo/{widgetTypeId}',
      about: 'One widget type without its descriptor, with the bundles that hold it.',
      authorities: SYSTEM_AND_TENANT,
      targets: { widgetTypeId: { entity: widgetTypes, operation: 'READ' } },
      query: {},
      answer: WIDGET_TYPE_INFO,
      handle: async ({ principal, path }) => {
        const type = found(await service.findAnywhere(path.widgetTypeId), 'Widget type', path.widgetTypeId)
        return (await content.widgets.infos(principal, [type]))[0] ?? {}
      },
    }),
    make.route({
      ...GET,
      path: '/api/widgetType',
      about: 'The widget type of a name with its scope: `system.card`, `tenant.card`.',
      authorities: EVERYBODY,
      query: { fqn: requiredText },
      onlyWith: ['fqn'],
      answer: WIDGET_TYPE,
      handle: async ({ principal, query }) => only(await content.widgets.findByFqn(principal, query.fqn)),
    }),
    make.route({
      ...GET,
      path: '/api/widgetType',
      about: 'The same as old dashboards name it.',
      authorities: EVERYBODY,
      query: { ...BY_ALIAS, alias: requiredText },
      onlyWith: ['isSystem', 'bundleAlias', 'alias'],
      answer: WIDGET_TYPE,
      handle: async ({ principal, query: { isSystem, bundleAlias, alias } }) =>
        only(await content.widgets.findByAliases(principal, isSystem, bundleAlias, alias)),
    }),
    make.route({
      ...GET,
      path: '/api/widgetTypes',
      about: "The tenant's widget types and the system's.",
      authorities: EVERYBODY,
      query: { tenantOnly: flag(false), scadaFirst: flag(false), ...TYPE_FILTERS },
      answer: pageShape(WIDGET_TYPE_INFO),
      handle: async ({ principal, query: { page, deprecatedFilter, widgetTypeList, ...filter } }) => {
        const wanted = { ...filter, deprecated: DEPRECATED[deprecatedFilter ?? 'ALL'], kinds: kinds(widgetTypeList) }
        const result = await content.widgets.typePage(principal, wanted, page)
        return { ...result, data: await content.widgets.infos(principal, result.data) }
      },
    }),
  ]
}

/** `control` is what people call the kind `rpc`. */
function kinds(list: readonly string[]): readonly string[] {
  return list.map((kind) => (kind === 'control' ? 'rpc' : kind))
}

/** What a bundle holds, in its five forms, by the bundle's id and by its alias. */
function typesOfBundleRoutes(parts: WidgetRoutesParts): readonly DeclaredRoute[] {
  const { make, declared, content } = parts
  const service = declared.of(widgetTypes)
  const { widgets } = content
  const details = (types: readonly WidgetType[]) => service.render(types)
  const plain = async (types: readonly WidgetType[]) => (await details(types)).map(widgetTypeOnly)
  const ofId = (principal: Principal, id: string) => widgets.typesOf(principal, id)
  const ofAlias = async (principal: Principal, isSystem: boolean, alias: string) =>
    widgets.typesOf(principal, (await widgets.findBundleByAlias(principal, isSystem, alias)).id)
  const byId = {
    ...GET,
    query: BY_BUNDLE,
    queryTargets: bundleToRead,
    onlyWith: ['widgetsBundleId'],
    authorities: EVERYBODY,
  } as const
  const byAlias = { ...GET, query: BY_ALIAS, onlyWith: ['isSystem', 'bundleAlias'] } as const
  return [
    make.route({
      ...GET,
      path: '/api/widgetsBundle/{widgetsBundleId}/widgetTypes',
      about: 'The widget types of a bundle, in its order.',
      authorities: EVERYBODY,
      targets: { widgetsBundleId: BUNDLE_TO_READ },
      query: {},
      answer: listShape(WIDGET_TYPE),
      handle: async ({ principal, path }) => plain(await ofId(principal, path.widgetsBundleId)),
    }),
    make.route({
      ...byId,
      path: '/api/widgetTypes',
      about: 'The widget types of a bundle, in its order.',
      answer: listShape(WIDGET_TYPE),
      handle: async ({ principal, query }) => plain(await ofId(principal, query.widgetsBundleId)),
    }),
    make.route({
      ...byAlias,
      path: '/api/widgetTypes',
      about: 'The widget types of the bundle of that alias.',
      authorities: SYSTEM_AND_TENANT,
      answer: listShape(WIDGET_TYPE),
      handle: async ({ principal, query }) => plain(await ofAlias(principal, query.isSystem, query.bundleAlias)),
    }),
    make.route({
      ...byId,
      path: '/api/widgetTypesDetails',
      about: 'The widget types of a bundle with all that is known of them.',
      query: { ...BY_BUNDLE, includeResources: flag(false) },
      answer: listShape(DETAILS),
      handle: async ({ principal, query }) => {
        const shown = await details(await ofId(principal, query.widgetsBundleId))
        return query.includeResources ? withFiles(parts, principal, shown, (carrying) => carrying) : shown
      },
    }),
    make.route({
      ...byAlias,
      path: '/api/widgetTypesDetails',
      about: 'The same by the alias of the bundle.',
      authorities: SYSTEM_AND_TENANT,
      answer: listShape(DETAILS),
      handle: async ({ principal, query }) => details(await ofAlias(principal, query.isSystem, query.bundleAlias)),
    }),
    make.route({
      ...byId,
      path: '/api/widgetTypeFqns',
      about: 'The names of the widget types of a bundle.',
      authorities: SYSTEM_AND_TENANT,
      answer: listShape({ type: 'string' }),
      handle: async ({ principal, query }) => (await ofId(principal, query.widgetsBundleId)).map(({ fqn }) => fqn),
    }),
    make.route({
      ...GET,
      path: '/api/widgetTypesInfos',
      about: 'The widget types of a bundle without their descriptors.',
      authorities: EVERYBODY,
      query: { ...BY_BUNDLE, ...TYPE_FILTERS },
      queryTargets: bundleToRead,
      onlyWith: ['widgetsBundleId'],
      answer: pageShape(WIDGET_TYPE_INFO),
      handle: async ({ principal, query: { page, deprecatedFilter, widgetTypeList, ...filter } }) => {
        const wanted = { ...filter, deprecated: DEPRECATED[deprecatedFilter ?? 'ALL'], kinds: kinds(widgetTypeList) }
        const result = await widgets.typePage(principal, wanted, page)
        return { ...result, data: await widgets.infos(principal, result.data) }
      },
    }),
    make.route({
      ...byAlias,
      path: '/api/widgetTypesInfos',
      about: 'The same by the alias of the bundle.',
      authorities: EVERYBODY,
      answer: listShape(WIDGET_TYPE_INFO),
      handle: async ({ principal, query }) =>
        widgets.infos(principal, await ofAlias(principal, query.isSystem, query.bundleAlias)),
    }),
  ]
}

function bundleRoutes(parts: WidgetRoutesParts): readonly DeclaredRoute[] {
  const { make, declared, content } = parts
  const service = declared.of(widgetsBundles)
  const render = (bundles: readonly WidgetsBundle[]) => service.render(bundles)
  const all = (path: '/api/widgetsBundles' | '/api/widgetsBundles/all') =>
    make.route({
      ...GET,
      path,
      about: "All bundles: the tenant's and the system's.",
      authorities: EVERYBODY,
      query: {},
      answer: listShape(BUNDLE),
      handle: async ({ principal }) => render(await content.widgets.allBundles(principal)),
    })
  const byIds = (path: '/api/widgetsBundles' | '/api/widgetsBundles/list') =>
    make.route({
      ...GET,
      path,
      about: 'The bundles of these ids, without those that the caller may not see.',
      authorities: EVERYBODY,
      query: { widgetsBundleIds: uuidList },
      onlyWith: ['widgetsBundleIds'],
      answer: listShape(BUNDLE),
      handle: async ({ principal, query }) =>
        render(await content.widgets.bundlesByIds(principal, query.widgetsBundleIds)),
    })
  return [
    ...crudWithImages(parts, service, BUNDLE_WORDS, {
      read: EVERYBODY,
      save: SYSTEM_AND_TENANT,
      remove: SYSTEM_AND_TENANT,
    }),
    all('/api/widgetsBundles'),
    all('/api/widgetsBundles/all'),
    byIds('/api/widgetsBundles'),
    byIds('/api/widgetsBundles/list'),
    make.route({
      ...GET,
      path: '/api/widgetsBundles',
      about: "The tenant's bundles and the system's, in pages.",
      authorities: EVERYBODY,
      query: { tenantOnly: flag(false), fullSearch: flag(false), scadaFirst: flag(false), page: paging },
      onlyWith: ['pageSize', 'page'],
      answer: pageShape(BUNDLE),
      handle: async ({ principal, query: { page, ...filter } }) => {
        const result = await content.widgets.bundlePage(principal, filter, page)
        return { ...result, data: await render(result.data) }
      },
    }),
  ]
}

const typeIds = z
  .array(
    z
      .string()
      .refine(isUuid, 'a UUID is expected')
      .transform((text) => text.toLowerCase()),
  )
  .max(MAX_WIDGETS)

function contentRoutes({ make, content }: WidgetRoutesParts): readonly DeclaredRoute[] {
  const common = {
    method: 'POST',
    authorities: SYSTEM_AND_TENANT,
    targets: { widgetsBundleId: BUNDLE_TO_WRITE },
    query: {},
    answer: undefined,
  } as const
  return [
    make.route({
      ...common,
      path: '/api/widgetsBundle/{widgetsBundleId}/widgetTypes',
      about: 'Sets what the bundle holds, in this order.',
      body: typeIds,
      bodyTargets: (ids) => ids.map((id) => ({ entity: entityId('WIDGET_TYPE', id), operation: 'READ' as const })),
      example: (ids) => [ids['widgetTypeId'] ?? ''],
      handle: async ({ principal, path, body }) => {
        await content.widgets.setContent(principal, path.widgetsBundleId, body)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...common,
      path: '/api/widgetsBundle/{widgetsBundleId}/widgetTypeFqns',
      about: 'The same by the names of the widget types.',
      body: z.array(z.string()).max(MAX_WIDGETS),
      example: () => ['card'],
      handle: async ({ principal, path, body }) => {
        await content.widgets.setContentByFqns(principal, path.widgetsBundleId, body)
        return EMPTY_ANSWER
      },
    }),
  ]
}
