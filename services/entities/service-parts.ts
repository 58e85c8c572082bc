/** What services of declared types are made of, take and answer. */
import type { Clock, Random } from '../../model/clock.ts'
import type { EntityId, EntityType } from '../../model/entity-id.ts'
import type { Message } from '../../model/message.ts'
import type { Principal } from '../../model/principal.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { Statement, Written } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { RowPage } from '../../storage/entities/tables/row-store.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import type { LimitsOfTenants } from '../tenants/limits.ts'
import type { Changes, EntityEvent } from '../changes/changes.ts'
import type { Cleanup } from '../cleanup/cleanup.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import type { ChangeNotifications } from '../notifications/change-notifications.ts'
import type { OwnerLookup } from '../access/ownership.ts'
import type { ColumnSet, DraftOf, RecordOf } from './define.ts'
import type { TransportType } from './device-profile-data.ts'

export interface EntityParts {
  readonly entities: EntityStore
  readonly changes: Changes
  readonly feed: ChangeFeed
  readonly doubts: CommitDoubts
  readonly cleanup: Cleanup
  readonly clock: Clock
  readonly random: Random
  readonly ownerOf: OwnerLookup
  readonly forgetAttributes: (entityId: string) => void
  readonly limits: Pick<LimitsOfTenants, 'guard'>
  readonly notifications: Pick<ChangeNotifications, 'entityChanged' | 'committed'>
  /** What the engine hears of relations that go with an entity. */
  readonly relationsGone?: (tenantId: string, entity: EntityId) => Promise<readonly Message[]>
  /** Alarms that a user had who goes, or goes with a customer. */
  readonly alarmsUnassigned?: (principal: Principal, gone: EntityId) => Promise<readonly JoinedChange[]>
}

/** A page by conditions; `search` are columns, the name's where it is absent; `sort` adds to the members that sort. */
export interface ConditionPage extends Omit<RowPage, 'joins' | 'search' | 'sort'> {
  readonly search?: RowPage['search']
  readonly sort?: Readonly<Record<string, string>>
}

/** A record with the names that lists show beside it. */
export type Shown<Columns extends ColumnSet> = { readonly record: RecordOf<Columns>; readonly names: Row }

/** Steps that are committed with a change or not at all. */
export interface Joined {
  readonly statements: readonly Statement[]
  /** Where they are a change of their own, with its message. */
  readonly event?: EntityEvent
  /** What the engine itself hears of it. */
  readonly news?: Message
  /** For caches and listeners. */
  committed?(written: Pick<Written, 'sequence'>): void
  /** Nobody knows whether it is there: caches look again. */
  inDoubt?(): void
}

/** One that is a change of its own. */
export type JoinedChange = Required<Omit<Joined, 'news'>>

export interface SaveOptions<Columns extends ColumnSet> {
  /** What the save says where that depends on what is stored: asked at each try, in the place of the draft's members. */
  readonly over?: (before: RecordOf<Columns>) => DraftOf<Columns>
  /** Changes that go into the same transaction. Throws to refuse the whole. */
  readonly joined?: (record: RecordOf<Columns>, before: RecordOf<Columns> | undefined) => Promise<readonly Joined[]>
  /** Whose a new one is, where that is not the caller's tenant. */
  readonly newOf?: string
  /** Of devices: what the profile that the draft names by its type has to speak; it is made, or made to. */
  readonly transport?: TransportType
  /** Steps of the same transaction after the entity's own: rows that name it. */
  readonly following?: (
    record: RecordOf<Columns>,
    before: RecordOf<Columns> | undefined,
  ) => readonly Statement[] | Promise<readonly Statement[]>
}

/** What follows from a change in entities of other types, or stands in its way. */
export interface Followers {
  /** Throws where one of them may not lose it. */
  checkUnused(type: EntityType, tenantId: string, id: string): Promise<void>
  /** Clears what may be forgotten. */
  forget(type: EntityType, tenantId: string, id: string): readonly Statement[]
  /** Writes what they copy of it. */
  copy(type: EntityType, tenantId: string, id: string, changed: Readonly<Record<string, unknown>>): readonly Statement[]
}
