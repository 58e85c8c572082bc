/** The declared entity types: what the stores make tables for, and what the platform serves. A new type is one line here. */
import { DEVICE_CLAIM_TABLE } from '../../storage/entities/device-claims.ts'
import { DEVICE_SESSION_TABLE } from '../../storage/entities/device-sessions.ts'
import { RULE_CHAIN_VERSION_TABLE } from '../../storage/entities/rule-chain-versions.ts'
import { MOVED_DEVICE_TABLE } from '../../storage/entities/moved-devices.ts'
import { NODE_STATE_TABLES } from '../../storage/entities/node-state.ts'
import { EVENT_TABLES } from '../../storage/entities/events.ts'
import { RELATION_TABLE } from '../../storage/entities/relations.ts'
import { RPC_TABLE } from '../../storage/entities/rpcs.ts'
import { USER_CREDENTIALS } from '../../storage/entities/users.ts'
import { AUDIT_LOG_TABLE } from '../../storage/entities/audit-log.ts'
import type { EntityTable } from '../../storage/entities/tables/entity-table.ts'
import { aiModels } from './ai-model.ts'
import { apiKeys } from './api-key.ts'
import { ALARM_VISIT_TABLE } from '../../storage/entities/alarm-visits.ts'
import { ENTITY_ALARMS } from '../../storage/entities/alarms.ts'
import { ALARM_COMMENTS } from '../alarms/alarm-comments.ts'
import { alarms } from './alarm.ts'
import { assetProfiles } from './asset-profile.ts'
import { assets } from './asset.ts'
import { calculatedFields } from './calculated-field.ts'
import { customers } from './customer.ts'
import { deviceProfiles } from './device-profile.ts'
import { devices } from './device.ts'
import { CONTENT, CONTENT_PARTS } from './content.ts'
import type { ColumnSet, EntityDefinition } from './define.ts'
import { USAGE_COUNT_TABLE } from '../../storage/entities/usage-counts.ts'
import { apiUsageStates } from './api-usage-state.ts'
import { queueStats } from './queue-stats.ts'
import { ruleChains } from './rule-chain.ts'
import { jobs } from './job.ts'
import { tenantProfiles } from './tenant-profile.ts'
import { tenants } from './tenant.ts'
import { TRANSFER_LINES, TRANSFERS } from '../import/positions.ts'
import { integrations } from './integration.ts'
import { entityViews } from './entity-view.ts'
import { users } from './user.ts'
import { ADMIN_SETTINGS } from '../admin/table.ts'
import { USER_SETTINGS } from '../users/user-settings.ts'

/** What is referred to stands before what refers to it: tables are made in this order. */
export const DECLARED: readonly EntityDefinition<ColumnSet>[] = [
  tenantProfiles,
  tenants,
  customers,
  users,
  apiKeys,
  ruleChains,
  assetProfiles,
  assets,
  deviceProfiles,
  devices,
  ...CONTENT,
  alarms,
  entityViews,
  calculatedFields,
  jobs,
  queueStats,
  apiUsageStates,
  aiModels,
  integrations,
]

/** Rows that are no entities: parts of some, what is between them, and what is told of them. */
const PARTS: readonly EntityTable[] = [
  ...CONTENT_PARTS,
  USER_CREDENTIALS,
  AUDIT_LOG_TABLE,
  RPC_TABLE,
  ...NODE_STATE_TABLES,
  RELATION_TABLE,
  USER_SETTINGS,
  ADMIN_SETTINGS,
  ENTITY_ALARMS,
  ALARM_VISIT_TABLE,
  ALARM_COMMENTS,
  TRANSFERS,
  TRANSFER_LINES,
  DEVICE_CLAIM_TABLE,
  MOVED_DEVICE_TABLE,
  DEVICE_SESSION_TABLE,
  RULE_CHAIN_VERSION_TABLE,
  USAGE_COUNT_TABLE,
  ...EVENT_TABLES,
]

export const DECLARED_TABLES: readonly EntityTable[] = [...DECLARED.map(({ storedAs }) => storedAs), ...PARTS]
