/**
 * Attributes of any entity in three scopes. Last write wins, guarded by the log position of the writing message, so that
 * a replayed older message never overwrites what a newer one wrote (`rule-engine.md` 10.2). A user's write leaves that position
 * negative: the message that wrote before it may not write again, when it is tried once more.
 */
import { sql, type CompiledQuery, type Selectable } from 'kysely'
import type { Attribute, AttributeScope } from '../../model/value.ts'
import { ATTRIBUTE_SCOPE_NUMBERS, scopeOf, typedValue, valueColumns } from './attribute-columns.ts'
import {
  sqlValue,
  withParameters,
  type BulkColumn,
  type EntityDatabase,
  type Read,
  type SqlValue,
  type Statement,
} from './database.ts'
import type { AttributeTable } from './schema.ts'

export type ScopedAttribute = Attribute & {
  readonly scope: AttributeScope
  /** The visit of a rule node that wrote it last, where one said which. */
  readonly writer?: number
}

/** One attribute to write; `sequence` 0 is a user's write and always wins. */
export interface AttributeWrite {
  readonly entityId: string
  readonly scope: AttributeScope
  readonly attribute: Attribute
  readonly sequence: number
  readonly writer?: number | undefined
}

export class AttributeRepository {
  private readonly database: EntityDatabase
  private readonly upsert: string
  /** Parameters: entity, scope, key. */
  private readonly deletion: string
  /** Built once: asked for every entity whose attributes are not in the cache. */
  private readonly byEntity: CompiledQuery<Selectable<AttributeTable>>

  constructor(database: EntityDatabase) {
    this.database = database
    this.upsert = upsertSql(database)
    const { builder } = database
    this.byEntity = builder
      .selectFrom('attribute')
      .selectAll()
      .where('entity_id', '=', '')
      .orderBy('scope')
      .orderBy('key')
      .compile()
    const one = builder.deleteFrom('attribute').where('entity_id', '=', '').where('scope', '=', 0).where('key', '=', '')
    this.deletion = one.compile().sql
  }

  /** All attributes of an entity, scope by scope in the order CLIENT, SERVER, SHARED, keys sorted. */
  async all(entityId: string): Promise<Read<ScopedAttribute>> {
    const { rows, sequence } = await this.database.read(withParameters(this.byEntity, [entityId]))
    return { rows: rows.map(attributeOf), sequence }
  }

  /** The highest log position that any attribute was written at. Looks at all of them, beside the commits. */
  async maxSequence(): Promise<number> {
    const query = this.database.builder.selectFrom('attribute').select(sql<number>`max(abs(sequence))`.as('highest'))
    const [row] = await this.database.scan(query.compile())
    return Number(row?.highest ?? 0)
  }

  /** One statement for all; its result's `untouched` names the writes that were older than what is stored. */
  save(writes: readonly AttributeWrite[]): Statement {
    return { sql: this.upsert, parameters: [], parameterRows: writes.map(parametersOf), bulk: COLUMNS }
  }

  /** A step that undoes the transaction with this error where the entity has the attribute already. */
  insert(write: AttributeWrite, otherwise: () => Error): Statement {
    const names = sql.join(COLUMNS.map(({ name }) => sql.ref(name)))
    const query = sql`insert into attribute (${names}) values (${sql.join([...parametersOf(write)])})`
    const { sql: text, parameters } = query.compile(this.database.builder)
    const key = 'attribute.entity_id, attribute.scope, attribute.key'
    return { sql: text, parameters: parameters.map(sqlValue), constraints: { [key]: otherwise } }
  }

  delete(entityId: string, scope: AttributeScope, keys: readonly string[]): Statement {
    const scopeNumber = ATTRIBUTE_SCOPE_NUMBERS[scope]
    return { sql: this.deletion, parameters: [], parameterRows: keys.map((key) => [entityId, scopeNumber, key]) }
  }
}

const COLUMNS = [
  { name: 'entity_id', type: 'text', isKey: true },
  { name: 'scope', type: 'integer', isKey: true },
  { name: 'key', type: 'text', isKey: true },
  { name: 'kind', type: 'integer', isKey: false },
  { name: 'long_value', type: 'integer', isKey: false },
  { name: 'double_value', type: 'double', isKey: false },
  { name: 'text_value', type: 'text', isKey: false },
  { name: 'last_update_ts', type: 'integer', isKey: false },
  { name: 'sequence', type: 'integer', isKey: false },
  { name: 'writer', type: 'integer', isKey: false },
] as const satisfies readonly BulkColumn[]

function upsertSql(database: EntityDatabase): string {
  const sample: AttributeTable = {
    entity_id: '',
    scope: 0,
    key: '',
    kind: 0,
    long_value: null,
    double_value: null,
    text_value: null,
    last_update_ts: 0,
    sequence: 0,
    writer: null,
  }
  return database.builder
    .insertInto('attribute')
    .columns(COLUMNS.map(({ name }) => name))
    .values(sample)
    .onConflict((conflict) =>
      conflict
        .columns(['entity_id', 'scope', 'key'])
        .doUpdateSet((row) => ({
          kind: row.ref('excluded.kind'),
          long_value: row.ref('excluded.long_value'),
          double_value: row.ref('excluded.double_value'),
          text_value: row.ref('excluded.text_value'),
          last_update_ts: row.ref('excluded.last_update_ts'),
          sequence: sql<number>`case when excluded.sequence = 0 then -abs(attribute.sequence) else excluded.sequence end`,
          writer: sql<number>`case when excluded.sequence = 0 then attribute.writer else excluded.writer end`,
        }))
        .where(
          sql<boolean>`excluded.sequence = 0 or excluded.sequence = attribute.sequence or excluded.sequence > abs(attribute.sequence)`,
        ),
    )
    .compile().sql
}

/** In the order of {@link COLUMNS}. */
function parametersOf(write: AttributeWrite): readonly SqlValue[] {
  const { kind, long_value, double_value, text_value } = valueColumns(write.attribute)
  const { key, lastUpdateTs } = write.attribute
  const scope = ATTRIBUTE_SCOPE_NUMBERS[write.scope]
  const { entityId, sequence, writer = null } = write
  return [entityId, scope, key, kind, long_value, double_value, text_value, lastUpdateTs, sequence, writer]
}

function attributeOf(row: Selectable<AttributeTable>): ScopedAttribute {
  const attribute = { key: row.key, ...typedValue(row), lastUpdateTs: row.last_update_ts, scope: scopeOf(row.scope) }
  return row.writer === null ? attribute : { ...attribute, writer: row.writer }
}
