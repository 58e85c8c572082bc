/** Texts to phones by the provider that the administrator set. */
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { NodeSms } from '../../engine/rulechain/capabilities/sms.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Services } from '../services.ts'
import { tenantSms } from '../sms/tenant-sms.ts'

export function nodeSms(
  { sms, meter }: { readonly sms: Pick<Services['sms'], 'send'> } & Pick<Services, 'meter'>,
  outbound: Pick<Outbound, 'inTurn'>,
): (node: Pick<NodeIdentity, 'tenantId'>) => NodeSms {
  const send = tenantSms(sms, meter, outbound)
  return ({ tenantId }) => ({ send: (number, text) => send(tenantId, number, text) })
}
