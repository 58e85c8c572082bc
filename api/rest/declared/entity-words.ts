/** What routes of entities are made of, and how REST words a type. */
import type { EntityRegistry } from '../../../services/entities/entity-registry.ts'
import type { AccessControl } from '../../../services/access/access-control.ts'
import type { RouteMaker } from './declare.ts'

/** How REST words an entity type. */
export interface EntityWords {
  /** `asset`: `/api/asset/{assetId}`. */
  readonly one: string
  /** `assets`. */
  readonly many: string
  /** The parameter by which one is found by name: `assetName`. */
  readonly nameParameter: string
  /** Parameters of lists: name to member. */
  readonly filters?: Readonly<Record<string, 'text' | 'uuid' | 'flag'>>
}

export interface EntityRoutesParts {
  readonly make: RouteMaker
  readonly access: AccessControl
  readonly declared: EntityRegistry
}
