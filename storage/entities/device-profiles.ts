/** Device profiles: what devices of one type have in common. */
import type { Selectable } from 'kysely'
import type { DeviceProfile, Page, PageQuery } from '../../model/entities.ts'
import { booleanColumn, jsonColumn, jsonObjectOf } from './columns.ts'
import { statementOf, type EntityDatabase, type Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import { readPage, type PageShape } from './paging.ts'
import type { DeviceProfileTable } from './schema.ts'

const PAGE: PageShape = {
  idColumn: 'device_profile.id',
  sort: {
    createdTime: 'device_profile.created_time',
    name: 'device_profile.name',
    transportType: 'device_profile.transport_type',
    description: 'device_profile.description',
    default: 'device_profile.is_default',
    isDefault: 'device_profile.is_default',
  },
  search: ['device_profile.name'],
}

/** As many as a refusal names. */
const MAX_NAMES = 10

export class DeviceProfileRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async findAnywhere(id: string): Promise<DeviceProfile | undefined> {
    const row = await this.database.builder
      .selectFrom('device_profile')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row && profileOf(row)
  }

  async findDefault(tenantId: string): Promise<DeviceProfile | undefined> {
    const row = await this.database.builder
      .selectFrom('device_profile')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .where('is_default', '=', 1)
      .executeTakeFirst()
    return row && profileOf(row)
  }

  async findByName(tenantId: string, name: string): Promise<DeviceProfile | undefined> {
    const row = await this.database.builder
      .selectFrom('device_profile')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .where('name', '=', name)
      .executeTakeFirst()
    return row && profileOf(row)
  }

  /** Whether any profile names the chain as its default. */
  async namesRuleChain(ruleChainId: string): Promise<boolean> {
    const row = await this.database.builder
      .selectFrom('device_profile')
      .select('id')
      .where('default_rule_chain_id', '=', ruleChainId)
      .limit(1)
      .executeTakeFirst()
    return row !== undefined
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

  async hasDevices(id: string): Promise<boolean> {
    const row = await this.database.builder
      .selectFrom('device')
      .select('id')
      .where('device_profile_id', '=', id)
      .limit(1)
      .executeTakeFirst()
    return row !== undefined
  }

  page(tenantId: string, query: PageQuery): Promise<Page<DeviceProfile>> {
    const filtered = this.database.builder.selectFrom('device_profile').selectAll().where('tenant_id', '=', tenantId)
    return readPage(this.database, filtered, PAGE, query, profileOf)
  }

  insert(profile: DeviceProfile): readonly Statement[] {
    return [statementOf(this.database.builder.insertInto('device_profile').values(rowOf(profile)), NAME_UNIQUE)]
  }

  /** Replaces the version before this one. Throws `VERSION_CONFLICT` where another change came between. */
  update(profile: DeviceProfile): readonly Statement[] {
    const query = this.database.builder
      .updateTable('device_profile')
      .set(rowOf(profile))
      .where('id', '=', profile.id)
      .where('version', '=', profile.version - 1)
    return [statementOf(query, { ...NAME_UNIQUE, expect: { changes: 1, otherwise: changedBetween } })]
  }

  /** The profile with its attributes. Throws `VERSION_CONFLICT` where it is not this version any more. */
  delete(profile: DeviceProfile): readonly Statement[] {
    const { builder } = this.database
    const query = builder
      .deleteFrom('device_profile')
      .where('id', '=', profile.id)
      .where('version', '=', profile.version)
    return [
      statementOf(query, { expect: { changes: 1, otherwise: changedBetween } }),
      statementOf(builder.deleteFrom('attribute').where('entity_id', '=', profile.id)),
    ]
  }
}

const NAME_UNIQUE = {
  constraints: {
    'device_profile.tenant_id, device_profile.name': () =>
      EntityStoreErrors.NAME_TAKEN({ entity: 'Device profile', property: 'name' }),
  },
}

function changedBetween(): Error {
  return EntityStoreErrors.VERSION_CONFLICT({ entity: 'Device profile' })
}

function rowOf(profile: DeviceProfile): DeviceProfileTable {
  return {
    id: profile.id,
    created_time: profile.createdTime,
    version: profile.version,
    tenant_id: profile.tenantId,
    name: profile.name,
    description: profile.description,
    is_default: booleanColumn(profile.isDefault),
    transport_type: profile.transportType,
    provision_type: profile.provisionType,
    default_rule_chain_id: profile.defaultRuleChainId,
    default_queue_name: profile.defaultQueueName,
    profile_data: jsonColumn(profile.profileData),
  }
}

function profileOf(row: Selectable<DeviceProfileTable>): DeviceProfile {
  return {
    id: row.id,
    createdTime: row.created_time,
    version: row.version,
    tenantId: row.tenant_id,
    name: row.name,
    description: row.description,
    isDefault: row.is_default === 1,
    type: 'DEFAULT',
    transportType: row.transport_type as DeviceProfile['transportType'],
    provisionType: row.provision_type as DeviceProfile['provisionType'],
    defaultRuleChainId: row.default_rule_chain_id,
    defaultQueueName: row.default_queue_name,
    profileData: jsonObjectOf(row.profile_data),
  }
}
