/**
 * What a device presents, as one text: what is cached, asked for and read again goes by it. An access token is itself; what begins with
 * a NUL is a login of MQTT with all that the client said, so that a password that changes is a login that nobody knows.
 */
import { createHash } from 'node:crypto'
import type { MqttLogin, PresentedCredentials } from './gateway.ts'

const LOGIN = '\u0000'
/** No login goes on so. */
const CHILD = '\u0000\u0000'
/** Nor so. */
const CERTIFICATE = '\u0000\u0001'
/** Nor so. */
const ENDPOINT = '\u0000\u0002'

/** Undefined where nobody can have them. */
export function credentialKey(presented: PresentedCredentials): string | undefined {
  if (presented.type === 'ACCESS_TOKEN') return presented.token.startsWith(LOGIN) ? undefined : presented.token
  if (presented.type === 'X509_CERTIFICATE') {
    return CERTIFICATE + credentialHash(presented.certificate.toString('base64'))
  }
  if (presented.type === 'LWM2M_ENDPOINT') return ENDPOINT + presented.endpoint
  const { clientId, userName, password } = presented
  return LOGIN + JSON.stringify([clientId, userName, password])
}

/** A device that a gateway names: of the gateway's tenant, whatever its own credentials are. */
export function childKey(tenantId: string, deviceName: string): string {
  return CHILD + JSON.stringify([tenantId, deviceName])
}

export interface ChildOfTenant {
  readonly tenantId: string
  readonly deviceName: string
}

/** Undefined for what is presented by a device itself. */
export function childOf(key: string): ChildOfTenant | undefined {
  if (!key.startsWith(CHILD)) return undefined
  const [tenantId = '', deviceName = ''] = JSON.parse(key.slice(CHILD.length)) as readonly string[]
  return { tenantId, deviceName }
}

/** The id of the credentials that a certificate is; undefined for anything else. */
export function certificateIdOf(key: string): string | undefined {
  return key.startsWith(CERTIFICATE) ? key.slice(CERTIFICATE.length) : undefined
}

/** Undefined for anything else. */
export function lwm2mEndpointOf(key: string): string | undefined {
  return key.startsWith(ENDPOINT) ? key.slice(ENDPOINT.length) : undefined
}

/** What credentials are found by that are not their own text; of a certificate it is that of its Base64 text. Source: `device-api.md` 1.2. */
export function credentialHash(text: string): string {
  return createHash('sha3-256').update(text).digest('hex')
}

/** Whether it is an access token, and so no longer than one. */
export function isToken(key: string): boolean {
  return !key.startsWith(LOGIN)
}

/** Undefined for anything else. */
export function mqttLoginOf(key: string): MqttLogin | undefined {
  if (isToken(key) || [CHILD, CERTIFICATE, ENDPOINT].some((other) => key.startsWith(other))) return undefined
  const [clientId = '', userName = '', password = ''] = JSON.parse(key.slice(LOGIN.length)) as readonly string[]
  return { type: 'MQTT_LOGIN', clientId, userName, password }
}
