/** Alarms as rules raise and clear them: those of the node's tenant. */
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { NodeAlarm, NodeAlarms, RaisedAlarm } from '../../engine/rulechain/capabilities/alarms.ts'
import { alarms as definition, statusOf, type Alarm } from '../entities/alarm.ts'
import type { Services } from '../services.ts'

export function nodeAlarms({ alarms }: Pick<Services, 'alarms'>): (node: NodeIdentity) => NodeAlarms {
  return ({ tenantId }) => {
    const shown = (alarm: Alarm | undefined): NodeAlarm | undefined =>
      alarm?.tenantId === tenantId ? shownOf(alarm, definition.jsonOf(alarm)) : undefined
    return {
      find: async (id) => shown(await alarms.find(id)),
      findActive: async (originator, type) => shown(await alarms.findActive(originator.id, type)),
      createOrUpdate: async (draft): Promise<RaisedAlarm> => {
        const { alarm, before, info } = await alarms.createOrUpdate(tenantId, draft)
        const result =
          before === undefined ? 'created' : before.severity === alarm.severity ? 'updated' : 'severity updated'
        return { alarm: shownOf(alarm, info), result, previousSeverity: before?.severity ?? null }
      },
      clear: async (originator, type, details) => {
        const active = await alarms.findActive(originator.id, type)
        if (active?.tenantId !== tenantId) return undefined
        const outcome = await alarms.clear(originator, type, details)
        return outcome && shownOf(outcome.alarm, outcome.info)
      },
    }
  }
}

function shownOf(alarm: Alarm, json: JsonObject): NodeAlarm {
  const { id, originatorType, originatorId, type, severity, startTs, endTs, details } = alarm
  const originator = entityId(originatorType, originatorId)
  return { id, originator, type, severity, status: statusOf(alarm), startTs, endTs, details, json }
}
