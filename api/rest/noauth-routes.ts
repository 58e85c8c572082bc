/** What users do who can not log in yet: choose a first password, or a new one for the one they forgot. Source: `rest-api.md` 1.6. */
import { z } from 'zod'
import type { People } from '../../services/users/people.ts'
import type { Auth } from '../auth/auth.ts'
import {
  PASSWORD_PAGES,
  PASSWORD_SCRIPT,
  passwordPageAnswer,
  passwordScriptAnswer,
  unknownLinkAnswer,
} from '../password-pages.ts'
import { bodyOf } from './body.ts'
import { EMPTY_ANSWER, jsonAnswer, type Answer, type PublicCall, type RestRoute } from './route.ts'
import { pairAnswer } from './token-pair.ts'

const activationSchema = z.object({ activateToken: z.string(), password: z.string() })
const resetRequestSchema = z.object({ email: z.string() })
const resetSchema = z.object({ resetToken: z.string(), password: z.string() })

export function noauthRoutes(
  { accounts }: Pick<People, 'accounts'>,
  auth: Auth,
  linkBase: () => Promise<string>,
  onFailure: (error: unknown) => void,
): readonly RestRoute[] {
  return [
    {
      method: 'GET',
      pattern: '/api/noauth/activate',
      authorities: 'public',
      handle: async (call) => {
        const token = call.query.required('activateToken')
        return linkAnswer(call, await accounts.activationIsKnown(token), {
          known: `/login/createPassword?activateToken=${encodeURIComponent(token)}`,
          expired: '/activationLinkExpired',
        })
      },
    },
    {
      method: 'POST',
      pattern: '/api/noauth/activate',
      authorities: 'public',
      handle: async (call) => {
        const { activateToken, password } = bodyOf(call, activationSchema)
        // Says nothing that the user does not know: no mail follows, whatever `sendActivationMail` is.
        const user = await accounts.activate(activateToken, password)
        return pairAnswer(await auth.loginAs(user.id))
      },
    },
    {
      method: 'POST',
      pattern: '/api/noauth/resetPasswordByEmail',
      authorities: 'public',
      handle: async (call) => {
        const { email } = bodyOf(call, resetRequestSchema)
        // Who waited for it would learn whether there is such a user: only the system log hears of a failure.
        linkBase()
          .then((base) => accounts.requestReset(email, base))
          .catch(onFailure)
        return EMPTY_ANSWER
      },
    },
    {
      method: 'GET',
      pattern: '/api/noauth/resetPassword',
      authorities: 'public',
      handle: async (call) => {
        const token = call.query.required('resetToken')
        return linkAnswer(call, await accounts.resetIsKnown(token), {
          known: `/login/resetPassword?resetToken=${encodeURIComponent(token)}`,
          expired: '/passwordResetLinkExpired',
        })
      },
    },
    {
      method: 'POST',
      pattern: '/api/noauth/resetPassword',
      authorities: 'public',
      handle: async (call) => {
        const { resetToken, password } = bodyOf(call, resetSchema)
        await accounts.resetPassword(resetToken, password)
        return EMPTY_ANSWER
      },
    },
    {
      method: 'GET',
      pattern: '/api/noauth/userPasswordPolicy',
      authorities: 'public',
      handle: async () => jsonAnswer({ ...(await accounts.passwordPolicy()) }),
    },
    ...passwordPages(),
  ]
}

function passwordPages(): readonly RestRoute[] {
  const paths = Object.keys(PASSWORD_PAGES) as (keyof typeof PASSWORD_PAGES)[]
  return [
    ...paths.map((pattern): RestRoute => {
      const handle = async () => passwordPageAnswer(pattern)
      return { method: 'GET', pattern, authorities: 'public', handle }
    }),
    { method: 'GET', pattern: PASSWORD_SCRIPT, authorities: 'public', handle: async () => passwordScriptAnswer() },
  ]
}

/** Who follows a link of a mail is sent to the page where a password is chosen. */
function linkAnswer(
  call: PublicCall,
  state: 'known' | 'expired' | 'unknown',
  pages: { readonly known: string; readonly expired: string },
): Answer {
  if (state === 'unknown') {
    // A browser shows a page of its own fault in the place of an empty answer; programs get what the reference gives.
    const isBrowser = call.header('accept').includes('text/html')
    return isBrowser ? unknownLinkAnswer() : { status: 409, contentType: undefined, body: '' }
  }
  return { status: 303, contentType: undefined, body: '', headers: { Location: pages[state] } }
}
