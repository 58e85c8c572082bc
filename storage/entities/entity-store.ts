/**
 * The entity store: one repository a kind of record over one database. A change is a list of statements that repositories
 * make and `write` commits: all or nothing, durable when it resolves.
 */
import { sql } from 'kysely'
import type { Erased } from '../../model/erased.ts'
import { restOfTables } from '../postgres/erased.ts'
import { AlarmVisitRepository } from './alarm-visits.ts'
import { AlarmRepository } from './alarms.ts'
import { deleteAttached, deleteLinks } from './attached.ts'
import { AuditLogRepository } from './audit-log.ts'
import { AttributeRepository } from './attributes.ts'
import { CleanupRepository } from './cleanups.ts'
import { CredentialChangeRepository } from './credential-changes.ts'
import type { EntityDatabase, Statement, Written } from './database.ts'
import { DeviceClaimRepository } from './device-claims.ts'
import { DeviceCredentialsRepository } from './device-credentials.ts'
import { DeviceSessionRepository } from './device-sessions.ts'
import { DeviceRepository } from './devices.ts'
import { RuleChainVersionRepository } from './rule-chain-versions.ts'
import { MovedDeviceRepository } from './moved-devices.ts'
import { NodeStateRepository } from './node-state.ts'
import { OutboxRepository } from './outbox.ts'
import { EndedSessionRepository } from './ended-sessions.ts'
import { AlarmQueryRepository } from './queries/alarm-queries.ts'
import { EventRepository } from './events.ts'
import { EntityQueryRepository } from './queries/entity-queries.ts'
import { QueueRepository } from './queues.ts'
import type { PostgresDatabaseOptions } from './postgres/postgres-database.ts'
import { RelationRepository } from './relations.ts'
import { RuleChainRepository } from './rule-chains.ts'
import { RpcRepository } from './rpcs.ts'
import { SettingRepository } from './settings.ts'
import { migrate, migrateTables } from './sqlite/migrations.ts'
import { openSqliteDatabase } from './sqlite/sqlite-database.ts'
import type { EntityTable } from './tables/entity-table.ts'
import { RowStore, type RowErrors } from './tables/row-store.ts'
import { TenantCountRepository } from './tenant-counts.ts'
import { TenantErasureRepository } from './tenant-erasure.ts'
import { TransferRowRepository } from './transfer-rows.ts'
import { UsageCountRepository } from './usage-counts.ts'
import { UserRepository } from './users.ts'

export interface EntityStore {
  readonly transferRows: TransferRowRepository
  readonly tenantErasure: TenantErasureRepository
  readonly tenantCounts: TenantCountRepository
  readonly usageCounts: UsageCountRepository
  readonly users: UserRepository
  readonly devices: DeviceRepository
  readonly deviceCredentials: DeviceCredentialsRepository
  readonly credentialChanges: CredentialChangeRepository
  readonly deviceClaims: DeviceClaimRepository
  readonly movedDevices: MovedDeviceRepository
  readonly deviceSessions: DeviceSessionRepository
  readonly ruleChainVersions: RuleChainVersionRepository
  readonly ruleChains: RuleChainRepository
  readonly queues: QueueRepository
  readonly attributes: AttributeRepository
  readonly queries: EntityQueryRepository
  readonly relations: RelationRepository
  readonly alarms: AlarmRepository
  readonly alarmVisits: AlarmVisitRepository
  readonly alarmQueries: AlarmQueryRepository
  readonly outbox: OutboxRepository
  readonly cleanups: CleanupRepository
  readonly settings: SettingRepository
  readonly endedSessions: EndedSessionRepository
  readonly auditLog: AuditLogRepository
  readonly rpcs: RpcRepository
  readonly nodeState: NodeStateRepository
  readonly events: EventRepository
  /** The rows of a declared table. */
  rows(table: EntityTable, errors: RowErrors): RowStore
  /** Steps that delete what hangs on an entity of any type: for the transaction in which it goes. */
  deleteAttached(entityId: string): readonly Statement[]
  /** The same without its attributes: for the transaction in which it becomes another tenant's. */
  deleteLinks(entityId: string): readonly Statement[]
  /** Commits the steps together, after everything that was given before. */
  write(statements: readonly Statement[]): Promise<Written>
  /** Takes what was deleted out of the files too, as far as the database can. */
  eraseDeleted(): Promise<Erased>
  /** Waits for what was given to `write`, closes. Idempotent. */
  close(): Promise<void>
}

/** One file on this machine's disk. */
export interface SqliteEntityStore extends EntityStore {
  /** Writes a consistent copy beside the commits, with all that was acknowledged before. The file must not be there; it is not synced. */
  copyTo(file: string): Promise<void>
}

export interface EntityStoreOptions {
  /** The database file; `:memory:` keeps nothing. */
  readonly file: string
  /** What a committed change survives: a killed process, or a power cut too. */
  readonly durability: 'process-death' | 'power-cut'
  readonly clock: { now(): number }
  /** Declared tables, made and raised after the others. */
  readonly tables?: readonly EntityTable[]
  /** Its thread ended: every later call is refused with LOST. Open the store again, or end the process. */
  readonly onFatal?: (error: Error) => void
  /** Why commits fail, when they begin to; undefined when one succeeds again. What failed was refused and is not there. */
  readonly onTrouble?: (reason: string | undefined) => void
}

/** Opens, and raises to the newest schema. Throws `DATABASE_NEWER` where the file is from a newer program. */
export async function openEntityStore(options: EntityStoreOptions): Promise<SqliteEntityStore> {
  const database = await openSqliteDatabase({
    file: options.file,
    synchronous: options.durability === 'power-cut' ? 'full' : 'normal',
    onFatal: options.onFatal,
    onTrouble: options.onTrouble,
  })
  try {
    await migrate(database, options.file, options.clock.now())
    await migrateTables(database, options.file, options.clock.now(), options.tables ?? [])
  } catch (error) {
    await database.close()
    throw error
  }
  return { ...entityStoreOver(database), copyTo: (file) => database.copyTo(file) }
}

/**
 * The same over PostgreSQL, which several processes may share. Raises the schema. Throws `postgres.UNAVAILABLE` where no server answers
 * in time, `postgres.SCHEMA_NEWER`.
 */
export async function openPostgresEntityStore(options: PostgresDatabaseOptions): Promise<EntityStore> {
  // The driver takes memory: only where it is asked for.
  const { openPostgresDatabase } = await import('./postgres/postgres-database.ts')
  const store = entityStoreOver(await openPostgresDatabase(options))
  try {
    await store.tenantCounts.fold()
  } catch (error) {
    await store.close()
    throw error
  }
  return store
}

/** The repositories over any database. */
export function entityStoreOver(database: EntityDatabase): EntityStore {
  return {
    transferRows: new TransferRowRepository(database),
    tenantErasure: new TenantErasureRepository(database),
    tenantCounts: new TenantCountRepository(database),
    usageCounts: new UsageCountRepository(database),
    users: new UserRepository(database),
    devices: new DeviceRepository(database),
    deviceCredentials: new DeviceCredentialsRepository(database),
    credentialChanges: new CredentialChangeRepository(database),
    deviceClaims: new DeviceClaimRepository(database),
    movedDevices: new MovedDeviceRepository(database),
    deviceSessions: new DeviceSessionRepository(database),
    ruleChainVersions: new RuleChainVersionRepository(database),
    ruleChains: new RuleChainRepository(database),
    queues: new QueueRepository(database),
    attributes: new AttributeRepository(database),
    queries: new EntityQueryRepository(database),
    relations: new RelationRepository(database),
    alarms: new AlarmRepository(database),
    alarmVisits: new AlarmVisitRepository(database),
    alarmQueries: new AlarmQueryRepository(database),
    outbox: new OutboxRepository(database),
    cleanups: new CleanupRepository(database),
    settings: new SettingRepository(database),
    endedSessions: new EndedSessionRepository(database),
    auditLog: new AuditLogRepository(database),
    rpcs: new RpcRepository(database),
    nodeState: new NodeStateRepository(database),
    events: new EventRepository(database),
    rows: (table, errors) => new RowStore(database, table, errors),
    deleteAttached: (entityId) => deleteAttached(database, entityId),
    deleteLinks: (entityId) => deleteLinks(database, entityId),
    write: (statements) => database.write(statements),
    eraseDeleted: () => eraseDeleted(database),
    close: () => database.close(),
  }
}

/** SQLite writes over what is deleted in its file; its log holds it until it is cut. */
async function eraseDeleted(database: EntityDatabase): Promise<Erased> {
  if (database.isShared) return { isGone: false, rest: restOfTables('of every table') }
  const cut = sql<{ busy: number }>`pragma wal_checkpoint(truncate)`
  const { rows } = await database.read(cut.compile(database.builder))
  return rows[0]?.busy === 0 ? { isGone: true } : { isGone: false, rest: 'a long read holds its log: ask once more' }
}
