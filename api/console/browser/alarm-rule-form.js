/** The form of an alarm rule: values, what raises the alarm at which severity, and what ends it. */
import { conditionRows } from './alarm-condition.js'
import { SEVERITIES, newRule, shownRules, withRules } from './alarm-shapes.js'
import { argumentRows } from './calculated-fields/argument-rows.js'
import { choice, field, make } from './dom.js'
import { argumentsOf, namedOf } from './calculated-fields/field-shapes.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {import('./alarm-shapes.js').Rule} Rule */

/** Undefined where it has what no form shows. @param {Json} before @param {import('./calculated-fields/editor.js').Surroundings} around @returns {import('./calculated-fields/editor.js').Editor | undefined} */
export function alarmRuleForm(before, { keys }) {
  const shown = shownRules(before)
  if (shown === undefined) return undefined
  const values = argumentRows(argumentsOf(before['arguments']), { kinds: ['TS_LATEST', 'ATTRIBUTE'], keys })
  const first = () => values.read()[0]?.name ?? ''
  /** @type {ReturnType<typeof ruleRows>[]} */
  let raising = []
  const raisings = make('div')
  const add = make('button', { type: 'button', click: () => added() }, 'Add another severity')
  const ending = make('div')
  /** @type {ReturnType<typeof ruleRows> | undefined} */
  let end
  const endAdd = make('button', { type: 'button', click: () => ended() }, 'Say what ends it')
  const hint = make('p', {}, 'Without such a rule the alarm stays until somebody clears it.')
  for (const rule of shown.rules) append(rule)
  if (shown.clear !== undefined) appendEnd(shown.clear)
  return {
    rows: [
      values.element,
      make('h2', {}, 'It is raised'),
      raisings,
      make('p', {}, add),
      make('h2', {}, 'It ends'),
      hint,
      ending,
      make('p', {}, endAdd),
    ],
    configuration: () =>
      withRules(
        { ...before, arguments: namedOf(values.read()) },
        { rules: raising.map((each) => each.read()), clear: end?.read() },
      ),
  }

  function added() {
    const used = raising.map((each) => each.read().severity)
    const severity = SEVERITIES.find(([each]) => !used.includes(each))?.[0] ?? 'MAJOR'
    append(newRule(severity, first())).focus()
  }

  /** @param {Rule} rule */
  function append(rule) {
    const rows = ruleRows(rule, () => {
      raising = raising.filter((each) => each !== rows)
      rows.element.remove()
      add.focus()
    })
    raising.push(rows)
    raisings.append(rows.element)
    return rows
  }

  function ended() {
    const rule = newRule('', first())
    appendEnd(rule)?.focus()
  }

  /** @param {Rule} rule */
  function appendEnd(rule) {
    end = ruleRows(rule, () => {
      end = undefined
      ending.replaceChildren()
      endAdd.hidden = hint.hidden = false
      endAdd.focus()
    })
    ending.replaceChildren(end.element)
    endAdd.hidden = hint.hidden = true
    return end
  }
}

/** @param {Rule} rule @param {() => void} remove */
function ruleRows(rule, remove) {
  const isEnd = rule.severity === ''
  const severity = choice('Severity', 'severity', SEVERITIES, isEnd ? 'MAJOR' : rule.severity)
  const condition = conditionRows(rule.condition)
  const details = field('Details of the alarm (${name} is a value)', { name: 'details', autocomplete: 'off' })
  details.input.value = rule.details
  const title = isEnd ? 'Ends the alarm' : 'Raises the alarm'
  const button = make(
    'button',
    { type: 'button', click: remove },
    isEnd ? 'It does not end by itself' : 'Remove this severity',
  )
  const element = make(
    'fieldset',
    {},
    make('legend', {}, title),
    ...(isEnd ? [] : [severity.row]),
    condition.element,
    ...(isEnd ? [] : [details.row]),
    button,
  )
  return {
    element,
    focus: () => (isEnd ? condition.focus() : severity.input.focus()),
    /** @returns {Rule} */
    read: () => ({
      severity: isEnd ? '' : severity.input.value,
      details: details.input.value.trim(),
      condition: condition.read(),
      before: rule.before,
    }),
  }
}
