/**
 * The values of one device as they come, over `/api/ws`. A connection that ends is made again, ever later up to half a minute; the first frame of
 * each has all latest values, so that nothing that was missed stays old. What is shown says whether it is live.
 */

const CMD_ID = 1
const FIRST_DELAY_MS = 1_000
const LONGEST_DELAY_MS = 30_000
/** Frames were left out, as the profile of the tenant says. */
const TOO_MANY_UPDATES = 34

/** @typedef {Record<string, [number, string | null][]>} Values */
/** As much of a WebSocket as is used. @typedef {EventTarget & { send(text: string): void, close(): void }} Socket */
/** @typedef {{ readonly state: 'live' } | { readonly state: 'waiting' } | { readonly state: 'ended', readonly error: unknown }} State */

/**
 * @param {object} parts
 * @param {string} parts.url
 * @param {string} parts.deviceId
 * @param {() => Promise<string>} parts.token of the session; rejects where it has ended
 * @param {(values: Values, isSnapshot: boolean) => void} parts.onValues
 * @param {(state: State) => void} parts.onState
 * @param {(error: unknown) => boolean} parts.isFinal whether trying again is of no use
 * @param {(url: string) => Socket} [parts.open]
 * @param {(act: () => void, afterMs: number) => unknown} [parts.later]
 */
export function follow({ url, deviceId, token, onValues, onState, isFinal, open = opened, later = setTimeout }) {
  let delayMs = FIRST_DELAY_MS
  let isClosed = false
  /** @type {Socket | undefined} */
  let socket

  const again = () => {
    if (isClosed) return
    onState({ state: 'waiting' })
    later(() => void connect(), delayMs)
    delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)
  }

  const connect = async () => {
    if (isClosed) return
    /** @type {string} */
    let current
    try {
      current = await token()
    } catch (error) {
      if (isFinal(error)) onState({ state: 'ended', error })
      else again()
      return
    }
    if (isClosed) return
    let isFirst = true
    const connection = open(url)
    socket = connection
    connection.addEventListener('open', () => {
      const command = { type: 'TIMESERIES', cmdId: CMD_ID, entityType: 'DEVICE', entityId: deviceId, keys: '' }
      connection.send(JSON.stringify({ authCmd: { cmdId: 0, token: current }, cmds: [command] }))
    })
    connection.addEventListener('message', (event) => {
      const frame = JSON.parse(event instanceof MessageEvent ? event.data : '{}')
      if (frame.subscriptionId !== CMD_ID || isClosed) return
      // Another connection begins with what was left out.
      if (frame.errorCode === TOO_MANY_UPDATES) return connection.close()
      if (frame.errorCode !== 0) {
        close()
        onState({ state: 'ended', error: new Error(frame.errorMsg) })
        return
      }
      if (isFirst) {
        delayMs = FIRST_DELAY_MS
        onState({ state: 'live' })
      }
      onValues(frame.data ?? {}, isFirst)
      isFirst = false
    })
    connection.addEventListener('close', again)
  }

  const close = () => {
    isClosed = true
    socket?.close()
  }

  void connect()
  return { close }
}

/** @param {string} url @returns {Socket} */
function opened(url) {
  return new WebSocket(url)
}
