/** Entities of the tenant, of any type, and who they belong to. */
import type { CredentialsType } from '../../../model/entities.ts'
import type { EntityId, EntityType } from '../../../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../../../model/json.ts'
import type { Soon } from './soon.ts'

export interface NodeEntity {
  readonly id: EntityId
  readonly createdTime: number
  /** A customer's or tenant's title, a user's e-mail address. */
  readonly name: string
  /** Of devices and assets the profile's name, of entity views and edges their type. */
  readonly type: string | null
  readonly label: string | null
  /** Of users and what can be assigned: null where it is the tenant's own. */
  readonly customerId: string | null
  /** The customer that has it, or else the tenant. */
  readonly owner: EntityId
  readonly profile: { readonly id: EntityId; readonly name: string } | null
  readonly additionalInfo: JsonValue
  /** Everything, as the API shows it: contact details of customers and tenants, first names of users. */
  readonly json: JsonObject
}

export interface NodeDeviceCredentials {
  readonly credentialsType: CredentialsType
  readonly credentialsId: string
  readonly credentialsValue: string | null
}

export interface FoundOrCreated {
  readonly entity: NodeEntity
  readonly isNew: boolean
}

/** What nodes may assign to customers. */
export type AssignableType = 'ASSET' | 'DASHBOARD' | 'DEVICE' | 'EDGE' | 'ENTITY_VIEW'

export interface NodeEntities {
  /** Undefined where the tenant has none such. The tenant itself is found by its id. */
  find(entity: EntityId): Soon<NodeEntity | undefined>
  findByName(entityType: EntityType, name: string): Promise<NodeEntity | undefined>
  /** `type` is the profile's name, made too where it is missing. A new one is told to the rule engine: `ENTITY_CREATED`. */
  findOrCreate(entityType: 'ASSET' | 'CUSTOMER' | 'DEVICE', name: string, type?: string): Promise<FoundOrCreated>
  /** The rule engine hears nothing of it. Throws where the entity, or the customer, is not there. */
  assignToCustomer(entity: EntityId & { readonly entityType: AssignableType }, customerId: string): Promise<void>
  /** Dashboards are taken from the customer that is named; all else from whom it has. Nothing happens to what is not assigned. */
  unassignFromCustomer(
    entity: EntityId & { readonly entityType: AssignableType },
    customerId: string | undefined,
  ): Promise<void>
  credentialsOf(deviceId: string): Promise<NodeDeviceCredentials | undefined>
}
