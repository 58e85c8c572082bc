/** Alarms in memory: one active a type and originator, as the platform has it. */
import type { EntityId } from '../../model/entity-id.ts'
import type { NodeAlarm, NodeAlarmDraft, NodeAlarms, RaisedAlarm } from '../../engine/rulechain/capabilities/alarms.ts'

export class FakeAlarms implements NodeAlarms {
  readonly drafts: NodeAlarmDraft[] = []
  private readonly held = new Map<string, NodeAlarm>()
  private readonly raised = new Map<string, RaisedAlarm>()
  private readonly cleared = new Map<string, NodeAlarm>()
  private readonly now: () => number

  constructor(now: () => number) {
    this.now = now
  }

  all(): readonly NodeAlarm[] {
    return [...this.held.values()]
  }

  async find(id: string): Promise<NodeAlarm | undefined> {
    return this.held.get(id)
  }

  async findActive(originator: EntityId, type: string): Promise<NodeAlarm | undefined> {
    return [...this.held.values()].find(
      (alarm) => alarm.originator.id === originator.id && alarm.type === type && alarm.status.startsWith('ACTIVE'),
    )
  }

  /** Visits are told apart by their ids alone. */
  createOrUpdate: NodeAlarms['createOrUpdate'] = async (place, visit, membersOf) => {
    const key = `${visit.id} ${place.originator.id} ${place.type}`
    const told = this.raised.get(key)
    if (told !== undefined) return told
    const members = await membersOf(await this.findActive(place.originator, place.type))
    if (members === undefined) return undefined
    const { originator, type } = place
    const raised = await this.raise({ ...members, originator, type })
    this.raised.set(key, raised)
    return raised
  }

  readonly clear: NodeAlarms['clear'] = async (place, visit, clearingOf) => {
    const key = `${visit.id} ${place.originator.id} ${place.type}`
    const told = this.cleared.get(key)
    if (told !== undefined) return told
    const active = await this.findActive(place.originator, place.type)
    const clearing = active && (await clearingOf(active))
    if (active === undefined || clearing === undefined) return undefined
    const status = active.status === 'ACTIVE_ACK' ? 'CLEARED_ACK' : 'CLEARED_UNACK'
    const cleared = this.keep({ ...active, status, details: clearing.details ?? active.details })
    this.cleared.set(key, cleared)
    return cleared
  }

  /** As somebody else does it, as the next. */
  async end({ id }: EntityId, type: string): Promise<void> {
    const active = [...this.held.values()].find(
      (alarm) => alarm.originator.id === id && alarm.type === type && alarm.status.startsWith('ACTIVE'),
    )
    if (active === undefined) throw new Error(`no alarm of type ${type} is active`)
    this.keep({ ...active, status: 'CLEARED_UNACK' })
  }

  async raise(draft: NodeAlarmDraft): Promise<RaisedAlarm> {
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

  private keep(alarm: Omit<NodeAlarm, 'json'>): NodeAlarm {
    const { id, originator, type, severity, status, details } = alarm
    const json = { id: { entityType: 'ALARM', id }, originator: { ...originator }, type, severity, status, details }
    const kept = { ...alarm, json }
    this.held.set(id, kept)
    return kept
  }
}
