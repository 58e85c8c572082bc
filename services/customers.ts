/** Customers of a tenant (`rest-api.md` 11). */
import type { Clock, Random } from '../model/clock.ts'
import type { Customer, Page, PageQuery } from '../model/entities.ts'
import { stringifyJson, type JsonValue } from '../model/json.ts'
import type { Principal } from '../model/principal.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import type { Changes } from './changes.ts'
import { customerJson } from './entity-json.ts'
import { itemNotFound, ServiceErrors } from './errors.ts'
import { checkName } from './names.ts'
import type { CustomerService } from './services.ts'

const PUBLIC_TITLE = 'Public'

export class StoredCustomers implements CustomerService {
  private readonly entities: EntityStore
  private readonly changes: Changes
  private readonly clock: Clock
  private readonly random: Random

  constructor(entities: EntityStore, changes: Changes, clock: Clock, random: Random) {
    this.entities = entities
    this.changes = changes
    this.clock = clock
    this.random = random
  }

  async find(tenantId: string, id: string): Promise<Customer | undefined> {
    const customer = await this.entities.customers.findAnywhere(id)
    return customer?.tenantId === tenantId ? customer : undefined
  }

  findByTitle(tenantId: string, title: string): Promise<Customer | undefined> {
    return this.entities.customers.findByTitle(tenantId, title)
  }

  async publicByUser(principal: Principal): Promise<Customer> {
    if (principal.tenantId === null) throw ServiceErrors.PERMISSION_DENIED()
    const found = await this.findByTitle(principal.tenantId, PUBLIC_TITLE)
    return found ?? this.save(principal, { title: PUBLIC_TITLE, additionalInfo: { isPublic: true } })
  }

  page(tenantId: string, page: PageQuery): Promise<Page<Customer>> {
    return this.entities.customers.page(tenantId, page)
  }

  async save(
    principal: Principal,
    draft: { readonly id?: string; readonly title: string; readonly additionalInfo?: JsonValue },
  ): Promise<Customer> {
    const { tenantId } = principal
    if (tenantId === null) throw ServiceErrors.PERMISSION_DENIED()
    checkName('Customer', 'title', draft.title)
    const before = draft.id === undefined ? undefined : await this.find(tenantId, draft.id)
    if (draft.id !== undefined && before === undefined) throw itemNotFound({ entityType: 'CUSTOMER', id: draft.id })
    const customer: Customer = {
      id: before?.id ?? this.random.uuid(),
      createdTime: before?.createdTime ?? this.clock.now(),
      version: (before?.version ?? 0) + 1,
      tenantId,
      title: draft.title,
      additionalInfo: draft.additionalInfo ?? null,
    }
    const { customers } = this.entities
    await this.changes.commit(before === undefined ? customers.insert(customer) : customers.update(customer), {
      type: before === undefined ? 'ENTITY_CREATED' : 'ENTITY_UPDATED',
      principal,
      tenantId,
      customerId: customer.id,
      originator: { entityType: 'CUSTOMER', id: customer.id },
      metadata: { entityName: customer.title, entityType: 'CUSTOMER' },
      data: stringifyJson(customerJson(customer)),
    })
    return customer
  }
}
