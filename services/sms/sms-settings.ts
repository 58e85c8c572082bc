/** By whom texts to phones go out, as the reference's admin settings `sms` have it: the configuration of one provider. */
import type { JsonObject } from '../../model/json.ts'
import { smsProviderSchema, smsTargetOf, type SmsTarget } from '../../engine/rulechain/capabilities/sms-provider.ts'
import { AdminErrors } from '../admin/errors.ts'
import { withKeptSecrets } from '../vault/sealed-members.ts'

export const SMS_SETTINGS = 'sms'

/** Throws `admin.SMS` with the member that is wrong. */
export function smsSettingsOf(value: JsonObject): SmsTarget {
  const read = smsProviderSchema.safeParse(value)
  if (read.success)
    return smsTargetOf(read.data, (member, reason) => AdminErrors.SMS({ reason: `${member} ${reason}` }))
  const [issue] = read.error.issues
  throw AdminErrors.SMS({ reason: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not valid'}` })
}

/** What says where a secret goes, and as whom. */
const ACCOUNT = ['type', 'accessKeyId', 'accountSid', 'host', 'port', 'systemId'] as const

/**
 * Secrets that `value` leaves out stay where the account is the same: who may save settings was never shown them, and another centre would
 * be told them.
 */
export function withKeptSmsSecrets(value: JsonObject, before: JsonObject): JsonObject {
  return ACCOUNT.every((member) => value[member] === before[member]) ? withKeptSecrets(value, before) : value
}
