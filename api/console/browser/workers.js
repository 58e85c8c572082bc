/** Worker pools of the process that answers, for who tunes them: figures as they come, who keeps them busy, and their settings. */
import { chart } from './chart.js'
import { field, form, make, messageOf, table, tell, timeText } from './dom.js'
import { polling } from './polling.js'
import { call } from './session.js'
import { words } from './words.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {import('./points.js').Point} Point */

const LOOK_MS = 2_000
const SHOWN_MS = 300_000
const HEIGHT = 180
const ROWS = 10
const LEAST_WIDTH = 300
/** What is drawn of a pool, one below the other. @type {readonly (readonly [title: string, units: string, of: (pool: Json) => number])[]} */
const PLOTS = [
  ['Threads that work', '%', ({ work }) => Math.round(work.utilisation * 100)],
  ['Messages a second', '', ({ work }) => work.messagesPerSecond],
  ['Messages that wait', '', ({ waiting }) => waiting],
  ['Wait before a batch, slowest hundredth', 'ms', ({ work }) => work.queueWaitMs.p99],
]

/** @param {import('./pages.js').Place} place */
export async function workersPage({ main }) {
  const told = make('p', { role: 'status' })
  const pools = make('div')
  /** @type {Map<string, ReturnType<typeof poolView>>} */
  const views = new Map()
  document.body.classList.add('roomy')
  main.replaceChildren(
    make('h1', {}, 'Worker pools'),
    make(
      'p',
      {},
      'JavaScript of rule nodes runs on threads of its own. Each process shows its pools; figures are of the last half to whole minute, plots begin when this page is opened.',
    ),
    told,
    pools,
  )
  const look = async () => {
    try {
      const found = await call('GET', `/api/admin/workers?rows=${ROWS}`)
      for (const pool of found.pools) {
        const view = views.get(pool.name) ?? poolView(pool)
        if (!views.has(pool.name)) {
          views.set(pool.name, view)
          pools.append(view.element)
        }
        view.show(pool)
      }
      const text =
        found.pools.length === 0
          ? 'No pool runs yet: it starts with the first script in JavaScript.'
          : `Process "${found.member}".`
      if (told.textContent !== text) tell(told, text)
    } catch (error) {
      tell(told, `What is shown may be old. ${messageOf(error)}`, true)
    }
  }
  await look()
  polling(LOOK_MS, look)
}

/** @param {Json} pool */
function poolView({ name, settings }) {
  const plots = PLOTS.map(([title, units, of]) => ({
    title,
    units,
    of,
    points: /** @type {Point[]} */ ([]),
    room: make('figure', {}),
  }))
  const summary = make('p')
  const busiest = make('div')
  const element = make(
    'section',
    { 'aria-label': `Pool ${name}` },
    make('h2', {}, `Pool "${name}"`),
    summary,
    make('div', { class: 'plots' }, ...plots.map(({ title, room }) => make('div', {}, make('h3', {}, title), room))),
    busiest,
    make('details', {}, make('summary', {}, 'Settings of the pool'), settingsForm(name, settings)),
  )
  return { element, show }

  /** @param {Json} pool */
  function show(pool) {
    const now = Date.now()
    for (const plot of plots) {
      plot.points = [...plot.points.filter(([ts]) => ts > now - SHOWN_MS), [now, plot.of(pool)]]
      const series = { name: plot.title, units: plot.units, points: plot.points }
      const width = Math.max(plot.room.clientWidth, LEAST_WIDTH)
      plot.room.replaceChildren(
        chart([series], {
          startTs: now - SHOWN_MS,
          endTs: now,
          width,
          height: HEIGHT,
          isBars: false,
          isFromZero: true,
        }),
      )
    }
    summary.textContent = summaryOf(pool)
    // What somebody reads by keyboard stays.
    if (!busiest.contains(document.activeElement)) busiest.replaceChildren(...tablesOf(pool))
  }
}

/** @param {Json} pool */
function summaryOf({
  threads,
  scripts,
  tenants,
  running,
  waiting,
  breakersOpen,
  work: { totals, batchMessages, runMs },
}) {
  const failed = ['errors', 'timeouts', 'memoryErrors', 'refused', 'deaths'].filter((each) => totals[each] > 0)
  return [
    `${threads} threads`,
    `${scripts} scripts of ${tenants} tenants`,
    `${running} batches run, ${waiting} messages wait`,
    `${batchMessages.mean} messages a batch, ${runMs.p50} ms in the middle`,
    ...(breakersOpen > 0 ? [`${breakersOpen} scripts are paused`] : []),
    `${totals.messages.toLocaleString()} messages since the start`,
    ...failed.map((each) => `${totals[each].toLocaleString()} ${words(each).toLowerCase()}`),
  ].join(' · ')
}

/** @param {Json} pool */
function tablesOf({ busiestTenants, busiestScripts }) {
  const share = (/** @type {Json} */ { work }) => `${(work.utilisation * 100).toFixed(1)} %`
  const scripts = busiestScripts.map((/** @type {Json} */ each) => [
    each['ruleNodeName'],
    each['ruleChainName'],
    each['tenantName'],
    share(each),
    `${each['work'].runMs.p99} ms`,
    each['waiting'].toLocaleString(),
    breakerText(each['breaker']),
  ])
  const tenants = busiestTenants.map((/** @type {Json} */ each) => [
    make('a', { href: `/tenants/${each['tenantId']}` }, each['tenantName'] || each['tenantId']),
    share(each),
    String(each['scripts']),
    each['waiting'].toLocaleString(),
  ])
  return [
    ...(scripts.length === 0
      ? []
      : [
          table(
            'Busiest scripts',
            ['Node', 'Rule chain', 'Tenant', 'Of all time', 'Slowest', 'Waiting', 'State'],
            scripts,
          ),
        ]),
    ...(tenants.length === 0
      ? []
      : [table('Busiest tenants', ['Tenant', 'Of all time', 'Scripts', 'Waiting'], tenants)]),
  ]
}

/** @param {{ state: string, retryInMs: number, trips: number }} breaker */
function breakerText({ state, retryInMs, trips }) {
  if (state === 'closed') return trips === 0 ? 'runs' : `runs, was paused ${trips} times`
  return `paused: next try ${retryInMs === 0 ? 'now' : timeText(Date.now() + retryInMs)}`
}

/** @param {string} name @param {Json} settings */
function settingsForm(name, settings) {
  const fields = Object.entries(settings).map(([setting, value]) => {
    const made = field(words(setting), { name: setting, type: 'number', min: '0', step: '1', required: true })
    made.input.value = String(value)
    return { setting, ...made }
  })
  const note = make(
    'p',
    {},
    'No message is lost by a change. It counts until this process ends; what it starts with is set where it is started.',
  )
  return form('Change the pool', [...fields.map(({ row }) => row), note], async () => {
    const change = Object.fromEntries(
      fields
        .filter(({ setting, input }) => input.value !== String(settings[setting]))
        .map(({ setting, input }) => [setting, Number(input.value)]),
    )
    if (Object.keys(change).length === 0) return 'Nothing was changed.'
    const pool = await call('POST', `/api/admin/workers/${encodeURIComponent(name)}`, change)
    Object.assign(settings, pool.settings)
    for (const { setting, input } of fields) input.value = String(settings[setting])
    return 'Changed: it counts at once.'
  })
}
