/** Devices and their credentials. Source: `rest-api.md` 5.1 to 5.3. */
import { z } from 'zod'
import { CREDENTIALS_TYPES, type Device } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { DeviceDraft, DeviceInfo, Services } from '../../services/services.ts'
import { ApiErrors, ParameterErrors } from '../errors.ts'
import { allow, found, tenantOf } from './authorize.ts'
import { anyJson, bodyOf, idObject, jsonObject, optionalId, optionalText, optionalVersion } from './body.ts'
import { uuidOf, type Query } from './query.ts'
import { customers, isPublic } from '../../services/entities/customer.ts'
import { deviceJson } from '../../services/entity-json.ts'
import { renderCredentials, renderDeviceInfo, renderPage } from './render.ts'
import { EMPTY_ANSWER, TENANT, TENANT_AND_CUSTOMER, jsonAnswer, type RestRoute, type UserCall } from './route.ts'

/** More ids in one call would be a way around paging. */
const MAX_IDS = 1000

const deviceSchema = z.object({
  id: optionalId,
  name: optionalText,
  type: optionalText,
  label: optionalText,
  deviceProfileId: optionalId,
  deviceData: jsonObject.nullish(),
  additionalInfo: anyJson.optional(),
  version: optionalVersion,
})

const credentialsSchema = z.object({
  id: optionalId,
  deviceId: idObject,
  credentialsType: z.enum(CREDENTIALS_TYPES),
  credentialsId: optionalText,
  credentialsValue: optionalText,
  version: optionalVersion,
})

const newCredentialsSchema = z.object({ credentialsType: z.enum(CREDENTIALS_TYPES), credentialsId: z.string() })
const deviceWithCredentialsSchema = z.object({ device: deviceSchema, credentials: newCredentialsSchema })

export function deviceRoutes(services: Services): readonly RestRoute[] {
  return [
    ...readRoutes(services),
    ...listRoutes(services),
    ...writeRoutes(services),
    ...credentialsRoutes(services),
    ...assignRoutes(services),
  ]
}

function readRoutes({ devices, access, declared }: Services): readonly RestRoute[] {
  const device = async (call: UserCall): Promise<Device> => {
    const id = uuidOf('deviceId', call.parameter(0))
    await allow(access, call.principal, 'READ', 'DEVICE', id)
    return found(await devices.find(tenantOf(call.principal), id), 'Device', id)
  }
  return [
    {
      method: 'GET',
      pattern: '/api/device/:deviceId',
      authorities: TENANT_AND_CUSTOMER,
      handle: async (call) => jsonAnswer(deviceJson(await device(call))),
    },
    {
      method: 'GET',
      pattern: '/api/device/info/:deviceId',
      authorities: TENANT_AND_CUSTOMER,
      handle: async (call) => {
        const { id, tenantId } = await device(call)
        const info = found(await devices.findInfo(tenantId, id), 'Device', id)
        return jsonAnswer((await renderInfos([info], declared))[0] ?? {})
      },
    },
    {
      method: 'GET',
      pattern: '/api/devices',
      authorities: TENANT_AND_CUSTOMER,
      handle: async ({ principal, query }) => {
        query.required('deviceIds')
        const ids = query.list('deviceIds').map((id) => uuidOf('deviceIds', id))
        if (ids.length > MAX_IDS) {
          throw ParameterErrors.INVALID({
            name: 'deviceIds',
            value: `${ids.length} ids`,
            expected: `at most ${MAX_IDS}`,
          })
        }
        const ofTenant = await devices.findByIds(tenantOf(principal), [...new Set(ids)])
        return jsonAnswer(access.allowed(principal, 'READ', 'DEVICE', ofTenant).map(deviceJson))
      },
    },
  ]
}

function listRoutes(services: Services): readonly RestRoute[] {
  const { devices, access, declared } = services
  const byName = async (principal: Principal, name: string): Promise<JsonObject> => {
    const device = await devices.findByName(tenantOf(principal), name)
    if (device === undefined) throw ApiErrors.NOT_FOUND()
    return deviceJson(device)
  }
  /** The customer whose devices are asked for; the caller must be allowed to read it. */
  const customerOf = async (call: UserCall): Promise<string> => {
    const id = uuidOf('customerId', call.parameter(0))
    await allow(access, call.principal, 'READ', 'CUSTOMER', id)
    return id
  }
  const filterOf = (query: Query) => ({
    type: query.text('type'),
    deviceProfileId: query.uuid('deviceProfileId'),
    active: query.text('active') === undefined ? undefined : query.boolean('active', false),
  })
  const page = async ({ principal, query }: UserCall, customerId?: string) => {
    const filter = { customerId, type: query.text('type') }
    return jsonAnswer(renderPage(await devices.page(tenantOf(principal), filter, query.page()), deviceJson))
  }
  const pageInfos = async ({ principal, query }: UserCall, customerId?: string) => {
    const infos = await devices.pageInfos(tenantOf(principal), { customerId, ...filterOf(query) }, query.page())
    return jsonAnswer({ ...renderPage(infos, () => ({})), data: await renderInfos(infos.data, declared) })
  }
  return [
    {
      method: 'GET',
      pattern: '/api/tenant/devices',
      authorities: TENANT,
      handle: async (call) =>
        call.query.has('deviceName')
          ? jsonAnswer(await byName(call.principal, call.query.required('deviceName')))
          : page(call),
    },
    {
      method: 'GET',
      pattern: '/api/tenant/device',
      authorities: TENANT,
      handle: async ({ principal, query }) => jsonAnswer(await byName(principal, query.required('deviceName'))),
    },
    { method: 'GET', pattern: '/api/tenant/deviceInfos', authorities: TENANT, handle: (call) => pageInfos(call) },
    {
      method: 'GET',
      pattern: '/api/customer/:customerId/devices',
      authorities: TENANT_AND_CUSTOMER,
      handle: async (call) => page(call, await customerOf(call)),
    },
    {
      method: 'GET',
      pattern: '/api/customer/:customerId/deviceInfos',
      authorities: TENANT_AND_CUSTOMER,
      handle: async (call) => pageInfos(call, await customerOf(call)),
    },
  ]
}

function writeRoutes({ devices, access }: Services): readonly RestRoute[] {
  const save = async (principal: Principal, draft: DeviceDraft, accessToken?: string): Promise<Device> => {
    if (draft.id === undefined) access.checkAuthority(principal, 'CREATE', 'DEVICE')
    else await allow(access, principal, 'WRITE', 'DEVICE', draft.id)
    return devices.saveByUser(principal, draft, accessToken)
  }
  return [
    {
      method: 'POST',
      pattern: '/api/device',
      authorities: TENANT_AND_CUSTOMER,
      handle: async (call) => {
        const draft = draftOf(bodyOf(call, deviceSchema))
        return jsonAnswer(deviceJson(await save(call.principal, draft, call.query.text('accessToken'))))
      },
    },
    {
      method: 'POST',
      pattern: '/api/device-with-credentials',
      authorities: TENANT_AND_CUSTOMER,
      handle: async (call) => {
        const { device, credentials } = bodyOf(call, deviceWithCredentialsSchema)
        // One commit makes device and token together; what would need two could be left half done.
        if (credentials.credentialsType !== 'ACCESS_TOKEN')
          throw ApiErrors.UNSUPPORTED({ what: credentials.credentialsType })
        if (device.id !== undefined)
          throw ApiErrors.UNSUPPORTED({ what: 'Changing an existing device together with its credentials' })
        return jsonAnswer(deviceJson(await save(call.principal, draftOf(device), credentials.credentialsId)))
      },
    },
    {
      method: 'DELETE',
      pattern: '/api/device/:deviceId',
      authorities: TENANT,
      handle: async (call) => {
        const id = uuidOf('deviceId', call.parameter(0))
        await allow(access, call.principal, 'DELETE', 'DEVICE', id)
        await devices.deleteByUser(call.principal, id)
        return EMPTY_ANSWER
      },
    },
  ]
}

function draftOf(body: z.infer<typeof deviceSchema>): DeviceDraft {
  return {
    ...(body.id === undefined ? {} : { id: body.id }),
    name: body.name ?? '',
    type: body.type ?? undefined,
    label: body.label ?? null,
    deviceProfileId: body.deviceProfileId,
    deviceData: body.deviceData ?? undefined,
    additionalInfo: body.additionalInfo ?? null,
    version: body.version,
  }
}

function credentialsRoutes({ devices, access }: Services): readonly RestRoute[] {
  return [
    {
      method: 'GET',
      pattern: '/api/device/:deviceId/credentials',
      authorities: TENANT_AND_CUSTOMER,
      handle: async (call) => {
        const id = uuidOf('deviceId', call.parameter(0))
        await allow(access, call.principal, 'READ_CREDENTIALS', 'DEVICE', id)
        const credentials = await devices.credentials(tenantOf(call.principal), id)
        if (credentials === undefined) throw ApiErrors.NOT_FOUND()
        return jsonAnswer(renderCredentials(credentials))
      },
    },
    {
      method: 'POST',
      pattern: '/api/device/credentials',
      authorities: TENANT,
      handle: async (call) => {
        const body = bodyOf(call, credentialsSchema)
        await allow(access, call.principal, 'WRITE_CREDENTIALS', 'DEVICE', body.deviceId.id)
        const saved = await devices.saveCredentialsByUser(call.principal, {
          ...(body.id === undefined ? {} : { id: body.id }),
          deviceId: body.deviceId.id,
          credentialsType: body.credentialsType,
          credentialsId: body.credentialsId ?? '',
          credentialsValue: body.credentialsValue ?? null,
          version: body.version,
        })
        return jsonAnswer(renderCredentials(saved))
      },
    },
  ]
}

function assignRoutes({ devices, access }: Services): readonly RestRoute[] {
  return [
    {
      method: 'POST',
      pattern: '/api/customer/:customerId/device/:deviceId',
      authorities: TENANT,
      handle: async (call) => {
        const customerId = uuidOf('customerId', call.parameter(0))
        const deviceId = uuidOf('deviceId', call.parameter(1))
        await allow(access, call.principal, 'READ', 'CUSTOMER', customerId)
        await allow(access, call.principal, 'ASSIGN_TO_CUSTOMER', 'DEVICE', deviceId)
        return jsonAnswer(deviceJson(await devices.assignToCustomerByUser(call.principal, deviceId, customerId)))
      },
    },
    {
      method: 'DELETE',
      pattern: '/api/customer/device/:deviceId',
      authorities: TENANT,
      handle: async (call) => {
        const deviceId = uuidOf('deviceId', call.parameter(0))
        await allow(access, call.principal, 'ASSIGN_TO_CUSTOMER', 'DEVICE', deviceId)
        return jsonAnswer(deviceJson(await devices.assignToCustomerByUser(call.principal, deviceId, null)))
      },
    },
  ]
}

async function renderInfos(infos: readonly DeviceInfo[], declared: Services['declared']): Promise<JsonObject[]> {
  const open = new Map<string, boolean>()
  for (const { tenantId, customerId } of infos) {
    if (customerId === null || open.has(customerId)) continue
    open.set(customerId, isPublic(await declared.of(customers).find(tenantId, customerId)))
  }
  return infos.map((info) => renderDeviceInfo(info, info.customerId !== null && open.get(info.customerId) === true))
}
