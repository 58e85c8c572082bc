/** ALARM_DATA: a page of alarms with values of their entities, and what changes of it. Source: `websocket-api.md` 7. */
import { alarmDataQueryBody, alarmDataQueryOf } from '../../alarm-query.ts'
import { AlarmDataSubscription } from '../alarms/alarm-data.ts'
import { defineCommand } from '../define-command.ts'
import { CommandErrors } from '../errors.ts'

const ALL_ASSETS = { type: 'entityType', entityType: 'ASSET' }

export const alarmData = defineCommand({
  type: 'ALARM_DATA',
  legacy: { telemetry: 'alarmDataCmds' },
  unsubscribe: { type: 'ALARM_DATA_UNSUBSCRIBE', kind: 'query', legacy: { telemetry: 'alarmDataUnsubscribeCmds' } },
  fields: { query: alarmDataQueryBody.nullish() },
  examples: ({ assetId = '' }) =>
    [{ type: 'singleEntity', singleEntity: { entityType: 'ASSET', id: assetId } }, ALL_ASSETS].map((entityFilter) => ({
      query: {
        entityFilter,
        alarmFields: [{ type: 'ALARM_FIELD', key: 'type' }],
        pageLink: { page: 0, pageSize: 100, timeWindow: 2_000_000_000_000 },
      },
    })),
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
