/**
 * What a node may ask of the platform. A declaration names its capabilities, and its context holds just these. To add one: its types in
 * `capabilities/`, a line here, its source in `services/node-capabilities/`, its fake in `nodes/fakes/`; no other node is touched.
 */
import type { ScriptHost } from '../script/script.ts'
import type { NodeAggregation } from './capabilities/aggregation.ts'
import type { NodeAi } from './capabilities/ai.ts'
import type { NodeAlarms } from './capabilities/alarms.ts'
import type { NodeAttributes } from './capabilities/attributes.ts'
import type { NodeCalculated } from './capabilities/calculated.ts'
import type { NodeCalls } from './capabilities/calls.ts'
import type { NodeDeviceState } from './capabilities/device-state.ts'
import type { NodeEntities } from './capabilities/entities.ts'
import type { NodeHistory } from './capabilities/history.ts'
import type { NodeMail } from './capabilities/mail.ts'
import type { NodeNotifications } from './capabilities/notifications.ts'
import type { NodeOutbound } from './capabilities/outbound.ts'
import type { NodeQueues } from './capabilities/queues.ts'
import type { NodeRelations } from './capabilities/relations.ts'
import type { NodeRoutes } from './capabilities/routes.ts'
import type { NodeSms } from './capabilities/sms.ts'
import type { NodeState } from './capabilities/state.ts'
import type { NodeTables } from './capabilities/tables.ts'
import type { NodeTelemetry } from './capabilities/telemetry.ts'
import type { NodeViews } from './capabilities/views.ts'

export interface NodeCapabilities {
  readonly aggregation: NodeAggregation
  readonly ai: NodeAi
  readonly alarms: NodeAlarms
  readonly attributes: NodeAttributes
  readonly calculated: NodeCalculated
  readonly calls: NodeCalls
  readonly deviceState: NodeDeviceState
  readonly entities: NodeEntities
  readonly history: NodeHistory
  readonly mail: NodeMail
  readonly notifications: NodeNotifications
  readonly outbound: NodeOutbound
  readonly queues: NodeQueues
  readonly relations: NodeRelations
  readonly routes: NodeRoutes
  readonly scripts: ScriptHost
  readonly sms: NodeSms
  readonly state: NodeState
  readonly tables: NodeTables
  readonly telemetry: NodeTelemetry
  readonly views: NodeViews
}

export type CapabilityName = keyof NodeCapabilities

/** Which node it is. */
export interface NodeIdentity {
  readonly tenantId: string
  readonly ruleChainId: string
  readonly ruleChainName: string
  readonly ruleNodeId: string
  readonly ruleNodeName: string
  /** Those of its configuration: in no text of an error. */
  readonly secrets?: readonly string[]
}

/** Makes each capability for one node, bound to the node's tenant: what is another tenant's is never found. */
export type CompleteSources = {
  readonly [Name in CapabilityName]: (node: NodeIdentity) => NodeCapabilities[Name]
}

/** Without a source for what it names a node can not start. */
export type CapabilitySources = {
  readonly [Name in CapabilityName]?: CompleteSources[Name]
}
