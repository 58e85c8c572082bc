/** Whose the client id, user name and password of a CONNECT are. Source: `device-api.md` 3.2, rows 3 to 5. */
import { timingSafeEqual } from 'node:crypto'
import type { CredentialsType } from '../../model/entities.ts'
import type { MqttLogin } from '../../engine/device/gateway.ts'
import { mqttBasicOf, mqttId } from '../devices/device-credentials.ts'

/** A device and what it has to present. */
export interface Claimant<Device> {
  readonly device: Device
  readonly credentialsType: CredentialsType
  readonly credentialsValue: string | null
}

/** The ids of credentials that may be meant, the one that counts first. */
export function idsOfLogin({ clientId, userName }: MqttLogin): readonly string[] {
  return userName === '' ? [mqttId(clientId, '')] : [mqttId(clientId, userName), userName]
}

/** Undefined where it is nobody's. A wrong password is not looked past; another client id or user name is. */
export function deviceOfLogin<Device>(
  login: MqttLogin,
  claimants: ReadonlyMap<string, Claimant<Device>>,
): Device | undefined {
  for (const id of idsOfLogin(login)) {
    const claimant = claimants.get(id)
    if (claimant === undefined) continue
    const { device, credentialsType, credentialsValue } = claimant
    if (credentialsType === 'ACCESS_TOKEN' && id === login.userName) return device
    if (credentialsType !== 'MQTT_BASIC') continue
    const wanted = mqttBasicOf(credentialsValue ?? '')
    if (differs(wanted.clientId, login.clientId) || differs(wanted.userName, login.userName)) continue
    return differs(wanted.password, login.password) ? undefined : device
  }
  return undefined
}

/** What is not configured is not asked for. */
function differs(wanted: string | undefined, presented: string): boolean {
  if (wanted === undefined || wanted === '') return false
  const [one, other] = [Buffer.from(wanted), Buffer.from(presented)]
  return one.length !== other.length || !timingSafeEqual(one, other)
}
