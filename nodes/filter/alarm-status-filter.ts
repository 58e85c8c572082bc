/** Looks up the alarm in the body and compares its present status (`rule-nodes.md` 2). */
import { z } from 'zod'
import { isUuid } from '../../model/entity-id.ts'
import { isJsonObject } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { bodyObject } from '../body.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'

const STATUSES = ['ACTIVE_UNACK', 'ACTIVE_ACK', 'CLEARED_UNACK', 'CLEARED_ACK'] as const

export const alarmStatusFilter = defineNode({
  type: 'org.thingsboard.rule.engine.filter.TbCheckAlarmStatusNode',
  name: 'alarm status filter',
  category: 'FILTER',
  relations: ['True', 'False'],
  description: 'True where the alarm in the body has one of the listed statuses now. No alarm: Failure.',
  configuration: z.looseObject({
    alarmStatusList: z
      .array(z.enum(STATUSES))
      .meta({ title: 'Statuses', description: `Of ${STATUSES.join(', ')}; an empty list lets nothing pass.` }),
  }),
  defaults: { alarmStatusList: ['ACTIVE_ACK', 'ACTIVE_UNACK'] },
  examples: [
    {
      title: 'a body that is no alarm',
      configuration: { alarmStatusList: ['ACTIVE_ACK'] },
      given: { data: '{"temperature":1}' },
      expect: { relations: ['Failure'] },
    },
  ],
  uses: ['alarms'],
  create: ({ alarmStatusList }, { services }) => ({
    handle: async (message) => {
      const id = alarmIdOf(message)
      const alarm = await services.alarms.find(id)
      if (alarm === undefined) throw NodeErrors.ENTITY_GONE({ type: 'ALARM', id })
      return alarmStatusList.includes(alarm.status) ? 'True' : 'False'
    },
  }),
})

function alarmIdOf(message: Message): string {
  const { id } = bodyObject(message)
  const text = isJsonObject(id) ? id['id'] : undefined
  if (typeof text === 'string' && isUuid(text)) return text.toLowerCase()
  throw NodeErrors.BODY_SHAPE({ reason: 'expected an alarm with its id' })
}
