/** The latest values that a client was shown: what came later is news, what is the same or older is none. */
import type { EntityId } from '../../../model/entity-id.ts'
import {
  ENTITY_KEY_TYPES,
  type EntityKey,
  type EntityKeyType,
  type LatestValues,
  type ShownValue,
} from '../../../model/entity-query.ts'
import { named, type ShownLatest } from './frames.ts'

export class KnownValues {
  private readonly entities = new Map<string, Map<string, Map<string, ShownValue>>>()

  /** All of them, in the place of what was known. */
  take({ id }: EntityId, latest: LatestValues): void {
    const types = new Map<string, Map<string, ShownValue>>()
    for (const type of ENTITY_KEY_TYPES) {
      const values = latest[type]
      if (values !== undefined) types.set(type, new Map(Object.entries(values)))
    }
    this.entities.set(id, types)
  }

  /** Whether it is news. What went has the time 0 and replaces what there was. */
  put({ id }: EntityId, type: EntityKeyType, key: string, value: ShownValue, isGone = false): boolean {
    const ofEntity = this.entities.get(id) ?? new Map<string, Map<string, ShownValue>>()
    this.entities.set(id, ofEntity)
    const ofType = ofEntity.get(type) ?? new Map<string, ShownValue>()
    ofEntity.set(type, ofType)
    const known = ofType.get(key)
    if (known === undefined && isGone) {
      ofType.set(key, value)
      return value.ts !== 0
    }
    if (known !== undefined) {
      if (known.ts === value.ts && known.value === value.value) return false
      if (!isGone && value.ts < known.ts) return false
    }
    ofType.set(key, value)
    return true
  }

  find({ id }: EntityId, { type, key }: EntityKey): ShownValue | undefined {
    return this.entities.get(id)?.get(type)?.get(key)
  }

  shown({ id }: EntityId): ShownLatest {
    return named([...(this.entities.get(id) ?? [])].map(([type, values]) => [type, named(values)] as const))
  }

  /** Of no others than these. */
  keepOnly(entities: readonly EntityId[]): void {
    const kept = new Set(entities.map(({ id }) => id))
    for (const id of this.entities.keys()) if (!kept.has(id)) this.entities.delete(id)
  }

  /** Of no others than these keys, fields aside: they are always there. */
  keepOnlyKeys(keys: readonly EntityKey[]): void {
    const kept = new Set(keys.map(({ type, key }) => `${type} ${key}`))
    for (const types of this.entities.values()) {
      for (const [type, values] of types) {
        if (type === 'ENTITY_FIELD') continue
        for (const key of values.keys()) if (!kept.has(`${type} ${key}`)) values.delete(key)
        if (values.size === 0) types.delete(type)
      }
    }
  }

  forget({ id }: EntityId): void {
    this.entities.delete(id)
  }
}
