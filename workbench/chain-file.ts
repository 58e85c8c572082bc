/** A rule chain as a file holds it, in each of the export forms of the reference (`rule-engine.md` 3.4). */
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { NodeConnection } from '../model/entities.ts'
import { errorText } from '../model/errors.ts'
import { parseJson, type JsonObject, type JsonValue } from '../model/json.ts'
import type { ComparedNode } from '../services/rule-chains/diff.ts'
import { INPUT_NODE_TYPE } from '../services/rule-chains/node-types.ts'
import { WorkbenchErrors } from './errors.ts'

export interface DrawnNode extends ComparedNode {
  readonly id: string | undefined
  /** Where it stands in the editor; undefined where the file does not say. */
  readonly place: { readonly x: number; readonly y: number } | undefined
}

export interface DrawnChain {
  /** By which others lead to it; undefined where the file does not say. */
  readonly id?: string | undefined
  /** Messages begin in it that no profile sends elsewhere. */
  readonly root?: boolean
  readonly name: string
  readonly type: string
  readonly firstNodeIndex: number | null
  readonly nodes: readonly DrawnNode[]
  readonly connections: readonly NodeConnection[]
}

const anyObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'an object is expected',
)
const entityRef = z.union([z.string(), z.looseObject({ id: z.string() }).transform(({ id }) => id)])

const nodeSchema = z.looseObject({
  id: entityRef.nullish(),
  type: z.string().min(1),
  name: z.string(),
  configurationVersion: z.number().int().nullish(),
  configuration: anyObject.nullish(),
  queueName: z.string().nullish(),
  singletonMode: z.boolean().nullish(),
  additionalInfo: z.custom<JsonValue>().optional(),
})

const graphSchema = z.looseObject({
  ruleChainId: entityRef.nullish(),
  firstNodeIndex: z.number().int().nullish(),
  nodes: z.array(nodeSchema),
  connections: z
    .array(z.looseObject({ fromIndex: z.number().int(), toIndex: z.number().int(), type: z.string().min(1) }))
    .nullish(),
  ruleChainConnections: z
    .array(
      z.looseObject({
        fromIndex: z.number().int(),
        targetRuleChainId: entityRef,
        type: z.string().min(1),
        additionalInfo: z.custom<JsonValue>().optional(),
      }),
    )
    .nullish(),
})
type Graph = z.output<typeof graphSchema>

const headSchema = z.looseObject({
  id: entityRef.nullish(),
  name: z.string().min(1),
  type: z.string().nullish(),
  root: z.boolean().nullish(),
})
type Head = Partial<z.output<typeof headSchema>> & { readonly name: string }

const fileSchema = z.union(
  [
    z
      .object({ ruleChain: headSchema, metadata: graphSchema })
      .transform(({ ruleChain, metadata }) => [ruleChain, metadata] as const),
    z
      .object({ entity: headSchema, metaData: graphSchema })
      .transform(({ entity, metaData }) => [entity, metaData] as const),
    graphSchema.transform((graph) => [{ name: 'rule chain', type: 'CORE' }, graph] as const),
  ],
  { error: 'neither "ruleChain" with "metadata", nor "entity" with "metaData", nor "nodes" with "connections"' },
)

/** Throws `FILE_UNREADABLE`, `FILE_NOT_A_CHAIN`. */
export async function readChainFile(file: string): Promise<DrawnChain> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw WorkbenchErrors.FILE_UNREADABLE({ file, reason: errorText(error) }, error)
  })
  return parseChain(text, file)
}

/** `file` is what errors call it. Throws `FILE_NOT_A_CHAIN`. */
export function parseChain(text: string, file: string): DrawnChain {
  try {
    const [head, graph] = fileSchema.parse(parseJson(text))
    return drawnChain(head, graph)
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : errorText(error)
    throw WorkbenchErrors.FILE_NOT_A_CHAIN({ file, reason }, error)
  }
}

function drawnChain(head: Head, graph: Graph): DrawnChain {
  const legacy = graph.ruleChainConnections ?? []
  const nodes = [
    ...graph.nodes.map((node): DrawnNode => ({
      id: node.id ?? undefined,
      type: node.type,
      name: node.name,
      configurationVersion: node.configurationVersion ?? 0,
      configuration: node.configuration ?? {},
      queueName: node.queueName ?? null,
      singletonMode: node.singletonMode ?? false,
      place: placeOf(node.additionalInfo),
    })),
    ...legacy.map(({ targetRuleChainId, additionalInfo }): DrawnNode => inputNode(targetRuleChainId, additionalInfo)),
  ]
  const connections = [
    ...(graph.connections ?? []).map(({ fromIndex, toIndex, type }) => ({ fromIndex, toIndex, type })),
    ...legacy.map(({ fromIndex, type }, index) => ({ fromIndex, toIndex: graph.nodes.length + index, type })),
  ]
  return {
    id: graph.ruleChainId ?? head.id ?? undefined,
    root: head.root ?? false,
    name: head.name,
    type: head.type ?? 'CORE',
    firstNodeIndex: graph.firstNodeIndex ?? null,
    nodes,
    connections,
  }
}

function inputNode(ruleChainId: string, additionalInfo: JsonValue | undefined): DrawnNode {
  return {
    id: undefined,
    type: INPUT_NODE_TYPE,
    name: `chain ${ruleChainId}`,
    configurationVersion: 1,
    configuration: { ruleChainId, forwardMsgToDefaultRuleChain: false },
    queueName: null,
    singletonMode: false,
    place: placeOf(additionalInfo),
  }
}

const placeSchema = z.looseObject({ layoutX: z.number(), layoutY: z.number() })

function placeOf(additionalInfo: JsonValue | undefined): DrawnNode['place'] {
  const parsed = placeSchema.safeParse(additionalInfo)
  return parsed.success ? { x: parsed.data.layoutX, y: parsed.data.layoutY } : undefined
}
