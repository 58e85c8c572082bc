/** Every REST route with the authority that it needs, from what the services offer. */
import type { Clock } from '../../model/clock.ts'
import { entityId } from '../../model/entity-id.ts'
import type { Services } from '../../services/services.ts'
import type { BackupAdmin } from '../../model/backup.ts'
import type { WorkerAdmin } from '../../model/worker-pool.ts'
import type { Auth } from '../auth/auth.ts'
import { createMetrics, type MetricsSource } from '../metrics.ts'
import { createPage, type PageContent } from '../page.ts'
import { workerMetrics } from '../worker-metrics.ts'
import { adminRoutes, mailCodeRoute, type AdminRoutesParts } from './admin-routes.ts'
import { SystemInfo, type ProcessFacts } from './system-info.ts'
import { apiKeyRoutes, type ApiKeyRoutesParts } from './api-key-routes.ts'
import { alarmCommentRoutes } from './alarm-comment-routes.ts'
import { alarmQueryRoutes } from './alarm-query-routes.ts'
import { alarmRoutes, type AlarmRouteParts } from './alarm-routes.ts'
import { assetRoutes } from './asset-routes.ts'
import { auditLogRoutes } from './audit-log-routes.ts'
import { calculatedFieldRoutes, type CalculatedFieldRouteParts } from './calculated-field-routes.ts'
import { RouteMaker } from './declared/declare.ts'
import type { EntityRoutesParts } from './declared/entity-routes.ts'
import type { AnyDeclared, DeclaredRoute } from './declared/route.ts'
import { isDeclared, openRows, tableRows } from './declared/table.ts'
import { attributeRoutes } from './attribute-routes.ts'
import { loginRoutes, ownLoginRoutes } from './auth-routes.ts'
import { callRoutes } from './call-routes.ts'
import { claimRoutes } from './claim-routes.ts'
import { jobRoutes } from './job-routes.ts'
import { certificateRoute, connectivityRoutes, type CertificateFiles } from './connectivity-routes.ts'
import { componentRoutes, type ComponentRoutesParts } from './component-routes.ts'
import { constantRoutes, PUBLIC_CONSTANTS } from './constant-routes.ts'
import { customerRoutes } from './customer-routes.ts'
import { consoleRoutes } from './console-routes.ts'
import { contentRoutes, type ContentRoutesParts } from './content-routes.ts'
import { backupRoutes } from './backup-routes.ts'
import { deadLetterRoutes } from './dead-letter-routes.ts'
import { parkedRoutes } from './parked-routes.ts'
import { descriptionRoutes } from './description-routes.ts'
import { eventRoutes, type EventRoutesParts } from './event-routes.ts'
import { deviceProfileRoutes } from './device-profile-routes.ts'
import { deviceRoutes } from './device-routes.ts'
import { publicImageRoute } from './image-routes.ts'
import { aiModelRoutes } from './ai-model-routes.ts'
import { integrationRoutes } from './integration-routes.ts'
import { importRoutes } from './import-routes.ts'
import { erasureRoutes } from './erasure-routes.ts'
import { tenantTransferRoutes } from './tenant-transfer-routes.ts'
import { entityQueryRoutes, type EntityQueryParts } from './entity-query-routes.ts'
import { queueStatsRoutes } from './queue-stats-routes.ts'
import { queueRoutes, type QueueRoutesParts } from './queue-routes.ts'
import type { RestRoute } from './rows.ts'
import { entityViewRoutes } from './entity-view-routes.ts'
import { relationRoutes, type RelationRoutesParts } from './relation-routes.ts'
import { chainVersionRoutes } from './chain-version-routes.ts'
import { chainTrialRoutes } from './chain-trial-routes.ts'
import { ruleChainRoutes, type RuleChainRoutesParts } from './rule-chain-routes.ts'
import { seeingRoutes } from './seeing-routes.ts'
import { MetricsGuard, type MetricsAccess } from './metrics-guard.ts'
import type { DevicePorts } from '../../services/onboarding/connectivity.ts'
import { healthRoutes, infoRoute, metricsRoute, pageRoutes, type HealthCheck } from './system-routes.ts'
import { noauthRoutes, passwordPages } from './noauth-routes.ts'
import { twoFactorRoutes, verificationRoutes, type TwoFactorRoutesParts } from './two-factor-routes.ts'
import { userRoutes, type UserRoutesParts } from './user-routes.ts'
import { userSettingsRoutes, type UserSettingsRoutesParts } from './user-settings-routes.ts'
import { telemetryRoutes } from './telemetry-routes.ts'
import { systemParamRoutes, type SystemParamRoutesParts } from './system-param-routes.ts'
import { tenantProfileRoutes } from './tenant-profile-routes.ts'
import { tenantRoutes, type TenantRoutesParts } from './tenant-routes.ts'
import { workerRoutes } from './worker-routes.ts'

/** As much of a logger as the API needs. */
export interface ApiLog {
  error(fields: object, message: string): void
}

/** What the routes are made from. */
export interface RestRoutesOptions {
  readonly services: Services
  readonly auth: Auth
  readonly clock: Clock
  readonly version: string
  readonly metricsSources: readonly MetricsSource[]
  readonly healthChecks: readonly HealthCheck[]
  /** The worker pools of this process. */
  readonly workers: WorkerAdmin
  /** Of what this process keeps in its data folder. */
  readonly backups: BackupAdmin
  readonly process: ProcessFacts
  readonly page: Omit<PageContent, 'version'>
  readonly devicePorts: DevicePorts
  /** Of protocols whose devices need to know who signed their certificate. */
  readonly certificates?: CertificateFiles
  readonly log: ApiLog
  /**
   * `operation` serves what an operator asks of a process without the role api: login, health, metrics, worker pools. Default: all.
   */
  readonly surface?: 'all' | 'operation'
  /** `JSON_TYPE_CAST_ENABLED`: texts that are plain numbers become numbers. */
  readonly castStrings: boolean
  readonly metricsAccess: MetricsAccess
}

/** What is registered, and what the tests walk. */
export function restRoutes(options: RestRoutesOptions): readonly RestRoute[] {
  const operation = operationRoutes(options)
  if (options.surface === 'operation') return operation
  const routes = [...operation, ...routesForUsers(options)]
  const declared = routes.filter(isDeclared).flatMap((row): readonly AnyDeclared[] => row.declared)
  return [...routes, ...descriptionRoutes(declared, options.version)]
}

function routesForUsers({
  services,
  clock,
  castStrings,
  page,
  devicePorts,
  version,
  auth,
  log,
  process,
  certificates = {},
}: RestRoutesOptions): readonly RestRoute[] {
  return [
    ...openRows([
      ...noauthRoutes(services.people, auth, linkBaseOf(services, page), (error) =>
        log.error({ err: error }, 'a link for a new password was not sent'),
      ),
      ...PUBLIC_CONSTANTS,
      mailCodeRoute(services.admin),
      certificateRoute(certificates),
      publicImageRoute(services.content),
      ...verificationRoutes(services.people, auth),
    ]),
    ...passwordPages(),
    ...pageRoutes(createPage({ ...page, version })),
    ...consoleRoutes(),
    ...tableRows(callRoutes(services, clock)),
    ...tableRows(
      declaredRoutes(declaredParts({ services, clock, auth, page, devicePorts, version, process }), services),
    ),
    ...tableRows(auditLogRoutes(routeParts(services).make, services.audit, clock)),
    ...tableRows(telemetryRoutes({ services, clock, castStrings })),
    ...tableRows(attributeRoutes(services, castStrings)),
    ...tableRows(deadLetterRoutes(routeParts(services).make, services)),
    ...tableRows(parkedRoutes(routeParts(services).make, services)),
  ]
}

/** What the declared routes of some resources need beside what all have. */
type DeclaredParts = { readonly version: string } & ComponentRoutesParts &
  AdminRoutesParts &
  ApiKeyRoutesParts &
  SystemParamRoutesParts &
  TwoFactorRoutesParts &
  TenantRoutesParts &
  ContentRoutesParts &
  UserRoutesParts &
  AlarmRouteParts &
  CalculatedFieldRouteParts &
  RuleChainRoutesParts &
  EventRoutesParts &
  QueueRoutesParts &
  EntityQueryParts &
  RelationRoutesParts &
  UserSettingsRoutesParts

function declaredRoutes(parts: DeclaredParts, services: Services): readonly DeclaredRoute[] {
  return [
    ...adminRoutes(parts),
    ...tenantRoutes(parts),
    ...tenantProfileRoutes(parts),
    ...customerRoutes(parts),
    ...userRoutes(parts),
    ...userSettingsRoutes(parts),
    ...apiKeyRoutes(parts),
    ...twoFactorRoutes(parts),
    ...assetRoutes(parts),
    ...deviceProfileRoutes(parts, services),
    ...deviceRoutes(parts, services),
    ...claimRoutes(parts, services),
    ...aiModelRoutes({ ...parts, aiModels: services.aiModels, ai: services.ai }),
    ...integrationRoutes({ ...parts, integrations: services.integrations, figures: services.integrationFigures }),
    ...jobRoutes({ ...parts, jobs: services.jobs }),
    ...connectivityRoutes(parts, services),
    ...contentRoutes(parts),
    ...importRoutes(parts, services),
    ...tenantTransferRoutes(parts, services),
    ...erasureRoutes(parts, services),
    ...entityQueryRoutes(parts),
    ...alarmQueryRoutes({ make: parts.make, alarmQueries: services.alarmQueries }),
    ...relationRoutes(parts),
    ...alarmRoutes(parts),
    ...alarmCommentRoutes(parts),
    ...entityViewRoutes(parts),
    ...componentRoutes(parts),
    ...systemParamRoutes(parts),
    ...constantRoutes(parts.make, parts.version),
    ...calculatedFieldRoutes(parts),
    ...ruleChainRoutes(parts),
    ...chainVersionRoutes(parts),
    ...chainTrialRoutes({ ...parts, trials: services.chainTrials }),
    ...eventRoutes(parts),
    ...seeingRoutes({ make: parts.make, events: services.events, chainStatistics: services.chainStatistics }),
    ...queueStatsRoutes(parts),
    ...queueRoutes(parts),
  ]
}

function declaredParts({
  services,
  clock,
  auth,
  page,
  devicePorts,
  version,
  process,
}: Pick<
  RestRoutesOptions,
  'services' | 'clock' | 'auth' | 'page' | 'devicePorts' | 'version' | 'process'
>): DeclaredParts {
  return {
    admin: services.admin,
    sms: services.sms,
    systemInfo: new SystemInfo(process),
    ...routeParts(services),
    clock,
    auth,
    alarmService: services.alarms,
    fieldService: services.calculatedFields,
    chains: services.ruleChains,
    events: services.events,
    queues: services.queues,
    content: services.content,
    notifications: services.notifications,
    people: services.people,
    tenants: services.tenants,
    limits: services.limits,
    usage: services.usage,
    components: services.components,
    version,
    entityQueries: services.entityQueries,
    relations: services.relations,
    farEnds: services.farEnds,
    baseUrl: page.baseUrl,
    devicePorts,
    linkBase: linkBaseOf(services, page),
  }
}

/** What the system administrator says, else what this process knows. */
function linkBaseOf({ admin }: Services, page: RestRoutesOptions['page']): () => Promise<string> {
  return async () => (await admin.baseUrl()) ?? page.baseUrl()
}

function routeParts({ access, declared }: Services): EntityRoutesParts {
  const make = new RouteMaker(access, async ({ entity: { type } }, id) =>
    // Of what is not declared the address will do: it was found when it was checked.
    declared.ofType(type) === undefined ? entityId(type, id) : declared.findAnywhere(entityId(type, id)),
  )
  return { make, access, declared }
}

function operationRoutes(options: RestRoutesOptions): readonly RestRoute[] {
  const { services, auth, clock, version, log, workers, backups, healthChecks } = options
  const { make } = routeParts(services)
  const { member } = options.process
  return [
    ...openRows([
      ...loginRoutes(auth, services),
      ...healthRoutes({
        clock,
        healthChecks,
        onUnhealthy: (name, error) => log.error({ err: error, check: name }, 'health check failed'),
      }),
    ]),
    metricsRoute(
      createMetrics([...options.metricsSources, workerMetrics(workers)]),
      new MetricsGuard(auth, options.metricsAccess),
    ),
    ...tableRows([
      ...ownLoginRoutes(make, auth, services),
      infoRoute(make, version),
      ...backupRoutes(make, backups, version),
      ...workerRoutes({ make, workers, member, tenants: services.tenants }),
    ]),
  ]
}
