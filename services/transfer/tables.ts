/** What of a tenant is taken along, table by table, in the order in which it can be brought in. It follows from the declarations. */
import type { EntityTable } from '../../storage/entities/tables/entity-table.ts'
import type { TransferTable } from '../../storage/entities/transfer-rows.ts'
import { DECLARED, DECLARED_TABLES } from '../entities/declared.ts'

/** The system's own, what is under way, and the audit log, which stays where it was written. */
const LEFT = new Set([
  ...['tenant', 'tenant_profile', 'audit_log', 'admin_settings'],
  // Whose it was there says nothing here.
  'moved_device',
  // Of connections there.
  'device_session',
  // Sealed under the key of there, for nodes of there: what was before stays where it was.
  'rule_chain_version',
  // The same: keys are sealed under the key of there.
  'ai_model',
  'integration',
  // Both platforms would send, tell and work at them.
  ...[
    'rpc',
    'transfer',
    'transfer_line',
    'notification_request',
    'ota_update',
    'job',
    'queue_stats',
    'api_usage_state',
    'api_usage_count',
  ],
])

/** Rows that are found as the same by these, where they are so. */
export interface Match {
  readonly columns: readonly string[]
  /** Only among rows that have these. */
  readonly where: Readonly<Record<string, number>>
}

export interface TakenTable extends TransferTable {
  /** A row that is like another by these is the same though its id is another; where that is another tenant's, it stands in the way. */
  readonly matches: readonly Match[]
  /** By table: the columns that name its rows. */
  readonly names: Readonly<Record<string, string>>
  /** Tables whose rows are a part of this one's: they go with it, in its transaction, under the name of their table. */
  readonly parts: readonly TakenTable[]
  /** Columns that name rows of other parts of the same, and in which part; of the row itself too. */
  readonly inside: Readonly<Record<string, string>>
  /** Columns that mean nothing elsewhere, and what they are there. */
  readonly fresh: Readonly<Record<string, number | null>>
}

const NOTHING = { matches: [], names: {}, parts: [], inside: {}, fresh: {} } as const
const BY_TENANT = { column: 'tenant_id', of: [] } as const

/** Older than the declarations. */
const DEFAULTS: Readonly<Record<string, readonly Match[]>> = {
  device_profile: [{ columns: ['tenant_id'], where: { is_default: 1 } }],
  asset_profile: [{ columns: ['tenant_id'], where: { is_default: 1 } }],
  rule_chain: [{ columns: ['tenant_id', 'type'], where: { root: 1 } }],
}
/** A chain that had nodes and no connections yet would lose messages. */
const OF_CHAINS: readonly TakenTable[] = [
  { ...NOTHING, name: 'rule_node', keys: ['id'], owner: { column: 'rule_chain_id', of: ['rule_chain'] } },
  {
    ...{ ...NOTHING, name: 'rule_node_connection', keys: ['rule_chain_id', 'from_node_id', 'to_node_id', 'type'] },
    owner: { column: 'rule_chain_id', of: ['rule_chain'] },
    inside: { from_node_id: 'rule_node', to_node_id: 'rule_node' },
  },
]
const WITH_PARTS: Readonly<Record<string, Pick<TakenTable, 'parts' | 'inside'>>> = {
  rule_chain: { parts: OF_CHAINS, inside: { first_rule_node_id: 'rule_node' } },
}

function takenOf({ name, unique, columns }: EntityTable): TakenTable {
  const found = unique.flatMap(({ columns: names, where }): Match[] => {
    const [, column, value] = /^(\w+) = (\d+)$/.exec(where ?? '') ?? []
    if (where !== undefined && column === undefined) return []
    return [{ columns: names, where: column === undefined ? {} : { [column]: Number(value) } }]
  })
  const named = columns.flatMap(({ name: column, references }) =>
    references === undefined ? [] : [[references.table, column] as const],
  )
  return {
    ...NOTHING,
    name,
    keys: ['id'],
    owner: BY_TENANT,
    matches: [...(DEFAULTS[name] ?? []), ...found],
    names: Object.fromEntries(named),
    ...WITH_PARTS[name],
  }
}

const ENTITIES = DECLARED.map(({ storedAs }) => storedAs)
const ENTITY_NAMES = ENTITIES.map(({ name }) => name).filter((name) => !LEFT.has(name))
const DECLARED_PARTS = DECLARED_TABLES.slice(ENTITIES.length)

/** Where whatever a row names is looked for. */
export const NAMED: readonly string[] = ['tenant', ...ENTITY_NAMES]

/** Those that the first releases made, which no declaration says all of. */
const QUEUE: TakenTable = {
  ...{ ...NOTHING, name: 'queue', keys: ['id'], owner: BY_TENANT },
  matches: [{ columns: ['tenant_id', 'name'], where: {} }],
}
const OF_OTHERS: readonly TakenTable[] = [
  {
    ...{ ...NOTHING, name: 'device_credentials', keys: ['id'], owner: BY_TENANT },
    matches: [
      { columns: ['device_id'], where: {} },
      { columns: ['credentials_id'], where: {} },
    ],
    names: { device: 'device_id' },
  },
  {
    ...{ ...NOTHING, name: 'user_credentials', keys: ['user_id'], owner: { column: 'user_id', of: ['app_user'] } },
    names: { app_user: 'user_id' },
  },
  {
    ...{ ...NOTHING, name: 'attribute', keys: ['entity_id', 'scope', 'key'], fresh: { sequence: 0, writer: null } },
    owner: { column: 'entity_id', of: ['tenant', ...ENTITY_NAMES] },
  },
]

export const TAKEN: readonly TakenTable[] = [
  QUEUE,
  ...ENTITIES.filter(({ name }) => !LEFT.has(name)).map(takenOf),
  ...DECLARED_PARTS.filter(({ name, isInherited }) => isInherited !== true && !LEFT.has(name)).map(takenOf),
  ...OF_OTHERS,
]
