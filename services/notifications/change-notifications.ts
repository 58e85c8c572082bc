/** What services ask for when they change something: the requests that rules make of it. */
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityEvent } from '../changes/changes.ts'
import type { Alarm } from '../entities/alarm.ts'

export interface AlarmChange {
  readonly alarm: Alarm
  /** Undefined where it is new. */
  readonly before: Alarm | undefined
  /** As clients see it. */
  readonly info: JsonObject
  /** Undefined for a rule chain. */
  readonly by: Principal | undefined
}

/** Each answers the steps for the transaction in which it happens. */
export interface ChangeNotifications {
  alarmChanged(change: AlarmChange): Promise<readonly Statement[]>
  alarmCommented(change: Omit<AlarmChange, 'before'>, comment: JsonValue, isNew: boolean): Promise<readonly Statement[]>
  entityChanged(event: EntityEvent): Promise<readonly Statement[]>
  /** The steps are durable. */
  committed(statements: readonly Statement[]): void
}
