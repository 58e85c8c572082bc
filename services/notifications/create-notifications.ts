/** All of notifications: what is sent, the rules that ask for it, and who watches for what they are about. */
import type { RateRefusal } from '../tenants/rate-limits.ts'
import { NotificationEvents } from './events.ts'
import { Notifications, type NotificationParts } from './notifications.ts'
import { PlatformEvents } from './platform-events.ts'
import { PlatformWatch } from './platform-watch.ts'
import { RulesInForce } from './rules-in-force.ts'
import { Triggers, type TriggersParts } from './triggers.ts'
import { NotificationWatch, type WatchParts } from './watch.ts'

export interface NotificationSet {
  readonly notifications: Notifications
  readonly triggers: Triggers
  /** Of entities, alarms and devices. */
  readonly watch: NotificationWatch
  readonly platformWatch: PlatformWatch
  readonly rateReached: (refusal: RateRefusal) => void
  /** Resolves when what is under way was sent. */
  close(): Promise<void>
}

export type NotificationSetParts = NotificationParts & Pick<TriggersParts, 'limits'> & Pick<WatchParts, 'limits'>

export function createNotifications(parts: NotificationSetParts): NotificationSet {
  const { declared, entities, feed, limits, clock, report } = parts
  const notifications = new Notifications(parts)
  const rules = new RulesInForce(declared, feed)
  const hasRoom = (tenantId: string): Promise<boolean> => notifications.hasRoom(tenantId)
  const rateReached = (refusal: RateRefusal): void => platformWatch.rateReached(refusal)
  const triggers = new Triggers({ entities, declared, rules, limits, clock, hasRoom, rateReached })
  const watch = new NotificationWatch({
    ...{ declared, entities, feed, limits, triggers, report },
    events: new NotificationEvents(triggers),
    wake: () => notifications.wake(),
  })
  const platformWatch = new PlatformWatch({
    ...{ entities, clock, report, committed: (statements) => watch.committed(statements) },
    events: new PlatformEvents({ declared, triggers }),
  })
  return {
    notifications,
    triggers,
    watch,
    platformWatch,
    rateReached,
    close: async () => {
      rules.close()
      await Promise.all([watch.close(), platformWatch.close()])
      await notifications.close()
    },
  }
}
