/** Device profiles, read only so far. Source: `rest-api.md` 5.4. */
import type { DeviceProfile } from '../../model/entities.ts'
import type { Services } from '../../services/services.ts'
import { allow, found, tenantOf } from './authorize.ts'
import { uuidOf } from './query.ts'
import { renderDeviceProfile, renderDeviceProfileInfo, renderPage } from './render.ts'
import { idJson } from '../../services/entity-json.ts'
import { TENANT, TENANT_AND_CUSTOMER, jsonAnswer, type RestRoute, type UserCall } from './route.ts'

/** Far above what the list of names is good for; a tenant with more pages through them. */
const MAX_NAMES = 10_000

export function deviceProfileRoutes({ deviceProfiles, access }: Services): readonly RestRoute[] {
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
      handle: async (call) => jsonAnswer(renderDeviceProfile(await profile(call))),
    },
    {
      method: 'GET',
      pattern: '/api/deviceProfiles',
      authorities: TENANT,
      handle: async ({ principal, query }) =>
        jsonAnswer(renderPage(await deviceProfiles.page(tenantOf(principal), query.page()), renderDeviceProfile)),
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
