/**
 * What devices present when they connect, as the reference keeps it (`rest-api.md` 5.3): the id by which a connection finds its device is the
 * token, or made of the value.
 */
import type { CredentialsType, DeviceCredentials } from '../../model/entities.ts'
import { createHash } from 'node:crypto'
import { credentialHash, type ProvenEndpoint } from '../../engine/device/credential-keys.ts'
import type { PreSharedKey } from '../../engine/device/gateway.ts'
import { isJsonObject, parseJson, stringifyJson, type JsonObject } from '../../model/json.ts'
import { SECRET_MASK } from '../../model/secret-members.ts'
import { CredentialsErrors } from './credentials-errors.ts'
import { checkText } from '../names.ts'
import { ACCESS_TOKEN_LENGTH, randomText } from '../users/secrets.ts'

/** Certificates with their chain, LwM2M keys: far above what any has. */
const MAX_VALUE_LENGTH = 65_536

export interface PresentedCredentials {
  readonly credentialsType: CredentialsType
  readonly credentialsId: string
  readonly credentialsValue: string | null
}

/** As they are stored. Throws `credentials.…`. */
export function storedCredentials(sent: PresentedCredentials): PresentedCredentials {
  const value = sent.credentialsValue ?? ''
  if (value.length > MAX_VALUE_LENGTH) throw CredentialsErrors.TOO_LONG({ limit: MAX_VALUE_LENGTH })
  const stored = { ...sent, ...STORED[sent.credentialsType](sent, value) }
  if (stored.credentialsId.trim() === '') throw CredentialsErrors.ID_MISSING()
  checkText('credentialsId', stored.credentialsId)
  return stored
}

type Stored = Omit<PresentedCredentials, 'credentialsType'>

const STORED: Readonly<Record<CredentialsType, (sent: PresentedCredentials, value: string) => Stored>> = {
  ACCESS_TOKEN: ({ credentialsId }) => ({ credentialsId, credentialsValue: null }),
  X509_CERTIFICATE: (_sent, value) => {
    const certificate = bareCertificate(value)
    if (certificate === '') throw CredentialsErrors.VALUE_MISSING()
    return { credentialsId: credentialHash(certificate), credentialsValue: certificate }
  },
  MQTT_BASIC: (_sent, value) => mqttBasic(value),
  LWM2M_CREDENTIALS: (_sent, value) => ({ credentialsId: lwm2mId(value), credentialsValue: value }),
}

function mqttBasic(value: string): Stored {
  const sent = jsonObject(value)
  if (sent === undefined) throw CredentialsErrors.MQTT_MALFORMED()
  const [clientId, userName, password] = ['clientId', 'userName', 'password'].map((member) => textIn(sent, member))
  if (isEmpty(clientId) && isEmpty(userName)) throw CredentialsErrors.MQTT_EMPTY()
  if (isEmpty(userName) && !isEmpty(password)) throw CredentialsErrors.MQTT_PASSWORD()
  return {
    credentialsId: mqttId(clientId ?? '', userName ?? ''),
    credentialsValue: stringifyJson({
      clientId: clientId ?? null,
      userName: userName ?? null,
      password: password ?? null,
    }),
  }
}

/** What is stored of MQTT_BASIC. */
export function mqttBasicOf(value: string): Readonly<Record<'clientId' | 'userName' | 'password', string | undefined>> {
  const stored = jsonObject(value) ?? {}
  return {
    clientId: textIn(stored, 'clientId'),
    userName: textIn(stored, 'userName'),
    password: textIn(stored, 'password'),
  }
}

export function mqttId(clientId: string, userName: string): string {
  if (clientId === '') return userName
  return credentialHash(userName === '' ? clientId : `${clientId}|${userName}`)
}

function lwm2mId(value: string): string {
  const client = jsonObject(value)?.['client']
  if (!isJsonObject(client)) throw CredentialsErrors.LWM2M_MALFORMED()
  const endpoint = textIn(client, 'endpoint') ?? ''
  const byMode: Readonly<Record<string, () => string>> = {
    NO_SEC: () => endpoint,
    RPK: () => endpoint,
    PSK: () => textIn(client, 'identity') ?? '',
    X509: () => {
      const certificate = bareCertificate(textIn(client, 'cert') ?? '')
      return certificate === '' ? endpoint : credentialHash(certificate)
    },
  }
  const id = byMode[textIn(client, 'securityConfigClientMode') ?? '']?.() ?? ''
  if (id === '') throw CredentialsErrors.LWM2M_MALFORMED()
  return id
}

/** Whether whoever names this endpoint is the device: any other mode is for DTLS alone, which proves who it is. */
export function isWithoutSecurity(
  { credentialsType, credentialsValue }: Pick<DeviceCredentials, 'credentialsType' | 'credentialsValue'>,
  endpoint: string,
): boolean {
  const client = credentialsType === 'LWM2M_CREDENTIALS' ? clientIn(credentialsValue) : undefined
  if (client === undefined) return false
  return textIn(client, 'securityConfigClientMode') === 'NO_SEC' && textIn(client, 'endpoint') === endpoint
}

/** Under which credentials stand with which a client may prove that it is this endpoint. */
export function idsOfProven(proven: ProvenEndpoint): readonly string[] {
  if (proven.mode === 'PSK') return [proven.identity]
  return proven.mode === 'RPK' ? [proven.endpoint] : [proven.certificateId, proven.endpoint]
}

/** Whether what DTLS has proven is what the credentials ask for. Source: `device-api.md` 13.2. */
export function isProven({ credentialsType, credentialsValue }: StoredValue, proven: ProvenEndpoint): boolean {
  const client = credentialsType === 'LWM2M_CREDENTIALS' ? clientIn(credentialsValue) : undefined
  if (client === undefined || textIn(client, 'endpoint') !== proven.endpoint) return false
  if (textIn(client, 'securityConfigClientMode') !== proven.mode) return false
  switch (proven.mode) {
    case 'PSK':
      return textIn(client, 'identity') === proven.identity && keyOf(client)?.keyId === proven.keyId
    case 'RPK':
      // Written anew, so that how it was broken into lines counts for nothing.
      return credentialHash(reencoded(textIn(client, 'key') ?? '')) === proven.keyHash
    case 'X509': {
      const certificate = bareCertificate(textIn(client, 'cert') ?? '')
      if (certificate !== '') return credentialHash(certificate) === proven.certificateId
      return proven.trustedName === proven.endpoint
    }
  }
}

/** Undefined where they have no such key. */
export function preSharedKeyOf({ credentialsType, credentialsValue }: StoredValue): PreSharedKey | undefined {
  const client = credentialsType === 'LWM2M_CREDENTIALS' ? clientIn(credentialsValue) : undefined
  if (client === undefined || textIn(client, 'securityConfigClientMode') !== 'PSK') return undefined
  return keyOf(client)
}

/** What a client of LwM2M is told of itself when it bootstraps, unchecked; undefined where they have none. */
export function bootstrapOf({ credentialsType, credentialsValue }: StoredValue): JsonObject | undefined {
  const stored = credentialsType === 'LWM2M_CREDENTIALS' ? jsonObject(credentialsValue ?? '')?.['bootstrap'] : undefined
  return isJsonObject(stored) ? stored : undefined
}

type StoredValue = Pick<DeviceCredentials, 'credentialsType' | 'credentialsValue'>

function clientIn(value: string | null): JsonObject | undefined {
  const client = jsonObject(value ?? '')?.['client']
  return isJsonObject(client) ? client : undefined
}

function keyOf(client: JsonObject): PreSharedKey | undefined {
  const digits = textIn(client, 'key') ?? ''
  if (!/^(?:[\da-f]{2}){1,64}$/i.test(digits)) return undefined
  const key = Buffer.from(digits, 'hex')
  return { key, keyId: createHash('sha256').update(key).digest('hex') }
}

function reencoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString('base64')
}

/** Without its first and last line, its line breaks, and what else is blank: the certificate that a device shows is read as Base64 without any. */
function bareCertificate(text: string): string {
  return text.replace(/-----(BEGIN|END) CERTIFICATE-----/g, '').replace(/\s/g, '')
}

function jsonObject(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    // Not JSON: the caller says which value that is.
    return undefined
  }
}

function textIn(object: JsonObject, member: string): string | undefined {
  const value = object[member]
  return typeof value === 'string' ? value : undefined
}

function isEmpty(text: string | undefined): boolean {
  return text === undefined || text === ''
}

/**
 * As the audit log shows them. Clients find a device's change by its id, which is there as in the reference's rows, though an access token is
 * one: whoever may read the log may read the credentials. Passwords and keys are masked.
 */
export function maskedCredentials(credentials: DeviceCredentials): DeviceCredentials {
  const { credentialsType, credentialsValue } = credentials
  const isPublic = credentialsValue === null || credentialsType === 'X509_CERTIFICATE'
  return isPublic ? credentials : { ...credentials, credentialsValue: SECRET_MASK }
}

type OwningDevice = Readonly<Record<'id' | 'tenantId', string>> & { readonly createdTime: number }

/** The credentials of a new device; a random token where none is given. */
export function newAccessToken(device: OwningDevice, id: string, accessToken: string | undefined): DeviceCredentials {
  const credentialsId = accessToken ?? randomText(ACCESS_TOKEN_LENGTH)
  return newCredentials(device, id, { credentialsType: 'ACCESS_TOKEN', credentialsId, credentialsValue: null })
}

export function newCredentials(device: OwningDevice, id: string, sent: PresentedCredentials): DeviceCredentials {
  const { id: deviceId, tenantId, createdTime } = device
  return { id, createdTime, version: 1, tenantId, deviceId, ...storedCredentials(sent) }
}
