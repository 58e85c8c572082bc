/** Attributes in memory; what is asked is noted. */
import type { EntityId } from '../../model/entity-id.ts'
import type { Attribute, AttributeScope, Entry } from '../../model/value.ts'
import type {
  AttributesDelete,
  AttributesSave,
  NodeAttributes,
} from '../../engine/rulechain/capabilities/attributes.ts'

type Held = Attribute & { readonly entityId?: string; readonly scope?: AttributeScope }

export class FakeAttributes implements NodeAttributes {
  readonly saves: AttributesSave[] = []
  readonly deletes: AttributesDelete[] = []
  /** The next saves fail with this. */
  failure: Error | undefined
  private readonly held: Held[] = []

  /** Without an entity or scope they are everybody's. */
  add(entries: readonly Entry[], entity?: EntityId, scope?: AttributeScope): void {
    const place = { ...(entity && { entityId: entity.id }), ...(scope && { scope }) }
    for (const entry of entries) this.held.push({ lastUpdateTs: 0, ...entry, ...place })
  }

  async save(request: AttributesSave): Promise<void> {
    if (this.failure !== undefined) throw this.failure
    this.saves.push(request)
  }

  find(entity: EntityId, scope: AttributeScope, keys: readonly string[]): readonly Attribute[] {
    return this.held.filter(
      (held) =>
        (keys.length === 0 || keys.includes(held.key)) &&
        (held.entityId ?? entity.id) === entity.id &&
        (held.scope ?? scope) === scope,
    )
  }

  async delete(request: AttributesDelete): Promise<void> {
    if (this.failure !== undefined) throw this.failure
    this.deletes.push(request)
  }
}
