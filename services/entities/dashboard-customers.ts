/**
 * Which customers have which dashboards: a row each, so that both sides are lists in SQL and a title is always the customer's own of now.
 * A row goes with its dashboard and with its customer.
 */
import { stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Statement } from '../../storage/entities/database.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { EntityTable } from '../../storage/entities/tables/entity-table.ts'
import type { Condition, RowStore } from '../../storage/entities/tables/row-store.ts'
import { customers, isPublic, type Customer } from './customer.ts'
import type { EntityAccess } from './define.ts'

export const DASHBOARD_CUSTOMERS: EntityTable = {
  name: 'dashboard_customer',
  version: 1,
  columns: [
    {
      name: 'dashboard_id',
      type: 'text',
      isNullable: false,
      references: { table: 'dashboard', whenDeleted: 'delete' },
    },
    { name: 'customer_id', type: 'text', isNullable: false, references: { table: 'customer', whenDeleted: 'delete' } },
  ],
  unique: [{ columns: ['dashboard_id', 'customer_id'] }],
  indexes: [{ columns: ['customer_id'] }],
}

interface Assigned {
  readonly id: string
  readonly tenantId: string
  readonly wasAssigned: boolean
}

/** The condition on dashboards that one customer has. */
export function ofCustomer(customerId: string): Condition {
  return {
    column: 'id',
    among: { table: DASHBOARD_CUSTOMERS.name, column: 'dashboard_id', where: { customer_id: customerId } },
  }
}

export async function assignedCustomerIds(
  { id, wasAssigned }: Assigned,
  { store }: EntityAccess,
): Promise<readonly string[]> {
  if (!wasAssigned) return []
  const rows = await rowsIn(store).findAll([{ column: 'dashboard_id', is: id }])
  return rows.map((row) => String(row['customer_id']))
}

/** As clients see them, one list a dashboard; null where it never had a customer. */
export async function assignedCustomersOf(
  dashboards: readonly Assigned[],
  services: EntityAccess,
): Promise<readonly JsonValue[]> {
  const lists = await customersWith(dashboards, services)
  return dashboards.map(({ wasAssigned }, index) => (wasAssigned ? (lists[index] ?? []).map(shownCustomer) : null))
}

/** One of `assignedCustomers`. */
export function shownCustomer(customer: Customer): JsonObject {
  const { id, title } = customer
  return { customerId: { entityType: 'CUSTOMER', id }, title, public: isPublic(customer) }
}

/** Of JSON: in one message, and in all that tell of one change together, which are as many as its customers. */
const MAX_TOLD = { message: 65_536, change: 1_048_576 } as const

/** The member of each of so many messages; none where it would be too much, as the message would be refused then, and the change with it. */
export function toldCustomers(list: JsonValue, messages = 1): JsonObject {
  const { length } = stringifyJson(list)
  return length > MAX_TOLD.message || length * messages > MAX_TOLD.change ? {} : { assignedCustomers: list }
}

/** Those who have each of the dashboards, in the order in which they got it. */
export async function customersWith(
  dashboards: readonly Assigned[],
  services: EntityAccess,
): Promise<readonly (readonly Customer[])[]> {
  const assigned = dashboards.filter(({ wasAssigned }) => wasAssigned)
  if (assigned.length === 0) return dashboards.map(() => [])
  const ids = assigned.map(({ id }) => id)
  const rows = [...(await rowsIn(services.store).findAll([{ column: 'dashboard_id', in: ids }]))]
  rows.sort((a, b) => Number(a['created_time']) - Number(b['created_time']))
  const found = new Map<string, Customer>()
  for (const tenantId of new Set(assigned.map((dashboard) => dashboard.tenantId))) {
    const wanted = [...new Set(rows.map((row) => String(row['customer_id'])))]
    for (const customer of await services.of(customers).findByIds(tenantId, wanted)) found.set(customer.id, customer)
  }
  const byDashboard = Map.groupBy(rows, (row) => String(row['dashboard_id']))
  return dashboards.map(({ id }) =>
    (byDashboard.get(id) ?? []).flatMap((row) => found.get(String(row['customer_id'])) ?? []),
  )
}

export interface Assignment {
  readonly id: string
  readonly createdTime: number
  readonly tenantId: string
  readonly dashboardId: string
  readonly customerId: string
}

export function assignStatement(store: EntityStore, assignment: Assignment): Statement {
  return rowsIn(store).insert({
    id: assignment.id,
    created_time: assignment.createdTime,
    version: 1,
    tenant_id: assignment.tenantId,
    dashboard_id: assignment.dashboardId,
    customer_id: assignment.customerId,
  })
}

export function unassignStatement(store: EntityStore, dashboardId: string, customerId: string): Statement {
  return rowsIn(store).deleteAll([
    { column: 'dashboard_id', is: dashboardId },
    { column: 'customer_id', is: customerId },
  ])
}

function rowsIn(store: EntityStore): RowStore {
  // Two who assign at once: the second one's version of the dashboard is stale.
  const overtaken = (): Error => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Dashboard' })
  return store.rows(DASHBOARD_CUSTOMERS, { taken: { 'dashboard_id, customer_id': overtaken }, overtaken })
}
