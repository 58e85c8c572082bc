/** The tables as the query builder knows them. Booleans are 0 and 1, JSON is text, times are Unix ms. */
import type { Generated } from 'kysely'

export interface EntityColumns {
  id: string
  created_time: number
  version: number
}

export interface TenantTable extends EntityColumns {
  title: string
  additional_info: string
}

export interface CustomerTable extends EntityColumns {
  tenant_id: string
  title: string
  additional_info: string
}

export interface UserTable extends EntityColumns {
  tenant_id: string | null
  customer_id: string | null
  email: string
  authority: string
  first_name: string | null
  last_name: string | null
  phone: string | null
  additional_info: string
}

export interface UserCredentialsTable {
  user_id: string
  /** '' until the user is activated. */
  password_hash: string
  tokens_valid_from: number
  enabled: number
  activation_token: string | null
  activation_expires: number | null
  reset_token: string | null
  reset_expires: number | null
  last_login_time: number | null
  password_time: number | null
  failures: number | null
  former_passwords: string | null
}

export interface DeviceProfileTable extends EntityColumns {
  tenant_id: string
  name: string
  description: string | null
  is_default: number
  transport_type: string
  provision_type: string
  default_rule_chain_id: string | null
  default_queue_name: string | null
  profile_data: string
}

export interface DeviceTable extends EntityColumns {
  tenant_id: string
  customer_id: string | null
  device_profile_id: string
  name: string
  label: string | null
  device_data: string
  additional_info: string
}

export interface DeviceCredentialsTable extends EntityColumns {
  tenant_id: string
  device_id: string
  credentials_type: string
  credentials_id: string
  credentials_value: string | null
}

export interface RuleChainTable extends EntityColumns {
  tenant_id: string
  name: string
  type: string
  first_rule_node_id: string | null
  root: number
  debug_mode: number
  configuration: string
  additional_info: string
  /** Canvas notes; null when there are none. */
  notes: string | null
}

export interface RuleNodeTable {
  id: string
  created_time: number
  rule_chain_id: string
  /** Place in the chain's list of nodes: the order of creation. */
  position: number
  type: string
  name: string
  debug_settings: string
  singleton_mode: number
  queue_name: string | null
  configuration_version: number
  configuration: string
  additional_info: string
  disabled_reason: string | null
}

export interface RuleNodeConnectionTable {
  rule_chain_id: string
  from_node_id: string
  to_node_id: string
  type: string
}

export interface QueueTable extends EntityColumns {
  /** The null id for the system's queues: no row of `tenant` has it. */
  tenant_id: string
  name: string
  topic: string
  poll_interval: number
  partitions: number
  consumer_per_partition: number
  pack_processing_timeout: number
  submit_strategy: string
  processing_strategy: string
  additional_info: string
}

export interface AttributeTable {
  entity_id: string
  scope: number
  key: string
  /** Which value column holds the value, see `attribute-columns.ts`. */
  kind: number
  long_value: number | bigint | null
  double_value: number | null
  text_value: string | null
  last_update_ts: number
  /** Log position of the message that wrote it last. */
  sequence: number
  /** Which visit of a rule node that was, see `engine/rulechain/capabilities/attributes.ts`. */
  writer: number | null
}

export interface RelationTable extends EntityColumns {
  tenant_id: string
  from_id: string
  from_type: string
  to_id: string
  to_type: string
  type_group: string
  type: string
  additional_info: string
}

export interface OutboxTable {
  id: Generated<number>
  message: string
}

export interface CleanupTable {
  entity_id: string
}

export interface EndedSessionTable {
  session_id: string
  ended_until: number
}

export interface CredentialChangeTable {
  id: Generated<number>
  device_id: string
  changed_time: number
}

export interface SettingTable {
  name: string
  value: string
}

export interface SchemaVersionTable {
  version: number
  applied_time: number
}

export interface Schema {
  tenant: TenantTable
  customer: CustomerTable
  app_user: UserTable
  user_credentials: UserCredentialsTable
  device_profile: DeviceProfileTable
  device: DeviceTable
  device_credentials: DeviceCredentialsTable
  rule_chain: RuleChainTable
  rule_node: RuleNodeTable
  rule_node_connection: RuleNodeConnectionTable
  queue: QueueTable
  attribute: AttributeTable
  relation: RelationTable
  outbox: OutboxTable
  cleanup: CleanupTable
  ended_session: EndedSessionTable
  credential_change: CredentialChangeTable
  setting: SettingTable
  schema_version: SchemaVersionTable
}
