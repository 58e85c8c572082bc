/** Alarms as the API and messages show them: with the names of their originators and of who has them. */
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { User } from '../../model/entities.ts'
import type { AssigneeColumns } from '../../storage/entities/alarms.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import { alarmInfoJson, alarms, type Alarm } from '../entities/alarm.ts'
import type { ManyNamesLookup } from '../entities/many-names.ts'

export interface AlarmInfosParts {
  readonly namesOf: ManyNamesLookup
  readonly findUser: (id: string) => Promise<User | undefined>
}

export class AlarmInfos {
  private readonly parts: AlarmInfosParts

  constructor(parts: AlarmInfosParts) {
    this.parts = parts
  }

  /** Of one that is about to be written. */
  async of(alarm: Alarm): Promise<JsonObject> {
    const { tenantId, originatorType, originatorId, assigneeId } = alarm
    const names = await this.parts.namesOf(tenantId, [entityId(originatorType, originatorId)])
    const found = names.get(originatorId)
    const user = assigneeId === null ? undefined : await this.parts.findUser(assigneeId)
    const { id = '', firstName = null, lastName = null, email = '' } = user ?? {}
    const assignee = user === undefined ? null : { id, firstName, lastName, email }
    return alarmInfoJson(alarm, {
      originatorName: found?.name ?? null,
      originatorLabel: found?.label ?? null,
      assignee,
    })
  }

  /** Rows as lists show them. */
  async ofRows(rows: readonly (Row & AssigneeColumns)[]): Promise<JsonObject[]> {
    const found = rows.map((row) => ({ alarm: alarms.recordOf(row), row }))
    const originators = found.map(({ alarm }) => entityId(alarm.originatorType, alarm.originatorId))
    const names = await this.parts.namesOf(found[0]?.alarm.tenantId ?? '', originators)
    return found.map(({ alarm, row }) => {
      const { assignee_email: email, assignee_first_name: firstName, assignee_last_name: lastName } = row
      const { assigneeId: id, originatorId } = alarm
      const name = names.get(originatorId)
      return alarmInfoJson(alarm, {
        originatorName: name?.name ?? null,
        originatorLabel: name?.label ?? null,
        assignee: id === null || email === null ? null : { id, firstName, lastName, email },
      })
    })
  }
}
