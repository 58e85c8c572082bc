/** Tenants: who owns everything else. */
import type { Selectable } from 'kysely'
import type { Tenant } from '../../model/entities.ts'
import { jsonColumn, jsonOf } from './columns.ts'
import { statementOf, type EntityDatabase, type Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { TenantTable } from './schema.ts'

export class TenantRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async find(id: string): Promise<Tenant | undefined> {
    const row = await this.database.builder.selectFrom('tenant').selectAll().where('id', '=', id).executeTakeFirst()
    return row && tenantOf(row)
  }

  async all(): Promise<readonly Tenant[]> {
    const rows = await this.database.builder
      .selectFrom('tenant')
      .selectAll()
      .orderBy('created_time')
      .orderBy('id')
      .execute()
    return rows.map(tenantOf)
  }

  insert(tenant: Tenant): readonly Statement[] {
    const row = {
      id: tenant.id,
      created_time: tenant.createdTime,
      version: tenant.version,
      title: tenant.title,
      additional_info: jsonColumn(tenant.additionalInfo),
    }
    const taken = () => EntityStoreErrors.NAME_TAKEN({ entity: 'Tenant', property: 'title' })
    return [
      statementOf(this.database.builder.insertInto('tenant').values(row), { constraints: { 'tenant.title': taken } }),
    ]
  }
}

function tenantOf(row: Selectable<TenantTable>): Tenant {
  return {
    id: row.id,
    createdTime: row.created_time,
    version: row.version,
    title: row.title,
    additionalInfo: jsonOf(row.additional_info),
  }
}
