/** Devices of LwM2M for whole-system tests: a profile, and devices whose endpoint needs no security. */
import type { RestClient } from './clients.ts'

interface Entity {
  readonly id: { readonly id: string }
}

const NO_SECURITY = { securityMode: 'NO_SEC' }

/** One of a profile's `bootstrap`: at which clients register. `proof`: what it is known by, in Base64. */
export function serverToldOf(
  securityMode: 'NO_SEC' | 'PSK' | 'RPK' | 'X509',
  port: number,
  proof: { readonly serverPublicKey?: string; readonly serverCertificate?: string } = {},
): object {
  return {
    ...{ securityMode, port, host: '127.0.0.1', shortServerId: 123, bootstrapServerIs: false, clientHoldOffTime: 0 },
    ...{ serverPublicKey: '', serverCertificate: '', bootstrapServerAccountTimeout: 0 },
    ...{ lifetime: 300, defaultMinPeriod: 1, notifIfDisabled: true, binding: 'U' },
    ...proof,
  }
}

/** Its id. `configuration`: what the transport configuration has beside its type. */
export async function createLwm2mProfile(rest: RestClient, name: string, configuration: object): Promise<string> {
  const { id } = await rest.expect<Entity>('POST', '/api/deviceProfile', {
    ...{ name, type: 'DEFAULT', transportType: 'LWM2M', provisionType: 'DISABLED' },
    profileData: {
      configuration: { type: 'DEFAULT' },
      transportConfiguration: { type: 'LWM2M', bootstrap: [], clientLwM2mSettings: {}, ...configuration },
    },
  })
  return id.id
}

/** Its id. `more`: of the device. `proof`: what it shows of itself, beside its endpoint. */
export async function createLwm2mDevice(
  rest: RestClient,
  profileId: string,
  endpoint: string,
  more: object = {},
  proof: object = { securityConfigClientMode: 'NO_SEC' },
): Promise<string> {
  const { id } = await rest.expect<Entity>('POST', '/api/device-with-credentials', {
    device: { name: endpoint, deviceProfileId: { entityType: 'DEVICE_PROFILE', id: profileId }, ...more },
    credentials: {
      credentialsType: 'LWM2M_CREDENTIALS',
      credentialsId: endpoint,
      credentialsValue: JSON.stringify({
        client: { endpoint, ...proof },
        bootstrap: { bootstrapServer: NO_SECURITY, lwm2mServer: NO_SECURITY },
      }),
    },
  })
  return id.id
}
