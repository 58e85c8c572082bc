import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NODE_ALARM_SEVERITIES, type NodeAlarmSeverity } from '../../engine/rulechain/capabilities/alarms.ts'
import type { JsonValue } from '../../model/json.ts'
import type { TypedValue } from '../../model/value.ts'
import { nameOf, rulesOf, type AlarmDefinition } from './alarm-rule.ts'
import { nextTime, step, type AlarmEvent, type AlarmResult, type AlarmStanding } from './rule-state.ts'
import type { RuleValues } from './rule-values.ts'

const NONE: AlarmStanding = { active: undefined, counts: {} }
const START = 1_700_000_000_000

function numeric(operation: string, value: number): JsonValue {
  return {
    key: { type: 'TIME_SERIES', key: 'temp' },
    valueType: 'NUMERIC',
    predicate: { type: 'NUMERIC', operation, value: { defaultValue: value } },
  }
}

function rule(operation: string, value: number, spec: JsonValue = { type: 'SIMPLE' }): JsonValue {
  return { condition: { condition: [numeric(operation, value)], spec }, schedule: null, alarmDetails: null }
}

function alarm(createRules: { [severity: string]: JsonValue }, clearRule: JsonValue = null): AlarmDefinition {
  const [definition] = rulesOf([{ id: 'a', alarmType: 'Hot', createRules, clearRule }]).alarms
  assert.ok(definition !== undefined)
  return definition
}

function valuesOf(temp: number): RuleValues {
  const value: TypedValue = { type: 'DOUBLE', value: temp }
  return {
    own: ({ type, key }) => (type === 'TIME_SERIES' && key === 'temp' ? value : undefined),
    ofCustomer: () => undefined,
    ofTenant: () => undefined,
  }
}

const TEMP = new Set([nameOf({ type: 'TIME_SERIES', key: 'temp' })])

function reading(temp: number, ts: number): AlarmEvent {
  return { kind: 'values', ts, changed: TEMP, values: valuesOf(temp) }
}

/** Plays readings at their times; what came of each. */
function play(
  definition: AlarmDefinition,
  readings: readonly (readonly [temp: number, ts: number])[],
  start: AlarmStanding = NONE,
): readonly (AlarmResult | undefined)[] {
  let standing = start
  return readings.map(([temp, ts]) => {
    const made = step(definition, standing, reading(temp, ts), ts)
    // As it is stored.
    standing = { active: made.standing.active, counts: structuredClone(made.standing.counts) }
    return made.result
  })
}

test('the most severe rule that is true wins, severity rises and never falls, and every true event says so anew', () => {
  const hot = alarm({ MINOR: rule('GREATER', 30), CRITICAL: rule('GREATER', 50) }, rule('LESS', 20))
  const told = play(hot, [
    [25, 1],
    [35, 2],
    [60, 3],
    [35, 4],
    [61, 5],
    [10, 6],
    [10, 7],
  ]).map((result) => result && `${result.does} ${result.severity}`)
  assert.deepEqual(told, [
    undefined,
    'raise MINOR',
    'raise CRITICAL',
    undefined,
    'raise CRITICAL',
    'clear CRITICAL',
    undefined,
  ])
})

test('a duration must be strictly longer than its limit, and is over at a time that can be foretold', () => {
  const seconds = alarm({
    MAJOR: rule('GREATER', 50, { type: 'DURATION', unit: 'SECONDS', predicate: { defaultValue: 10 } }),
  })
  assert.equal(
    play(seconds, [
      [60, START],
      [60, START + 10_000],
    ])[1],
    undefined,
  )
  assert.equal(
    play(seconds, [
      [60, START],
      [60, START + 10_001],
    ])[1]?.count.durationMs,
    10_001,
  )
  const { standing } = step(seconds, NONE, reading(60, START), START)
  const time = nextTime(seconds, standing, valuesOf(60))
  assert.equal(time, START + 10_001)
  const event: AlarmEvent = { kind: 'time', values: valuesOf(60) }
  assert.equal(step(seconds, standing, event, START + 10_000).result, undefined)
  const fired = step(seconds, standing, event, START + 10_001)
  assert.equal(fired.result?.does, 'raise')
  assert.equal(nextTime(seconds, fired.standing, valuesOf(60)), undefined)
})

test('what is cleared elsewhere is forgotten with all that was counted', () => {
  const often = alarm({ MAJOR: rule('GREATER', 50, { type: 'REPEATING', predicate: { defaultValue: 2 } }) })
  const { standing } = step(often, NONE, reading(60, START), START)
  assert.deepEqual(step(often, standing, { kind: 'gone' }, START).standing, NONE)
})

test('property: durations and repetitions are those of the unbroken run of true events', () => {
  const gaps = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: -500, max: 3000 })), { maxLength: 40 })
  const limits = fc.record({ ms: fc.integer({ min: 1, max: 8000 }), times: fc.integer({ min: 1, max: 6 }) })
  fc.assert(
    fc.property(gaps, limits, (events, { ms, times }) => {
      const lasting = { type: 'DURATION', unit: 'MILLISECONDS', predicate: { defaultValue: ms } }
      const often = { type: 'REPEATING', predicate: { defaultValue: times } }
      let ts = START
      const readings = events.map(([isHot, gap]) => [isHot ? 60 : 10, (ts += gap)] as const)
      const byDuration = play(alarm({ MAJOR: rule('GREATER', 50, lasting) }), readings)
      const byCount = play(alarm({ MAJOR: rule('GREATER', 50, often) }), readings)
      let run: number[] = []
      for (const [index, [temp, at]] of readings.entries()) {
        run = temp > 50 ? [...run, at] : []
        const lasted = run.length === 0 ? 0 : Math.max(...run) - (run[0] ?? 0)
        assert.equal(byDuration[index] !== undefined, lasted > ms, `duration at ${index}`)
        assert.equal(byCount[index] !== undefined, run.length >= times, `count at ${index}`)
      }
    }),
  )
})

test('a duration that is over says so once, also where another one waits for its end', () => {
  const over = (ms: number) =>
    rule('GREATER', 0, { type: 'DURATION', unit: 'MILLISECONDS', predicate: { defaultValue: ms } })
  const definition = alarm({ CRITICAL: over(3), MINOR: over(1) }, null)
  const first = step(definition, NONE, reading(1, START), START)
  const second = step(definition, first.standing, reading(1, START + 2), START + 2)
  assert.equal(second.result?.severity, 'MINOR')
  const values = valuesOf(1)
  assert.equal(step(definition, second.standing, { kind: 'time', values }, START + 3).result, undefined)
  assert.equal(step(definition, second.standing, { kind: 'time', values }, START + 4).result?.severity, 'CRITICAL')
})

test('property: nothing weaker than the active alarm is raised, and only an active one is cleared', () => {
  const spec = fc.oneof(
    fc.constant({ type: 'SIMPLE' }),
    fc.integer({ min: 1, max: 5000 }).map((ms) => ({
      ...{ type: 'DURATION', unit: 'MILLISECONDS', predicate: { defaultValue: ms } },
    })),
    fc.integer({ min: 1, max: 4 }).map((times) => ({ type: 'REPEATING', predicate: { defaultValue: times } })),
  )
  const rules = fc.array(fc.tuple(fc.constantFrom(...NODE_ALARM_SEVERITIES), fc.integer({ min: 0, max: 9 }), spec), {
    minLength: 1,
    maxLength: 4,
  })
  const events = fc.array(
    fc.tuple(
      fc.constantFrom('values', 'values', 'values', 'time', 'gone'),
      fc.integer({ min: 0, max: 9 }),
      fc.integer({ min: 0, max: 3000 }),
    ),
    { maxLength: 60 },
  )
  fc.assert(
    fc.property(rules, fc.option(spec), events, (create, clear, happenings) => {
      const definition = alarm(
        Object.fromEntries(create.map(([severity, limit, one]) => [severity, rule('GREATER', limit, one)])),
        clear === null ? null : rule('LESS_OR_EQUAL', 4, clear),
      )
      let now = START
      let temp = 0
      let standing = NONE
      for (const [kind, value, gap] of happenings) {
        now += gap
        if (kind === 'values') temp = value
        const values = valuesOf(temp)
        const event: AlarmEvent =
          kind === 'values' ? reading(temp, now) : kind === 'time' ? { kind: 'time', values } : { kind: 'gone' }
        const { standing: after, result } = step(definition, standing, event, now)
        if (result?.does === 'raise') {
          assert.equal(after.active, result.severity)
          assert.ok(standing.active === undefined || rank(result.severity) <= rank(standing.active))
        } else if (result?.does === 'clear') {
          assert.equal(result.severity, standing.active)
          assert.deepEqual(after, NONE)
        } else if (kind !== 'gone') assert.equal(after.active, standing.active)
        const time = nextTime(definition, after, values)
        // Never so late that the time itself would do something before.
        if (time !== undefined && time - 1 > now)
          assert.equal(step(definition, after, { kind: 'time', values }, time - 1).result, undefined)
        standing = after
      }
    }),
  )
})

function rank(severity: NodeAlarmSeverity): number {
  return NODE_ALARM_SEVERITIES.indexOf(severity)
}
