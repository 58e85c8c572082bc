/** The enabled rules of tenants and of the system, kept in memory: every change of an entity asks for them. */
import { lruMap } from '../../model/lru-map.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { notificationRules, type NotificationRule } from '../entities/notification.ts'

/** Most tenants have few; who has none is remembered too. */
const MAX_TENANTS = 10_000

export class RulesInForce {
  private readonly declared: EntityRegistry
  private readonly known = lruMap<Promise<readonly NotificationRule[]>>(MAX_TENANTS)
  private readonly stops: readonly (() => void)[]

  constructor(declared: EntityRegistry, feed: ChangeFeed) {
    this.declared = declared
    this.stops = [
      feed.listenToAll(['settings-changed', 'entity-deleted'], ({ entity: { entityType } }) => {
        if (entityType === 'NOTIFICATION_RULE') this.known.clear()
      }),
      feed.onGap(() => this.known.clear()),
    ]
  }

  async of(tenantId: string, type: NotificationRule['triggerType']): Promise<readonly NotificationRule[]> {
    let rules = this.known.get(tenantId)
    if (rules === undefined) {
      rules = this.declared.of(notificationRules).findAllBy(tenantId, { enabled: true })
      this.known.set(tenantId, rules)
      const read = rules
      rules.catch(() => {
        if (this.known.peek(tenantId) === read) this.known.delete(tenantId)
      })
    }
    return (await rules).filter(({ triggerType }) => triggerType === type)
  }

  close(): void {
    for (const stop of this.stops) stop()
  }
}
