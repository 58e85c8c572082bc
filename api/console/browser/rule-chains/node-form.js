/** The configuration of a node: a form where the catalogue says how it is made, and as JSON. */
import { make } from '../dom.js'
import { fieldRows, readJson } from './fields.js'
import { membersOf } from './graph.js'
import { fieldsOf } from './schema.js'
import { isOtherLanguage, languageOf, scriptKindOf } from './scripts.js'
import { testScript } from './script-test.js'

/** @typedef {import('./graph.js').Members} Members */
/** @typedef {{ id: { id: string }, name: string }} NamedChain */

/**
 * @param {object} parts
 * @param {import('./graph.js').DrawnNode} parts.node
 * @param {import('./catalogue.js').Component | undefined} parts.component
 * @param {(configuration: Members) => void} parts.changed
 * @param {import('./fields.js').Note} parts.note
 * @param {readonly NamedChain[]} parts.chains that the node may lead into
 */
export function configurationForm({ node, component, changed, note, chains }) {
  let current = node.configuration
  const take = (/** @type {Members} */ configuration) => {
    const wasOther = languageOf(current) !== languageOf(configuration)
    current = configuration
    changed(configuration)
    // The script of the other language is another field.
    if (wasOther && !isJson) show()
  }
  const definition = component?.configurationDescriptor.nodeDefinition
  const fields = fieldsOf(definition?.configurationSchema ?? {}, definition?.defaultConfiguration)
  let isJson = component === undefined
  const inside = make('div')
  const turn = make('button', { type: 'button', class: 'plain' })
  turn.addEventListener('click', () => {
    isJson = !isJson
    show()
  })

  const show = () => {
    note('', '')
    turn.textContent = isJson ? 'As a form' : 'As JSON'
    turn.hidden = component === undefined
    inside.replaceChildren(...(isJson ? [asJson()] : asForm()))
  }

  const asForm = () => {
    const shown = fields.filter(({ name }) => !isOtherLanguage(current, name) && !(isChain && name === 'ruleChainId'))
    const rows = fieldRows(shown, current, take, note, '/configuration')
    if (shown.length === 0 && !isChain) return [make('p', {}, 'It has no settings.')]
    return [...(isChain ? [chainRow()] : []), ...rows, ...testing()]
  }

  const isChain = definition?.ruleChainNode === true

  const chainRow = () => {
    const chosen = String(current['ruleChainId'] ?? '')
    const isKnown = chains.some(({ id }) => id.id === chosen)
    const select = make(
      'select',
      {},
      make('option', { value: '' }, '(none)'),
      ...chains.map(({ id, name }) => make('option', { value: id.id }, name)),
      ...(isKnown || chosen === '' ? [] : [make('option', { value: chosen }, `a rule chain that is gone (${chosen})`)]),
    )
    select.value = chosen
    const link = make('a', {}, 'Open it')
    const lead = () => {
      link.href = `/ruleChains/${select.value}`
      link.hidden = select.value === ''
    }
    lead()
    select.addEventListener('change', () => {
      take({ ...current, ruleChainId: select.value })
      lead()
    })
    return make(
      'div',
      { class: 'field' },
      make('label', {}, make('span', { class: 'title' }, 'Rule chain'), select),
      make('small', {}, 'Messages go on there; what comes out of it comes out here.'),
      link,
    )
  }

  const asJson = () => {
    const input = make('textarea', {
      rows: '16',
      spellcheck: 'false',
      class: 'code',
      'aria-label': 'Configuration as JSON',
      'data-path': '/configuration',
    })
    const wrong = make('p', { class: 'wrong', role: 'status' })
    input.value = JSON.stringify(current, null, 2)
    input.addEventListener('input', () => {
      const { value, mistake } = readJson(input.value)
      const isObject = mistake === '' && typeof value === 'object' && value !== null && !Array.isArray(value)
      const text = mistake === '' && !isObject ? 'Write an object: { … }.' : mistake
      wrong.textContent = text
      input.setAttribute('aria-invalid', String(text !== ''))
      note('/configuration', text)
      if (isObject) take(membersOf(value))
    })
    return make('div', {}, input, wrong)
  }

  const testing = () => {
    const kind = scriptKindOf(node.type)
    if (kind === undefined) return []
    const click = () => {
      const language = languageOf(current)
      const member = kind.members[language]
      const use = (/** @type {string} */ script) => {
        take({ ...current, [member]: script })
        show()
      }
      void testScript({
        name: node.name,
        nodeId: node.id?.id,
        kind,
        language,
        script: String(current[member] ?? ''),
        take: use,
      })
    }
    return [make('button', { type: 'button', click }, 'Test the script')]
  }

  show()
  return make(
    'section',
    { 'aria-label': 'Settings' },
    make('div', { class: 'heading' }, make('h3', {}, 'Settings'), turn),
    inside,
  )
}
