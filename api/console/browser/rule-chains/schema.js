/** The form of a node, from the JSON schema of its configuration. Knows no page. */
import { membersOf } from './graph.js'

/**
 * As much of JSON schema as configurations use.
 * @typedef {object} Schema
 * @property {string | string[]} [type]
 * @property {string} [title]
 * @property {string} [description]
 * @property {readonly unknown[]} [enum]
 * @property {unknown} [const]
 * @property {unknown} [default]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {number} [exclusiveMinimum]
 * @property {number} [minLength]
 * @property {number} [minItems]
 * @property {Schema} [items]
 * @property {Readonly<Record<string, Schema>>} [properties]
 * @property {Schema | boolean} [additionalProperties]
 * @property {readonly string[]} [required]
 * @property {readonly Schema[]} [anyOf]
 * @property {readonly Schema[]} [oneOf]
 * @property {string} [secret] what of it is kept sealed
 */

/**
 * `group`: members of its own; `rows`: a list of such; `variant`: one of several groups, told apart by a member. `json`: whatever has no form.
 * @typedef {'text' | 'long' | 'secret' | 'number' | 'flag' | 'choice' | 'texts' | 'choices' | 'map' | 'group' | 'rows' | 'variant' | 'json'} Kind
 */

/**
 * @typedef {object} Field
 * @property {string} name of the member
 * @property {string} title
 * @property {string} help
 * @property {Kind} kind
 * @property {boolean} isRequired
 * @property {boolean} mayBeNull
 * @property {boolean} isWhole of numbers
 * @property {number} least
 * @property {number} most
 * @property {readonly string[]} choices
 * @property {readonly Field[]} fields of a group, of each row, of all variants
 * @property {readonly { value: string, fields: readonly Field[] }[]} variants
 * @property {string} tag the member that tells variants apart
 * @property {unknown} fallback what it is where the configuration does not say
 */

/** Beyond it a text gets lines. */
const LONG_TEXT = 60
/** Bounds that only say what a number can hold. */
const NO_BOUND = Number.MAX_SAFE_INTEGER

/** @param {Schema} schema of an object @param {import('./graph.js').Members} [defaults] @returns {Field[]} */
export function fieldsOf({ properties = {}, required = [] }, defaults = {}) {
  return Object.entries(properties).map(([name, schema]) =>
    fieldOf(name, schema, required.includes(name), defaults[name] ?? schema.default),
  )
}

/** @param {string} name @param {Schema} whole @param {boolean} isRequired @param {unknown} fallback @returns {Field} */
function fieldOf(name, whole, isRequired, fallback) {
  const { schema, mayBeNull } = withoutNull(whole)
  const variants = variantsOf(schema)
  const kind = kindOf(name, schema, variants.length > 0, fallback, whole.secret ?? schema.secret)
  const inner = kind === 'rows' ? schema.items : schema
  const isStrict = schema.exclusiveMinimum !== undefined
  return {
    ...{
      name,
      title: whole.title ?? schema.title ?? wordsOf(name),
      help: whole.description ?? schema.description ?? '',
    },
    ...{ kind, isRequired, mayBeNull, fallback, variants },
    isWhole: schema.type === 'integer',
    least: bound(
      schema.minimum ??
        (isStrict && schema.type === 'integer' ? (schema.exclusiveMinimum ?? 0) + 1 : schema.exclusiveMinimum),
      -Infinity,
    ),
    most: bound(schema.maximum, Infinity),
    choices: (kind === 'choices' ? schema.items?.enum : schema.enum)?.map(String) ?? [],
    fields:
      kind === 'group' || kind === 'rows'
        ? fieldsOf(inner ?? {}, membersOf(kind === 'group' ? fallback : undefined))
        : [],
    tag: kind === 'variant' ? tagOf(schema) : '',
  }
}

/** @param {number | undefined} value @param {number} none */
function bound(value, none) {
  return value === undefined || Math.abs(value) >= NO_BOUND ? none : value
}

/** @param {Schema} schema @returns {{ schema: Schema, mayBeNull: boolean }} */
function withoutNull(schema) {
  if (Array.isArray(schema.type)) {
    const [type, ...more] = schema.type.filter((each) => each !== 'null')
    const { type: _all, ...rest } = schema
    const mayBeNull = schema.type.includes('null')
    return { schema: type === undefined || more.length > 0 ? rest : { ...rest, type }, mayBeNull }
  }
  const others = schema.anyOf?.filter(({ type }) => type !== 'null')
  if (others === undefined || others.length === schema.anyOf?.length) return { schema, mayBeNull: false }
  const [only] = others
  const { anyOf: _all, ...rest } = schema
  if (others.length === 1 && only !== undefined) return { schema: { ...only, ...rest }, mayBeNull: true }
  return { schema: { ...rest, anyOf: others }, mayBeNull: true }
}

/** @param {string} name @param {Schema} schema @param {boolean} hasVariants @param {unknown} fallback @param {string | undefined} secret @returns {Kind} */
function kindOf(name, schema, hasVariants, fallback, secret) {
  if (hasVariants) return 'variant'
  if (schema.enum !== undefined) return schema.enum.every((value) => typeof value === 'string') ? 'choice' : 'json'
  switch (schema.type) {
    case 'string':
      if (secret === 'text') return 'secret'
      return isLong(name, fallback) ? 'long' : 'text'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'flag'
    case 'array':
      return kindOfList(schema.items ?? {})
    case 'object':
      if (Object.keys(schema.properties ?? {}).length > 0) return 'group'
      return isText(schema.additionalProperties) ? 'map' : 'json'
    default:
      return 'json'
  }
}

/** @param {Schema} items @returns {Kind} */
function kindOfList(items) {
  if (items.enum !== undefined) return 'choices'
  if (items.type === 'string') return 'texts'
  return items.type === 'object' && Object.keys(items.properties ?? {}).length > 0 ? 'rows' : 'json'
}

/** @param {Schema | boolean | undefined} schema */
function isText(schema) {
  return typeof schema === 'object' && schema.type === 'string'
}

/** @param {string} name @param {unknown} fallback */
function isLong(name, fallback) {
  if (/script|template|body|cert|privatekey|definition|prompt|serviceAccountKey$|Js$|Tbel$/i.test(name)) return true
  return typeof fallback === 'string' && (fallback.includes('\n') || fallback.length > LONG_TEXT)
}

/** None where they are not groups that one member tells apart. @param {Schema} schema */
function variantsOf(schema) {
  const all = schema.oneOf ?? schema.anyOf
  const tag = tagOf(schema)
  if (all === undefined || tag === '') return []
  return all.map((variant) => ({
    value: String(variant.properties?.[tag]?.const),
    fields: fieldsOf(variant).filter(({ name }) => name !== tag),
  }))
}

/** The member that is a constant in each; '' where there is none. @param {Schema} schema */
function tagOf({ oneOf, anyOf }) {
  const [first, ...others] = oneOf ?? anyOf ?? []
  const isTag = (/** @type {string} */ name) =>
    others.length > 0 && others.every(({ properties }) => properties?.[name]?.const !== undefined)
  const constants = Object.entries(first?.properties ?? {}).filter(([, schema]) => schema.const !== undefined)
  return constants.map(([name]) => name).find(isTag) ?? ''
}

/** `proxyHost` as people write it. @param {string} name */
export function wordsOf(name) {
  const words = name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What is wrong with a value, as what to do about it; '' where nothing is. @param {Field} field @param {unknown} value @returns {string} */
export function mistakeIn(field, value) {
  const isNothing = value === undefined || value === null || value === ''
  if (isNothing)
    return field.isRequired && !field.mayBeNull && field.kind !== 'flag' && field.kind !== 'long' ? missing(field) : ''
  switch (field.kind) {
    case 'number':
      return numberMistake(field, value)
    case 'choice':
      return field.choices.includes(String(value)) ? '' : `Choose one of ${field.choices.join(', ')}.`
    default:
      return ''
  }
}

/** @param {Field} field */
function missing({ kind }) {
  if (kind === 'number') return 'Fill in a number.'
  if (kind === 'choice' || kind === 'variant') return 'Choose one.'
  return kind === 'texts' || kind === 'choices' || kind === 'rows' || kind === 'map' || kind === 'group'
    ? ''
    : 'Fill it in.'
}

/** @param {Field} field @param {unknown} value */
function numberMistake({ isWhole, least, most }, value) {
  const what = isWhole ? 'a whole number' : 'a number'
  if (typeof value !== 'number' || !Number.isFinite(value) || (isWhole && !Number.isInteger(value)))
    return `Write ${what}, such as ${Number.isFinite(least) ? least : 1}.`
  if (value < least) return `Write ${what} of at least ${least}.`
  return value > most ? `Write ${what} of at most ${most}.` : ''
}

/** Whether anything in a configuration is wrong that its form would say. @param {readonly Field[]} fields @param {import('./graph.js').Members} configuration @returns {string} the first, with the title of its field; '' where nothing is */
export function firstMistake(fields, configuration) {
  for (const field of fields) {
    const value = Object.hasOwn(configuration, field.name) ? configuration[field.name] : undefined
    // What the configuration leaves out, the node takes for what it says itself.
    if (value === undefined && !field.isRequired) continue
    const mistake =
      mistakeIn(field, value) ||
      (field.kind === 'group' && value !== null ? firstMistake(field.fields, membersOf(value)) : '')
    if (mistake !== '') return `${field.title}: ${mistake}`
  }
  return ''
}

/** A new row, or a group that was null. @param {readonly Field[]} fields */
export function blank(fields) {
  return Object.fromEntries(fields.map((field) => [field.name, blankOf(field)]))
}

/** @param {Field} field @returns {unknown} */
function blankOf(field) {
  if (field.fallback !== undefined) return field.fallback
  if (field.mayBeNull) return null
  switch (field.kind) {
    case 'number':
      return Number.isFinite(field.least) ? field.least : 0
    case 'flag':
      return false
    case 'choice':
      return field.choices[0] ?? ''
    case 'texts':
    case 'choices':
    case 'rows':
      return []
    case 'map':
      return {}
    case 'group':
      return blank(field.fields)
    case 'variant':
      return { [field.tag]: field.variants[0]?.value ?? '', ...blank(field.variants[0]?.fields ?? []) }
    case 'text':
    case 'long':
    case 'secret':
      return ''
    case 'json':
      return null
  }
}
