/**
 * Calls about parts of the reference that this platform does not have, which front ends make all the same: each answers as the reference
 * does where nobody made any of it.
 */
import type { Authority } from '../../model/entities.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { jsonObject } from './body.ts'
import type { RouteMaker } from './declared/declare.ts'
import { paging, requiredText, uuidList, type QuerySchema } from './declared/query.ts'
import { listShape, pageShape } from './declared/shapes.ts'
import { openRoute } from './declared/open-route.ts'
import type { DeclaredOpenRoute, DeclaredRoute } from './declared/route.ts'
import { EMPTY_ANSWER, EVERYBODY, SYSTEM, SYSTEM_AND_TENANT, TENANT, TENANT_AND_CUSTOMER } from './route.ts'

const EMPTY_PAGE: JsonObject = { data: [], totalPages: 0, totalElements: 0, hasNext: false }
const ITEM: JsonObject = { type: 'object' }

interface Constant {
  readonly path: string
  readonly about: string
  readonly authorities: readonly Authority[]
  readonly query?: QuerySchema
  readonly onlyWith?: readonly string[]
  readonly answer: JsonObject
  readonly value: JsonValue
}

const STATE_MEMBER: JsonObject = { type: 'null' }
const EDQS_STATE = { edqsReady: STATE_MEMBER, syncStatus: STATE_MEMBER, apiMode: STATE_MEMBER }
const MOBILE = { oAuth2ClientLoginInfos: listShape(ITEM), storeInfo: STATE_MEMBER, versionInfo: STATE_MEMBER }
const NO_EDGES = 'There are no edges: '

export function constantRoutes(make: RouteMaker, version: string): readonly DeclaredRoute[] {
  return [
    ...constants(version).map(({ path, about, authorities, query = {}, onlyWith, answer, value }) =>
      make.route({
        ...{ method: 'GET', path, about, authorities, query, answer },
        ...(onlyWith === undefined ? {} : { onlyWith }),
        targets: {},
        body: undefined,
        isAboutTheCaller: true,
        handle: async () => value,
      }),
    ),
    make.route({
      method: 'POST',
      path: '/api/edqs/system/request',
      about: 'Entity queries have no service of their own that could be asked: nothing is done.',
      authorities: SYSTEM,
      targets: {},
      query: {},
      body: jsonObject,
      example: () => ({ apiEnabled: false }),
      answer: undefined,
      handle: async () => EMPTY_ANSWER,
    }),
  ]
}

/** For log-in pages: whoever calls is not known yet. */
export const PUBLIC_CONSTANTS: readonly DeclaredOpenRoute[] = [
  openRoute({
    method: 'POST',
    path: '/api/noauth/oauth2Clients',
    about: 'No clients of OAuth 2 to log in by.',
    query: {},
    body: undefined,
    answer: listShape(ITEM),
    handle: async () => [],
  }),
  openRoute({
    method: 'GET',
    path: '/api/noauth/mobile',
    about: 'No clients of OAuth 2 to log in by, and no app in a store.',
    query: {},
    body: undefined,
    answer: { type: 'object', properties: MOBILE, required: Object.keys(MOBILE) },
    handle: async () => ({ oAuth2ClientLoginInfos: [], storeInfo: null, versionInfo: null }),
  }),
]

function constants(version: string): readonly Constant[] {
  const pages = { query: { page: paging }, answer: pageShape(ITEM), value: EMPTY_PAGE }
  const list = { answer: listShape(ITEM), value: [] }
  const clients = { path: '/api/oauth2/client/infos', authorities: SYSTEM_AND_TENANT } as const
  const apps = { ...pages, authorities: SYSTEM_AND_TENANT } as const
  return [
    { ...list, path: '/api/edge/types', about: `${NO_EDGES}no types.`, authorities: TENANT_AND_CUSTOMER },
    {
      path: '/api/edges/enabled',
      about: `${NO_EDGES}false.`,
      authorities: EVERYBODY,
      answer: { type: 'boolean' },
      value: false,
    },
    { ...pages, path: '/api/tenant/edgeInfos', about: `${NO_EDGES}an empty page.`, authorities: TENANT },
    { ...pages, path: '/api/iot-hub/installedItems', about: 'Nothing of a market is installed.', authorities: TENANT },
    {
      path: '/api/iot-hub/installedItems/counts',
      about: 'Nothing of a market is installed.',
      authorities: TENANT,
      query: { itemType: requiredText },
      answer: { type: 'object' },
      value: {},
    },
    { ...clients, ...pages, about: 'No clients of OAuth 2.' },
    { ...pages, path: '/api/domain/infos', about: 'No domains of OAuth 2.', authorities: SYSTEM },
    {
      path: '/api/edqs/state',
      about: 'Entity queries have no service of their own: nothing is known of one.',
      authorities: SYSTEM,
      answer: { type: 'object', properties: EDQS_STATE, required: Object.keys(EDQS_STATE) },
      value: { edqsReady: null, syncStatus: null, apiMode: null },
    },
    {
      path: '/api/trendz/settings',
      about: 'There is no Trendz.',
      authorities: TENANT_AND_CUSTOMER,
      answer: { type: 'object', properties: { enabled: { type: 'boolean' } }, required: ['enabled'] },
      value: { enabled: false, baseUrl: null, apiKey: null },
    },
    {
      ...clients,
      ...list,
      about: 'No clients of OAuth 2.',
      query: { clientIds: uuidList },
      onlyWith: ['clientIds'],
    },
    {
      ...list,
      path: '/api/oauth2/client/list',
      about: 'No clients of OAuth 2.',
      authorities: SYSTEM_AND_TENANT,
      query: { clientIds: uuidList },
    },
    { ...apps, path: '/api/mobile/app', about: 'No mobile apps.' },
    { ...apps, path: '/api/mobile/bundle/infos', about: 'No bundles of mobile apps.' },
    {
      path: '/api/oauth2/loginProcessingUrl',
      about: 'Where a provider of OAuth 2 would send who logged in there.',
      authorities: SYSTEM_AND_TENANT,
      answer: { type: 'string' },
      value: '/login/oauth2/code/',
    },
    {
      ...list,
      path: '/api/oauth2/config/template',
      about: 'No templates for OAuth 2.',
      authorities: SYSTEM_AND_TENANT,
    },
    {
      ...list,
      path: '/api/mail/config/template',
      about: 'No templates of mail servers.',
      authorities: SYSTEM_AND_TENANT,
    },
    {
      path: '/api/mobile/qr/settings',
      about: 'There is no app to open by a QR code.',
      authorities: EVERYBODY,
      answer: { type: 'object', properties: { qrCodeConfig: { type: 'object' } }, required: ['qrCodeConfig'] },
      value: {
        id: null,
        createdTime: 0,
        tenantId: null,
        useSystemSettings: false,
        useDefaultApp: false,
        mobileAppBundleId: null,
        qrCodeConfig: {
          showOnHomePage: false,
          badgeEnabled: false,
          qrCodeLabelEnabled: false,
          badgePosition: null,
          qrCodeLabel: null,
        },
        androidEnabled: false,
        iosEnabled: false,
        googlePlayLink: null,
        appStoreLink: null,
      },
    },
    {
      path: '/api/mobile/qr/deepLink',
      about: 'There is no app to open by a link.',
      authorities: EVERYBODY,
      answer: { type: 'string' },
      value: '',
    },
    {
      path: '/api/admin/updates',
      about: 'Nobody is asked for newer versions.',
      authorities: SYSTEM,
      answer: {
        type: 'object',
        properties: { updateAvailable: { type: 'boolean' }, currentVersion: { type: 'string' } },
        required: ['updateAvailable', 'currentVersion'],
      },
      value: {
        updateAvailable: false,
        currentVersion: version,
        latestVersion: version,
        upgradeInstructionsUrl: null,
        currentVersionReleaseNotesUrl: null,
        latestVersionReleaseNotesUrl: null,
      },
    },
  ]
}
