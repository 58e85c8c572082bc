/** What users do who can not log in yet: choose a first password. Source: `rest-api.md` 1.6. */
import { z } from 'zod'
import type { People } from '../../services/users/people.ts'
import type { Auth } from '../auth/auth.ts'
import { bodyOf } from './body.ts'
import { jsonAnswer, type Answer, type RestRoute } from './route.ts'
import { pairAnswer } from './token-pair.ts'

const activationSchema = z.object({ activateToken: z.string(), password: z.string() })

export function noauthRoutes({ accounts }: Pick<People, 'accounts'>, auth: Auth): readonly RestRoute[] {
  return [
    {
      method: 'GET',
      pattern: '/api/noauth/activate',
      authorities: 'public',
      handle: async ({ query }) => {
        const token = query.required('activateToken')
        return linkAnswer(await accounts.activationIsKnown(token), {
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
        const user = await accounts.activate(activateToken, password)
        return pairAnswer(await auth.issueFor(user.id))
      },
    },
    {
      method: 'GET',
      pattern: '/api/noauth/userPasswordPolicy',
      authorities: 'public',
      handle: async () => jsonAnswer({ ...(await accounts.passwordPolicy()) }),
    },
  ]
}

/** Who follows a link of a mail is sent to the page where a password is chosen. */
function linkAnswer(
  state: 'known' | 'expired' | 'unknown',
  pages: { readonly known: string; readonly expired: string },
): Answer {
  if (state === 'unknown') return { status: 409, contentType: undefined, body: '' }
  return { status: 303, contentType: undefined, body: '', headers: { Location: pages[state] } }
}
