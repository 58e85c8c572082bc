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
import { policyShape } from './admin-shapes.ts'
import { rawAnswer, redirectAnswer } from './declared/declare.ts'
import { openRoute } from './declared/open-route.ts'
import { flag, requiredText } from './declared/query.ts'
import type { DeclaredOpenRoute } from './declared/route.ts'
import { EMPTY_ANSWER, type Answer } from './route.ts'
import type { UndeclaredRoute } from './rows.ts'
import { pairAnswer, pairShape } from './token-pair.ts'

const LINK = {
  method: 'GET',
  body: undefined,
  redirects: true,
  answer: undefined,
  alsoAnswers: { 409: 'No such link.' },
} as const

export function noauthRoutes(
  { accounts }: Pick<People, 'accounts'>,
  auth: Auth,
  linkBase: () => Promise<string>,
  onFailure: (error: unknown) => void,
): readonly DeclaredOpenRoute[] {
  return [...activationRoutes(accounts, auth), ...resetRoutes(accounts, linkBase, onFailure)]
}

function activationRoutes(accounts: People['accounts'], auth: Auth): readonly DeclaredOpenRoute[] {
  return [
    openRoute({
      ...LINK,
      path: '/api/noauth/activate',
      about: 'Where the link of a new user leads: on to the page where a password is chosen.',
      query: { activateToken: requiredText },
      handle: async ({ query: { activateToken: token }, header }) =>
        linkAnswer(header('accept'), await accounts.activationIsKnown(token), {
          known: `/login/createPassword?activateToken=${encodeURIComponent(token)}`,
          expired: '/activationLinkExpired',
        }),
    }),
    openRoute({
      method: 'POST',
      path: '/api/noauth/activate',
      about: 'Gives a new user a first password, and logs in.',
      query: { sendActivationMail: flag(true) },
      body: z.object({ activateToken: z.string(), password: z.string() }),
      example: () => ({ activateToken: 'mW4hVJfJ4eVaW2QY0bYwNnRFlJ7iGZ', password: 'secret' }),
      answer: pairShape,
      handle: async ({ body: { activateToken, password } }) => {
        // Says nothing that the user does not know: no mail follows, whatever `sendActivationMail` is.
        const user = await accounts.activate(activateToken, password)
        return pairAnswer(await auth.loginAs(user.id))
      },
    }),
    openRoute({
      method: 'GET',
      path: '/api/noauth/userPasswordPolicy',
      about: 'How passwords must be.',
      query: {},
      body: undefined,
      answer: policyShape,
      handle: async () => ({ ...(await accounts.passwordPolicy()) }),
    }),
  ]
}

function resetRoutes(
  accounts: People['accounts'],
  linkBase: () => Promise<string>,
  onFailure: (error: unknown) => void,
): readonly DeclaredOpenRoute[] {
  return [
    openRoute({
      method: 'POST',
      path: '/api/noauth/resetPasswordByEmail',
      about:
        'Mails a link for a new password to the user with this address. The answer is the same where there is none.',
      query: {},
      body: z.object({ email: z.string() }),
      example: () => ({ email: 'ann@example.org' }),
      answer: undefined,
      handle: async ({ body: { email } }) => {
        // Who waited for it would learn whether there is such a user: only the system log hears of a failure.
        linkBase()
          .then((base) => accounts.requestReset(email, base))
          .catch(onFailure)
        return EMPTY_ANSWER
      },
    }),
    openRoute({
      ...LINK,
      path: '/api/noauth/resetPassword',
      about: 'Where the link for a new password leads: on to the page where it is chosen.',
      query: { resetToken: requiredText },
      handle: async ({ query: { resetToken: token }, header }) =>
        linkAnswer(header('accept'), await accounts.resetIsKnown(token), {
          known: `/login/resetPassword?resetToken=${encodeURIComponent(token)}`,
          expired: '/passwordResetLinkExpired',
        }),
    }),
    openRoute({
      method: 'POST',
      path: '/api/noauth/resetPassword',
      about: 'Changes a forgotten password. Tokens from before become void.',
      query: {},
      body: z.object({ resetToken: z.string(), password: z.string() }),
      example: () => ({ resetToken: 'mW4hVJfJ4eVaW2QY0bYwNnRFlJ7iGZ', password: 'secret' }),
      answer: undefined,
      handle: async ({ body: { resetToken, password } }) => {
        await accounts.resetPassword(resetToken, password)
        return EMPTY_ANSWER
      },
    }),
  ]
}

export function passwordPages(): readonly UndeclaredRoute[] {
  const paths = Object.keys(PASSWORD_PAGES) as (keyof typeof PASSWORD_PAGES)[]
  return [
    ...paths.map((pattern): UndeclaredRoute => {
      const handle = async () => passwordPageAnswer(pattern)
      return { method: 'GET', pattern, authorities: 'public', undeclared: 'page', handle }
    }),
    {
      ...{ method: 'GET', pattern: PASSWORD_SCRIPT, authorities: 'public', undeclared: 'file' },
      handle: async () => passwordScriptAnswer(),
    },
  ]
}

/** Who follows a link of a mail is sent to the page where a password is chosen. */
function linkAnswer(
  accepted: string,
  state: 'known' | 'expired' | 'unknown',
  pages: { readonly known: string; readonly expired: string },
): Answer {
  if (state === 'unknown') {
    // A browser shows a page of its own fault in the place of an empty answer; programs get what the reference gives.
    const isBrowser = accepted.includes('text/html')
    return rawAnswer(isBrowser ? unknownLinkAnswer() : { status: 409, contentType: undefined, body: '' })
  }
  return redirectAnswer(pages[state])
}
