/** The labels of a connection: those that the node emits, and others where it may. */
import { make } from '../dom.js'
import { call } from '../session.js'

/** @typedef {{ offered: readonly string[], isOpen: boolean }} Labels `isOpen`: others than the offered may be written */

/**
 * What may come out of a node.
 * @param {import('./graph.js').DrawnNode} node @param {import('./catalogue.js').Component | undefined} component @returns {Promise<Labels>}
 */
export async function labelsOf(node, component) {
  const definition = component?.configurationDescriptor.nodeDefinition
  if (definition === undefined) return { offered: ['Success', 'Failure'], isOpen: true }
  const target = node.configuration['ruleChainId']
  if (!definition.ruleChainNode || typeof target !== 'string' || target === '')
    return { offered: definition.relationTypes, isOpen: definition.customRelations }
  // A chain that is gone has none; they can be written all the same.
  const outputs = await call('GET', `/api/ruleChain/${target}/output/labels`).catch(() => [])
  return { offered: [...new Set([...outputs, ...definition.relationTypes])], isOpen: true }
}

/**
 * Boxes to tick, and a field for others.
 * @param {Labels} labels @param {readonly string[]} chosen
 */
export function labelChoice({ offered, isOpen }, chosen) {
  const known = [...new Set([...offered, ...chosen])]
  const boxes = known.map((text) => {
    const box = make('input', { type: 'checkbox', value: text })
    box.checked = chosen.includes(text)
    return box
  })
  const other = make('input', { autocomplete: 'off', 'aria-label': 'Another label', placeholder: 'Another label' })
  const element = make(
    'fieldset',
    {},
    make('legend', {}, 'Labels'),
    ...boxes.map((box) => make('label', { class: 'tick' }, box, box.value)),
    ...(isOpen ? [other] : []),
  )
  const written = () => (isOpen && other.value.trim() !== '' ? [other.value.trim()] : [])
  return {
    element,
    first: boxes[0] ?? other,
    chosen: () => [...boxes.filter(({ checked }) => checked).map(({ value }) => value), ...written()],
  }
}
