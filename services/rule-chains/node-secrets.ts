/**
 * Secrets in the configurations of rule nodes: sealed where they are stored, masked where they are shown, open where the node is made. A mask that
 * comes back stands for what the same node of the same chain has; elsewhere it stands for nothing, and the node says what to fill in.
 */
import type { RuleChainGraph, RuleNode } from '../../model/entities.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import { mapSecrets, maskedSecrets, masksIn, memberText, SECRET_MASK, secretsOf } from '../../model/secret-members.ts'
import type { NodeCatalogue } from '../../engine/rulechain/node.ts'
import type { Vault } from '../vault/vault.ts'
import { RuleChainErrors } from './errors.ts'

/** As much of a node as its secrets are about. */
export type Configured = Pick<RuleNode, 'id' | 'type' | 'configuration'>

export class NodeSecrets {
  private readonly vault: Vault
  private readonly catalogue: Pick<NodeCatalogue, 'find'>

  constructor(vault: Vault, catalogue: Pick<NodeCatalogue, 'find'>) {
    this.vault = vault
    this.catalogue = catalogue
  }

  /** With the stored node's secrets where a mask stands for them. Throws `vault.KEY_UNKNOWN`, `vault.DAMAGED`. */
  filled(node: Pick<Configured, 'type' | 'configuration'>, stored: Configured | undefined): JsonObject {
    // As another type of node it would be handed to whatever that one does with it.
    if (stored === undefined || stored.type !== node.type) return node.configuration
    const shape = this.shapeOf(node)
    const kept = secretsOf(stored.configuration, shape)
    return mapSecrets(node.configuration, shape, (text, path) => {
      const sealed = text === SECRET_MASK ? kept.get(path) : undefined
      return sealed === undefined ? text : this.vault.open(sealed, placeOf(stored, path))
    })
  }

  /** What is to be stored. A secret that did not change stays as it lies there, so that the node is not made anew for it. */
  sealed(node: Configured, stored: Configured | undefined): JsonObject {
    const shape = this.shapeOf(node)
    const kept = stored?.id === node.id ? secretsOf(stored.configuration, shape) : undefined
    return mapSecrets(node.configuration, shape, (text, path) => {
      const place = placeOf(node, path)
      const before = kept?.get(path)
      if (before !== undefined && this.vault.isCurrent(before) && this.isSame(before, text, place)) return before
      return text === SECRET_MASK ? text : this.vault.seal(text, place)
    })
  }

  /** As it is answered, exported and written down. */
  masked({ type, configuration }: Pick<Configured, 'type' | 'configuration'>): JsonObject {
    return maskedSecrets(configuration, this.shapeOf({ type }))
  }

  maskedGraph(graph: RuleChainGraph): RuleChainGraph {
    return { ...graph, nodes: graph.nodes.map((node) => ({ ...node, configuration: this.masked(node) })) }
  }

  /** The node and the members that a mask stands in, such as `send: credentials.password`. */
  toFillIn({ nodes }: { readonly nodes: readonly (Configured & Pick<RuleNode, 'name'>)[] }): readonly string[] {
    return nodes.flatMap((node) =>
      masksIn(node.configuration, this.shapeOf(node)).map((member) => `${node.name}: ${member}`),
    )
  }

  /** For the node that is made. Throws `SECRET_MASKED`, `vault.KEY_UNKNOWN`, `vault.DAMAGED`. */
  opened(node: Configured): JsonObject {
    return mapSecrets(node.configuration, this.shapeOf(node), (text, path) => {
      if (text === SECRET_MASK) throw RuleChainErrors.SECRET_MASKED({ member: memberText(path) })
      return this.vault.open(text, placeOf(node, path))
    })
  }

  /** Sealed under the key in force; undefined where it is so already. Throws `vault.KEY_UNKNOWN`. */
  sealedAnew(node: Configured): JsonObject | undefined {
    const after = mapSecrets(node.configuration, this.shapeOf(node), (text, path) => {
      if (text === SECRET_MASK || this.vault.isCurrent(text)) return text
      const place = placeOf(node, path)
      const opened = this.openedUnlessDamaged(text, place)
      return opened === undefined ? text : this.vault.seal(opened, place)
    })
    return after === node.configuration ? undefined : after
  }

  /** One damaged row is its node's trouble, which says so when it is made, and not that of everybody who starts. */
  private openedUnlessDamaged(text: string, place: string): string | undefined {
    try {
      return this.vault.open(text, place)
    } catch (error) {
      if (isMillraceError(error) && error.code === 'vault.DAMAGED') return undefined
      throw error
    }
  }

  private isSame(sealed: string, text: string, place: string): boolean {
    try {
      return this.vault.open(sealed, place) === text
    } catch {
      // What can not be opened is replaced by what was given.
      return false
    }
  }

  private shapeOf({ type }: Pick<Configured, 'type'>) {
    return this.catalogue.find(type)?.secrets ?? {}
  }
}

function placeOf({ id }: Pick<Configured, 'id'>, path: string): string {
  return `rule_node/${id}${path}`
}
