/**
 * What the platform does, as `api/`, `transports/` (through the gateway) and `nodes/` see it. One file a service beside this
 * one; no protocol and no SQL in any of them. Every method that takes a principal has its access checked by the
 * caller through {@link AccessControl}, the one place that decides who may do what.
 *
 * A method named `…ByUser` commits the change and the rule-engine message it causes together (the outbox), tells the change
 * feed, and resolves when both are durable.
 */
import type { NodeCalculated } from '../engine/rulechain/capabilities/calculated.ts'
import type { Calculation } from './calculated-fields/runtime/runtime.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import type { UsageMeter } from '../engine/usage/usage.ts'
import type { AccessControl } from './access/access-control.ts'
import type { Admin } from './admin/admin.ts'
import type { AlarmQueryService } from './alarms/alarm-query-service.ts'
import type { AlarmService } from './alarms/alarm-service.ts'
import type { AttributeService } from './attributes/attribute-service.ts'
import type { AuditLog } from './audit/audit-log.ts'
import type { LoginAudit } from './audit/login-audit.ts'
import type { CalculatedFields } from './calculated-fields/calculated-fields.ts'
import type { Components } from './components.ts'
import type { ContentServices } from './content/content.ts'
import type { OtaUpdates } from './content/ota-updates.ts'
import type { DeadLetterService } from './queues/dead-letter-service.ts'
import type { Deployments } from './deployments.ts'
import type { DeviceService } from './devices/device-service.ts'
import type { StoredKeptSessions } from './devices/kept-sessions.ts'
import type { EntityRegistry } from './entities/entity-registry.ts'
import type { Events } from './events/events.ts'
import type { FileImporter, Importer } from './import/importer.ts'
import type { AiChats } from './ai/ai-chats.ts'
import type { AiModels } from './ai/ai-models.ts'
import type { FigureBook } from './integrations/figures.ts'
import type { Integrations } from './integrations/integrations.ts'
import type { Jobs } from './jobs/jobs.ts'
import type { LimitsOfTenants } from './tenants/limits.ts'
import type { Notifications } from './notifications/notifications.ts'
import type { NotificationWatch } from './notifications/watch.ts'
import type { PlatformWatch } from './notifications/platform-watch.ts'
import type { DeviceClaims } from './onboarding/claims.ts'
import type { DeviceMove } from './onboarding/device-move.ts'
import type { MovedDevices } from './onboarding/moved-devices.ts'
import type { GatewayChildren } from './onboarding/gateway-children.ts'
import type { CertificateChains } from './onboarding/certificate-chains.ts'
import type { Provisioning } from './onboarding/provisioning.ts'
import type { ParkedLaneService } from './queues/parked-lane-service.ts'
import type { EntityGroups } from './queries/entity-groups.ts'
import type { RouteLookup } from './changes/message-route.ts'
import type { EntityQueryService } from './queries/entity-query-service.ts'
import type { QueueStatistics } from './queues/queue-statistics.ts'
import type { StoredQueues } from './queues/queues.ts'
import type { RestRates } from './tenants/rate-limits.ts'
import type { FarEndReader } from './relations/far-end-reader.ts'
import type { RelationService } from './relations/relations.ts'
import type { CallService } from './rpc/call-service.ts'
import type { PersistentCalls } from './rpc/persistent-calls.ts'
import type { ChainTrialDesk } from './rule-chains/chain-trials.ts'
import type { ChainStatisticsReader } from './rule-chains/chain-statistics.ts'
import type { RuleChains } from './rule-chains/rule-chains.ts'
import type { SystemSms } from './sms/system-sms.ts'
import type { StoredTelemetry } from './telemetry/telemetry.ts'
import type { TelemetryService } from './telemetry/telemetry-service.ts'
import type { TenantService } from './tenants/tenant-service.ts'
import type { FileErasure } from './cleanup/file-erasure.ts'
import type { TenantTransfer } from './transfer/tenant-transfer.ts'
import type { UserService } from './users/user-service.ts'
import type { UsageStates } from './usage/usage-states.ts'
import type { People } from './users/people.ts'

export interface Services {
  /** Where values go that fields may be calculated of. */
  readonly calculated: NodeCalculated
  /** Undefined where nothing is calculated. */
  readonly calculation: Calculation | undefined
  /** Everything whose declaration says it all. */
  readonly declared: EntityRegistry
  readonly entityQueries: EntityQueryService
  /** Many entities of a tenant as one. */
  readonly entityGroups: EntityGroups
  /** The change feed as those hear it who follow entities: series of entity views are their sources'. */
  readonly subscriberFeed: ChangeFeed
  readonly relations: RelationService
  readonly farEnds: FarEndReader
  readonly alarms: AlarmService
  readonly alarmQueries: AlarmQueryService
  readonly calculatedFields: CalculatedFields
  readonly telemetry: TelemetryService
  /** What the store is asked to keep. */
  readonly telemetryWrites: Pick<StoredTelemetry, 'figures'>
  readonly attributes: AttributeService
  readonly devices: DeviceService
  /** How devices get a record and a customer. */
  readonly claims: DeviceClaims
  readonly provisioning: Provisioning
  readonly certificateChains: CertificateChains
  readonly gatewayChildren: GatewayChildren
  readonly deviceMove: DeviceMove
  readonly movedDevices: MovedDevices
  readonly keptSessions: StoredKeptSessions
  readonly jobs: Jobs
  readonly aiModels: AiModels
  readonly ai: AiChats
  readonly integrations: Integrations
  readonly integrationFigures: FigureBook
  readonly bulkImport: Importer
  readonly fileImport: FileImporter
  readonly fileErasure: FileErasure
  readonly tenantTransfer: TenantTransfer
  readonly tenants: TenantService
  readonly limits: LimitsOfTenants
  readonly restRates: RestRates
  /** What tenants use, as it is counted here; and as it is stored. */
  readonly meter: UsageMeter
  readonly usage: UsageStates
  readonly components: Components
  readonly users: UserService
  readonly people: People
  /** What a system administrator sets for the whole platform. */
  readonly admin: Admin
  /** To phones, by the provider that the system administrator set. */
  readonly sms: SystemSms
  readonly ruleChains: RuleChains
  /** When stored changes are in force in this process. */
  readonly deployments: Deployments
  /** What goes through chains in this process. */
  readonly chainStatistics: ChainStatisticsReader
  readonly chainTrials: ChainTrialDesk
  readonly queues: StoredQueues
  /** Where messages of an entity begin. */
  readonly routeOf: RouteLookup
  readonly queueStatistics: QueueStatistics
  readonly deadLetters: DeadLetterService
  readonly parked: ParkedLaneService
  /** Dashboards, widgets and files, beyond what their declarations say. */
  readonly content: ContentServices
  readonly notifications: Notifications
  readonly otaUpdates: OtaUpdates
  readonly notificationWatch: Pick<NotificationWatch, 'settled'>
  readonly platformWatch: Pick<PlatformWatch, 'componentChanged' | 'rateReached' | 'settled'>
  readonly audit: AuditLog
  readonly events: Events
  readonly logins: LoginAudit
  readonly calls: CallService
  /** What becomes of persistent calls: for the owners of devices. */
  readonly persistentCalls: PersistentCalls
  readonly access: AccessControl
  /** Before anything else: opens or makes what is kept sealed. Throws `vault.KEY_UNKNOWN` where a key is missing. */
  startSecrets(): Promise<void>
  /** Publishes what the outbox holds; runs by itself after each `…ByUser`, and once at start for what a crash left. */
  startOutbox(): Promise<void>
  /**
   * For a backup: until the returned function is called no message leaves the outbox, so that of each there is one in a copy of the link's log made
   * now or in a copy of the entities made then.
   */
  holdOutbox(): () => void
  close(): Promise<void>
}
