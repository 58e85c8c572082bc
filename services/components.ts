/** What an editor of rule chains shows of the nodes that this platform runs. Source: `rest-api.md` 8. */
import { createHash } from 'node:crypto'
import type { JsonObject } from '../model/json.ts'
import type { NodeCatalogue, NodeDefinition } from '../engine/rulechain/node.ts'

export interface ComponentDescriptor {
  readonly type: string
  readonly clazz: string
  readonly json: JsonObject
}

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
  const { type: clazz, name, category, configurationVersion, editor } = definition
  const json: JsonObject = {
    id: { id: stableId(clazz) },
    createdTime: 0,
    type: category,
    scope: 'TENANT',
    clusteringMode: editor.clustering,
    name,
    clazz,
    configurationDescriptor: { nodeDefinition: nodeDefinitionOf(definition) },
    configurationVersion,
    actions: null,
    hasQueueName: editor.hasQueueName,
  }
  return { type: category, clazz, json }
}

function nodeDefinitionOf(definition: NodeDefinition): JsonObject {
  const { description, relations, defaultConfiguration, configurationSchema, editor } = definition
  const isCustom = relations === 'custom'
  return {
    details: description,
    description,
    inEnabled: editor.hasInput,
    outEnabled: editor.hasOutput,
    relationTypes: isCustom || !editor.hasOutput ? [] : [...relations, 'Failure'],
    customRelations: isCustom,
    ruleChainNode: editor.isChain,
    defaultConfiguration,
    // Beyond the reference: titles and help texts of the fields, for any editor.
    configurationSchema,
    uiResources: [],
    configDirective: editor.form,
    icon: editor.icon,
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
