/** What leads out of a node and into it: shown, connected, changed and taken away without a pointer. */
import { dialog } from '../dialog.js'
import { make, tell } from '../dom.js'
import { connections, inOrderOfNames, leadingTo, nodeOf, obstacle, withLabels } from './graph.js'
import { labelChoice, labelsOf } from './labels.js'

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./catalogue.js').Catalogue} Catalogue */

/**
 * Asks for the labels of a connection, new or not, and draws it.
 * @param {State} state @param {Catalogue} catalogue @param {number} from @param {number} to
 * @returns {Promise<string>} what came of it, for who hears it
 */
export async function connect(state, catalogue, from, to) {
  const why = obstacle(state.graph(), from, to)
  if (why !== undefined) return why
  const [source, target] = [nodeOf(state.graph(), from), nodeOf(state.graph(), to)]
  if (source === undefined || target === undefined) return ''
  const before = state
    .graph()
    .links.filter((link) => link.from === from && link.to === to)
    .map(({ type }) => type)
  const labels = await labelsOf(source, catalogue.get(source.type))
  if (labels.offered.length === 0 && !labels.isOpen)
    return `Nothing comes out of "${source.name}": it ends the way of a message.`
  const taken = connections(state.graph())
    .filter((each) => each.from === from)
    .flatMap((each) => each.labels)
  // The one that is not connected yet is most likely the one that is meant.
  const likely = labels.offered.find((label) => !taken.includes(label)) ?? labels.offered[0]
  const chosen = await askLabels(
    source.name,
    target.name,
    labels,
    before.length > 0 || likely === undefined ? before : [likely],
  )
  if (chosen === undefined) return ''
  state.change(withLabels(state.graph(), from, to, chosen))
  return `"${source.name}" leads to "${target.name}" by ${chosen.join(', ')}.`
}

/** @param {string} from @param {string} to @param {import('./labels.js').Labels} labels @param {readonly string[]} before @returns {Promise<readonly string[] | undefined>} */
function askLabels(from, to, labels, before) {
  return new Promise((resolve) => {
    const choice = labelChoice(labels, before)
    const told = make('p', { role: 'status' })
    /** @type {readonly string[] | undefined} */
    let result
    const form = make(
      'form',
      {},
      make('p', {}, `Messages of which labels go from "${from}" to "${to}"?`),
      choice.element,
      told,
      make(
        'p',
        { class: 'acts' },
        make('button', {}, 'Connect'),
        make('button', { type: 'button', click: () => close() }, 'Cancel'),
      ),
    )
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      result = choice.chosen()
      if (result.length > 0) return close()
      tell(told, labels.isOpen ? 'Tick a label, or write one.' : 'Tick a label.', true)
    })
    const { element, close } = dialog('Connect', [form])
    element.addEventListener('close', () => resolve(result !== undefined && result.length > 0 ? result : undefined))
    choice.first.focus()
  })
}

/**
 * @param {State} state @param {Catalogue} catalogue @param {number} key
 * @param {(text: string, isWrong?: boolean) => void} say
 */
export function connectionsSection(state, catalogue, key, say) {
  const list = make('ul', { class: 'connections' })
  const select = make('select', {})
  const button = make('button', { type: 'button' }, 'Connect …')
  button.addEventListener('click', () => {
    if (select.value === '') return say('Choose a node to connect to first.', true)
    void connect(state, catalogue, key, Number(select.value)).then((text) => text !== '' && say(text))
  })

  const refresh = () => {
    const graph = state.graph()
    const all = connections(graph)
    const rows = [
      ...all.filter(({ from }) => from === key).map((each) => row(each.labels, each.to, 'to', each)),
      ...all.filter(({ to }) => to === key).map((each) => row(each.labels, each.from, 'from', each)),
    ]
    const hadFocus = list.contains(document.activeElement)
    list.replaceChildren(...(rows.length === 0 ? [make('li', {}, 'None.')] : rows))
    if (hadFocus) select.focus()
    const chosen = select.value
    // What leads here already would close a circle.
    const before = leadingTo(graph, key)
    const others = inOrderOfNames(graph).filter((node) => node.key !== key && !before.has(node.key))
    select.replaceChildren(
      make('option', { value: '' }, '(choose a node)'),
      ...others.map((node) => make('option', { value: String(node.key) }, node.name)),
    )
    select.value = others.some((node) => String(node.key) === chosen) ? chosen : ''
    const outEnabled =
      catalogue.get(nodeOf(graph, key)?.type ?? '')?.configurationDescriptor.nodeDefinition.outEnabled ?? true
    adding.hidden = !outEnabled
  }

  /** @param {readonly string[]} labels @param {number} other @param {'to' | 'from'} way @param {{ from: number, to: number }} link */
  const row = (labels, other, way, { from, to }) => {
    const name = nodeOf(state.graph(), other)?.name ?? ''
    const text = `${labels.join(', ')} ${way} ${name}`
    const change = () => void connect(state, catalogue, from, to).then((said) => said !== '' && say(said))
    const remove = () => {
      state.change(withLabels(state.graph(), from, to, []))
      say(`Taken away: ${text}.`)
    }
    return make(
      'li',
      {},
      make('span', {}, make('strong', {}, labels.join(', ')), ` ${way} `, name),
      ' ',
      make(
        'span',
        { class: 'acts' },
        make('button', { type: 'button', 'aria-label': `Change the labels: ${text}`, click: change }, 'Change'),
        make('button', { type: 'button', 'aria-label': `Take away: ${text}`, click: remove }, 'Take away'),
      ),
    )
  }

  const adding = make('div', { class: 'choice' }, make('label', {}, 'Connect to', select), button)
  refresh()
  return {
    element: make('section', { 'aria-label': 'Connections' }, make('h3', {}, 'Connections'), list, adding),
    refresh,
    focus: () => select.focus(),
  }
}
