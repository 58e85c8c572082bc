/** The reference page of the rule nodes, made from the catalogue by `npm run docs`; `reference-page.test.ts` checks it for drift. */
import type { NodeCategory } from '../engine/rulechain/node.ts'
import { stringifyJson, type JsonObject, type JsonValue } from '../model/json.ts'
import type { RuleNodeDefinition } from './define-node.ts'

export function ruleNodesPage(nodes: readonly RuleNodeDefinition[]): string {
  const lines = [
    '<!-- Made from nodes/ by `npm run docs`: do not edit. -->',
    '# Rule nodes',
    '',
    'Behind each type stand its relations; every node may also emit `Failure`, with the reason in its debug events. A node with an unknown or wrong field is saved and does not start; its `LC_EVENT` names the field.',
    '',
    countsOf(nodes),
    '',
    'Nodes with a script have `scriptLang` (`TBEL`, the default, runs inline; `JS` on the worker pool), `tbelScript` and `jsScript`: function bodies with the arguments msg, metadata, msgType.',
  ]
  for (const [category, members] of byCategory(nodes)) {
    lines.push('', `## ${category.charAt(0)}${category.slice(1).toLowerCase()}`)
    for (const node of members) lines.push('', ...section(node))
  }
  return `${lines.join('\n')}\n`
}

/** Of those whose class exported chains carry. */
const REFERENCE = 'org.thingsboard.'

function countsOf(nodes: readonly RuleNodeDefinition[]): string {
  const theirs = nodes.filter(({ type }) => type.startsWith(REFERENCE))
  const differing = theirs.filter(({ differs }) => differs !== undefined).length
  return `All ${theirs.length} node types of ThingsBoard CE 4.4 are implemented; ${nodes.length - theirs.length} more are Millrace's own, below Analytics. ${differing} differ from ThingsBoard, and say how. Nodes that call a service say what they were tried with.`
}

function byCategory(nodes: readonly RuleNodeDefinition[]): Map<NodeCategory, RuleNodeDefinition[]> {
  const categories = new Map<NodeCategory, RuleNodeDefinition[]>()
  for (const node of nodes) categories.set(node.category, [...(categories.get(node.category) ?? []), node])
  return categories
}

/** The editor lists them all; a long list says little here. */
const MAX_RELATIONS = 8

function relationsOf(labels: readonly string[]): string {
  const shown = labels.slice(0, MAX_RELATIONS).map((label) => `\`${label}\``)
  const more = labels.length - shown.length
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`
}

/** Said once, at the top of the page. */
export const SCRIPT_FIELDS: readonly string[] = ['scriptLang', 'jsScript', 'tbelScript']

function section(node: RuleNodeDefinition): string[] {
  const relations = node.relations === 'custom' ? 'names of your own' : relationsOf(node.relations)
  const properties = Object.entries(membersOf(node.configurationSchema['properties']))
  const isScripted = properties.some(([field]) => field === 'scriptLang')
  const fields = properties.filter(([field]) => !isScripted || !SCRIPT_FIELDS.includes(field))
  const lines = [
    `### ${node.name}`,
    '',
    node.description,
    '',
    `\`${node.type}\`${isScripted ? ', scripted' : ''}: ${relations === '' ? 'none' : relations}.`,
  ]
  if (node.triedWith !== undefined) lines.push('', `Tried with: ${node.triedWith}.`)
  if (node.differs !== undefined) lines.push('', `Differs: ${node.differs}`)
  if (fields.length > 0) {
    lines.push('', '| field | default | meaning |', '|---|---|---|')
    for (const [field, schema] of fields)
      lines.push(`| \`${field}\` | ${defaultOf(node, field)} | ${meaning(schema)} |`)
  }
  return lines
}

function membersOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

function defaultOf(node: RuleNodeDefinition, field: string): string {
  const value = node.defaultConfiguration[field]
  if (value === undefined) return ''
  const text = stringifyJson(value)
  return text.length > 80 ? 'see the example chains' : `\`${text.replaceAll('|', '\\|')}\``
}

function meaning(schema: JsonValue): string {
  const { title, description } = membersOf(schema)
  const text = description ?? title
  return typeof text === 'string' ? text : ''
}
