/** Alarm rules of a profile, a device or an asset: a value beyond a limit is said in place, all else in the page of the rule. */
import { OPERATIONS, SEVERITIES, conditionText, limitRule, shownRules } from './alarm-shapes.js'
import { dangerous } from './dialog.js'
import { choice, field, form, make } from './dom.js'
import { pagedList } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

const BY_NUMBER = (OPERATIONS['NUMERIC'] ?? []).filter(([operation]) => operation !== 'NO_DATA')

/** @param {{ entityType: string, id: string }} owner */
export function alarmRules(owner) {
  const list = pagedList({
    caption: 'Alarm rules',
    heads: ['Alarm', 'When', 'Do'],
    cells: (/** @type {Json} */ rule) => [
      make('a', { href: `/calculatedFields/${rule['id'].id}` }, rule['name']),
      ruleText(rule['configuration'] ?? {}),
      removal(rule),
    ],
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
  const operation = choice('is', 'operation', BY_NUMBER, 'GREATER')
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
  const { entityType, id } = owner
  const more = `/calculatedFields/new?${new URLSearchParams({ type: 'ALARM', entityType, id })}`
  const hint = make(
    'p',
    {},
    'Several severities, durations, repetitions, schedules, scripts: ',
    make('a', { href: more }, 'a rule of more parts'),
    '.',
  )
  return make('div', {}, list.element, make('details', {}, make('summary', {}, 'Add an alarm rule'), adding, hint))

  /** @param {Json} rule @returns {Node} */
  function removal({ id, name: of }) {
    const act = async () => {
      await call('DELETE', `/api/alarm/rule/${id.id}`)
      await list.show()
    }
    return dangerous('Delete', `Delete the alarm rule "${of}"`, act, { of, done: list.focus })
  }
}

/** What a rule asks, as far as a form can show it. @param {Json} configuration */
export function ruleText(configuration) {
  const named = configuration['arguments'] ?? {}
  const keyOf = (/** @type {string} */ argument) => named[argument]?.refEntityKey?.key ?? argument
  return Object.entries(configuration['createRules'] ?? {})
    .map(([severity, rule]) => {
      const shown = shownRules({ createRules: { [severity]: rule } })?.rules[0]
      const text = shown === undefined ? '' : conditionText(shown.condition, keyOf)
      return `${severity.toLowerCase()}: ${text === '' ? 'a condition of several parts' : text}`
    })
    .join('; ')
}
