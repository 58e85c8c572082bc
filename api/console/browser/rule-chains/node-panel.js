/** One node: its name, settings, connections, what is noted of it, and what it did. */
import { field, make } from '../dom.js'
import { NOTED, notedOf } from '../noted.js'
import { groupName } from './catalogue.js'
import { connectionsSection } from './connecting.js'
import { isDebugged } from './drawing.js'
import { membersOf, nodeOf, withChange } from './graph.js'
import { insideSection } from './inside.js'
import { configurationForm } from './node-form.js'

/** @typedef {import('./graph.js').DrawnNode} DrawnNode */

/**
 * @typedef {object} PanelParts
 * @property {import('./state.js').State} state
 * @property {import('./catalogue.js').Catalogue} catalogue
 * @property {readonly import('./node-form.js').NamedChain[]} chains
 * @property {readonly string[]} queues
 * @property {string} tenantId
 * @property {ReturnType<typeof import('./inside.js').followChain>} inside
 * @property {(text: string, isWrong?: boolean) => void} say
 * @property {(key: number) => void} remove
 * @property {(key: number) => void} copy
 * @property {() => void} close
 */

/** @param {PanelParts} parts @param {DrawnNode} node */
export function nodePanel(parts, node) {
  const { state, catalogue, chains, queues, tenantId, inside, say, remove, copy, close } = parts
  const { key } = node
  const component = catalogue.get(node.type)
  /** @param {Partial<DrawnNode>} change @param {string} what */
  const take = (change, what) => state.change(withChange(state.graph(), key, change), `${key} ${what}`)
  const note = (/** @type {string} */ path, /** @type {string} */ mistake) => state.note(key, path, mistake)

  const name = nameRow(node, (text) => take({ name: text }, 'name'), note)
  const begin = make(
    'button',
    { type: 'button', click: () => state.change({ ...state.graph(), first: key }) },
    'Let messages begin here',
  )
  const connecting = connectionsSection(state, catalogue, key, say)
  const did =
    node.id === undefined
      ? undefined
      : insideSection(node.id.id, tenantId, inside, isDebugged(node) || node.debugSettings?.failuresEnabled === true)
  const element = make(
    'div',
    {},
    make(
      'div',
      { class: 'heading' },
      make('h2', {}, component?.name ?? 'Unknown type'),
      make('button', { type: 'button', class: 'plain', click: close }, 'Close'),
    ),
    make('p', { class: `about ${(component?.type ?? 'unknown').toLowerCase()}` }, about(node, component)),
    make('p', {}, component?.configurationDescriptor.nodeDefinition.description ?? ''),
    ...(did === undefined ? [] : [did.error]),
    name.row,
    configurationForm({
      node,
      component,
      chains,
      note,
      changed: (configuration) => take({ configuration }, 'configuration'),
    }),
    connecting.element,
    make(
      'section',
      { 'aria-label': 'How it runs' },
      make('h3', {}, 'How it runs'),
      ...runningRows(node, component, queues, take),
    ),
    ...(did === undefined ? [make('p', {}, 'What it does is shown once it is saved.')] : [did.element]),
    make(
      'p',
      { class: 'acts' },
      begin,
      make('button', { type: 'button', click: () => copy(key) }, 'Copy it'),
      make('button', { type: 'button', click: () => remove(key) }, 'Delete it'),
    ),
  )

  const refresh = () => {
    begin.hidden = state.graph().first === key
    connecting.refresh()
  }
  refresh()
  return {
    element,
    refresh,
    refreshFigures: () => did?.refresh(),
    focus: () => {
      name.input.focus()
      name.input.select()
    },
    focusConnecting: connecting.focus,
    isOf: () => nodeOf(state.graph(), key)?.id === node.id,
  }
}

/** @param {DrawnNode} node @param {import('./catalogue.js').Component | undefined} component */
function about({ type }, component) {
  return component === undefined
    ? `This server has no node ${type}: it is kept as it is, and does not run.`
    : groupName(component.type)
}

/** @param {DrawnNode} node @param {(text: string) => void} take @param {import('./fields.js').Note} note */
function nameRow(node, take, note) {
  const { input, row } = field('Name', { autocomplete: 'off', 'aria-describedby': 'name-wrong', 'data-path': '/name' })
  const wrong = make('span', { class: 'wrong', id: 'name-wrong' })
  row.append(wrong)
  input.value = node.name
  input.addEventListener('input', () => {
    const mistake = input.value.trim() === '' ? 'Give it a name.' : ''
    wrong.textContent = mistake
    input.setAttribute('aria-invalid', String(mistake !== ''))
    note('/name', mistake)
    if (mistake === '') take(input.value)
  })
  return { input, row }
}

/**
 * @param {DrawnNode} node @param {import('./catalogue.js').Component | undefined} component @param {readonly string[]} queues
 * @param {(change: Partial<DrawnNode>, what: string) => void} take
 */
function runningRows(node, component, queues, take) {
  const noted = make('select', { name: 'debug' }, ...Object.keys(NOTED).map((text) => make('option', {}, text)))
  noted.value = notedOf(node.debugSettings)
  noted.addEventListener('change', () => {
    const debugSettings = NOTED[noted.value]
    if (debugSettings !== undefined) take({ debugSettings }, 'debug')
  })
  const about = make('textarea', { rows: '2', name: 'description' })
  about.value = String(membersOf(node.additionalInfo)['description'] ?? '')
  about.addEventListener('input', () =>
    take({ additionalInfo: { ...membersOf(node.additionalInfo), description: about.value } }, 'description'),
  )
  return [
    make('label', {}, 'Note its messages (debug mode)', noted),
    ...(component?.hasQueueName === true ? [queueRow(node, queues, take)] : []),
    ...(component?.clusteringMode === 'USER_PREFERENCE' ? [singletonRow(node, take)] : []),
    make('label', {}, 'Description', about),
  ]
}

/** @param {DrawnNode} node @param {readonly string[]} queues @param {(change: Partial<DrawnNode>, what: string) => void} take */
function queueRow({ queueName }, queues, take) {
  const names = [...new Set([...queues, ...(queueName === null ? [] : [queueName])])]
  const select = make(
    'select',
    { name: 'queue' },
    make('option', { value: '' }, 'that of the message'),
    ...names.map((text) => make('option', {}, text)),
  )
  select.value = queueName ?? ''
  select.addEventListener('change', () => take({ queueName: select.value === '' ? null : select.value }, 'queue'))
  return make('label', {}, 'Queue', select)
}

/** @param {DrawnNode} node @param {(change: Partial<DrawnNode>, what: string) => void} take */
function singletonRow({ singletonMode }, take) {
  const box = make('input', { type: 'checkbox' })
  box.addEventListener('change', () => take({ singletonMode: box.checked }, 'singleton'))
  box.checked = singletonMode
  return make('label', { class: 'tick' }, box, 'Run in one process of the cluster only')
}
