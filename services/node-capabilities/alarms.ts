/** Alarms as rules raise and clear them: those of the node's tenant. */
import { entityId } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { NodeAlarm, NodeAlarms, RaisedAlarm } from '../../engine/rulechain/capabilities/alarms.ts'
import { alarms as definition, statusOf, type Alarm } from '../entities/alarm.ts'
import type { Services } from '../services.ts'
import { UsageErrors } from '../usage/errors.ts'

const ALARMS_USED_UP = UsageErrors.ALARMS().code

export function nodeAlarms({ alarms }: Pick<Services, 'alarms'>): (node: NodeIdentity) => NodeAlarms {
  return ({ tenantId }) => {
    const shown = (alarm: Alarm | undefined): NodeAlarm | undefined =>
      alarm?.tenantId === tenantId ? shownOf(alarm, definition.jsonOf(alarm)) : undefined
    return {
      find: async (id) => shown(await alarms.find(id)),
      findActive: async (originator, type) => shown(await alarms.findActive(originator.id, type)),
      createOrUpdate: async (draft): Promise<RaisedAlarm | undefined> => {
        const raised = await alarms.createOrUpdate(tenantId, draft).catch(usedUp)
        if (raised === undefined) return undefined
        const { alarm, before, info } = raised
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
