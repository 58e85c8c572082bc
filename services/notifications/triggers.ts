/**
 * What sets rules off. The requests that follow go into the transaction of the change itself, so that none is lost and none is made for a
 * change that is not there; escalations wait among the requests until their time has come. Source: `rest-api.md` 15.4.
 */
import { lruMap } from '../../model/lru-map.ts'
import type { Clock } from '../../model/clock.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import {
  notificationRequests,
  notificationTemplates,
  type NotificationRequest,
  type NotificationRule,
} from '../entities/notification.ts'
import { rowsOf } from '../entities/rows.ts'
import type { LimitsOfTenants } from '../tenants/limits.ts'
import type { RateRefusal } from '../tenants/rate-limits.ts'
import { RatesById } from '../../model/rates.ts'
import { contextJson, textIds } from './delivery.ts'
import type { Concerned } from './recipients.ts'
import { recipientsOf } from './rule-configs.ts'
import type { RulesInForce } from './rules-in-force.ts'
import type { Parameters } from './templates.ts'

export interface TriggersParts {
  readonly entities: EntityStore
  readonly declared: EntityRegistry
  readonly rules: RulesInForce
  readonly limits: Pick<LimitsOfTenants, 'of'>
  readonly clock: Clock
  /** Whether one more request of the tenant may wait. */
  readonly hasRoom: (tenantId: string) => Promise<boolean>
  /** What happens is not told, since rules of the tenant tell too much. */
  readonly rateReached: (refusal: RateRefusal) => void
}

/** Something that rules may be about. */
export interface TriggerEvent {
  readonly type: NotificationRule['triggerType']
  /** Whose rules: of the system for what happens to a tenant. */
  readonly tenantId: string
  readonly originator: EntityId
  /** For front ends, beside its `type`. */
  readonly info: JsonObject
  readonly parameters: Parameters
  readonly concerned?: Omit<Concerned, 'originator'>
  readonly fires: (rule: NotificationRule) => boolean
  /** What the rule still had to say of the originator is over: who heard of it hears that too. */
  readonly ends?: (rule: NotificationRule) => boolean
  /** Of those that are the same a rule tells the first one in so long. */
  readonly once?: { readonly key: string; readonly forMs: number }
}

const MAX_REMEMBERED = 100_000
/** Changes side by side tell once; one that came to nothing holds back the next one no longer. */
const COMMIT_MS = 10_000

interface ToldOnce {
  readonly key: string
  readonly until: number
}

export class Triggers {
  private readonly parts: TriggersParts
  private readonly rows: RowStore
  private readonly tenantRates = new RatesById()
  private readonly ruleRates = new RatesById()
  /** Until when (Unix ms), by rule and what happened. */
  private readonly told = lruMap<number>(MAX_REMEMBERED)
  /** What counts as told once the step is durable. */
  private readonly uncommitted = new WeakMap<Statement, ToldOnce>()

  constructor(parts: TriggersParts) {
    this.parts = parts
    this.rows = rowsOf(notificationRequests, parts.entities)
  }

  /** Whether anybody has a rule of the type: what the event says need not be read where nobody has. */
  async isWatched(tenantId: string, type: NotificationRule['triggerType']): Promise<boolean> {
    return (await this.parts.rules.of(tenantId, type)).length > 0
  }

  /** Steps for the transaction in which it happens. */
  async requestsOf(event: TriggerEvent): Promise<readonly Statement[]> {
    const statements: Statement[] = []
    for (const rule of await this.parts.rules.of(event.tenantId, event.type)) {
      if (event.ends?.(rule) === true) statements.push(...(await this.ending(rule, event)))
      else if (event.fires(rule) && (await this.isAdmitted(rule, event)))
        for (const [delay, targets] of recipientsOf(rule.triggerType, rule.recipientsConfig)) {
          const statement = await this.request(rule, event, targets, delay)
          if (event.once !== undefined)
            this.uncommitted.set(statement, {
              key: onceKeyOf(rule, event.once.key),
              until: this.parts.clock.now() + event.once.forMs,
            })
          statements.push(statement)
        }
    }
    return statements
  }

  /** The steps are durable. */
  committed(statements: readonly Statement[]): void {
    for (const statement of statements) {
      const once = this.uncommitted.get(statement)
      if (once !== undefined) this.told.set(once.key, once.until)
    }
  }

  private async isAdmitted(rule: NotificationRule, { tenantId, once }: TriggerEvent): Promise<boolean> {
    const { clock, limits, hasRoom, rateReached } = this.parts
    if (once !== undefined) {
      const key = onceKeyOf(rule, once.key)
      if ((this.told.get(key) ?? 0) > clock.now()) return false
      this.told.set(key, clock.now() + Math.min(once.forMs, COMMIT_MS))
    }
    if (!(await hasRoom(tenantId))) return false
    if (tenantId === SYSTEM_TENANT) return true
    const { tenantNotificationRequestsRateLimit: ofTenant, tenantNotificationRequestsPerRuleRateLimit: ofRule } =
      await limits.of(tenantId)
    const now = clock.monotonic()
    if (!this.ruleRates.admit(rule.id, ofRule, now)) {
      const level = entityId('NOTIFICATION_RULE', rule.id)
      rateReached({ tenantId, api: 'NOTIFICATION_REQUESTS_PER_RULE', level, levelName: rule.name })
      return false
    }
    const isAdmitted = this.tenantRates.admit(tenantId, ofTenant, now)
    if (!isAdmitted) rateReached({ tenantId, api: 'NOTIFICATION_REQUESTS' })
    return isAdmitted
  }

  private async request(
    rule: NotificationRule,
    event: TriggerEvent,
    targets: readonly string[],
    delay: number,
  ): Promise<Statement> {
    const { declared, clock } = this.parts
    const { tenantId, type, originator, info, parameters, concerned } = event
    const requests = declared.of(notificationRequests)
    const template = await declared.of(notificationTemplates).find(tenantId, rule.templateId)
    return requests.insert(
      requests.fresh(tenantId, {
        targets: [...targets],
        templateName: template?.name ?? '',
        templateId: rule.templateId,
        info: { type, ...info },
        additionalConfig: delay === 0 ? null : { sendingDelayInSec: delay },
        originatorEntityId: { entityType: originator.entityType, id: originator.id },
        ruleId: { entityType: 'NOTIFICATION_RULE', id: rule.id },
        status: delay === 0 ? 'PROCESSING' : 'SCHEDULED',
        dueTime: clock.now() + delay * 1000,
        context: contextJson({ parameters, concerned: { ...concerned, originator } }),
        ruleEntity: keyOf(rule, originator),
      }),
    )
  }

  private async ending(rule: NotificationRule, event: TriggerEvent): Promise<readonly Statement[]> {
    const ruleEntity = keyOf(rule, event.originator)
    const made = await this.parts.declared.of(notificationRequests).findAllBy(event.tenantId, { ruleEntity })
    if (made.length === 0) return []
    const told = made.filter(({ status }) => status !== 'SCHEDULED')
    const targets = [...new Set(told.flatMap((request: NotificationRequest) => textIds(request.targets)))]
    const waiting = this.rows.deleteAll([
      { column: 'rule_entity', is: ruleEntity },
      { column: 'status', is: 'SCHEDULED' },
    ])
    return targets.length === 0 ? [waiting] : [waiting, await this.request(rule, event, targets, 0)]
  }
}

function onceKeyOf({ id }: NotificationRule, key: string): string {
  return `${id}/${key}`
}

function keyOf(rule: NotificationRule, originator: EntityId): string {
  return `${rule.id}/${originator.id}`
}
