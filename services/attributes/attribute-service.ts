/** Attributes, as clients, nodes and the platform use them. */
import type { AttributesSave } from '../../engine/rulechain/capabilities/attributes.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import type { Attribute, AttributeScope, Entry } from '../../model/value.ts'
import type { JoinedChange } from '../entities/service-parts.ts'
import type { MessageRoute } from '../changes/message-route.ts'
import type { Snapshot } from '../../storage/timeseries/store.ts'

export interface AttributesOfUser {
  readonly entity: EntityId
  readonly scope: AttributeScope
  readonly entries: readonly Entry[]
  /** Where the entity's messages go: one that is not there yet has no other way to say it. */
  readonly route: () => Promise<MessageRoute>
}

export interface AttributeService {
  /** For nodes and devices. */
  save(request: AttributesSave): Promise<void>
  saveByUser(principal: Principal, entity: EntityId, scope: AttributeScope, entries: readonly Entry[]): Promise<void>
  /** The same as a part of another change. Throws to refuse it. */
  savingByUser(principal: Principal, save: AttributesOfUser): Promise<JoinedChange>
  deleteByUser(principal: Principal, entity: EntityId, scope: AttributeScope, keys: readonly string[]): Promise<void>
  /** For the platform itself. With `subscribers` the device of shared ones does not hear of it. */
  delete(entity: EntityId, scope: AttributeScope, keys: readonly string[], audience?: 'subscribers'): Promise<void>
  /** All keys where none is named. Scope by scope in the order CLIENT, SERVER, SHARED where no scope is named. */
  find(
    entity: EntityId,
    scope: AttributeScope | undefined,
    keys: readonly string[] | undefined,
  ): Promise<Snapshot<readonly (Attribute & { readonly scope: AttributeScope })[]>>
  /** The same at once, undefined where the entity's attributes are not held. */
  findHeld(
    entity: EntityId,
    scope: AttributeScope,
    keys: readonly string[] | undefined,
  ): readonly Attribute[] | undefined
  keys(entity: EntityId, scope: AttributeScope | undefined): Promise<readonly string[]>
}
