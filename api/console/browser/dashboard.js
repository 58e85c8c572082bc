/** One dashboard: its widgets live over one connection, the time they show, and the way to change it. */
import { placedWidgets, statesOf } from './board.js'
import { boardView } from './board-view.js'
import { make, messageOf, tell } from './dom.js'
import { connected } from './live.js'
import { liveState } from './live-state.js'
import { call } from './session.js'
import { timeChoice } from './time-choice.js'

/** @param {import('./pages.js').Place} place */
export async function dashboardPage({ main, id, query, user, onEnded }) {
  const dashboard = await call('GET', `/api/dashboard/${encodeURIComponent(id)}`)
  dashboard.configuration ??= {}
  const states = statesOf(dashboard.configuration)
  const state = states.find((each) => each.id === query.get('state')) ?? states[0]
  const stateId = state?.id ?? 'default'
  const told = make('p', { role: 'status' }, 'Connecting …')
  document.body.classList.add('roomy')
  const live = connected(liveState(told, onEnded))
  const choice = timeChoice(dashboard.configuration.timewindow, () => view.again())
  const mayEdit = user.authority === 'TENANT_ADMIN'
  const chosen = chosenEntity(query)
  const view = boardView({
    live,
    stateId,
    window: choice.window,
    ...(chosen === undefined ? {} : { chosen }),
    emptyText: mayEdit ? 'There are no widgets here yet: "Edit" has "Add a widget".' : 'There are no widgets here.',
  })
  const bar = make('div', { class: 'bar' })
  const edit = make('button', { type: 'button', click: () => void change() }, 'Edit')
  if (mayEdit) bar.append(edit)
  const isPublic = query.has('publicId')
  main.replaceChildren(
    ...(isPublic ? [] : [make('p', {}, make('a', { href: '/dashboards' }, 'Dashboards'))]),
    make('h1', {}, dashboard.title),
    told,
    make('div', { class: 'choice' }, choice.element, ...(states.length > 1 ? [stateChoice(states, stateId)] : [])),
    bar,
    view.element,
  )
  view.show(dashboard.configuration)
  // Nothing asks for a connection then.
  if (placedWidgets(dashboard.configuration, stateId).every(({ kind }) => kind.drawing === 'text')) tell(told, '')
  addEventListener('pagehide', () => live.close())

  async function change() {
    edit.disabled = true
    try {
      const { boardEditor } = await import('./board-editor.js')
      boardEditor({ dashboard, stateId, view, bar, window: choice.window })
    } catch (error) {
      edit.disabled = false
      tell(told, messageOf(error), true)
    }
  }
}

/** @param {import('./board.js').State[]} states @param {string} stateId */
function stateChoice(states, stateId) {
  const select = make('select', { name: 'state' }, ...states.map(({ id, name }) => make('option', { value: id }, name)))
  select.value = stateId
  select.addEventListener('change', () => {
    const query = new URLSearchParams(location.search)
    query.set('state', select.value)
    location.assign(`${location.pathname}?${query}`)
  })
  return make('label', {}, 'Part', select)
}

/** `entity=DEVICE:<id>`, as links between states say it. @param {URLSearchParams} query */
function chosenEntity(query) {
  const [entityType = '', id = ''] = (query.get('entity') ?? '').split(':')
  return id === '' ? undefined : { entityType, id }
}
