/** Texts to phones for a tenant by the system's provider: all tenants share it, each within its limit. */
import { PHONE_NUMBER } from '../../engine/rulechain/capabilities/sms-provider.ts'
import { USAGE, type UsageMeter } from '../../engine/usage/usage.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { UsageErrors } from '../usage/errors.ts'
import { SmsErrors } from './errors.ts'
import type { SystemSms } from './system-sms.ts'

/** What the reference counts as one message. */
const SEGMENT_CHARACTERS = 70

/** Null for the system, which has no limit. Resolves when the provider took it. Throws `sms.NUMBER`, `usage.SMS`, and as `SystemSms.send`. */
export type SendText = (tenantId: string | null, number: string, text: string) => Promise<void>

export function tenantSms(
  sms: Pick<SystemSms, 'send'>,
  meter: Pick<UsageMeter, 'of'>,
  outbound: Pick<Outbound, 'inTurn'>,
): SendText {
  return async (tenantId, number, text) => {
    if (!PHONE_NUMBER.test(number)) throw SmsErrors.NUMBER({ number })
    const usage = tenantId === null || tenantId === SYSTEM_TENANT ? undefined : meter.of(tenantId)
    if (usage?.isDisabled('SMS') === true) throw UsageErrors.SMS()
    await outbound.inTurn('sms', tenantId ?? SYSTEM_TENANT, Buffer.byteLength(text), () => sms.send(number, text))
    usage?.add(USAGE.sms, Math.max(1, Math.ceil(text.length / SEGMENT_CHARACTERS)))
  }
}
