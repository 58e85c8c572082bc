/** Entities of one type that a search over relations leads to: devices, assets, entity views. Source: `rest-api.md` 5.1, 5.7, 15.1. */
import { z } from 'zod'
import type { ColumnSet } from '../../../services/entities/define.ts'
import type { EntityService } from '../../../services/entities/entity-service.ts'
import { customerOf } from '../../../services/entities/record-members.ts'
import type { RelationService } from '../../../services/relations/relations.ts'
import { ApiErrors } from '../../errors.ts'
import { validated } from '../body.ts'
import { searchExample, searchParameters } from '../relation-routes.ts'
import { TENANT_AND_CUSTOMER } from '../route.ts'
import type { EntityRoutesParts, EntityWords } from './entity-routes.ts'
import type { DeclaredRoute } from './route.ts'
import { listShape, recordShape } from './shapes.ts'

export interface RelatedRoutesParts extends EntityRoutesParts {
  readonly relations: RelationService
}

const MAX_TYPES = 1_000
const typeList = z.array(z.string().nullable()).max(MAX_TYPES).nullish()

/** `typesMember`: how the body calls the wanted types: `assetTypes`. Without it nothing is found, as in the reference. */
export function byRelation<Columns extends ColumnSet>(
  { make, access, relations }: RelatedRoutesParts,
  service: EntityService<Columns>,
  { many }: EntityWords,
  typesMember: string,
): DeclaredRoute {
  const { definition } = service
  return make.route({
    method: 'POST',
    path: `/api/${many}`,
    about: `The ${many} that a search over relations leads to.`,
    authorities: TENANT_AND_CUSTOMER,
    targets: {},
    query: {},
    body: z.looseObject({ parameters: searchParameters, relationType: z.string().nullish() }).transform((sent) => ({
      search: sent.parameters,
      relationType: sent.relationType ?? undefined,
      types: validated(sent[typesMember], typeList) ?? undefined,
    })),
    bodyTargets: ({ search: { root } }) => [{ entity: root, operation: 'READ' as const }],
    example: (ids) => ({
      parameters: searchExample(ids),
      relationType: 'Contains',
      [typesMember]: ['default'],
    }),
    answer: listShape(recordShape(definition)),
    handle: async ({ principal, body: { search, relationType, types } }) => {
      if (types === undefined) throw ApiErrors.NOT_FOUND()
      const tenantId = service.tenantOf(principal)
      const filter = { type: relationType, entityTypes: [definition.type] }
      const related = await relations.findRelated(tenantId, search, [filter])
      const found = await service.findByIds(
        tenantId,
        related.map(({ id }) => id),
      )
      const wanted = found.filter((record) => types.includes(typeOf(record)))
      const owned = wanted.map((record) => ({ ...record, customerId: customerOf(definition, record) }))
      return service.render(access.allowed(principal, 'READ', definition.type, owned))
    },
  })
}

function typeOf(record: Readonly<Record<string, unknown>>): string {
  return String(record['type'])
}
