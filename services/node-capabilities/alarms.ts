/** Alarms as rules raise and clear them: those of the node's tenant, each visit of a node once. */
import { entityId } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { NodeAlarm, NodeAlarms, RaisedAlarm } from '../../engine/rulechain/capabilities/alarms.ts'
import type { AlarmOutcome } from '../alarms/alarm-service.ts'
import type { AlarmVisits, ToldAlarm } from '../alarms/visits.ts'
import { alarms as definition, statusOf, type Alarm } from '../entities/alarm.ts'
import type { Services } from '../services.ts'
import { UsageErrors } from '../usage/errors.ts'

const ALARMS_USED_UP = UsageErrors.ALARMS().code

export function nodeAlarms(
  { alarms }: Pick<Services, 'alarms'>,
  visits: Pick<AlarmVisits, 'of' | 'once' | 'steps' | 'isOfLater'>,
): (node: NodeIdentity) => NodeAlarms {
  return (node) => {
    const { tenantId } = node
    const shown = (alarm: Alarm | undefined): NodeAlarm | undefined =>
      alarm?.tenantId === tenantId ? shownOf(alarm, definition.jsonOf(alarm)) : undefined
    const findActive: NodeAlarms['findActive'] = async (originator, type) =>
      shown(await alarms.findActive(originator.id, type))
    return {
      find: async (id) => shown(await alarms.find(id)),
      findActive,
      createOrUpdate: async (place, visit, membersOf): Promise<RaisedAlarm | undefined> => {
        const at = visits.of(node, visit, 'raise', place)
        const told = await visits.once(at, async () => {
          const members = await membersOf(await findActive(place.originator, place.type))
          if (members === undefined) return undefined
          const { originator, type } = place
          const draft = { ...members, originator, type }
          const raised = await alarms
            .createOrUpdate(tenantId, draft, (outcome) => visits.steps(at, raisedOf(outcome)))
            .catch(usedUp)
          return raised && raisedOf(raised)
        })
        return told === undefined || told.result === 'cleared' ? undefined : { ...told, result: told.result }
      },
      clear: async (place, visit, clearingOf) => {
        const at = visits.of(node, visit, 'clear', place)
        const told = await visits.once(at, async () => {
          const { originator, type } = place
          const active = await findActive(originator, type)
          if (active === undefined || (await visits.isOfLater(at, active.id))) return undefined
          const clearing = await clearingOf(active)
          if (clearing === undefined) return undefined
          const cleared = await alarms.clear(originator, type, clearing.details, (outcome) =>
            visits.steps(at, clearedOf(outcome)),
          )
          return cleared && clearedOf(cleared)
        })
        return told?.alarm
      },
    }
  }
}

function raisedOf({ alarm, before, info }: AlarmOutcome): ToldAlarm {
  const result = before === undefined ? 'created' : before.severity === alarm.severity ? 'updated' : 'severity updated'
  return { alarm: shownOf(alarm, info), result, previousSeverity: before?.severity ?? null }
}

function clearedOf({ alarm, info }: AlarmOutcome): ToldAlarm {
  return { alarm: shownOf(alarm, info), result: 'cleared', previousSeverity: null }
}

/** Undefined where the tenant may create no more alarms. */
function usedUp(error: unknown): undefined {
  if (isMillraceError(error) && error.code === ALARMS_USED_UP) return undefined
  throw error
}

function shownOf(alarm: Alarm, json: JsonObject): NodeAlarm {
  const { id, originatorType, originatorId, type, severity, startTs, endTs, details } = alarm
  const originator = entityId(originatorType, originatorId)
  return { id, originator, type, severity, status: statusOf(alarm), startTs, endTs, details, json }
}
