/**
 * Rule nodes that an operator adds (`docs/guides/own-nodes.md`): the public face of this room. A module's default export is a function
 * that is handed `NODE_KIT` and answers definitions. It is handed the kit, and imports nothing of Millrace, so that it may lie anywhere
 * and there is one copy of `zod`.
 */
import { z } from 'zod'
import { defineErrors, errorText } from '../model/errors.ts'
import { LongDecimal, WholeDouble, type JsonValue } from '../model/json.ts'
import type { NodeCatalogue } from '../engine/rulechain/node.ts'
import { bodyObject, withBody, withMetadata } from './body.ts'
import { defineNode, isDefinedNode, orZero, type RuleNodeDefinition } from './define-node.ts'
import { NodeErrors } from './errors.ts'
import { pattern } from './pattern.ts'
import { SECRET, SECRET_BY_NAME, SECRET_LOGIN } from './secrets.ts'

export const OwnNodeErrors = defineErrors('own-nodes', {
  UNUSABLE: { kind: 'terminal', status: 500, text: 'RULE_NODES_DIR: {file} can not be used: {reason}' },
})

/** Of the messages behind `refuse` none is tried again; whatever else a node throws may be, by the rule of its queue. */
export const NODE_KIT = {
  defineNode,
  z,
  /** A field that old files leave out: its type's zero value stands for it. */
  orZero,
  /** `.meta({ ...SECRET })`: the member is sealed where it is kept and masked where it is shown (`SECRET_LOGIN`: in an URL, `SECRET_BY_NAME`: of a record). */
  SECRET,
  SECRET_LOGIN,
  SECRET_BY_NAME,
  /** `pattern('${key} $[member]')` makes a function that fills the text with a message's metadata and body. */
  pattern,
  /** The body as an object; throws where it is none. */
  bodyObject,
  withBody,
  withMetadata,
  /** A number as a body holds it, `2.0` and long decimals too; undefined for what is none. */
  numberOf,
  /** `throw refuse('why')`: the message goes on `Failure`. */
  refuse: (reason: string): Error => NodeErrors.REFUSED({ reason }),
} as const

function numberOf(value: JsonValue | undefined): number | undefined {
  if (value instanceof WholeDouble || value instanceof LongDecimal) return value.value
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined
}

export type NodeKit = typeof NODE_KIT

/** What the default export of a module is. */
export type OwnNodes = (
  kit: NodeKit,
) => RuleNodeDefinition | readonly RuleNodeDefinition[] | Promise<readonly RuleNodeDefinition[]>

/** Ours: a later version may bring nodes of such names. */
const RESERVED = 'millrace.'
const TYPE = /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)+$/
const MAX_TYPE_CHARACTERS = 255

/** The definitions of a module. Throws `own-nodes.UNUSABLE`, which names the file. */
export async function ownNodesOf(module: unknown, file: string): Promise<readonly RuleNodeDefinition[]> {
  const refuse = (reason: string, cause?: unknown) => OwnNodeErrors.UNUSABLE({ file, reason }, cause)
  if (!isModule(module) || typeof module.default !== 'function') {
    throw refuse('its default export is no function that answers node definitions')
  }
  let answer: unknown
  try {
    answer = await (module.default as (kit: NodeKit) => unknown)(NODE_KIT)
  } catch (error) {
    throw refuse(lineOf(error), error)
  }
  const definitions: readonly unknown[] = Array.isArray(answer) ? answer : [answer]
  if (definitions.length === 0) throw refuse('it answers no node definition')
  return definitions.map((definition) => {
    if (!isDefinedNode(definition)) throw refuse('it answers something that defineNode did not make')
    const reason = whatIsWrong(definition)
    if (reason !== undefined) throw refuse(reason)
    return definition
  })
}

/** Compilers and schemas write pages. */
export function lineOf(error: unknown): string {
  return errorText(error).replaceAll(/\s+/g, ' ').trim()
}

function isModule(value: unknown): value is { readonly default?: unknown } {
  return typeof value === 'object' && value !== null
}

function whatIsWrong(definition: RuleNodeDefinition): string | undefined {
  const { type, name, defaultConfiguration } = definition
  if (!TYPE.test(type) || type.length > MAX_TYPE_CHARACTERS) {
    return `'${type}' is no type: a name with dots is expected, such as com.example.Deadband`
  }
  if (type.startsWith(RESERVED)) return `the type ${type} begins with ${RESERVED}, which is reserved`
  if (name.trim() === '') return `the node ${type} has no name`
  try {
    definition.check(defaultConfiguration)
    // Made here once, so that one that can not be is said now and not to an editor.
    void definition.configurationSchema
    void definition.secrets
  } catch (error) {
    return `the defaults of ${type} are refused by its own configuration: ${lineOf(error)}`
  }
  return undefined
}

export interface OwnNode {
  readonly file: string
  readonly definition: RuleNodeDefinition
}

/** `base` and the operator's. Throws `own-nodes.UNUSABLE` where a type is there already. */
export function withOwnNodes(base: NodeCatalogue, own: readonly OwnNode[]): NodeCatalogue {
  if (own.length === 0) return base
  const byType = new Map<string, OwnNode>()
  for (const node of own) {
    const { type } = node.definition
    const earlier = byType.get(type)
    if (base.find(type) !== undefined || earlier !== undefined) {
      const where = earlier === undefined ? 'in Millrace' : `from ${earlier.file}`
      throw OwnNodeErrors.UNUSABLE({ file: node.file, reason: `the node type ${type} is there already, ${where}` })
    }
    byType.set(type, node)
  }
  const all = [...base.all(), ...own.map(({ definition }) => definition)]
  return { find: (type) => base.find(type) ?? byType.get(type)?.definition, all: () => all }
}
