/** To read, save and delete one: calls that every entity has. Source: `rest-api.md` 3.3. */
import { z } from 'zod'
import type { Authority } from '../../../model/entities.ts'
import { entityId, isUuid } from '../../../model/entity-id.ts'
import type { Principal } from '../../../model/principal.ts'
import {
  draftOf,
  type ColumnSet,
  type DraftOf,
  type EntityDefinition,
  type RecordOf,
} from '../../../services/entities/define.ts'
import type { EntityService } from '../../../services/entities/entity-service.ts'
import {
  CONFLICT_POLICIES,
  UNLIKE_STRATEGIES,
  withUnlikeName,
  type NameConflict,
} from '../../../services/entities/unlike-name.ts'
import { ApiErrors } from '../../errors.ts'
import { optionalVersion } from '../body.ts'
import { EMPTY_ANSWER, TENANT, TENANT_AND_CUSTOMER } from '../route.ts'
import type { EntityRoutesParts, EntityWords } from './entity-words.ts'
import { optionalChoice, optionalText, type QuerySchema, type QueryValues } from './query.ts'
import type { DeclaredRoute } from './route.ts'
import { recordShape } from './shapes.ts'

/** `changes`: where saving and deleting is more than the entity's own; `save`: the route that saves, where that is special. */
export function crud<Columns extends ColumnSet>(
  parts: EntityRoutesParts,
  service: EntityService<Columns>,
  words: EntityWords,
  authorities: {
    readonly read: readonly Authority[]
    readonly save: readonly Authority[]
    readonly remove?: readonly Authority[]
  } = { read: TENANT_AND_CUSTOMER, save: TENANT_AND_CUSTOMER },
  changes: Pick<EntityService<Columns>, 'saveByUser' | 'deleteByUser'> = service,
  save: DeclaredRoute = saveOne(parts, service, words, authorities.save, {}, (principal, draft) =>
    changes.saveByUser(principal, draft),
  ),
): readonly DeclaredRoute[] {
  const { definition } = service
  const { one } = words
  const label = definition.label.toLowerCase()
  const { make } = parts
  const targets = (operation: 'READ' | 'DELETE') => ({ [`${one}Id`]: { entity: definition, operation } })
  return [
    make.route({
      method: 'GET',
      path: `/api/${one}/{${one}Id}`,
      about: `One ${label}.`,
      authorities: authorities.read,
      targets: targets('READ'),
      query: {},
      body: undefined,
      answer: recordShape(definition),
      handle: async ({ path }) => service.renderOne(await required(service, path[`${one}Id`])),
    }),
    save,
    make.route({
      method: 'DELETE',
      path: `/api/${one}/{${one}Id}`,
      about: `Deletes a ${label} with all that is kept about it.`,
      authorities: authorities.remove ?? TENANT,
      targets: targets('DELETE'),
      query: {},
      body: undefined,
      answer: undefined,
      handle: async ({ principal, path }) => {
        await changes.deleteByUser(principal, path[`${one}Id`] ?? '')
        return EMPTY_ANSWER
      },
    }),
  ]
}

/** What the calls of these may say of a name that is taken. */
export const NAME_CONFLICT = {
  nameConflictPolicy: optionalChoice(CONFLICT_POLICIES),
  uniquifySeparator: optionalText,
  uniquifyStrategy: optionalChoice(UNLIKE_STRATEGIES),
}

/** With the defaults of `rest-api.md` 3.3. */
export function nameConflictOf(query: QueryValues<typeof NAME_CONFLICT>): NameConflict {
  return {
    policy: query.nameConflictPolicy ?? 'FAIL',
    separator: query.uniquifySeparator ?? '_',
    strategy: query.uniquifyStrategy ?? 'RANDOM',
  }
}

/** The call that saves, where it may ask for a name of its own. */
export function saveUnlike<Columns extends ColumnSet>(
  parts: EntityRoutesParts,
  service: EntityService<Columns>,
  words: Pick<EntityWords, 'one'>,
  authorities: readonly Authority[],
): DeclaredRoute {
  return saveOne(parts, service, words, authorities, NAME_CONFLICT, async (principal, draft, query) =>
    service.saveByUser(principal, await withUnlikeName(service, principal, draft, nameConflictOf(query))),
  )
}

export function saveOne<Columns extends ColumnSet, Asked extends QuerySchema>(
  parts: Pick<EntityRoutesParts, 'make'>,
  service: EntityService<Columns>,
  words: Pick<EntityWords, 'one'>,
  authorities: readonly Authority[],
  query: Asked,
  save: (principal: Principal, draft: DraftOf<Columns>, query: QueryValues<Asked>) => Promise<RecordOf<Columns>>,
): DeclaredRoute {
  return saveOf(parts, service, words, authorities, query, draftSchema(service.definition), save)
}

/** The same of a body that says more than the entity. */
export function saveOf<Columns extends ColumnSet, Asked extends QuerySchema, Draft extends DraftOf<Columns>>(
  { make }: Pick<EntityRoutesParts, 'make'>,
  service: EntityService<Columns>,
  { one }: Pick<EntityWords, 'one'>,
  authorities: readonly Authority[],
  query: Asked,
  body: z.ZodType<Draft>,
  save: (principal: Principal, draft: Draft, query: QueryValues<Asked>) => Promise<RecordOf<Columns>>,
): DeclaredRoute {
  const { definition } = service
  const label = definition.label.toLowerCase()
  return make.route({
    method: 'POST',
    path: `/api/${one}`,
    about: `Makes a ${label}, or replaces the one that the body names.`,
    authorities,
    targets: {},
    query,
    body,
    example: (ids) => ({
      ...definition.example?.(ids),
      id: { entityType: definition.type, id: ids[`${one}Id`] ?? '' },
    }),
    creates: ({ id }) => (id === undefined ? definition.type : undefined),
    bodyTargets: ({ id }) =>
      id === undefined ? [] : [{ entity: entityId(definition.type, id), operation: 'WRITE' as const }],
    answer: recordShape(definition),
    handle: async (call) => service.renderOne(await save(call.principal, call.body, call.query)),
  })
}

export function draftSchema<Columns extends ColumnSet>(
  definition: EntityDefinition<Columns>,
): z.ZodType<DraftOf<Columns>> {
  const members = Object.entries(definition.columns).filter(
    ([, { copies, isFixed }]) => copies?.by !== 'id' && isFixed !== true,
  )
  const id = z
    .object({ id: z.string().refine(isUuid, 'a UUID is expected') })
    .nullish()
    .transform((value) => value?.id.toLowerCase())
  const schema = z.object({
    id,
    version: optionalVersion,
    ...Object.fromEntries(members.map(([member, column]) => [member, column.input.optional()])),
  })
  return schema.transform((members) => draftOf<Columns>(members))
}

async function required<Columns extends ColumnSet>(
  service: EntityService<Columns>,
  id = '',
): Promise<RecordOf<Columns>> {
  const record = await service.findAnywhere(id)
  if (record === undefined) throw ApiErrors.NOT_FOUND_BY_ID({ type: service.definition.label, id })
  return record
}
