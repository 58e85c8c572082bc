/** The attributes of one entity in memory. */
import type { AttributeScope } from '../../model/value.ts'
import type { ScopedAttribute } from '../../storage/entities/attributes.ts'
import { FewAttributes, type AttributesByKey } from './few-attributes.ts'

export interface EntityAttributes {
  /** By key; undefined where the scope has none. */
  get(scope: AttributeScope): AttributesByKey | undefined
}

/** Most entities have attributes of one scope: the others take nothing, of each of a hundred thousand devices. */
export class HeldAttributes implements EntityAttributes {
  private client: FewAttributes | undefined
  private server: FewAttributes | undefined
  private shared: FewAttributes | undefined

  get(scope: AttributeScope): AttributesByKey | undefined {
    return this.of(scope)
  }

  /** Returns the one before. */
  set(attribute: ScopedAttribute): ScopedAttribute | undefined {
    const { scope, key } = attribute
    const byKey = this.of(scope) ?? this.open(scope)
    const before = byKey.get(key)
    byKey.set(attribute)
    return before
  }

  /** Returns what was there. */
  delete(scope: AttributeScope, key: string): ScopedAttribute | undefined {
    const byKey = this.of(scope)
    const before = byKey?.get(key)
    byKey?.delete(key)
    return before
  }

  private of(scope: AttributeScope): FewAttributes | undefined {
    switch (scope) {
      case 'CLIENT_SCOPE':
        return this.client
      case 'SERVER_SCOPE':
        return this.server
      case 'SHARED_SCOPE':
        return this.shared
    }
  }

  private open(scope: AttributeScope): FewAttributes {
    const byKey = new FewAttributes()
    switch (scope) {
      case 'CLIENT_SCOPE':
        this.client = byKey
        break
      case 'SERVER_SCOPE':
        this.server = byKey
        break
      case 'SHARED_SCOPE':
        this.shared = byKey
        break
    }
    return byKey
  }
}
