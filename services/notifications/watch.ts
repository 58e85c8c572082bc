/** Where changes of entities, alarms and devices become requests by the rules. */
import type { ChangeFeed, ChangeOf } from '../../engine/subscriptions/change.ts'
import { errorText } from '../../model/errors.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { SYSTEM_TENANT, type EntityEvent } from '../changes/changes.ts'
import { devices } from '../entities/device.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { tenants } from '../entities/tenant.ts'
import type { LimitsOfTenants } from '../tenants/limits.ts'
import type { Report } from '../changes/outbox.ts'
import type { ChangeNotifications } from './change-notifications.ts'
import type { NotificationEvents } from './events.ts'
import type { Triggers } from './triggers.ts'

export interface WatchParts {
  readonly declared: EntityRegistry
  readonly entities: EntityStore
  readonly feed: ChangeFeed
  readonly limits: Pick<LimitsOfTenants, 'limitOf' | 'count'>
  readonly events: NotificationEvents
  readonly triggers: Pick<Triggers, 'committed'>
  /** Sends what was just committed. */
  readonly wake: () => void
  readonly report: Report
}

const ACTIONS = { ENTITY_CREATED: 'ADDED', ENTITY_UPDATED: 'UPDATED', ENTITY_DELETED: 'DELETED' } as const
/** One of them is written with `active`: the first where it becomes active, the other where it falls silent. */
const OWNERS_TIMES: ReadonlySet<string> = new Set(['lastActivityTime', 'inactivityAlarmTime'])
/** More devices that become active or silent at once are not told one by one. */
const MAX_WAITING = 10_000

export class NotificationWatch implements ChangeNotifications {
  private readonly parts: WatchParts
  private readonly stopListening: () => void
  /** Device to whether it is active now. */
  private readonly waiting = new Map<string, boolean>()
  private underWay: Promise<void> | undefined
  private isClosed = false

  constructor(parts: WatchParts) {
    this.parts = parts
    this.stopListening = parts.feed.listenToAll(['attributes'], (change) => this.heard(change))
  }

  alarmChanged(...change: Parameters<ChangeNotifications['alarmChanged']>): Promise<readonly Statement[]> {
    return this.parts.events.alarmChanged(...change)
  }

  alarmCommented(...change: Parameters<ChangeNotifications['alarmCommented']>): Promise<readonly Statement[]> {
    return this.parts.events.alarmCommented(...change)
  }

  async entityChanged(event: EntityEvent): Promise<readonly Statement[]> {
    const { type, tenantId, originator, principal, metadata } = event
    if (!isAction(type) || tenantId === SYSTEM_TENANT) return []
    const name = metadata['entityName'] ?? ''
    const told = await this.parts.events.entityChanged(tenantId, ACTIONS[type], originator, name, principal)
    return type === 'ENTITY_CREATED' ? [...told, ...(await this.nearLimit(event))] : told
  }

  committed(statements: readonly Statement[]): void {
    if (statements.length === 0) return
    this.parts.triggers.committed(statements)
    this.parts.wake()
  }

  /** Resolves when every device that was heard of is told. */
  async settled(): Promise<void> {
    while (this.underWay !== undefined) await this.underWay
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.stopListening()
    await this.settled()
  }

  /** One more than there are: the change itself is not committed yet. */
  private async nearLimit({ tenantId, originator: { entityType } }: EntityEvent): Promise<readonly Statement[]> {
    const { events, limits, declared } = this.parts
    if (!(await events.isLimitWatched(SYSTEM_TENANT))) return []
    const limit = await limits.limitOf(tenantId, entityType)
    if (limit === undefined || limit === 0) return []
    const count = (await limits.count(tenantId, entityType)) + 1
    const tenant = await declared.of(tenants).findAnywhere(tenantId)
    return events.limitNeared(SYSTEM_TENANT, { id: tenantId, title: tenant?.title ?? '' }, entityType, count, limit)
  }

  /** Only the owner of a device writes `active` with a time of its own, in its own process. */
  private heard({ entity, scope, remote, attributes }: ChangeOf<'attributes'>): void {
    if (this.isClosed || remote === true || scope !== 'SERVER_SCOPE' || entity.entityType !== 'DEVICE') return
    const active = attributes.find(({ key }) => key === 'active')
    if (active?.type !== 'BOOLEAN' || !attributes.some(({ key }) => OWNERS_TIMES.has(key))) return
    if (this.waiting.size >= MAX_WAITING) {
      return this.parts.report('Rules about devices are not told that one changed: too many do', {
        deviceId: entity.id,
      })
    }
    this.waiting.set(entity.id, active.value)
    this.begin()
  }

  private begin(): void {
    this.underWay ??= this.tellAll().finally(() => {
      this.underWay = undefined
      if (this.waiting.size > 0) this.begin()
    })
  }

  private async tellAll(): Promise<void> {
    for (const [id, isActive] of this.waiting) {
      this.waiting.delete(id)
      try {
        await this.tell(id, isActive)
      } catch (error) {
        const fields = { deviceId: id, error: errorText(error) }
        this.parts.report('Rules about devices are not told that one became active or silent', fields)
      }
    }
  }

  private async tell(id: string, isActive: boolean): Promise<void> {
    const { declared, events, entities } = this.parts
    const device = await declared.of(devices).findAnywhere(id)
    if (device === undefined) return
    const statements = await events.deviceActive(device.tenantId, isActive, device)
    if (statements.length === 0) return
    await entities.write(statements)
    this.committed(statements)
  }
}

function isAction(type: string): type is keyof typeof ACTIONS {
  return Object.hasOwn(ACTIONS, type)
}
