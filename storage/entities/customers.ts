/** Customers of a tenant. */
import type { Selectable } from 'kysely'
import type { Customer, Page, PageQuery } from '../../model/entities.ts'
import { jsonColumn, jsonOf } from './columns.ts'
import { statementOf, type EntityDatabase, type Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import { readPage, type PageShape } from './paging.ts'
import type { CustomerTable } from './schema.ts'

const PAGE: PageShape = {
  idColumn: 'customer.id',
  sort: { createdTime: 'customer.created_time', title: 'customer.title', name: 'customer.title' },
  search: ['customer.title'],
}

export class CustomerRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async findAnywhere(id: string): Promise<Customer | undefined> {
    const row = await this.database.builder.selectFrom('customer').selectAll().where('id', '=', id).executeTakeFirst()
    return row && customerOf(row)
  }

  async findByTitle(tenantId: string, title: string): Promise<Customer | undefined> {
    const row = await this.database.builder
      .selectFrom('customer')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .where('title', '=', title)
      .executeTakeFirst()
    return row && customerOf(row)
  }

  page(tenantId: string, query: PageQuery): Promise<Page<Customer>> {
    const filtered = this.database.builder.selectFrom('customer').selectAll().where('tenant_id', '=', tenantId)
    return readPage(this.database, filtered, PAGE, query, customerOf)
  }

  insert(customer: Customer): readonly Statement[] {
    return [statementOf(this.database.builder.insertInto('customer').values(rowOf(customer)), TITLE_UNIQUE)]
  }

  /** Replaces the version before this one. Throws `VERSION_CONFLICT` where another change came between. */
  update(customer: Customer): readonly Statement[] {
    const query = this.database.builder
      .updateTable('customer')
      .set(rowOf(customer))
      .where('id', '=', customer.id)
      .where('version', '=', customer.version - 1)
    const otherwise = () => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Customer' })
    return [statementOf(query, { ...TITLE_UNIQUE, expect: { changes: 1, otherwise } })]
  }
}

const TITLE_UNIQUE = {
  constraints: {
    'customer.tenant_id, customer.title': () => EntityStoreErrors.NAME_TAKEN({ entity: 'Customer', property: 'title' }),
  },
}

function rowOf(customer: Customer): CustomerTable {
  return {
    id: customer.id,
    created_time: customer.createdTime,
    version: customer.version,
    tenant_id: customer.tenantId,
    title: customer.title,
    additional_info: jsonColumn(customer.additionalInfo),
  }
}

function customerOf(row: Selectable<CustomerTable>): Customer {
  return {
    id: row.id,
    createdTime: row.created_time,
    version: row.version,
    tenantId: row.tenant_id,
    title: row.title,
    additionalInfo: jsonOf(row.additional_info),
  }
}
