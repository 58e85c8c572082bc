/** Attributes of any entity of the tenant. */
import type { EntityId } from '../../../model/entity-id.ts'
import type { Attribute, AttributeScope, Entry } from '../../../model/value.ts'
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

export interface NodeAttributes {
  save(request: AttributesSave): Promise<void>
  /** The present values of the keys, all when none is named; at once where the entity's attributes are held. Nothing of what is not the tenant's. */
  find(entity: EntityId, scope: AttributeScope, keys: readonly string[]): Soon<readonly Attribute[]>
  /** Who follows the entity hears of it. */
  delete(request: AttributesDelete): Promise<void>
}
