/** Login, tokens, and the user behind them. Source: `rest-api.md` 1.3. */
import { z } from 'zod'
import { isMillraceError } from '../../model/errors.ts'
import type { Services } from '../../services/services.ts'
import type { Auth } from '../auth/auth.ts'
import type { TokenPair } from '../auth/tokens.ts'
import { ApiErrors } from '../errors.ts'
import { found } from './authorize.ts'
import { bodyOf } from './body.ts'
import { renderUser } from './render.ts'
import { EMPTY_ANSWER, EVERYBODY, jsonAnswer, type PublicCall, type RestRoute } from './route.ts'
import { pairAnswer } from './token-pair.ts'

const present = z.string().refine((text) => text.trim() !== '', 'must not be blank')
const loginSchema = z.strictObject({ username: present, password: present })
const publicSchema = z.strictObject({ publicId: present })
const refreshSchema = z.object({ refreshToken: present })
const changePasswordSchema = z.object({ currentPassword: z.string(), newPassword: z.string() })

export function authRoutes(auth: Auth, { users, logins }: Pick<Services, 'users' | 'logins'>): readonly RestRoute[] {
  return [
    {
      method: 'POST',
      pattern: '/api/auth/login',
      authorities: 'public',
      handle: async (call) => {
        const { username, password } = credentialsBody(call, loginSchema)
        return pairAnswer(await login(auth, logins, username, password, call.clientAddress))
      },
    },
    {
      method: 'POST',
      pattern: '/api/auth/login/public',
      authorities: 'public',
      handle: async (call) => pairAnswer(await auth.loginPublic(credentialsBody(call, publicSchema).publicId)),
    },
    {
      method: 'POST',
      pattern: '/api/auth/token',
      authorities: 'public',
      handle: async (call) => pairAnswer(await auth.refresh(credentialsBody(call, refreshSchema).refreshToken)),
    },
    {
      method: 'GET',
      pattern: '/api/auth/user',
      authorities: EVERYBODY,
      handle: async ({ principal }) =>
        jsonAnswer(renderUser(found(await users.find(principal.userId), 'User', principal.userId))),
    },
    {
      method: 'POST',
      pattern: '/api/auth/logout',
      authorities: EVERYBODY,
      handle: async (call) => {
        await auth.logout(call.credentials)
        await logins.loggedOut(call.principal)
        return EMPTY_ANSWER
      },
    },
    {
      method: 'POST',
      pattern: '/api/auth/changePassword',
      authorities: EVERYBODY,
      handle: async (call) => {
        const { currentPassword, newPassword } = bodyOf(call, changePasswordSchema)
        return pairAnswer(await auth.changePassword(call.principal, currentPassword, newPassword, call.clientAddress))
      },
    },
  ]
}

async function login(
  auth: Auth,
  logins: Services['logins'],
  username: string,
  password: string,
  address: string,
): Promise<TokenPair> {
  try {
    const pair = await auth.login(username, password, address)
    await logins.loggedIn(username, address)
    return pair
  } catch (error) {
    void logins.refused(username, address, error)
    throw error
  }
}

/** Whatever is wrong with a login's body, the answer is that of a failed login. */
function credentialsBody<Body>(call: PublicCall, schema: z.ZodType<Body>): Body {
  try {
    return bodyOf(call, schema)
  } catch (error) {
    if (isMillraceError(error)) throw ApiErrors.AUTHENTICATION_FAILED({}, error)
    throw error
  }
}
