/** What goes on inside a chain that runs: figures of its nodes, errors, and the messages that a node was seen with. */
import { make, messageOf, table, timeText } from '../dom.js'
import { polling } from '../polling.js'
import { Refused, call } from '../session.js'
import { shortened } from './drawing.js'

const FIGURES_MS = 3_000
const EVENTS_MS = 3_000
const MAX_EVENTS = 20
/** An event is written some time after it is counted. */
const LOOKS_FOR_ERROR = 10
const NOT_HERE = 404

/** @typedef {{ rate: number, messages: number, failures: number, timedOut: number, latency: { measured: number, p50: number, p99: number } }} NodeFigures */
/** @typedef {{ createdTime: number, body: Record<string, string | undefined> }} NodeEvent */
/** @typedef {{ type: string, name: string, ask: object }} EventKind */

/** @type {EventKind} */
const FAILED = { type: 'DEBUG_RULE_NODE', name: 'Failed', ask: { isError: true } }
/** @type {EventKind} */
const ERRORS = { type: 'ERROR', name: 'Errors', ask: {} }
/** @type {EventKind} */
const STARTS = { type: 'LC_EVENT', name: 'Started, changed, stopped', ask: {} }

/** @type {readonly EventKind[]} */
const KINDS = [
  { type: 'DEBUG_RULE_NODE', name: 'In and out', ask: {} },
  { type: 'DEBUG_RULE_NODE', name: 'In', ask: { msgDirectionType: 'IN' } },
  { type: 'DEBUG_RULE_NODE', name: 'Out', ask: { msgDirectionType: 'OUT' } },
  FAILED,
  ERRORS,
  STARTS,
]

/**
 * Figures of a chain, read again and again while the page is seen.
 * @param {string} chainId @param {string} tenantId @param {() => readonly string[]} nodeIds that are saved @param {() => void} changed
 */
export function followChain(chainId, tenantId, nodeIds, changed) {
  /** @type {Map<string, NodeFigures>} */
  let figures = new Map()
  /** Why a node does not run, or what it failed for last. @type {Map<string, string>} */
  const errors = new Map()
  /** When that was, by the event that tells it. @type {Map<string, number>} */
  const times = new Map()
  /** Nodes that failed, and how often their error is still looked for. @type {Map<string, number>} */
  const failing = new Map()
  let told = ''

  const read = async () => {
    // A chain without nodes does not run anywhere.
    if (nodeIds().length === 0) return
    try {
      const { nodes } = await call('GET', `/api/ruleChain/${chainId}/statistics`)
      /** @type {[string, NodeFigures][]} */
      const entries = nodes.map((/** @type {NodeFigures & { ruleNodeId: { id: string } }} */ node) => [
        node.ruleNodeId.id,
        node,
      ])
      for (const [id, { failures }] of entries)
        if (failures > (figures.get(id)?.failures ?? 0)) failing.set(id, LOOKS_FOR_ERROR)
      figures = new Map(entries)
      told = ''
      for (const [id, left] of failing) {
        if ((await readError(id)) || left === 1) failing.delete(id)
        else failing.set(id, left - 1)
      }
    } catch (error) {
      told =
        error instanceof Refused && error.status === NOT_HERE
          ? 'It does not run in the process that answers: no figures.'
          : messageOf(error)
    }
    changed()
  }

  /** Of a message that was noted, or else of the node. @param {string} id @returns {Promise<boolean>} whether it is another one than before */
  const readError = async (id) => {
    for (const kind of [FAILED, ERRORS]) {
      const [event] = await events(id, tenantId, kind, 1)
      if (event === undefined) continue
      errors.set(id, event.body['error'] ?? '')
      const isOther = event.createdTime !== times.get(id)
      times.set(id, event.createdTime)
      return isOther
    }
    return false
  }

  /** Which nodes did not start. */
  const readStarts = async () => {
    if (nodeIds().length === 0) return
    /** @type {{ ruleNodeId: { id: string }, error: string }[]} */
    const found = await call('GET', `/api/ruleChain/${chainId}/startErrors`)
    const reasons = new Map(found.map(({ ruleNodeId, error }) => [ruleNodeId.id, error]))
    for (const id of nodeIds()) {
      const reason = reasons.get(id)
      if (reason !== undefined) errors.set(id, reason)
      else if ((figures.get(id)?.failures ?? 0) === 0) errors.delete(id)
    }
    changed()
  }

  const start = () => readStarts().catch((error) => (told = messageOf(error)))
  void read().then(start)
  polling(FIGURES_MS, read)
  return {
    /** Where there are none, why. */
    told: () => told,
    errorOf: (/** @type {string} */ id) => errors.get(id) ?? '',
    figuresOf: (/** @type {string} */ id) => figures.get(id),
    /** @returns {import('./canvas.js').SeenNodes} */
    seen: () =>
      new Map(
        [...new Set([...figures.keys(), ...errors.keys()])].map((id) => [
          id,
          {
            messages: figures.get(id)?.messages ?? 0,
            failures: figures.get(id)?.failures ?? 0,
            error: errors.get(id) ?? '',
          },
        ]),
      ),
    /** After a save: nodes start anew. */
    again: () => void read().then(start),
  }
}

/** Newest first. @param {string} nodeId @param {string} tenantId @param {EventKind} kind @param {number} most @returns {Promise<NodeEvent[]>} */
async function events(nodeId, tenantId, { type, ask }, most) {
  const query = new URLSearchParams({
    tenantId,
    page: '0',
    pageSize: String(most),
    sortProperty: 'createdTime',
    sortOrder: 'DESC',
  })
  const page = await call('POST', `/api/events/RULE_NODE/${nodeId}?${query}`, { eventType: type, ...ask })
  return page.data
}

/**
 * What a node did: figures, and events that come as they happen.
 * @param {string} nodeId @param {string} tenantId @param {ReturnType<typeof followChain>} chain @param {boolean} isWatched
 */
export function insideSection(nodeId, tenantId, chain, isWatched) {
  const figures = make('p')
  const error = make('p', { class: 'wrong' })
  const told = make('p', { role: 'status' })
  const list = make('div')
  const choice = make('select', { name: 'events' }, ...KINDS.map(({ name }) => make('option', {}, name)))
  let shown = ''
  let turn = 0

  const read = async () => {
    const own = ++turn
    const kind = KINDS.find(({ name }) => name === choice.value) ?? KINDS[0]
    if (kind === undefined) return
    try {
      const found = await events(nodeId, tenantId, kind, MAX_EVENTS)
      if (own !== turn) return
      const now = JSON.stringify([kind.name, found.map(({ createdTime, body }) => [createdTime, body])])
      told.textContent =
        found.length > 0 || isWatched ? '' : 'Its messages are not noted: choose what to note above, and save.'
      // What somebody reads, or has unfolded, stays where nothing new came.
      if (now === shown) return
      shown = now
      list.replaceChildren(found.length === 0 ? 'Nothing.' : eventTable(kind, found))
    } catch (error) {
      if (own === turn) told.textContent = messageOf(error)
    }
  }
  choice.addEventListener('change', () => void read())

  const element = make(
    'details',
    {},
    make('summary', {}, 'What it did'),
    figures,
    make('label', {}, 'Show', choice),
    told,
    list,
  )
  element.addEventListener('toggle', () => element.open && void read())
  const { stop } = polling(EVENTS_MS, async () => {
    if (!element.isConnected) stop()
    else if (element.open) await read()
  })

  const refresh = () => {
    const node = chain.figuresOf(nodeId)
    figures.textContent = node === undefined ? chain.told() : figuresText(node)
    const last = chain.errorOf(nodeId)
    error.textContent = last === '' ? '' : `Last error: ${last}`
  }
  refresh()
  return { element, error, refresh }
}

/** @param {NodeFigures} figures */
function figuresText({ messages, failures, timedOut, rate, latency }) {
  const times =
    latency.measured === 0
      ? []
      : [`${latency.p50.toPrecision(2)} ms in the middle, ${latency.p99.toPrecision(2)} ms for the slowest hundredth`]
  const late = timedOut > 0 ? ` (${timedOut} without an end in time)` : ''
  return [
    `${messages.toLocaleString()} messages`,
    `${rate.toPrecision(2)} a second`,
    `${failures.toLocaleString()} failed${late}`,
    ...times,
  ].join(' · ')
}

/** @param {EventKind} kind @param {readonly NodeEvent[]} found */
function eventTable({ type }, found) {
  if (type === 'ERROR')
    return table(
      'Errors',
      ['Time', 'Error'],
      found.map(({ createdTime, body }) => [timeText(createdTime), body['error'] ?? '']),
    )
  if (type === 'LC_EVENT')
    return table(
      'Started, changed, stopped',
      ['Time', 'What', 'Error'],
      found.map(({ createdTime, body }) => [
        timeText(createdTime),
        (body['event'] ?? '').toLowerCase(),
        body['error'] ?? '',
      ]),
    )
  return table('Messages', ['Time', 'Way', 'Type', 'Message'], found.map(messageRow))
}

/** @param {NodeEvent} event */
function messageRow({ createdTime, body }) {
  const { type, relationType, msgType = '', data = '', metadata = '', error } = body
  const way = type === 'IN' ? 'in' : `out by ${relationType ?? ''}`
  const text = make(
    'details',
    {},
    make('summary', {}, shortened(data, 60)),
    make('pre', {}, data),
    make('pre', {}, metadata),
  )
  const wrong = error === undefined || error === '' ? [] : [make('p', { class: 'wrong' }, error)]
  return [timeText(createdTime), way, msgType, make('div', {}, ...wrong, text)]
}
