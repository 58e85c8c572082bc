/** The text of frames that go to clients. Source: `websocket-api.md` 3.5, 5, 7 and 8. */
import type { UnservedType } from './commands.ts'

/** One value as clients see it: its time (Unix ms) and its text; null where a key has no latest value. */
export type ShownValue = readonly [ts: number, text: string | null]
export type ShownValues = ReadonlyMap<string, readonly ShownValue[]>

export const INTERNAL_ERROR = 1
export const BAD_REQUEST = 2

/** Keys in order; `latestValues` has the time of each list's last element, whichever way the list runs. */
export function updateFrame(subscriptionId: number, values: ShownValues): string {
  let data = ''
  let latest = ''
  for (const key of [...values.keys()].sort()) {
    const list = values.get(key) ?? []
    const last = list.at(-1)
    if (last === undefined) continue
    const name = JSON.stringify(key)
    const separator = data === '' ? '' : ','
    data += `${separator}${name}:${JSON.stringify(list)}`
    latest += `${separator}${name}:${last[0]}`
  }
  return `{"subscriptionId":${subscriptionId},"errorCode":0,"errorMsg":null,"data":{${data}},"latestValues":{${latest}}}`
}

export function errorFrame(subscriptionId: number, errorCode: number, errorMsg: string): string {
  return JSON.stringify({ subscriptionId, errorCode, errorMsg, data: null, latestValues: {} })
}

/** The subscription id of a frame that cannot be parsed is always 1, as clients know it. */
export const PARSE_ERROR_FRAME = errorFrame(1, BAD_REQUEST, 'Failed to parse the payload')

/** The answer to a command that is not served yet, in the shape of that command; undefined where none is answered. */
export function unservedFrame(type: UnservedType, cmdId: number): string | undefined {
  const refused = { cmdId, errorCode: BAD_REQUEST, errorMsg: `${type} is not supported by this server yet` }
  switch (type) {
    case 'ENTITY_DATA':
      return JSON.stringify({ ...refused, cmdUpdateType: 'ENTITY_DATA', allowedEntities: 0, data: null, update: null })
    case 'ENTITY_COUNT':
      return JSON.stringify({ ...refused, cmdUpdateType: 'COUNT_DATA', count: 0 })
    case 'ALARM_DATA':
      return JSON.stringify({
        ...refused,
        cmdUpdateType: 'ALARM_DATA',
        data: null,
        update: null,
        allowedEntities: 0,
        totalEntities: 0,
      })
    case 'ALARM_COUNT':
      return JSON.stringify({ ...refused, cmdUpdateType: 'ALARM_COUNT_DATA', count: 0 })
    case 'ALARM_STATUS':
      return JSON.stringify({ ...refused, cmdUpdateType: 'ALARM_STATUS', active: false })
    // This server has no notifications, and says so instead of refusing: the bell of a dashboard asks right after login.
    case 'NOTIFICATIONS':
      return JSON.stringify({
        cmdId,
        errorCode: 0,
        errorMsg: null,
        cmdUpdateType: 'NOTIFICATIONS',
        notifications: [],
        update: null,
        totalUnreadCount: 0,
        sequenceNumber: 1,
      })
    case 'NOTIFICATIONS_COUNT':
      return JSON.stringify({
        cmdId,
        errorCode: 0,
        errorMsg: null,
        cmdUpdateType: 'NOTIFICATIONS_COUNT',
        totalUnreadCount: 0,
        sequenceNumber: 1,
      })
    case 'ENTITY_DATA_UNSUBSCRIBE':
    case 'ENTITY_COUNT_UNSUBSCRIBE':
    case 'ALARM_DATA_UNSUBSCRIBE':
    case 'ALARM_COUNT_UNSUBSCRIBE':
    case 'ALARM_STATUS_UNSUBSCRIBE':
    case 'MARK_NOTIFICATIONS_AS_READ':
    case 'MARK_ALL_NOTIFICATIONS_AS_READ':
    case 'NOTIFICATIONS_UNSUBSCRIBE':
      return undefined
  }
}
