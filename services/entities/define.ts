/**
 * One declaration an entity type: its members, uniqueness, permissions, what is special about it, and how REST offers it. From it follow
 * the tables of both databases, the repository, the service with outbox and change feed, the access checks, the routes and their schemas.
 */
import type { Authority, EntityRecord } from '../../model/entities.ts'
import { NULL_UUID, type EntityId, type EntityType } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import type { Principal } from '../../model/principal.ts'
import type { SecretShape } from '../../model/secret-members.ts'
import type { Change } from '../../engine/subscriptions/change.ts'
import type { Statement, Written } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { EntityTable, Row, TableColumn } from '../../storage/entities/tables/entity-table.ts'
import type { MessageRoute } from '../changes/message-route.ts'
import type { Owner } from '../access/ownership.ts'
import type { Operation } from '../access/permissions.ts'
import type { Column, Reference } from './column.ts'
import type { TransportType } from './device-profile-data.ts'

export type ColumnSet = Readonly<Record<string, Column<unknown>>>
type ValueOf<Declared> = Declared extends Column<infer Value> ? Value : never

/** The members that all entities have; an alias, so that a record of known members is one of any members. */
export type Identity = {
  readonly [Member in keyof EntityRecord | 'tenantId']: Member extends keyof EntityRecord
    ? EntityRecord[Member]
    : string
}

/** What an entity is in memory: the members that all have, and its own. */
export type RecordOf<Columns extends ColumnSet> = Identity & {
  readonly [Member in keyof Columns]: ValueOf<Columns[Member]>
}

/** What a save said: members that were left out are undefined. */
export type DraftOf<Columns extends ColumnSet> = {
  readonly id?: string | undefined
  readonly version?: number | undefined
} & { readonly [Member in keyof Columns]?: ValueOf<Columns[Member]> | undefined }

export type PermissionRow = readonly Operation[] | 'all'

export interface UniqueMembers {
  readonly members: readonly string[]
  readonly otherwise: () => Error
  /** SQL: only among those of which this holds. */
  readonly where?: string
  /** The declaration gives a new one that is like another a name of its own. */
  readonly isMadeUnlike?: boolean
  /** No two of the whole system have them alike, not only of a tenant. */
  readonly isSystemWide?: boolean
  /** The version of the table that has the index first; 1 when absent. */
  readonly since?: number
}

/** What lists show beside the entity's own members. */
export interface ShownName {
  /** The member that names the other entity. */
  readonly by: string
  readonly table: string
  readonly column: string
  /** Of the other table, where it is not its `id`; `and` are constants that must hold too. */
  readonly idColumn?: string
  readonly and?: Readonly<Record<string, string | number>>
  /** True where the column is 1; lists may be asked for those of which it is so. */
  readonly isFlag?: boolean
  readonly isSearched?: boolean
}

/** What the text of a cell sets: a member, or a part of one that is free JSON. */
export type ImportedMember<Member extends string> =
  Member | { readonly in: Member; readonly as: string; readonly isFlag?: boolean }

export interface Saving<Columns extends ColumnSet> {
  readonly principal: Principal
  readonly draft: DraftOf<Columns>
  readonly before: RecordOf<Columns> | undefined
  readonly services: EntityAccess
  /** Those of the same type. */
  readonly siblings: EntityReads<Columns>
  /** As {@link SaveOptions} has it. */
  readonly transport?: TransportType | undefined
}

export interface Prepared<Columns extends ColumnSet> {
  readonly record: RecordOf<Columns>
  /** Go into the same transaction, before the entity's own. */
  readonly statements?: readonly Statement[]
  /** The same after it: rows that name the entity. */
  readonly following?: readonly Statement[]
}

export interface EntityNews<Columns extends ColumnSet> {
  readonly principal: Principal
  readonly before: RecordOf<Columns>
  readonly after: RecordOf<Columns> | undefined
  readonly services: EntityAccess
  /** Those of the same type. */
  readonly siblings: EntityReads<Columns>
}

export interface MessageDestination {
  readonly ruleChainId: string | null
  /** As the tenant names it. */
  readonly queueName: string | null
}

/** What goes together with an entity. */
export interface Companions {
  readonly statements: readonly Statement[]
  /** Which these were, from what the commit of the statements handed back. */
  gone(written: Pick<Written, 'results'>): readonly EntityId[]
}

/** How a rule reaches other entities. */
export interface EntityAccess {
  of<Columns extends ColumnSet>(definition: EntityDefinition<Columns>): EntityReads<Columns>
  /** Whether the tenant may use a queue of that name. */
  hasQueue(tenantId: string, name: string): Promise<boolean>
  /** All that a tenant owns. */
  ownedBy(tenantId: string): Companions
  /** What every tenant has from the start. */
  tenantStart(tenantId: string): readonly Statement[]
  /** How many of a type that names this one match: its declaration cannot be named here. */
  countOf(type: EntityType, tenantId: string, members: Readonly<Record<string, unknown>>): Promise<number>
  /** Unix ms. */
  now(): number
  newId(): string
  /** Whose an entity of any type is; undefined where there is none. */
  whose(entity: EntityId): Promise<Owner | undefined>
  /** For what is not declared. */
  readonly store: EntityStore
}

export interface EntityReads<Columns extends ColumnSet> {
  find(tenantId: string, id: string): Promise<RecordOf<Columns> | undefined>
  findBy(tenantId: string, members: Partial<RecordOf<Columns>>): Promise<RecordOf<Columns> | undefined>
  findByIds(tenantId: string, ids: readonly string[]): Promise<readonly RecordOf<Columns>[]>
  findAllBy(tenantId: string, members: Partial<RecordOf<Columns>>): Promise<readonly RecordOf<Columns>[]>
  /** A new record with every member at what it is when left out. */
  fresh(tenantId: string, members: Partial<RecordOf<Columns>>): RecordOf<Columns>
  insert(record: RecordOf<Columns>): Statement
  update(record: RecordOf<Columns>): Statement
  /** Of all that match; counts as a change of each. */
  updateAll(tenantId: string, where: Partial<RecordOf<Columns>>, members: Partial<RecordOf<Columns>>): Statement
  count(tenantId: string, members: Partial<RecordOf<Columns>>): Promise<number>
  /** Whose messages about it are, and where they go. */
  routeOf(record: RecordOf<Columns>): Promise<MessageRoute>
}

type TableMembers = 'name' | 'version' | 'isInherited' | 'tenantIdSince' | 'countedSince' | 'forgetsCountsSince'

export interface EntityDeclaration<Columns extends ColumnSet> {
  readonly type: EntityType
  /** As messages say it: `Asset profile`. */
  readonly label: string
  /** The member that is its name. */
  readonly name: Extract<keyof Columns, string>
  readonly table: Pick<EntityTable, TableMembers> & {
    /** What belongs to the system has no tenant there, as its first schema has it; elsewhere it has the null id. */
    readonly systemIsNull?: boolean
    /** Members by which lists filter, each with the tenant. */
    readonly indexes?: readonly {
      readonly members: readonly string[]
      readonly since?: number
      /** As {@link TableIndex} has it. */
      readonly absentIsEmpty?: boolean
      /** Without the tenant: for look-ups by what no two tenants share. */
      readonly isSystemWide?: boolean
    }[]
  }
  readonly columns: Columns
  /** Members that no two entities of a tenant have alike. */
  readonly unique?: readonly UniqueMembers[]
  readonly permissions: Readonly<Partial<Record<Authority, PermissionRow>>>
  /** System administrators have theirs too, under the null tenant id. */
  readonly mayBeSystems?: boolean
  /** Customer users see all of the tenant's, not only what is assigned to their customer. */
  readonly isSharedInTenant?: boolean
  /** The same where it is not so of each: in the place of `isSharedInTenant`. */
  isOpenInTenant?(record: RecordOf<Columns>): boolean
  /** Of another tenant's not even is said that it is there. */
  readonly isHiddenFromOthers?: boolean
  /** Tenants read the system's; so do customer users of what is shared in the tenant. */
  readonly isSharedBySystem?: boolean
  /** System administrators may do to each tenant's what their permissions say. */
  readonly isSeenBySystem?: boolean
  readonly shows?: Readonly<Record<string, ShownName>>
  /** Columns of files that it is imported from, by the names that the reference has for them (`rest-api.md` 5.6). */
  readonly imported?: Readonly<Record<string, ImportedMember<Extract<keyof Columns, string>>>>
  /** A good one to save, without id; ids of others by their names (`deviceId`). */
  example(ids: Readonly<Record<string, string>>): JsonObject
  /** To which tenant it belongs for access checks, where that is not who owns its row. */
  tenantOf?(record: RecordOf<Columns>): string
  /** Whose it is where no member `customerId` says it. */
  customerOf?(record: RecordOf<Columns>): string | null
  /** The same where several customers may have it. */
  customersOf?(record: RecordOf<Columns>, services: EntityAccess): Promise<readonly string[]>
  /** Whose it is alone: of several users of one customer each has the own. */
  userOf?(record: RecordOf<Columns>): string
  /** Members that all entities have and this JSON form has not. */
  readonly lacks?: readonly ('tenantId' | 'version' | 'externalId')[]
  /** Members of the JSON form that follow from others, or that nobody can fill yet. */
  moreJson?(record: RecordOf<Columns>): JsonObject
  /** The same where they have to be read: one object a record, in their order. */
  readJson?(records: readonly RecordOf<Columns>[], services: EntityAccess): Promise<readonly JsonObject[]>
  /** Where the JSON form holds secrets beside those that have the name of one: no row of the audit log shows them. */
  readonly secrets?: SecretShape
  /** What messages to the rule engine say where it is not the JSON form: large members left out. */
  messageJson?(json: JsonObject): JsonObject
  /** What the entity decides about a save beyond its columns. Throws to refuse. */
  prepare?(record: RecordOf<Columns>, saving: Saving<Columns>): Promise<Prepared<Columns>>
  /** Rows that name a new one from the start, where the save brings none of its own. */
  startsWith?(record: RecordOf<Columns>, services: EntityAccess): readonly Statement[]
  /** What the change feed hears beside deletions; `in doubt`: the commit may have happened or not. */
  tells?(record: RecordOf<Columns>, what: 'created' | 'changed' | 'in doubt'): Change | readonly Change[] | undefined
  /** Where messages about it go: the chain and the queue of its profile. Absent: the root chain, `Main`. */
  routeOf?(record: RecordOf<Columns>, services: EntityAccess): Promise<MessageDestination>
  /** What goes with it, before it in the same transaction. */
  takesAlong?(record: RecordOf<Columns>, services: EntityAccess): Companions
  /** Messages to the rule engine beside the change's own, of entities that were there; `after` is absent where it is deleted. */
  news?(change: EntityNews<Columns>): Promise<readonly Message[]>
  /** Before it goes. Throws to refuse; what it returns goes into the same transaction. */
  beforeDelete?(record: RecordOf<Columns>, services: EntityAccess): Promise<readonly Statement[] | undefined>
}

export interface EntityDefinition<Columns extends ColumnSet> extends EntityDeclaration<Columns> {
  readonly storedAs: EntityTable
  /** What the column of the tenant holds. */
  tenantColumn(tenantId: string): string | null
  rowOf(record: RecordOf<Columns>): Row
  recordOf(row: Row): RecordOf<Columns>
  jsonOf(record: RecordOf<Columns>): JsonObject
}

export function defineEntity<Columns extends ColumnSet>(
  declaration: EntityDeclaration<Columns>,
  tableOfType: (type: EntityType) => string = tableName,
): EntityDefinition<Columns> {
  const members = Object.entries(declaration.columns)
  const columns = members.map(([member, column]): TableColumn => {
    const { references } = column
    const isKept = references === undefined || !isEnforced(references)
    return {
      ...column.stored,
      name: columnOf(member, column),
      ...(isKept
        ? {}
        : {
            references: {
              table: tableOfType(references.entityType),
              whenDeleted: references.whenDeleted === 'delete' ? 'delete' : 'refuse',
            },
          }),
    }
  })
  const named = (member: string): string => columnOf(member, declaration.columns[member])
  const { table, unique = [] } = declaration
  const tenantColumn = (tenantId: string): string | null =>
    table.systemIsNull === true && tenantId === NULL_UUID ? null : tenantId
  return {
    ...declaration,
    tenantColumn,
    storedAs: {
      name: table.name,
      version: table.version,
      ...(table.isInherited === undefined ? {} : { isInherited: table.isInherited }),
      ...(table.tenantIdSince === undefined ? {} : { tenantIdSince: table.tenantIdSince }),
      ...(table.countedSince === undefined ? {} : { countedSince: table.countedSince }),
      ...(table.forgetsCountsSince === undefined ? {} : { forgetsCountsSince: table.forgetsCountsSince }),
      columns,
      unique: unique.map((index) => ({
        columns: uniqueColumns(declaration, index),
        ...(index.where === undefined ? {} : { where: index.where }),
        ...(index.since === undefined ? {} : { since: index.since }),
      })),
      indexes: (table.indexes ?? []).map(({ members: names, since, isSystemWide, absentIsEmpty }) => ({
        columns: [...(isSystemWide === true ? [] : ['tenant_id']), ...names.map(named)],
        ...(absentIsEmpty === undefined ? {} : { absentIsEmpty }),
        ...(since === undefined ? {} : { since }),
      })),
    },
    rowOf: (record) => ({
      id: record.id,
      created_time: record.createdTime,
      version: record.version,
      tenant_id: tenantColumn(record.tenantId),
      ...Object.fromEntries(
        members.map(([member, column]) => [columnOf(member, column), column.toColumn(record[member])]),
      ),
    }),
    recordOf: (row) => recordOf<Columns>(members, row),
    jsonOf: (record) => ({
      id: { entityType: declaration.type, id: record.id },
      createdTime: record.createdTime,
      ...(declaration.lacks?.includes('tenantId') === true
        ? {}
        : { tenantId: { entityType: 'TENANT', id: record.tenantId } }),
      ...Object.fromEntries(
        members
          .filter(([, { isInternal }]) => isInternal !== true)
          .map(([member, column]) => [member, column.toJson(record[member])]),
      ),
      ...(declaration.lacks?.includes('externalId') === true ? {} : { externalId: null }),
      ...(declaration.lacks?.includes('version') === true ? {} : { version: record.version }),
      ...declaration.moreJson?.(record),
    }),
  }
}

function isEnforced({ whenDeleted, isUnenforced }: Reference): boolean {
  return isUnenforced !== true && (whenDeleted === 'refuse' || whenDeleted === 'delete')
}

export function uniqueColumns(
  { columns }: Pick<EntityDeclaration<ColumnSet>, 'columns'>,
  { members, isSystemWide }: UniqueMembers,
): readonly string[] {
  const own = members.map((member) => columnOf(member, columns[member]))
  return isSystemWide === true ? own : ['tenant_id', ...own]
}

/** The one place where a row's members become those that the declaration names. */
function recordOf<Columns extends ColumnSet>(
  members: readonly (readonly [string, Column<unknown>])[],
  row: Row,
): RecordOf<Columns> {
  const record: Record<string, unknown> = {
    id: row['id'],
    createdTime: row['created_time'],
    version: row['version'],
    tenantId: row['tenant_id'] ?? NULL_UUID,
  }
  for (const [member, column] of members) record[member] = column.ofColumn(row[columnOf(member, column)] ?? null)
  return record as RecordOf<Columns>
}

/** What a client sent, read member by member, as a draft. */
export function draftOf<Columns extends ColumnSet>(members: Readonly<Record<string, unknown>>): DraftOf<Columns> {
  return members as DraftOf<Columns>
}

/** `assetProfileId` is `asset_profile_id`; also of the members that all entities have. */
export function columnOf(member: string, column?: Column<unknown>): string {
  return column?.column ?? snakeCase(member)
}

/** Of members of declarations: so many, and no more. */
const SNAKE_CASE = new Map<string, string>()

function snakeCase(member: string): string {
  let name = SNAKE_CASE.get(member)
  if (name === undefined) {
    name = member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    SNAKE_CASE.set(member, name)
  }
  return name
}

const TABLES: Readonly<Partial<Record<EntityType, string>>> = { USER: 'app_user' }

export function tableName(type: EntityType): string {
  return TABLES[type] ?? type.toLowerCase()
}
