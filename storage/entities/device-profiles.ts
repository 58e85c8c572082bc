/** What is asked of device profiles over all tenants. The rest is declared (`services/entities/device-profile.ts`). */
import type { EntityDatabase } from './database.ts'

/** As many as a refusal names. */
const MAX_NAMES = 10

export class DeviceProfileRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  /** Names of the profiles whose devices' messages go to the queue of that name; `tenantId` absent: of every tenant. */
  async namesUsingQueue(queueName: string, tenantId?: string): Promise<readonly string[]> {
    let query = this.database.builder
      .selectFrom('device_profile')
      .select('name')
      .where('default_queue_name', '=', queueName)
      .orderBy('name')
      .limit(MAX_NAMES)
    if (tenantId !== undefined) query = query.where('tenant_id', '=', tenantId)
    return (await query.execute()).map((row) => row.name)
  }
}
