/** Device profiles. Source: `rest-api.md` 5.4. */
import { z } from 'zod'
import type { DeviceProfile } from '../../model/entities.ts'
import type { DeviceProfileDraft, Services } from '../../services/services.ts'
import { allow, found, tenantOf } from './authorize.ts'
import { bodyOf, jsonObject, optionalId, optionalText, optionalVersion } from './body.ts'
import { uuidOf } from './query.ts'
import { renderDeviceProfileInfo, renderPage } from './render.ts'
import { deviceProfileJson, idJson } from '../../services/entity-json.ts'
import { EMPTY_ANSWER, TENANT, TENANT_AND_CUSTOMER, jsonAnswer, type RestRoute, type UserCall } from './route.ts'

/** Far above what the list of names is good for; a tenant with more pages through them. */
const MAX_NAMES = 10_000

const profileSchema = z.object({
  id: optionalId,
  name: optionalText,
  description: optionalText,
  default: z.boolean().nullish(),
  type: z.literal('DEFAULT').nullish(),
  transportType: z.enum(['DEFAULT', 'MQTT', 'COAP', 'LWM2M', 'SNMP']).nullish(),
  provisionType: z
    .enum(['DISABLED', 'ALLOW_CREATE_NEW_DEVICES', 'CHECK_PRE_PROVISIONED_DEVICES', 'X509_CERTIFICATE_CHAIN'])
    .nullish(),
  defaultRuleChainId: optionalId,
  defaultQueueName: optionalText,
  profileData: jsonObject.nullish(),
  version: optionalVersion,
})

export function deviceProfileRoutes(services: Services): readonly RestRoute[] {
  return [...readRoutes(services), ...changeRoutes(services)]
}

function changeRoutes({ deviceProfiles, access }: Services): readonly RestRoute[] {
  return [
    {
      method: 'POST',
      pattern: '/api/deviceProfile',
      authorities: TENANT,
      handle: async (call) => {
        const draft = draftOf(bodyOf(call, profileSchema))
        if (draft.id === undefined) access.checkAuthority(call.principal, 'CREATE', 'DEVICE_PROFILE')
        else await allow(access, call.principal, 'WRITE', 'DEVICE_PROFILE', draft.id)
        return jsonAnswer(deviceProfileJson(await deviceProfiles.saveByUser(call.principal, draft)))
      },
    },
    {
      method: 'POST',
      pattern: '/api/deviceProfile/:deviceProfileId/default',
      authorities: TENANT,
      handle: async (call) => {
        const { principal } = call
        const id = uuidOf('deviceProfileId', call.parameter(0))
        await allow(access, principal, 'WRITE', 'DEVICE_PROFILE', id)
        return jsonAnswer(deviceProfileJson(await deviceProfiles.setDefaultByUser(principal, id)))
      },
    },
    {
      method: 'DELETE',
      pattern: '/api/deviceProfile/:deviceProfileId',
      authorities: TENANT,
      handle: async (call) => {
        const { principal } = call
        const id = uuidOf('deviceProfileId', call.parameter(0))
        await allow(access, principal, 'DELETE', 'DEVICE_PROFILE', id)
        await deviceProfiles.deleteByUser(principal, id)
        return EMPTY_ANSWER
      },
    },
  ]
}

function draftOf(body: z.infer<typeof profileSchema>): DeviceProfileDraft {
  return {
    id: body.id,
    name: body.name ?? '',
    description: body.description,
    isDefault: body.default ?? undefined,
    transportType: body.transportType ?? undefined,
    provisionType: body.provisionType ?? undefined,
    defaultRuleChainId: body.defaultRuleChainId,
    defaultQueueName: body.defaultQueueName,
    profileData: body.profileData ?? undefined,
    version: body.version,
  }
}

function readRoutes({ deviceProfiles, access }: Services): readonly RestRoute[] {
  const profile = async (call: UserCall): Promise<DeviceProfile> => {
    const id = uuidOf('deviceProfileId', call.parameter(0))
    await allow(access, call.principal, 'READ', 'DEVICE_PROFILE', id)
    return found(await deviceProfiles.find(tenantOf(call.principal), id), 'Device profile', id)
  }
  return [
    {
      method: 'GET',
      pattern: '/api/deviceProfile/:deviceProfileId',
      authorities: TENANT,
      handle: async (call) => jsonAnswer(deviceProfileJson(await profile(call))),
    },
    {
      method: 'GET',
      pattern: '/api/deviceProfiles',
      authorities: TENANT,
      handle: async ({ principal, query }) =>
        jsonAnswer(renderPage(await deviceProfiles.page(tenantOf(principal), query.page()), deviceProfileJson)),
    },
    {
      method: 'GET',
      pattern: '/api/deviceProfileInfos',
      authorities: TENANT_AND_CUSTOMER,
      handle: async ({ principal, query }) =>
        jsonAnswer(renderPage(await deviceProfiles.page(tenantOf(principal), query.page()), renderDeviceProfileInfo)),
    },
    {
      method: 'GET',
      pattern: '/api/deviceProfileInfo/default',
      authorities: TENANT_AND_CUSTOMER,
      handle: async ({ principal }) =>
        jsonAnswer(renderDeviceProfileInfo(await deviceProfiles.findDefault(tenantOf(principal)))),
    },
    {
      method: 'GET',
      pattern: '/api/deviceProfileInfo/:deviceProfileId',
      authorities: TENANT_AND_CUSTOMER,
      handle: async (call) => jsonAnswer(renderDeviceProfileInfo(await profile(call))),
    },
    {
      method: 'GET',
      pattern: '/api/deviceProfile/names',
      authorities: TENANT_AND_CUSTOMER,
      handle: async ({ principal }) => {
        const { data } = await deviceProfiles.page(tenantOf(principal), {
          page: 0,
          pageSize: MAX_NAMES,
          sortProperty: 'name',
          sortOrder: 'ASC',
        })
        return jsonAnswer(data.map(({ id, name }) => ({ id: idJson('DEVICE_PROFILE', id), name })))
      },
    },
  ]
}
