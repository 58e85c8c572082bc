/** Devices, and what is read together with them: their profile's name, their customer's title, whether they are active. */
import type { Selectable } from 'kysely'
import type { Device, Page, PageQuery } from '../../model/entities.ts'
import { ATTRIBUTE_SCOPE_NUMBERS } from './attribute-columns.ts'
import { jsonColumn, jsonObjectOf, jsonOf } from './columns.ts'
import { statementOf, type EntityDatabase, type Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import { readPage, type PageShape } from './paging.ts'
import { queueNameOf } from './queues.ts'
import type { DeviceTable } from './schema.ts'

export interface DeviceWithNames extends Device {
  readonly customerTitle: string | null
  readonly deviceProfileName: string
  readonly active: boolean
}

export interface DeviceFilter {
  readonly customerId?: string | undefined
  readonly type?: string | undefined
  readonly deviceProfileId?: string | undefined
  readonly active?: boolean | undefined
}

const SORT = {
  createdTime: 'device.created_time',
  name: 'device.name',
  type: 'device_profile.name',
  label: 'device.label',
  deviceProfileName: 'device_profile.name',
  customerTitle: 'customer.title',
  active: 'active.long_value',
}

const PAGE: PageShape = { idColumn: 'device.id', sort: SORT, search: ['device.name'] }

const INFO_PAGE: PageShape = {
  idColumn: 'device.id',
  sort: SORT,
  search: ['device.name', 'device.label', 'device_profile.name', 'customer.title'],
}

/** SQLite takes 32,766 parameters a statement; a list of ids is cut into pieces of this many. */
const IDS_PER_READ = 1_000

interface DeviceRow extends Selectable<DeviceTable> {
  profile_name: string
  customer_title: string | null
  active_value: number | bigint | null
}

export class DeviceRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async findAnywhere(id: string): Promise<DeviceWithNames | undefined> {
    const row = await this.select().where('device.id', '=', id).executeTakeFirst()
    return row && deviceOf(row)
  }

  async findByName(tenantId: string, name: string): Promise<Device | undefined> {
    const row = await this.select()
      .where('device.tenant_id', '=', tenantId)
      .where('device.name', '=', name)
      .executeTakeFirst()
    return row && deviceOf(row)
  }

  async findByIds(tenantId: string, ids: readonly string[]): Promise<readonly Device[]> {
    const found: Device[] = []
    for (let start = 0; start < ids.length; start += IDS_PER_READ) {
      const rows = await this.select()
        .where('device.tenant_id', '=', tenantId)
        .where('device.id', 'in', ids.slice(start, start + IDS_PER_READ))
        .orderBy('device.id')
        .execute()
      found.push(...rows.map(deviceOf))
    }
    return found
  }

  /** `searchInfo`: the text search looks at label, type and customer too, as the info lists do. */
  page(tenantId: string, filter: DeviceFilter, query: PageQuery, searchInfo: boolean): Promise<Page<DeviceWithNames>> {
    let filtered = this.select().where('device.tenant_id', '=', tenantId)
    if (filter.customerId !== undefined) filtered = filtered.where('device.customer_id', '=', filter.customerId)
    if (filter.type !== undefined) filtered = filtered.where('device_profile.name', '=', filter.type)
    if (filter.deviceProfileId !== undefined)
      filtered = filtered.where('device.device_profile_id', '=', filter.deviceProfileId)
    if (filter.active === true) filtered = filtered.where('active.long_value', '=', 1)
    if (filter.active === false) {
      filtered = filtered.where((where) =>
        where.or([where('active.long_value', 'is', null), where('active.long_value', '!=', 1)]),
      )
    }
    return readPage(this.database, filtered, searchInfo ? INFO_PAGE : PAGE, query, deviceOf)
  }

  /** Ids of devices that are active, behind `after` in their order. */
  async findActive(after: string, limit: number): Promise<readonly string[]> {
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

  insert(device: Device): readonly Statement[] {
    return [statementOf(this.database.builder.insertInto('device').values(rowOf(device)), NAME_UNIQUE)]
  }

  /** Replaces the version before this one. Throws `VERSION_CONFLICT` where another change came between. */
  update(device: Device): readonly Statement[] {
    const query = this.database.builder
      .updateTable('device')
      .set(rowOf(device))
      .where('id', '=', device.id)
      .where('version', '=', device.version - 1)
    return [statementOf(query, { ...NAME_UNIQUE, expect: { changes: 1, otherwise: changedBetween } })]
  }

  /** From a customer that goes; a change of each. */
  unassignAll(customerId: string): Statement {
    const query = this.database.builder
      .updateTable('device')
      .set((device) => ({ customer_id: null, version: device('version', '+', 1) }))
      .where('customer_id', '=', customerId)
    return statementOf(query)
  }

  /** The device with its credentials and attributes. Throws `VERSION_CONFLICT` where it is not this version any more. */
  delete(device: Device): readonly Statement[] {
    const { builder } = this.database
    return [
      statementOf(builder.deleteFrom('device').where('id', '=', device.id).where('version', '=', device.version), {
        expect: { changes: 1, otherwise: changedBetween },
      }),
      statementOf(builder.deleteFrom('attribute').where('entity_id', '=', device.id)),
    ]
  }

  private select() {
    return this.database.builder
      .selectFrom('device')
      .innerJoin('device_profile', 'device_profile.id', 'device.device_profile_id')
      .leftJoin('customer', 'customer.id', 'device.customer_id')
      .leftJoin('attribute as active', (join) =>
        join
          .onRef('active.entity_id', '=', 'device.id')
          .on('active.scope', '=', ATTRIBUTE_SCOPE_NUMBERS.SERVER_SCOPE)
          .on('active.key', '=', 'active'),
      )
      .selectAll('device')
      .select([
        'device_profile.name as profile_name',
        'customer.title as customer_title',
        'active.long_value as active_value',
      ])
  }
}

const NAME_UNIQUE = {
  constraints: {
    'device.tenant_id, device.name': () => EntityStoreErrors.NAME_TAKEN({ entity: 'Device', property: 'name' }),
  },
}

function changedBetween(): Error {
  return EntityStoreErrors.VERSION_CONFLICT({ entity: 'Device' })
}

function rowOf(device: Device): DeviceTable {
  return {
    id: device.id,
    created_time: device.createdTime,
    version: device.version,
    tenant_id: device.tenantId,
    customer_id: device.customerId,
    device_profile_id: device.deviceProfileId,
    name: device.name,
    label: device.label,
    device_data: jsonColumn(device.deviceData),
    additional_info: jsonColumn(device.additionalInfo),
  }
}

function deviceOf(row: DeviceRow): DeviceWithNames {
  return {
    id: row.id,
    createdTime: row.created_time,
    version: row.version,
    tenantId: row.tenant_id,
    customerId: row.customer_id,
    deviceProfileId: row.device_profile_id,
    name: row.name,
    type: row.profile_name,
    label: row.label,
    deviceData: jsonObjectOf(row.device_data),
    additionalInfo: jsonOf(row.additional_info),
    customerTitle: row.customer_title,
    deviceProfileName: row.profile_name,
    active: row.active_value === 1,
  }
}
