/** Users: to make, change and delete them, their lists, and how they come to a password. Source: `rest-api.md` section 12. */
import type { PageQuery } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { entityId } from '../../model/entity-id.ts'
import { SYSTEM_TENANT } from '../../services/changes/changes.ts'
import { customers } from '../../services/entities/customer.ts'
import { users, type DeclaredUser } from '../../services/entities/user.ts'
import { activationLink } from '../../services/users/accounts.ts'
import { UserErrors } from '../../services/users/errors.ts'
import type { People } from '../../services/users/people.ts'
import type { Auth } from '../auth/auth.ts'
import { ApiErrors } from '../errors.ts'
import { found } from './authorize.ts'
import { optionalId } from './body.ts'
import { rawAnswer } from './declared/declare.ts'
import { draftSchema, someByIds, type EntityRoutesParts } from './declared/entity-routes.ts'
import { flag, paging, requiredText } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { idShape, pageShape, recordShape } from './declared/shapes.ts'
import { pairShape } from './token-pair.ts'
import { EMPTY_ANSWER, EVERYBODY, SYSTEM, SYSTEM_AND_TENANT, TENANT, TENANT_AND_CUSTOMER, textAnswer } from './route.ts'
import { z } from 'zod'

const WORDS = { one: 'user', many: 'users', nameParameter: 'email' } as const
const USER = recordShape(users)
const saveSchema = draftSchema(users).and(z.object({ tenantId: optionalId }))
const EMAIL_INFO: JsonObject = {
  type: 'object',
  properties: {
    id: idShape('USER'),
    email: { type: 'string' },
    firstName: { type: 'string' },
    lastName: { type: 'string' },
  },
  required: ['id', 'email', 'firstName', 'lastName'],
}

export interface UserRoutesParts extends EntityRoutesParts {
  readonly people: Pick<People, 'accounts'>
  readonly auth: Auth
  /** Where people reach this server. */
  /** Where links of mails lead. */
  readonly linkBase: () => Promise<string>
}

export function userRoutes(parts: UserRoutesParts): readonly DeclaredRoute[] {
  return [...oneUser(parts), ...userLists(parts), ...accountRoutes(parts)]
}

function oneUser({ make, declared, people: { accounts }, linkBase }: UserRoutesParts): readonly DeclaredRoute[] {
  const service = declared.of(users)
  return [
    make.route({
      method: 'GET',
      path: '/api/user/{userId}',
      about: 'One user, with whether he is activated and may log in.',
      authorities: EVERYBODY,
      targets: { userId: { entity: users, operation: 'READ' } },
      query: {},
      body: undefined,
      answer: USER,
      handle: async ({ path }) => {
        const user = found(await service.findAnywhere(path.userId), 'User', path.userId)
        const { isEnabled, isActivated, lastLoginTime } = await accounts.state(user.id)
        const own = isObject(user.additionalInfo) ? user.additionalInfo : {}
        const state = { userCredentialsEnabled: isEnabled, userActivated: isActivated, lastLoginTs: lastLoginTime }
        return { ...users.jsonOf(user), additionalInfo: { ...own, ...state } }
      },
    }),
    make.route({
      method: 'POST',
      path: '/api/user',
      about: 'Makes a user, who is to be activated, or replaces the one that the body names.',
      authorities: EVERYBODY,
      targets: {},
      query: { sendActivationMail: flag(true) },
      body: saveSchema,
      example: (ids) => ({ ...users.example(ids), id: { entityType: 'USER', id: ids['userId'] ?? '' } }),
      creates: ({ id }) => (id === undefined ? 'USER' : undefined),
      bodyTargets: ({ id }) =>
        id === undefined ? [] : [{ entity: entityId('USER', id), operation: 'WRITE' as const }],
      answer: USER,
      handle: async ({ principal, query, body }) => {
        const { tenantId, ...draft } = body
        const whose = principal.authority === 'SYS_ADMIN' ? { newOf: tenantId ?? SYSTEM_TENANT } : {}
        const user = await service.saveByUser(principal, draft, whose)
        if (draft.id === undefined && query.sendActivationMail) await accounts.mailActivation(user, await linkBase())
        return users.jsonOf(user)
      },
    }),
    make.route({
      method: 'DELETE',
      path: '/api/user/{userId}',
      about: 'Deletes a user with all that is kept about him.',
      authorities: SYSTEM_AND_TENANT,
      targets: { userId: { entity: users, operation: 'DELETE' } },
      query: {},
      body: undefined,
      answer: undefined,
      handle: async ({ principal, path }) => {
        if (principal.authority === 'SYS_ADMIN' && principal.userId === path.userId)
          throw UserErrors.SYSTEM_ADMINISTRATOR_HIMSELF()
        await service.deleteByUser(principal, path.userId)
        return EMPTY_ANSWER
      },
    }),
  ]
}

function userLists(parts: UserRoutesParts): readonly DeclaredRoute[] {
  const { make, declared } = parts
  const service = declared.of(users)
  const pageOf = async (tenantId: string, members: Partial<DeclaredUser>, query: PageQuery): Promise<JsonObject> => {
    const page = await service.page(tenantId, members, query)
    return { ...page, data: page.data.map(({ record }) => users.jsonOf(record)) }
  }
  const list = { method: 'GET', query: { page: paging }, body: undefined, answer: pageShape(USER) } as const
  return [
    make.route({
      ...list,
      path: '/api/users',
      about: "The users of the tenant; for a customer user those of the user's customer.",
      authorities: TENANT_AND_CUSTOMER,
      targets: {},
      handle: ({ principal, query }) => pageOf(service.tenantOf(principal), whomSees(principal), query.page),
    }),
    make.route({
      ...list,
      path: '/api/users/info',
      about: 'Addresses and names of users, found by any of them.',
      authorities: TENANT_AND_CUSTOMER,
      targets: {},
      answer: pageShape(EMAIL_INFO),
      handle: async ({ principal, query }) => {
        const page = await service.page(service.tenantOf(principal), whomSees(principal), query.page, 'infos')
        return { ...page, data: page.data.map(({ record }) => emailInfo(record)) }
      },
    }),
    make.route({
      ...list,
      path: '/api/tenant/{tenantId}/users',
      about: 'The administrators of a tenant.',
      authorities: SYSTEM,
      targets: { tenantId: { untargeted: 'only system administrators call it, who see all tenants' } },
      handle: ({ path, query }) => pageOf(path.tenantId, { authority: 'TENANT_ADMIN' }, query.page),
    }),
    make.route({
      ...list,
      path: '/api/customer/{customerId}/users',
      about: 'The users of a customer.',
      authorities: TENANT,
      targets: { customerId: { entity: customers, operation: 'READ' } },
      handle: ({ principal, path, query }) =>
        pageOf(service.tenantOf(principal), { customerId: path.customerId }, query.page),
    }),
    someByIds(parts, service, WORDS, '/api/users', { onlyWith: true }),
    someByIds(parts, service, WORDS, '/api/users/list'),
  ]
}

function accountRoutes({
  make,
  access,
  declared,
  people: { accounts },
  auth,
  linkBase,
}: UserRoutesParts): readonly DeclaredRoute[] {
  const ofUser = {
    authorities: SYSTEM_AND_TENANT,
    targets: { userId: { entity: users, operation: 'WRITE' } },
    body: undefined,
  } as const
  return [
    make.route({
      ...ofUser,
      method: 'GET',
      path: '/api/user/{userId}/activationLink',
      about: 'Where the user chooses the first password, as plain text.',
      query: {},
      answer: { type: 'string' },
      handle: async ({ path }) => {
        const { token } = await accounts.activation(path.userId)
        return rawAnswer(textAnswer(activationLink(await linkBase(), token)))
      },
    }),
    make.route({
      ...ofUser,
      method: 'GET',
      path: '/api/user/{userId}/activationLinkInfo',
      about: 'The same with the milliseconds for which it is good.',
      query: {},
      answer: {
        type: 'object',
        properties: { value: { type: 'string' }, ttlMs: { type: 'integer' } },
        required: ['value', 'ttlMs'],
      },
      handle: async ({ path }) => {
        const { token, ttlMs } = await accounts.activation(path.userId)
        return { value: activationLink(await linkBase(), token), ttlMs }
      },
    }),
    make.route({
      ...ofUser,
      method: 'GET',
      path: '/api/user/{userId}/token',
      about: 'A token pair with which the caller acts as that user.',
      query: {},
      answer: pairShape,
      handle: async ({ path }) => ({ ...(await auth.issueFor(path.userId)) }),
    }),
    make.route({
      method: 'POST',
      path: '/api/user/sendActivationMail',
      about: 'Mails the activation link again.',
      authorities: SYSTEM_AND_TENANT,
      targets: {},
      query: { email: requiredText },
      body: undefined,
      answer: undefined,
      handle: async ({ principal, query }) => {
        const user = await declared.of(users).findAnywhereBy({ email: query.email })
        if (user === undefined) throw ApiErrors.NOT_FOUND()
        await access.check(principal, 'WRITE', entityId('USER', user.id))
        await accounts.mailActivation(user, await linkBase())
        return EMPTY_ANSWER
      },
    }),
    make.route({
      method: 'GET',
      path: '/api/user/tokenAccessEnabled',
      about: 'Whether administrators may act as other users.',
      authorities: SYSTEM_AND_TENANT,
      targets: {},
      query: {},
      body: undefined,
      answer: { type: 'boolean' },
      isAboutTheCaller: true,
      handle: async () => true,
    }),
    make.route({
      ...ofUser,
      method: 'POST',
      path: '/api/user/{userId}/userCredentialsEnabled',
      about: 'Lets a user log in, or no longer: then all tokens are withdrawn.',
      query: { userCredentialsEnabled: flag(true) },
      answer: undefined,
      handle: async ({ principal, path, query }) => {
        await accounts.setEnabled(path.userId, query.userCredentialsEnabled, principal)
        return EMPTY_ANSWER
      },
    }),
  ]
}

function whomSees({ authority, customerId }: Principal): Partial<DeclaredUser> {
  return authority === 'CUSTOMER_USER' ? { customerId } : {}
}

export function emailInfo({ id, email, firstName, lastName }: DeclaredUser): JsonObject {
  return { id: { entityType: 'USER', id }, email, firstName: firstName ?? '', lastName: lastName ?? '' }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
