/** How a device sends its first value, as commands; and the certificates that its protocols need. Source: `rest-api.md` 15.5. */
import { readFile } from 'node:fs/promises'
import type { JsonObject } from '../../model/json.ts'
import { deviceProfiles } from '../../services/entities/device-profile.ts'
import { devices } from '../../services/entities/device.ts'
import type { EntityRegistry } from '../../services/entities/entity-registry.ts'
import {
  connectivityCommands,
  connectivityDefaults,
  type DevicePorts,
  CONNECTIVITY_SETTINGS,
} from '../../services/onboarding/connectivity.ts'
import type { Services } from '../../services/services.ts'
import { ApiErrors } from '../errors.ts'
import type { RouteMaker } from './declared/declare.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { TENANT_AND_CUSTOMER, type PublicRoute } from './route.ts'

export interface ConnectivityRoutesParts {
  readonly make: RouteMaker
  readonly declared: EntityRegistry
  readonly baseUrl: () => string
  readonly devicePorts: DevicePorts
}

export function connectivityRoutes(
  { make, declared, baseUrl, devicePorts }: ConnectivityRoutesParts,
  { devices: service, admin }: Pick<Services, 'devices' | 'admin'>,
): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'GET',
      path: '/api/device-connectivity/{deviceId}',
      about: 'Commands that send a value of the device, for each protocol that is open.',
      authorities: TENANT_AND_CUSTOMER,
      targets: { deviceId: { entity: devices, operation: 'READ_CREDENTIALS' } },
      query: {},
      body: undefined,
      answer: COMMANDS_SHAPE,
      handle: async ({ path: { deviceId } }) => {
        const device = await declared.of(devices).findAnywhere(deviceId)
        const profile = device && (await declared.of(deviceProfiles).find(device.tenantId, device.deviceProfileId))
        const credentials = device && (await service.credentials(device.tenantId, deviceId))
        // Gone since it was checked.
        if (credentials === undefined || profile === undefined) throw ApiErrors.NOT_FOUND()
        const own = (await admin.baseUrl()) ?? baseUrl()
        const saved = (await admin.settings.find(CONNECTIVITY_SETTINGS))?.value
        const settings = saved ?? connectivityDefaults(own, devicePorts)
        return connectivityCommands({ credentials, profile, settings, baseUrl: own })
      },
    }),
  ]
}

/** Protocol to the file with what signed its certificate. */
export type CertificateFiles = Readonly<Partial<Record<string, string>>>

/** Devices ask for it before they have credentials. */
export function certificateRoute(files: CertificateFiles): PublicRoute {
  return {
    method: 'GET',
    pattern: '/api/device-connectivity/:protocol/certificate/download',
    authorities: 'public',
    handle: async (call) => {
      const protocol = call.parameter(0)
      const file = Object.hasOwn(files, protocol) ? files[protocol] : undefined
      if (file === undefined) throw ApiErrors.NOT_FOUND()
      const name = 'tb-server-chain.pem'
      return {
        status: 200,
        contentType: 'application/octet-stream',
        body: '',
        bytes: await readFile(file),
        headers: { 'content-disposition': `attachment;filename=${name}`, 'x-filename': name },
      }
    },
  }
}

const COMMANDS_SHAPE: JsonObject = {
  type: 'object',
  additionalProperties: { type: ['object', 'string'] },
}
