/** Images. Source: `rest-api.md` 14.3. */
import { z } from 'zod'
import type { JsonObject } from '../../model/json.ts'
import { mediaTypeOf, previewDescriptorOf, type Images } from '../../services/content/images.ts'
import type { Resources } from '../../services/content/resources.ts'
import { tbResources, type TbResource } from '../../services/entities/tb-resource.ts'
import { ApiErrors } from '../errors.ts'
import type { EntityRoutesParts } from './declared/entity-routes.ts'
import { flag, optionalChoice, paging } from './declared/query.ts'
import { openRoute } from './declared/open-route.ts'
import type { DeclaredOpenRoute, DeclaredRoute, Target } from './declared/route.ts'
import { pageShape } from './declared/shapes.ts'
import { fileAnswer, jsonWithBytes } from './files.ts'
import { MAX_UPLOAD_BYTES, uploadedFile } from './form.ts'
import { FLAG_WORDS, flagOf } from './query.ts'
import { base64, deleteAnswer, DELETED, EXPORTED, IMAGE_SUB_TYPES, RESOURCE } from './resource-shapes.ts'
import { EVERYBODY, SYSTEM_AND_TENANT } from './route.ts'

export interface ImageRoutesParts extends EntityRoutesParts {
  readonly content: { readonly images: Images; readonly resources: Resources }
}

/** Whose: as links say it. */
const SCOPES = ['tenant', 'system'] as const
/** A picture of one pixel. */
const EXAMPLE = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'
const exampleFile = (): JsonObject => ({ file: { base64: EXAMPLE, fileName: 'dot.gif' } })
const form = { bodyIs: 'form', maxBodyBytes: MAX_UPLOAD_BYTES, example: exampleFile, query: {} } as const

export function imageRoutes(parts: ImageRoutesParts): readonly DeclaredRoute[] {
  return [...listRoutes(parts), ...readRoutes(parts), ...changeRoutes(parts)]
}

/** Everybody sees what is public. */
export function publicImageRoute({ resources }: Pick<ImageRoutesParts['content'], 'resources'>): DeclaredOpenRoute {
  return openRoute({
    method: 'GET',
    path: '/api/images/public/{publicResourceKey}',
    about: 'A picture that is public.',
    query: {},
    body: undefined,
    answer: { type: 'string', format: 'binary' },
    handle: async ({ path: { publicResourceKey }, header }) => {
      const record = await resources.findPublic(publicResourceKey)
      if (record === undefined) throw ApiErrors.NOT_FOUND()
      return fileAnswer(header('if-none-match'), {
        contentType: mediaTypeOf(record),
        etag: record.etag ?? '',
        read: () => resources.hold(record, 'unknown'),
      })
    },
  })
}

/** The image that a path names by whose it is and its key. */
function imageTo({ content }: ImageRoutesParts, operation: 'READ' | 'WRITE' | 'DELETE') {
  const target: Target<TbResource> = {
    entity: tbResources,
    operation,
    idOf: async ({ imageType, imageKey = '' }, principal) =>
      (await content.resources.findByKey(principal, 'IMAGE', imageType === 'system', imageKey))?.id,
  }
  return { imageKey: target }
}

function listRoutes({ make, content: { images, resources } }: ImageRoutesParts): readonly DeclaredRoute[] {
  const { service } = resources
  return [
    make.route({
      method: 'GET',
      path: '/api/images',
      about: 'The images of the tenant, and of the system where asked for; symbols only where their kind is named.',
      authorities: SYSTEM_AND_TENANT,
      targets: {},
      query: { imageSubType: optionalChoice(IMAGE_SUB_TYPES), includeSystemImages: flag(false), page: paging },
      body: undefined,
      answer: pageShape(RESOURCE),
      handle: async ({ principal, query: { imageSubType, includeSystemImages, page } }) => {
        const subTypes = [imageSubType ?? 'IMAGE']
        const found = await resources.page(
          principal,
          { types: ['IMAGE'], subTypes, isOwnOnly: !includeSystemImages },
          page,
        )
        return { ...found, data: await service.render(found.data) }
      },
    }),
    make.route({
      ...form,
      method: 'POST',
      path: '/api/image',
      about: 'Uploads an image.',
      authorities: SYSTEM_AND_TENANT,
      targets: {},
      creates: () => 'TB_RESOURCE',
      body: z.object({
        file: uploadedFile,
        title: z.string().optional(),
        imageSubType: z.enum(IMAGE_SUB_TYPES).or(z.literal('')).optional(),
      }),
      answer: RESOURCE,
      handle: async ({ principal, body: { file, title, imageSubType } }) => {
        const { fileName, bytes } = file
        const subType = imageSubType === '' ? undefined : imageSubType
        return service.renderOne(await images.create(principal, { fileName, bytes, title, subType }))
      },
    }),
    make.route({
      method: 'PUT',
      path: '/api/image/import',
      about: 'Makes an image of what another server exported.',
      authorities: SYSTEM_AND_TENANT,
      targets: {},
      query: {},
      creates: () => 'TB_RESOURCE',
      maxBodyBytes: MAX_UPLOAD_BYTES,
      body: z.object({
        title: z.string().nullish(),
        subType: z.enum(IMAGE_SUB_TYPES).nullish(),
        fileName: z.string().min(1),
        publicResourceKey: z.string().max(255).nullish(),
        public: z.boolean().nullish(),
        isPublic: z.boolean().nullish(),
        data: base64,
      }),
      example: () => ({ title: 'Dot', fileName: 'dot.gif', data: EXAMPLE, public: false }),
      answer: RESOURCE,
      handle: async ({ principal, body }) => {
        const { title, subType, fileName, publicResourceKey, data } = body
        const draft = {
          ...{ fileName, bytes: data, public: body.public ?? body.isPublic ?? false },
          ...{ title: title ?? undefined, subType: subType ?? undefined },
          publicResourceKey: publicResourceKey ?? undefined,
        }
        return service.renderOne(await images.create(principal, draft))
      },
    }),
  ]
}

function readRoutes(parts: ImageRoutesParts): readonly DeclaredRoute[] {
  const { make, content } = parts
  const { images, resources } = content
  const common = {
    method: 'GET',
    targets: imageTo(parts, 'READ'),
    query: {},
    body: undefined,
    words: { imageType: SCOPES },
  } as const
  const binary = { type: 'string', format: 'binary' }
  return [
    make.route({
      ...common,
      path: '/api/images/{imageType}/{imageKey}',
      about: 'The picture.',
      authorities: EVERYBODY,
      answer: binary,
      handle: async ({ targets: { imageKey: record }, header }) => {
        return fileAnswer(header('if-none-match'), {
          contentType: mediaTypeOf(record),
          etag: record.etag ?? '',
          read: () => resources.hold(record),
          fileName: record.fileName ?? record.title,
        })
      },
    }),
    make.route({
      ...common,
      path: '/api/images/{imageType}/{imageKey}/preview',
      about: 'A small picture of it.',
      authorities: EVERYBODY,
      answer: binary,
      handle: async ({ targets: { imageKey: record }, header }) => {
        const { mediaType, etag } = previewDescriptorOf(record)
        return fileAnswer(header('if-none-match'), {
          contentType: mediaType,
          etag,
          read: () => resources.holdPreview(record),
          fileName: record.fileName ?? record.title,
        })
      },
    }),
    make.route({
      ...common,
      path: '/api/images/{imageType}/{imageKey}/info',
      about: 'What is known of an image.',
      authorities: SYSTEM_AND_TENANT,
      answer: RESOURCE,
      handle: async ({ targets }) => resources.service.renderOne(targets.imageKey),
    }),
    make.route({
      ...common,
      path: '/api/images/{imageType}/{imageKey}/export',
      about: 'An image with its bytes, for another server.',
      authorities: SYSTEM_AND_TENANT,
      answer: EXPORTED,
      handle: async ({ targets }) => {
        const { image, release } = await images.exported(targets.imageKey)
        return jsonWithBytes(image, release)
      },
    }),
  ]
}

function changeRoutes(parts: ImageRoutesParts): readonly DeclaredRoute[] {
  const { make, content } = parts
  const { images, resources } = content
  const { service } = resources
  const common = { authorities: SYSTEM_AND_TENANT, answer: RESOURCE, words: { imageType: SCOPES } } as const
  return [
    make.route({
      ...common,
      ...form,
      method: 'PUT',
      path: '/api/images/{imageType}/{imageKey}',
      about: 'Puts another picture in the place of this one.',
      targets: imageTo(parts, 'WRITE'),
      body: z.object({ file: uploadedFile }),
      handle: async ({ principal, targets, body: { file } }) =>
        service.renderOne(await images.replace(principal, targets.imageKey, file.fileName, file.bytes)),
    }),
    make.route({
      ...common,
      method: 'PUT',
      path: '/api/images/{imageType}/{imageKey}/info',
      about: 'Gives an image another title.',
      targets: imageTo(parts, 'WRITE'),
      query: {},
      body: z.object({ title: tbResources.columns.title.input }),
      example: () => ({ title: 'Dot' }),
      handle: async ({ principal, targets, body: { title = '' } }) =>
        service.renderOne(await images.rename(principal, targets.imageKey, title)),
    }),
    make.route({
      ...common,
      method: 'PUT',
      path: '/api/images/{imageType}/{imageKey}/public/{isPublic}',
      about: 'Lets everybody see an image by its public link, or nobody any longer.',
      targets: imageTo(parts, 'WRITE'),
      words: { imageType: SCOPES, isPublic: FLAG_WORDS },
      query: {},
      body: undefined,
      handle: async ({ principal, targets, path: { isPublic } }) =>
        service.renderOne(await images.setPublic(principal, targets.imageKey, flagOf('isPublic', isPublic))),
    }),
    make.route({
      ...common,
      method: 'DELETE',
      path: '/api/images/{imageType}/{imageKey}',
      about: 'Deletes an image; one that is shown somewhere only by force.',
      targets: imageTo(parts, 'DELETE'),
      query: { force: flag(false) },
      body: undefined,
      answer: DELETED,
      handle: async ({ principal, targets, query: { force } }) =>
        deleteAnswer(await resources.delete(principal, targets.imageKey, force)),
    }),
  ]
}
