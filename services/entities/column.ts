/**
 * The members of entities, one function a kind: from a member follow its column, its form in JSON, what a save may say of it, and what
 * lists can do with it.
 */
import { z } from 'zod'
import { ENTITY_TYPES, NULL_UUID, isUuid, type EntityId, type EntityType } from '../../model/entity-id.ts'
import {
  isJsonObject,
  parseJson,
  stringifyJson,
  WholeDouble,
  type JsonObject,
  type JsonValue,
} from '../../model/json.ts'
import type { SqlValue } from '../../storage/entities/database.ts'
import type { TableColumn } from '../../storage/entities/tables/entity-table.ts'
import { ServiceErrors } from '../errors.ts'
import { checkName, checkText } from '../names.ts'
import { flagInput, wholeInput } from './lenient-input.ts'

export interface Column<Value> {
  readonly stored: Omit<TableColumn, 'name' | 'references'>
  /** Where it is not the member's name in snake case. */
  readonly column: string | undefined
  readonly references?: Reference
  /** It names an entity of one of these types, which can not go while this one is there. */
  readonly namesOneOf?: { readonly entityTypes: readonly EntityType[]; readonly inUse: (type: EntityType) => Error }
  /** Ids of these types stand somewhere in its text: what is named there can not go, unless the member `except` says that it is its own. */
  readonly mentions?: {
    readonly entityTypes: readonly EntityType[]
    readonly except: string
    readonly inUse: (type: EntityType) => Error
  }
  /** The member is what another entity has: it changes with it, and no save can set it. */
  readonly copies?: { readonly by: string; readonly member: string }
  /** What a save means that leaves the member out: a save replaces the whole entity. */
  readonly absent: Value
  /** As clients send it; undefined for left out and, where it means the same, null. */
  readonly input: z.ZodType<Value | undefined>
  /** The column holds JSON text. */
  readonly isJson?: boolean
  /** JSON schema of the member in answers. */
  readonly shape: JsonObject
  /** Lists find entities by it. */
  readonly isSearched: boolean
  readonly isSorted: boolean
  /** No save sets it: a change by a save keeps what is stored. */
  readonly isFixed?: boolean
  /** Fixed, and in no JSON. */
  readonly isInternal?: boolean
  toColumn(value: Value): SqlValue
  ofColumn(stored: SqlValue): Value
  toJson(value: Value): JsonValue
  /** Throws what the reference says of a bad value. `entity` and `property` as messages name them. */
  check(value: Value, entity: string, property: string): void
}

export interface Reference {
  readonly entityType: EntityType
  /**
   * refuse: what it names can not go. delete: this entity goes with it. forget: the member is cleared. keep: it may name what is gone.
   */
  readonly whenDeleted: 'refuse' | 'delete' | 'forget' | 'keep'
  /** The database holds no constraint: the two tables name each other, or the column came later than the rows. */
  readonly isUnenforced?: boolean
  /** What a save is told that names what is not there, or is another tenant's. */
  readonly missing: () => Error
  /** The same, where the reference has other words for what is another tenant's. */
  readonly foreign?: () => Error
  /** Members of those that it may name, where it may not name all. */
  readonly ofKind?: Readonly<Record<string, string>>
  /** With `refuse`: what who deletes the other is told. */
  readonly inUse?: () => Error
}

export interface ColumnOptions {
  /** Where it is not the member's name in snake case. */
  readonly column?: string
  readonly search?: boolean
  /** Default: lists sort by it, unless it is JSON or internal. */
  readonly sort?: boolean
  /** See `TableColumn`. */
  readonly since?: number
  readonly filledBy?: string
}

const NO_CHECK = (): void => {}
const isNone = (value: unknown): value is null | undefined => value === null || value === undefined

/** Numbers and booleans for text are taken, as the reference does. */
export const textInput = z
  .union([z.string(), z.number(), z.boolean(), z.bigint(), z.instanceof(WholeDouble)])
  .nullish()
  .transform((value) => (isNone(value) ? undefined : typeof value === 'string' ? value : stringifyJson(value)))

/** A text that must be there: a name. */
export function name(options: ColumnOptions = {}): Column<string> {
  return {
    ...stored('text', false, { search: true, ...options }),
    absent: '',
    input: textInput,
    shape: { type: 'string' },
    toColumn: (value) => value,
    ofColumn: String,
    toJson: (value) => value,
    check: (value, entity, property) => checkName(entity, property, value),
  }
}

/** A name that the declaration makes where a save leaves it out. */
export function madeName(options: ColumnOptions = {}): Column<string> {
  return { ...name(options), check: (value, _entity, property) => checkText(property, value) }
}

export interface TextOptions extends ColumnOptions {
  /** For long texts (images, descriptions): no bound but the body's, mark-up allowed. */
  readonly isFree?: boolean
}

export function optionalText(options: TextOptions = {}): Column<string | null> {
  return {
    ...stored('text', true, options),
    absent: null,
    input: textInput,
    shape: { type: ['string', 'null'] },
    toColumn: (value) => value,
    ofColumn: (value) => (value === null ? null : String(value)),
    toJson: (value) => value,
    check: options.isFree === true ? NO_CHECK : (value, _entity, property) => checkText(property, value),
  }
}

export function flag(absent: boolean, options: ColumnOptions = {}): Column<boolean> {
  return {
    ...stored('integer', false, options),
    absent,
    input: flagInput,
    shape: { type: 'boolean' },
    toColumn: (value) => (value ? 1 : 0),
    ofColumn: (value) => value === 1,
    toJson: (value) => value,
    check: NO_CHECK,
  }
}

export function integer(absent: number, options: ColumnOptions = {}): Column<number> {
  return {
    ...stored('integer', false, options),
    absent,
    input: wholeInput,
    shape: { type: 'integer' },
    toColumn: (value) => value,
    ofColumn: Number,
    toJson: (value) => value,
    check: NO_CHECK,
  }
}

export function optionalInteger(options: ColumnOptions = {}): Column<number | null> {
  return {
    ...integer(0, options),
    ...stored('integer', true, options),
    absent: null,
    shape: { type: ['integer', 'null'] },
    toColumn: (value) => value,
    ofColumn: (value) => (value === null ? null : Number(value)),
    toJson: (value) => value,
  }
}

/** See {@link Column.isFixed}. */
export function fixed<Value>(column: Column<Value>): Column<Value> {
  return { ...column, isFixed: true }
}

/** See {@link Column.isInternal}. */
export function internal<Value>(column: Column<Value>): Column<Value> {
  return { ...column, isFixed: true, isInternal: true, isSorted: false }
}

export function choice<const Choice extends string>(
  choices: readonly Choice[],
  absent: Choice,
  options: ColumnOptions = {},
): Column<Choice> {
  return {
    ...stored('text', false, options),
    absent,
    input: z
      .enum(choices)
      .nullish()
      .transform((value) => value ?? undefined),
    shape: { type: 'string', enum: [...choices] },
    toColumn: (value) => value,
    ofColumn: (value) => choices.find((candidate) => candidate === value) ?? absent,
    toJson: (value) => value,
    check: NO_CHECK,
  }
}

/** Free JSON: `additionalInfo`. */
export function json(options: ColumnOptions = {}): Column<JsonValue> {
  return {
    ...stored('text', false, { sort: false, ...options }),
    absent: null,
    isJson: true,
    input: z.custom<JsonValue | undefined>(() => true),
    shape: {},
    toColumn: stringifyJson,
    ofColumn: (value) => parseJson(String(value)),
    toJson: (value) => value,
    check: NO_CHECK,
  }
}

/** A JSON object; null where a save left it out, for the declaration to fill. */
export function object(options: ColumnOptions = {}): Column<JsonObject | null> {
  return {
    ...stored('text', false, { sort: false, ...options }),
    absent: null,
    isJson: true,
    input: z
      .custom<JsonObject>(isJsonObject, 'an object is expected')
      .nullish()
      .transform((value) => value ?? undefined),
    shape: { type: 'object' },
    toColumn: stringifyJson,
    ofColumn: (value) => {
      const json = parseJson(String(value))
      return isJsonObject(json) ? json : null
    },
    toJson: (value) => value,
    check: NO_CHECK,
  }
}

/** The id of another entity, which must be of the same tenant. */
export function id(entityType: EntityType, reference: Omit<Reference, 'entityType'>, options: ColumnOptions = {}) {
  const column: Column<string> = {
    ...stored('text', false, options),
    references: { entityType, ...reference },
    absent: '',
    input: idInput(entityType),
    shape: idShape(entityType),
    toColumn: (value) => value,
    ofColumn: String,
    toJson: (value) => ({ entityType, id: value }),
    check: NO_CHECK,
  }
  return column
}

export function optionalId(
  entityType: EntityType,
  reference: Omit<Reference, 'entityType'>,
  options: ColumnOptions = {},
): Column<string | null> {
  return {
    ...stored('text', true, options),
    references: { entityType, ...reference },
    absent: null,
    input: idInput(entityType),
    shape: { oneOf: [idShape(entityType), { type: 'null' }] },
    toColumn: (value) => value,
    ofColumn: (value) => (value === null ? null : String(value)),
    toJson: (value) => (value === null ? null : { entityType, id: value }),
    check: NO_CHECK,
  }
}

/** An entity of any type: what it names is checked by who saves it. Kept as `DEVICE/` and its id. */
export function anyEntity(options: ColumnOptions = {}): Column<EntityId | null> {
  const input = z.object({
    entityType: z.enum(ENTITY_TYPES),
    id: z
      .string()
      .refine(isUuid, 'a UUID is expected')
      .transform((text) => text.toLowerCase()),
  })
  return {
    ...stored('text', true, options),
    absent: null,
    input: input.nullish().transform((value) => value ?? undefined),
    shape: {
      type: 'object',
      properties: { entityType: { type: 'string', enum: [...ENTITY_TYPES] }, id: { type: 'string', format: 'uuid' } },
      required: ['entityType', 'id'],
    },
    toColumn: (value) => (value === null ? null : `${value.entityType}/${value.id}`),
    ofColumn: (value) => {
      const [type, id] = String(value ?? '').split('/')
      const entityType = ENTITY_TYPES.find((known) => known === type)
      return entityType === undefined || id === undefined ? null : { entityType, id }
    },
    toJson: (value) => (value === null ? null : { entityType: value.entityType, id: value.id }),
    check: NO_CHECK,
  }
}

/** The id of an entity whose type is a member of its own: what it names is checked by who saves it. */
export function anyId(options: ColumnOptions = {}): Column<string> {
  const input = z
    .string()
    .refine(isUuid, 'a UUID is expected')
    .transform((text) => text.toLowerCase())
  return {
    ...stored('text', false, options),
    absent: '',
    input: input.nullish().transform((value) => value ?? undefined),
    shape: { type: 'string', format: 'uuid' },
    toColumn: (value) => value,
    ofColumn: String,
    toJson: (value) => value,
    check: NO_CHECK,
  }
}

/** What the entity that `by` names has there: an asset's type is the name of its profile. */
export function copy(
  copies: { readonly by: string; readonly member: string },
  options: ColumnOptions = {},
): Column<string> {
  return {
    ...name({ search: true, ...options }),
    copies,
    check: (value, _entity, property) => checkText(property, value),
  }
}

/**
 * Whose it is in the tenant: nobody's is shown as the null id, not as null (`rest-api.md` 3.3). `entity`: what it is a member of, as
 * messages say it.
 */
export function customerId(entity: string): Column<string | null> {
  const missing = (): Error => ServiceErrors.CUSTOMER_UNKNOWN({ entity })
  const foreign = (): Error => ServiceErrors.CUSTOMER_FOREIGN({ entity })
  return {
    ...optionalId('CUSTOMER', { whenDeleted: 'forget', missing, foreign }),
    shape: idShape('CUSTOMER'),
    toJson: (value) => ({ entityType: 'CUSTOMER', id: value ?? NULL_UUID }),
  }
}

function idInput(entityType: EntityType): z.ZodType<string | undefined> {
  const reference = z.object({
    // For a member of a fixed type it may be left out.
    entityType: z.literal(entityType).optional(),
    id: z
      .string()
      .refine(isUuid, 'a UUID is expected')
      .transform((text) => text.toLowerCase()),
  })
  return reference.nullish().transform((value) => (isNone(value) || value.id === NULL_UUID ? undefined : value.id))
}

function idShape(entityType: EntityType): JsonObject {
  return {
    type: 'object',
    properties: { entityType: { const: entityType }, id: { type: 'string', format: 'uuid' } },
    required: ['entityType', 'id'],
  }
}

function stored(type: TableColumn['type'], isNullable: boolean, options: ColumnOptions) {
  const { column, search, sort, since, filledBy } = options
  return {
    column,
    stored: {
      type,
      isNullable,
      ...(since === undefined ? {} : { since }),
      ...(filledBy === undefined ? {} : { filledBy }),
    },
    isSearched: search ?? false,
    isSorted: sort ?? true,
  }
}
