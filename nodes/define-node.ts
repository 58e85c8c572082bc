/**
 * A rule node as one object: from it come the check of its configuration, the JSON schema for the editor and the docs, the
 * defaults, and the examples, which one generic test runs for every node (`catalogue.test.ts`).
 */
import { z } from 'zod'
import { errorText, isMillraceError } from '../model/errors.ts'
import type { JsonObject } from '../model/json.ts'
import type { EntityType } from '../model/entity-id.ts'
import type { CapabilityName } from '../engine/rulechain/capabilities.ts'
import type { SecretShape } from '../model/secret-members.ts'
import type { NodeCategory, NodeContext, NodeDefinition, NodeEditor, NodeInstance } from '../engine/rulechain/node.ts'
import { NodeErrors } from './errors.ts'
import { secretShapeOf } from './secrets.ts'

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
  /** The message types that it takes, where it fails all others. */
  readonly takes?: readonly string[]
  /** The message types that alone leave it by the connection; undefined where any may. */
  readonly passes?: (label: string, configuration: JsonObject) => readonly string[] | undefined
  readonly description: string
  /** Which service its calls are tried with; needed where it calls one. */
  readonly triedWith?: string
  /** What it does otherwise than the node of that type in ThingsBoard, in whole sentences. */
  readonly differs?: string
  readonly configurationVersion?: number
  /**
   * The keys of its shape and of the defaults are all that may be there: with another one the chain is saved and the node does not start, as in the
   * reference.
   */
  readonly configuration: Schema
  /** For nodes that accept keys they do not know, or never read their configuration. */
  readonly unknownKeys?: 'accepted'
  /** What must be fulfilled before a chain with the node is saved; everything else that is wrong is saved, and the node does not start. */
  readonly constraints?: z.ZodType
  /** What differs from an ordinary node, for editors. */
  readonly editor?: Partial<NodeEditor>
  readonly defaults: JsonObject
  readonly examples: readonly NodeExample[]
  /** Raises a configuration of an older version; throws where it can not. */
  readonly upgrade?: (configuration: JsonObject, fromVersion: number) => JsonObject
  /** What the node asks of the platform: its context holds these and no others. */
  readonly uses?: readonly Uses[]
  /** True where it changes the world outside its messages, also by a save: dry runs and shadows replace it. */
  readonly effects?: boolean
  /** Of nodes that have an input, and with some configurations send messages by themselves. */
  readonly isSource?: (configuration: JsonObject) => boolean
  create(configuration: z.output<Schema>, context: NodeContext<Uses>): NodeInstance | Promise<NodeInstance>
}

export interface RuleNodeDefinition extends NodeDefinition {
  readonly acceptsUnknownKeys: boolean
  readonly examples: readonly NodeExample[]
  readonly triedWith?: string
  readonly differs?: string
}

export function defineNode<Schema extends z.ZodType, const Uses extends CapabilityName = never>(
  specification: NodeSpecification<Schema, Uses>,
): RuleNodeDefinition {
  const { type, name, category, relations, description, examples, upgrade, constraints, isSource } = specification
  const { triedWith, differs, takes, passes } = specification
  const known = specification.unknownKeys === 'accepted' ? undefined : knownKeys(specification)
  const parse = (configuration: JsonObject): z.output<Schema> => {
    if (known !== undefined) checkKeys(name, configuration, known)
    return parseConfiguration(name, specification.configuration, configuration)
  }
  let schema: JsonObject | undefined
  let secrets: SecretShape | undefined
  const definition: RuleNodeDefinition = {
    acceptsUnknownKeys: known === undefined,
    editor: { ...ORDINARY, hasOutput: relations === 'custom' || relations.length > 0, ...specification.editor },
    ...(constraints === undefined
      ? {}
      : { checkSaved: (configuration) => void parseConfiguration(name, constraints, configuration) }),
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
    // Made when an editor or the docs ask for it: of all nodes it takes some MiB.
    get configurationSchema() {
      return (schema ??= z.toJSONSchema(specification.configuration, { io: 'input' }) as JsonObject)
    },
    get secrets() {
      return (secrets ??= secretShapeOf(specification.configuration))
    },
    ...(takes === undefined ? {} : { takes }),
    ...(passes === undefined ? {} : { passes }),
    ...(triedWith === undefined ? {} : { triedWith }),
    ...(differs === undefined ? {} : { differs }),
    ...(upgrade === undefined ? {} : { upgrade }),
    ...(isSource === undefined ? {} : { isSource }),
    create: (configuration, context) => specification.create(parse(configuration), context),
    check: (configuration) => {
      parse(configuration)
    },
  }
  made.add(definition)
  return definition
}

const made = new WeakSet()

/** Only what `defineNode` made holds what the engine relies on. */
export function isDefinedNode(value: unknown): value is RuleNodeDefinition {
  return typeof value === 'object' && value !== null && made.has(value)
}

const ORDINARY: NodeEditor = {
  clustering: 'ENABLED',
  hasQueueName: false,
  hasInput: true,
  hasOutput: true,
  isChain: false,
  form: '',
  icon: '',
}

/** Undefined where the configuration is nothing or not known by its keys. */
function knownKeys({
  configuration,
  defaults,
}: Pick<NodeSpecification<z.ZodType, never>, 'configuration' | 'defaults'>): ReadonlySet<string> | undefined {
  if (!(configuration instanceof z.ZodObject)) return undefined
  const shape = Object.keys(configuration.shape)
  return shape.length === 0 ? undefined : new Set([...shape, ...Object.keys(defaults)])
}

function checkKeys(node: string, configuration: JsonObject, known: ReadonlySet<string>): void {
  const unknown = Object.keys(configuration).find((key) => !known.has(key))
  if (unknown === undefined) return
  throw NodeErrors.CONFIGURATION_INVALID({ node, field: unknown, reason: 'the node knows no such key' })
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

/**
 * For what a node can not run without, but a saved configuration may lack: such a node is saved and does not start (`rule-engine.md` 3.5). To be
 * called when it is made.
 */
export function requireField(isThere: boolean, node: string, field: string, reason: string): asserts isThere {
  if (!isThere) throw NodeErrors.CONFIGURATION_INVALID({ node, field, reason })
}

/** What `read` makes of a field's text, such as a script; where the text is wrong the error names the field. Throws `FIELD_INVALID`, and what passes. */
export async function ofField<Result>(field: string, read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (!isMillraceError(error) || error.kind !== 'invalid') throw error
    throw NodeErrors.FIELD_INVALID({ field, reason: errorText(error) }, error)
  }
}

/** A field that old files leave out or set to null: it has its type's zero value then, not the node's default. */
export function orZero<Schema extends z.ZodType>(schema: Schema, zero: z.output<Schema>) {
  return schema.nullish().transform((value) => value ?? zero)
}

/** For nodes whose configuration nobody reads (`rule-nodes.md` section 2, "Empty configuration"). */
export const emptyConfiguration = z.looseObject({})
/** For nodes that read theirs, though it says nothing: an unknown key is a mistake there. */
export const readEmptyConfiguration = z.looseObject({
  version: z.int().nullish().meta({ title: 'Version', description: 'Unused; older files have it.' }),
})
export const EMPTY_DEFAULTS: JsonObject = { version: 0 }
