/** Attributes of any entity of the tenant. */
import type { EntityId } from '../../../model/entity-id.ts'
import { sameValue, type Attribute, type AttributeScope, type Entry } from '../../../model/value.ts'
import { writerOf } from '../child-id.ts'
import type { CalculationCause } from './calculated.ts'
import type { Soon } from './soon.ts'

export interface AttributesSave {
  readonly tenantId: string
  readonly entity: EntityId
  /** It came as the originator of the message and is the tenant's; where that is not said, it is asked. */
  readonly isOwn?: boolean
  readonly scope: AttributeScope
  readonly entries: readonly Entry[]
  readonly sequence: number
  /** Which visit writes them, where a replay must know its own: {@link changedEntries}. */
  readonly writer?: number | undefined
  readonly store: boolean
  readonly notify: boolean
  /** Pushes shared attributes to the device. */
  readonly notifyDevice: boolean
  /** Calculated fields hear of them, once they are stored. */
  readonly calculated?: CalculationCause | undefined
}

export interface AttributesDelete {
  readonly entity: EntityId
  readonly scope: AttributeScope
  readonly keys: readonly string[]
  /** Tells the device of shared ones. */
  readonly notifyDevice: boolean
  /** Calculated fields hear of it. */
  readonly calculated?: CalculationCause | undefined
}

export { writerOf }

/** `writer`: the visit that wrote it last, where one said which. */
export type WrittenAttribute = Attribute & { readonly writer?: number }

/**
 * The entries that differ from what is stored, in value or type, and those that this visit wrote itself: it was killed before it told, and tells
 * the same now.
 */
export async function changedEntries(
  attributes: Pick<NodeAttributes, 'find'>,
  entity: EntityId,
  scope: AttributeScope,
  entries: readonly Entry[],
  writer: number,
): Promise<readonly Entry[]> {
  const keys = entries.map(({ key }) => key)
  const stored = new Map((await attributes.find(entity, scope, keys)).map((attribute) => [attribute.key, attribute]))
  return entries.filter((entry) => {
    const before = stored.get(entry.key)
    return before === undefined || before.writer === writer || !sameValue(before, entry)
  })
}

export interface NodeAttributes {
  save(request: AttributesSave): Promise<void>
  /** The present values of the keys, all when none is named; at once where the entity's attributes are held. Nothing of what is not the tenant's. */
  find(entity: EntityId, scope: AttributeScope, keys: readonly string[]): Soon<readonly WrittenAttribute[]>
  /** Who follows the entity hears of it. */
  delete(request: AttributesDelete): Promise<void>
}
