/** The kinds of nodes that the server runs, with what an editor needs to know of them. */
import { call } from '../session.js'

/**
 * @typedef {object} NodeDefinition
 * @property {string} description
 * @property {boolean} inEnabled
 * @property {boolean} outEnabled
 * @property {readonly string[]} relationTypes
 * @property {boolean} customRelations
 * @property {boolean} ruleChainNode leads into another chain
 * @property {Readonly<Record<string, unknown>>} defaultConfiguration
 * @property {import('./schema.js').Schema} configurationSchema
 */

/**
 * @typedef {object} Component
 * @property {string} type the group
 * @property {string} name
 * @property {string} clazz the type of a node in a chain
 * @property {string} clusteringMode
 * @property {boolean} hasQueueName
 * @property {number} configurationVersion
 * @property {{ nodeDefinition: NodeDefinition }} configurationDescriptor
 */

/** In the order in which a message meets them. */
export const GROUPS = /** @type {const} */ ({
  FILTER: 'Filter',
  ENRICHMENT: 'Enrichment',
  TRANSFORMATION: 'Transformation',
  ACTION: 'Action',
  ANALYTICS: 'Analytics',
  EXTERNAL: 'External',
  FLOW: 'Flow',
})

/** @returns {Promise<Component[]>} */
export function readComponents() {
  return call('GET', `/api/components?componentTypes=${Object.keys(GROUPS).join(',')}`)
}

/** @typedef {ReadonlyMap<string, Component>} Catalogue by the types of nodes */

/** @param {readonly Component[]} components @returns {Catalogue} */
export function catalogueOf(components) {
  return new Map(components.map((component) => [component.clazz, component]))
}

/** @param {string} group */
export function groupName(group) {
  return Object.entries(GROUPS).find(([key]) => key === group)?.[1] ?? 'Unknown'
}

/** Those with every word of the search in their name, type, group or help; those with it in the name first. @param {readonly Component[]} components @param {string} search */
export function searched(components, search) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const found = components.filter(({ name, clazz, type, configurationDescriptor: { nodeDefinition } }) => {
    const text = `${name} ${clazz} ${type} ${nodeDefinition.description}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const rank = (/** @type {Component} */ { name }) => (words.every((word) => name.toLowerCase().includes(word)) ? 0 : 1)
  return found.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}
