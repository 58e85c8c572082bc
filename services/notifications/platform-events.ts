/** What the platform itself does or refuses, as rules see it: chains and nodes that come and go, and rates that are reached. */
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { Statement } from '../../storage/entities/database.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { customers } from '../entities/customer.ts'
import { devices } from '../entities/device.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { tenants } from '../entities/tenant.ts'
import type { ComponentStep } from '../events/chain-events.ts'
import type { RateRefusal } from '../tenants/rate-limits.ts'
import { TRIGGER_FORMS } from './rule-configs.ts'
import type { Triggers } from './triggers.ts'

export interface PlatformEventsParts {
  readonly declared: EntityRegistry
  readonly triggers: Pick<Triggers, 'isWatched' | 'requestsOf'>
}

const HOUR_MS = 3_600_000
/** A limit that is reached all the time is told again after this, as in the reference. */
const RATE_AGAIN_MS = 4 * HOUR_MS
const MAX_ERROR = 200

const ACTIONS = { STARTED: 'start', UPDATED: 'update', STOPPED: 'stop' } as const
const APIS = {
  REST_REQUESTS_PER_TENANT: 'REST API requests',
  REST_REQUESTS_PER_CUSTOMER: 'REST API requests per customer',
  WS_UPDATES_PER_SESSION: 'WS updates per session',
  TRANSPORT_MESSAGES_PER_TENANT: 'transport messages',
  TRANSPORT_MESSAGES_PER_DEVICE: 'transport messages per device',
  TRANSPORT_MESSAGES_PER_GATEWAY: 'transport messages per gateway',
  TRANSPORT_MESSAGES_PER_GATEWAY_DEVICE: 'transport messages per gateway device',
  NOTIFICATION_REQUESTS: 'notification requests',
  NOTIFICATION_REQUESTS_PER_RULE: 'notification requests per rule',
} as const satisfies Readonly<Record<RateRefusal['api'], string>>

export class PlatformEvents {
  private readonly parts: PlatformEventsParts

  constructor(parts: PlatformEventsParts) {
    this.parts = parts
  }

  async componentChanged(step: ComponentStep): Promise<readonly Statement[]> {
    const { tenantId, ruleChainId, ruleChainName, component, componentName, event, error } = step
    const said = {
      ruleChainId,
      ruleChainName,
      componentId: component.id,
      componentName,
      action: ACTIONS[event],
      error: (error?.message ?? '').slice(0, MAX_ERROR),
    }
    const componentType = component.entityType === 'RULE_CHAIN' ? 'Rule chain' : 'Rule node'
    return this.parts.triggers.requestsOf({
      type: 'RULE_ENGINE_COMPONENT_LIFECYCLE_EVENT',
      tenantId,
      originator: component,
      info: {
        ...said,
        ruleChainId: { entityType: 'RULE_CHAIN', id: ruleChainId },
        componentId: { entityType: component.entityType, id: component.id },
        eventType: event,
      },
      parameters: { ...said, componentType, eventType: event.toLowerCase() },
      fires: (rule) => {
        const config = TRIGGER_FORMS.RULE_ENGINE_COMPONENT_LIFECYCLE_EVENT.parse(rule.triggerConfig)
        if (!isAmong(config.ruleChains, ruleChainId)) return false
        if (component.entityType === 'RULE_CHAIN')
          return isAmong(config.ruleChainEvents, event) && (config.onlyRuleChainLifecycleFailures !== true || !!error)
        if (config.trackRuleNodeEvents !== true) return false
        return isAmong(config.ruleNodeEvents, event) && (config.onlyRuleNodeLifecycleFailures !== true || !!error)
      },
    })
  }

  /** To the rules of the system. */
  async rateReached({ tenantId, api, level, levelName }: RateRefusal): Promise<readonly Statement[]> {
    const { declared, triggers } = this.parts
    if (!(await triggers.isWatched(SYSTEM_TENANT, 'RATE_LIMITS'))) return []
    const tenantName = (await declared.of(tenants).findAnywhere(tenantId))?.title ?? ''
    const limited: EntityId = level ?? entityId('TENANT', tenantId)
    const limitLevelEntityName = await this.nameOf(limited, tenantName, levelName)
    const said = { tenantId, tenantName, limitLevelEntityName }
    return triggers.requestsOf({
      type: 'RATE_LIMITS',
      tenantId: SYSTEM_TENANT,
      originator: limited,
      info: { ...said, api, limitLevel: { entityType: limited.entityType, id: limited.id } },
      parameters: {
        ...{ ...said, api: APIS[api], limitLevelId: limited.id },
        limitLevelEntityType: wordsOf(limited.entityType),
      },
      concerned: { tenantId },
      once: { key: `${tenantId}/${limited.id}/${api}`, forMs: RATE_AGAIN_MS },
      fires: (rule) => isAmong(TRIGGER_FORMS.RATE_LIMITS.parse(rule.triggerConfig).apis, api),
    })
  }

  private async nameOf({ entityType, id }: EntityId, tenantName: string, given: string | undefined): Promise<string> {
    if (given !== undefined) return given
    if (entityType === 'CUSTOMER') return (await this.parts.declared.of(customers).findAnywhere(id))?.title ?? ''
    if (entityType === 'DEVICE') return (await this.parts.declared.of(devices).findAnywhere(id))?.name ?? ''
    return tenantName
  }
}

/** None named means all. */
function isAmong(named: readonly string[] | null | undefined, wanted: string): boolean {
  return named === null || named === undefined || named.length === 0 || named.includes(wanted)
}

/** `NOTIFICATION_RULE` is `Notification rule`. */
function wordsOf(entityType: string): string {
  const words = entityType.toLowerCase().replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
