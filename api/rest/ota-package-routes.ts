/** OTA packages. Source: `rest-api.md` 14.3. */
import { z } from 'zod'
import { entityId, isUuid } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { CHECKSUM_ALGORITHMS } from '../../services/content/checksums.ts'
import { ContentErrors } from '../../services/content/errors.ts'
import type { OtaPackages } from '../../services/content/ota-packages.ts'
import { draftOf } from '../../services/entities/define.ts'
import { OTA_TYPES, otaPackages } from '../../services/entities/ota-package.ts'
import { found, requireKnownUser, tenantOf } from './authorize.ts'
import { jsonWithBytes } from './files.ts'
import { attachment, MAX_UPLOAD_BYTES, uploadedFile } from './form.ts'
import { rawAnswer } from './declared/declare.ts'
import { crud, type EntityRoutesParts } from './declared/entity-routes.ts'
import { optionalText, paging, requiredChoiceOfAnyCase } from './declared/query.ts'
import { pageShape, recordShape } from './declared/shapes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { oneOf } from './query.ts'
import { TENANT, TENANT_AND_CUSTOMER } from './route.ts'

export interface OtaRoutesParts extends EntityRoutesParts {
  readonly content: { readonly otaPackages: OtaPackages }
}

const WORDS = { one: 'otaPackage', many: 'otaPackages', nameParameter: 'title' } as const
const shape = recordShape(otaPackages)
const INFO: JsonObject = {
  ...shape,
  properties: { ...(shape['properties'] as JsonObject), name: { type: 'string' }, version: { type: 'string' } },
}
const TO_READ = { entity: otaPackages, operation: 'READ' } as const

const { columns } = otaPackages
const saved = z
  .object({
    id: z
      .object({ id: z.string().refine(isUuid, 'a UUID is expected') })
      .nullish()
      .transform((value) => value?.id.toLowerCase()),
    deviceProfileId: columns.deviceProfileId.input.optional(),
    type: z.enum(OTA_TYPES).nullish(),
    title: columns.title.input.optional(),
    version: columns.packageVersion.input.optional(),
    tag: columns.tag.input.optional(),
    url: columns.url.input.optional(),
    usesUrl: z.boolean().nullish(),
    additionalInfo: columns.additionalInfo.input.optional(),
  })
  .transform(({ version, usesUrl, ...members }) => {
    if (usesUrl === true && (members.url ?? '').trim() === '') throw ContentErrors.OTA_URL_MISSING()
    return draftOf<typeof columns>({ ...members, type: members.type ?? undefined, packageVersion: version })
  })

export function otaPackageRoutes(parts: OtaRoutesParts): readonly DeclaredRoute[] {
  const { make, declared, content } = parts
  const service = declared.of(otaPackages)
  const pages = { method: 'GET', authorities: TENANT_AND_CUSTOMER, body: undefined, answer: pageShape(INFO) } as const
  return [
    ...crud(parts, service, WORDS, { read: TENANT, save: TENANT }).filter(({ method }) => method === 'DELETE'),
    make.route({
      method: 'GET',
      path: '/api/otaPackage/{otaPackageId}',
      about: 'One OTA package with its bytes.',
      authorities: TENANT,
      targets: { otaPackageId: TO_READ },
      query: {},
      body: undefined,
      answer: INFO,
      handle: async ({ path: { otaPackageId } }) => {
        const record = found(await service.findAnywhere(otaPackageId), 'Ota package', otaPackageId)
        const rendered = await service.renderOne(record)
        if (!record.hasData) return { ...rendered, data: null }
        const { bytes, release } = await content.otaPackages.download(otaPackageId)
        return jsonWithBytes({ ...rendered, data: bytes.toString('base64') }, release)
      },
    }),
    make.route({
      method: 'GET',
      path: '/api/otaPackage/info/{otaPackageId}',
      about: 'One OTA package.',
      authorities: TENANT_AND_CUSTOMER,
      targets: { otaPackageId: TO_READ },
      query: {},
      body: undefined,
      answer: INFO,
      handle: async ({ path: { otaPackageId } }) =>
        service.renderOne(found(await service.findAnywhere(otaPackageId), 'Ota package', otaPackageId)),
    }),
    make.route({
      method: 'POST',
      path: '/api/otaPackage',
      about: 'Makes an OTA package, to which its bytes are uploaded, or which names their address.',
      authorities: TENANT,
      targets: {},
      query: {},
      body: saved,
      example: (ids) => ({
        id: { entityType: 'OTA_PACKAGE', id: ids['otaPackageId'] ?? '' },
        type: 'FIRMWARE',
        title: 'Firmware',
        version: '1.0',
      }),
      creates: ({ id }) => (id === undefined ? 'OTA_PACKAGE' : undefined),
      bodyTargets: ({ id }) =>
        id === undefined ? [] : [{ entity: entityId('OTA_PACKAGE', id), operation: 'WRITE' as const }],
      answer: INFO,
      handle: async ({ principal, body }) => service.renderOne(await service.saveByUser(principal, body)),
    }),
    make.route({
      method: 'POST',
      path: '/api/otaPackage/{otaPackageId}',
      about: 'Uploads the bytes of an OTA package, once.',
      authorities: TENANT,
      targets: { otaPackageId: { entity: otaPackages, operation: 'WRITE' } },
      query: { checksum: optionalText, checksumAlgorithm: requiredChoiceOfAnyCase(CHECKSUM_ALGORITHMS) },
      bodyIs: 'form',
      maxBodyBytes: MAX_UPLOAD_BYTES,
      body: z.object({ file: uploadedFile }),
      example: () => ({ file: { text: 'abc', fileName: 'fw.bin' } }),
      answer: INFO,
      handle: async ({ principal, path, query: { checksum, checksumAlgorithm }, body: { file } }) => {
        const { otaPackages: packages } = content
        const saved = await packages.upload(principal, path.otaPackageId, checksumAlgorithm, checksum, file)
        return service.renderOne(saved)
      },
    }),
    make.route({
      method: 'GET',
      path: '/api/otaPackage/{otaPackageId}/download',
      about: 'The bytes of an OTA package.',
      authorities: TENANT,
      targets: { otaPackageId: TO_READ },
      query: {},
      body: undefined,
      answer: { type: 'string', format: 'binary' },
      handle: async ({ path }) => {
        const { record, bytes, release } = await content.otaPackages.download(path.otaPackageId)
        return rawAnswer({
          status: 200,
          contentType: record.contentType ?? 'application/octet-stream',
          body: '',
          ...{ bytes, release },
          headers: attachment(record.fileName ?? record.title),
        })
      },
    }),
    make.route({
      ...pages,
      path: '/api/otaPackages',
      about: 'The OTA packages of the tenant.',
      targets: {},
      query: { page: paging },
      handle: async ({ principal, query }) => {
        requireKnownUser(principal)
        const page = await content.otaPackages.page(tenantOf(principal), {}, query.page)
        return { ...page, data: await service.render(page.data) }
      },
    }),
    make.route({
      ...pages,
      path: '/api/otaPackages/{deviceProfileId}/{type}',
      about: 'The OTA packages that devices of a profile can load.',
      targets: {
        deviceProfileId: { untargeted: 'a filter of packages of the own tenant, which are all that is shown' },
      },
      query: { page: paging },
      handle: async ({ principal, path: { deviceProfileId, type: asked }, query }) => {
        requireKnownUser(principal)
        const type = oneOf('type', asked, OTA_TYPES)
        const page = await content.otaPackages.page(tenantOf(principal), { deviceProfileId, type }, query.page)
        return { ...page, data: await service.render(page.data) }
      },
    }),
  ]
}
