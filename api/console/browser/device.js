/** One device: its latest values as they come, one of them drawn, its attributes, and the commands by which it sends. */
import { copyable, make, messageOf, oncePerFrame, shortened, table, timeText } from './dom.js'
import { follow } from './live.js'
import { liveState } from './live-state.js'
import { plot } from './plot.js'
import { insert } from './points.js'
import { call } from './session.js'
import { unfolding } from './unfolding.js'

/** @typedef {import('./points.js').Point} Point */
/** @typedef {{ name: string, type: string, label: string | null, active: boolean, deviceProfileId: { id: string } }} DeviceInfo */

const SPANS = /** @type {const} */ ({
  'Last 5 minutes': 300_000,
  'Last hour': 3_600_000,
  'Last day': 86_400_000,
  'Last 7 days': 604_800_000,
})
/** Beyond so many the server is asked for averages. */
const MAX_POINTS = 2_000
const AVERAGES = 400

/** @param {import('./pages.js').Place} place */
export async function devicePage({ main, id: deviceId, user, onEnded }) {
  /** @type {DeviceInfo} */
  const device = await call('GET', `/api/device/info/${deviceId}`)
  const isAdministrator = user.authority === 'TENANT_ADMIN'
  const told = make('p', { role: 'status' }, 'Connecting …')
  const latest = make('div')
  const drawing = make('figure', {})
  const choice = make('select', { name: 'key' })
  const span = make('select', { name: 'span' }, ...Object.keys(SPANS).map((text) => make('option', {}, text)))
  const chooser = make(
    'p',
    { class: 'choice', hidden: true },
    make('label', {}, 'Show', choice),
    make('label', {}, 'Over', span),
  )
  /** @type {Map<string, readonly [number, string | null]>} */
  const known = new Map()
  /** @type {Point[]} */
  let points = []
  let asked = 0
  /** Else what is drawn, or said to be wrong, stays. */
  let isRead = false

  const draw = () => {
    if (!isRead) return
    const spanMs = spanOf(span.value)
    const end = Date.now()
    const seen = points.filter(([ts]) => ts > end - spanMs)
    // A point of a clock that is ahead is drawn at the edge of now, not outside.
    drawing.replaceChildren(
      plot(choice.value, seen, end - spanMs, Math.max(end, seen.at(-1)?.[0] ?? end), drawing.clientWidth),
    )
  }
  const drawSoon = oncePerFrame(draw)
  const showLatest = oncePerFrame(() => {
    const keys = [...known.keys()].sort()
    const rows = keys.map((key) => {
      const [ts, value] = known.get(key) ?? [0, null]
      return [key, shortened(value ?? ''), timeText(ts)]
    })
    latest.replaceChildren(
      keys.length === 0
        ? 'Nothing was sent yet: "How it sends" has a command to try.'
        : table('Latest values', ['Key', 'Value', 'Time'], rows),
    )
    offer(keys.filter((key) => isNumber(known.get(key)?.[1])))
  })

  const offer = (/** @type {string[]} */ keys) => {
    const offered = [...choice.options].map(({ value }) => value)
    if (keys.join('\n') === offered.join('\n')) return
    const chosen = choice.value
    choice.replaceChildren(...keys.map((key) => make('option', {}, key)))
    if (keys.includes(chosen)) choice.value = chosen
    chooser.hidden = keys.length === 0
    if (choice.value !== chosen) void load()
  }

  /** The history of what is chosen; what comes meanwhile is put behind it. */
  const load = async () => {
    const turn = ++asked
    points = []
    isRead = false
    if (choice.value === '') return drawing.replaceChildren()
    try {
      const read = await history(deviceId, choice.value, spanOf(span.value))
      if (turn !== asked) return
      const lastTs = read.at(-1)?.[0] ?? 0
      points = [...read, ...points.filter(([ts]) => ts > lastTs)]
      isRead = true
      draw()
    } catch (error) {
      if (turn === asked) drawing.replaceChildren(make('p', { role: 'alert', class: 'wrong' }, messageOf(error)))
    }
  }
  choice.addEventListener('change', () => void load())
  span.addEventListener('change', () => void load())

  const heading = make('h1', {}, device.name)
  const about = make('p', {})
  const described = { name: device.name, type: device.type, label: device.label, active: device.active }
  const describe = (/** @type {Partial<typeof described>} */ change) => {
    const { name, type, label, active } = Object.assign(described, change)
    heading.textContent = name
    about.textContent = [type, label, active ? 'active' : 'inactive'].filter(Boolean).join(' · ')
  }
  describe({})
  const spoken = make('p', { role: 'status', class: 'spoken' })
  const sending = unfolding('How it sends', () => commands(deviceId))
  main.replaceChildren(
    make('p', {}, make('a', { href: '/devices' }, 'Devices')),
    heading,
    about,
    told,
    spoken,
    chooser,
    drawing,
    latest,
    sending,
    unfolding('Attributes', async () =>
      (await import('./attributes.js')).attributesOf('DEVICE', deviceId, isAdministrator),
    ),
    unfolding('Relations', async () =>
      (await import('./relations.js')).relationsOf({ entityType: 'DEVICE', id: deviceId }, isAdministrator),
    ),
    unfolding('Alarms', async () => (await import('./alarms.js')).alarmsOf('DEVICE', deviceId)),
    ...(isAdministrator
      ? [
          unfolding('Alarm rules', async () => deviceRules(deviceId, device.deviceProfileId.id)),
          unfolding('Calculated fields', async () =>
            (await import('./calculated-fields.js')).calculatedFieldsOf({ entityType: 'DEVICE', id: deviceId }),
          ),
          unfolding('Settings', async () => (await import('./device-settings.js')).deviceSettings(deviceId, describe)),
        ]
      : []),
  )

  const live = follow({
    ...liveState(told, onEnded),
    deviceId,
    onActive(active) {
      // What the page says already is not read out again.
      if (active !== described.active)
        spoken.textContent = `${described.name} is ${active ? 'active' : 'inactive'} now.`
      describe({ active })
    },
    onValues: (values, isSnapshot) => {
      for (const [key, list] of Object.entries(values)) keep(key, list)
      showLatest()
      if (isSnapshot && known.size === 0) sending.open = true
      // After a gap the line has one too, until it is read again; and so many points as a page left open gathers are read as averages.
      if (isSnapshot || points.length > 2 * MAX_POINTS) void load()
      else drawSoon()
    },
  })
  addEventListener('pagehide', () => live.close())
  setInterval(() => document.hidden || choice.value === '' || drawSoon(), 5_000)

  /** @param {string} key @param {[number, string | null][]} list */
  function keep(key, list) {
    for (const [ts, value] of [...list].sort(([a], [b]) => a - b)) {
      // A key that was deleted comes with the time 0.
      if (ts === 0) known.delete(key)
      else if (ts >= (known.get(key)?.[0] ?? 0)) known.set(key, [ts, value])
      if (ts !== 0 && key === choice.value && isNumber(value)) insert(points, [ts, Number(value)])
    }
    const oldest = Date.now() - spanOf(span.value)
    if ((points[0]?.[0] ?? Infinity) < oldest) points = points.filter(([ts]) => ts >= oldest)
  }
}

/** @param {string} deviceId @param {string} key @param {number} spanMs @returns {Promise<Point[]>} */
async function history(deviceId, key, spanMs) {
  const endTs = Date.now() + 60_000
  const read = async (/** @type {Record<string, string>} */ how) => {
    const range = { key, startTs: String(endTs - 60_000 - spanMs), endTs: String(endTs), orderBy: 'ASC' }
    const query = new URLSearchParams({ ...range, ...how })
    const answer = await call('GET', `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries?${query}`)
    /** @type {{ ts: number, value: string }[]} */
    const list = Object.hasOwn(answer, key) ? answer[key] : []
    return list
  }
  let list = await read({ limit: String(MAX_POINTS) })
  if (list.length === MAX_POINTS) list = await read({ agg: 'AVG', interval: String(Math.ceil(spanMs / AVERAGES)) })
  return list.filter(({ value }) => isNumber(value)).map(({ ts, value }) => [ts, Number(value)])
}

/** @param {string} deviceId @param {string} profileId */
async function deviceRules(deviceId, profileId) {
  const { alarmRules } = await import('./alarm-rules.js')
  return make(
    'div',
    {},
    make(
      'p',
      {},
      'Of this device alone. Those of all devices of a kind are in ',
      make('a', { href: `/profiles/${profileId}` }, 'its device profile'),
      '.',
    ),
    alarmRules({ entityType: 'DEVICE', id: deviceId }),
  )
}

/** @param {string} deviceId */
async function commands(deviceId) {
  const answer = await call('GET', `/api/device-connectivity/${deviceId}`)
  return make(
    'div',
    {},
    make('p', {}, 'Commands to try, with the token of this device. What they send comes to this page at once.'),
    ...textsIn(answer).map(([name, text]) => make('div', {}, make('h3', {}, name), copyable(text, name))),
  )
}

/** Every command in what the server answers, under the names on the way to it. @param {unknown} value @param {readonly string[]} [path] @returns {[string, string][]} */
function textsIn(value, path = []) {
  if (typeof value === 'string') return [[headOf(path), value]]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return [[headOf(path), value.join('\n')]]
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...path, key]))
}

/** `mqtt`, `docker`, `mqtts` as people read it. @param {readonly string[]} path */
function headOf(path) {
  const [protocol = '', ...others] = path
  const last = others.at(-1) ?? protocol
  return `${last.toUpperCase()}${others.includes('docker') ? ' in Docker' : ''}`
}

/** @param {string} text */
function spanOf(text) {
  return Object.entries(SPANS).find(([name]) => name === text)?.[1] ?? SPANS['Last 5 minutes']
}

/** @param {string | null | undefined} value */
function isNumber(value) {
  return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))
}
