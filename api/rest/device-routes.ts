/** Devices and their credentials. Source: `rest-api.md` 5.1 to 5.3. */
import { z } from 'zod'
import { CREDENTIALS_TYPES } from '../../model/entities.ts'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { devices } from '../../services/entities/device.ts'
import { deviceCredentialsJson } from '../../services/entity-json.ts'
import type { Services } from '../../services/services.ts'
import { ApiErrors } from '../errors.ts'
import { idObject, optionalId, optionalText, optionalVersion } from './body.ts'
import { byRelation, type RelatedRoutesParts } from './declared/by-relation.ts'
import { draftSchema, saveOne } from './declared/crud-routes.ts'
import { assignment, crud, infos, lists, type EntityRoutesParts } from './declared/entity-routes.ts'
import { typesRoute } from './declared/profile-routes.ts'
import { optionalText as optionalTextParameter } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { idShape, recordShape } from './declared/shapes.ts'
import { TENANT, TENANT_AND_CUSTOMER } from './route.ts'

const WORDS = {
  one: 'device',
  many: 'devices',
  nameParameter: 'deviceName',
  filters: { type: 'text' },
} as const
const INFO_WORDS = { ...WORDS, filters: { type: 'text', deviceProfileId: 'uuid', active: 'flag' } } as const

const presentedSchema = z.object({
  credentialsType: z.enum(CREDENTIALS_TYPES),
  credentialsId: optionalText,
  credentialsValue: optionalText,
})

const credentialsSchema = presentedSchema.extend({
  id: optionalId,
  deviceId: idObject,
  version: optionalVersion,
})

export function deviceRoutes(parts: RelatedRoutesParts, services: Pick<Services, 'devices'>): readonly DeclaredRoute[] {
  const service = parts.declared.of(devices)
  const both = { read: TENANT_AND_CUSTOMER, save: TENANT_AND_CUSTOMER }
  const query = { accessToken: optionalTextParameter }
  const save = saveOne(parts, service, WORDS, TENANT_AND_CUSTOMER, query, (principal, draft, { accessToken }) =>
    // The token is for a new device: an old one has its call for credentials, which customers' users may not make.
    services.devices.saveByUser(principal, draft, draft.id === undefined ? accessToken : undefined),
  )
  return [
    ...crud(parts, service, WORDS, both, service, save),
    ...lists(parts, service, WORDS),
    ...infos(parts, service, INFO_WORDS),
    ...assignment(parts, service, WORDS),
    typesRoute(parts, service, WORDS),
    byRelation(parts, service, WORDS, 'deviceTypes'),
    ...credentialsRoutes(parts, services),
  ]
}

function credentialsRoutes(
  { make, declared }: EntityRoutesParts,
  { devices: service }: Pick<Services, 'devices'>,
): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'GET',
      path: '/api/device/{deviceId}/credentials',
      about: 'What a device presents when it connects.',
      authorities: TENANT_AND_CUSTOMER,
      targets: { deviceId: { entity: devices, operation: 'READ_CREDENTIALS' } },
      query: {},
      body: undefined,
      answer: CREDENTIALS_SHAPE,
      handle: async ({ principal, path }) => {
        const credentials = await service.credentials(declared.of(devices).tenantOf(principal), path.deviceId)
        if (credentials === undefined) throw ApiErrors.NOT_FOUND()
        return deviceCredentialsJson(credentials)
      },
    }),
    make.route({
      method: 'POST',
      path: '/api/device/credentials',
      about: "Changes a device's credentials; open sessions of the device end.",
      authorities: TENANT,
      targets: {},
      query: {},
      body: credentialsSchema,
      example: ({ deviceId = '' }) => ({
        deviceId: { entityType: 'DEVICE', id: deviceId },
        credentialsType: 'ACCESS_TOKEN',
        credentialsId: 'a token of its own',
      }),
      bodyTargets: ({ deviceId }) => [{ entity: entityId('DEVICE', deviceId.id), operation: 'WRITE_CREDENTIALS' }],
      answer: CREDENTIALS_SHAPE,
      handle: async ({ principal, body }) => {
        const { id, deviceId, version } = body
        const draft = { ...presentedOf(body), deviceId: deviceId.id, version, ...(id === undefined ? {} : { id }) }
        return deviceCredentialsJson(await service.saveCredentialsByUser(principal, draft))
      },
    }),
    make.route({
      method: 'POST',
      path: '/api/device-with-credentials',
      about: 'Makes a device with these credentials, or changes both; neither without the other.',
      authorities: TENANT_AND_CUSTOMER,
      targets: {},
      query: {},
      body: z.object({ device: draftSchema(devices), credentials: presentedSchema }),
      example: ({ deviceId = '' }) => ({
        device: { ...devices.example({}), id: { entityType: 'DEVICE', id: deviceId } },
        credentials: { credentialsType: 'ACCESS_TOKEN', credentialsId: 'another token of its own' },
      }),
      creates: ({ device }) => (device.id === undefined ? 'DEVICE' : undefined),
      bodyTargets: ({ device: { id } }) =>
        id === undefined
          ? []
          : (['WRITE', 'WRITE_CREDENTIALS'] as const).map((operation) => ({
              entity: entityId('DEVICE', id),
              operation,
            })),
      answer: recordShape(devices),
      handle: async ({ principal, body: { device, credentials } }) =>
        devices.jsonOf(await service.saveByUser(principal, device, presentedOf(credentials))),
    }),
  ]
}

function presentedOf({ credentialsType, credentialsId, credentialsValue }: z.infer<typeof presentedSchema>) {
  return { credentialsType, credentialsId: credentialsId ?? '', credentialsValue: credentialsValue ?? null }
}

const CREDENTIALS_SHAPE: JsonObject = {
  type: 'object',
  properties: {
    id: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } }, required: ['id'] },
    createdTime: { type: 'integer' },
    deviceId: idShape('DEVICE'),
    credentialsType: { type: 'string', enum: [...CREDENTIALS_TYPES] },
    credentialsId: { type: 'string' },
    credentialsValue: { type: ['string', 'null'] },
    version: { type: 'integer' },
  },
  required: ['id', 'createdTime', 'deviceId', 'credentialsType', 'credentialsId', 'credentialsValue', 'version'],
}
