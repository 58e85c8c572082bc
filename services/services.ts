/**
 * What the platform does, as `api/`, `transports/` (through the gateway) and `nodes/` see it. One file a service beside this
 * one; no protocol and no SQL in any of them. Every method that takes a {@link Principal} has its access checked by the
 * caller through {@link AccessControl}, the one place that decides who may do what.
 *
 * A method named `…ByUser` commits the change and the rule-engine message it causes together (the outbox), tells the change
 * feed, and resolves when both are durable.
 */
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import type { Components } from './components.ts'
import type { StoredQueues } from './queues.ts'
import type { QueueStatistics } from './queue-statistics.ts'
import type { Events } from './events/events.ts'
import type { ChainStatisticsReader } from './rule-chains/chain-statistics.ts'
import type { Deployments } from './deployments.ts'
import type { RuleChains } from './rule-chains/rule-chains.ts'
import type { RestRates } from './rate-limits.ts'
import type { LimitsOfTenants } from './limits.ts'
import type { DraftOf } from './entities/define.ts'
import type { TenantProfile } from './entities/tenant-profile.ts'
import type { Tenant, tenants } from './entities/tenant.ts'
import type { AttributeScope, Attribute, DataPoint, Entry, TelemetryGroup } from '../model/value.ts'
import type { Aggregation } from '../model/telemetry-query.ts'
import type { EntityId, EntityType } from '../model/entity-id.ts'
import type { DeviceCredentials, Page, PageQuery, RuleNode, User } from '../model/entities.ts'
import type { Relation, RelationDirection, RelationWithName } from '../model/relation.ts'
import type { Principal } from '../model/principal.ts'
import type { DeadLetter } from '../engine/link/dead-letters.ts'
import type { ParkedLaneView } from '../engine/parking/parked-list.ts'
import type { AttributesSave } from '../engine/rulechain/capabilities/attributes.ts'
import type { TelemetrySave } from '../engine/rulechain/capabilities/telemetry.ts'
import type { DeviceIdentity } from '../engine/device/gateway.ts'
import type { ContentServices } from './content/content.ts'
import type { Notifications } from './notifications/notifications.ts'
import type { OtaUpdates } from './content/ota-updates.ts'
import type { NotificationWatch } from './notifications/watch.ts'
import type { PresentedCredentials } from './device-credentials.ts'
import type { Device, devices } from './entities/device.ts'
import type { DeviceClaims } from './onboarding/claims.ts'
import type { Jobs } from './jobs/jobs.ts'
import type { DeviceMove } from './onboarding/device-move.ts'
import type { MovedDevices } from './onboarding/moved-devices.ts'
import type { Provisioning } from './onboarding/provisioning.ts'
import type { CallService } from './rpc/call-service.ts'
import type { PersistentCalls } from './rpc/persistent-calls.ts'
import type { TenantTransfer } from './transfer/tenant-transfer.ts'
import type { FileImporter, Importer } from './import/importer.ts'
import type { Operation } from './permissions.ts'
import type { AuditLog } from './audit/audit-log.ts'
import type { LoginAudit } from './audit/login-audit.ts'
import type { RelationService } from './relations/relations.ts'
import type { CalculatedFields } from './calculated-fields/calculated-fields.ts'
import type { AlarmQueryService } from './alarms/alarm-query-service.ts'
import type { AlarmService } from './alarms/alarm-service.ts'
import type { EntityRegistry } from './entities/entity-registry.ts'
import type { JoinedChange, SaveOptions } from './entities/service-parts.ts'
import type { MessageRoute } from './message-route.ts'
import type { Admin } from './admin/admin.ts'
import type { People } from './users/people.ts'
import type { EntityQueryService } from './queries/entity-query-service.ts'
import type { DeletedKeys, PointsByKey, Snapshot } from '../storage/timeseries/store.ts'

/** A history query as a client asks it; the service checks it and computes the buckets (`rest-api.md` 4.4). */
export interface HistoryRequest {
  readonly keys: readonly string[]
  readonly startTs: number
  readonly endTs: number
  readonly agg?: Aggregation
  readonly intervalType?: 'MILLISECONDS' | 'WEEK' | 'WEEK_ISO' | 'MONTH' | 'QUARTER'
  /** Bucket width in ms; 0 or absent with an aggregation means NONE. */
  readonly interval?: number
  readonly timeZone?: string
  readonly limit?: number
  readonly orderBy?: 'ASC' | 'DESC'
}

export interface TelemetryService {
  /** For nodes: calls back once, at the commit or with the error. Tells the feed when `notify`. */
  save(request: TelemetrySave, done: (error: Error | undefined) => void): void
  saveByUser(
    principal: Principal,
    entity: EntityId,
    groups: readonly TelemetryGroup[],
    ttlSeconds: number,
  ): Promise<void>
  /** Throws `invalid`: TOO_MANY_INTERVALS, NEGATIVE_INTERVAL, LIMIT_TOO_SMALL with the reference's texts, LIMIT_TOO_BIG. */
  history(entity: EntityId, request: HistoryRequest): Promise<Snapshot<PointsByKey>>
  latest(entity: EntityId, keys: readonly string[] | undefined): Promise<Snapshot<readonly DataPoint[]>>
  keys(entity: EntityId): Promise<readonly string[]>
  deleteByUser(
    principal: Principal,
    entity: EntityId,
    range: {
      readonly keys: readonly string[]
      readonly startTs: number
      readonly endTs: number
      readonly deleteLatest: boolean
      readonly rewriteLatest: boolean
    },
  ): Promise<DeletedKeys>
}

export interface AttributesOfUser {
  readonly entity: EntityId
  readonly scope: AttributeScope
  readonly entries: readonly Entry[]
  /** Where the entity's messages go: one that is not there yet has no other way to say it. */
  readonly route: () => Promise<MessageRoute>
}

export interface AttributeService {
  /** For nodes and devices. */
  save(request: AttributesSave): Promise<void>
  saveByUser(principal: Principal, entity: EntityId, scope: AttributeScope, entries: readonly Entry[]): Promise<void>
  /** The same as a part of another change. Throws to refuse it. */
  savingByUser(principal: Principal, save: AttributesOfUser): Promise<JoinedChange>
  deleteByUser(principal: Principal, entity: EntityId, scope: AttributeScope, keys: readonly string[]): Promise<void>
  /** For the platform itself. With `subscribers` the device of shared ones does not hear of it. */
  delete(entity: EntityId, scope: AttributeScope, keys: readonly string[], audience?: 'subscribers'): Promise<void>
  /** All keys where none is named. Scope by scope in the order CLIENT, SERVER, SHARED where no scope is named. */
  find(
    entity: EntityId,
    scope: AttributeScope | undefined,
    keys: readonly string[] | undefined,
  ): Promise<Snapshot<readonly (Attribute & { readonly scope: AttributeScope })[]>>
  /** The same at once, undefined where the entity's attributes are not held. */
  findHeld(
    entity: EntityId,
    scope: AttributeScope,
    keys: readonly string[] | undefined,
  ): readonly Attribute[] | undefined
  keys(entity: EntityId, scope: AttributeScope | undefined): Promise<readonly string[]>
}

export type CredentialsDraft = PresentedCredentials & {
  readonly deviceId: string
  readonly id?: string
  readonly version?: number | undefined
}

export type DeviceSaveOptions = Omit<SaveOptions<typeof devices.columns>, 'following'>

export interface DeviceService {
  /** With a token or other credentials: a new device gets these, not a random token; an old one changes to them. */
  saveByUser(
    principal: Principal,
    draft: DraftOf<typeof devices.columns>,
    credentials?: string | PresentedCredentials,
    options?: DeviceSaveOptions,
  ): Promise<Device>
  credentials(tenantId: string, deviceId: string): Promise<DeviceCredentials | undefined>
  saveCredentialsByUser(principal: Principal, credentials: CredentialsDraft): Promise<DeviceCredentials>
  /** For the device gateway: who has these tokens, in one read. Who is not in the answer is nobody's. */
  findByAccessTokens(tokens: readonly string[]): Promise<ReadonlyMap<string, DeviceIdentity>>
  /** For the device gateway: devices, newest change first, whose credentials changed or which were deleted since (Unix ms). */
  findCredentialsChanged(since: number, limit: number): Promise<readonly string[]>
  /** For the device's owner. */
  findIdentity(deviceId: string): Promise<DeviceIdentity | undefined>
  /** The same: ids of devices whose attribute `active` is true, behind `after` in their order, at most `limit`. */
  findActive(after: string, limit: number): Promise<readonly string[]>
}

export interface TenantService {
  find(id: string): Promise<Tenant | undefined>
  all(): Promise<readonly Tenant[]>
  /** A new one has its default profiles and root rule chains. */
  saveByUser(principal: Principal, draft: DraftOf<typeof tenants.columns>): Promise<Tenant>
  /** Of tenants that name none. */
  setDefaultProfileByUser(principal: Principal, id: string): Promise<TenantProfile>
  /** With everything that it owns; its series go after that. */
  deleteByUser(principal: Principal, id: string): Promise<void>
}

export interface UserService {
  /**
   * Undefined for a wrong password and for an unknown user alike, in the same time. Throws `users.NOT_ACTIVE` for who was not activated yet,
   * or is switched off.
   */
  authenticate(email: string, password: string): Promise<User | undefined>
  find(id: string): Promise<User | undefined>
  /** Nobody in particular, who sees what a public customer has; undefined where the customer is not public. */
  findPublic(customerId: string): Promise<User | undefined>
  noteLogin(id: string): Promise<void>
  /** Tokens issued before this Unix ms are refused (password changed, switched off): all are of who may not log in. */
  tokensValidFrom(id: string): Promise<number>
  changePassword(id: string, current: string, next: string): Promise<void>
}

/** The one place that decides who may do what (`rest-api.md` 3.5). */
export interface AccessControl {
  /** Throws PERMISSION_DENIED (403) by authority alone: may this kind of user do this to this kind of entity at all? */
  checkAuthority(principal: Principal, operation: Operation, entityType: EntityType): void
  /** Checks authority and ownership; throws PERMISSION_DENIED (403) or ITEM_NOT_FOUND (404), as the reference tells them apart. */
  check(principal: Principal, operation: Operation, entity: EntityId): Promise<void>
  /** Of entities that were read already those that the user may touch so: reads nothing. */
  allowed<Entity extends OwnedEntity>(
    principal: Principal,
    operation: Operation,
    entityType: EntityType,
    entities: readonly Entity[],
  ): readonly Entity[]
}

export interface OwnedEntity {
  readonly id: string
  readonly tenantId: string
  readonly customerId: string | null
  /** As {@link Owner} has them. */
  readonly customerIds?: readonly string[]
  readonly isSharedInTenant?: boolean
}

export interface DeadLetterService {
  /** Oldest first: at most `limit` letters of the tenant, with an id above `after`. */
  list(
    tenantId: string,
    query: { readonly after?: number | undefined; readonly limit: number },
  ): Promise<readonly DeadLetter[]>
  /** Publishes the message once more, under its old id; the letter goes when that is durable. Throws DEAD_LETTER_GONE (404). */
  replay(tenantId: string, id: number): Promise<void>
  /** Throws DEAD_LETTER_GONE (404). */
  remove(tenantId: string, id: number): Promise<void>
}

export interface ParkedLaneService {
  /** Of a tenant, or of all where `tenantId` is undefined. */
  page(tenantId: string | undefined, query: PageQuery): Promise<Page<ParkedLaneView>>
  /** Tries the lane now. Throws PARKED_LANE_GONE (404), also where it is another tenant's. */
  retryNow(tenantId: string | undefined, id: string): Promise<void>
  /** Moves the whole lane to the dead letters. Throws as `retryNow`. */
  giveUp(tenantId: string | undefined, id: string): Promise<void>
}

/** What lists of relations show of the entities that they lead to. */
export interface FarEndReader {
  /** Of the relations those of which the caller may read both ends. */
  readable(
    principal: Principal,
    direction: RelationDirection,
    relations: readonly Relation[],
  ): Promise<readonly RelationWithName[]>
}

export interface Services {
  /** Everything whose declaration says it all. */
  readonly declared: EntityRegistry
  readonly entityQueries: EntityQueryService
  /** The change feed as those hear it who follow entities: series of entity views are their sources'. */
  readonly subscriberFeed: ChangeFeed
  readonly relations: RelationService
  readonly farEnds: FarEndReader
  readonly alarms: AlarmService
  readonly alarmQueries: AlarmQueryService
  readonly calculatedFields: CalculatedFields
  readonly telemetry: TelemetryService
  readonly attributes: AttributeService
  readonly devices: DeviceService
  /** How devices get a record and a customer. */
  readonly claims: DeviceClaims
  readonly provisioning: Provisioning
  readonly deviceMove: DeviceMove
  readonly movedDevices: MovedDevices
  readonly jobs: Jobs
  readonly bulkImport: Importer
  readonly fileImport: FileImporter
  readonly tenantTransfer: TenantTransfer
  readonly tenants: TenantService
  readonly limits: LimitsOfTenants
  readonly restRates: RestRates
  readonly components: Components
  readonly users: UserService
  readonly people: People
  /** What a system administrator sets for the whole platform. */
  readonly admin: Admin
  readonly ruleChains: RuleChains
  /** When stored changes are in force in this process. */
  readonly deployments: Deployments
  /** What goes through chains in this process. */
  readonly chainStatistics: ChainStatisticsReader
  readonly queues: StoredQueues
  readonly queueStatistics: QueueStatistics
  readonly deadLetters: DeadLetterService
  readonly parked: ParkedLaneService
  /** Dashboards, widgets and files, beyond what their declarations say. */
  readonly content: ContentServices
  readonly notifications: Notifications
  readonly otaUpdates: OtaUpdates
  readonly notificationWatch: Pick<NotificationWatch, 'settled'>
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

export type { DeadLetter, Operation, ParkedLaneView, RuleNode }
