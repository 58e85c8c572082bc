/** What is special about dashboards: the customers that have one, and the dashboard that a user starts with (`rest-api.md` 14.1). */
import type { Clock, Random } from '../../model/clock.ts'
import { isUuid } from '../../model/entity-id.ts'
import { isJsonObject, type JsonValue } from '../../model/json.ts'
import type { Page, PageQuery } from '../../model/entities.ts'
import type { KnownMessageType } from '../../model/message-type.ts'
import type { Metadata } from '../../model/message.ts'
import type { Principal } from '../../model/principal.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Condition } from '../../storage/entities/tables/row-store.ts'
import { customers, type Customer } from '../entities/customer.ts'
import {
  assignStatement,
  assignedCustomerIds,
  customersWith,
  ofCustomer,
  shownCustomer,
  toldCustomers,
  unassignStatement,
} from '../entities/dashboard-customers.ts'
import { dashboards, type Dashboard } from '../entities/dashboard.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import type { EntityService } from '../entities/entity-service.ts'
import { tenants } from '../entities/tenant.ts'
import { itemNotFound } from '../errors.ts'

export interface DashboardsParts {
  readonly declared: EntityRegistry
  readonly entities: EntityStore
  /** Of dashboards that were read those that the user may read. */
  readonly readable: (principal: Principal, dashboards: readonly Owned[]) => readonly Owned[]
  readonly users: Informed
  readonly clock: Clock
  readonly random: Random
}

interface Owned {
  readonly id: string
  readonly tenantId: string
  readonly customerId: null
  readonly customerIds: readonly string[]
}

interface Informed {
  find(id: string): Promise<{ readonly additionalInfo: JsonValue } | undefined>
}

export interface HomeDashboard {
  readonly dashboardId: string
  readonly hideDashboardToolbar: boolean
}

export interface HomeSetting {
  /** Undefined: none. */
  readonly dashboardId: string | undefined
  readonly hideDashboardToolbar: boolean
}

export class Dashboards {
  private readonly parts: DashboardsParts
  private readonly service: EntityService<typeof dashboards.columns>

  constructor(parts: DashboardsParts) {
    this.parts = parts
    this.service = parts.declared.of(dashboards)
  }

  /** `mobile`: without those that hide there, in the order that they have there. */
  page(
    filter: { readonly tenantId: string; readonly customerId?: string; readonly mobile?: boolean | undefined },
    query: PageQuery,
  ): Promise<Page<Dashboard>> {
    const { tenantId, customerId, mobile } = filter
    const where: Condition[] = [{ column: 'tenant_id', is: tenantId }]
    if (customerId !== undefined) where.push(ofCustomer(customerId))
    if (mobile !== true) return this.service.pageWhere({ where, query })
    where.push({ column: 'mobile_hide', is: 0 })
    return this.service.pageWhere({ where, query, first: [{ column: 'mobile_order', direction: 'ASC' }] })
  }

  /** Nothing happens to those that have it already. */
  assign(principal: Principal, dashboardId: string, wanted: readonly Customer[]): Promise<Dashboard> {
    return this.change(principal, dashboardId, () => ({ added: wanted, gone: [] }))
  }

  /** Nothing happens to those that do not have it. */
  unassign(principal: Principal, dashboardId: string, customerIds: readonly string[]): Promise<Dashboard> {
    return this.change(principal, dashboardId, () => ({ added: [], gone: customerIds }))
  }

  /** These, and no others. */
  setCustomers(principal: Principal, dashboardId: string, wanted: readonly Customer[]): Promise<Dashboard> {
    const kept = new Set(wanted.map(({ id }) => id))
    return this.change(principal, dashboardId, (assigned) => ({
      added: wanted,
      gone: assigned.filter((id) => !kept.has(id)),
    }))
  }

  /** One transaction, with a message for each customer. */
  private async change(
    principal: Principal,
    dashboardId: string,
    changeOf: (assigned: readonly string[]) => { added: readonly Customer[]; gone: readonly string[] },
  ): Promise<Dashboard> {
    const { clock, entities, random } = this.parts
    const dashboard = await this.required(dashboardId)
    const [before = []] = await customersWith([dashboard], this.parts.declared)
    const assigned = new Map(before.map((customer) => [customer.id, customer]))
    const { added, gone } = changeOf([...assigned.keys()])
    const statements: Statement[] = []
    const heard: { readonly type: KnownMessageType; readonly metadata: Metadata }[] = []
    for (const customerId of gone) {
      const customer = assigned.get(customerId)
      if (customer === undefined) continue
      assigned.delete(customerId)
      const metadata = { unassignedCustomerId: customerId, unassignedCustomerName: customer.title }
      statements.push(unassignStatement(entities, dashboardId, customerId))
      heard.push({ type: 'ENTITY_UNASSIGNED', metadata })
    }
    for (const customer of added) {
      const { id: customerId, title } = customer
      if (assigned.has(customerId)) continue
      assigned.set(customerId, customer)
      const row = { id: random.uuid(), createdTime: clock.now(), tenantId: dashboard.tenantId, dashboardId, customerId }
      statements.push(assignStatement(entities, row))
      heard.push({
        type: 'ENTITY_ASSIGNED',
        metadata: { assignedCustomerId: customerId, assignedCustomerName: title },
      })
    }
    const read = toldCustomers([...assigned.values()].map(shownCustomer), heard.length)
    const [first, ...also] = heard.map((each) => ({ ...each, read }))
    if (first === undefined) return dashboard
    const members = assigned.size === 0 ? {} : { wasAssigned: true }
    return this.service.changeByUser(principal, dashboard, members, { ...first, statements, also })
  }

  /** The user's own, else the customer's, else the tenant's; undefined where that is none that the user may see. */
  async homeOf(principal: Principal): Promise<HomeDashboard | undefined> {
    const { tenantId, customerId, userId } = principal
    if (tenantId === null) return undefined
    const { declared, users } = this.parts
    const user = homeIn((await users.find(userId))?.additionalInfo)
    const customer = customerId === null ? undefined : await declared.of(customers).find(tenantId, customerId)
    const home = user ?? homeIn(customer?.additionalInfo) ?? (await this.tenantHome(tenantId))
    const dashboard = home && (await this.service.find(tenantId, home.dashboardId))
    if (home === undefined || dashboard === undefined) return undefined
    const owned = { ...dashboard, customerId: null, customerIds: await this.customerIds(dashboard) }
    return this.parts.readable(principal, [owned]).length === 1 ? home : undefined
  }

  /** What the tenant's own setting says, whether such a dashboard is there or not. */
  async tenantHome(tenantId: string): Promise<HomeDashboard | undefined> {
    return homeIn((await this.parts.declared.of(tenants).findAnywhere(tenantId))?.additionalInfo)
  }

  async setTenantHome(principal: Principal, tenantId: string, home: HomeSetting): Promise<void> {
    const service = this.parts.declared.of(tenants)
    const tenant = await service.findAnywhere(tenantId)
    if (tenant === undefined) throw itemNotFound({ entityType: 'TENANT', id: tenantId })
    const {
      homeDashboardId: _id,
      homeDashboardHideToolbar: _hides,
      ...others
    } = isJsonObject(tenant.additionalInfo) ? tenant.additionalInfo : {}
    const additionalInfo =
      home.dashboardId === undefined
        ? others
        : { ...others, homeDashboardId: home.dashboardId, homeDashboardHideToolbar: home.hideDashboardToolbar }
    await service.changeByUser(principal, tenant, { additionalInfo }, { statements: [], type: 'ENTITY_UPDATED' })
  }

  customerIds(dashboard: Dashboard): Promise<readonly string[]> {
    return assignedCustomerIds(dashboard, this.parts.declared)
  }

  private async required(id: string): Promise<Dashboard> {
    const dashboard = await this.service.findAnywhere(id)
    if (dashboard === undefined) throw itemNotFound({ entityType: 'DASHBOARD', id })
    return dashboard
  }
}

/** What `additionalInfo` of a user, a customer or a tenant says of it. */
export function homeIn(additionalInfo: JsonValue | undefined): HomeDashboard | undefined {
  if (!isJsonObject(additionalInfo)) return undefined
  const { homeDashboardId, homeDashboardHideToolbar } = additionalInfo
  if (typeof homeDashboardId !== 'string' || !isUuid(homeDashboardId)) return undefined
  return { dashboardId: homeDashboardId.toLowerCase(), hideDashboardToolbar: homeDashboardHideToolbar !== false }
}
