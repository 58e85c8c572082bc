/**
 * What a gateway hears of a device that it was the last to connect, when a user gives it another name or deletes it: a persistent one-way
 * call, with which gateways of the reference's makers go on under the new name, or let the device go.
 */
import { entityId } from '../../model/entity-id.ts'
import { isJsonObject, type JsonValue } from '../../model/json.ts'
import type { KnownMessageType } from '../../model/message-type.ts'
import { Message } from '../../model/message.ts'
import type { MessageRoute } from '../changes/message-route.ts'

const EXPIRY_MS = 86_400_000
const RETRIES = 3
const CALL: KnownMessageType = 'RPC_CALL_FROM_SERVER_TO_DEVICE'

/** The member of a device's `additionalInfo` with the gateway's id. */
export const LAST_GATEWAY = 'lastConnectedGateway'

export interface NewsCall {
  readonly method: string
  readonly params: JsonValue
}

interface NamedDevice {
  readonly name: string
  readonly additionalInfo: JsonValue
}

export function isGateway({ additionalInfo }: NamedDevice): boolean {
  return isJsonObject(additionalInfo) && additionalInfo['gateway'] === true
}

export function lastGatewayOf({ additionalInfo }: NamedDevice): string | undefined {
  const id = isJsonObject(additionalInfo) ? additionalInfo[LAST_GATEWAY] : undefined
  return typeof id === 'string' ? id : undefined
}

/** `after` is absent where it is deleted. Undefined: there is nothing to tell. */
export function newsOf(before: NamedDevice, after: NamedDevice | undefined): NewsCall | undefined {
  if (after === undefined) return { method: 'gateway_device_deleted', params: before.name }
  if (after.name === before.name) return undefined
  return { method: 'gateway_device_renamed', params: { [before.name]: after.name } }
}

/** The call on its way through the rule chain, as a user's would go. */
export function newsMessage(
  gateway: { readonly id: string; readonly name: string; readonly type: string },
  route: MessageRoute,
  { method, params }: NewsCall,
  made: { readonly messageId: string; readonly callId: string; readonly now: number },
): Message {
  return new Message({
    id: made.messageId,
    ts: made.now,
    type: CALL,
    tenantId: route.tenantId,
    originator: entityId('DEVICE', gateway.id),
    customerId: route.customerId ?? undefined,
    metadata: {
      requestUUID: made.callId,
      expirationTime: String(made.now + EXPIRY_MS),
      oneway: 'true',
      persistent: 'true',
      retries: String(RETRIES),
      deviceName: gateway.name,
      deviceType: gateway.type,
    },
    data: JSON.stringify({ method, params: JSON.stringify(params), additionalInfo: null }),
    ruleChainId: route.ruleChainId ?? undefined,
    queueName: route.queueName ?? undefined,
  })
}
