/** Alarms in memory: one active a type and originator, as the platform has it. */
import type { EntityId } from '../../model/entity-id.ts'
import type { JsonValue } from '../../model/json.ts'
import type { NodeAlarm, NodeAlarmDraft, NodeAlarms, RaisedAlarm } from '../../engine/rulechain/capabilities/alarms.ts'

export class FakeAlarms implements NodeAlarms {
  readonly drafts: NodeAlarmDraft[] = []
  private readonly held = new Map<string, NodeAlarm>()
  private readonly now: () => number

  constructor(now: () => number) {
    this.now = now
  }

  async find(id: string): Promise<NodeAlarm | undefined> {
    return this.held.get(id)
  }

  async findActive(originator: EntityId, type: string): Promise<NodeAlarm | undefined> {
    return [...this.held.values()].find(
      (alarm) => alarm.originator.id === originator.id && alarm.type === type && alarm.status.startsWith('ACTIVE'),
    )
  }

  async createOrUpdate(draft: NodeAlarmDraft): Promise<RaisedAlarm> {
    this.drafts.push(draft)
    const { originator, type, severity } = draft
    const before = await this.findActive(originator, type)
    const startTs = before?.startTs ?? draft.startTs ?? this.now()
    const alarm = this.keep({
      ...{ id: before?.id ?? `77777777-7777-4777-8777-${String(this.held.size + 1).padStart(12, '0')}` },
      ...{ originator, type, severity, startTs, endTs: draft.endTs ?? startTs },
      status: before?.status ?? 'ACTIVE_UNACK',
      details: draft.details ?? null,
    })
    const result = before === undefined ? 'created' : before.severity === severity ? 'updated' : 'severity updated'
    return { alarm, result, previousSeverity: before?.severity ?? null }
  }

  async clear(originator: EntityId, type: string, details?: JsonValue): Promise<NodeAlarm | undefined> {
    const active = await this.findActive(originator, type)
    if (active === undefined) return undefined
    const status = active.status === 'ACTIVE_ACK' ? 'CLEARED_ACK' : 'CLEARED_UNACK'
    return this.keep({ ...active, status, details: details ?? active.details })
  }

  private keep(alarm: Omit<NodeAlarm, 'json'>): NodeAlarm {
    const { id, originator, type, severity, status, details } = alarm
    const json = { id: { entityType: 'ALARM', id }, originator: { ...originator }, type, severity, status, details }
    const kept = { ...alarm, json }
    this.held.set(id, kept)
    return kept
  }
}
