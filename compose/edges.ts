/** Opens what talks to the outside: the HTTP server with the APIs of the process's roles, and the device protocols. */
import { hostname } from 'node:os'
import { errorText } from '../model/errors.ts'
import { systemClock, systemRandom } from '../model/system-clock.ts'
import type { BackupAdmin } from '../model/backup.ts'
import type { WorkerAdmin } from '../model/worker-pool.ts'
import type { SystemLog } from '../logging/log.ts'
import type { Config } from '../config/settings.ts'
import type { DeviceGateway } from '../engine/device/gateway.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import { createAuth, type Auth } from '../api/auth/auth.ts'
import { DEFAULT_LOGIN_LIMITS } from '../api/auth/login-limiter.ts'
import { sendError } from '../api/errors.ts'
import type { MetricsSource } from '../api/metrics.ts'
import { registerRestApi } from '../api/rest/register.ts'
import { profileLimitsOf } from '../api/ws/profile-limits.ts'
import { registerWebhooks, type WebhookTaker } from '../api/webhooks.ts'
import { registerWebSocketApi } from '../api/ws/register.ts'
import { CertificateWatch, certificateFiles } from '../server/certificate.ts'
import { proxyList } from '../server/client-address.ts'
import type { HttpServer } from '../server/http-server.ts'
import { UwsServer } from '../server/uws.ts'
import { DEMO_ACCESS_TOKEN, DEMO_LOGINS } from '../services/seed.ts'
import type { Services } from '../services/services.ts'
import { TRANSPORTS } from '../transports/catalogue.ts'
import { DEFAULT_PAYLOAD_LIMITS } from '../transports/payload/limits.ts'
import type { Closing } from './closing.ts'
import { healthChecksOf } from './health-checks.ts'
import { httpsCertificate } from './https-certificate.ts'
import { reachableHost, type Ports } from './ready-text.ts'
import type { Stores } from './stores.ts'

export interface EdgeParts {
  readonly config: Config
  readonly version: string
  readonly log: SystemLog
  readonly closing: Closing
  readonly stores: Stores
  readonly services: Services
  /** What others send to integrations. */
  readonly webhooks: WebhookTaker
  /** Undefined in a process without the role transport: no device reaches it. */
  readonly gateway: DeviceGateway | undefined
  readonly feed: ChangeFeed
  readonly metricsSources: readonly MetricsSource[]
  /** The pools of this process. */
  readonly workers: WorkerAdmin
  readonly backups: BackupAdmin
  /** Whether the demo logins were seeded into this data folder. */
  readonly demo: boolean
}

/** Resolves with the real ports once everything listens. */
export async function openEdges(parts: EdgeParts): Promise<Ports> {
  const { config, closing, services, stores, log } = parts
  const certificate = httpsCertificate(config)
  const tls = certificate && certificateFiles(certificate)
  const server = new UwsServer({
    tls,
    maxBodyBytes: config.restMaxBodyBytes,
    maxUnknownBodyBytes: config.unauthenticatedMaxBodyBytes,
    maxUnknownBodiesBytes: config.unauthenticatedMaxBodiesMiB * 2 ** 20,
    trustedProxies: proxyList(config.trustedProxies),
    // The other half is for what the queue has in process.
    drainTimeoutMs: config.stopTimeoutMs / 2,
    onHandlerError: (error, request, reply) => {
      log.error('a request handler threw', { method: request.method, path: request.path, error: errorText(error) })
      if (reply.open) sendError(reply, error, systemClock.now())
    },
  })
  closing.add('HTTP server', () => server.close())
  if (certificate !== undefined && tls !== undefined) {
    const watch = new CertificateWatch({
      label: 'HTTPS',
      settings: certificate,
      files: tls,
      replace: (files) => server.replaceCertificate(files),
      clock: systemClock,
      log,
    })
    closing.add('certificate', () => watch.close())
  }
  registerWebhooks({
    ...{ server, webhooks: parts.webhooks, clock: systemClock, log },
    maxFrameBytes: config.integrationMaxFrameBytes,
  })
  const transports = await openTransports(parts, server)
  let port = config.httpBindPort
  const auth = await createAuth({
    users: services.users,
    userOfApiKey: (value) => services.people.apiKeys.userOf(value),
    secondStep: (user) => services.people.twoFactor.secondStep(user),
    checkSetUp: (user, sessionId) => services.people.twoFactor.checkSetUp(user, sessionId),
    tokenKeys: services.admin.jwt,
    clock: systemClock,
    random: systemRandom,
    endedSessions: stores.entities.endedSessions,
    tokenCacheBytes: config.cacheTokensMb * 2 ** 20,
    settings: stores.entities.settings,
    feed: parts.feed,
    loginLimits: {
      ...DEFAULT_LOGIN_LIMITS,
      failuresAllowed: config.loginFailures,
      lockSeconds: config.loginLockSeconds,
      failuresPerAddress: config.loginFailuresPerAddress,
      failuresPerUser: config.loginFailuresPerUser,
      windowSeconds: config.loginWindowSeconds,
    },
  })
  closing.add('logins', () => auth.close())
  const isApi = config.roles.includes('api')
  const webSockets = isApi ? openWebSockets(parts, server, auth) : undefined
  registerRestApi({
    server,
    surface: isApi ? 'all' : 'operation',
    services,
    auth,
    clock: systemClock,
    version: parts.version,
    metricsSources: [
      ...parts.metricsSources,
      ...transports.metricsSources,
      { name: 'http', figures: () => serverFigures(server) },
      { name: 'rest_rates', figures: () => services.restRates.figures() },
      ...(webSockets === undefined ? [] : [{ name: 'websocket', figures: () => ({ ...webSockets.figures() }) }]),
    ],
    healthChecks: healthChecksOf(stores),
    workers: parts.workers,
    backups: parts.backups,
    process: { member: `${hostname()}-${process.pid}`, roles: config.roles, folder: stores.folder || '.' },
    devicePorts: transports.ports,
    page: {
      baseUrl: () => `${tls === undefined ? 'http' : 'https'}://${reachableHost(config.httpBindAddress)}:${port}`,
      demo: parts.demo
        ? {
            username: DEMO_LOGINS.tenantAdministrator.email,
            password: DEMO_LOGINS.tenantAdministrator.password,
            accessToken: DEMO_ACCESS_TOKEN,
          }
        : undefined,
    },
    certificates: {
      ...(config.mqttsCaFile === undefined ? {} : { mqtts: config.mqttsCaFile }),
      ...(config.coapsCaFile === undefined ? {} : { coaps: config.coapsCaFile }),
    },
    log: { error: (fields, message) => log.error(message, fields as Readonly<Record<string, unknown>>) },
    castStrings: config.castStrings,
    maxPublicBodyBytes: config.unauthenticatedMaxBodyBytes,
    maxPageSize: config.restMaxPageSize,
    metricsAccess: { withoutToken: config.metricsAccess, token: config.metricsToken },
  })
  port = await server.listen(config.httpBindAddress, config.httpBindPort)
  return { http: port, ...transports.ports }
}

/** Every protocol of the catalogue that the settings have not turned off, in a process that devices reach. */
async function openTransports({ config, closing, gateway, log }: EdgeParts, server: HttpServer) {
  const ports: Record<string, number> = {}
  const metricsSources: MetricsSource[] = []
  const payload = { ...DEFAULT_PAYLOAD_LIMITS, castStrings: config.castStrings }
  for (const transport of TRANSPORTS) {
    if (gateway === undefined || transport.listeners(config).length === 0) continue
    const opened = await transport.open({
      gateway,
      settings: config,
      server,
      payload,
      clock: systemClock,
      random: systemRandom,
      log,
    })
    closing.add(transport.label, () => opened.close())
    metricsSources.push({ name: transport.name, figures: () => opened.figures() })
    Object.assign(ports, opened.ports)
  }
  return { ports, metricsSources }
}

function openWebSockets({ config, closing, services, log }: EdgeParts, server: HttpServer, auth: Auth) {
  const webSockets = registerWebSocketApi({
    server,
    services,
    feed: services.subscriberFeed,
    authenticate: (token) => auth.authenticateLogin(token),
    loginByApiKey: (value) => auth.loginByApiKey(value),
    limitsOf: async (tenantId) => profileLimitsOf(await services.limits.of(tenantId)),
    updatesRefused: (tenantId) => services.platformWatch.rateReached({ tenantId, api: 'WS_UPDATES_PER_SESSION' }),
    stillHolds: (login) => auth.stillHolds(login),
    clock: systemClock,
    limits: {
      maxPendingBytes: config.wsPendingBytes,
      sessions: config.wsMaxSessions,
      sessionsPerTenant: config.wsMaxSessionsPerTenant,
      subscriptionsPerTenant: config.wsMaxSubscriptionsPerTenant,
      strangers: config.wsMaxStrangers,
      concurrentReads: config.wsConcurrentReads,
    },
    log,
  })
  closing.add('WebSocket sessions', () => webSockets.close())
  return webSockets
}

function serverFigures(server: UwsServer): Record<string, number> {
  return {
    requestsInFlight: server.requestsInFlight,
    unknown_bodies_bytes: server.unknownBodiesBytes,
    refused_bodies_total: server.bodiesRefused,
  }
}
