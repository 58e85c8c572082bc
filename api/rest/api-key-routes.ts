/** API keys of users. Source: `rest-api.md` 1.7. */
import { z } from 'zod'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { apiKeys, type ApiKey } from '../../services/entities/api-key.ts'
import { users } from '../../services/entities/user.ts'
import type { People } from '../../services/users/people.ts'
import { found } from './authorize.ts'
import { idObject, optionalId, optionalText } from './body.ts'
import type { EntityRoutesParts } from './declared/entity-routes.ts'
import { paging } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { pageShape, recordShape } from './declared/shapes.ts'
import { flagOf } from './query.ts'
import { EMPTY_ANSWER, EVERYBODY } from './route.ts'

const INFO = withMembers({ expired: { type: 'boolean' } })
const KEY = withMembers({ expired: { type: 'boolean' }, value: { type: ['string', 'null'] } })
const saveSchema = z.object({
  id: optionalId,
  userId: idObject.transform(({ id }) => id),
  description: optionalText,
  enabled: z.boolean().nullish(),
  expirationTime: z.int().min(0).nullish(),
})

export interface ApiKeyRoutesParts extends EntityRoutesParts {
  readonly people: Pick<People, 'apiKeys'>
}

export function apiKeyRoutes({
  make,
  declared,
  people: { apiKeys: keys },
}: ApiKeyRoutesParts): readonly DeclaredRoute[] {
  const service = declared.of(apiKeys)
  const info = (key: ApiKey): JsonObject => ({ ...apiKeys.jsonOf(key), expired: keys.isExpired(key) })
  const keyOf = async (id: string): Promise<ApiKey> => found(await service.findAnywhere(id), apiKeys.label, id)
  const toChange = {
    authorities: EVERYBODY,
    targets: { apiKeyId: { entity: apiKeys, operation: 'WRITE' } },
    query: {},
  } as const
  return [
    make.route({
      method: 'POST',
      path: '/api/apiKey',
      about: 'Makes a key for a user and tells its value, this once; or changes the key that the body names.',
      authorities: EVERYBODY,
      targets: {},
      query: {},
      body: saveSchema,
      example: (ids) => ({
        userId: { entityType: 'USER', id: ids['userId'] ?? '' },
        description: 'nightly report',
        enabled: true,
        expirationTime: 0,
      }),
      bodyTargets: ({ id, userId }) => [
        { entity: entityId('USER', userId), operation: 'WRITE' as const },
        ...(id === undefined ? [] : [{ entity: entityId('API_KEY', id), operation: 'WRITE' as const }]),
      ],
      answer: KEY,
      handle: async ({ principal, body }) => {
        const { id, userId } = body
        const draft = {
          userId,
          description: body.description ?? '',
          enabled: body.enabled ?? true,
          expirationTime: body.expirationTime ?? 0,
        }
        if (id !== undefined) return { ...info(await service.saveByUser(principal, { id, ...draft })), value: null }
        const { key, value } = await keys.create(principal, draft)
        return { ...info(key), value }
      },
    }),
    make.route({
      method: 'GET',
      path: '/api/apiKeys/{userId}',
      about: 'The keys of a user, without their values.',
      authorities: EVERYBODY,
      targets: { userId: { entity: users, operation: 'WRITE' } },
      query: { page: paging },
      body: undefined,
      answer: pageShape(INFO),
      handle: async ({ path, query }) => {
        const page = await service.page(await keys.tenantOf(path.userId), { userId: path.userId }, query.page)
        return { ...page, data: page.data.map(({ record }) => info(record)) }
      },
    }),
    make.route({
      ...toChange,
      method: 'PUT',
      path: '/api/apiKey/{apiKeyId}/description',
      about: 'Changes the description of a key: the body as it is.',
      body: z.string(),
      bodyIs: 'text',
      example: () => 'nightly report',
      answer: INFO,
      handle: async ({ principal, path, body }) =>
        info(await keys.change(principal, await keyOf(path.apiKeyId), { description: body })),
    }),
    make.route({
      ...toChange,
      method: 'PUT',
      path: '/api/apiKey/{apiKeyId}/enabled/{enabledValue}',
      about: 'Lets a key be used, or no longer.',
      body: undefined,
      answer: INFO,
      handle: async ({ principal, path }) => {
        const enabled = flagOf('enabledValue', path.enabledValue)
        return info(await keys.change(principal, await keyOf(path.apiKeyId), { enabled }))
      },
    }),
    make.route({
      ...toChange,
      method: 'DELETE',
      path: '/api/apiKey/{apiKeyId}',
      about: 'Deletes a key.',
      targets: { apiKeyId: { entity: apiKeys, operation: 'DELETE' } },
      body: undefined,
      answer: undefined,
      handle: async ({ principal, path }) => {
        await service.deleteByUser(principal, path.apiKeyId)
        return EMPTY_ANSWER
      },
    }),
  ]
}

function withMembers(members: JsonObject): JsonObject {
  const shape = recordShape(apiKeys)
  const properties: JsonObject = { ...(shape['properties'] as JsonObject), ...members }
  return { type: 'object', properties, required: Object.keys(properties) }
}
