/** To read, save and delete one of what shows pictures: they are kept as files, and given back in it where a call asks for that. */
import type { Authority } from '../../../model/entities.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../model/json.ts'
import type { Principal } from '../../../model/principal.ts'
import type { InlineImages } from '../../../services/content/inline-images.ts'
import { draftOf, type ColumnSet, type DraftOf, type EntityDefinition } from '../../../services/entities/define.ts'
import type { EntityService } from '../../../services/entities/entity-service.ts'
import { ApiErrors } from '../../errors.ts'
import { crud } from './crud-routes.ts'
import type { EntityRoutesParts, EntityWords } from './entity-words.ts'
import { flag } from './query.ts'
import type { DeclaredRoute } from './route.ts'
import { recordShape } from './shapes.ts'

export interface ImageRoutesParts extends EntityRoutesParts {
  readonly content: { readonly inlineImages: InlineImages }
}

/** Where pictures may stand. */
const MEMBERS = ['image', 'configuration', 'descriptor'] as const

export function crudWithImages<Columns extends ColumnSet>(
  parts: ImageRoutesParts,
  service: EntityService<Columns>,
  words: EntityWords,
  authorities: {
    readonly read: readonly Authority[]
    readonly save: readonly Authority[]
    readonly remove?: readonly Authority[]
  },
  answers: Pick<DeclaredRoute, 'isGzipped'> = {},
): readonly DeclaredRoute[] {
  const { definition } = service
  const { one } = words
  const { inlineImages } = parts.content
  const changes = {
    saveByUser: async (principal: Principal, draft: DraftOf<Columns>) =>
      service.saveByUser(principal, await withoutImages(parts, definition, principal, draft)),
    deleteByUser: (principal: Principal, id: string) => service.deleteByUser(principal, id),
  }
  const others = crud(parts, service, words, authorities, changes).filter(({ method }) => method !== 'GET')
  const read = parts.make.route({
    method: 'GET',
    path: `/api/${one}/{${one}Id}`,
    about: `One ${definition.label.toLowerCase()}; with its images in it where \`inlineImages\` is true.`,
    authorities: authorities.read,
    targets: { [`${one}Id`]: { entity: definition, operation: 'READ' as const } },
    query: { inlineImages: flag(false) },
    body: undefined,
    answer: recordShape(definition),
    ...answers,
    handle: async ({ principal, path, query }) => {
      const id = path[`${one}Id`] ?? ''
      const record = await service.findAnywhere(id)
      if (record === undefined) throw ApiErrors.NOT_FOUND_BY_ID({ type: definition.label, id })
      const json = await service.renderOne(record)
      return query.inlineImages ? changed(json, (value) => inlineImages.inlined(principal, value)) : json
    },
  })
  return [read, ...others]
}

/** The draft with its pictures taken out. */
export async function withoutImages<Columns extends ColumnSet>(
  { content }: ImageRoutesParts,
  definition: EntityDefinition<Columns>,
  principal: Principal,
  draft: DraftOf<Columns>,
): Promise<DraftOf<Columns>> {
  const members: Readonly<Record<string, unknown>> = draft
  const title = members[definition.name]
  const name = `"${typeof title === 'string' ? title : ''}" ${definition.label.toLowerCase()} image`
  const taken: Record<string, JsonValue> = {}
  for (const member of MEMBERS) {
    const value = members[member]
    if (typeof value === 'string' || isJsonObject(value))
      taken[member] = await content.inlineImages.takenOut(principal, value, name)
  }
  return draftOf<Columns>({ ...members, ...taken })
}

async function changed(json: JsonObject, change: (value: JsonValue) => Promise<JsonValue>): Promise<JsonObject> {
  const shown: JsonObject = {}
  for (const member of MEMBERS) shown[member] = json[member] ?? null
  const result = await change(shown)
  if (!isJsonObject(result)) return json
  const present = Object.entries(result).filter(([member]) => member in json)
  return { ...json, ...Object.fromEntries(present) }
}
