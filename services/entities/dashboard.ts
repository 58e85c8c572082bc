/** Dashboards: what people look at; any number of customers may have one. Source: `rest-api.md` 14.1. */
import type { JsonObject } from '../../model/json.ts'
import { LOOK } from '../access/permissions.ts'
import { flag, internal, json, name, optionalInteger, optionalText } from './column.ts'
import { assignedCustomerIds, assignedCustomersOf, toldCustomers } from './dashboard-customers.ts'
import { defineEntity, type RecordOf } from './define.ts'

export const dashboards = defineEntity({
  type: 'DASHBOARD',
  label: 'Dashboard',
  name: 'title',
  table: { name: 'dashboard', version: 2, countedSince: 2 },
  columns: {
    title: name(),
    image: optionalText({ isFree: true, sort: false }),
    mobileHide: flag(false),
    mobileOrder: optionalInteger(),
    configuration: json(),
    /** Clients see null before the first assignment, and a list, empty or not, from then on. */
    wasAssigned: internal(flag(false)),
  },
  example: () => ({ title: 'Overview', configuration: { widgets: {} } }),
  permissions: { SYS_ADMIN: ['READ'], TENANT_ADMIN: 'all', CUSTOMER_USER: LOOK },
  isSeenBySystem: true,
  customerOf: () => null,
  customersOf: (record, services) => assignedCustomerIds(record, services),
  moreJson: ({ title }) => ({ name: title, resources: null }),
  async readJson(records, services) {
    const assigned = await assignedCustomersOf(records, services)
    return assigned.map((assignedCustomers) => ({ assignedCustomers }))
  },
  // The configuration of a large one is no message, nor are the customers of one that thousands have.
  messageJson: ({ assignedCustomers, ...json }) => ({
    ...{ ...json, configuration: '' },
    ...(assignedCustomers === undefined ? {} : toldCustomers(assignedCustomers)),
  }),
})

export type Dashboard = RecordOf<typeof dashboards.columns>

/** What lists show: no configuration. */
export function dashboardInfo(json: JsonObject): JsonObject {
  const { configuration: _configuration, resources: _resources, externalId: _externalId, ...info } = json
  return info
}
