import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { configurationJson, entitiesOf } from '../../model/calculated-fields/configuration.ts'
import type { JsonObject } from '../../model/json.ts'
import { configurationOf } from './configuration.ts'

const DEVICE = { entityType: 'DEVICE', id: '784f394c-42b6-435a-983c-b7beff2784f9' }
const latest = { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } }
const rolling = { refEntityKey: { key: 'temperature', type: 'TS_ROLLING' }, limit: 10, timeWindow: 60_000 }
const output = { type: 'TIME_SERIES', name: 'y' }
const relation = { direction: 'FROM', relationType: 'Contains' }
const metrics = { worst: { function: 'MAX', input: { type: 'key', key: 't' } } }
const zones = { perimeterKeyName: 'perimeter', reportStrategy: 'REPORT_PRESENCE_STATUS_ONLY' }
const rule = { condition: { type: 'SIMPLE', expression: { type: 'TBEL', expression: 'return t > 50;' } } }

const GOOD: readonly JsonObject[] = [
  { type: 'SIMPLE', arguments: { t: latest }, expression: 't + 1', output },
  {
    type: 'SCRIPT',
    arguments: {
      t: { ...rolling, refEntityId: DEVICE },
      a: { refEntityKey: { key: 'k', type: 'ATTRIBUTE', scope: 'SERVER_SCOPE' } },
    },
    expression: 'return {"z": t.mean()};',
    output: { type: 'ATTRIBUTES', scope: 'SERVER_SCOPE', strategy: { type: 'IMMEDIATE', saveAttribute: true } },
  },
  {
    type: 'GEOFENCING',
    entityCoordinates: { latitudeKeyName: 'latitude', longitudeKeyName: 'longitude' },
    zoneGroups: {
      sites: {
        refDynamicSourceConfiguration: { type: 'RELATION_PATH_QUERY', levels: [relation] },
        perimeterKeyName: 'perimeter',
        reportStrategy: 'REPORT_PRESENCE_STATUS_ONLY',
      },
    },
    scheduledUpdateEnabled: true,
    scheduledUpdateInterval: 60,
    output,
  },
  { type: 'PROPAGATION', arguments: { t: latest }, relation, output },
  { type: 'RELATED_ENTITIES_AGGREGATION', arguments: { t: latest }, relation, metrics, output },
  { type: 'ENTITY_AGGREGATION', arguments: { t: latest }, metrics, interval: { type: 'HOUR', tz: 'UTC' }, output },
  {
    type: 'ALARM',
    arguments: { t: latest },
    createRules: {
      MAJOR: rule,
      MINOR: {
        condition: {
          type: 'DURATION',
          unit: 'SECONDS',
          value: { staticValue: 10 },
          schedule: {
            staticValue: { type: 'SPECIFIC_TIME', timezone: 'UTC', daysOfWeek: [1], startsOn: 0, endsOn: 0 },
          },
          expression: {
            type: 'SIMPLE',
            operation: 'AND',
            filters: [
              {
                argument: 't',
                valueType: 'NUMERIC',
                predicates: [
                  {
                    type: 'COMPLEX',
                    operation: 'OR',
                    predicates: [
                      { type: 'NUMERIC', operation: 'GREATER', value: { staticValue: 20.5 } },
                      { type: 'NO_DATA', unit: 'MINUTES', duration: { dynamicValueArgument: 't' } },
                    ],
                  },
                ],
              },
            ],
          },
        },
      },
    },
  },
  {
    type: 'PROPAGATION',
    arguments: { t: rolling },
    relation,
    applyExpressionToResolvedArguments: true,
    expression: 'return {"z": t.mean()};',
    output,
  },
]

const [simple = {}, , geofencing = {}, propagation = {}, , aggregation = {}, alarm = {}] = GOOD

describe('configurations of calculated fields', () => {
  for (const good of GOOD)
    test(`${JSON.stringify(good['type'])} is read, and read again as it is shown`, () => {
      const shown = configurationJson(configurationOf(good))
      assert.equal(shown['type'], good['type'])
      assert.deepEqual(configurationJson(configurationOf(shown)), shown)
    })

  test('shows every default', () => {
    const shown = configurationJson(configurationOf(GOOD[0] ?? {}))
    assert.deepEqual(shown['output'], { ...output, strategy: { type: 'RULE_CHAIN' } })
    assert.equal(shown['useLatestTs'], false)
  })

  test('takes any offset that is shorter than the longest interval of its type', () => {
    const days = { MONTH: 31, QUARTER: 92, YEAR: 366 }
    const offset = (type: string, offsetSec: number) =>
      configurationOf({ ...aggregation, interval: { type, tz: 'UTC', offsetSec } })
    for (const [type, longest] of Object.entries(days)) {
      offset(type, longest * 86_400 - 1)
      assert.throws(() => offset(type, longest * 86_400), { code: 'calculated-field.INVALID' }, type)
    }
  })

  test('knows the entities whose values are read', () => {
    assert.deepEqual(entitiesOf(configurationOf(GOOD[1] ?? {})), [DEVICE])
  })

  const refused: readonly (readonly [string, JsonObject, string])[] = [
    ['no type', {}, 'calculated-field.INVALID'],
    ['no arguments', { ...simple, arguments: {} }, 'calculated-field.INVALID'],
    ['an argument without key', { ...simple, arguments: { t: {} } }, 'calculated-field.INVALID'],
    ['a reserved name', { ...simple, arguments: { ctx: latest } }, 'calculated-field.ARGUMENT_RESERVED'],
    ['a name that is no variable', { ...simple, arguments: { 'a b': latest } }, 'calculated-field.ARGUMENT_NAME'],
    ['a window for a simple field', { ...simple, arguments: { t: rolling } }, 'calculated-field.ROLLING'],
    ['no output', { ...simple, output: null }, 'calculated-field.INVALID'],
    ['no zones', { ...geofencing, zoneGroups: {} }, 'calculated-field.INVALID'],
    [
      'a custom interval without length',
      { ...aggregation, interval: { type: 'CUSTOM', tz: 'UTC' } },
      'calculated-field.INVALID',
    ],
    ['a window to aggregate', { ...aggregation, arguments: { t: rolling } }, 'calculated-field.LATEST_ONLY'],
    ['a window of related entities', { ...(GOOD[4] ?? {}), arguments: { t: rolling } }, 'calculated-field.ROLLING'],
    ['a window that is written elsewhere', { ...propagation, arguments: { t: rolling } }, 'calculated-field.ROLLING'],
    [
      'a name of its own',
      { ...propagation, arguments: { propagationCtx: latest } },
      'calculated-field.ARGUMENT_RESERVED',
    ],
    ['no expression', { ...propagation, applyExpressionToResolvedArguments: true }, 'calculated-field.INVALID'],
    ['a group named as a coordinate', { ...geofencing, zoneGroups: { latitude: zones } }, 'calculated-field.INVALID'],
    ['no time zone', { ...aggregation, interval: { type: 'HOUR', tz: 'Mars' } }, 'calculated-field.INVALID'],
    [
      'an offset of an hour for hours',
      { ...aggregation, interval: { type: 'HOUR', tz: 'UTC', offsetSec: 3_600 } },
      'calculated-field.INVALID',
    ],
    [
      'an offset below 0',
      { ...aggregation, interval: { type: 'HOUR', tz: 'UTC', offsetSec: -1 } },
      'calculated-field.INVALID',
    ],
    ['a metric of no argument', { ...aggregation, arguments: { u: latest } }, 'calculated-field.ARGUMENT_UNKNOWN'],
    [
      'a metric of related entities of no argument',
      { ...(GOOD[4] ?? {}), arguments: { u: latest } },
      'calculated-field.ARGUMENT_UNKNOWN',
    ],
    ['no rules', { ...alarm, createRules: {} }, 'calculated-field.INVALID'],
    ['an unknown severity', { ...alarm, createRules: { HUGE: rule } }, 'calculated-field.INVALID'],
    ['a filter of no argument', { ...alarm, arguments: { u: latest } }, 'calculated-field.ARGUMENT_UNKNOWN'],
  ]
  for (const [what, configuration, code] of refused)
    test(`refuses ${what}`, () => assert.throws(() => configurationOf(configuration), { code }))

  const minor = (members: JsonObject): JsonObject => ({
    ...alarm,
    createRules: {
      MINOR: { condition: { ...rule.condition, type: 'REPEATING', count: { staticValue: 2 }, ...members } },
    },
  })
  const hours = { type: 'SPECIFIC_TIME', timezone: 'Mars/Olympus', daysOfWeek: [1], startsOn: 0, endsOn: 0 }
  const named: readonly (readonly [JsonObject, string, RegExp])[] = [
    [
      { schedule: { staticValue: hours } },
      'INVALID',
      /createRules\.MINOR\.condition\.schedule\.staticValue\.timezone .*Mars/,
    ],
    [
      { count: { dynamicValueArgument: 'gone' } },
      'ARGUMENT_UNKNOWN',
      /condition\.count\.dynamicValueArgument .*'gone'/,
    ],
    [{ schedule: { dynamicValueArgument: 'gone' } }, 'ARGUMENT_UNKNOWN', /condition\.schedule\.dynamic.* 'gone'/],
  ]
  for (const [members, code, message] of named)
    test(`names the member of a rule that it refuses: ${JSON.stringify(members)}`, () =>
      assert.throws(() => configurationOf(minor(members)), { code: `calculated-field.${code}`, message }))

  test('takes rules whose dynamic values are arguments of the field', () => {
    assert.equal(configurationOf(minor({ count: { dynamicValueArgument: 't' } })).type, 'ALARM')
  })
})
