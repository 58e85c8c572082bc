/** What queries may ask of each entity type: from the declarations, and for the types that have none yet. */
import type { EntityType } from '../../model/entity-id.ts'
import type { QueryField, QueryTable } from '../../storage/entities/queries/query.ts'
import { DASHBOARD_CUSTOMERS } from '../entities/dashboard-customers.ts'
import { columnOf, type ColumnSet, type EntityDefinition } from '../entities/define.ts'

const TEXT_MEMBERS = [
  'name',
  'label',
  'type',
  'title',
  'email',
  'country',
  'state',
  'city',
  'address',
  'address2',
  'zip',
  'phone',
  'firstName',
  'lastName',
  'region',
] as const

const text = (column: string, isNullable = false): QueryField => ({ is: 'text', column, isNullable })

/** By type; a type that is not here has no entities for queries. */
export function queryTables(definitions: readonly EntityDefinition<ColumnSet>[]): ReadonlyMap<EntityType, QueryTable> {
  const tables = new Map<EntityType, QueryTable>(UNDECLARED.map((table) => [table.entityType, table]))
  for (const definition of definitions) tables.set(definition.type, declaredTable(definition))
  return tables
}

function declaredTable({ type, table, columns, name }: EntityDefinition<ColumnSet>): QueryTable {
  const own: Record<string, QueryField> = {}
  for (const member of TEXT_MEMBERS) {
    const column = columns[member]
    if (column !== undefined) own[member] = text(columnOf(member, column), column.stored.isNullable)
  }
  const customer = columns['customerId']
  const { additionalInfo } = columns
  if (additionalInfo !== undefined)
    own['additionalInfo'] = { is: 'json', column: columnOf('additionalInfo', additionalInfo) }
  return tableOf({
    entityType: type,
    table: table.name,
    nameColumn: columnOf(name, columns[name]),
    customerColumn: customer === undefined ? undefined : columnOf('customerId', customer),
    own,
    sortedFields: new Set((table.indexes ?? []).flatMap(sortedBy)),
  })
}

/** The field that an index for entity queries ends with, before the id. */
function sortedBy({ members, absentIsEmpty }: TableIndexes[number]): readonly string[] {
  return absentIsEmpty === true ? members.slice(-2, -1) : []
}

type TableIndexes = NonNullable<EntityDefinition<ColumnSet>['table']['indexes']>

interface TableParts {
  readonly entityType: EntityType
  readonly table: string
  readonly nameColumn: string
  readonly customerColumn: string | undefined
  readonly own: Readonly<Record<string, QueryField>>
  readonly sortedFields?: ReadonlySet<string>
}

function tableOf({ entityType, table, nameColumn, customerColumn, own, sortedFields }: TableParts): QueryTable {
  return {
    ...(sortedFields === undefined ? {} : { sortedFields }),
    entityType,
    table,
    tenantColumn: entityType === 'TENANT' ? 'id' : 'tenant_id',
    customerColumn: entityType === 'CUSTOMER' ? 'id' : customerColumn,
    customerRows: entityType === 'DASHBOARD' ? { table: DASHBOARD_CUSTOMERS.name, column: 'dashboard_id' } : undefined,
    fields: {
      createdTime: { is: 'number', column: 'created_time' },
      entityType: { is: 'constant', value: entityType },
      ...own,
      ...namesOf(entityType, nameColumn, own),
      ...ownersOf(entityType, customerColumn),
    },
  }
}

function namesOf(
  entityType: EntityType,
  nameColumn: string,
  own: Readonly<Record<string, QueryField>>,
): Readonly<Record<string, QueryField>> {
  const named = text(nameColumn)
  switch (entityType) {
    case 'TENANT':
    case 'CUSTOMER':
      return { name: named, title: named, label: named, displayName: named }
    case 'USER':
      return { name: named, title: named, label: named, displayName: { is: 'person' } }
    case 'API_USAGE_STATE': {
      const tenant: QueryField = { is: 'tenant-name' }
      return { name: tenant, title: tenant, label: tenant, displayName: tenant }
    }
    default: {
      const displayed: QueryField = own['label'] === undefined ? named : { is: 'first', columns: ['label', nameColumn] }
      return { name: named, title: named, displayName: displayed }
    }
  }
}

function ownersOf(entityType: EntityType, customerColumn: string | undefined): Readonly<Record<string, QueryField>> {
  if (customerColumn !== undefined) return { ownerName: { is: 'owner-name' }, ownerType: { is: 'owner-type' } }
  if (entityType !== 'DASHBOARD') return {}
  return { ownerName: { is: 'tenant-name' }, ownerType: { is: 'constant', value: 'TENANT' } }
}

const ADDITIONAL_INFO: QueryField = { is: 'json', column: 'additional_info' }

const UNDECLARED: readonly QueryTable[] = [
  tableOf({
    entityType: 'RULE_CHAIN',
    table: 'rule_chain',
    nameColumn: 'name',
    customerColumn: undefined,
    own: { type: text('type'), additionalInfo: ADDITIONAL_INFO },
  }),
]
