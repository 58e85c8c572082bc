/** Entity views. Source: `rest-api.md` 15.1. */
import { entityViews } from '../../services/entities/entity-view.ts'
import { byRelation, type RelatedRoutesParts } from './declared/by-relation.ts'
import { assignment, crud, infos, lists, someByIds } from './declared/entity-routes.ts'
import { saveUnlike } from './declared/crud-routes.ts'
import { typesRoute } from './declared/profile-routes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { TENANT_AND_CUSTOMER } from './route.ts'

const ENTITY_VIEW = {
  one: 'entityView',
  many: 'entityViews',
  nameParameter: 'entityViewName',
  filters: { type: 'text' },
} as const

export function entityViewRoutes(parts: RelatedRoutesParts): readonly DeclaredRoute[] {
  const service = parts.declared.of(entityViews)
  const both = { read: TENANT_AND_CUSTOMER, save: TENANT_AND_CUSTOMER }
  return [
    ...crud(parts, service, ENTITY_VIEW, both, service, saveUnlike(parts, service, ENTITY_VIEW, both.save)),
    ...lists(parts, service, ENTITY_VIEW),
    ...infos(parts, service, ENTITY_VIEW),
    ...assignment(parts, service, ENTITY_VIEW),
    someByIds(parts, service, ENTITY_VIEW, '/api/entityViews/list'),
    typesRoute(parts, service, ENTITY_VIEW),
    byRelation(parts, service, ENTITY_VIEW, 'entityViewTypes'),
  ]
}
