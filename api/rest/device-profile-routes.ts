/** Device profiles. Source: `rest-api.md` 5.4. */
import { deviceProfiles } from '../../services/entities/device-profile.ts'
import { TRANSPORT_TYPES } from '../../services/entities/device-profile-data.ts'
import { devices } from '../../services/entities/device.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { Services } from '../../services/services.ts'
import { pageOf, type EntityRoutesParts } from './declared/entity-routes.ts'
import { crudWithImages, type ImageRoutesParts } from './declared/image-crud.ts'
import { profileRoutes } from './declared/profile-routes.ts'
import { optionalUuid } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { listShape } from './declared/shapes.ts'
import { TENANT } from './route.ts'

const WORDS = { one: 'deviceProfile', many: 'deviceProfiles', nameParameter: 'deviceProfileName' } as const

/** Keys are looked up device by device: those of these many stand for all. */
const DEVICES_LOOKED_AT = 100

export function deviceProfileRoutes(
  parts: ImageRoutesParts,
  services: Pick<Services, 'telemetry' | 'attributes'>,
): readonly DeclaredRoute[] {
  const { declared } = parts
  const service = declared.of(deviceProfiles)
  return [
    keysRoute(parts, 'timeseries', (device) => services.telemetry.keys(device)),
    keysRoute(parts, 'attributes', (device) => services.attributes.keys(device, undefined)),
    ...crudWithImages(parts, service, WORDS, { read: TENANT, save: TENANT }),
    pageOf(parts, service, WORDS, '/api/deviceProfiles'),
    ...profileRoutes(parts, service, {
      ...WORDS,
      shown: ['image', 'defaultDashboardId', 'type', 'transportType'],
      used: { service: declared.of(devices), by: 'deviceProfileId' },
      infoFilters: { transportType: TRANSPORT_TYPES },
    }),
  ]
}

function keysRoute(
  { make, access, declared }: EntityRoutesParts,
  kind: 'timeseries' | 'attributes',
  keysOf: (device: EntityId) => Promise<readonly string[]>,
): DeclaredRoute {
  const service = declared.of(devices)
  return make.route({
    method: 'GET',
    path: `/api/deviceProfile/devices/keys/${kind}`,
    about: `Keys of ${kind} that devices of the profile, or of the tenant, have; looks at ${DEVICES_LOOKED_AT} devices.`,
    authorities: TENANT,
    targets: {},
    query: { deviceProfileId: optionalUuid },
    body: undefined,
    answer: listShape({ type: 'string' }),
    handle: async ({ principal, query }) => {
      const { deviceProfileId: id } = query
      if (id !== undefined) await access.check(principal, 'READ', entityId('DEVICE_PROFILE', id))
      const page = { page: 0, pageSize: DEVICES_LOOKED_AT }
      const found = await service.page(service.tenantOf(principal), query, page)
      const keys = new Set<string>()
      for (const { record } of found.data)
        for (const key of await keysOf({ entityType: 'DEVICE', id: record.id })) keys.add(key)
      return [...keys].sort()
    },
  })
}
