/** What rule nodes see of the services: a source for each capability, bound to the tenant of the node. */
import type { CompleteSources } from '../engine/rulechain/capabilities.ts'
import type { DeviceOwner } from '../engine/device/owner/device-owner.ts'
import type { NodeStates } from '../engine/state/node-states.ts'
import type { ScriptHost } from '../engine/script/script.ts'
import type { AggregationWorkers } from '../engine/workers/aggregation/aggregation-workers.ts'
import type { AlarmVisits } from './alarms/visits.ts'
import { nodeAggregation, type AggregationBounds } from './node-capabilities/aggregation.ts'
import { nodeAlarms } from './node-capabilities/alarms.ts'
import { nodeAttributes } from './node-capabilities/attributes.ts'
import { nodeCalls } from './node-capabilities/calls.ts'
import { nodeDeviceState } from './node-capabilities/device-state.ts'
import { nodeEntities } from './node-capabilities/entities.ts'
import { nodeHistory } from './node-capabilities/history.ts'
import { nodeMail } from './node-capabilities/mail.ts'
import { nodeNotifications } from './node-capabilities/notifications.ts'
import type { KnownEntities } from './node-capabilities/known-entities.ts'
import type { KnownRelations } from './node-capabilities/known-relations.ts'
import type { OwnEntities } from './node-capabilities/own-entities.ts'
import { nodeRelations } from './node-capabilities/relations.ts'
import { nodeRoutes } from './node-capabilities/routes.ts'
import { nodeSms } from './node-capabilities/sms.ts'
import { nodeTables, type CustomTableParts } from './node-capabilities/tables.ts'
import { nodeTelemetry } from './node-capabilities/telemetry.ts'
import { nodeViews } from './node-capabilities/views.ts'
import type { Outbound } from './outbound/outbound.ts'
import type { Services } from './services.ts'
import { meteredScripts } from './usage/metered-scripts.ts'

export interface CapabilityParts {
  readonly services: Services
  readonly scripts: ScriptHost
  readonly owner: Pick<DeviceOwner, 'report'>
  readonly own: OwnEntities
  /** Kept in memory. */
  readonly known: { readonly entities: KnownEntities; readonly relations: KnownRelations }
  readonly states: Pick<NodeStates, 'of'>
  readonly visits: Pick<AlarmVisits, 'of' | 'once' | 'steps' | 'isOfLater'>
  readonly outbound: Outbound
  readonly aggregation: {
    readonly workers: Pick<AggregationWorkers, 'inTurn' | 'summarize'>
    readonly bounds?: AggregationBounds
  }
  readonly tables?: CustomTableParts | undefined
}

export function nodeCapabilitiesOf({
  services,
  scripts,
  owner,
  own,
  known,
  states,
  visits,
  outbound,
  aggregation,
  tables,
}: CapabilityParts): CompleteSources {
  const metered = meteredScripts(scripts, services.meter)
  return {
    aggregation: nodeAggregation(services, aggregation.workers, aggregation.bounds),
    ai: services.ai.ofNode,
    alarms: nodeAlarms(services, visits),
    attributes: nodeAttributes(services, own),
    calculated: () => services.calculated,
    calls: nodeCalls(services, own),
    deviceState: nodeDeviceState(services, owner),
    entities: nodeEntities(services, known.entities),
    history: nodeHistory(services, own),
    mail: nodeMail(services, outbound),
    notifications: nodeNotifications(services),
    outbound: outbound.ofNode,
    queues: () => ({ linkName: (tenantId, name) => services.queues.linkName(tenantId, name) }),
    relations: nodeRelations(services, known.relations),
    routes: nodeRoutes(services),
    scripts: () => metered,
    sms: nodeSms(services, outbound),
    state: (node) => states.of(node),
    tables: nodeTables(tables),
    telemetry: nodeTelemetry(services, own),
    views: nodeViews(services),
  }
}
