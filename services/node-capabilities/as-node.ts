/** Rule nodes as those who act. */
import { NULL_UUID } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'

export function asNode({ tenantId, ruleNodeId, ruleNodeName }: NodeIdentity): Principal {
  return {
    ...{ userId: NULL_UUID, email: ruleNodeName, firstName: null, lastName: null },
    ...{ authority: 'TENANT_ADMIN', tenantId, customerId: null, ruleNodeId },
  }
}
