import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BOOLEAN_OPERATIONS, NUMERIC_OPERATIONS, STRING_OPERATIONS } from '../../../model/comparison.ts'
import { ALARM_SEVERITIES } from '../../../model/alarm-severity.ts'
import { configurationOf } from '../../../services/calculated-fields/configuration.ts'
import { OPERATIONS, SEVERITIES, conditionText, newRule, shownRules, withRules } from './alarm-shapes.js'

const filter = (predicate: object, valueType = 'NUMERIC') => ({
  ...{ argument: 'value', valueType, operation: 'AND', predicates: [predicate] },
})
const above = filter({ type: 'NUMERIC', operation: 'GREATER', value: { staticValue: 50.5 } })
const rule = (condition: object, details: string | null = null) => ({
  ...{ alarmDetails: details, dashboardId: null, condition: { schedule: null, ...condition } },
})
const simple = (...filters: object[]) => ({ type: 'SIMPLE', operation: 'OR', filters })

const RICH = {
  type: 'ALARM',
  arguments: {
    value: { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } },
    most: { refEntityKey: { key: 'limit', type: 'ATTRIBUTE', scope: 'SERVER_SCOPE' } },
  },
  createRules: {
    CRITICAL: rule({ type: 'SIMPLE', expression: simple(above) }, 'It is ${value}'),
    MAJOR: rule({
      ...{ type: 'DURATION', unit: 'HOURS', value: { staticValue: 2 } },
      expression: simple(
        filter({ type: 'NUMERIC', operation: 'LESS', value: { dynamicValueArgument: 'most' } }),
        filter({ type: 'BOOLEAN', operation: 'EQUAL', value: { staticValue: false } }, 'BOOLEAN'),
      ),
      schedule: {
        staticValue: {
          ...{ type: 'SPECIFIC_TIME', timezone: 'Europe/Berlin', daysOfWeek: [1, 7] },
          ...{ startsOn: 8 * 3_600_000, endsOn: 17.5 * 3_600_000 },
        },
      },
    }),
    MINOR: rule({
      ...{ type: 'REPEATING', count: { staticValue: 3 } },
      expression: simple(filter({ type: 'STRING', operation: 'IN', value: { staticValue: 'a,b' } }, 'STRING')),
    }),
    WARNING: rule({
      type: 'SIMPLE',
      expression: simple(filter({ type: 'NO_DATA', unit: 'MINUTES', duration: { staticValue: 10 } })),
    }),
  },
  clearRule: rule({ type: 'SIMPLE', expression: { type: 'TBEL', expression: 'return value < 40;' } }),
}

test('a form that changes nothing changes nothing', () => {
  const shown = shownRules(RICH)
  assert(shown !== undefined)
  const stored = configurationOf(RICH)
  // What the server adds of itself is in both.
  assert.deepEqual(configurationOf(withRules(RICH, shown)), stored)
  const again = shownRules(JSON.parse(JSON.stringify(stored)) as Record<string, unknown>)
  assert.deepEqual(
    again?.rules.map(({ severity, condition }) => [severity, condition]),
    shown.rules.map(({ severity, condition }) => [severity, condition]),
  )
})

test('what a form cannot show is left to its JSON', () => {
  const of = (condition: object) => shownRules({ createRules: { MAJOR: rule(condition) } })
  const two = { ...above, predicates: [...above.predicates, ...above.predicates] }
  const complex = filter({ type: 'COMPLEX', operation: 'OR', predicates: above.predicates })
  const ignoring = filter(
    { ...{ type: 'STRING', operation: 'EQUAL', ignoreCase: true }, value: { staticValue: 'a' } },
    'STRING',
  )
  for (const expression of [simple(two), simple(complex), simple(ignoring)])
    assert.equal(of({ type: 'SIMPLE', expression }), undefined)
  const expression = simple(above)
  assert.equal(of({ type: 'REPEATING', expression, count: { dynamicValueArgument: 'value' } }), undefined)
  assert.equal(of({ type: 'DURATION', expression, unit: 'MILLISECONDS', value: { staticValue: 1 } }), undefined)
  const schedules = [
    { dynamicValueArgument: 'value' },
    { staticValue: { type: 'CUSTOM', timezone: 'UTC', items: [] } },
    { staticValue: { type: 'SPECIFIC_TIME', timezone: 'UTC', daysOfWeek: [1], startsOn: 1, endsOn: 60_000 } },
  ]
  for (const schedule of schedules) assert.equal(of({ type: 'SIMPLE', expression, schedule }), undefined)
  assert.notEqual(of({ type: 'SIMPLE', expression, schedule: { staticValue: { type: 'ANY_TIME' } } }), undefined)
})

test('every severity and every comparison of the server is offered', () => {
  assert.deepEqual(SEVERITIES.map(([each]) => each).toSorted(), [...ALARM_SEVERITIES].toSorted())
  for (const [type, known] of [
    ['NUMERIC', NUMERIC_OPERATIONS],
    ['STRING', STRING_OPERATIONS],
    ['BOOLEAN', BOOLEAN_OPERATIONS],
  ] as const)
    assert.deepEqual(OPERATIONS[type]?.map(([each]) => each).toSorted(), [...known, 'NO_DATA'].toSorted())
})

test('two rules of one severity are refused, and none at all', () => {
  const twice = [newRule('MAJOR', 'value'), newRule('MAJOR', 'value')]
  assert.throws(() => withRules(RICH, { rules: twice, clear: undefined }), /Two rules are major/)
  assert.throws(() => withRules(RICH, { rules: [], clear: undefined }), /Add a rule/)
})

test('a condition is told in words', () => {
  const texts = shownRules(RICH)?.rules.map(({ condition }) => conditionText(condition, (name) => name))
  assert.deepEqual(texts, [
    'value above 50.5',
    'value below most or value equal to false for 2 hours, Mo Su 08:00 to 17:30',
    'value one of a,b 3 times',
    'value missing for 10 minutes',
  ])
})
