/** Where telemetry is collected from beside the devices' own connections: the list, with how each does, and a new one. */
import { choice, field, form, make, messageOf } from './dom.js'
import { SHAPES } from './integration-shapes.js'
import { pagedList, searchField } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function integrationsPage({ main, query }) {
  const search = searchField(query, () => void list.turnTo(1))
  const list = pagedList({
    caption: 'Integrations',
    heads: ['Name', 'Kind', 'State', 'Stored', 'Failed'],
    cells: (/** @type {Json} */ integration) => {
      const { id, name, type } = integration
      const [state, stored, failed] = [make('span', {}, '…'), make('span'), make('span')]
      void figures(integration, state, stored, failed)
      return [make('a', { href: `/integrations/${id.id}` }, name), type, state, stored, failed]
    },
    path: '/api/integrations',
    asked: () => ({ sortProperty: 'name', sortOrder: 'ASC', ...search.searched('textSearch') }),
    kept: () => search.searched('search'),
    query,
    none: 'There are no integrations: "Add an integration" collects telemetry from a webhook, a broker, a port or files.',
  })
  main.replaceChildren(
    make('h1', {}, 'Integrations'),
    make('p', {}, 'Telemetry from where it already is. A converter script says which device it is of.'),
    search.row,
    list.element,
    addition(),
  )
  await list.show()
}

/** @param {Json} integration @param {HTMLElement} state @param {HTMLElement} stored @param {HTMLElement} failed */
async function figures(integration, state, stored, failed) {
  try {
    const told = await call('GET', `/api/integration/${integration['id'].id}/statistics`)
    state.textContent = stateText(integration, told.state)
    if (told.state === 'FAILED') state.className = 'wrong'
    stored.textContent = told.stored.toLocaleString()
    failed.textContent = told.failed.toLocaleString()
    if (told.failed > 0) failed.className = 'wrong'
  } catch (error) {
    state.textContent = messageOf(error)
  }
}

/** @param {Json} integration @param {string} state */
export function stateText({ enabled }, state) {
  return enabled === true ? state.toLowerCase() : 'switched off'
}

function addition() {
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  const type = choice(
    'From',
    'type',
    SHAPES.map((shape) => [shape.type, shape.text]),
    'HTTP',
  )
  const adding = form('Add the integration', [name.row, type.row], async () => {
    const shape = SHAPES.find((each) => each.type === type.input.value)
    if (shape === undefined) return
    const made = await call('POST', '/api/integration', {
      name: name.input.value.trim(),
      type: shape.type,
      // It begins when its settings are.
      enabled: shape.type === 'HTTP',
      configuration: shape.example,
      converter: { language: 'TBEL', payloadFormat: 'JSON', script: shape.script },
    })
    location.assign(`/integrations/${made.id.id}`)
  })
  return make('details', {}, make('summary', {}, 'Add an integration'), adding)
}
