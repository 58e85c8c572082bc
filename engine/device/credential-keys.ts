/**
 * What a device presents, as one text: what is cached, asked for and read again goes by it. An access token is itself; what begins with
 * a NUL is a login of MQTT with all that the client said, so that a password that changes is a login that nobody knows.
 */
import type { MqttLogin, PresentedCredentials } from './gateway.ts'

const LOGIN = '\u0000'

/** Undefined where nobody can have them. */
export function credentialKey(presented: PresentedCredentials): string | undefined {
  if (presented.type === 'ACCESS_TOKEN') return presented.token.startsWith(LOGIN) ? undefined : presented.token
  const { clientId, userName, password } = presented
  return LOGIN + JSON.stringify([clientId, userName, password])
}

/** Undefined for an access token. */
export function mqttLoginOf(key: string): MqttLogin | undefined {
  if (!key.startsWith(LOGIN)) return undefined
  const [clientId = '', userName = '', password = ''] = JSON.parse(key.slice(LOGIN.length)) as readonly string[]
  return { type: 'MQTT_LOGIN', clientId, userName, password }
}
