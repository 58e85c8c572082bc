/** What alarms are raised and changed by, and what is refused of it. */
import type { EntityId } from '../../model/entity-id.ts'
import type { JsonValue } from '../../model/json.ts'
import type { AlarmSeverity } from '../entities/alarm.ts'
import { checkName } from '../names.ts'
import { AlarmErrors } from './errors.ts'

const MAX_RELATION_TYPES = 100

/** What raises an alarm, or says anew how it stands. Members that are left out are at their defaults. */
export interface AlarmDraft {
  readonly originator: EntityId
  readonly type: string
  readonly severity: AlarmSeverity
  readonly startTs?: number | undefined
  readonly endTs?: number | undefined
  readonly details?: JsonValue | undefined
  readonly propagate?: boolean | undefined
  readonly propagateToOwner?: boolean | undefined
  readonly propagateToTenant?: boolean | undefined
  readonly propagateRelationTypes?: readonly string[] | undefined
}

export interface UserAlarmDraft extends AlarmDraft {
  /** Present for an update. */
  readonly id?: string | undefined
  /** True acknowledges or clears it as well; false undoes nothing. */
  readonly acknowledged?: boolean | undefined
  readonly cleared?: boolean | undefined
  readonly assigneeId?: string | undefined
  /** Customer users must say it of what they make. */
  readonly customerId?: string | undefined
}

/** Throws `RELATION_TYPES`, and what `checkName` throws. */
export function checkDraft({ type, propagateRelationTypes = [] }: AlarmDraft): void {
  checkName('Alarm', 'type', type)
  if (propagateRelationTypes.length > MAX_RELATION_TYPES)
    throw AlarmErrors.RELATION_TYPES({ limit: MAX_RELATION_TYPES })
}

/** As a row holds them. `startedAt` is its start where the draft says none. */
export function membersOf(draft: AlarmDraft, startedAt: number) {
  const startTs = draft.startTs === undefined || draft.startTs <= 0 ? startedAt : draft.startTs
  return {
    severity: draft.severity,
    startTs,
    endTs: draft.endTs === undefined || draft.endTs <= 0 ? startTs : draft.endTs,
    details: draft.details ?? {},
    propagate: draft.propagate ?? false,
    propagateToOwner: draft.propagateToOwner ?? false,
    propagateToTenant: draft.propagateToTenant ?? false,
    propagateRelationTypes: [...(draft.propagateRelationTypes ?? [])],
  }
}
