/** How a device sends its first value, as commands; and the certificates that its protocols need. Source: `rest-api.md` 15.5. */
import { readFile } from 'node:fs/promises'
import type { JsonObject } from '../../model/json.ts'
import { deviceProfiles } from '../../services/entities/device-profile.ts'
import { devices } from '../../services/entities/device.ts'
import type { EntityRegistry } from '../../services/entities/entity-registry.ts'
import {
  connectivityCommands,
  connectivityDefaults,
  type Connected,
  type DevicePorts,
  CONNECTIVITY_SETTINGS,
} from '../../services/onboarding/connectivity.ts'
import { COMPOSE_FILE, gatewayCompose } from '../../services/onboarding/gateway-compose.ts'
import type { Services } from '../../services/services.ts'
import { ApiErrors } from '../errors.ts'
import { rawAnswer, type RouteMaker } from './declared/declare.ts'
import { openRoute } from './declared/open-route.ts'
import type { DeclaredOpenRoute, DeclaredRoute } from './declared/route.ts'
import { TENANT_AND_CUSTOMER, type Answer } from './route.ts'

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
  const connected = async (deviceId: string): Promise<Connected> => {
    const device = await declared.of(devices).findAnywhere(deviceId)
    const profile = device && (await declared.of(deviceProfiles).find(device.tenantId, device.deviceProfileId))
    const credentials = device && (await service.credentials(device.tenantId, deviceId))
    // Gone since it was checked.
    if (credentials === undefined || profile === undefined) throw ApiErrors.NOT_FOUND()
    const own = (await admin.baseUrl()) ?? baseUrl()
    const saved = (await admin.settings.find(CONNECTIVITY_SETTINGS))?.value
    return { credentials, profile, settings: saved ?? connectivityDefaults(own, devicePorts), baseUrl: own }
  }
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
      handle: async ({ path: { deviceId } }) => connectivityCommands(await connected(deviceId)),
    }),
    make.route({
      method: 'GET',
      path: '/api/device-connectivity/gateway-launch/{deviceId}/docker-compose/download',
      about: 'A file for Docker Compose that runs an IoT Gateway as the device.',
      authorities: TENANT_AND_CUSTOMER,
      targets: { deviceId: { entity: devices, operation: 'READ_CREDENTIALS' } },
      query: {},
      body: undefined,
      answer: { type: 'string', format: 'binary' },
      handle: async ({ path: { deviceId } }) => {
        const text = gatewayCompose(await connected(deviceId))
        if (text === undefined) throw ApiErrors.NOT_FOUND()
        return rawAnswer(attachment(COMPOSE_FILE, Buffer.from(text)))
      },
    }),
  ]
}

function attachment(name: string, bytes: Buffer): Answer {
  return {
    status: 200,
    contentType: 'application/octet-stream',
    body: '',
    bytes,
    headers: { 'content-disposition': `attachment;filename=${name}`, 'x-filename': name },
  }
}

/** Protocol to the file with what signed its certificate. */
export type CertificateFiles = Readonly<Partial<Record<string, string>>>

/** Devices ask for it before they have credentials. */
export function certificateRoute(files: CertificateFiles): DeclaredOpenRoute {
  return openRoute({
    method: 'GET',
    path: '/api/device-connectivity/{protocol}/certificate/download',
    about: 'The certificate that signed the one of a protocol, such as mqtts.',
    query: {},
    body: undefined,
    answer: { type: 'string', format: 'binary' },
    handle: async ({ path: { protocol } }) => {
      const file = Object.hasOwn(files, protocol) ? files[protocol] : undefined
      if (file === undefined) throw ApiErrors.NOT_FOUND()
      return rawAnswer(attachment('tb-server-chain.pem', await readFile(file)))
    },
  })
}

const COMMANDS_SHAPE: JsonObject = {
  type: 'object',
  additionalProperties: { type: ['object', 'string'] },
}
