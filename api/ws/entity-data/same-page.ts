import type { EntityId } from '../../../model/entity-id.ts'
import type { EntityData } from '../../../model/entity-query.ts'
import type { Page } from '../../../model/entities.ts'

/** Whether a page has these entities, in this order. */
export function isSamePage(entities: readonly EntityId[], page: Page<EntityData>): boolean {
  return entities.length === page.data.length && entities.every(({ id }, place) => page.data[place]?.entity.id === id)
}
