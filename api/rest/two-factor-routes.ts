/** The second factor: set up by each user, asked for at log-in, offered by the system administrator. Source: `rest-api.md` 1.9. */
import { z } from 'zod'
import type { JsonObject } from '../../model/json.ts'
import type { People } from '../../services/users/people.ts'
import {
  accountConfigSchema,
  platformTwoFactorSchema,
  PROVIDER_TYPES,
} from '../../services/users/two-factor-settings.ts'
import { platformJson } from '../../services/users/two-factor.ts'
import { UserErrors } from '../../services/users/errors.ts'
import type { Auth } from '../auth/auth.ts'
import type { EntityRoutesParts } from './declared/entity-routes.ts'
import { openRoute } from './declared/open-route.ts'
import { optionalText, requiredChoice, requiredText } from './declared/query.ts'
import type { DeclaredOpenRoute, DeclaredRoute } from './declared/route.ts'
import { EMPTY_ANSWER, EVERYBODY, SYSTEM } from './route.ts'
import { pairAnswer, pairShape } from './token-pair.ts'

export interface TwoFactorRoutesParts extends EntityRoutesParts {
  readonly people: Pick<People, 'twoFactor'>
}

const OWN = { authorities: EVERYBODY, targets: {}, isAboutTheCaller: true } as const
const SETS_UP = { ...OWN, setsUpSecondFactor: true } as const
const ACCOUNT: JsonObject = { type: 'object', properties: { configs: { type: 'object' } }, required: ['configs'] }
const CONFIG: JsonObject = { type: 'object', properties: { providerType: { enum: [...PROVIDER_TYPES] } } }
const OWN_PROVIDER: JsonObject = {
  title: 'OwnSecondFactor',
  type: 'object',
  properties: {
    type: { enum: [...PROVIDER_TYPES] },
    default: { type: 'boolean' },
    contact: { type: ['string', 'null'] },
    minVerificationCodeSendPeriod: { type: ['integer', 'null'] },
  },
  required: ['type', 'default'],
}
const TYPES: JsonObject = { type: 'array', items: { enum: [...PROVIDER_TYPES] } }
const TOTP_EXAMPLE = {
  providerType: 'TOTP',
  authUrl: 'otpauth://totp/Millrace:ann%40example.org?issuer=Millrace&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
}
const PLATFORM_EXAMPLE = {
  providers: [{ providerType: 'TOTP', issuerName: 'Millrace' }],
  minVerificationCodeSendPeriod: 30,
  totalAllowedTimeForVerification: 1800,
}

export function twoFactorRoutes(parts: TwoFactorRoutesParts): readonly DeclaredRoute[] {
  return [...accountRoutes(parts), ...platformRoutes(parts)]
}

function accountRoutes({ make, people: { twoFactor } }: TwoFactorRoutesParts): readonly DeclaredRoute[] {
  const config = { ...OWN, path: '/api/2fa/account/config', answer: ACCOUNT } as const
  return [
    make.route({
      ...SETS_UP,
      method: 'GET',
      path: '/api/2fa/account/settings',
      about: 'What the caller set up; nothing where that is nothing.',
      query: {},
      body: undefined,
      answer: ACCOUNT,
      mayBeEmpty: true,
      handle: async ({ principal }) => (await twoFactor.account(principal)) ?? EMPTY_ANSWER,
    }),
    make.route({
      ...SETS_UP,
      method: 'POST',
      path: '/api/2fa/account/config/generate',
      about: 'A new secret or new backup codes, which count when they are confirmed.',
      query: { providerType: requiredChoice(PROVIDER_TYPES) },
      body: undefined,
      answer: CONFIG,
      handle: ({ principal, query }) => twoFactor.generate(principal, query.providerType),
    }),
    make.route({
      ...SETS_UP,
      method: 'POST',
      path: '/api/2fa/account/config/submit',
      about: 'Says whether a configuration could be confirmed; sends a code where one is needed.',
      query: {},
      body: accountConfigSchema,
      example: () => TOTP_EXAMPLE,
      answer: undefined,
      handle: async ({ principal, body }) => {
        await twoFactor.submit(principal, body)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...config,
      setsUpSecondFactor: true,
      method: 'POST',
      about: 'Confirms a configuration with a code: from now on a password alone is not enough.',
      query: { verificationCode: optionalText },
      body: accountConfigSchema,
      example: () => TOTP_EXAMPLE,
      handle: ({ principal, query, body }) => twoFactor.save(principal, body, query.verificationCode),
    }),
    make.route({
      ...config,
      method: 'PUT',
      about: 'Says which of the second factors is asked for first.',
      query: { providerType: requiredChoice(PROVIDER_TYPES) },
      body: z.object({ useByDefault: z.boolean() }),
      example: () => ({ useByDefault: true }),
      handle: ({ principal, query, body }) => twoFactor.setDefault(principal, query.providerType, body.useByDefault),
    }),
    make.route({
      ...config,
      method: 'DELETE',
      about: 'Takes a second factor away.',
      query: { providerType: requiredChoice(PROVIDER_TYPES) },
      body: undefined,
      handle: ({ principal, query }) => twoFactor.remove(principal, query.providerType),
    }),
  ]
}

function platformRoutes({ make, people: { twoFactor } }: TwoFactorRoutesParts): readonly DeclaredRoute[] {
  const platform = { path: '/api/2fa/settings', authorities: SYSTEM, targets: {}, query: {} } as const
  const answer: JsonObject = { type: 'object', properties: { providers: { type: 'array' } }, required: ['providers'] }
  const settings = async (): Promise<JsonObject | undefined> => {
    const found = await twoFactor.platform()
    return found && platformJson(found)
  }
  return [
    make.route({
      ...SETS_UP,
      method: 'GET',
      path: '/api/2fa/providers',
      about: 'The second factors that there are.',
      query: {},
      body: undefined,
      answer: TYPES,
      handle: async () => [...(await twoFactor.providers())],
    }),
    make.route({
      ...platform,
      method: 'GET',
      about: 'Which second factors users may set up; nothing where there are none.',
      body: undefined,
      answer,
      mayBeEmpty: true,
      handle: async () => (await settings()) ?? EMPTY_ANSWER,
    }),
    make.route({
      ...platform,
      method: 'POST',
      about: 'Says which second factors users may set up.',
      body: platformTwoFactorSchema,
      example: () => PLATFORM_EXAMPLE,
      answer,
      handle: async ({ principal, body }) => {
        await twoFactor.savePlatform(principal, body)
        return (await settings()) ?? EMPTY_ANSWER
      },
    }),
  ]
}

/** For who gave the password and still has to give the code: the token says only that. */
export function verificationRoutes({ twoFactor }: Pick<People, 'twoFactor'>, auth: Auth): readonly DeclaredOpenRoute[] {
  const providerType = requiredChoice(PROVIDER_TYPES)
  const verifies = { body: undefined, token: 'the token of a log-in with the scope PRE_VERIFICATION_TOKEN' } as const
  return [
    openRoute({
      ...verifies,
      method: 'GET',
      path: '/api/auth/2fa/providers',
      about: 'The second factors that the caller set up.',
      query: {},
      answer: { type: 'array', items: OWN_PROVIDER },
      handle: async ({ credentials }) => {
        const user = await auth.halfLoggedIn(credentials, 'PRE_VERIFICATION_TOKEN')
        const providers = await twoFactor.providersOf(user)
        return providers.map(({ isDefault, ...provider }) => ({ ...provider, default: isDefault }))
      },
    }),
    openRoute({
      ...verifies,
      method: 'POST',
      path: '/api/auth/2fa/verification/send',
      about: 'Sends a code, where one is needed.',
      query: { providerType },
      answer: undefined,
      handle: async ({ credentials, query }) => {
        await twoFactor.sendCode(await auth.halfLoggedIn(credentials, 'PRE_VERIFICATION_TOKEN'), query.providerType)
        return EMPTY_ANSWER
      },
    }),
    openRoute({
      ...verifies,
      method: 'POST',
      path: '/api/auth/2fa/verification/check',
      about: 'Logs in by a code.',
      query: { providerType, verificationCode: requiredText },
      answer: pairShape,
      handle: async ({ credentials, clientAddress, query: { providerType: type, verificationCode: code } }) =>
        pairAnswer(await auth.loginVerified(credentials, clientAddress, (user) => twoFactor.check(user, type, code))),
    }),
    openRoute({
      method: 'POST',
      path: '/api/auth/2fa/login',
      about: 'Logs in who had to set up a second factor, and did.',
      token: 'the token of a log-in with the scope MFA_CONFIGURATION_TOKEN',
      query: {},
      body: undefined,
      answer: pairShape,
      handle: async ({ credentials }) => {
        // What this session confirmed a moment ago is not asked for again; it is refused where another did.
        const { userId } = await auth.authenticateToSetUp(credentials)
        if ((await twoFactor.providersOf({ id: userId })).length === 0) throw UserErrors.TWO_FACTOR_NOT_SET_UP()
        return pairAnswer(await auth.issueFor(userId))
      },
    }),
  ]
}
