/** The catalogue, to take a node from. */
import { dialog } from '../dialog.js'
import { field, make } from '../dom.js'
import { GROUPS, searched } from './catalogue.js'

/**
 * @param {readonly import('./catalogue.js').Component[]} components
 * @returns {Promise<import('./catalogue.js').Component | undefined>} undefined where none was chosen
 */
export function chooseComponent(components) {
  return new Promise((resolve) => {
    const search = field('Search', { type: 'search', autocomplete: 'off', autofocus: true })
    const found = make('p', { role: 'status' })
    const list = make('div', { class: 'catalogue' })
    const { element, close } = dialog(
      'Add a node',
      [search.row, found, list, make('p', {}, make('button', { type: 'button', click: () => close() }, 'Cancel'))],
      'large',
    )
    element.addEventListener('close', () => resolve(components.find(({ clazz }) => clazz === element.returnValue)))
    const show = () => {
      const shown = searched(components, search.input.value)
      const count = shown.length === 1 ? '1 kind of node' : `${shown.length} kinds of nodes`
      found.textContent = shown.length === 0 ? 'No node has these words: try fewer.' : count
      list.replaceChildren(
        ...Object.entries(GROUPS).flatMap(([group, text]) => {
          const members = shown.filter(({ type }) => type === group)
          return members.length === 0 ? [] : [section(group, text, members)]
        }),
      )
    }
    search.input.addEventListener('input', show)
    search.input.addEventListener('keydown', (event) => {
      const [first] = searched(components, search.input.value)
      if (event.key !== 'Enter') return
      event.preventDefault()
      if (first !== undefined) close(first.clazz)
    })
    show()

    /** @param {string} group @param {string} text @param {readonly import('./catalogue.js').Component[]} members */
    function section(group, text, members) {
      return make(
        'section',
        { class: group.toLowerCase() },
        make('h3', {}, text),
        ...members.map(({ name, clazz, configurationDescriptor: { nodeDefinition } }) =>
          make(
            'button',
            { type: 'button', class: 'component', click: () => close(clazz) },
            make('strong', {}, name),
            make('small', {}, nodeDefinition.description),
          ),
        ),
      )
    }
  })
}
