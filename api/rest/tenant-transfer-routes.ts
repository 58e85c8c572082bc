/** Taking a tenant along and bringing it in: what `npm start -- tenant` calls. Our own addition, for system administrators. */
import { z } from 'zod'
import { tenants } from '../../services/entities/tenant.ts'
import type { TenantTransfer } from '../../services/transfer/tenant-transfer.ts'
import { optionalText, requiredText } from './declared/query.ts'
import type { EntityRoutesParts } from './declared/entity-words.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { SYSTEM } from './route.ts'

const MAX_ROWS = 1000
/** A row is JSON in JSON in JSON: a chain that was saved with the largest body may be four times as long here. */
const MAX_BODY_BYTES = 65 << 20

const pieceSchema = z.object({
  table: z.string(),
  step: z.enum(['ids', 'plan', 'apply']),
  rows: z.array(z.string()).max(MAX_ROWS),
})

const TEXTS = { type: 'array', items: { type: 'string' } }
const COUNT = { type: 'integer' }

export interface TenantTransferRoutesParts {
  readonly tenantTransfer: TenantTransfer
}

export function tenantTransferRoutes(
  { make }: EntityRoutesParts,
  { tenantTransfer }: TenantTransferRoutesParts,
): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'GET',
      path: '/api/tenant/{tenantId}/rows/tables',
      about: 'The tables in which a tenant has something, in the order in which they are brought in.',
      authorities: SYSTEM,
      targets: { tenantId: { entity: tenants, operation: 'READ' } },
      query: {},
      body: undefined,
      answer: TEXTS,
      handle: () => Promise.resolve([...tenantTransfer.tables]),
    }),
    make.route({
      method: 'GET',
      path: '/api/tenant/{tenantId}/rows',
      about:
        'What a tenant has in a table, or its `series`, row by row, each as a JSON text; `next` is where more of it begins.',
      authorities: SYSTEM,
      targets: { tenantId: { entity: tenants, operation: 'READ' } },
      query: { table: requiredText, after: optionalText },
      body: undefined,
      answer: {
        type: 'object',
        properties: { rows: TEXTS, next: { type: ['string', 'null'] }, passed: COUNT, entities: COUNT },
        required: ['rows', 'next'],
      },
      handle: async ({ principal, path, query }) => {
        await tenantTransfer.noteExport(principal, path.tenantId)
        const { rows, next, ...counts } = await tenantTransfer.page(path.tenantId, query.table, query.after)
        return { rows: [...rows], next: next ?? null, ...counts }
      },
    }),
    make.route({
      method: 'POST',
      path: '/api/tenant/{tenantId}/rows',
      about: 'Brings rows in: `ids` says which get other ids, `plan` what would be done, `apply` does it.',
      authorities: SYSTEM,
      targets: { tenantId: { entity: tenants, operation: 'WRITE' } },
      query: {},
      body: pieceSchema,
      maxBodyBytes: MAX_BODY_BYTES,
      example: () => ({ table: 'customer', step: 'plan', rows: [] }),
      answer: {
        type: 'object',
        properties: {
          created: COUNT,
          changed: COUNT,
          same: COUNT,
          toFillIn: TEXTS,
          ids: { type: 'array', items: TEXTS },
          refused: {
            type: 'array',
            items: {
              type: 'object',
              properties: { place: COUNT, why: { type: 'string' } },
              required: ['place', 'why'],
            },
          },
        },
        required: ['created', 'changed', 'same', 'toFillIn', 'ids', 'refused'],
      },
      handle: async ({ principal, path: { tenantId }, body: { table, step, rows } }) => {
        const nothing = { created: 0, changed: 0, same: 0, toFillIn: [], ids: [], refused: [] }
        if (step === 'ids') {
          const { ids, refused } = await tenantTransfer.ids(tenantId, table, rows)
          return { ...nothing, ids: ids.map((pair) => [...pair]), refused: refused.map((row) => ({ ...row })) }
        }
        const { toFillIn = [], ...counts } =
          step === 'plan'
            ? await tenantTransfer.plan(tenantId, table, rows)
            : await tenantTransfer.apply(principal, tenantId, table, rows)
        return { ...nothing, ...counts, toFillIn: [...toFillIn] }
      },
    }),
  ]
}
