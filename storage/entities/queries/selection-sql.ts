/** A selection of entities in SQL, for both databases: the sources as one relation `e`, filters on it and on its attributes, the order. */
import { sql } from 'kysely'
import type { EntityKey, EntitySort, KeyFilter } from '../../../model/entity-query.ts'
import { indexedRanges, isNewest, matchingIds, scopeNumber } from './attribute-index.ts'
import {
  combined,
  containsSql,
  likeSql,
  predicateSql,
  type Sql,
  type SqlDialect,
  type ValueParts,
} from './predicates-sql.ts'
import type { EntitySelection, EntitySource, QueryField, QueryTable } from './query.ts'

/** Stands for a text that SQL can not tell. Where a user's own text has it, that is looked at once more for nothing. */
export const UNSURE = '\u{e000}'

/** The customer that an entity belongs to, as a field that no caller can name. */
const OWNER_ID = Symbol('owner id')

/** A stretch of the index of attributes, which holds what the filter matches there. */
export interface IndexWalk {
  readonly filter: KeyFilter
  readonly stretch: Sql
}

/** Fields become columns `f0`, `f1`, … of `e`. */
export class SelectionSql {
  private readonly dialect: SqlDialect
  private readonly selection: EntitySelection
  private readonly walk: IndexWalk | undefined
  private looksUpAttributes = false
  private readonly fields: (string | typeof OWNER_ID)[] = []

  /** With a walk `e` has the columns `long_value` and `double_value` too. */
  constructor(dialect: SqlDialect, selection: EntitySelection, walk?: IndexWalk) {
    this.dialect = dialect
    this.selection = selection
    this.walk = walk
  }

  /** The column of `e` that holds the field. */
  field(name: string): Sql {
    return this.column(name)
  }

  /** Of a source whose entities belong to customers: null for the tenant's own. */
  ownerId(): Sql {
    return this.column(OWNER_ID)
  }

  private column(name: string | typeof OWNER_ID): Sql {
    let place = this.fields.indexOf(name)
    if (place < 0) place = this.fields.push(name) - 1
    return sql.ref(`e.f${place}`)
  }

  /** After all fields, filters and orders were asked for. */
  from(): Sql {
    return this.fromSources(this.selection.sources.map((source) => this.source(source)))
  }

  /**
   * The same where no order is wanted: in that of the ids where attributes are looked up, which are in it too and cost a third so. SQLite
   * takes any index of the entities else; with a limit it heeds the order.
   */
  fromInAnyOrder(): Sql {
    if (this.dialect.isShared || this.selection.driver !== undefined || !this.looksUpAttributes) return this.from()
    return this.fromSources(
      this.selection.sources.map(
        (source) => sql`select * from (${this.source(source)} order by t.id limit -1) as of_type`,
      ),
    )
  }

  private fromSources(sources: readonly Sql[]): Sql {
    return sql`(${sql.join(sources, sql` union all `)}) as e`
  }

  where(): Sql {
    const { operation, search, driver } = this.selection
    // What the entities are looked up by holds of them.
    const lookedUpBy = this.walk === undefined ? (driver?.filters ?? []) : [this.walk.filter]
    const filters = this.selection.filters.filter((filter) => !lookedUpBy.includes(filter))
    const parts: Sql[] = []
    if (filters.length > 0)
      parts.push(
        combined(
          filters.map((filter) => this.filter(filter)),
          operation,
        ),
      )
    if (search !== undefined) parts.push(this.search(search.text, search.fields))
    return parts.length === 0 ? sql`` : sql` where ${sql.join(parts, sql` and `)}`
  }

  /** What an order needs beside `e`, and the order itself. */
  order(sort: EntitySort | undefined): { readonly join: Sql; readonly by: Sql } {
    const direction = sort?.direction === 'DESC' ? sql`desc` : sql`asc`
    const byId = sql`e.id ${direction}`
    if (sort === undefined) return { join: sql``, by: sql`e.id asc` }
    const nulls = sort.direction === 'DESC' ? sql`desc nulls first` : sql`asc nulls last`
    if (sort.key.type === 'ENTITY_FIELD') {
      const shape = this.shapeOf(sort.key.key)
      if (shape === undefined) return { join: sql``, by: byId }
      const column = this.field(sort.key.key)
      const by = shape === 'nullable' ? sql`coalesce(${column}, '')` : column
      return { join: sql``, by: sql`${by} ${direction}, ${byId}` }
    }
    const join = sql` left join attribute s on ${this.isAttribute('s', sort.key)}`
    const number = sql`coalesce(s.double_value, s.long_value)`
    return { join, by: sql`${number} ${nulls}, coalesce(s.text_value, '') ${direction}, ${byId}` }
  }

  private search(text: string, fields: readonly string[]): Sql {
    return fields.length === 0 ? sql`1 = 0` : containsSql(this.dialect, this.joinedText(fields, []).text, text)
  }

  /**
   * Fields, then attributes, as clients read them; {@link UNSURE} for a number that only they know to write. `join` follows the entities:
   * PostgreSQL joins attributes of one scope at half of what it costs to look each of them up; SQLite has no join but by looking up.
   */
  joinedText(fields: readonly string[], attributes: readonly EntityKey[]): { readonly text: Sql; readonly join: Sql } {
    const joins: Sql[] = []
    const ofAttribute = (key: EntityKey): Sql => {
      if (!this.dialect.isShared || typeof scopeNumber(key) !== 'number')
        return sql`(select ${this.attributeText('a')} from attribute a where ${this.isAttribute('a', key)} limit 1)`
      const alias = `shown${joins.length}`
      joins.push(sql` left join attribute as ${sql.ref(alias)} on ${this.isAttribute(alias, key)}`)
      return this.attributeText(alias)
    }
    const parts = [
      ...fields.map((name) => sql`coalesce(cast(${this.field(name)} as text), '')`),
      ...attributes.map((key) => sql`coalesce(${ofAttribute(key)}, '')`),
    ]
    return { text: parts.length === 0 ? sql`''` : sql.join(parts, sql` || `), join: sql.join(joins, sql``) }
  }

  /** Doubles as Java writes them: in the range where it uses no exponent. */
  private attributeText(alias: string): Sql {
    const long = sql.ref(`${alias}.long_value`)
    const number = sql.ref(`${alias}.double_value`)
    const text = sql.ref(`${alias}.text_value`)
    const double = this.dialect.isShared
      ? sql`case when ${number} = trunc(${number}) then cast(cast(${number} as bigint) as text) || '.0'
          else cast(${number} as text) end`
      : sql`cast(${number} as text)`
    const isPlain = sql`(${number} = 0 or abs(${number}) >= 0.001 and abs(${number}) < 10000000)`
    // SQLite writes fifteen digits.
    const isWhole = this.dialect.isShared ? sql`` : sql` and cast(cast(${number} as text) as real) = ${number}`
    return sql`case ${sql.ref(`${alias}.kind`)} when 1 then case ${long} when 1 then 'true' else 'false' end
      when 2 then cast(${long} as text)
      when 3 then case when ${number} is null then ${text}
        when ${isPlain}${isWhole} then ${double} else ${sql.lit(UNSURE)} end
      else ${text} end`
  }

  private filter({ key, predicate }: KeyFilter): Sql {
    if (key.type !== 'ENTITY_FIELD') {
      const ranges = indexedRanges(predicate)
      const matches =
        ranges === undefined ? predicateSql(this.dialect, predicate, attributeParts('a')) : combined(ranges, 'OR')
      return sql`exists (select 1 from attribute a where ${this.isAttribute('a', key)} and ${matches})`
    }
    if (this.shapeOf(key.key) === undefined) return sql`1 = 0`
    const column = this.field(key.key)
    const isNumber = this.shapeOf(key.key) === 'number'
    const none = this.dialect.isShared ? sql`cast(null as bigint)` : sql`null`
    return predicateSql(this.dialect, predicate, {
      text: isNumber ? sql`cast(${column} as text)` : column,
      number: isNumber ? column : none,
      flag: none,
    })
  }

  /** Of several scopes the one that was written last. */
  private isAttribute(alias: string, key: EntityKey): Sql {
    this.looksUpAttributes = true
    const of = sql.ref(alias)
    const scope = scopeNumber(key)
    const base = sql`${of}.entity_id = e.id and ${of}.key = ${key.key}`
    if (scope !== null && scope !== undefined) return sql`${base} and ${of}.scope = ${sql.lit(scope)}`
    return sql`${base} and ${isNewest(alias)}`
  }

  /** Whether any source has the field, and how it sorts. */
  private shapeOf(name: string): 'number' | 'nullable' | 'text' | undefined {
    const { sources } = this.selection
    const found = sources.flatMap(({ table }) => (Object.hasOwn(table.fields, name) ? [table.fields[name]] : []))
    if (found.length === 0) return undefined
    if (found.every((field) => field?.is === 'number')) return 'number'
    const isText = found.length === sources.length && found.every((field) => field?.is === 'text' && !field.isNullable)
    return isText ? 'text' : 'nullable'
  }

  private source(source: EntitySource): Sql {
    const { table } = source
    const columns = this.fields.map((name, place) => sql`${this.fieldOf(source, name)} as ${sql.ref(`f${place}`)}`)
    const selected = [sql`t.id as id`, sql`${sql.lit(table.entityType)} as entity_type`, ...columns]
    const driver = this.walk === undefined ? this.selection.driver : undefined
    const from = sql`${sql.table(table.table)} as t`
    if (this.walk !== undefined) {
      // The id is the index's own: SQLite looks for the order in its columns.
      const walked = [
        sql`a.entity_id as id`,
        ...selected.slice(1),
        sql`a.long_value as long_value, a.double_value as double_value`,
      ]
      const where = this.sourceWhere(source, [this.walk.stretch, sql`t.id = a.entity_id`])
      return sql`select ${sql.join(walked)} from attribute as a cross join ${from}${where}`
    }
    const where = this.sourceWhere(source, driver === undefined ? [] : [sql`t.id = d.id`])
    if (driver === undefined) return sql`select ${sql.join(selected)} from ${from}${where}`
    const ids = matchingIds(this.dialect, driver.filters)
    const rows = sql.join(selected)
    if (!this.dialect.isShared) {
      // SQLite takes the tables of a cross join in their order: sorted ids are found side by side. With a limit it heeds the order.
      const sorted = sql`select id from (${ids}) order by id limit -1`
      if (driver.way === 'probed') return sql`select ${rows} from (${sorted}) as d cross join ${from}${where}`
      // Sorted, two queries are merged: half of what it costs to look up each id of the one in the other.
      const all = sql`select t.id as id from ${from}${this.sourceWhere(source, [])}`
      const common = sql`${all} intersect select id from (${ids}) order by 1`
      if (this.fields.length > 0) return sql`select ${rows} from (${common}) as d cross join ${from}${where}`
      return sql`select id, ${sql.lit(table.entityType)} as entity_type from (${common})`
    }
    if (driver.way === 'joined') {
      if (!this.isInIndex(source)) return sql`select ${rows} from (${ids}) as d cross join ${from}${where}`
      // Both by id, so that they are merged: half of what a join by hash costs, and no row is looked at outside of indexes.
      const owner = this.fields.length === 0 ? sql`` : sql`, ${this.fieldOf(source, OWNER_ID)}`
      const all = sql`select t.id${owner} from ${from}${this.sourceWhere(source, [])} order by t.id offset 0`
      const matching = sql`select id from (${ids}) as matching order by id offset 0`
      return sql`select ${rows} from (${matching}) as d cross join (${all}) as t where t.id = d.id`
    }
    // With an offset PostgreSQL looks into the inner query once for each row of the outer one.
    return sql`select x.* from (${ids}) as d cross join lateral (select ${rows} from ${from}${where} offset 0) as x`
  }

  /** Whether the entities are told apart, and counted, by what indexes have. */
  private isInIndex({ name }: EntitySource): boolean {
    return name === undefined && this.fields.every((field) => field === OWNER_ID)
  }

  private sourceWhere(source: EntitySource, joined: readonly Sql[]): Sql {
    const { table, tenantId, customerId, owners, ids, types, name } = source
    const parts = [...joined]
    if (tenantId !== undefined) parts.push(sql`${sql.ref(`t.${table.tenantColumn}`)} = ${tenantId}`)
    if (customerId !== undefined) parts.push(ofCustomer(table, customerId))
    if (owners !== undefined) parts.push(this.isOwnedBy(table, owners))
    if (ids !== undefined) parts.push(this.isOneOf(ids))
    if (types !== undefined) parts.push(this.isOfType(source, types))
    if (name !== undefined) {
      parts.push(likeSql(this.dialect, this.fieldOf(source, 'name'), name))
    }
    return parts.length === 0 ? sql`` : sql` where ${sql.join(parts, sql` and `)}`
  }

  private isOwnedBy({ customerColumn }: QueryTable, owners: readonly (string | null)[]): Sql {
    if (customerColumn === undefined) return sql`1 = 0`
    const column = sql.ref(`t.${customerColumn}`)
    const customers = owners.filter((owner) => owner !== null)
    const parts = customers.length === 0 ? [] : [sql`${column} in ${this.list(customers)}`]
    if (customers.length < owners.length) parts.push(sql`${column} is null`)
    return combined(parts, 'OR')
  }

  /** By the profile, where the type is its name: an index finds it. */
  private isOfType(source: EntitySource, types: readonly string[]): Sql {
    const field = source.table.fields['type']
    if (field === undefined) return sql`1 = 0`
    if (field.is !== 'named') return sql`${this.fieldOf(source, 'type')} in ${this.list(types)}`
    const ofTenant = source.tenantId === undefined ? sql`` : sql` and p.tenant_id = ${source.tenantId}`
    return sql`${sql.ref(`t.${field.by}`)} in (select p.id from ${sql.table(field.table)} as p
      where ${sql.ref(`p.${field.column}`)} in ${this.list(types)}${ofTenant})`
  }

  /** PostgreSQL looks an array up in the index, where it would look through all rows in their order for a query's answer. */
  private isOneOf(ids: readonly string[]): Sql {
    if (!this.dialect.isShared || ids.length === 1) return sql`t.id in ${this.list(ids)}`
    return sql`t.id = any(array${this.list(ids)})`
  }

  /** One parameter, however many there are. */
  private list(values: readonly string[]): Sql {
    // With one value an index after it keeps its order.
    if (values.length === 1) return sql`(${values[0]})`
    const json = JSON.stringify(values)
    return this.dialect.isShared
      ? sql`(select json_array_elements_text(cast(${json} as json)))`
      : sql`(select value from json_each(${json}))`
  }

  private fieldOf({ table }: EntitySource, name: string | typeof OWNER_ID): Sql {
    if (name === OWNER_ID) return sql.ref(`t.${table.customerColumn ?? ''}`)
    const field = Object.hasOwn(table.fields, name) ? table.fields[name] : undefined
    const isNumber = this.shapeOf(name) === 'number'
    if (field === undefined) return isNumber ? this.nothing('bigint') : this.nothing('text')
    const value = fieldSql(field)
    return field.is === 'number' && !isNumber ? sql`cast(${value} as text)` : value
  }

  private nothing(type: 'bigint' | 'text'): Sql {
    return this.dialect.isShared ? sql`cast(null as ${sql.raw(type)})` : sql`null`
  }
}

function fieldSql(field: QueryField): Sql {
  switch (field.is) {
    case 'text':
    case 'number':
      return sql.ref(`t.${field.column}`)
    case 'json':
      return sql`nullif(${sql.ref(`t.${field.column}`)}, 'null')`
    case 'constant':
      return sql.lit(field.value)
    case 'first':
      return sql`coalesce(${sql.join(field.columns.map((column) => sql`nullif(${sql.ref(`t.${column}`)}, '')`))}, '')`
    case 'named':
      return sql`(select ${sql.ref(`p.${field.column}`)} from ${sql.table(field.table)} as p where p.id = ${sql.ref(`t.${field.by}`)})`
    case 'person':
      return sql`coalesce(nullif(trim(coalesce(t.first_name, '') || ' ' || coalesce(t.last_name, '')), ''), t.email)`
    case 'tenant-name':
      return sql`(select n.title from tenant as n where n.id = t.tenant_id)`
    case 'owner-type':
      return sql`case when t.customer_id is null then 'TENANT' else 'CUSTOMER' end`
    case 'owner-name':
      return sql`coalesce((select c.title from customer as c where c.id = t.customer_id),
        (select n.title from tenant as n where n.id = t.tenant_id))`
  }
}

function ofCustomer({ customerColumn, customerRows }: QueryTable, customerId: string): Sql {
  if (customerRows !== undefined) {
    const { table, column } = customerRows
    return sql`t.id in (select ${sql.ref(`c.${column}`)} from ${sql.table(table)} as c where c.customer_id = ${customerId})`
  }
  return customerColumn === undefined ? sql`1 = 0` : sql`${sql.ref(`t.${customerColumn}`)} = ${customerId}`
}

/** Kinds as `attribute-columns.ts` numbers them. */
function attributeParts(alias: string): ValueParts {
  const of = sql.ref(alias)
  return {
    text: sql`case when ${of}.kind = 4 then ${of}.text_value end`,
    number: sql`case when ${of}.kind in (2, 3) then coalesce(${of}.double_value, ${of}.long_value, 0) end`,
    flag: sql`case when ${of}.kind = 1 then ${of}.long_value end`,
  }
}
