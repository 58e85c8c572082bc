/**
 * To read, save and delete one of what shows pictures: they are kept as files, and given back in it where a call asks for that. Of dashboards
 * and widgets the files that they name may go beside them.
 */
import type { z } from 'zod'
import type { Authority } from '../../../model/entities.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../model/json.ts'
import type { Principal } from '../../../model/principal.ts'
import {
  CarriedAnswer,
  linkedTo,
  type CarriedFile,
  type CarriedFiles,
} from '../../../services/content/carried-files.ts'
import type { InlineImages } from '../../../services/content/inline-images.ts'
import { draftOf, type ColumnSet, type DraftOf, type EntityDefinition } from '../../../services/entities/define.ts'
import type { EntityService } from '../../../services/entities/entity-service.ts'
import { ApiErrors } from '../../errors.ts'
import { jsonWithBytes } from '../files.ts'
import { MAX_UPLOAD_BYTES } from '../form.ts'
import { carriedFilesBody } from '../resource-shapes.ts'
import type { Answer } from '../route.ts'
import { crud, draftSchema, saveOf } from './crud-routes.ts'
import type { EntityRoutesParts, EntityWords } from './entity-words.ts'
import { flag, type QuerySchema } from './query.ts'
import type { DeclaredRoute } from './route.ts'
import { recordShape } from './shapes.ts'

export interface ImageRoutesParts extends EntityRoutesParts {
  readonly content: { readonly inlineImages: InlineImages; readonly carriedFiles: CarriedFiles }
}

/** Where pictures may stand. */
const MEMBERS = ['image', 'configuration', 'descriptor'] as const

/** What an export may hold has room in a save: its files in Base64, and what shows them. */
export const MAX_WITH_FILES_BYTES = MAX_UPLOAD_BYTES

export interface ImageCrudOptions extends Pick<DeclaredRoute, 'isGzipped'> {
  /** The files that it names may go beside it: in the answer where `includeResources` is true, and in what is saved. */
  readonly carriesFiles?: boolean
}

export function crudWithImages<Columns extends ColumnSet>(
  parts: ImageRoutesParts,
  service: EntityService<Columns>,
  words: EntityWords,
  authorities: {
    readonly read: readonly Authority[]
    readonly save: readonly Authority[]
    readonly remove?: readonly Authority[]
  },
  { carriesFiles = false, ...answers }: ImageCrudOptions = {},
): readonly DeclaredRoute[] {
  const { definition } = service
  const { one } = words
  const { inlineImages } = parts.content
  const changes = {
    saveByUser: async (principal: Principal, draft: DraftOf<Columns>) =>
      service.saveByUser(principal, await withoutImages(parts, definition, principal, draft)),
    deleteByUser: (principal: Principal, id: string) => service.deleteByUser(principal, id),
  }
  const save = carriesFiles ? saveWithFiles(parts, service, words, authorities.save) : undefined
  const others = crud(parts, service, words, authorities, changes, save).filter(({ method }) => method !== 'GET')
  const query: QuerySchema = { inlineImages: flag(false), ...(carriesFiles ? { includeResources: flag(false) } : {}) }
  const read = parts.make.route({
    method: 'GET',
    path: `/api/${one}/{${one}Id}`,
    about: `One ${definition.label.toLowerCase()}; with its images in it where \`inlineImages\` is true${carriesFiles ? ', with its files beside it where `includeResources` is' : ''}.`,
    authorities: authorities.read,
    targets: { [`${one}Id`]: { entity: definition, operation: 'READ' as const } },
    query,
    body: undefined,
    answer: recordShape(definition),
    ...answers,
    handle: async ({ principal, path, query: asked }) => {
      const id = path[`${one}Id`] ?? ''
      const record = await service.findAnywhere(id)
      if (record === undefined) throw ApiErrors.NOT_FOUND_BY_ID({ type: definition.label, id })
      const json = await service.renderOne(record)
      if (asked['inlineImages'] === true) return changed(json, (value) => inlineImages.inlined(principal, value))
      if (asked['includeResources'] !== true) return json
      return withFiles(parts, principal, [json], ([carrying = json]) => carrying)
    },
  })
  return [read, ...others]
}

/** Each with the files that it names beside it, in the answer that `answered` makes of them. */
export async function withFiles(
  { content }: ImageRoutesParts,
  principal: Principal,
  shown: readonly JsonObject[],
  answered: (carrying: JsonObject[]) => JsonValue,
): Promise<Answer> {
  const answer = new CarriedAnswer()
  try {
    const carrying: JsonObject[] = []
    for (const json of shown)
      carrying.push({ ...json, resources: await content.carriedFiles.of(principal, membersOf(json), answer) })
    return jsonWithBytes(answered(carrying), answer.release)
  } catch (error) {
    answer.release()
    throw error
  }
}

function saveWithFiles<Columns extends ColumnSet>(
  parts: ImageRoutesParts,
  service: EntityService<Columns>,
  words: EntityWords,
  authorities: readonly Authority[],
): DeclaredRoute {
  const { definition } = service
  const body = draftWithFiles(definition)
  const save = saveOf(parts, service, words, authorities, {}, body, async (principal, { resources, ...draft }) =>
    service.saveByUser(
      principal,
      await withoutImages(parts, definition, principal, draftOf<Columns>(draft), resources),
    ),
  )
  return { ...save, maxBodyBytes: MAX_WITH_FILES_BYTES }
}

/** What a save says that brings files along. */
export function draftWithFiles<Columns extends ColumnSet>(
  definition: EntityDefinition<Columns>,
): z.ZodType<DraftOf<Columns> & { readonly resources: readonly CarriedFile[] }> {
  return draftSchema(definition).and(carriedFilesBody)
}

/** The draft with its pictures taken out, and links to files that are here. */
export async function withoutImages<Columns extends ColumnSet>(
  { content }: ImageRoutesParts,
  definition: EntityDefinition<Columns>,
  principal: Principal,
  draft: DraftOf<Columns>,
  files: readonly CarriedFile[] = [],
): Promise<DraftOf<Columns>> {
  const members: Readonly<Record<string, unknown>> = draft
  const title = members[definition.name]
  const name = `"${typeof title === 'string' ? title : ''}" ${definition.label.toLowerCase()} image`
  const taken: Record<string, JsonValue> = {}
  const links = await content.carriedFiles.keep(principal, files)
  for (const member of MEMBERS) {
    const value = members[member]
    if (typeof value !== 'string' && !isJsonObject(value)) continue
    const linked = linkedTo(value, links)
    taken[member] = await content.inlineImages.takenOut(principal, linked, name)
  }
  return draftOf<Columns>({ ...members, ...taken })
}

/** Those where pictures may stand. */
function membersOf(json: JsonObject): JsonObject {
  return Object.fromEntries(MEMBERS.map((member) => [member, json[member] ?? null]))
}

async function changed(json: JsonObject, change: (value: JsonValue) => Promise<JsonValue>): Promise<JsonObject> {
  const result = await change(membersOf(json))
  if (!isJsonObject(result)) return json
  const present = Object.entries(result).filter(([member]) => member in json)
  return { ...json, ...Object.fromEntries(present) }
}
