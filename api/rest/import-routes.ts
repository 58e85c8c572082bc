/** Bulk import of devices and assets. Source: `rest-api.md` 5.6. */
import { z } from 'zod'
import type { Imported, Importer } from '../../services/import/importer.ts'
import { COLUMN_TYPES } from '../../services/import/columns.ts'
import { optionalText } from './body.ts'
import type { EntityRoutesParts } from './declared/entity-words.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { TENANT } from './route.ts'

/** Wider than any table that people make. */
const MAX_COLUMNS = 1000

const requestSchema = z.object({
  file: z.string(),
  mapping: z.object({
    columns: z.array(z.object({ type: z.enum(COLUMN_TYPES), key: optionalText })).max(MAX_COLUMNS),
    delimiter: z
      .string()
      .refine((text) => text.length === 1 && !/["\r\n]/.test(text), 'one character is expected, no quote')
      .nullish(),
    update: z.boolean().nullish(),
    header: z.boolean().nullish(),
  }),
})

const COUNT = { type: 'integer' } as const

export function importRoutes(
  { make }: EntityRoutesParts,
  { bulkImport }: { readonly bulkImport: Importer },
): readonly DeclaredRoute[] {
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
