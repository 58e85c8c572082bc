/** The REST and the WebSocket API of a test platform, on a free port. */
import { createAuth, type Auth } from '../../api/auth/auth.ts'
import { registerRestApi, type RestApiOptions } from '../../api/rest/register.ts'
import type { RestRoute } from '../../api/rest/rows.ts'
import { profileLimitsOf } from '../../api/ws/profile-limits.ts'
import { registerWebSocketApi } from '../../api/ws/register.ts'
import { Backups } from '../../compose/backup/backups.ts'
import type { JavaScriptWorkers } from '../../engine/script/javascript/javascript-workers.ts'
import { createWorkerAdmin } from '../../engine/workers/admin.ts'
import { AggregationWorkers } from '../../engine/workers/aggregation/aggregation-workers.ts'
import { UwsServer } from '../../server/uws.ts'
import { testRandom, type TestPlatform } from '../../services/testkit.ts'

export interface RestServer {
  readonly url: string
  readonly auth: Auth
  readonly server: UwsServer
  readonly routes: readonly RestRoute[]
  readonly options: Omit<RestApiOptions, 'server'>
  /** What went wrong and was told to nobody but the log. */
  readonly failures: readonly unknown[]
  /** The platform stays open. */
  close(): Promise<void>
}

export async function serveRest(platform: TestPlatform, javaScript: JavaScriptWorkers): Promise<RestServer> {
  const { services, clock, entities } = platform
  const failures: unknown[] = []
  const auth = await createAuth({
    users: services.users,
    userOfApiKey: (value) => services.people.apiKeys.userOf(value),
    secondStep: (user) => services.people.twoFactor.secondStep(user),
    checkSetUp: (user, sessionId) => services.people.twoFactor.checkSetUp(user, sessionId),
    tokenKeys: services.admin.jwt,
    clock,
    random: testRandom,
    endedSessions: entities.endedSessions,
    settings: entities.settings,
  })
  const server = new UwsServer({
    maxBodyBytes: 64 * 1024,
    drainTimeoutMs: 1000,
    onHandlerError: (error) => failures.push(error),
  })
  const options: Omit<RestApiOptions, 'server'> = {
    services,
    auth,
    clock,
    version: '0.0.0',
    metricsSources: [],
    healthChecks: [],
    workers: createWorkerAdmin([javaScript, new AggregationWorkers({ clock, threads: 2 })]),
    backups: new Backups({
      sources: undefined,
      kept: 'nothing',
      holdOutbox: () => services.holdOutbox(),
      clock,
      random: testRandom,
      log: { debug() {}, info() {}, warn() {}, error() {} },
    }),
    process: { member: 'test', roles: ['api', 'engine', 'transport'], folder: '.' },
    devicePorts: {},
    page: { baseUrl: () => 'http://127.0.0.1', demo: undefined },
    log: { error: (fields, message) => failures.push({ message, ...fields }) },
    castStrings: true,
    metricsAccess: { withoutToken: 'loopback', token: undefined },
  }
  const routes = registerRestApi({ ...options, server })
  const webSockets = registerWebSocketApi({
    server,
    services,
    feed: services.subscriberFeed,
    authenticate: (token) => auth.authenticateLogin(token),
    loginByApiKey: (value) => auth.loginByApiKey(value),
    limitsOf: async (tenantId) => profileLimitsOf(await services.limits.of(tenantId)),
    updatesRefused: () => undefined,
    stillHolds: (login) => auth.stillHolds(login),
    clock,
    log: { debug() {}, info() {}, warn() {}, error: (message, fields) => failures.push({ message, ...fields }) },
  })
  const port = await server.listen('127.0.0.1', 0)
  return {
    url: `http://127.0.0.1:${port}`,
    ...{ auth, server, routes, options, failures },
    async close() {
      await webSockets.close()
      await server.close()
    },
  }
}
