/** Tenants that had a device before it went to another one: their messages may still be on the way. */
import type { EntityDatabase, Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { EntityTable } from './tables/entity-table.ts'
import { RowStore } from './tables/row-store.ts'

/** The tenant of a row is the former one: it goes with that tenant, and with the device. */
export const MOVED_DEVICE_TABLE: EntityTable = {
  name: 'moved_device',
  version: 1,
  columns: [
    { name: 'device_id', type: 'text', isNullable: false, references: { table: 'device', whenDeleted: 'delete' } },
  ],
  unique: [{ columns: ['device_id', 'tenant_id'] }],
  indexes: [],
}

export interface StoredMove {
  readonly id: string
  readonly deviceId: string
  readonly formerTenantId: string
}

export interface DeviceMoved extends StoredMove {
  readonly movedTime: number
  readonly tenantId: string
}

export class MovedDeviceRepository {
  private readonly rows: RowStore

  constructor(database: EntityDatabase) {
    this.rows = new RowStore(database, MOVED_DEVICE_TABLE, {
      taken: {},
      overtaken: () => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Device' }),
    })
  }

  /** For the transaction of the move. Who gets a device back is no former tenant of it. */
  note({ id, movedTime, deviceId, formerTenantId, tenantId }: DeviceMoved): readonly Statement[] {
    return [
      this.rows.deleteAll([
        { column: 'device_id', is: deviceId },
        { column: 'tenant_id', in: [formerTenantId, tenantId] },
      ]),
      this.rows.insert({
        id,
        created_time: movedTime,
        version: 1,
        tenant_id: formerTenantId,
        device_id: deviceId,
      }),
    ]
  }

  async formerTenantsOf(deviceId: string): Promise<readonly string[]> {
    const rows = await this.rows.findAll([{ column: 'device_id', is: deviceId }])
    return rows.map((row) => String(row['tenant_id']))
  }

  /** In the order of their ids, those behind `after`. */
  async behind(after: string, limit: number): Promise<readonly StoredMove[]> {
    const rows = await this.rows.findAll([{ column: 'id', after }], limit)
    return rows.map((row) => ({
      id: String(row['id']),
      deviceId: String(row['device_id']),
      formerTenantId: String(row['tenant_id']),
    }))
  }
}
