/** What the columns of an imported file may hold (`rest-api.md` 5.6); those of SNMP and of integrations are refused, as nothing here would read them. */
import { isJsonObject, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Entry } from '../../model/value.ts'
import type { PresentedCredentials } from '../device-credentials.ts'

export const COLUMN_TYPES = [
  'NAME',
  'TYPE',
  'LABEL',
  'SHARED_ATTRIBUTE',
  'SERVER_ATTRIBUTE',
  'TIMESERIES',
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
  'IS_GATEWAY',
  'DESCRIPTION',
] as const
export type ColumnType = (typeof COLUMN_TYPES)[number]

export interface ImportColumn {
  readonly type: ColumnType
  /** Of attributes and series. */
  readonly key?: string | null | undefined
}

/** One line by what its cells mean; empty cells say nothing. */
export interface ImportRow {
  readonly fields: ReadonlyMap<ColumnType, string>
  readonly shared: readonly Entry[]
  readonly server: readonly Entry[]
  readonly series: readonly Entry[]
}

export function rowOf(cells: readonly string[], columns: readonly ImportColumn[]): ImportRow {
  const fields = new Map<ColumnType, string>()
  const [shared, server, series]: [Entry[], Entry[], Entry[]] = [[], [], []]
  for (const [index, { type, key }] of columns.entries()) {
    const text = cells[index] ?? ''
    if (text === '') continue
    if (type === 'SHARED_ATTRIBUTE') shared.push(entryOf(key ?? '', text))
    else if (type === 'SERVER_ATTRIBUTE') server.push(entryOf(key ?? '', text))
    else if (type === 'TIMESERIES') series.push(entryOf(key ?? '', text))
    else fields.set(type, text)
  }
  return { fields, shared, server, series }
}

/** A cell as the kind of value that it looks like. */
function entryOf(key: string, text: string): Entry {
  const lower = text.toLowerCase()
  if (lower === 'true' || lower === 'false') return { key, type: 'BOOLEAN', value: lower === 'true' }
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(Number(text))) return { key, type: 'LONG', value: Number(text) }
  if (/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text)))
    return { key, type: 'DOUBLE', value: Number(text) }
  return { key, type: 'STRING', value: text }
}

/** With what the line says of it; the rest stays as it is. */
export function additionalInfoOf(before: JsonValue, { fields }: ImportRow): JsonObject {
  const description = fields.get('DESCRIPTION')
  const gateway = fields.get('IS_GATEWAY')
  return {
    ...(isJsonObject(before) ? before : {}),
    ...(description === undefined ? {} : { description }),
    ...(gateway === undefined ? {} : { gateway: gateway.toLowerCase() === 'true' }),
  }
}

/** Undefined where the line names none: a new device gets a token then. */
export function credentialsOf({ fields }: ImportRow): PresentedCredentials | undefined {
  const token = fields.get('ACCESS_TOKEN')
  if (token !== undefined) return presented('ACCESS_TOKEN', token, null)
  const userName = fields.get('MQTT_USER_NAME')
  const clientId = fields.get('MQTT_CLIENT_ID')
  if (userName !== undefined || clientId !== undefined) {
    const password = fields.get('MQTT_PASSWORD') ?? null
    const value = { clientId: clientId ?? null, userName: userName ?? null, password }
    return presented('MQTT_BASIC', '', stringifyJson(value))
  }
  const certificate = fields.get('X509')
  if (certificate !== undefined) return presented('X509_CERTIFICATE', '', certificate)
  const endpoint = fields.get('LWM2M_CLIENT_ENDPOINT')
  if (endpoint === undefined) return undefined
  return presented('LWM2M_CREDENTIALS', '', stringifyJson(lwm2m(fields, endpoint)))
}

function presented(
  credentialsType: PresentedCredentials['credentialsType'],
  credentialsId: string,
  credentialsValue: string | null,
): PresentedCredentials {
  return { credentialsType, credentialsId, credentialsValue }
}

function lwm2m(fields: ImportRow['fields'], endpoint: string): JsonObject {
  const at = (type: ColumnType): string | null => fields.get(type) ?? null
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
