/** ALARM_DATA: a page of alarms with values of their entities, and what changes of it. Source: `websocket-api.md` 7. */
import { alarmDataQueryBody, alarmDataQueryOf } from '../../alarm-query.ts'
import { AlarmDataSubscription } from '../alarms/alarm-data.ts'
import { defineCommand } from '../define-command.ts'
import { CommandErrors } from '../errors.ts'

export const alarmData = defineCommand({
  type: 'ALARM_DATA',
  legacy: { telemetry: 'alarmDataCmds' },
  unsubscribe: { type: 'ALARM_DATA_UNSUBSCRIBE', legacy: { telemetry: 'alarmDataUnsubscribeCmds' } },
  fields: { query: alarmDataQueryBody.nullish() },
  async start({ cmdId, query }, context) {
    if (query === undefined || query === null) throw CommandErrors.QUERY_EMPTY()
    const subscription = new AlarmDataSubscription(cmdId, alarmDataQueryOf(query), context)
    if (!context.live.add(subscription)) return subscription.close()
    try {
      await subscription.start()
    } catch (error) {
      context.live.forget(subscription)
      throw error
    }
  },
})
