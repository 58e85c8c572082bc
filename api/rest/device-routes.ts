/** Devices and their credentials. Source: `rest-api.md` 5.1 to 5.3. */
import { z } from 'zod'
import { CREDENTIALS_TYPES } from '../../model/entities.ts'
import { entityId } from '../../model/entity-id.ts'
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { PACKAGE_MEMBERS } from '../../services/entities/assigned-packages.ts'
import { deviceProfiles } from '../../services/entities/device-profile.ts'
import { devices } from '../../services/entities/device.ts'
import { OTA_TYPES } from '../../services/entities/ota-package.ts'
import { deviceCredentialsJson } from '../../services/entity-json.ts'
import type { Services } from '../../services/services.ts'
import { ApiErrors } from '../errors.ts'
import { idObject, optionalId, optionalText, optionalVersion } from './body.ts'
import { byRelation, type RelatedRoutesParts } from './declared/by-relation.ts'
import { draftSchema, NAME_CONFLICT, nameConflictOf, saveOne } from './declared/crud-routes.ts'
import { assignment, crud, infos, lists, type EntityRoutesParts } from './declared/entity-routes.ts'
import { typesRoute } from './declared/profile-routes.ts'
import { optionalText as optionalTextParameter } from './declared/query.ts'
import { CredentialsErrors } from '../../services/devices/credentials-errors.ts'
import { withUnlikeName } from '../../services/entities/unlike-name.ts'
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
  credentialsType: z.enum(CREDENTIALS_TYPES).nullish(),
  credentialsId: optionalText,
  credentialsValue: optionalText,
})

const withCredentialsSchema = z.object({ device: draftSchema(devices), credentials: presentedSchema })

/** The reference's editors name both by their classes there; others by the plain words. */
const DEVICE_CLASS = 'org.thingsboard.server.common.data.Device'
const CREDENTIALS_CLASS = 'org.thingsboard.server.common.data.security.DeviceCredentials'
const lwm2mSchema = z.preprocess(
  (sent) =>
    isJsonObject(sent)
      ? { device: sent[DEVICE_CLASS] ?? sent['device'], credentials: sent[CREDENTIALS_CLASS] ?? sent['credentials'] }
      : sent,
  withCredentialsSchema,
)

const credentialsSchema = presentedSchema.extend({
  id: optionalId,
  deviceId: idObject,
  version: optionalVersion,
})

export function deviceRoutes(parts: RelatedRoutesParts, services: Pick<Services, 'devices'>): readonly DeclaredRoute[] {
  const service = parts.declared.of(devices)
  const both = { read: TENANT_AND_CUSTOMER, save: TENANT_AND_CUSTOMER }
  const query = { accessToken: optionalTextParameter, ...NAME_CONFLICT }
  const save = saveOne(parts, service, WORDS, TENANT_AND_CUSTOMER, query, async (principal, draft, asked) => {
    const named = await withUnlikeName(service, principal, draft, nameConflictOf(asked))
    // The token is for a new device: an old one has its call for credentials, which customers' users may not make.
    return services.devices.saveByUser(principal, named, draft.id === undefined ? asked.accessToken : undefined)
  })
  return [
    ...crud(parts, service, WORDS, both, service, save),
    ...lists(parts, service, WORDS),
    ...infos(parts, service, INFO_WORDS),
    ...assignment(parts, service, WORDS),
    typesRoute(parts, service, WORDS),
    byRelation(parts, service, WORDS, 'deviceTypes'),
    ...credentialsRoutes(parts, services),
    countRoute(parts),
  ]
}

function countRoute({ make, declared }: EntityRoutesParts): DeclaredRoute {
  const service = declared.of(devices)
  return make.route({
    method: 'GET',
    path: '/api/devices/count/{otaPackageType}/{deviceProfileId}',
    about: 'How many devices of a profile have no package of their own, and would get one of the profile.',
    authorities: TENANT_AND_CUSTOMER,
    targets: { deviceProfileId: { entity: deviceProfiles, operation: 'READ' } },
    words: { otaPackageType: OTA_TYPES },
    query: {},
    body: undefined,
    answer: { type: 'integer' },
    handle: ({ principal, path: { deviceProfileId, otaPackageType } }) =>
      service.count(service.tenantOf(principal), { deviceProfileId, [PACKAGE_MEMBERS[otaPackageType]]: null }),
  })
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
      body: withCredentialsSchema,
      example: ({ deviceId = '' }) => ({
        device: { ...devices.example({}), id: { entityType: 'DEVICE', id: deviceId } },
        credentials: { credentialsType: 'ACCESS_TOKEN', credentialsId: 'another token of its own' },
      }),
      ...savesWithCredentials(service),
    }),
    make.route({
      method: 'POST',
      path: '/api/lwm2m/device-credentials',
      about: 'The same in the words of editors of LwM2M devices.',
      authorities: TENANT_AND_CUSTOMER,
      targets: {},
      query: {},
      body: lwm2mSchema,
      example: ({ deviceId = '' }) => ({
        [DEVICE_CLASS]: { ...devices.example({}), id: { entityType: 'DEVICE', id: deviceId } },
        [CREDENTIALS_CLASS]: { credentialsType: 'ACCESS_TOKEN', credentialsId: 'a third token of its own' },
      }),
      ...savesWithCredentials(service),
    }),
  ]
}

/** Both or neither: what is common to the calls that say both. */
function savesWithCredentials(service: Services['devices']) {
  type Body = z.infer<typeof withCredentialsSchema>
  return {
    creates: ({ device }: Body) => (device.id === undefined ? ('DEVICE' as const) : undefined),
    bodyTargets: ({ device: { id } }: Body) =>
      id === undefined
        ? []
        : (['WRITE', 'WRITE_CREDENTIALS'] as const).map((operation) => ({
            entity: entityId('DEVICE', id),
            operation,
          })),
    answer: recordShape(devices),
    handle: async ({
      principal,
      body: { device, credentials },
    }: {
      readonly principal: Principal
      readonly body: Body
    }) => devices.jsonOf(await service.saveByUser(principal, device, presentedOf(credentials))),
  }
}

function presentedOf({ credentialsType, credentialsId, credentialsValue }: z.infer<typeof presentedSchema>) {
  if (credentialsType === null || credentialsType === undefined) throw CredentialsErrors.TYPE_MISSING()
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
