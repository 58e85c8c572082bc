/** What a device presents when it connects, as columns of an imported file have it (`rest-api.md` 5.6). */
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import type { PresentedCredentials } from '../devices/device-credentials.ts'
import type { ImportRow } from './importer.ts'

export const CREDENTIAL_COLUMNS = [
  'ACCESS_TOKEN',
  'X509',
  'MQTT_CLIENT_ID',
  'MQTT_USER_NAME',
  'MQTT_PASSWORD',
  'LWM2M_CLIENT_ENDPOINT',
  'LWM2M_CLIENT_SECURITY_CONFIG_MODE',
  'LWM2M_CLIENT_IDENTITY',
  'LWM2M_CLIENT_KEY',
  'LWM2M_CLIENT_CERT',
  'LWM2M_BOOTSTRAP_SERVER_SECURITY_MODE',
  'LWM2M_BOOTSTRAP_SERVER_PUBLIC_KEY_OR_ID',
  'LWM2M_BOOTSTRAP_SERVER_SECRET_KEY',
  'LWM2M_SERVER_SECURITY_MODE',
  'LWM2M_SERVER_CLIENT_PUBLIC_KEY_OR_ID',
  'LWM2M_SERVER_CLIENT_SECRET_KEY',
] as const
type CredentialColumn = (typeof CREDENTIAL_COLUMNS)[number]

/** The strongest that the line names; undefined where it names none: a new device gets a token then. */
export function credentialsOf({ fields }: ImportRow): PresentedCredentials | undefined {
  const endpoint = fields.get('LWM2M_CLIENT_ENDPOINT')
  if (endpoint !== undefined) return presented('LWM2M_CREDENTIALS', '', stringifyJson(lwm2m(fields, endpoint)))
  const certificate = fields.get('X509')
  if (certificate !== undefined) return presented('X509_CERTIFICATE', '', certificate)
  const clientId = fields.get('MQTT_CLIENT_ID') ?? null
  const userName = fields.get('MQTT_USER_NAME') ?? null
  const password = fields.get('MQTT_PASSWORD') ?? null
  if (clientId !== null || userName !== null || password !== null)
    return presented('MQTT_BASIC', '', stringifyJson({ clientId, userName, password }))
  const token = fields.get('ACCESS_TOKEN')
  return token === undefined ? undefined : presented('ACCESS_TOKEN', token, null)
}

function presented(
  credentialsType: PresentedCredentials['credentialsType'],
  credentialsId: string,
  credentialsValue: string | null,
): PresentedCredentials {
  return { credentialsType, credentialsId, credentialsValue }
}

function lwm2m(fields: ImportRow['fields'], endpoint: string): JsonObject {
  const at = (type: CredentialColumn): string | null => fields.get(type) ?? null
  return {
    client: {
      endpoint,
      securityConfigClientMode: at('LWM2M_CLIENT_SECURITY_CONFIG_MODE') ?? 'NO_SEC',
      identity: at('LWM2M_CLIENT_IDENTITY'),
      key: at('LWM2M_CLIENT_KEY'),
      cert: at('LWM2M_CLIENT_CERT'),
    },
    bootstrap: {
      bootstrapServer: {
        securityMode: at('LWM2M_BOOTSTRAP_SERVER_SECURITY_MODE') ?? 'NO_SEC',
        clientPublicKeyOrId: at('LWM2M_BOOTSTRAP_SERVER_PUBLIC_KEY_OR_ID'),
        clientSecretKey: at('LWM2M_BOOTSTRAP_SERVER_SECRET_KEY'),
      },
      lwm2mServer: {
        securityMode: at('LWM2M_SERVER_SECURITY_MODE') ?? 'NO_SEC',
        clientPublicKeyOrId: at('LWM2M_SERVER_CLIENT_PUBLIC_KEY_OR_ID'),
        clientSecretKey: at('LWM2M_SERVER_CLIENT_SECRET_KEY'),
      },
    },
  }
}
