/** What is kept for the caller alone: settings, dashboards visited and starred, sessions of mobile apps. Source: `rest-api.md` 12.3. */
import { z } from 'zod'
import { dashboards } from '../../services/entities/dashboard.ts'
import type { JsonObject } from '../../model/json.ts'
import { MobileSessions } from '../../services/users/mobile-sessions.ts'
import type { People } from '../../services/users/people.ts'
import { settingsTypeOf } from '../../services/users/user-settings.ts'
import { DASHBOARD_ACTIONS } from '../../services/users/visited-dashboards.ts'
import { jsonObject } from './body.ts'
import type { EntityRoutesParts } from './declared/entity-routes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { EMPTY_ANSWER, EVERYBODY, TENANT_AND_CUSTOMER } from './route.ts'
import { oneOf } from './query.ts'

export interface UserSettingsRoutesParts extends EntityRoutesParts {
  readonly people: Pick<People, 'settings' | 'visitedDashboards'>
}

const OWN = { authorities: EVERYBODY, targets: {}, query: {}, isAboutTheCaller: true } as const
const SETTINGS: JsonObject = { type: 'object' }
const MOBILE_HEADER = 'X-Mobile-Token'
const mobileSessionSchema = z.object({ fcmTokenTimestamp: z.int().nullish() })

export function userSettingsRoutes(parts: UserSettingsRoutesParts): readonly DeclaredRoute[] {
  return [...generalRoutes(parts), ...typedRoutes(parts), ...dashboardRoutes(parts), ...mobileRoutes(parts)]
}

function generalRoutes({ make, people: { settings } }: UserSettingsRoutesParts): readonly DeclaredRoute[] {
  const read = (path: '/api/user/settings' | '/api/user/settings/general') =>
    make.route({
      ...OWN,
      method: 'GET',
      path,
      about: 'The general settings of the caller.',
      body: undefined,
      answer: SETTINGS,
      handle: ({ principal }) => settings.find(principal, 'GENERAL'),
    })
  const merge = (path: '/api/user/settings' | '/api/user/settings/general') =>
    make.route({
      ...OWN,
      method: 'PUT',
      path,
      about: 'Puts members into the general settings of the caller; a name with dots reaches inside.',
      body: jsonObject,
      example: () => ({ theme: 'dark' }),
      answer: undefined,
      handle: async ({ principal, body }) => {
        await settings.merge(principal, 'GENERAL', body)
        return EMPTY_ANSWER
      },
    })
  return [
    read('/api/user/settings'),
    read('/api/user/settings/general'),
    merge('/api/user/settings'),
    merge('/api/user/settings/general'),
    make.route({
      ...OWN,
      method: 'POST',
      path: '/api/user/settings',
      about: 'Replaces the general settings of the caller.',
      body: jsonObject,
      example: () => ({ theme: 'dark' }),
      answer: SETTINGS,
      handle: ({ principal, body }) => settings.replace(principal, 'GENERAL', body),
    }),
    make.route({
      ...OWN,
      method: 'DELETE',
      path: '/api/user/settings/{paths}',
      about: 'Takes members out of the general settings: paths of names joined by dots, joined by commas.',
      body: undefined,
      answer: undefined,
      handle: async ({ principal, path }) => {
        await settings.remove(principal, 'GENERAL', listOf(path.paths))
        return EMPTY_ANSWER
      },
    }),
  ]
}

function typedRoutes({ make, people: { settings } }: UserSettingsRoutesParts): readonly DeclaredRoute[] {
  return [
    make.route({
      ...OWN,
      method: 'GET',
      path: '/api/user/settings/{type}',
      about: 'Settings of a type (`QUICK_LINKS`, `NOTIFICATIONS` …) of the caller.',
      body: undefined,
      answer: SETTINGS,
      handle: ({ principal, path }) => settings.find(principal, settingsTypeOf(path.type)),
    }),
    make.route({
      ...OWN,
      method: 'PUT',
      path: '/api/user/settings/{type}',
      about: 'Puts members into the settings of a type.',
      body: jsonObject,
      example: () => ({ links: ['https://example.org'] }),
      answer: undefined,
      handle: async ({ principal, path, body }) => {
        await settings.merge(principal, settingsTypeOf(path.type), body)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...OWN,
      method: 'DELETE',
      path: '/api/user/settings/{type}/{paths}',
      about: 'Takes members out of the settings of a type.',
      body: undefined,
      answer: undefined,
      handle: async ({ principal, path }) => {
        await settings.remove(principal, settingsTypeOf(path.type), listOf(path.paths))
        return EMPTY_ANSWER
      },
    }),
  ]
}

function dashboardRoutes({ make, people: { visitedDashboards } }: UserSettingsRoutesParts): readonly DeclaredRoute[] {
  const title = { id: { type: 'string', format: 'uuid' }, title: { type: 'string' } }
  const last = { ...title, starred: { type: 'boolean' }, lastVisited: { type: 'integer' } }
  const starred = { ...title, starredAt: { type: 'integer' } }
  const answer: JsonObject = {
    type: 'object',
    properties: {
      last: { type: 'array', items: { type: 'object', properties: last, required: Object.keys(last) } },
      starred: { type: 'array', items: { type: 'object', properties: starred, required: Object.keys(starred) } },
    },
    required: ['last', 'starred'],
  }
  const list = (path: '/api/user/dashboards' | '/api/user/lastVisitedDashboards') =>
    make.route({
      ...OWN,
      method: 'GET',
      path,
      authorities: TENANT_AND_CUSTOMER,
      about: 'The dashboards that the caller visited last, and those with a star.',
      body: undefined,
      answer,
      handle: ({ principal }) => visitedDashboards.list(principal),
    })
  return [
    list('/api/user/dashboards'),
    list('/api/user/lastVisitedDashboards'),
    make.route({
      method: 'GET',
      path: '/api/user/dashboards/{dashboardId}/{action}',
      authorities: TENANT_AND_CUSTOMER,
      targets: { dashboardId: { entity: dashboards, operation: 'READ' } },
      query: {},
      about: 'Notes that the caller visits a dashboard, gives it a star, or takes it away (`visit`, `star`, `unstar`).',
      body: undefined,
      answer,
      handle: ({ principal, path }) =>
        visitedDashboards.report(
          principal,
          path.dashboardId,
          oneOf('action', path.action.toUpperCase(), DASHBOARD_ACTIONS),
        ),
    }),
  ]
}

function mobileRoutes({ make, people: { settings } }: UserSettingsRoutesParts): readonly DeclaredRoute[] {
  const sessions = new MobileSessions(settings)
  const session: JsonObject = { type: 'object', properties: { fcmTokenTimestamp: { type: ['integer', 'null'] } } }
  const common = { ...OWN, path: '/api/user/mobile/session', headers: [MOBILE_HEADER] } as const
  return [
    make.route({
      ...common,
      method: 'GET',
      about: 'The session of a mobile app of the caller; nothing where it has none.',
      mayBeEmpty: true,
      body: undefined,
      answer: session,
      handle: async ({ principal, header }) => (await sessions.find(principal, header(MOBILE_HEADER))) ?? EMPTY_ANSWER,
    }),
    make.route({
      ...common,
      method: 'POST',
      about: 'Notes the session of a mobile app.',
      body: mobileSessionSchema,
      example: () => ({ fcmTokenTimestamp: 1_700_000_000_000 }),
      answer: undefined,
      handle: async ({ principal, header, body }) => {
        await sessions.save(principal, header(MOBILE_HEADER), body.fcmTokenTimestamp ?? null)
        return EMPTY_ANSWER
      },
    }),
    make.route({
      ...common,
      method: 'DELETE',
      about: 'Forgets the session of a mobile app.',
      body: undefined,
      answer: undefined,
      handle: async ({ principal, header }) => {
        await sessions.remove(principal, header(MOBILE_HEADER))
        return EMPTY_ANSWER
      },
    }),
  ]
}

function listOf(paths: string): readonly string[] {
  return paths.split(',').filter((path) => path !== '')
}
