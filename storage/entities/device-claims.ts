/** Devices that may be claimed: what each of them offered, one offer a device. */
import { defineErrors } from '../../model/errors.ts'
import type { EntityDatabase, Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { EntityTable } from './tables/entity-table.ts'
import { RowStore } from './tables/row-store.ts'

export const DEVICE_CLAIM_TABLE: EntityTable = {
  name: 'device_claim',
  version: 1,
  columns: [
    { name: 'device_id', type: 'text', isNullable: false, references: { table: 'device', whenDeleted: 'delete' } },
    { name: 'secret_hash', type: 'text', isNullable: false },
    { name: 'expires_at', type: 'integer', isNullable: false },
  ],
  unique: [{ columns: ['device_id'] }],
  indexes: [],
}

export const ClaimStoreErrors = defineErrors('claims', {
  OFFER_STANDS: { kind: 'invalid', status: 409, text: 'The device can be claimed already' },
})

export interface StoredClaim {
  readonly id: string
  readonly createdTime: number
  readonly tenantId: string
  readonly deviceId: string
  readonly secretHash: string
  /** Unix ms; the last at which it counts. */
  readonly expiresAt: number
}

export class DeviceClaimRepository {
  private readonly rows: RowStore

  constructor(database: EntityDatabase) {
    this.rows = new RowStore(database, DEVICE_CLAIM_TABLE, {
      taken: { device_id: () => ClaimStoreErrors.OFFER_STANDS() },
      overtaken: () => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Claim' }),
    })
  }

  async find(deviceId: string): Promise<StoredClaim | undefined> {
    const row = await this.rows.find([{ column: 'device_id', is: deviceId }])
    if (row === undefined) return undefined
    return {
      id: String(row['id']),
      createdTime: Number(row['created_time']),
      tenantId: String(row['tenant_id']),
      deviceId: String(row['device_id']),
      secretHash: String(row['secret_hash']),
      expiresAt: Number(row['expires_at']),
    }
  }

  /** In the place of one that is over; the transaction throws `OFFER_STANDS` where another one counts. */
  offer(claim: StoredClaim): readonly Statement[] {
    const { id, createdTime, tenantId, deviceId, secretHash, expiresAt } = claim
    return [
      this.rows.deleteAll([
        { column: 'device_id', is: deviceId },
        { column: 'expires_at', from: 0, to: createdTime - 1 },
      ]),
      this.rows.insert({
        id,
        created_time: createdTime,
        version: 1,
        tenant_id: tenantId,
        device_id: deviceId,
        secret_hash: secretHash,
        expires_at: expiresAt,
      }),
    ]
  }

  /** Whatever the device offered. */
  withdraw(deviceId: string): Statement {
    return this.rows.deleteAll([{ column: 'device_id', is: deviceId }])
  }

  /** The transaction throws `VERSION_CONFLICT` where this offer is spent or withdrawn. */
  take(claimId: string): Statement {
    const otherwise = () => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Claim' })
    return { ...this.spend(claimId), expect: { changes: 1, otherwise } }
  }

  /** Only this offer: a newer one stays. */
  spend(claimId: string): Statement {
    return this.rows.deleteAll([{ column: 'id', is: claimId }])
  }
}
