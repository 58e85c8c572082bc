/** Calculated fields: their types in words, what a new one begins with, and what of a configuration a form can show. Knows no page. */
import { limitRule } from '../alarm-shapes.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {{ name: string, kind: string, key: string, scope: string, defaultValue: string, limit: string, timeWindow: string, before: Json }} Argument */
/** @typedef {{ type: string, name: string, scope: string, decimals: string }} Output */
/** What a form shows of a field. @typedef {{ arguments: Argument[], expression: string, output: Output, useLatestTs: boolean }} Shown */

export const TYPES = /** @type {readonly (readonly [type: string, name: string, about: string])[]} */ ([
  ['SIMPLE', 'a formula', 'Arithmetic over the latest values: one number out.'],
  ['SCRIPT', 'a script', 'A script in TBEL over values and windows of values: any number of values out.'],
  ['ALARM', 'an alarm rule', 'Raises an alarm while a condition holds.'],
  ['GEOFENCING', 'inside a zone or not', 'Tells when a thing enters and leaves zones.'],
  ['PROPAGATION', 'values for related entities', 'Writes values to what it is related to.'],
  [
    'RELATED_ENTITIES_AGGREGATION',
    'figures over related entities',
    'Sums, means and counts over what it is related to.',
  ],
  ['ENTITY_AGGREGATION', 'figures over hours or days', 'Sums, means and counts of an interval of the calendar.'],
])

export const ARGUMENT_KINDS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['TS_LATEST', 'latest value'],
  ['ATTRIBUTE', 'attribute'],
  ['TS_ROLLING', 'window of values'],
])

export const SCOPES = /** @type {readonly (readonly [string, string])[]} */ ([
  ['SERVER_SCOPE', 'server'],
  ['SHARED_SCOPE', 'shared'],
  ['CLIENT_SCOPE', 'of the device'],
])

const TEMPERATURE = { t: { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } } }
const RELATION = { direction: 'FROM', relationType: 'Contains' }
const MEAN = { mean: { function: 'AVG', input: { type: 'key', key: 't' } } }
const SERIES = { type: 'TIME_SERIES' }

/** Each is one that the server takes. @type {Readonly<Record<string, Json>>} */
const NEW = {
  SIMPLE: {
    arguments: TEMPERATURE,
    expression: 't * 1.8 + 32',
    output: { ...SERIES, name: 'fahrenheit', decimalsByDefault: 1 },
  },
  SCRIPT: { arguments: TEMPERATURE, expression: 'return {"fahrenheit": t * 1.8 + 32};', output: SERIES },
  ALARM: { ...limitRule({ key: 'temperature', operation: 'GREATER', limit: 50, severity: 'MAJOR' }), clearRule: null },
  GEOFENCING: {
    entityCoordinates: { latitudeKeyName: 'latitude', longitudeKeyName: 'longitude' },
    zoneGroups: {
      zones: {
        refDynamicSourceConfiguration: { type: 'RELATION_PATH_QUERY', levels: [RELATION] },
        perimeterKeyName: 'perimeter',
        reportStrategy: 'REPORT_TRANSITION_EVENTS_AND_PRESENCE_STATUS',
        createRelationsWithMatchedZones: false,
      },
    },
    output: SERIES,
  },
  PROPAGATION: {
    arguments: TEMPERATURE,
    relation: { direction: 'TO', relationType: 'Contains' },
    applyExpressionToResolvedArguments: false,
    output: SERIES,
  },
  RELATED_ENTITIES_AGGREGATION: {
    arguments: TEMPERATURE,
    relation: RELATION,
    metrics: MEAN,
    deduplicationIntervalInSec: 10,
    output: SERIES,
  },
  ENTITY_AGGREGATION: {
    arguments: TEMPERATURE,
    metrics: MEAN,
    interval: { type: 'HOUR', tz: 'UTC' },
    output: SERIES,
  },
}

/** @param {string} type @returns {Json} */
export function newConfiguration(type) {
  return { type, ...NEW[type] }
}

/** @param {string} type */
export function typeText(type) {
  return TYPES.find(([each]) => each === type)?.[1] ?? type
}

/** Of a formula or a script. @param {Json} configuration @returns {Shown} */
export function shownOf({ arguments: named, expression, output, useLatestTs }) {
  return {
    arguments: argumentsOf(named),
    expression: String(expression ?? ''),
    output: outputOf(output),
    useLatestTs: useLatestTs === true,
  }
}

/** @param {Json | undefined} output @returns {Output} */
export function outputOf(output) {
  return {
    type: output?.['type'] ?? 'TIME_SERIES',
    name: output?.['name'] ?? '',
    scope: output?.['scope'] ?? 'SERVER_SCOPE',
    decimals: textOf(output?.['decimalsByDefault']),
  }
}

/** @param {Json | undefined} named @returns {Argument[]} */
export function argumentsOf(named) {
  return Object.entries(named ?? {}).map(([name, before]) => ({
    name,
    kind: before.refEntityKey?.type ?? 'TS_LATEST',
    key: before.refEntityKey?.key ?? '',
    scope: before.refEntityKey?.scope ?? 'SERVER_SCOPE',
    defaultValue: before.defaultValue ?? '',
    limit: textOf(before.limit),
    // Milliseconds are stored.
    timeWindow: before.timeWindow === undefined ? '' : String(before.timeWindow / 1000),
    before,
  }))
}

/** What the form does not show stays as it is. @param {Json} before @param {Shown} shown @returns {Json} */
export function configurationOf(before, shown) {
  const isSimple = before['type'] === 'SIMPLE'
  return {
    ...before,
    arguments: namedOf(shown.arguments),
    expression: shown.expression,
    output: storedOutput(before['output'], shown.output, isSimple),
    ...(isSimple ? { useLatestTs: shown.useLatestTs } : {}),
  }
}

/** @param {Json | undefined} before @param {Output} shown @param {boolean} [hasName] whether it is one value, under a key of its own @returns {Json} */
export function storedOutput(before, { type, name, scope, decimals }, hasName = false) {
  const {
    name: _name,
    scope: _scope,
    decimalsByDefault: _decimals,
    type: typeBefore,
    strategy,
    ...others
  } = before ?? {}
  return {
    ...others,
    // Each type of output has strategies of its own.
    ...(typeBefore === type && strategy !== undefined ? { strategy } : {}),
    type,
    ...(hasName ? { name } : {}),
    ...(type === 'ATTRIBUTES' ? { scope } : {}),
    ...(decimals === '' ? {} : { decimalsByDefault: Number(decimals) }),
  }
}

/** @param {readonly Argument[]} shown each of another name @returns {Json} */
export function namedOf(shown) {
  /** @type {Json} */
  const named = {}
  for (const { name, kind, key, scope, defaultValue, limit, timeWindow, before } of shown) {
    const { defaultValue: _value, limit: _limit, timeWindow: _window, refEntityKey: _key, ...others } = before
    const isWindow = kind === 'TS_ROLLING'
    named[name] = {
      ...others,
      refEntityKey: { key, type: kind, ...(kind === 'ATTRIBUTE' ? { scope } : {}) },
      ...(defaultValue === '' || isWindow ? {} : { defaultValue }),
      ...(isWindow && limit !== '' ? { limit: Number(limit) } : {}),
      ...(isWindow && timeWindow !== '' ? { timeWindow: Math.round(Number(timeWindow) * 1000) } : {}),
    }
  }
  return named
}

/** Of whom an argument tells, where it is not the entity itself. @param {Json} argument */
export function sourceText({ refEntityId, refDynamicSourceConfiguration }) {
  if (refEntityId !== undefined) return `of the ${refEntityId.entityType.toLowerCase()} ${refEntityId.id}`
  if (refDynamicSourceConfiguration?.type === 'CURRENT_OWNER') return 'of its owner'
  return refDynamicSourceConfiguration === undefined ? '' : 'of what it is related to'
}

/** Numbers, names and the four operations mean the same in a formula and in a script. */
const PLAIN = /^[\w\s.+\-*/()]*$/
const CALL_OR_PRODUCT = /[\w)]\s*\(|\d\s*[a-df-zA-Z_]|\)\s*\w/

/**
 * The script by which the server tries an expression; undefined where a formula says what a script says otherwise.
 * @param {string} type @param {string} expression @param {string} output the key of the result
 */
export function tried(type, expression, output) {
  if (type !== 'SIMPLE') return expression
  if (!PLAIN.test(expression) || CALL_OR_PRODUCT.test(expression)) return undefined
  return `return {${JSON.stringify(output)}: ${expression}};`
}

/** Values to try it with. @param {readonly Argument[]} shown @param {number} now @returns {Json} */
export function samplesOf(shown, now) {
  return Object.fromEntries(
    shown.map(({ name, kind, defaultValue }) => {
      if (kind !== 'TS_ROLLING') return [name, { type: 'SINGLE_VALUE', ts: now, value: sampleOf(defaultValue) }]
      const values = [20, 22, 21].map((value, index) => ({ ts: now - 20_000 + index * 10_000, value }))
      return [name, { type: 'TS_ROLLING', timeWindow: { startTs: now - 60_000, endTs: now }, values }]
    }),
  )
}

/** @param {string} text */
function sampleOf(text) {
  const number = Number(text)
  return text.trim() === '' ? 20 : Number.isFinite(number) ? number : text
}

/** @param {unknown} value */
function textOf(value) {
  return value === undefined || value === null ? '' : String(value)
}
