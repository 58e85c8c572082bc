/** Persistent calls to devices: what was asked, how far it came, and what the device answered. */
import type { Page, PageQuery } from '../../model/entities.ts'
import type { EntityDatabase, Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { EntityTable, Row } from './tables/entity-table.ts'
import { RowStore, type Condition } from './tables/row-store.ts'

const text = { type: 'text', isNullable: false } as const
const optional = { type: 'text', isNullable: true } as const

export const RPC_TABLE: EntityTable = {
  name: 'rpc',
  version: 1,
  columns: [
    { name: 'device_id', ...text, references: { table: 'device', whenDeleted: 'delete' } },
    { name: 'expiration_time', type: 'integer', isNullable: false },
    { name: 'request', ...text },
    { name: 'response', ...optional },
    { name: 'status', ...text },
    { name: 'additional_info', ...optional },
    /** 1 until nothing more can become of it. */
    { name: 'is_open', type: 'integer', isNullable: false },
  ],
  unique: [],
  indexes: [
    { columns: ['device_id', 'created_time'] },
    { columns: ['is_open', 'expiration_time'] },
    { columns: ['created_time'] },
  ],
}

export interface StoredRpc {
  readonly id: string
  readonly createdTime: number
  readonly version: number
  readonly tenantId: string
  readonly deviceId: string
  readonly expirationTime: number
  /** JSON text, as the next two. */
  readonly request: string
  readonly response: string | null
  readonly additionalInfo: string | null
  readonly status: string
  readonly isOpen: boolean
}

const SORTED = {
  createdTime: 'created_time',
  expirationTime: 'expiration_time',
  request: 'request',
  response: 'response',
  status: 'status',
}
const SEARCHED = ['request', 'response', 'status']

export class RpcRepository {
  private readonly database: EntityDatabase
  private readonly rows: RowStore

  constructor(database: EntityDatabase) {
    this.database = database
    this.rows = new RowStore(database, RPC_TABLE, {
      taken: {},
      overtaken: () => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Rpc' }),
    })
  }

  async find(id: string): Promise<StoredRpc | undefined> {
    const row = await this.rows.find([{ column: 'id', is: id }])
    return row && rpcOf(row)
  }

  async page(deviceId: string, status: string | undefined, query: PageQuery): Promise<Page<StoredRpc>> {
    const where: Condition[] = [{ column: 'device_id', is: deviceId }]
    if (status !== undefined) where.push({ column: 'status', is: status })
    const ordered = query.sortProperty === undefined ? { ...query, sortProperty: 'createdTime' } : query
    const page = await this.rows.page({ where, sort: SORTED, search: SEARCHED, query: ordered })
    return { ...page, data: page.data.map(rpcOf) }
  }

  /** The oldest first. */
  async waiting(deviceId: string, limit: number): Promise<readonly StoredRpc[]> {
    const where: Condition[] = [
      { column: 'device_id', is: deviceId },
      { column: 'status', in: ['QUEUED', 'TIMEOUT'] },
      { column: 'is_open', is: 1 },
    ]
    const query = { page: 0, pageSize: limit, sortProperty: 'createdTime' }
    return (await this.rows.page({ where, sort: SORTED, search: [], query })).data.map(rpcOf)
  }

  /** Open ones whose time was over at `time` (Unix ms). */
  async overdue(time: number, limit: number): Promise<readonly StoredRpc[]> {
    const where: Condition[] = [
      { column: 'is_open', is: 1 },
      { column: 'expiration_time', from: 0, to: time },
    ]
    return (await this.rows.findAll(where, limit)).map(rpcOf)
  }

  countOpen(deviceId: string): Promise<number> {
    return this.rows.count([
      { column: 'device_id', is: deviceId },
      { column: 'is_open', is: 1 },
    ])
  }

  insert(rpc: StoredRpc): Statement {
    return this.rows.insert(rowOf(rpc))
  }

  update(rpc: StoredRpc): Statement {
    return this.rows.update(rowOf(rpc))
  }

  delete(rpc: StoredRpc): Statement {
    return this.rows.delete(rpc)
  }

  /** Removes all but so many of the newest calls of the device that are over. */
  keepPast(deviceId: string, count: number): Statement {
    return this.rows.keepNewest({ device_id: deviceId, is_open: 0 }, count)
  }

  deleteOf(deviceId: string): Statement {
    return this.rows.deleteAll([{ column: 'device_id', is: deviceId }])
  }

  /** Removes at most `limit` of those made before `time` (Unix ms). */
  async removeOlder(time: number, limit: number): Promise<void> {
    await this.database.write([this.rows.deleteOldest([{ column: 'created_time', from: 0, to: time - 1 }], limit)])
  }
}

function rowOf(rpc: StoredRpc): Row {
  return {
    id: rpc.id,
    created_time: rpc.createdTime,
    version: rpc.version,
    tenant_id: rpc.tenantId,
    device_id: rpc.deviceId,
    expiration_time: rpc.expirationTime,
    request: rpc.request,
    response: rpc.response,
    status: rpc.status,
    additional_info: rpc.additionalInfo,
    is_open: rpc.isOpen ? 1 : 0,
  }
}

function rpcOf(row: Row): StoredRpc {
  const word = (column: string): string => String(row[column] ?? '')
  const maybe = (column: string): string | null => (row[column] === null ? null : word(column))
  return {
    id: word('id'),
    createdTime: Number(row['created_time']),
    version: Number(row['version']),
    tenantId: word('tenant_id'),
    deviceId: word('device_id'),
    expirationTime: Number(row['expiration_time']),
    request: word('request'),
    response: maybe('response'),
    additionalInfo: maybe('additional_info'),
    status: word('status'),
    isOpen: Number(row['is_open']) === 1,
  }
}
