/** Rows of rule nodes with their secrets masked, as they are taken along, and sealed, as they are brought in. */
import { isJsonObject, parseJson, stringifyJson, type JsonObject } from '../../model/json.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import type { Configured, NodeSecrets } from '../rule-chains/node-secrets.ts'
import type { PartRows } from './sent-rows.ts'

const NODES = 'rule_node'

export function maskedParts(parts: readonly PartRows[], secrets: NodeSecrets): readonly PartRows[] {
  return inNodes(parts, (row) => withConfiguration(row, secrets.masked(configuredOf(row))))
}

/** A mask stands for what the same node has here. `before`: the rows that are there, of the same chain. */
export function sealedParts(
  parts: readonly PartRows[],
  before: readonly PartRows[],
  secrets: NodeSecrets,
): readonly PartRows[] {
  const nodes = before.find(({ table }) => table.name === NODES)?.rows ?? []
  const stored = new Map(nodes.map((row) => [row['id'], configuredOf(row)]))
  return inNodes(parts, (row) => {
    const node = configuredOf(row)
    const there = stored.get(node.id)
    const filled = { ...node, configuration: secrets.filled(node, there) }
    return withConfiguration(row, secrets.sealed(filled, there))
  })
}

/** As `node: member`. */
export function masksInParts(parts: readonly PartRows[], secrets: NodeSecrets): readonly string[] {
  const rows = parts.find(({ table }) => table.name === NODES)?.rows ?? []
  return secrets.toFillIn({ nodes: rows.map((row) => ({ ...configuredOf(row), name: String(row['name']) })) })
}

function inNodes(parts: readonly PartRows[], change: (row: Row) => Row): readonly PartRows[] {
  return parts.map((part) => (part.table.name === NODES ? { ...part, rows: part.rows.map(change) } : part))
}

function configuredOf(row: Row): Configured {
  return { id: String(row['id']), type: String(row['type']), configuration: configurationOf(row) }
}

function configurationOf(row: Row): JsonObject {
  const configuration = parseJson(String(row['configuration']))
  return isJsonObject(configuration) ? configuration : {}
}

/** Where nothing is a secret the text stays as it is. */
function withConfiguration(row: Row, configuration: JsonObject): Row {
  const text = stringifyJson(configuration)
  return text === stringifyJson(configurationOf(row)) ? row : { ...row, configuration: text }
}
