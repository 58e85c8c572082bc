/** Clears the active alarm of the originator (`rule-nodes.md` 36). */
import { z } from 'zod'
import type { NodeAlarm, NodeAlarms } from '../../engine/rulechain/capabilities/alarms.ts'
import type { Message } from '../../model/message.ts'
import { passesBy } from '../backfill.ts'
import { defineNode } from '../define-node.ts'
import { pattern } from '../pattern.ts'
import { DETAILS_DEFAULTS, alarmMessage, detailsMembers, detailsScript, tellOfAlarm } from './alarm-details.ts'

export const clearAlarm = defineNode({
  type: 'org.thingsboard.rule.engine.action.TbClearAlarmNode',
  name: 'clear alarm',
  category: 'ACTION',
  relations: ['Cleared', 'False'],
  description:
    "Clears the active alarm of the type, or the alarm that the message is of, with the details that the script builds. The message goes on as the alarm, and a message of its own tells the originator's chain; False where none is active.",
  configuration: z.looseObject(detailsMembers),
  defaults: { ...DETAILS_DEFAULTS, alarmType: 'General Alarm' },
  examples: [
    {
      title: 'nothing is active',
      configuration: { alarmType: 'Hot', scriptLang: 'TBEL', alarmDetailsBuildTbel: 'return {};' },
      given: { data: '{"temperature":20}' },
      expect: { relations: ['False'], data: '{"temperature":20}' },
    },
  ],
  uses: ['alarms', 'scripts'],
  effects: true,
  create: async (configuration, context) => {
    const script = await detailsScript(configuration, context)
    const typeOf = pattern(configuration.alarmType)
    const { alarms } = context.services
    return {
      handle: async (message) => {
        if (passesBy(message, configuration)) return 'False'
        const active = await activeAlarm(message, alarms, typeOf(message))
        if (active === undefined) return 'False'
        const details = await script.details(message, active.details)
        const cleared = await alarms.clear(active.originator, active.type, details)
        // Somebody else cleared it meanwhile.
        if (cleared === undefined) return 'Success'
        await tellOfAlarm(message, 'ALARM_CLEAR', cleared, context)
        return { message: alarmMessage(message, cleared, 'isClearedAlarm'), relations: ['Cleared'] }
      },
      close: () => script.close(),
    }
  },
})

async function activeAlarm(
  { originator }: Message,
  alarms: Pick<NodeAlarms, 'find' | 'findActive'>,
  type: string,
): Promise<NodeAlarm | undefined> {
  if (originator.entityType !== 'ALARM') return alarms.findActive(originator, type)
  const alarm = await alarms.find(originator.id)
  return alarm?.status.startsWith('CLEARED') === true ? undefined : alarm
}
