/** Relations between entities of any type: each is one row of its tenant, found from either end by an index. */
import { sql, type Selectable } from 'kysely'
import { isEntityType, type EntityId } from '../../model/entity-id.ts'
import { parseJson, stringifyJson } from '../../model/json.ts'
import {
  RELATION_GROUPS,
  type Relation,
  type RelationDirection,
  type RelationGroup,
  type RelationKey,
} from '../../model/relation.ts'
import { statementOf, type EntityDatabase, type Statement, type Written } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { RelationTable } from './schema.ts'
import type { EntityTable } from './tables/entity-table.ts'

const text = (name: string) => ({ name, type: 'text', isNullable: false }) as const

/** The ids alone identify the ends: no two entities share one. */
export const RELATION_TABLE: EntityTable = {
  name: 'relation',
  version: 1,
  columns: [
    text('from_id'),
    text('from_type'),
    text('to_id'),
    text('to_type'),
    text('type_group'),
    text('type'),
    text('additional_info'),
  ],
  unique: [{ columns: ['from_id', 'type_group', 'type', 'to_id', 'tenant_id'] }],
  indexes: [{ columns: ['to_id', 'type_group', 'type'] }],
}

/** SQLite takes 32,766 parameters a statement. */
const IDS_PER_READ = 1_000

export interface RelationRead {
  readonly tenantId: string
  readonly direction: RelationDirection
  /** Of the near ends. */
  readonly ids: readonly string[]
  readonly group: RelationGroup
  readonly type?: string | undefined
  readonly limit: number
}

export class RelationRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async find(tenantId: string, key: RelationKey): Promise<Relation | undefined> {
    const row = await this.database.builder
      .selectFrom('relation')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .where('from_id', '=', key.from.id)
      .where('to_id', '=', key.to.id)
      .where('type_group', '=', key.typeGroup)
      .where('type', '=', key.type)
      .executeTakeFirst()
    return row && relationOf(row)
  }

  /** Those of the entities, at most `limit`, oldest first for each thousand of ids. */
  async findOf({ tenantId, direction, ids, group, type, limit }: RelationRead): Promise<readonly Relation[]> {
    const found: Relation[] = []
    for (let start = 0; start < ids.length && found.length < limit; start += IDS_PER_READ) {
      let query = this.database.builder
        .selectFrom('relation')
        .selectAll()
        .where(direction === 'FROM' ? 'from_id' : 'to_id', 'in', ids.slice(start, start + IDS_PER_READ))
        .where('type_group', '=', group)
        .where('tenant_id', '=', tenantId)
      if (type !== undefined) query = query.where('type', '=', type)
      const sorted = query
        .orderBy('created_time')
        .orderBy('id')
        .limit(limit - found.length)
      found.push(...(await this.database.scan(sorted.compile())).map(relationOf))
    }
    return found
  }

  /** How many the entity has in that direction; counts to `most` and no further. */
  async count(direction: RelationDirection, id: string, most: number): Promise<number> {
    const some = this.database.builder
      .selectFrom('relation')
      .select('id')
      .where(direction === 'FROM' ? 'from_id' : 'to_id', '=', id)
      .limit(most)
    const [row] = await this.database.scan(
      this.database.builder
        .selectFrom(some.as('some'))
        .select(sql<number>`count(*)`.as('total'))
        .compile(),
    )
    return Number(row?.total ?? 0)
  }

  /** Makes the relation, or changes the one that is there already; {@link savedVersion} reads the result. */
  save(tenantId: string, relation: Omit<Relation, 'version'>, id: string, createdTime: number): Statement {
    const query = this.database.builder
      .insertInto('relation')
      .values({
        id,
        created_time: createdTime,
        version: 1,
        tenant_id: tenantId,
        from_id: relation.from.id,
        from_type: relation.from.entityType,
        to_id: relation.to.id,
        to_type: relation.to.entityType,
        type_group: relation.typeGroup,
        type: relation.type,
        additional_info: stringifyJson(relation.additionalInfo),
      })
      .onConflict((conflict) =>
        conflict.columns(['from_id', 'type_group', 'type', 'to_id', 'tenant_id']).doUpdateSet((row) => ({
          additional_info: row.ref('excluded.additional_info'),
          version: sql<number>`relation.version + 1`,
        })),
      )
      .returning('version')
    return statementOf(query, { returnsRows: true })
  }

  savedVersion({ results }: Written, statementIndex: number): number {
    const [row] = (results[statementIndex]?.rows ?? []) as readonly { readonly version: number }[]
    if (row === undefined) throw EntityStoreErrors.FAILED({ reason: 'the relation gave no version' })
    return row.version
  }

  delete(tenantId: string, key: RelationKey): Statement {
    return statementOf(
      this.database.builder
        .deleteFrom('relation')
        .where('tenant_id', '=', tenantId)
        .where('from_id', '=', key.from.id)
        .where('to_id', '=', key.to.id)
        .where('type_group', '=', key.typeGroup)
        .where('type', '=', key.type),
    )
  }

  /** Of the entity, in both directions. */
  deleteAll(tenantId: string, { id }: EntityId, group: RelationGroup): readonly Statement[] {
    return (['from_id', 'to_id'] as const).map((end) =>
      statementOf(
        this.database.builder
          .deleteFrom('relation')
          .where(end, '=', id)
          .where('type_group', '=', group)
          .where('tenant_id', '=', tenantId),
      ),
    )
  }
}

function relationOf(row: Selectable<RelationTable>): Relation {
  return {
    from: endOf(row.from_type, row.from_id),
    to: endOf(row.to_type, row.to_id),
    type: row.type,
    typeGroup: RELATION_GROUPS.find((group) => group === row.type_group) ?? 'COMMON',
    version: row.version,
    additionalInfo: parseJson(row.additional_info),
  }
}

function endOf(entityType: string, id: string): EntityId {
  if (!isEntityType(entityType)) throw EntityStoreErrors.FAILED({ reason: `no entity type is called ${entityType}` })
  return { entityType, id }
}
