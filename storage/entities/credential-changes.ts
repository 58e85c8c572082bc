/**
 * Which devices' credentials were replaced or went with their device lately, so that a process that may have missed changes asks for these
 * at once. Rows are added and never changed, so that writers do not wait for each other.
 */
import { statementOf, type EntityDatabase, type Statement } from './database.ts'

/** A process that was cut off for longer looks at all its devices in turns only. */
const KEPT_MS = 3_600_000
/** Of rows that are over; more than a change adds. */
const ROWS_PER_REMOVAL = 100

export class CredentialChangeRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  /** Steps of the transaction that makes the change; `now` is Unix ms. */
  note(deviceId: string, now: number): readonly Statement[] {
    const { builder, isShared } = this.database
    const over = builder
      .selectFrom('credential_change')
      .select('id')
      .where('changed_time', '<', now - KEPT_MS)
      .limit(ROWS_PER_REMOVAL)
    // Two transactions that remove the same rows would wait for each other.
    const mine = isShared ? over.forUpdate().skipLocked() : over
    return [
      statementOf(builder.insertInto('credential_change').values({ device_id: deviceId, changed_time: now })),
      statementOf(builder.deleteFrom('credential_change').where('id', 'in', mine)),
    ]
  }

  /** Devices, newest change first, at most `limit`, of changes noted at `since` (Unix ms) or later. */
  async since(since: number, limit: number): Promise<readonly string[]> {
    const rows = await this.database.builder
      .selectFrom('credential_change')
      .select('device_id')
      .where('changed_time', '>=', since)
      .groupBy('device_id')
      .orderBy(({ fn }) => fn.max('changed_time'), 'desc')
      .limit(limit)
      .execute()
    return rows.map(({ device_id }) => device_id)
  }
}
