/**
 * What comes over `/api/ws`: one connection for all that a page follows. One that ends is made again, ever later up to half a minute; the first
 * frame of each command has all that there is, so that nothing that was missed stays old. What is shown says whether it is live.
 */

const FIRST_DELAY_MS = 1_000
const LONGEST_DELAY_MS = 30_000
/** Frames were left out, as the profile of the tenant says. */
const TOO_MANY_UPDATES = 34
/** Bytes: the server takes 32 KiB in a frame, and ends the connection at more. The first frame has the token too. */
const LONGEST_FRAME = 30_000
const TOO_LONG = 'It asks for too much at once: name fewer entities, keys or filters.'

/** @typedef {Record<string, [number, string | null][]>} Values */
/** As much of a WebSocket as is used. @typedef {EventTarget & { send(text: string): void, close(): void }} Socket */
/** @typedef {{ readonly state: 'live' } | { readonly state: 'waiting' } | { readonly state: 'ended', readonly error: unknown }} State */
/** What the server says, as it comes. @typedef {Record<string, any>} Frame */
/**
 * @typedef {object} Topic
 * @property {(cmdId: number) => object} command made anew for each connection: its times are of then
 * @property {(frame: Frame, isFirst: boolean) => void} onFrame `isFirst` since the command was sent
 * @property {(error: Error) => void} onRefused
 */
/** @typedef {{ again: () => void, end: (command?: string) => void }} Followed */
/** @typedef {{ follow: (topic: Topic) => Followed, close: () => void }} Live */

/**
 * @param {object} parts
 * @param {string} parts.url
 * @param {() => Promise<string>} parts.token of the session; rejects where it has ended
 * @param {(state: State) => void} parts.onState
 * @param {(error: unknown) => boolean} parts.isFinal whether trying again is of no use
 * @param {(url: string) => Socket} [parts.open]
 * @param {(act: () => void, afterMs: number) => unknown} [parts.later]
 * @returns {Live}
 */
export function connected({ url, token, onState, isFinal, open = opened, later = setTimeout }) {
  /** @type {Map<number, Topic & { isFirst: boolean }>} */
  const topics = new Map()
  let lastId = 0
  let delayMs = FIRST_DELAY_MS
  let isClosed = false
  /** @type {Socket | undefined} */
  let socket
  let isOpen = false

  const again = () => {
    isOpen = false
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
    let isLive = false
    const live = () => {
      if (isLive) return
      isLive = true
      delayMs = FIRST_DELAY_MS
      onState({ state: 'live' })
    }
    const connection = open(url)
    socket = connection
    connection.addEventListener('open', () => {
      isOpen = true
      const commands = [...topics].flatMap(([cmdId, topic]) => sendable(cmdId, topic))
      // Nothing will be answered then.
      if (topics.size > 0 && commands.length === 0) live()
      const [first = [], ...others] = packed(commands)
      connection.send(JSON.stringify({ authCmd: { cmdId: 0, token: current }, cmds: first }))
      for (const cmds of others) connection.send(JSON.stringify({ cmds }))
    })
    connection.addEventListener('message', (event) => {
      if (isClosed) return
      /** @type {Frame} */
      const frame = JSON.parse(event instanceof MessageEvent ? event.data : '{}')
      const topic = topics.get(frame['cmdId'] ?? frame['subscriptionId'])
      if (topic === undefined) return
      // Another connection begins with what was left out.
      if (frame['errorCode'] === TOO_MANY_UPDATES) return connection.close()
      // One that follows nothing else closes it when it hears that.
      if (frame['errorCode'] !== 0) topic.onRefused(new Error(frame['errorMsg']))
      if (isClosed) return
      live()
      if (frame['errorCode'] !== 0) return
      const isFirst = topic.isFirst
      topic.isFirst = false
      topic.onFrame(frame, isFirst)
    })
    connection.addEventListener('close', again)
  }

  /** None where it is too long: who follows is told, and the others go on. @param {number} cmdId @param {Topic & { isFirst: boolean }} topic */
  const sendable = (cmdId, topic) => {
    topic.isFirst = true
    const command = topic.command(cmdId)
    if (bytesOf(command) <= LONGEST_FRAME) return [command]
    // Not before who follows has what `follow` answers.
    queueMicrotask(() => topic.onRefused(new Error(TOO_LONG)))
    return []
  }

  /** Where there is no connection, the next one says it. @param {object} command */
  const say = (command) => {
    if (isOpen) socket?.send(JSON.stringify({ cmds: [command] }))
  }

  void connect()
  return {
    follow(parts) {
      const cmdId = ++lastId
      const topic = { ...parts, isFirst: true }
      topics.set(cmdId, topic)
      // Where there is no connection yet, the next one says it.
      const resend = () => isOpen && sendable(cmdId, topic).forEach(say)
      resend()
      return {
        again: resend,
        end(command) {
          topics.delete(cmdId)
          if (command !== undefined) say({ type: command, cmdId })
        },
      }
    },
    close() {
      isClosed = true
      socket?.close()
    },
  }
}

/**
 * The values of one device, and whether it is active.
 * @param {Parameters<typeof connected>[0] & { deviceId: string, onValues: (values: Values, isSnapshot: boolean) => void, onActive?: (isActive: boolean) => void }} parts
 */
export function follow({ deviceId, onValues, onActive, ...parts }) {
  const live = connected(parts)
  const device = { entityType: 'DEVICE', entityId: deviceId }
  live.follow({
    command: (cmdId) => ({ type: 'TIMESERIES', cmdId, ...device, keys: '' }),
    onFrame: (frame, isFirst) => onValues(frame['data'] ?? {}, isFirst),
    onRefused(error) {
      live.close()
      parts.onState({ state: 'ended', error })
    },
  })
  if (onActive !== undefined)
    live.follow({
      command: (cmdId) => ({ type: 'ATTRIBUTES', cmdId, ...device, scope: 'SERVER_SCOPE', keys: 'active' }),
      onFrame(frame) {
        const [, value] = frame['data']?.active?.[0] ?? []
        if (value !== undefined) onActive(String(value) === 'true')
      },
      // What was read with the page stays, and the values come all the same.
      onRefused: () => undefined,
    })
  return { close: live.close }
}

/** Into frames that the server takes. @param {readonly object[]} commands @returns {object[][]} */
function packed(commands) {
  /** @type {object[][]} */
  const frames = []
  let room = 0
  for (const command of commands) {
    const size = bytesOf(command)
    if (size > room) {
      frames.push([])
      room = LONGEST_FRAME
    }
    frames.at(-1)?.push(command)
    room -= size
  }
  return frames
}

/** @param {object} command */
function bytesOf(command) {
  return new TextEncoder().encode(JSON.stringify(command)).length
}

/** @param {string} url @returns {Socket} */
function opened(url) {
  return new WebSocket(url)
}

/** Where this server's connections are made. */
export function liveUrl() {
  return `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/ws`
}
