/** Files that are no images. Source: `rest-api.md` 14.3. */
import { z } from 'zod'
import { entityId, isUuid } from '../../model/entity-id.ts'
import { parseJson, type JsonValue } from '../../model/json.ts'
import type { Resources } from '../../services/content/resources.ts'
import {
  RESOURCE_SUB_TYPES,
  RESOURCE_TYPES,
  tbResources,
  type ResourceType,
  type TbResource,
} from '../../services/entities/tb-resource.ts'
import { ApiErrors, ParameterErrors } from '../errors.ts'
import type { EntityRoutesParts } from './declared/entity-routes.ts'
import { flag, type QuerySchema } from './declared/query.ts'
import type { DeclaredRoute, Target } from './declared/route.ts'
import { fileAnswer, jsonWithBytes } from './files.ts'
import { MAX_UPLOAD_BYTES, uploadedFile } from './form.ts'
import { oneOf } from './query.ts'
import { resourceListRoutes } from './resource-list-routes.ts'
import { base64, deleteAnswer, DELETED, RESOURCE, RESOURCE_WITH_DATA } from './resource-shapes.ts'
import { EVERYBODY, SYSTEM_AND_TENANT, type Answer } from './route.ts'

export interface ResourceRoutesParts extends EntityRoutesParts {
  readonly content: { readonly resources: Resources }
}

const OCTETS = 'application/octet-stream'
const MEDIA_TYPES: Readonly<Partial<Record<ResourceType, string>>> = {
  LWM2M_MODEL: 'application/xml',
  JKS: 'application/x-java-keystore',
  PKCS_12: 'application/x-pkcs12',
  JS_MODULE: 'application/javascript',
  DASHBOARD: 'application/json',
}
/** Calls that give one kind of file, by the word in their path. */
const KINDS: Readonly<Record<string, ResourceType>> = {
  lwm2m: 'LWM2M_MODEL',
  jks: 'JKS',
  pkcs12: 'PKCS_12',
  js: 'JS_MODULE',
}
const LINKED_TYPES = ['JS_MODULE', 'LWM2M_MODEL', 'JKS', 'PKCS_12', 'DASHBOARD', 'GENERAL'] as const
/** As links name them, and as front ends ask for what is known of one; images have links of their own. */
const TYPE_WORDS = [...LINKED_TYPES.map((type) => type.toLowerCase()), ...LINKED_TYPES]
const BINARY = { type: 'string', format: 'binary' } as const
const NO_QUERY: QuerySchema = {}

const { columns } = tbResources
const saved = z.object({
  id: z
    .object({ id: z.string().refine(isUuid, 'a UUID is expected') })
    .nullish()
    .transform((value) => value?.id.toLowerCase()),
  title: columns.title.input.optional(),
  resourceType: columns.resourceType.input.optional(),
  resourceSubType: columns.resourceSubType.input.optional(),
  resourceKey: columns.resourceKey.input.optional(),
  fileName: columns.fileName.input.optional(),
  descriptor: columns.descriptor.input.optional(),
  data: base64.nullish().transform((bytes) => bytes ?? undefined),
})

const uploaded = z.object({
  file: uploadedFile,
  title: z.string().optional(),
  resourceType: z.string(),
  resourceSubType: z.enum(RESOURCE_SUB_TYPES).or(z.literal('')).optional(),
  descriptor: z.string().optional(),
})

const toRead: Target<TbResource> = { entity: tbResources, operation: 'READ' }
const toWrite: Target<TbResource> = { entity: tbResources, operation: 'WRITE' }

export function resourceRoutes(parts: ResourceRoutesParts): readonly DeclaredRoute[] {
  return [
    ...saveRoutes(parts),
    ...changeRoutes(parts),
    ...readRoutes(parts),
    ...byKeyRoutes(parts),
    ...resourceListRoutes(parts),
  ]
}

function saveRoutes({ make, content: { resources } }: ResourceRoutesParts): readonly DeclaredRoute[] {
  const { service } = resources
  const common = { authorities: SYSTEM_AND_TENANT, targets: {}, answer: RESOURCE, query: NO_QUERY } as const
  return [
    make.route({
      ...common,
      method: 'POST',
      path: '/api/resource',
      about: 'Makes a file, its bytes as base64, or replaces the one that the body names.',
      maxBodyBytes: MAX_UPLOAD_BYTES,
      body: saved,
      example: (ids) => ({
        id: { entityType: 'TB_RESOURCE', id: ids['resourceId'] ?? '' },
        title: 'Clock',
        resourceType: 'JS_MODULE',
        fileName: 'clock.js',
        data: 'ZXhwb3J0IHt9',
      }),
      creates: ({ id }) => (id === undefined ? 'TB_RESOURCE' : undefined),
      bodyTargets: ({ id }) =>
        id === undefined ? [] : [{ entity: entityId('TB_RESOURCE', id), operation: 'WRITE' as const }],
      handle: async ({ principal, body: { data, ...draft } }) =>
        service.renderOne(await resources.save(principal, draft, data)),
    }),
    make.route({
      ...common,
      method: 'POST',
      path: '/api/resource/upload',
      about: 'Uploads a file.',
      bodyIs: 'form',
      maxBodyBytes: MAX_UPLOAD_BYTES,
      creates: () => 'TB_RESOURCE',
      body: uploaded,
      example: () => ({ resourceType: 'JS_MODULE', file: { text: 'export {}', fileName: 'hours.js' } }),
      handle: async ({ principal, body: { file, title = '', resourceType, resourceSubType, descriptor } }) => {
        const type = oneOf('resourceType', resourceType, RESOURCE_TYPES)
        const draft = {
          title: title.trim() === '' ? file.fileName : title,
          resourceType: type,
          resourceSubType: resourceSubType === '' ? undefined : resourceSubType,
          fileName: file.fileName,
          descriptor: descriptorOf(descriptor) ?? (type === 'GENERAL' ? { mediaType: file.contentType } : null),
        }
        return service.renderOne(await resources.save(principal, draft, file.bytes))
      },
    }),
  ]
}

function descriptorOf(text: string | undefined): JsonValue | undefined {
  if (text === undefined || text.trim() === '') return undefined
  try {
    return parseJson(text)
  } catch (error) {
    throw ParameterErrors.BODY_INVALID({ reason: 'descriptor: JSON is expected' }, error)
  }
}

function changeRoutes({ make, content: { resources } }: ResourceRoutesParts): readonly DeclaredRoute[] {
  const { service } = resources
  const common = { authorities: SYSTEM_AND_TENANT, answer: RESOURCE, query: NO_QUERY } as const
  return [
    make.route({
      ...common,
      method: 'PUT',
      path: '/api/resource/{resourceId}/data',
      about: 'Puts other bytes in the place of those of a file.',
      targets: { resourceId: toWrite },
      bodyIs: 'form',
      maxBodyBytes: MAX_UPLOAD_BYTES,
      body: z.object({ file: uploadedFile }),
      example: () => ({ file: { text: 'export {}', fileName: 'clock.js' } }),
      handle: async ({ principal, targets: { resourceId: record }, body: { file } }) => {
        const draft = { id: record.id, fileName: file.fileName }
        return service.renderOne(await resources.save(principal, draft, file.bytes))
      },
    }),
    make.route({
      ...common,
      method: 'PUT',
      path: '/api/resource/{resourceId}/info',
      about: 'Changes what is said of a file.',
      targets: { resourceId: toWrite },
      body: saved.pick({ title: true, resourceSubType: true, fileName: true, descriptor: true }),
      example: () => ({ title: 'Clock', fileName: 'clock.js' }),
      handle: async ({ principal, path, body }) =>
        service.renderOne(await resources.save(principal, { ...body, id: path.resourceId })),
    }),
    make.route({
      ...common,
      method: 'DELETE',
      path: '/api/resource/{resourceId}',
      about: 'Deletes a file; one that is used somewhere only by force.',
      targets: { resourceId: { entity: tbResources, operation: 'DELETE' } satisfies Target<TbResource> },
      query: { force: flag(false) },
      body: undefined,
      answer: DELETED,
      handle: async ({ principal, path: { resourceId }, query }) => {
        const record = await service.findAnywhere(resourceId)
        if (record === undefined) throw ApiErrors.NOT_FOUND()
        return deleteAnswer(await resources.delete(principal, record, query.force))
      },
    }),
  ]
}

function readRoutes({ make, content: { resources } }: ResourceRoutesParts): readonly DeclaredRoute[] {
  const { service } = resources
  const common = { method: 'GET', query: NO_QUERY, body: undefined, targets: { resourceId: toRead } } as const
  return [
    make.route({
      ...common,
      path: '/api/resource/{resourceId}',
      about: 'One file with its bytes.',
      authorities: SYSTEM_AND_TENANT,
      answer: RESOURCE_WITH_DATA,
      handle: async ({ targets: { resourceId: record } }) => {
        const rendered = await service.renderOne(record)
        const preview = record.previewSize === 0 ? null : (await resources.readPreview(record)).toString('base64')
        const { bytes, release } = await resources.hold(record)
        return jsonWithBytes({ ...rendered, data: bytes.toString('base64'), preview }, release)
      },
    }),
    make.route({
      ...common,
      path: '/api/resource/info/{resourceId}',
      about: 'What is known of a file.',
      authorities: SYSTEM_AND_TENANT,
      answer: RESOURCE,
      handle: async ({ targets }) => service.renderOne(targets.resourceId),
    }),
    make.route({
      ...common,
      path: '/api/resource/{resourceId}/download',
      about: 'The bytes of a file, where they changed.',
      authorities: SYSTEM_AND_TENANT,
      answer: BINARY,
      handle: async ({ targets: { resourceId: record }, header }) =>
        downloaded(resources, record, header('if-none-match'), OCTETS),
    }),
    ...Object.entries(KINDS).map(([word, type]) =>
      make.route({
        ...common,
        path: `/api/resource/${word}/{${word}ResourceId}/download`,
        about: `The bytes of a file of the kind ${type}, where they changed.`,
        authorities: type === 'JS_MODULE' ? EVERYBODY : SYSTEM_AND_TENANT,
        targets: { [`${word}ResourceId`]: toRead },
        answer: BINARY,
        handle: async ({ targets, header }) => {
          const record = targets[`${word}ResourceId`]
          if (record?.resourceType !== type) throw ApiErrors.NOT_FOUND()
          return downloaded(resources, record, header('if-none-match'))
        },
      }),
    ),
  ]
}

function byKeyRoutes({ make, content: { resources } }: ResourceRoutesParts): readonly DeclaredRoute[] {
  const target: Target<TbResource> = {
    ...toRead,
    idOf: async ({ resourceType = '', resourceScope, resourceKey = '' }, principal) => {
      const type = RESOURCE_TYPES.find((known) => known === resourceType.toUpperCase())
      if (type === undefined) return undefined
      return (await resources.findByKey(principal, type, resourceScope === 'system', resourceKey))?.id
    },
  }
  const common = {
    method: 'GET',
    query: {},
    body: undefined,
    targets: { resourceKey: target },
    words: { resourceType: TYPE_WORDS, resourceScope: ['tenant', 'system'] },
  } as const
  return [
    make.route({
      ...common,
      path: '/api/resource/{resourceType}/{resourceScope}/{resourceKey}',
      about: 'The bytes of a file by its key, where they changed.',
      authorities: EVERYBODY,
      answer: BINARY,
      handle: async ({ targets, header }) => downloaded(resources, targets.resourceKey, header('if-none-match')),
    }),
    make.route({
      ...common,
      path: '/api/resource/{resourceType}/{resourceScope}/{resourceKey}/info',
      about: 'What is known of a file by its key.',
      authorities: SYSTEM_AND_TENANT,
      answer: RESOURCE,
      handle: async ({ targets }) => resources.service.renderOne(targets.resourceKey),
    }),
  ]
}

function downloaded(
  resources: Resources,
  record: TbResource,
  ifNoneMatch: string,
  contentType = mediaTypeOf(record),
): Promise<Answer> {
  const { etag, fileName, title } = record
  return fileAnswer(ifNoneMatch, {
    ...{ contentType, etag: etag ?? '', fileName: fileName ?? title },
    read: () => resources.hold(record),
  })
}

function mediaTypeOf({ resourceType }: TbResource): string {
  const type = RESOURCE_TYPES.find((known) => known === resourceType)
  return (type === undefined ? undefined : MEDIA_TYPES[type]) ?? OCTETS
}
