/** Clears the active alarm of the originator (`rule-nodes.md` 36). */
import { z } from 'zod'
import type { AlarmPlace, NodeAlarm, NodeAlarms } from '../../engine/rulechain/capabilities/alarms.ts'
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
    "Clears the active alarm of the type, or the alarm that the message is of, with the script's details. The message goes on as the alarm, and another one tells the originator's chain; False if none is active.",
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
      handle: async (message, at) => {
        if (passesBy(message, configuration)) return 'False'
        const named = await alarmOf(message, alarms)
        if (named === 'gone') return 'False'
        let wasActive = false
        const place: AlarmPlace = named ?? { originator: message.originator, type: typeOf(message) }
        const cleared = await alarms.clear(place, at.visit(), async (active) => {
          if (named !== undefined && named.id !== active.id) return undefined
          wasActive = true
          return { details: await script.details(message, active.details) }
        })
        // Somebody else cleared it meanwhile, or nothing was active.
        if (cleared === undefined) return wasActive ? 'Success' : 'False'
        await tellOfAlarm(message, 'ALARM_CLEAR', cleared, context)
        return { message: alarmMessage(message, cleared, 'isClearedAlarm'), relations: ['Cleared'] }
      },
      close: () => script.close(),
    }
  },
})

/** The alarm that the message is of; undefined where it is of another entity. */
async function alarmOf(
  { originator }: Message,
  alarms: Pick<NodeAlarms, 'find'>,
): Promise<NodeAlarm | 'gone' | undefined> {
  if (originator.entityType !== 'ALARM') return undefined
  return (await alarms.find(originator.id)) ?? 'gone'
}
