/** The reference page of the rule nodes, made from the catalogue by `npm run docs`; `reference-page.test.ts` checks it for drift. */
import type { NodeCategory } from '../engine/rulechain/node.ts'
import { stringifyJson, type JsonObject, type JsonValue } from '../model/json.ts'
import type { NodeExample, RuleNodeDefinition } from './define-node.ts'

export function ruleNodesPage(nodes: readonly RuleNodeDefinition[]): string {
  const lines = [
    '<!-- Made from nodes/ by `npm run docs`: do not edit. -->',
    '# Rule nodes',
    '',
    'Every node may also emit `Failure`, with the reason in the metadata key `error`. Fields that a node does not know are kept.',
  ]
  for (const [category, members] of byCategory(nodes)) {
    lines.push('', `## ${category.charAt(0)}${category.slice(1).toLowerCase()}`)
    for (const node of members) lines.push('', ...section(node))
  }
  return `${lines.join('\n')}\n`
}

function byCategory(nodes: readonly RuleNodeDefinition[]): Map<NodeCategory, RuleNodeDefinition[]> {
  const categories = new Map<NodeCategory, RuleNodeDefinition[]>()
  for (const node of nodes) categories.set(node.category, [...(categories.get(node.category) ?? []), node])
  return categories
}

function section(node: RuleNodeDefinition): string[] {
  const relations =
    node.relations === 'custom' ? 'labels of your own' : node.relations.map((label) => `\`${label}\``).join(', ')
  const lines = [
    `### ${node.name}`,
    '',
    node.description,
    '',
    `Type \`${node.type}\`, configuration version ${node.configurationVersion}. Emits ${relations === '' ? 'nothing of its own' : relations}.`,
  ]
  const fields = Object.entries(membersOf(node.configurationSchema['properties']))
  if (fields.length > 0) {
    lines.push('', '| field | default | meaning |', '|---|---|---|')
    for (const [field, schema] of fields)
      lines.push(`| \`${field}\` | ${defaultOf(node, field)} | ${meaning(schema)} |`)
  }
  if (node.examples.length > 0) lines.push('', ...node.examples.map(exampleLine))
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
  return [title, description].filter((text) => typeof text === 'string').join(': ')
}

function exampleLine({ title, given, expect }: NodeExample): string {
  const out = expect.relations.length === 0 ? 'ends here' : expect.relations.map((label) => `\`${label}\``).join(', ')
  return `- ${title}: \`${given.data}\` → ${out}`
}
