import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { parseJson } from '../../model/json.ts'
import type { TypedValue } from '../../model/value.ts'
import { isActive, schedule, scheduleOfText } from '../rules/schedule.ts'
import { rulesOf } from './alarm-rule.ts'
import { holds, predicate } from './predicates.ts'
import type { RuleValues } from './rule-values.ts'
import { step } from './rule-state.ts'

const NOBODY: RuleValues = { own: () => undefined, ofCustomer: () => undefined, ofTenant: () => undefined }

function texts(
  own: Record<string, string>,
  customer: Record<string, string> = {},
  tenant: Record<string, string> = {},
) {
  const of = (held: Record<string, string>, key: string): TypedValue | undefined =>
    held[key] === undefined ? undefined : { type: 'STRING', value: held[key] }
  const values: RuleValues = {
    own: ({ key }) => of(own, key),
    ofCustomer: (key) => of(customer, key),
    ofTenant: (key) => of(tenant, key),
  }
  return values
}

function isTrue(json: JsonObject, value: TypedValue, values = NOBODY): boolean {
  return holds(predicate.parse(json), value, values)
}

const text = (value: string): TypedValue => ({ type: 'STRING', value })

test('texts are compared in eight ways, with and without regard to case', () => {
  for (const [operation, other, expected] of [
    ['EQUAL', 'an ERROR', true],
    ['EQUAL', 'an error', false],
    ['NOT_EQUAL', 'an error', true],
    ['STARTS_WITH', 'an', true],
    ['ENDS_WITH', 'ROR', true],
    ['CONTAINS', 'err', false],
    ['NOT_CONTAINS', 'err', true],
    ['IN', 'fine, an ERROR ,off', true],
    ['IN', "'fine','an ERROR'", true],
    ['NOT_IN', 'fine,off', true],
  ] as const) {
    const json = { type: 'STRING', operation, ignoreCase: false, value: { defaultValue: other } }
    assert.equal(isTrue(json, text('an ERROR')), expected, `${operation} ${other}`)
  }
  const json = { type: 'STRING', operation: 'CONTAINS', ignoreCase: true, value: { defaultValue: 'err' } }
  assert.ok(isTrue(json, text('an ERROR')))
})

test('values are converted: texts that are numbers, booleans as 1 and 0, numbers above 0 as true', () => {
  const above = (limit: JsonValue) => ({ type: 'NUMERIC', operation: 'GREATER', value: { defaultValue: limit } })
  assert.ok(isTrue(above(50), text('50.5')))
  assert.ok(!isTrue(above(50), text('hot')))
  assert.ok(!isTrue(above(-1), text(' ')))
  assert.ok(isTrue(above(0), { type: 'BOOLEAN', value: true }))
  assert.ok(isTrue(above(parseJson('50.0')), { type: 'LONG', value: 51n }))
  const on = { type: 'BOOLEAN', operation: 'EQUAL', value: { defaultValue: true } }
  assert.ok(isTrue(on, { type: 'LONG', value: 2 }))
  assert.ok(!isTrue(on, { type: 'DOUBLE', value: -0.5 }))
  assert.ok(isTrue(on, text('TRUE')))
})

test('predicates combine, within each other too', () => {
  const at = (operation: string, value: number) => ({ type: 'NUMERIC', operation, value: { defaultValue: value } })
  const outside = { type: 'COMPLEX', operation: 'OR', predicates: [at('LESS', 10), at('GREATER', 30)] }
  const both = { type: 'COMPLEX', operation: 'AND', predicates: [outside, at('NOT_EQUAL', 99)] }
  for (const [value, expected] of [
    [5, true],
    [20, false],
    [31, true],
    [99, false],
  ] as const)
    assert.equal(isTrue(both, { type: 'LONG', value }), expected, String(value))
})

test('an attribute stands for a written value: of the device, else by inheritance of customer and tenant', () => {
  const limit = (sourceType: string, inherit: boolean) => ({
    type: 'NUMERIC',
    operation: 'GREATER',
    value: { defaultValue: 50, dynamicValue: { sourceType, sourceAttribute: 'limit', inherit } },
  })
  const at20 = text('20')
  assert.ok(isTrue(limit('CURRENT_DEVICE', false), at20, texts({ limit: '10' })))
  assert.ok(!isTrue(limit('CURRENT_DEVICE', false), at20, texts({}, { limit: '10' })))
  assert.ok(isTrue(limit('CURRENT_DEVICE', true), at20, texts({}, { limit: '10' })))
  assert.ok(isTrue(limit('CURRENT_DEVICE', true), at20, texts({}, {}, { limit: '10' })))
  assert.ok(isTrue(limit('CURRENT_CUSTOMER', true), at20, texts({ limit: '99' }, {}, { limit: '10' })))
  assert.ok(!isTrue(limit('CURRENT_CUSTOMER', false), at20, texts({}, {}, { limit: '10' })))
  assert.ok(isTrue(limit('CURRENT_TENANT', false), at20, texts({}, { limit: '99' }, { limit: '10' })))
  assert.ok(!isTrue(limit('CURRENT_TENANT', false), at20, texts({}, {}, { limit: 'none' })), 'what is written counts')
})

test('schedules go by the wall clock of their zone, over midnight, and by the day', () => {
  const at = (iso: string): number => Date.parse(iso)
  const hours = (startsOn: number, endsOn: number, daysOfWeek = [1, 2, 3, 4, 5, 6, 7]) =>
    schedule.parse({
      ...{ type: 'SPECIFIC_TIME', timezone: 'Europe/Berlin', daysOfWeek },
      ...{ startsOn: startsOn * 3_600_000, endsOn: endsOn * 3_600_000 },
    })
  // Monday; Berlin is an hour ahead.
  assert.ok(isActive(hours(9, 17), at('2024-01-15T08:00:00Z')))
  assert.ok(!isActive(hours(9, 17), at('2024-01-15T16:00:00Z')))
  assert.ok(isActive(hours(22, 6), at('2024-01-15T21:30:00Z')))
  assert.ok(isActive(hours(22, 6), at('2024-01-15T04:59:59Z')))
  assert.ok(!isActive(hours(22, 6), at('2024-01-15T12:00:00Z')))
  assert.ok(isActive(hours(0, 0), at('2024-01-15T22:59:59Z')))
  assert.ok(!isActive(hours(0, 0, [2]), at('2024-01-15T22:59:59Z')))
  assert.ok(isActive(hours(0, 0, [2]), at('2024-01-15T23:00:00Z')))
  const custom = schedule.parse({
    ...{ type: 'CUSTOM', timezone: 'UTC' },
    items: [
      { enabled: true, dayOfWeek: 1, startsOn: 0, endsOn: 3_600_000 },
      { enabled: false, dayOfWeek: 2, startsOn: 0, endsOn: 0 },
    ],
  })
  assert.ok(isActive(custom, at('2024-01-15T00:59:00Z')))
  assert.ok(!isActive(custom, at('2024-01-15T01:00:00Z')))
  assert.ok(!isActive(custom, at('2024-01-16T00:30:00Z')))
  assert.ok(!isActive(custom, at('2024-01-17T00:30:00Z')))
  assert.throws(() => schedule.parse({ ...custom, timezone: 'Mars/Olympus' }), /time zone/)
})

test('a schedule that an attribute holds counts where it is one of the same type', () => {
  const json = '{"timezone":"UTC","daysOfWeek":[1],"startsOn":0,"endsOn":0}'
  assert.equal(scheduleOfText(json, 'SPECIFIC_TIME')?.type, 'SPECIFIC_TIME')
  assert.equal(scheduleOfText(json, 'CUSTOM'), undefined)
  assert.equal(scheduleOfText('no JSON', 'SPECIFIC_TIME'), undefined)
})

test('a constant is compared with what attributes say', () => {
  const definition = (dynamicValue: JsonValue) => ({
    ...{ id: 'a', alarmType: 'Hot', clearRule: null },
    createRules: {
      MAJOR: {
        condition: {
          condition: [
            {
              ...{ key: { type: 'CONSTANT', key: 'c' }, valueType: 'NUMERIC', value: 5 },
              predicate: { type: 'NUMERIC', operation: 'GREATER', value: { defaultValue: 1, dynamicValue } },
            },
          ],
          spec: { type: 'SIMPLE' },
        },
      },
    },
  })
  const source = { sourceType: 'CURRENT_DEVICE', sourceAttribute: 'limit', inherit: false }
  for (const [dynamicValue, values, expected] of [
    [source, texts({ limit: '4' }), 'raise'],
    [source, texts({ limit: '6' }), undefined],
    [source, NOBODY, undefined],
    [null, texts({ limit: '4' }), undefined],
  ] as const) {
    const [alarm] = rulesOf([definition(dynamicValue)]).alarms
    assert.ok(alarm !== undefined)
    const event = { kind: 'values', ts: 1, changed: new Set(['ATTRIBUTE limit', 'CONSTANT c']), values } as const
    assert.equal(step(alarm, { active: undefined, counts: {} }, event, 1).result?.does, expected)
  }
})

test('rules name what they need: their keys, and the attributes of others', () => {
  const limit = { sourceType: 'CURRENT_DEVICE', sourceAttribute: 'limit', inherit: true }
  const { series, attributes, ofCustomer, ofTenant, hasFields } = rulesOf([
    {
      ...{ id: 'a', alarmType: 'Hot', clearRule: null },
      createRules: {
        MAJOR: {
          condition: {
            condition: [
              {
                key: { type: 'TIME_SERIES', key: 'temp' },
                predicate: { type: 'NUMERIC', operation: 'GREATER', value: { defaultValue: 1, dynamicValue: limit } },
              },
            ],
            spec: {
              ...{ type: 'DURATION', unit: 'SECONDS' },
              predicate: { defaultValue: 1, dynamicValue: { sourceType: 'CURRENT_TENANT', sourceAttribute: 'wait' } },
            },
          },
        },
      },
    },
  ])
  assert.deepEqual(
    { series, attributes, ofCustomer, ofTenant, hasFields },
    { series: ['temp'], attributes: ['limit'], ofCustomer: ['limit'], ofTenant: ['limit', 'wait'], hasFields: false },
  )
  assert.throws(() => rulesOf([{ id: 'a', alarmType: 'Hot', createRules: { HUGE: {} } }]), /createRules/)
})
