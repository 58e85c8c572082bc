/** Alarm rules as a form shows them, and back: what of a configuration it cannot show is left to its JSON. Knows no page. */

/** @typedef {Record<string, any>} Json */
/** A comparison. `other`: the argument it is compared with, in place of `value`. @typedef {{ argument: string, valueType: string, operation: string, value: string, other: string, unit: string }} Comparison */
/** `days` are 1 (Monday) to 7; times are `HH:MM`. @typedef {{ timezone: string, days: number[], from: string, until: string }} Schedule */
/**
 * When a rule holds. `script` in place of comparisons where it is not ''. `amount`: how long in `unit`, or how often; undefined `schedule`: always.
 * @typedef {{ logic: string, comparisons: Comparison[], script: string, kind: string, amount: string, unit: string, schedule: Schedule | undefined }} Condition
 */
/** @typedef {{ severity: string, details: string, condition: Condition, before: Json }} Rule */
/** @typedef {{ rules: Rule[], clear: Rule | undefined }} Shown */

export const SEVERITIES = /** @type {readonly (readonly [string, string])[]} */ ([
  ['CRITICAL', 'critical'],
  ['MAJOR', 'major'],
  ['MINOR', 'minor'],
  ['WARNING', 'warning'],
  ['INDETERMINATE', 'indeterminate'],
])

const NUMERIC = /** @type {readonly (readonly [string, string])[]} */ ([
  ['GREATER', 'above'],
  ['GREATER_OR_EQUAL', 'at least'],
  ['LESS', 'below'],
  ['LESS_OR_EQUAL', 'at most'],
  ['EQUAL', 'equal to'],
  ['NOT_EQUAL', 'other than'],
])
const NO_DATA = /** @type {const} */ (['NO_DATA', 'missing for'])

/** Operations of each type of value. @type {Readonly<Record<string, readonly (readonly [string, string])[]>>} */
export const OPERATIONS = {
  NUMERIC: [...NUMERIC, NO_DATA],
  STRING: [
    ['EQUAL', 'equal to'],
    ['NOT_EQUAL', 'other than'],
    ['CONTAINS', 'has in it'],
    ['NOT_CONTAINS', 'has not in it'],
    ['STARTS_WITH', 'begins with'],
    ['ENDS_WITH', 'ends with'],
    ['IN', 'one of'],
    ['NOT_IN', 'none of'],
    NO_DATA,
  ],
  BOOLEAN: [['EQUAL', 'equal to'], ['NOT_EQUAL', 'other than'], NO_DATA],
}
export const VALUE_TYPES = /** @type {readonly (readonly [string, string])[]} */ ([
  ['NUMERIC', 'number'],
  ['STRING', 'text'],
  ['BOOLEAN', 'yes or no'],
])
export const UNITS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['SECONDS', 'seconds'],
  ['MINUTES', 'minutes'],
  ['HOURS', 'hours'],
  ['DAYS', 'days'],
])
export const KINDS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['SIMPLE', 'at once'],
  ['DURATION', 'when it held for'],
  ['REPEATING', 'when it held so often'],
])
export const DAYS = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su']

/** @type {Condition} */
const NEW_CONDITION = {
  logic: 'AND',
  comparisons: [],
  script: '',
  kind: 'SIMPLE',
  amount: '',
  unit: 'MINUTES',
  schedule: undefined,
}

/** @param {string} severity @param {string} argument @returns {Rule} */
export function newRule(severity, argument) {
  return { severity, details: '', condition: { ...NEW_CONDITION, comparisons: [newComparison(argument)] }, before: {} }
}

/** @param {string} argument @returns {Comparison} */
export function newComparison(argument) {
  return { argument, valueType: 'NUMERIC', operation: 'GREATER', value: '', other: '', unit: 'MINUTES' }
}

/** Undefined where something in it has no place in the form. @param {Json} configuration @returns {Shown | undefined} */
export function shownRules({ createRules, clearRule }) {
  /** @type {Rule[]} */
  const rules = []
  for (const [severity, rule] of Object.entries(createRules ?? {})) {
    const shown = ruleOf(severity, rule)
    if (shown === undefined) return undefined
    rules.push(shown)
  }
  if (clearRule === null || clearRule === undefined) return { rules, clear: undefined }
  const clear = ruleOf('', clearRule)
  return clear && { rules, clear }
}

/** @param {string} severity @param {Json} rule @returns {Rule | undefined} */
function ruleOf(severity, rule) {
  const condition = conditionOf(rule['condition'])
  return condition && { severity, details: rule['alarmDetails'] ?? '', condition, before: rule }
}

/** @param {Json} stored @returns {Condition | undefined} */
function conditionOf({ type, expression, schedule, unit, value, count }) {
  const amount = type === 'DURATION' ? value?.staticValue : type === 'REPEATING' ? count?.staticValue : ''
  if (amount === undefined || (type === 'DURATION' && !isUnit(unit))) return undefined
  const when = scheduleOf(schedule)
  if (when === 'other') return undefined
  const common = { ...NEW_CONDITION, kind: type, amount: String(amount), schedule: when, unit: unit ?? 'MINUTES' }
  if (expression?.type === 'TBEL') return { ...common, script: expression.expression }
  const comparisons = (expression?.filters ?? []).map(comparisonOf)
  if (comparisons.includes(undefined)) return undefined
  return { ...common, logic: expression.operation ?? 'AND', comparisons }
}

/** @param {Json} filter @returns {Comparison | undefined} */
function comparisonOf({ argument, valueType, predicates }) {
  const [predicate, ...others] = predicates
  if (others.length > 0 || !(valueType in OPERATIONS) || predicate.ignoreCase === true) return undefined
  const isAbsence = predicate.type === 'NO_DATA'
  if (predicate.type === 'COMPLEX' || (isAbsence && !isUnit(predicate.unit))) return undefined
  const { staticValue, dynamicValueArgument } = isAbsence ? predicate.duration : predicate.value
  return {
    argument,
    valueType,
    operation: isAbsence ? 'NO_DATA' : predicate.operation,
    value: staticValue === undefined ? '' : String(staticValue),
    other: dynamicValueArgument ?? '',
    unit: isAbsence ? predicate.unit : 'MINUTES',
  }
}

/** @param {Json | null | undefined} stored @returns {Schedule | undefined | 'other'} undefined: always */
function scheduleOf(stored) {
  if (stored === null || stored === undefined) return undefined
  const { staticValue, dynamicValueArgument } = stored
  if (staticValue === undefined || dynamicValueArgument) return 'other'
  if (staticValue.type === 'ANY_TIME') return undefined
  if (staticValue.type !== 'SPECIFIC_TIME') return 'other'
  const { timezone, daysOfWeek, startsOn, endsOn } = staticValue
  if (startsOn % 60_000 !== 0 || endsOn % 60_000 !== 0 || endsOn > 86_340_000) return 'other'
  return { timezone, days: daysOfWeek, from: clockText(startsOn), until: clockText(endsOn) }
}

/** What the form does not show stays as it is. @param {Json} before @param {Shown} shown @returns {Json} */
export function withRules(before, { rules, clear }) {
  /** @type {Json} */
  const createRules = {}
  for (const rule of rules) {
    const { severity } = rule
    if (Object.hasOwn(createRules, severity))
      throw new Error(`Two rules are ${severity.toLowerCase()}: give one another severity.`)
    createRules[severity] = storedRule(rule)
  }
  if (rules.length === 0) throw new Error('Add a rule that raises the alarm.')
  return { ...before, createRules, clearRule: clear === undefined ? null : storedRule(clear) }
}

/** A value beyond a limit raises it, the value back ends it. @param {{ key: string, operation: string, limit: number, severity: string }} wanted @returns {Json} */
export function limitRule({ key, operation, limit, severity }) {
  const rule = (/** @type {string} */ raised, /** @type {string} */ each) => {
    const comparison = { ...newComparison('value'), operation: each, value: String(limit) }
    return { ...newRule(raised, 'value'), condition: { ...NEW_CONDITION, comparisons: [comparison] } }
  }
  return withRules(
    { type: 'ALARM', arguments: { value: { refEntityKey: { key, type: 'TS_LATEST' } } } },
    { rules: [rule(severity, operation)], clear: rule('', opposite(operation)) },
  )
}

/** @param {Rule} rule @returns {Json} */
function storedRule({ before, details, condition }) {
  return { ...before, alarmDetails: details === '' ? null : details, condition: storedCondition(condition) }
}

/** @param {Condition} condition @returns {Json} */
function storedCondition({ kind, amount, unit, script, logic, comparisons, schedule }) {
  const expression =
    script === ''
      ? { type: 'SIMPLE', operation: logic, filters: comparisons.map(storedFilter) }
      : { type: 'TBEL', expression: script }
  return {
    type: kind,
    expression,
    ...(kind === 'DURATION' ? { unit, value: { staticValue: Number(amount) } } : {}),
    ...(kind === 'REPEATING' ? { count: { staticValue: Number(amount) } } : {}),
    schedule: schedule === undefined ? null : { staticValue: storedSchedule(schedule) },
  }
}

/** @param {Comparison} comparison @returns {Json} */
function storedFilter({ argument, valueType, operation, value, other, unit }) {
  const from = (/** @type {unknown} */ staticValue) =>
    other === '' ? { staticValue } : { dynamicValueArgument: other }
  const predicate =
    operation === 'NO_DATA'
      ? { type: 'NO_DATA', unit, duration: from(Number(value)) }
      : { type: valueType, operation, value: from(typed(valueType, value)) }
  return { argument, valueType, operation: 'AND', predicates: [predicate] }
}

/** @param {string} valueType @param {string} value */
function typed(valueType, value) {
  return valueType === 'NUMERIC' ? Number(value) : valueType === 'BOOLEAN' ? value === 'true' : value
}

/** @param {Schedule} schedule @returns {Json} */
function storedSchedule({ timezone, days, from, until }) {
  return { type: 'SPECIFIC_TIME', timezone, daysOfWeek: days, startsOn: clockMs(from), endsOn: clockMs(until) }
}

/** @param {number} ms of a day */
function clockText(ms) {
  const minutes = ms / 60_000
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

/** @param {string} text */
function clockMs(text) {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return (hours * 60 + minutes) * 60_000
}

/** @param {unknown} unit */
function isUnit(unit) {
  return UNITS.some(([each]) => each === unit)
}

/** @type {Readonly<Record<string, string>>} */
const OPPOSITES = {
  GREATER: 'LESS_OR_EQUAL',
  GREATER_OR_EQUAL: 'LESS',
  LESS: 'GREATER_OR_EQUAL',
  LESS_OR_EQUAL: 'GREATER',
  EQUAL: 'NOT_EQUAL',
  NOT_EQUAL: 'EQUAL',
  CONTAINS: 'NOT_CONTAINS',
  NOT_CONTAINS: 'CONTAINS',
  IN: 'NOT_IN',
  NOT_IN: 'IN',
}

/** Of the value, where the alarm ends. @param {string} operation */
function opposite(operation) {
  return OPPOSITES[operation] ?? 'NOT_EQUAL'
}

/** What it asks, in words. @param {Condition} condition @param {(argument: string) => string} keyOf */
export function conditionText({ script, comparisons, logic, kind, amount, unit, schedule }, keyOf) {
  const parts = comparisons.map(({ argument, valueType, operation, value, other, unit: of }) => {
    const word = OPERATIONS[valueType]?.find(([each]) => each === operation)?.[1] ?? operation
    const right = other === '' ? value : keyOf(other)
    return `${keyOf(argument)} ${word} ${right}${operation === 'NO_DATA' ? ` ${of.toLowerCase()}` : ''}`
  })
  const what = script === '' ? parts.join(logic === 'OR' ? ' or ' : ' and ') : script
  const how =
    kind === 'DURATION' ? ` for ${amount} ${unit.toLowerCase()}` : kind === 'REPEATING' ? ` ${amount} times` : ''
  const days = schedule?.days.map((day) => DAYS[day - 1]).join(' ')
  return `${what}${how}${schedule === undefined ? '' : `, ${days} ${schedule.from} to ${schedule.until}`}`
}
