/** What the system administrator sets for the whole platform. Source: `rest-api.md` 13.1. */
import { z } from 'zod'
import { NULL_UUID } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import {
  CONNECTIVITY_SETTINGS,
  connectivityDefaults,
  type DevicePorts,
} from '../../services/onboarding/connectivity.ts'
import type { Admin } from '../../services/admin/admin.ts'
import { idOfSettings, shownValue, type AdminSetting } from '../../services/admin/admin-settings.ts'
import { AdminErrors } from '../../services/admin/errors.ts'
import { HIDDEN_SIGNING_KEY } from '../../services/admin/jwt-settings.ts'
import { MAIL_OAUTH2_PATH } from '../../services/mail/mail-oauth2.ts'
import { MAIL_SETTINGS } from '../../services/mail/mail-settings.ts'
import type { SystemSms } from '../../services/sms/system-sms.ts'
import type { People } from '../../services/users/people.ts'
import { SECURITY_SETTINGS, securityJson, securitySettingsSchema } from '../../services/users/security-settings.ts'
import type { Auth } from '../auth/auth.ts'
import { adminSettingsShape, featuresShape, jwtShape, securityShape, systemInfoShape } from './admin-shapes.ts'
import { jsonObject } from './body.ts'
import { rawAnswer, redirectAnswer } from './declared/declare.ts'
import type { EntityRoutesParts } from './declared/entity-routes.ts'
import { openRoute } from './declared/open-route.ts'
import { requiredText } from './declared/query.ts'
import type { DeclaredOpenRoute, DeclaredRoute } from './declared/route.ts'
import { EMPTY_ANSWER, SYSTEM, TENANT, textAnswer } from './route.ts'
import type { SystemInfo } from './system-info.ts'
import { pairAnswer, pairShape } from './token-pair.ts'

export interface AdminRoutesParts extends EntityRoutesParts {
  readonly admin: Admin
  readonly sms: Pick<SystemSms, 'isSetUp'>
  readonly people: Pick<People, 'accounts' | 'twoFactor'>
  readonly auth: Auth
  readonly systemInfo: SystemInfo
  /** Where people reach the platform, as far as the process knows. */
  readonly baseUrl: () => string
  readonly devicePorts: DevicePorts
}

const settingsBody = z.object({ key: z.string().trim().min(1).max(255), jsonValue: jsonObject })
const jwtBody = z.object({
  tokenExpirationTime: z.int(),
  refreshTokenExpTime: z.int(),
  tokenIssuer: z.string().max(255),
  tokenSigningKey: z.string().max(4_096).nullish(),
})
const testSmsBody = z.object({
  providerConfiguration: jsonObject,
  numberTo: z.string().trim().min(1).max(32),
  message: z.string().min(1).max(1_600),
})
const REPOSITORY: JsonObject = { configured: { type: 'boolean' }, readOnly: { type: ['boolean', 'null'] } }
const ALL = { authorities: SYSTEM, targets: {}, query: {} } as const

export function adminRoutes(parts: AdminRoutesParts): readonly DeclaredRoute[] {
  return [...settingsRoutes(parts), ...securityRoutes(parts), ...jwtRoutes(parts), ...factRoutes(parts)]
}

function settingsRoutes({ make, admin, baseUrl, devicePorts }: AdminRoutesParts): readonly DeclaredRoute[] {
  return [
    make.route({
      ...ALL,
      method: 'GET',
      path: '/api/admin/settings/{settingsKey}',
      about: 'Settings of the platform, without their secrets.',
      body: undefined,
      answer: adminSettingsShape,
      handle: async ({ path: { settingsKey: key } }) => {
        const saved = await admin.settings.find(key)
        if (saved !== undefined) return settingsJson(saved)
        const value = defaults(baseUrl(), devicePorts)[key]
        if (value === undefined) throw AdminErrors.NO_SETTINGS({ key })
        return settingsJson({ id: idOfSettings(key), createdTime: 0, key, value })
      },
    }),
    make.route({
      ...ALL,
      method: 'POST',
      path: '/api/admin/settings',
      about: 'Saves settings of the platform; secrets that are left out stay as they are.',
      body: settingsBody,
      example: () => ({
        key: 'general',
        jsonValue: { baseUrl: 'https://iot.example.org', prohibitDifferentUrl: false },
      }),
      answer: adminSettingsShape,
      handle: async ({ principal, body: { key, jsonValue } }) =>
        settingsJson(await admin.save(principal, key, jsonValue)),
    }),
    make.route({
      ...ALL,
      method: 'POST',
      path: '/api/admin/settings/testMail',
      about: 'Sends a mail to the caller by the settings of the body.',
      body: settingsBody,
      example: () => ({ key: MAIL_SETTINGS, jsonValue: { ...mailDefaults() } }),
      answer: undefined,
      handle: async ({ principal, body: { jsonValue } }) => {
        await admin.sendTestMail(principal, jsonValue)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...ALL,
      method: 'POST',
      path: '/api/admin/settings/testSms',
      about: 'Sends a text to a phone by the provider of the body.',
      body: testSmsBody,
      example: () => ({
        providerConfiguration: { type: 'TWILIO', accountSid: 'AC1', accountToken: 'token', numberFrom: '+15005550006' },
        numberTo: '+15005550009',
        message: 'Test message',
      }),
      answer: undefined,
      handle: async ({ body: { providerConfiguration, numberTo, message } }) => {
        await admin.sendTestSms(providerConfiguration, numberTo, message)
        return EMPTY_ANSWER
      },
    }),
  ]
}

function securityRoutes({ make, admin, people: { accounts } }: AdminRoutesParts): readonly DeclaredRoute[] {
  const route = { ...ALL, path: '/api/admin/securitySettings', answer: securityShape } as const
  return [
    make.route({
      ...route,
      method: 'GET',
      about: 'How passwords must be, when users are locked, and how long links are good.',
      body: undefined,
      handle: async () => securityJson(await accounts.securitySettings()),
    }),
    make.route({
      ...route,
      method: 'POST',
      about: 'Says how passwords must be, when users are locked, and how long links are good.',
      body: securitySettingsSchema,
      example: () => securityJson(securitySettingsSchema.parse({})),
      handle: async ({ principal, body }) => {
        await admin.settings.save(principal, SECURITY_SETTINGS, securityJson(body))
        return securityJson(await accounts.securitySettings())
      },
    }),
  ]
}

function jwtRoutes({ make, admin, auth }: AdminRoutesParts): readonly DeclaredRoute[] {
  const path = '/api/admin/jwtSettings'
  return [
    make.route({
      ...ALL,
      method: 'GET',
      path,
      about:
        'How tokens are signed. In the place of the key stands one of zeros: saved again it leaves the key as it is.',
      body: undefined,
      answer: jwtShape,
      handle: async () => {
        const { signing } = await admin.jwt.current()
        return {
          tokenExpirationTime: signing.accessLifetimeSeconds,
          refreshTokenExpTime: signing.refreshLifetimeSeconds,
          tokenIssuer: signing.issuer,
          tokenSigningKey: HIDDEN_SIGNING_KEY,
        }
      },
    }),
    make.route({
      ...ALL,
      method: 'POST',
      path,
      about: 'Says how tokens are signed, and answers new ones. Tokens of before are good until they expire.',
      body: jwtBody,
      example: () => ({
        tokenExpirationTime: 9000,
        refreshTokenExpTime: 604_800,
        tokenIssuer: 'thingsboard.io',
        tokenSigningKey: HIDDEN_SIGNING_KEY,
      }),
      answer: pairShape,
      handle: async ({ principal, body }) => {
        await admin.jwt.save(principal, body)
        return pairAnswer(await auth.issueFor(principal.userId))
      },
    }),
  ]
}

function factRoutes({
  make,
  admin,
  sms,
  people: { twoFactor },
  systemInfo,
}: AdminRoutesParts): readonly DeclaredRoute[] {
  const nothing = { authorities: TENANT, targets: {}, query: {}, isAboutTheCaller: true, body: undefined } as const
  return [
    make.route({
      ...ALL,
      method: 'GET',
      path: '/api/admin/featuresInfo',
      about: 'What is set up.',
      body: undefined,
      answer: featuresShape,
      handle: async () => ({
        emailEnabled: (await admin.mailSettings()) !== undefined,
        smsEnabled: await sms.isSetUp(),
        notificationEnabled: false,
        oauthEnabled: false,
        twoFaEnabled: (await twoFactor.providers()).length > 0,
      }),
    }),
    make.route({
      ...ALL,
      method: 'GET',
      path: '/api/admin/systemInfo',
      about: 'How loaded the machine is that answers.',
      body: undefined,
      answer: systemInfoShape,
      handle: () => systemInfo.read(),
    }),
    make.route({
      ...ALL,
      method: 'GET',
      path: '/api/admin/mail/oauth2/loginProcessingUrl',
      about: 'Where a mail provider would send who let the platform send mails.',
      body: undefined,
      answer: { type: 'string' },
      handle: async () => MAIL_OAUTH2_PATH,
    }),
    make.route({
      ...ALL,
      method: 'GET',
      path: '/api/admin/mail/oauth2/authorize',
      about: 'Where the mail provider asks whether the platform may send mails, by the saved mail settings.',
      body: undefined,
      answer: { type: 'string' },
      handle: async () => rawAnswer(textAnswer(await admin.mailOAuth2.authorizationUrl())),
    }),
    ...(['repositorySettings', 'autoCommitSettings'] as const).map((name) =>
      make.route({
        ...nothing,
        method: 'GET',
        path: `/api/admin/${name}/exists`,
        about: 'There is no version control: false.',
        answer: { type: 'boolean' },
        handle: async () => false,
      }),
    ),
    make.route({
      ...nothing,
      method: 'GET',
      path: '/api/admin/repositorySettings/info',
      about: 'There is no version control: no repository is set up.',
      answer: { type: 'object', properties: REPOSITORY, required: Object.keys(REPOSITORY) },
      handle: async () => ({ configured: false, readOnly: null }),
    }),
  ]
}

/** The provider sends the administrator here, who is logged in at a page, not at this call: the state says that the platform asked. */
export function mailCodeRoute({ mailOAuth2 }: Pick<Admin, 'mailOAuth2'>): DeclaredOpenRoute {
  return openRoute({
    method: 'GET',
    path: MAIL_OAUTH2_PATH,
    about: 'Where a mail provider sends who let the platform send mails: takes its code, and leads to the settings.',
    query: { code: requiredText, state: requiredText },
    body: undefined,
    redirects: true,
    answer: undefined,
    handle: async ({ query: { code, state } }) => {
      await mailOAuth2.takeCode(code, state)
      return redirectAnswer('/settings/outgoing-mail')
    },
  })
}

function settingsJson(setting: AdminSetting): JsonObject {
  const { id, createdTime, key } = setting
  return {
    id: { entityType: 'ADMIN_SETTINGS', id },
    createdTime,
    tenantId: { entityType: 'TENANT', id: NULL_UUID },
    key,
    jsonValue: shownValue(setting),
  }
}

/** Until somebody saves others. */
function defaults(baseUrl: string, devicePorts: DevicePorts): Readonly<Record<string, JsonObject | undefined>> {
  return {
    general: { baseUrl, prohibitDifferentUrl: false },
    [MAIL_SETTINGS]: mailDefaults(),
    [CONNECTIVITY_SETTINGS]: connectivityDefaults(baseUrl, devicePorts),
  }
}

function mailDefaults(): JsonObject {
  return {
    mailFrom: 'Millrace <noreply@localhost>',
    smtpProtocol: 'smtp',
    smtpHost: 'localhost',
    smtpPort: '25',
    timeout: '10000',
    enableTls: false,
    username: '',
    tlsVersion: 'TLSv1.2',
    enableProxy: false,
    showChangePassword: false,
  }
}
