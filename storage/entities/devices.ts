/** What is asked of devices so often that it is one read over several tables. The rest is declared (`services/entities/device.ts`). */
import { ATTRIBUTE_SCOPE_NUMBERS } from './attribute-columns.ts'
import { sql } from 'kysely'
import { sqlValue, type EntityDatabase, type Statement } from './database.ts'
import { queueNameOf } from './queues.ts'

export class DeviceRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  /** Ids of devices that are active, or were connected and not disconnected since, behind `after` in their order. */
  async findActive(after: string, limit: number): Promise<readonly string[]> {
    // Two reads: as one, with `or`, it would look at every attribute.
    const [active, connected] = await Promise.all([this.findWithActive(after, limit), this.findConnected(after, limit)])
    return [...new Set([...active, ...connected])].sort().slice(0, limit)
  }

  private async findWithActive(after: string, limit: number): Promise<readonly string[]> {
    const rows = await this.database.builder
      .selectFrom('attribute')
      .innerJoin('device', 'device.id', 'attribute.entity_id')
      .select('device.id')
      .where('attribute.entity_id', '>', after)
      .where('attribute.scope', '=', ATTRIBUTE_SCOPE_NUMBERS.SERVER_SCOPE)
      .where('attribute.key', '=', 'active')
      .where('attribute.long_value', '=', 1)
      .orderBy('attribute.entity_id')
      .limit(limit)
      .execute()
    return rows.map(({ id }) => id)
  }

  private async findConnected(after: string, limit: number): Promise<readonly string[]> {
    const rows = await this.database.builder
      .selectFrom('attribute as came')
      .innerJoin('device', 'device.id', 'came.entity_id')
      .leftJoin('attribute as went', (join) =>
        join
          .onRef('went.entity_id', '=', 'came.entity_id')
          .onRef('went.scope', '=', 'came.scope')
          .on('went.key', '=', 'lastDisconnectTime'),
      )
      .select('device.id')
      .where('came.entity_id', '>', after)
      .where('came.scope', '=', ATTRIBUTE_SCOPE_NUMBERS.SERVER_SCOPE)
      .where('came.key', '=', 'lastConnectTime')
      .where((at) => at('came.long_value', '>', at.fn.coalesce('went.long_value', at.lit(0))))
      .orderBy('came.entity_id')
      .limit(limit)
      .execute()
    return rows.map(({ id }) => id)
  }

  /** A step that undoes the transaction with this error where an entity view shows the device. */
  requireUnviewed(
    { id, tenantId }: { readonly id: string; readonly tenantId: string },
    otherwise: () => Error,
  ): Statement {
    const views = sql`select 1 from entity_view where tenant_id = ${tenantId} and entity_id = ${`DEVICE ${id}`}`
    const query = sql`update device set version = version where id = ${id} and not exists (${views})`
    const { sql: text, parameters } = query.compile(this.database.builder)
    return { sql: text, parameters: parameters.map(sqlValue), expect: { changes: 1, otherwise } }
  }

  /** Changes nothing; undoes the transaction where the device is not the tenant's. */
  requireTenant(deviceId: string, tenantId: string, otherwise: () => Error): Statement {
    const query = sql`update device set version = version where id = ${deviceId} and tenant_id = ${tenantId}`
    const { sql: text, parameters } = query.compile(this.database.builder)
    return { sql: text, parameters: parameters.map(sqlValue), expect: { changes: 1, otherwise } }
  }

  /** Where its profile sends the device's messages: null means the tenant's root chain, and the queue `Main`. */
  async destinationOf(deviceId: string): Promise<{ ruleChainId: string | null; queueName: string | null }> {
    const row = await this.database.builder
      .selectFrom('device')
      .innerJoin('device_profile', 'device_profile.id', 'device.device_profile_id')
      .leftJoin('queue', (join) =>
        join
          .onRef('queue.tenant_id', '=', 'device_profile.tenant_id')
          .onRef('queue.name', '=', 'device_profile.default_queue_name'),
      )
      .select([
        'device.tenant_id',
        'device_profile.default_rule_chain_id',
        'device_profile.default_queue_name',
        'queue.id as own_queue_id',
      ])
      .where('device.id', '=', deviceId)
      .executeTakeFirst()
    if (row === undefined) return { ruleChainId: null, queueName: null }
    const { tenant_id, default_rule_chain_id: ruleChainId, default_queue_name: name, own_queue_id } = row
    return { ruleChainId, queueName: name === null || name === '' ? null : queueNameOf(tenant_id, name, own_queue_id) }
  }
}
