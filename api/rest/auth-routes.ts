/** Login, tokens, and the user behind them. Source: `rest-api.md` 1.3. */
import { z } from 'zod'
import { users as userEntity } from '../../services/entities/user.ts'
import type { LoginClient } from '../../services/audit/login-audit.ts'
import type { Services } from '../../services/services.ts'
import type { Auth } from '../auth/auth.ts'
import type { TokenPair } from '../auth/tokens.ts'
import { ApiErrors } from '../errors.ts'
import { found } from './authorize.ts'
import type { RouteMaker } from './declared/declare.ts'
import { openRoute } from './declared/open-route.ts'
import type { DeclaredOpenRoute, DeclaredRoute } from './declared/route.ts'
import { recordShape } from './declared/shapes.ts'
import { renderUser } from './render.ts'
import { EMPTY_ANSWER, EVERYBODY } from './route.ts'
import { loginShape, pairAnswer, pairShape } from './token-pair.ts'

const present = z.string().refine((text) => text.trim() !== '', 'must not be blank')
const loginSchema = z.strictObject({ username: present, password: present })
const publicSchema = z.strictObject({ publicId: present })
const refreshSchema = z.object({ refreshToken: present })
const changePasswordSchema = z.object({ currentPassword: z.string(), newPassword: z.string() })

/** Whatever is wrong with a login's body, the answer is that of a failed login. */
const LOGIN = {
  method: 'POST',
  query: {},
  bodyFault: (cause: Error) => ApiErrors.AUTHENTICATION_FAILED({}, cause),
} as const

export function loginRoutes(auth: Auth, { logins }: Pick<Services, 'logins'>): readonly DeclaredOpenRoute[] {
  return [
    openRoute({
      ...LOGIN,
      path: '/api/auth/login',
      about: 'Logs in by e-mail address and password.',
      body: loginSchema,
      example: () => ({ username: 'ann@example.org', password: 'secret' }),
      answer: loginShape,
      alsoReads: ['user-agent'],
      handle: async ({ body: { username, password }, clientAddress, header }) => {
        const client = { address: clientAddress, userAgent: header('user-agent') }
        return pairAnswer(await login(auth, logins, username, password, client))
      },
    }),
    openRoute({
      ...LOGIN,
      path: '/api/auth/login/public',
      about: 'Logs in whoever knows the id of a public customer.',
      body: publicSchema,
      example: ({ customerId = '' }) => ({ publicId: customerId }),
      answer: pairShape,
      handle: async ({ body }) => pairAnswer(await auth.loginPublic(body.publicId)),
    }),
    openRoute({
      ...LOGIN,
      path: '/api/auth/token',
      about: 'New tokens for one that renews them, which is good once.',
      body: refreshSchema,
      example: () => ({ refreshToken: 'eyJhbGciOiJIUzUxMiJ9.e30.c2lnbmF0dXJl' }),
      answer: pairShape,
      handle: async ({ body }) => pairAnswer(await auth.refresh(body.refreshToken)),
    }),
  ]
}

export function ownLoginRoutes(
  make: RouteMaker,
  auth: Auth,
  { users, logins }: Pick<Services, 'users' | 'logins'>,
): readonly DeclaredRoute[] {
  const own = { authorities: EVERYBODY, targets: {}, query: {}, isAboutTheCaller: true } as const
  return [
    make.route({
      ...own,
      method: 'GET',
      path: '/api/auth/user',
      about: 'Who calls.',
      body: undefined,
      answer: recordShape(userEntity),
      handle: async ({ principal: { userId } }) => renderUser(found(await users.find(userId), 'User', userId)),
    }),
    make.route({
      ...own,
      method: 'POST',
      path: '/api/auth/logout',
      about: 'Ends the session of the token.',
      body: undefined,
      answer: undefined,
      alsoReads: ['user-agent'],
      handle: async ({ credentials, principal, header }) => {
        await auth.logout(credentials)
        await logins.loggedOut(principal, header('user-agent'))
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...own,
      method: 'POST',
      path: '/api/auth/changePassword',
      about: 'Changes the own password, and answers new tokens: older ones become void.',
      body: changePasswordSchema,
      example: () => ({ currentPassword: 'secret', newPassword: 'more secret' }),
      answer: pairShape,
      handle: async ({ principal, clientAddress, body: { currentPassword, newPassword } }) =>
        pairAnswer(await auth.changePassword(principal, currentPassword, newPassword, clientAddress)),
    }),
  ]
}

async function login(
  auth: Auth,
  logins: Services['logins'],
  username: string,
  password: string,
  client: LoginClient,
): Promise<TokenPair> {
  try {
    const pair = await auth.login(username, password, client.address)
    await logins.loggedIn(username, client)
    return pair
  } catch (error) {
    void logins.refused(username, client, error)
    throw error
  }
}
