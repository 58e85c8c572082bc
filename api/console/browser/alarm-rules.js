/** Alarm rules of a device profile or a device: a value beyond a limit raises an alarm. Other rules are shown, and made over REST. */
import { dangerous } from './dialog.js'
import { choice, field, form, make } from './dom.js'
import { pagedList } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

const SEVERITIES = /** @type {readonly (readonly [string, string])[]} */ ([
  ['CRITICAL', 'critical'],
  ['MAJOR', 'major'],
  ['MINOR', 'minor'],
  ['WARNING', 'warning'],
  ['INDETERMINATE', 'indeterminate'],
])
const OPERATIONS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['GREATER', 'above'],
  ['GREATER_OR_EQUAL', 'at least'],
  ['LESS', 'below'],
  ['LESS_OR_EQUAL', 'at most'],
  ['EQUAL', 'equal to'],
  ['NOT_EQUAL', 'other than'],
])
/** Of the value, where the alarm ends. @type {Readonly<Record<string, string>>} */
const OPPOSITES = {
  GREATER: 'LESS_OR_EQUAL',
  GREATER_OR_EQUAL: 'LESS',
  LESS: 'GREATER_OR_EQUAL',
  LESS_OR_EQUAL: 'GREATER',
  EQUAL: 'NOT_EQUAL',
  NOT_EQUAL: 'EQUAL',
}

/** @param {{ entityType: string, id: string }} owner */
export function alarmRules(owner) {
  const list = pagedList({
    caption: 'Alarm rules',
    heads: ['Alarm', 'When', 'Do'],
    cells: (/** @type {Json} */ rule) => [rule['name'], ruleText(rule['configuration'] ?? {}), removal(rule)],
    path: `/api/alarm/rules/${owner.entityType}/${owner.id}`,
    asked: () => ({ sortProperty: 'name', sortOrder: 'ASC' }),
  })
  const name = field('Alarm', { name: 'alarmType', required: true, autocomplete: 'off', placeholder: 'Too hot' })
  const key = field('Key of the value', {
    name: 'key',
    required: true,
    autocomplete: 'off',
    placeholder: 'temperature',
  })
  const operation = choice('is', 'operation', OPERATIONS, 'GREATER')
  const limit = field('Limit', { name: 'limit', type: 'number', step: 'any', required: true })
  const severity = choice('Severity', 'severity', SEVERITIES, 'MAJOR')
  const rows = [name.row, key.row, make('div', { class: 'choice' }, operation.row, limit.row), severity.row]
  const adding = form('Add the alarm rule', rows, async () => {
    await call('POST', '/api/alarm/rule', {
      entityId: owner,
      name: name.input.value.trim(),
      configuration: limitRule({
        key: key.input.value.trim(),
        operation: operation.input.value,
        limit: Number(limit.input.value),
        severity: severity.input.value,
      }),
    })
    await list.show()
    name.input.value = ''
    return 'It counts from the next value on. The alarm ends by itself when the value is back.'
  })
  void list.show()
  return make('div', {}, list.element, make('details', {}, make('summary', {}, 'Add an alarm rule'), adding))

  /** @param {Json} rule @returns {Node} */
  function removal({ id, name: of }) {
    const act = async () => {
      await call('DELETE', `/api/alarm/rule/${id.id}`)
      await list.show()
    }
    return dangerous('Delete', `Delete the alarm rule "${of}"`, act, { of, done: list.focus })
  }
}

/** A value beyond a limit raises it, the value back ends it. @param {{ key: string, operation: string, limit: number, severity: string }} wanted @returns {Json} */
export function limitRule({ key, operation, limit, severity }) {
  const condition = (/** @type {string} */ each) => ({
    type: 'SIMPLE',
    expression: {
      type: 'SIMPLE',
      operation: 'AND',
      filters: [
        {
          argument: 'value',
          valueType: 'NUMERIC',
          operation: 'AND',
          predicates: [{ type: 'NUMERIC', operation: each, value: { staticValue: limit } }],
        },
      ],
    },
  })
  return {
    type: 'ALARM',
    arguments: { value: { refEntityKey: { key, type: 'TS_LATEST' } } },
    createRules: { [severity]: { condition: condition(operation) } },
    clearRule: { condition: condition(OPPOSITES[operation] ?? 'NOT_EQUAL') },
  }
}

/** What a rule asks, as far as it is one of ours. @param {Json} configuration */
export function ruleText({ arguments: named, createRules }) {
  const texts = Object.entries(createRules ?? {}).map(([severity, rule]) => {
    const what = severity.toLowerCase()
    const { type, expression } = rule?.condition ?? {}
    const [filter, ...others] = expression?.filters ?? []
    const [predicate, ...more] = filter?.predicates ?? []
    const key = named?.[filter?.argument]?.refEntityKey?.key
    const operation = OPERATIONS.find(([each]) => each === predicate?.operation)?.[1]
    const value = predicate?.value?.staticValue
    const isOurs =
      type === 'SIMPLE' && others.length === 0 && more.length === 0 && value !== undefined && value !== null
    if (isOurs && key !== undefined && operation !== undefined) return `${what}: ${key} ${operation} ${value}`
    return `${what}: ${expression?.type === 'TBEL' ? expression.expression : 'a condition of several parts'}`
  })
  return texts.join('; ')
}
