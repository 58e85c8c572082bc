/** Bulk import of devices and assets. Source: `rest-api.md` 5.6. */
import { z } from 'zod'
import type { JsonObject } from '../../model/json.ts'
import {
  IMPORTED_TYPES,
  type FileImporter,
  type FilePosition,
  type Imported,
  type Importer,
} from '../../services/import/importer.ts'
import { COLUMN_TYPES } from '../../services/import/columns.ts'
import { optionalText } from './body.ts'
import type { EntityRoutesParts } from './declared/entity-words.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { requiredText } from './declared/query.ts'
import { EMPTY_ANSWER, TENANT } from './route.ts'

/** Wider than any table that people make. */
const MAX_COLUMNS = 1000

const mappingSchema = z.object({
  columns: z.array(z.object({ type: z.enum(COLUMN_TYPES), key: optionalText })).max(MAX_COLUMNS),
  delimiter: z
    .string()
    .refine((text) => text.length === 1 && !/["\r\n]/.test(text), 'one character is expected, no quote')
    .nullish(),
  update: z.boolean().nullish(),
  header: z.boolean().nullish(),
})
const requestSchema = z.object({ file: z.string(), mapping: mappingSchema })

const MAX_NAME = 128
const place = z.int().min(0)
const pieceSchema = z.object({
  name: z.string().min(1).max(MAX_NAME),
  entityType: z.enum(IMPORTED_TYPES),
  from: place,
  to: place,
  firstLine: z.int().min(1),
  file: z.string(),
  mapping: mappingSchema.omit({ header: true }),
})

const COUNT = { type: 'integer' } as const
const ERRORS = { type: 'array', items: { type: 'string' } }
const POSITION = {
  type: 'object',
  properties: { position: COUNT, created: COUNT, updated: COUNT, errors: COUNT, errorsList: ERRORS },
  required: ['position', 'created', 'updated', 'errors', 'errorsList'],
}

function positionJson(position: FilePosition): JsonObject {
  return { ...position, errorsList: [...position.errorsList] }
}

export interface ImportRoutesParts {
  readonly bulkImport: Importer
  readonly fileImport: FileImporter
}

export function importRoutes(parts: EntityRoutesParts, services: ImportRoutesParts): readonly DeclaredRoute[] {
  return [...wholeFiles(parts, services), ...pieces(parts, services)]
}

/** Our own addition: what `npm start -- import` calls. */
function pieces({ make }: EntityRoutesParts, { fileImport }: ImportRoutesParts): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'GET',
      path: '/api/bulkImport',
      about: 'How far the import of a file has come that is imported piece by piece.',
      authorities: TENANT,
      targets: {},
      query: { name: requiredText },
      body: undefined,
      answer: POSITION,
      handle: async ({ principal, query }) => positionJson(await fileImport.position(principal, query.name)),
    }),
    make.route({
      method: 'POST',
      path: '/api/bulkImport',
      about:
        'Imports the next piece of a file. Each line is there once, whoever is killed; the piece before once more is answered as it was.',
      authorities: TENANT,
      targets: {},
      query: {},
      body: pieceSchema,
      creates: ({ entityType }) => entityType,
      example: () => ({
        name: 'devices.csv',
        entityType: 'DEVICE',
        from: 0,
        to: 3,
        firstLine: 1,
        file: 'A1\n',
        mapping: { columns: [{ type: 'NAME' }], delimiter: ',', update: true },
      }),
      answer: POSITION,
      handle: async ({ principal, body: { entityType, mapping, ...piece } }) => {
        const { columns, delimiter, update } = mapping
        const request = { ...piece, type: entityType, columns, delimiter: delimiter ?? ',', update: update ?? false }
        return positionJson(await fileImport.take(principal, request))
      },
    }),
    make.route({
      method: 'DELETE',
      path: '/api/bulkImport',
      about: 'Forgets how far the import of a file has come: the next one begins at its start.',
      authorities: TENANT,
      targets: {},
      query: { name: requiredText },
      body: undefined,
      answer: undefined,
      handle: async ({ principal, query }) => {
        await fileImport.forget(principal, query.name)
        return EMPTY_ANSWER
      },
    }),
  ]
}

function wholeFiles({ make }: EntityRoutesParts, { bulkImport }: ImportRoutesParts): readonly DeclaredRoute[] {
  const route = (one: string, type: Imported): DeclaredRoute =>
    make.route({
      method: 'POST',
      path: `/api/${one}/bulk_import`,
      about: `Makes or changes ${one}s from lines of comma-separated values; says which lines were refused and why.`,
      authorities: TENANT,
      targets: {},
      query: {},
      body: requestSchema,
      creates: () => type,
      example: () => ({
        file: 'name,floor\n',
        mapping: {
          columns: [{ type: 'NAME' }, { type: 'SERVER_ATTRIBUTE', key: 'floor' }],
          delimiter: ',',
          header: true,
          update: true,
        },
      }),
      answer: {
        type: 'object',
        properties: {
          created: COUNT,
          updated: COUNT,
          errors: COUNT,
          errorsList: { type: 'array', items: { type: 'string' } },
        },
        required: ['created', 'updated', 'errors', 'errorsList'],
      },
      handle: async ({ principal, body: { file, mapping } }) => {
        const { columns, delimiter, update, header } = mapping
        const request = {
          file,
          columns,
          delimiter: delimiter ?? ',',
          update: update ?? false,
          hasHeader: header ?? false,
        }
        const result = await bulkImport.run(principal, type, request)
        return { ...result, errorsList: [...result.errorsList] }
      },
    })
  return [route('device', 'DEVICE'), route('asset', 'ASSET')]
}
