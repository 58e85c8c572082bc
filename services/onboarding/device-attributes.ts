/** What onboarding asks of attributes. */
import type { EntityId } from '../../model/entity-id.ts'
import type { Attribute, AttributeScope } from '../../model/value.ts'
import type { Written } from '../../storage/entities/database.ts'

export interface DeviceAttributes {
  find(
    entity: EntityId,
    scope: AttributeScope | undefined,
    keys: readonly string[] | undefined,
  ): Promise<{ readonly value: readonly Attribute[] }>
  /** Server attributes that were written in a transaction of the caller's. */
  writtenWith(
    written: Pick<Written, 'sequence'>,
    entity: EntityId,
    changed: { readonly saved?: readonly Attribute[]; readonly deleted?: readonly string[] },
  ): void
}
