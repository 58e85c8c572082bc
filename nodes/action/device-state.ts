/** Says of a device that it connected, disconnected, was active or fell silent (`rule-nodes.md` 40). */
import { z } from 'zod'
import type { DeviceStateEvent } from '../../engine/rulechain/capabilities/device-state.ts'
import { RatesById } from '../../model/rates.ts'
import { defineNode } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'

const EVENTS = ['CONNECT_EVENT', 'DISCONNECT_EVENT', 'ACTIVITY_EVENT', 'INACTIVITY_EVENT'] as const

const MEANING: Readonly<Record<(typeof EVENTS)[number], DeviceStateEvent>> = {
  CONNECT_EVENT: 'connect',
  DISCONNECT_EVENT: 'disconnect',
  ACTIVITY_EVENT: 'activity',
  INACTIVITY_EVENT: 'inactivity',
}

/** Of each device, as the reference has it. */
const RATES = '1:1,30:60,60:3600'

export const deviceState = defineNode({
  type: 'org.thingsboard.rule.engine.action.TbDeviceStateNode',
  name: 'device state',
  category: 'ACTION',
  relations: ['Success', 'Rate limited'],
  description:
    'Tells the device state service of a connection, a disconnection, activity or inactivity at the time of the message. At most one a second, 30 a minute and 60 an hour for each device: what is more takes Rate limited.',
  configuration: z.looseObject({
    event: z.enum(EVENTS).meta({ title: 'Event' }),
  }),
  defaults: { event: 'ACTIVITY_EVENT' },
  examples: [
    {
      title: 'a device that was active',
      configuration: { event: 'ACTIVITY_EVENT' },
      given: { data: '{}' },
      expect: { relations: ['Success'], data: '{}' },
    },
    {
      title: 'an asset has no such state',
      configuration: { event: 'ACTIVITY_EVENT' },
      given: { data: '{}', originatorType: 'ASSET' },
      expect: { relations: ['Failure'] },
    },
  ],
  uses: ['deviceState'],
  effects: true,
  create: ({ event }, { clock, services }) => {
    const rates = new RatesById()
    return {
      handle: async (message) => {
        const { entityType, id } = message.originator
        if (entityType !== 'DEVICE') throw NodeErrors.UNSUPPORTED_ORIGINATOR({ type: entityType, expected: 'DEVICE' })
        if (!rates.admit(id, RATES, clock.monotonic())) return 'Rate limited'
        await services.deviceState.report(id, MEANING[event], message.metadataTs())
        return 'Success'
      },
    }
  },
})
