/** Taking what was deleted out of the files: what `npm start -- erase` calls. Our own addition, for system administrators. */
import { z } from 'zod'
import type { Services } from '../../services/services.ts'
import type { EntityRoutesParts } from './declared/entity-words.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { SYSTEM } from './route.ts'

export function erasureRoutes(
  { make }: EntityRoutesParts,
  { fileErasure }: Pick<Services, 'fileErasure'>,
): readonly DeclaredRoute[] {
  return [
    make.route({
      method: 'POST',
      path: '/api/admin/erasure',
      about:
        'Takes what was deleted out of the files of the stores, and says of each whether it is gone, when it will be (`by`, Unix ms), or what is left to do.',
      authorities: SYSTEM,
      targets: {},
      query: {},
      body: z.object({}),
      example: () => ({}),
      answer: {
        type: 'object',
        properties: {
          pending: { type: 'integer' },
          stores: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                store: { type: 'string' },
                gone: { type: 'boolean' },
                by: { type: ['integer', 'null'] },
                rest: { type: ['string', 'null'] },
              },
              required: ['store', 'gone', 'by', 'rest'],
            },
          },
        },
        required: ['pending', 'stores'],
      },
      handle: async () => {
        const { pending, stores } = await fileErasure.run()
        return {
          pending,
          stores: stores.map(({ store, isGone, byMs, rest }) => ({
            ...{ store, gone: isGone },
            ...{ by: byMs ?? null, rest: rest ?? null },
          })),
        }
      },
    }),
  ]
}
