/** Whom targets mean: users of the platform, found in SQL. A tenant reaches its own users only, the system everybody's. */
import type { EntityId } from '../../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Page } from '../../model/entities.ts'
import type { Condition } from '../../storage/entities/tables/row-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { RecordOf } from '../entities/define.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { filterOf, notificationTargets, textsIn } from '../entities/notification.ts'
import { users } from '../entities/user.ts'
import { NotificationErrors } from './errors.ts'

export type User = RecordOf<typeof users.columns>

/** Whom the event of a rule concerns; nobody of it for requests by hand. */
export interface Concerned {
  readonly originator?: EntityId | undefined
  readonly userId?: string | undefined
  readonly tenantId?: string | undefined
}

export interface FoundRecipients {
  /** Each once, in the order of their ids. */
  readonly users: readonly User[]
  /** How many each target means, by its name. */
  readonly countByTarget: Readonly<Record<string, number>>
}

export const MAX_RECIPIENTS = 10_000

export class Recipients {
  private readonly declared: EntityRegistry

  constructor(declared: EntityRegistry) {
    this.declared = declared
  }

  /** Throws `TARGET_UNKNOWN`. */
  async requireTargets(tenantId: string, targetIds: readonly string[]) {
    const targets = await this.declared.of(notificationTargets).findByIds(tenantId, targetIds)
    const unknown = targetIds.find((id) => !targets.some((target) => target.id === id))
    if (unknown !== undefined) throw NotificationErrors.TARGET_UNKNOWN({ id: unknown })
    return targets
  }

  /** Throws `TARGET_UNKNOWN`. */
  async find(tenantId: string, targetIds: readonly string[], concerned: Concerned = {}): Promise<FoundRecipients> {
    const targets = await this.requireTargets(tenantId, targetIds)
    const found = new Map<string, User>()
    const countByTarget: Record<string, number> = {}
    for (const { name, configuration } of targets) {
      const ofTarget = await this.usersOf(tenantId, configuration, concerned)
      countByTarget[name] = ofTarget.length
      for (const user of ofTarget) found.set(user.id, user)
    }
    return { users: [...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)), countByTarget }
  }

  /** Those whom a target's configuration would mean. */
  async page(tenantId: string, configuration: JsonValue, page: number, pageSize: number): Promise<Page<User>> {
    const found = await this.usersOf(tenantId, configuration, {})
    const data = found.slice(page * pageSize, (page + 1) * pageSize)
    const totalPages = Math.ceil(found.length / pageSize)
    return { data, totalElements: found.length, totalPages, hasNext: page + 1 < totalPages }
  }

  /** Of the whole system. */
  systemAdministrators(): Promise<readonly User[]> {
    return this.declared.of(users).findWhere([SYSTEM_ADMINISTRATORS], MAX_RECIPIENTS + 1)
  }

  private async usersOf(tenantId: string, configuration: JsonValue, concerned: Concerned): Promise<readonly User[]> {
    const queries = await this.queriesOf(tenantId, filterOf(configuration), concerned)
    const found = queries.map((where) => this.declared.of(users).findWhere(where, MAX_RECIPIENTS + 1))
    const byId = new Map((await Promise.all(found)).flat().map((user) => [user.id, user]))
    return [...byId.values()]
  }

  /** One query or several; none for whom only an event could name. */
  private async queriesOf(
    tenantId: string,
    filter: JsonObject,
    concerned: Concerned,
  ): Promise<readonly (readonly Condition[])[]> {
    const isSystem = tenantId === SYSTEM_TENANT
    const own: readonly Condition[] = isSystem ? [] : [{ column: 'tenant_id', is: tenantId }]
    switch (filter['type']) {
      case 'ALL_USERS':
        return [own]
      case 'TENANT_ADMINISTRATORS':
        return (isSystem ? someTenants(filter) : [own]).map((where) => [...where, ADMINISTRATORS])
      case 'CUSTOMER_USERS':
        return [[...own, { column: 'customer_id', in: textsIn([filter['customerId'] ?? null]) }]]
      case 'USER_LIST':
        return [[...own, { column: 'id', in: textsIn(filter['usersIds']) }]]
      case 'SYSTEM_ADMINISTRATORS':
        return isSystem ? [[SYSTEM_ADMINISTRATORS]] : []
      case 'AFFECTED_USER':
        return concerned.userId === undefined ? [] : [[...own, { column: 'id', is: concerned.userId }]]
      case 'AFFECTED_TENANT_ADMINISTRATORS':
        return isSystem && concerned.tenantId !== undefined
          ? [[{ column: 'tenant_id', is: concerned.tenantId }, ADMINISTRATORS]]
          : []
      case 'ORIGINATOR_ENTITY_OWNER_USERS':
        return this.ownersOf(own, concerned.originator)
      default:
        return []
    }
  }

  /** Of what belongs to a customer its users, else the tenant's administrators. */
  private async ownersOf(
    own: readonly Condition[],
    originator: EntityId | undefined,
  ): Promise<readonly (readonly Condition[])[]> {
    if (originator === undefined || own.length === 0) return []
    const { customerId } = (await this.declared.whose(originator)) ?? { customerId: null }
    return [customerId === null ? [...own, ADMINISTRATORS] : [...own, { column: 'customer_id', is: customerId }]]
  }
}

const ADMINISTRATORS: Condition = { column: 'authority', is: 'TENANT_ADMIN' }
const SYSTEM_ADMINISTRATORS: Condition = { column: 'authority', is: 'SYS_ADMIN' }

/** These tenants, else those of these profiles, else all. */
function someTenants(filter: JsonObject): readonly (readonly Condition[])[] {
  const tenants = textsIn(filter['tenantsIds'])
  if (tenants.length > 0) return [[{ column: 'tenant_id', in: tenants }]]
  const profiles = textsIn(filter['tenantProfilesIds'])
  if (profiles.length === 0) return [[]]
  return profiles.map((id) => [
    { column: 'tenant_id', among: { table: 'tenant', column: 'id', where: { tenant_profile_id: id } } },
  ])
}
