/** One dashboard: its widgets live over one connection, the time they show, and the way to change it. */
import { placedWidgets, sidesOf, statesOf } from './board.js'
import { boardView } from './board-view.js'
import { make, messageOf, tell } from './dom.js'
import { connected } from './live.js'
import { liveState } from './live-state.js'
import { call } from './session.js'
import { timeChoice } from './time-choice.js'

/** Entities that widgets lead to. @type {Readonly<Record<string, string>>} */
const NAMED = { DEVICE: 'device', ASSET: 'asset', CUSTOMER: 'customer', ENTITY_VIEW: 'entityView' }

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
  const choice = timeChoice(dashboard.configuration.timewindow, () => views.forEach((view) => view.again()))
  const mayEdit = user.authority === 'TENANT_ADMIN'
  const chosen = chosenEntity(query)
  const sides = sidesOf(dashboard.configuration, stateId)
  const views = sides.map(({ side, flex }) => {
    const view = boardView({
      live,
      stateId,
      side,
      window: choice.window,
      ...(chosen === undefined ? {} : { chosen }),
      emptyText: mayEdit ? 'There are no widgets here yet: "Edit" has "Add a widget".' : 'There are no widgets here.',
    })
    view.element.style.flex = flex
    return view
  })
  const bar = make('div', { class: 'bar' })
  const edit = make('button', { type: 'button', click: () => void change() }, 'Edit')
  if (mayEdit) bar.append(edit)
  const isPublic = query.has('publicId')
  main.replaceChildren(
    ...(isPublic ? [] : [make('p', {}, make('a', { href: '/dashboards' }, 'Dashboards'))]),
    make('h1', {}, dashboard.title),
    ...(chosen === undefined ? [] : [whose(chosen)]),
    told,
    make('div', { class: 'choice' }, choice.element, ...(states.length > 1 ? [stateChoice(states, stateId)] : [])),
    bar,
    make('div', { class: 'sides' }, ...views.map(({ element }) => element)),
  )
  for (const view of views) view.show(dashboard.configuration)
  // Nothing asks for a connection then.
  const all = sides.flatMap(({ side }) => placedWidgets(dashboard.configuration, stateId, side))
  if (all.every(({ kind }) => kind.drawing === 'text')) tell(told, '')
  addEventListener('pagehide', () => live.close())

  async function change() {
    edit.disabled = true
    try {
      const { boardEditor } = await import('./board-editor.js')
      boardEditor({ dashboard, stateId, views, bar, window: choice.window })
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

/** Of which entity this part tells, and the way back. @param {{ entityType: string, id: string }} chosen */
function whose({ entityType, id }) {
  const query = new URLSearchParams(location.search)
  for (const member of ['state', 'entity']) query.delete(member)
  const back = make('a', { href: `${location.pathname}?${query}` }, 'Back to the first part')
  const name = make('strong')
  const kind = NAMED[entityType]
  if (kind !== undefined)
    void call('GET', `/api/${kind}/${encodeURIComponent(id)}`).then(
      (entity) => name.replaceChildren(`${entity.name} · `),
      // What the part tells may be shown all the same; the page says why it has no name.
      (error) => name.replaceChildren(`${kind} ${id}: ${messageOf(error)} · `),
    )
  return make('p', {}, name, back)
}

/** `entity=DEVICE:<id>`, as links between states say it. @param {URLSearchParams} query */
function chosenEntity(query) {
  const [entityType = '', id = ''] = (query.get('entity') ?? '').split(':')
  return id === '' ? undefined : { entityType, id }
}
