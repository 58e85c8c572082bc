/** What an editor of rule chains shows of the nodes that this platform runs. Source: `rest-api.md` 8. */
import { createHash } from 'node:crypto'
import type { JsonObject } from '../model/json.ts'
import type { NodeCatalogue, NodeDefinition } from '../engine/rulechain/node.ts'

export interface ComponentDescriptor {
  readonly type: string
  readonly clazz: string
  readonly json: JsonObject
}

/** Nodes that let their user choose the queue behind them. */
const WITH_QUEUE_NAME = new Set(['org.thingsboard.rule.engine.flow.TbCheckpointNode'])
const CHAIN_NODE = 'org.thingsboard.rule.engine.flow.TbRuleChainInputNode'

export class Components {
  private readonly descriptors: readonly ComponentDescriptor[]

  constructor(catalogue: Pick<NodeCatalogue, 'all'>) {
    const named = catalogue.all().toSorted((a, b) => (a.name < b.name ? -1 : 1))
    this.descriptors = named.map(descriptorOf)
  }

  ofTypes(types: readonly string[]): readonly ComponentDescriptor[] {
    return this.descriptors.filter(({ type }) => types.includes(type))
  }

  find(clazz: string): ComponentDescriptor | undefined {
    return this.descriptors.find((descriptor) => descriptor.clazz === clazz)
  }
}

function descriptorOf(definition: NodeDefinition): ComponentDescriptor {
  const { type: clazz, name, category, configurationVersion } = definition
  const json: JsonObject = {
    id: { id: stableId(clazz) },
    createdTime: 0,
    type: category,
    scope: 'TENANT',
    clusteringMode: 'ENABLED',
    name,
    clazz,
    configurationDescriptor: { nodeDefinition: nodeDefinitionOf(definition) },
    configurationVersion,
    actions: null,
    hasQueueName: WITH_QUEUE_NAME.has(clazz),
  }
  return { type: category, clazz, json }
}

function nodeDefinitionOf({ type, description, relations, defaultConfiguration }: NodeDefinition): JsonObject {
  const isCustom = relations === 'custom'
  const isEnd = !isCustom && relations.length === 0
  return {
    details: description,
    description,
    inEnabled: true,
    outEnabled: !isEnd,
    relationTypes: isCustom || isEnd ? [] : [...relations, 'Failure'],
    customRelations: isCustom,
    ruleChainNode: type === CHAIN_NODE,
    defaultConfiguration,
    // Of forms that a front end brings itself: without one it shows the configuration as JSON.
    uiResources: [],
    configDirective: '',
    icon: '',
    iconUrl: '',
    docUrl: '',
  }
}

/** The same in each process and after each start: there is no row of it. */
function stableId(clazz: string): string {
  const hex = createHash('sha256').update(clazz).digest('hex')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}
