/** What the nodes that assign to customers have in common. */
import type { Message } from '../../model/message.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { AssignableType } from '../../engine/rulechain/capabilities/entities.ts'
import { NodeErrors } from '../errors.ts'

const ASSIGNABLE = ['ASSET', 'DEVICE', 'ENTITY_VIEW', 'DASHBOARD', 'EDGE'] as const satisfies readonly AssignableType[]

export type AssignableEntity = EntityId & { readonly entityType: AssignableType }

/** Throws `UNSUPPORTED_ORIGINATOR`. */
export function assignable({ originator }: Message): AssignableEntity {
  const { entityType, id } = originator
  const type = ASSIGNABLE.find((one) => one === entityType)
  if (type === undefined) {
    throw NodeErrors.UNSUPPORTED_ORIGINATOR({ type: entityType, expected: ASSIGNABLE.join(', ') })
  }
  return { ...entityId(type, id), entityType: type }
}
