/**
 * A rule node as one object: from it come the check of its configuration, the JSON schema for the editor and the docs, the
 * defaults, and the examples, which one generic test runs for every node (`catalogue.test.ts`).
 */
import { z } from 'zod'
import type { JsonObject } from '../model/json.ts'
import type { EntityType } from '../model/entity-id.ts'
import type { CapabilityName } from '../engine/rulechain/capabilities.ts'
import type { NodeCategory, NodeContext, NodeDefinition, NodeInstance } from '../engine/rulechain/node.ts'
import { NodeErrors } from './errors.ts'

/** One message into the node and where it must come out: `relation` with what changed, or `ends` where it goes nowhere. */
export interface NodeExample {
  readonly title: string
  readonly configuration: JsonObject
  readonly given: {
    readonly type?: string
    readonly originatorType?: EntityType
    readonly data: string
    readonly metadata?: Readonly<Record<string, string>>
  }
  readonly expect: {
    readonly relations: readonly string[]
    readonly data?: string
    readonly metadata?: Readonly<Record<string, string>>
    readonly type?: string
  }
}

export interface NodeSpecification<Schema extends z.ZodType, Uses extends CapabilityName> {
  readonly type: string
  readonly name: string
  readonly category: NodeCategory
  /** Labels besides `Failure`. */
  readonly relations: readonly string[] | 'custom'
  readonly description: string
  readonly configurationVersion?: number
  /** Keys it does not know must be accepted: exported chains carry old ones. */
  readonly configuration: Schema
  readonly defaults: JsonObject
  readonly examples: readonly NodeExample[]
  /** Raises a configuration of an older version; throws where it can not. */
  readonly upgrade?: (configuration: JsonObject, fromVersion: number) => JsonObject
  /** What the node asks of the platform: its context holds these and no others. */
  readonly uses?: readonly Uses[]
  /** True where it changes the world outside its messages, also by a save: dry runs and shadows replace it. */
  readonly effects?: boolean
  create(configuration: z.output<Schema>, context: NodeContext<Uses>): NodeInstance | Promise<NodeInstance>
}

export interface RuleNodeDefinition extends NodeDefinition {
  readonly examples: readonly NodeExample[]
}

export function defineNode<Schema extends z.ZodType, const Uses extends CapabilityName = never>(
  specification: NodeSpecification<Schema, Uses>,
): RuleNodeDefinition {
  const { type, name, category, relations, description, examples, upgrade } = specification
  const parse = (configuration: JsonObject): z.output<Schema> =>
    parseConfiguration(name, specification.configuration, configuration)
  return {
    type,
    name,
    category,
    relations,
    description,
    examples,
    uses: specification.uses ?? [],
    effects: specification.effects ?? false,
    configurationVersion: specification.configurationVersion ?? 0,
    defaultConfiguration: specification.defaults,
    configurationSchema: z.toJSONSchema(specification.configuration, { io: 'input' }) as JsonObject,
    ...(upgrade === undefined ? {} : { upgrade }),
    create: (configuration, context) => specification.create(parse(configuration), context),
    check: (configuration) => {
      parse(configuration)
    },
  }
}

/** Throws `CONFIGURATION_INVALID` with the first field that is wrong. */
function parseConfiguration<Schema extends z.ZodType>(
  node: string,
  schema: Schema,
  configuration: JsonObject,
): z.output<Schema> {
  const result = schema.safeParse(configuration)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const field = issue === undefined || issue.path.length === 0 ? 'configuration' : issue.path.join('.')
  throw NodeErrors.CONFIGURATION_INVALID({ node, field, reason: issue?.message ?? 'invalid' }, result.error)
}

/** A field that old files leave out or set to null: it has its type's zero value then, not the node's default. */
export function orZero<Schema extends z.ZodType>(schema: Schema, zero: z.output<Schema>) {
  return schema.nullish().transform((value) => value ?? zero)
}

/** For nodes whose configuration nobody reads (`rule-nodes.md` section 2, "Empty configuration"). */
export const emptyConfiguration = z.looseObject({})
export const EMPTY_DEFAULTS: JsonObject = { version: 0 }
