/** What the nodes of Amazon's services share. */
import type { AwsAccount } from '../../engine/rulechain/capabilities/outbound.ts'
import { NodeErrors } from '../errors.ts'

/** The keys are the node's own: those of the server's environment are never taken. */
export function accountOf(
  node: string,
  keys: Readonly<Record<string, string | null | undefined>>,
  region: string,
  connectTimeoutMs?: number,
): AwsAccount {
  for (const [field, value] of Object.entries(keys))
    if (!value) throw NodeErrors.CONFIGURATION_INVALID({ node, field, reason: 'is missing' })
  const [accessKeyId, secretAccessKey] = Object.values(keys)
  return {
    ...{ region, accessKeyId: accessKeyId ?? '', secretAccessKey: secretAccessKey ?? '' },
    ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
  }
}
