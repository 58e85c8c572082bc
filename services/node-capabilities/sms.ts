/** Texts to phones by the provider that the administrator set: all tenants share it, each within its limit. */
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { NodeSms } from '../../engine/rulechain/capabilities/sms.ts'
import { USAGE } from '../../engine/usage/usage.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Services } from '../services.ts'
import { UsageErrors } from '../usage/errors.ts'

/** What the reference counts as one message. */
const SEGMENT_CHARACTERS = 70

export function nodeSms(
  { sms, meter }: { readonly sms: Pick<Services['sms'], 'send'> } & Pick<Services, 'meter'>,
  outbound: Pick<Outbound, 'inTurn'>,
): (node: Pick<NodeIdentity, 'tenantId'>) => NodeSms {
  return ({ tenantId }) => ({
    send: async (number, text) => {
      const usage = meter.of(tenantId)
      if (usage.isDisabled('SMS')) throw UsageErrors.SMS()
      await outbound.inTurn('sms', tenantId, Buffer.byteLength(text), () => sms.send(number, text))
      usage.add(USAGE.sms, Math.max(1, Math.ceil(text.length / SEGMENT_CHARACTERS)))
    },
  })
}
