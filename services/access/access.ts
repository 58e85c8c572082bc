/**
 * The one place that decides who may do what: the permission table of `rest-api.md` 3.5, first by authority alone, then by
 * ownership. What belongs to another tenant is denied (403), what does not exist is not found (404).
 */
import type { Authority } from '../../model/entities.ts'
import { NULL_UUID, type EntityId, type EntityType } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { itemNotFound, ServiceErrors } from '../errors.ts'
import type { ColumnSet, EntityDefinition } from '../entities/define.ts'
import type { Owner, OwnerLookup } from './ownership.ts'
import { LOOK, NOT_IN_OWN_HANDS } from './permissions.ts'
import type { AccessControl, OwnedEntity } from './access-control.ts'
import type { Operation } from './permissions.ts'

type Row = readonly Operation[] | 'all' | undefined

const PERMISSIONS: Readonly<Record<Authority, Readonly<Partial<Record<EntityType, Row>>>>> = {
  SYS_ADMIN: {
    ADMIN_SETTINGS: 'all',
    DOMAIN: 'all',
    DASHBOARD: ['READ'],
    USER: 'all',
    WIDGETS_BUNDLE: 'all',
    WIDGET_TYPE: 'all',
    TB_RESOURCE: 'all',
    QUEUE: 'all',
    NOTIFICATION: 'all',
    OAUTH2_CLIENT: 'all',
    MOBILE_APP: 'all',
    MOBILE_APP_BUNDLE: 'all',
  },
  TENANT_ADMIN: {
    ADMIN_SETTINGS: 'all',
    ENTITY_VIEW: 'all',
    EDGE: 'all',
    DASHBOARD: 'all',
    ALARM: 'all',
    RULE_NODE: 'all',
    RPC: 'all',
    OTA_PACKAGE: 'all',
    API_USAGE_STATE: 'all',
    JOB: 'all',
    USER: 'all',
    WIDGETS_BUNDLE: 'all',
    WIDGET_TYPE: 'all',
    TB_RESOURCE: 'all',
    QUEUE: 'all',
    NOTIFICATION: 'all',
    OAUTH2_CLIENT: 'all',
    MOBILE_APP: 'all',
    MOBILE_APP_BUNDLE: 'all',
    CALCULATED_FIELD: 'all',
  },
  CUSTOMER_USER: {
    ENTITY_VIEW: NOT_IN_OWN_HANDS,
    EDGE: NOT_IN_OWN_HANDS,
    DASHBOARD: LOOK,
    ALARM: 'all',
    RPC: ['READ'],
    USER: ['READ', 'WRITE'],
    WIDGETS_BUNDLE: ['READ'],
    WIDGET_TYPE: ['READ'],
    TB_RESOURCE: ['READ'],
  },
}

/** Kinds that a customer user sees because they are the tenant's, not because they are assigned to the customer. */
const SHARED_IN_TENANT: ReadonlySet<EntityType> = new Set<EntityType>()

/** Kinds of which tenants read those of the system. */
const SHARED_BY_SYSTEM: ReadonlySet<EntityType> = new Set<EntityType>(['QUEUE'])

/** As much as access control asks of an entity's declaration. */
export type DeclaredPermissions = Pick<
  EntityDefinition<ColumnSet>,
  'type' | 'permissions' | 'isHiddenFromOthers' | 'isSharedInTenant' | 'isSharedBySystem' | 'isSeenBySystem'
>

/** What a public link must not give to whoever has it, though a customer's own users may. */
const NOT_FOR_EVERYBODY: ReadonlySet<Operation> = new Set<Operation>([
  'READ_CREDENTIALS',
  'WRITE_CREDENTIALS',
  'WRITE',
  'DELETE',
])

export class PermissionTable implements AccessControl {
  private readonly ownerOf: OwnerLookup
  private readonly declared: ReadonlyMap<EntityType, DeclaredPermissions>

  constructor(ownerOf: OwnerLookup, declared: readonly DeclaredPermissions[] = []) {
    this.ownerOf = ownerOf
    this.declared = new Map(declared.map((declaration) => [declaration.type, declaration]))
  }

  checkAuthority(principal: Principal, operation: Operation, entityType: EntityType): void {
    if (!this.mayByAuthority(principal, operation, entityType)) throw ServiceErrors.PERMISSION_DENIED()
  }

  allowed<Entity extends OwnedEntity>(
    principal: Principal,
    operation: Operation,
    entityType: EntityType,
    entities: readonly Entity[],
  ): readonly Entity[] {
    if (!this.mayByAuthority(principal, operation, entityType)) return []
    return entities.filter((entity) => {
      const owner = { ...entity, tenantId: entity.tenantId === SYSTEM_TENANT ? null : entity.tenantId }
      return this.mayTouch(principal, operation, { entityType, id: entity.id }, owner)
    })
  }

  async check(principal: Principal, asked: Operation, entity: EntityId): Promise<void> {
    const operation = asked === 'RELATE' ? toRelate(principal, entity) : asked
    this.checkAuthority(principal, operation, entity.entityType)
    const owner = await this.ownerOf(entity)
    if (owner === undefined) throw itemNotFound(entity)
    if (this.mayTouch(principal, operation, entity, owner)) return
    const isHidden = this.declared.get(entity.entityType)?.isHiddenFromOthers === true
    if (isHidden && owner.tenantId !== principal.tenantId) throw itemNotFound(entity)
    throw ServiceErrors.PERMISSION_DENIED()
  }

  private mayByAuthority(principal: Principal, operation: Operation, entityType: EntityType): boolean {
    const declared = this.declared.get(entityType)
    const row =
      declared === undefined ? PERMISSIONS[principal.authority][entityType] : declared.permissions[principal.authority]
    return row === 'all' || row?.includes(operation) === true
  }

  private mayTouch(principal: Principal, operation: Operation, entity: EntityId, owner: Owner): boolean {
    return mayTouch(principal, operation, entity, owner, this.declared.get(entity.entityType))
  }
}

function toRelate(principal: Principal, { entityType, id }: EntityId): Operation {
  const isOwnTenant = entityType === 'TENANT' && principal.authority === 'TENANT_ADMIN' && principal.tenantId === id
  return isOwnTenant ? 'READ' : 'WRITE'
}

function mayTouch(
  principal: Principal,
  operation: Operation,
  entity: EntityId,
  owner: Owner,
  declared: DeclaredPermissions | undefined,
): boolean {
  const isSharedBySystem = declared?.isSharedBySystem ?? SHARED_BY_SYSTEM.has(entity.entityType)
  const isSharedInTenant =
    owner.isSharedInTenant ??
    (declared === undefined ? SHARED_IN_TENANT.has(entity.entityType) : declared.isSharedInTenant === true)
  switch (principal.authority) {
    case 'SYS_ADMIN':
      if (entity.entityType === 'TENANT') return true
      if (entity.entityType === 'USER') return owner.user?.authority !== 'CUSTOMER_USER'
      return owner.tenantId === null || declared?.isSeenBySystem === true
    case 'TENANT_ADMIN':
      if (owner.tenantId === null) return operation === 'READ' && isSharedBySystem
      return owner.tenantId === principal.tenantId
    case 'CUSTOMER_USER':
      if (principal.userId === NULL_UUID && NOT_FOR_EVERYBODY.has(operation)) return false
      if (owner.tenantId === null) return operation === 'READ' && isSharedBySystem && isSharedInTenant
      if (owner.tenantId !== principal.tenantId) return false
      if (owner.userId !== undefined) return owner.userId === principal.userId
      if (isSharedInTenant) return true
      if (entity.entityType === 'USER' && operation !== 'READ') return entity.id === principal.userId
      if (principal.customerId === null) return false
      return owner.customerId === principal.customerId || owner.customerIds?.includes(principal.customerId) === true
  }
}
