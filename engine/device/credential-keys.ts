/**
 * What a device presents, as one text: what is cached, asked for and read again goes by it. An access token is itself; what begins with
 * a NUL is a login of MQTT with all that the client said, so that a password that changes is a login that nobody knows.
 */
import { createHash } from 'node:crypto'
import type { Lwm2mEndpoint, Lwm2mProof, MqttLogin, PresentedCredentials } from './gateway.ts'

const LOGIN = '\u0000'
/** No login goes on so. */
const CHILD = '\u0000\u0000'
/** Nor so. */
const CERTIFICATE = '\u0000\u0001'
/** Nor so. */
const ENDPOINT = '\u0000\u0002'
/** Nor so. */
const PROVEN = '\u0000\u0003'

/** Undefined where nobody can have them. */
export function credentialKey(presented: PresentedCredentials): string | undefined {
  if (presented.type === 'ACCESS_TOKEN') return presented.token.startsWith(LOGIN) ? undefined : presented.token
  if (presented.type === 'X509_CERTIFICATE') {
    return CERTIFICATE + credentialHash(presented.certificate.toString('base64'))
  }
  if (presented.type === 'LWM2M_ENDPOINT') return endpointKey(presented)
  const { clientId, userName, password } = presented
  return LOGIN + JSON.stringify([clientId, userName, password])
}

function endpointKey({ endpoint, proof }: Lwm2mEndpoint): string {
  if (proof === undefined) return ENDPOINT + endpoint
  return PROVEN + JSON.stringify([endpoint, proof.mode, ...proofTexts(proof)])
}

function proofTexts(proof: Lwm2mProof): readonly (string | null)[] {
  switch (proof.mode) {
    case 'PSK':
      return [proof.identity, proof.keyId]
    case 'RPK':
      return [credentialHash(proof.key.toString('base64'))]
    case 'X509':
      return [credentialHash(proof.certificate.toString('base64')), proof.trustedName ?? null]
  }
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

/** What a client of LwM2M proved by DTLS, as its credentials are compared with it. */
export type ProvenEndpoint = { readonly endpoint: string } & (
  | { readonly mode: 'PSK'; readonly identity: string; readonly keyId: string }
  | { readonly mode: 'RPK'; readonly keyHash: string }
  | { readonly mode: 'X509'; readonly certificateId: string; readonly trustedName: string | null }
)

/** Undefined for anything else. */
export function provenEndpointOf(key: string): ProvenEndpoint | undefined {
  if (!key.startsWith(PROVEN)) return undefined
  const [endpoint = '', mode, first = '', second = null] = JSON.parse(key.slice(PROVEN.length)) as readonly string[]
  if (mode === 'PSK') return { endpoint, mode, identity: first, keyId: second ?? '' }
  if (mode === 'RPK') return { endpoint, mode, keyHash: first }
  return { endpoint, mode: 'X509', certificateId: first, trustedName: second }
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
  if (isToken(key) || [CHILD, CERTIFICATE, ENDPOINT, PROVEN].some((other) => key.startsWith(other))) return undefined
  const [clientId = '', userName = '', password = ''] = JSON.parse(key.slice(LOGIN.length)) as readonly string[]
  return { type: 'MQTT_LOGIN', clientId, userName, password }
}
