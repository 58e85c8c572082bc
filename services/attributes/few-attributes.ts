/**
 * Attributes of one scope by key, in the order in which the keys came. Most devices have a handful: a map of four takes 380 bytes, a list 64.
 */
import type { ScopedAttribute } from '../../storage/entities/attributes.ts'

export interface AttributesByKey {
  readonly size: number
  get(key: string): ScopedAttribute | undefined
  values(): Iterable<ScopedAttribute>
}

/** Beyond it a search costs more than a map. */
const FEW = 8

export class FewAttributes implements AttributesByKey {
  private few: ScopedAttribute[] | undefined = []
  private many: Map<string, ScopedAttribute> | undefined

  get size(): number {
    return this.many?.size ?? this.few?.length ?? 0
  }

  get(key: string): ScopedAttribute | undefined {
    return this.many === undefined ? this.few?.[this.placeOf(key)] : this.many.get(key)
  }

  values(): Iterable<ScopedAttribute> {
    return this.many?.values() ?? this.few ?? []
  }

  set(attribute: ScopedAttribute): void {
    const { few } = this
    if (few === undefined) {
      this.many?.set(attribute.key, attribute)
      return
    }
    const at = this.placeOf(attribute.key)
    if (at >= 0) few[at] = attribute
    // Pushed to or spread, a list makes room for more than it has: 150 bytes a device.
    else if (few.length < FEW) this.few = few.concat(attribute)
    else {
      this.many = new Map([...few, attribute].map((each) => [each.key, each]))
      this.few = undefined
    }
  }

  delete(key: string): void {
    const at = this.placeOf(key)
    if (at >= 0) this.few?.splice(at, 1)
    this.many?.delete(key)
  }

  /** -1 where it is not among the few. */
  private placeOf(key: string): number {
    const { few = [] } = this
    for (let at = 0; at < few.length; at++) if (few[at]?.key === key) return at
    return -1
  }
}
