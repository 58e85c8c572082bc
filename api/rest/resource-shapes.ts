/** What calls about files share: their JSON forms, and bytes in a body. */
import { z } from 'zod'
import type { JsonObject } from '../../model/json.ts'
import { CARRIED_TYPES, MAX_CARRIED, type CarriedFile } from '../../services/content/carried-files.ts'
import { ResourceErrors } from '../../services/content/resource-errors.ts'
import type { DeleteResult } from '../../services/content/resources.ts'
import { RESOURCE_SUB_TYPES, tbResources } from '../../services/entities/tb-resource.ts'
import { rawAnswer } from './declared/declare.ts'
import { recordShape } from './declared/shapes.ts'
import { jsonTextAnswer, type Answer } from './route.ts'

const shape = recordShape(tbResources)
const properties: JsonObject = {
  ...(shape['properties'] as JsonObject),
  name: { type: 'string' },
  link: { type: 'string' },
  publicLink: { type: ['string', 'null'] },
}

export const RESOURCE: JsonObject = { ...shape, properties, required: Object.keys(properties) }

export const RESOURCE_WITH_DATA: JsonObject = {
  ...shape,
  title: 'TbResourceWithData',
  properties: { ...properties, data: { type: 'string' }, preview: { type: ['string', 'null'] } },
  required: [...Object.keys(properties), 'data', 'preview'],
}

export const EXPORTED: JsonObject = {
  type: 'object',
  properties: {
    link: { type: 'string' },
    title: { type: 'string' },
    type: { type: 'string' },
    subType: { type: ['string', 'null'] },
    resourceKey: { type: 'string' },
    fileName: { type: 'string' },
    publicResourceKey: { type: ['string', 'null'] },
    mediaType: { type: 'string' },
    data: { type: 'string' },
    public: { type: 'boolean' },
  },
  required: ['link', 'title', 'type', 'resourceKey', 'fileName', 'mediaType', 'data', 'public'],
}

export const DELETED: JsonObject = {
  type: 'object',
  properties: { success: { type: 'boolean' }, references: { type: ['object', 'null'] } },
  required: ['success', 'references'],
}

/** Refused in the words of a success: who asks sees what is in the way. */
export function deleteAnswer({ success, references }: DeleteResult): Answer {
  return rawAnswer(jsonTextAnswer(JSON.stringify({ success, references }), success ? 200 : 400))
}

/** No two parts of it match the same characters: it takes time by the length of the text alone. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Bytes as a text of JSON has them. Throws `DATA_NOT_BASE64`. */
export const base64 = z.string().transform((text) => {
  const characters = text.replaceAll(/\s+/g, '')
  if (!BASE64.test(characters)) throw ResourceErrors.DATA_NOT_BASE64()
  return Buffer.from(characters, 'base64')
})

export const IMAGE_SUB_TYPES = ['IMAGE', 'SCADA_SYMBOL'] as const

const carriedFile = z
  .object({
    ...{ link: z.string(), title: z.string().nullish(), type: z.string() },
    ...{
      subType: z.enum(RESOURCE_SUB_TYPES).nullish(),
      resourceKey: z.string().nullish(),
      fileName: z.string().nullish(),
      data: base64,
    },
    ...{
      publicResourceKey: z.string().max(255).nullish(),
      public: z.boolean().nullish(),
      isPublic: z.boolean().nullish(),
    },
  })
  .transform((sent): readonly CarriedFile[] => {
    const type = CARRIED_TYPES.find((carried) => carried === sent.type)
    if (type === undefined) return []
    const { link, title, resourceKey, data: bytes, publicResourceKey } = sent
    const fileName = sent.fileName ?? resourceKey ?? title ?? 'file'
    const subTypes: readonly (typeof RESOURCE_SUB_TYPES)[number][] =
      type === 'IMAGE' ? IMAGE_SUB_TYPES : RESOURCE_SUB_TYPES
    const subType = subTypes.find((one) => one === sent.subType)
    const known = { subType, publicResourceKey: publicResourceKey ?? undefined }
    return [
      {
        link,
        title: title ?? fileName,
        type,
        fileName,
        bytes,
        ...known,
        // Nobody is shown what no one said is for everybody.
        public: sent.public ?? sent.isPublic ?? false,
      },
    ]
  })

/** What a dashboard or a widget brings along; files of types that no page loads are left. */
export const carriedFilesBody = z.object({
  resources: z
    .array(carriedFile)
    .max(MAX_CARRIED)
    .nullish()
    .transform((files) => (files ?? []).flat()),
})
