/** The text of frames that go to clients. Source: `websocket-api.md` 3.5, 5, 7 and 8. */

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
