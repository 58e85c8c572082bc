import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { AnyField, StepInput, StepResult } from '../../model/calculated-fields/kind.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { opened, single, stepOf } from './testkit.ts'

const SECOND = 1000
const START = Date.parse('2024-07-01T00:00:00Z')

const latest = (key: string) => ({ refEntityKey: { key, type: 'TS_LATEST' } })
const predicate = (operation: string, value: JsonObject) => ({ type: 'NUMERIC', operation, value })
const filter = (argument: string, ...predicates: JsonObject[]) => ({ argument, valueType: 'NUMERIC', predicates })
const filters = (...all: JsonObject[]) => ({ type: 'SIMPLE', filters: all })
const above = (limit: number) => filters(filter('t', predicate('GREATER', { staticValue: limit })))
const below = (limit: number) => filters(filter('t', predicate('LESS', { staticValue: limit })))
const simple = (expression: JsonObject, more: JsonObject = {}) => ({
  condition: { type: 'SIMPLE', expression, ...more },
})
const lasting = (seconds: JsonObject, expression: JsonObject) => ({
  condition: { type: 'DURATION', unit: 'SECONDS', value: seconds, expression },
})
const repeated = (count: JsonObject, expression: JsonObject) => ({
  condition: { type: 'REPEATING', count, expression },
})

function rules(createRules: JsonObject, clearRule: JsonObject | null = null, more: JsonObject = {}): JsonObject {
  return { type: 'ALARM', arguments: { t: latest('temperature') }, createRules, clearRule, ...more }
}

const tools = {
  limit: () => 60,
  compileWithArguments: (expression: string) => (args: StepInput['args']) =>
    expression === 'return t > 90;' ? args['t']?.kind === 'single' && Number(args['t'].value) > 90 : 'warm',
}

/** An entity with the field: events and the timer, in the order of their times. */
class Entity {
  state: JsonValue = null
  wakeAt: number | undefined
  active: string | undefined
  startTs = 0
  isHeard = true
  args: Record<string, ReturnType<typeof single>>
  readonly told: string[] = []
  readonly results: StepResult[] = []
  private readonly field: AnyField

  constructor(configuration: JsonObject, args: Readonly<Record<string, JsonValue>> = {}, now = START) {
    this.field = opened(configuration, tools)
    this.args = Object.fromEntries(Object.entries(args).map(([name, value]) => [name, single(value, now)]))
  }

  begin(now: number, severity?: string): void {
    this.step({ cause: 'begin', now, alarm: severity === undefined ? null : { severity, startTs: now } })
  }

  value(value: JsonValue, ts: number, now = ts, name = 't'): void {
    this.until(now)
    const before = this.args[name]
    if (before === undefined || before.kind !== 'single' || before.ts <= ts) this.args[name] = single(value, ts)
    this.step({ cause: 'values', now, updates: [{ name, ts, value, entity: { entityType: 'DEVICE', id: 'x' } }] })
  }

  cleared(now: number): void {
    this.active = undefined
    this.step({ cause: 'alarm', now, alarm: null })
  }

  /** Timers that are due. */
  until(now: number): void {
    while (this.wakeAt !== undefined && this.wakeAt <= now) {
      const at = this.wakeAt
      this.wakeAt = undefined
      this.step({ cause: 'wake', now: at })
    }
  }

  step(input: Partial<StepInput>): void {
    const { state, results, wakeAt } = stepOf(this.field, { ...input, args: this.args }, this.state)
    this.state = JSON.parse(JSON.stringify(state)) as JsonValue
    this.wakeAt = wakeAt
    for (const result of results) {
      assert(result.kind === 'alarm')
      this.results.push(result)
      if (result.action === 'raise' && this.active === undefined) this.startTs = result.startTs
      this.active = result.action === 'raise' ? result.severity : undefined
      this.told.push(result.action === 'raise' ? result.severity : 'clear')
    }
    // It is written, and the field hears of it.
    if (this.isHeard && results.length > 0 && input.cause !== 'alarm')
      this.step({
        cause: 'alarm',
        now: input.now ?? 0,
        alarm: this.active === undefined ? null : { severity: this.active, startTs: this.startTs },
      })
  }
}

/** No field is stepped before its arguments have values. */
function entityOf(configuration: JsonObject, args: Readonly<Record<string, JsonValue>> = {}): Entity {
  return new Entity(configuration, args)
}

describe('alarm rules', () => {
  test('the most severe rule that is true wins, and an alarm never becomes weaker but by being cleared', () => {
    const entity = entityOf(rules({ MAJOR: simple(above(50)), CRITICAL: simple(above(90)) }, simple(below(40))))
    for (const [index, value] of [45, 60, 60, 95, 60, 45, 30, 30, 60].entries()) entity.value(value, START + index)
    assert.deepEqual(entity.told, ['MAJOR', 'MAJOR', 'CRITICAL', 'clear', 'MAJOR'])
  })

  test('an alarm that is active when the field begins is known', () => {
    const entity = new Entity(rules({ MAJOR: simple(above(50)) }, simple(below(40))), { t: 30 })
    entity.begin(START, 'MAJOR')
    assert.deepEqual(entity.told, ['clear'])
  })

  test('a value that is older than the newest is no event', () => {
    const entity = entityOf(rules({ MAJOR: repeated({ staticValue: 2 }, above(50)) }))
    entity.value(60, START + 10)
    entity.value(70, START + 5, START + 11)
    assert.deepEqual(entity.told, [])
    entity.value(60, START + 12)
    assert.deepEqual(entity.told, ['MAJOR'])
  })

  test('details are the rule’s text with the arguments in it, and repetitions stand in the metadata', () => {
    const details = { alarmDetails: 'now ${t}, not ${u}', dashboardId: { id: '784f394c-42b6-435a-983c-b7beff2784f9' } }
    const clear = { ...simple(below(40)), alarmDetails: 'back at ${t}' }
    const entity = entityOf(rules({ MAJOR: { ...repeated({ staticValue: 2 }, above(50)), ...details } }, clear))
    for (const [index, value] of [60, 61, 30].entries()) entity.value(value, START + index)
    const [raised, cleared] = entity.results
    assert(raised?.kind === 'alarm' && cleared?.kind === 'alarm')
    const { id } = details.dashboardId
    assert.deepEqual(raised.details, { data: 'now 61, not ${u}', dashboardId: id })
    assert.deepEqual(raised.metadata, { alarmConditionRepeats: '2' })
    assert.deepEqual([cleared.details, cleared.metadata], [{ data: 'back at 30' }, {}])
  })

  test('a duration ends by the clock on the wall, at the limit, though nothing is heard', () => {
    const entity = entityOf(rules({ MAJOR: lasting({ staticValue: 10 }, above(50)) }))
    entity.value(60, START)
    assert.equal(entity.wakeAt, START + 10 * SECOND)
    entity.until(START + 10 * SECOND)
    assert.deepEqual(entity.told, ['MAJOR'])
    const [raised] = entity.results
    assert(raised?.kind === 'alarm')
    assert.deepEqual(raised.metadata, { alarmConditionDuration: '10000' })
    assert(raised.action === 'raise')
    assert.equal(raised.startTs, START, 'it began with the value')
    entity.until(START + 100 * SECOND)
    assert.deepEqual(entity.told, ['MAJOR'], 'time alone says nothing anew')
    entity.value(61, START + 101 * SECOND)
    assert.deepEqual(entity.told, ['MAJOR', 'MAJOR'])
  })

  test('limits come from arguments, also as text', () => {
    const createRules = {
      MAJOR: lasting({ dynamicValueArgument: 'limit' }, above(50)),
      MINOR: repeated({ dynamicValueArgument: 'limit' }, above(10)),
    }
    const named = { t: latest('temperature'), limit: { refEntityKey: { key: 'limit', type: 'ATTRIBUTE' } } }
    const entity = entityOf(rules(createRules, null, { arguments: named }), { limit: '3' })
    entity.value(20, START)
    entity.value(20, START + 1)
    entity.value(60, START + 2)
    assert.deepEqual(entity.told, ['MINOR'])
    entity.until(START + 3 * SECOND + 2)
    assert.deepEqual(entity.told, ['MINOR', 'MAJOR'])
  })

  test('data that is missing raises when it has been so for long enough, and again where a user cleared it', () => {
    const silent = filters(filter('t', { type: 'NO_DATA', unit: 'MINUTES', duration: { staticValue: 2 } }))
    const entity = entityOf(rules({ WARNING: simple(silent) }, simple(above(0))))
    entity.value(5, START)
    entity.value(6, START + 90 * SECOND)
    entity.until(START + 209 * SECOND)
    assert.deepEqual(entity.told, [])
    entity.until(START + 210 * SECOND)
    assert.deepEqual(entity.told, ['WARNING'])
    entity.value(7, START + 300 * SECOND)
    assert.deepEqual(entity.told, ['WARNING', 'clear'])
    entity.until(START + 420 * SECOND)
    entity.cleared(START + 430 * SECOND)
    entity.until(START + 489 * SECOND)
    assert.deepEqual(entity.told, ['WARNING', 'clear', 'WARNING'])
    entity.until(START + 490 * SECOND)
    assert.deepEqual(entity.told, ['WARNING', 'clear', 'WARNING', 'WARNING'])
  })

  test('what the rules counted goes when a user clears the alarm', () => {
    const entity = entityOf(rules({ MAJOR: repeated({ staticValue: 2 }, above(50)) }))
    entity.value(60, START)
    entity.value(60, START + 1)
    entity.cleared(START + 2)
    entity.value(60, START + 3)
    assert.deepEqual(entity.told, ['MAJOR'])
    entity.value(60, START + 4)
    assert.deepEqual(entity.told, ['MAJOR', 'MAJOR'])
  })

  test('an alarm that is not written yet with the severity to which it rose does not become weaker', () => {
    const entity = entityOf(rules({ MAJOR: simple(above(50)), CRITICAL: simple(above(90)) }, simple(below(40))))
    entity.isHeard = false
    const stored = (severity: string, now: number) =>
      entity.step({ cause: 'alarm', now, alarm: { severity, startTs: START } })
    for (const [index, value] of [60, 95].entries()) entity.value(value, START + index)
    stored('MAJOR', START + 2)
    entity.value(60, START + 3)
    assert.deepEqual(entity.told, ['MAJOR', 'CRITICAL'])
    stored('CRITICAL', START + 4)
    // From now on somebody may have made it weaker.
    stored('MAJOR', START + 5)
    entity.value(60, START + 6)
    assert.deepEqual(entity.told, ['MAJOR', 'CRITICAL', 'MAJOR'])
  })

  test('that an alarm is not written yet is no reason to begin anew', () => {
    const createRules = { MAJOR: simple(above(50)), CRITICAL: repeated({ staticValue: 3 }, above(50)) }
    const entity = entityOf(rules(createRules, simple(below(40))))
    entity.isHeard = false
    for (const [index, value] of [60, 30, 60, 60].entries()) entity.value(value, START + index)
    // Of the first alarm, which the rule cleared; the second is on its way.
    entity.step({ cause: 'alarm', now: START + 4, alarm: null })
    entity.value(60, START + 5)
    assert.deepEqual(entity.told, ['MAJOR', 'clear', 'MAJOR', 'MAJOR', 'CRITICAL'])
  })

  test('that a clear is not written yet is no reason to clear again, nor that it is written to count anew', () => {
    const entity = entityOf(rules({ MAJOR: repeated({ staticValue: 2 }, above(50)) }, simple(below(40))))
    entity.isHeard = false
    for (const [index, value] of [60, 60, 30].entries()) entity.value(value, START + index)
    entity.step({ cause: 'alarm', now: START + 3, alarm: { severity: 'MAJOR', startTs: START + 1 } })
    entity.value(30, START + 4)
    entity.value(60, START + 5)
    entity.step({ cause: 'alarm', now: START + 6, alarm: null })
    entity.value(60, START + 7)
    assert.deepEqual(entity.told, ['MAJOR', 'clear', 'MAJOR'])
    // From now on somebody may raise it.
    entity.value(30, START + 8)
    entity.step({ cause: 'alarm', now: START + 9, alarm: null })
    entity.step({ cause: 'alarm', now: START + 10, alarm: { severity: 'MAJOR', startTs: START + 10 } })
    entity.value(30, START + 11)
    assert.deepEqual(entity.told, ['MAJOR', 'clear', 'MAJOR', 'clear', 'clear'])
  })

  test('an alarm that is still to be cleared is not taken for the one that was raised since', () => {
    const entity = entityOf(rules({ MAJOR: simple(above(50)) }, simple(below(40))))
    entity.isHeard = false
    for (const [index, value] of [60, 30, 60].entries()) entity.value(value, START + index)
    // Of the first alarm: it is there, and then it is not, while the second is on its way.
    entity.step({ cause: 'alarm', now: START + 3, alarm: { severity: 'MAJOR', startTs: START } })
    entity.step({ cause: 'alarm', now: START + 4, alarm: null })
    entity.value(30, START + 5)
    assert.deepEqual(entity.told, ['MAJOR', 'clear', 'MAJOR', 'clear'])
  })

  test('a rule applies by its schedule, written or from an argument, and is looked at when it begins to', () => {
    const hours = { type: 'SPECIFIC_TIME', timezone: 'Europe/Berlin', daysOfWeek: [1], startsOn: 0, endsOn: 0 }
    const named = { t: latest('temperature'), when: { refEntityKey: { key: 'when', type: 'ATTRIBUTE' } } }
    for (const schedule of [{ staticValue: hours }, { dynamicValueArgument: 'when' }]) {
      const configuration = rules({ MAJOR: simple(above(50), { schedule }) }, null, { arguments: named })
      const entity = entityOf(configuration, { when: JSON.stringify(hours) })
      const sunday = Date.parse('2024-07-07T12:00:00+02:00')
      entity.value(60, sunday)
      assert.deepEqual(entity.told, [])
      assert.equal(entity.wakeAt, Date.parse('2024-07-08T00:00:00+02:00'))
      entity.until(entity.wakeAt ?? 0)
      assert.deepEqual(entity.told, ['MAJOR'])
    }
  })

  test('a condition is a script, which must say true or false', () => {
    const script = (expression: string) => simple({ type: 'TBEL', expression })
    const entity = entityOf(rules({ MAJOR: script('return t > 90;') }))
    entity.value(95, START)
    assert.deepEqual(entity.told, ['MAJOR'])
    const wrong = new Entity(rules({ MAJOR: script('return t;') }))
    assert.throws(() => wrong.value(1, START), { code: 'node.CONDITION_NOT_BOOLEAN' })
  })

  test('filters and predicates are joined by AND, or by OR where they say so', () => {
    const between = filters(
      filter('t', {
        type: 'COMPLEX',
        operation: 'AND',
        predicates: [predicate('GREATER', { staticValue: 10 }), predicate('LESS_OR_EQUAL', { staticValue: 20 })],
      }),
    )
    const either = { ...filter('t', predicate('EQUAL', { staticValue: 1 }), predicate('EQUAL', { staticValue: 2 })) }
    const told = (expression: JsonObject, value: JsonValue): number => {
      const entity = entityOf(rules({ MAJOR: simple(expression) }))
      entity.value(value, START)
      return entity.told.length
    }
    assert.deepEqual(
      [10, 11, 20, 21, 'x'].map((value) => told(between, value)),
      [0, 1, 1, 0, 0],
    )
    assert.equal(told(filters(either), 1), 0)
    assert.equal(told(filters({ ...either, operation: 'OR' }), 2), 1)
    assert.equal(
      told({ ...filters(filter('t', predicate('EQUAL', { staticValue: 5 })), either), operation: 'OR' }, 5),
      1,
    )
  })

  test('a state of another shape begins anew', () => {
    const field = opened(rules({ MAJOR: repeated({ staticValue: 2 }, above(50)) }), tools)
    const { state } = stepOf(field, { args: { t: single(60) }, cause: 'begin', alarm: null }, { old: true })
    assert.deepEqual(state, { memories: { MAJOR: { count: 0 } } })
  })
})

/** What happens to the entity, at most once a second. */
const events = fc
  .uniqueArray(
    fc.record({
      second: fc.integer({ min: 0, max: 120 }),
      what: fc.oneof(
        { weight: 8, arbitrary: fc.integer({ min: 0, max: 9 }) },
        { weight: 1, arbitrary: fc.constant('clear') },
      ),
    }),
    { selector: ({ second }) => second, maxLength: 40 },
  )
  .map((list) => new Map(list.map(({ second, what }) => [second, what] as const)))

/** Looks at every second and at all that was before it. */
function plainDuration(limit: number, happened: ReadonlyMap<number, number | string>) {
  const active: boolean[] = []
  const inOrder = [...happened].toSorted(([one], [other]) => one - other)
  const isOver = (now: number, until: number): boolean => {
    const seen = inOrder.filter(([second]) => second <= until)
    // A user's hand makes the rule begin anew, and so does a value that is not above.
    const lastEnd = seen.findLastIndex(([, what]) => typeof what === 'string' || what <= 5)
    const first = seen[lastEnd + 1]
    return first !== undefined && now - first[0] >= limit
  }
  for (let now = 0; now <= 140; now++) {
    const what = happened.get(now)
    // A timer that is due at the same time goes before what happens then.
    const wasActive = (active[now - 1] ?? false) || isOver(now, now - 1)
    const isCleared = what === 'clear' || (typeof what === 'number' && what < 3)
    active.push(!isCleared && (wasActive || isOver(now, now)))
  }
  return active
}

test('durations are as a plain model has them, with every timer on the way', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), events, (limit, happened) => {
      const entity = entityOf(rules({ MAJOR: lasting({ staticValue: limit }, above(5)) }, simple(below(3))))
      const active: boolean[] = []
      const done = new Map(happened)
      for (let second = 0; second <= 140; second++) {
        const now = START + second * SECOND
        entity.until(now)
        const what = happened.get(second)
        if (typeof what === 'number') entity.value(what, now)
        else if (entity.active === undefined) done.delete(second)
        else if (what !== undefined) entity.cleared(now)
        active.push(entity.active !== undefined)
      }
      assert.deepEqual(active, plainDuration(limit, done))
    }),
    { numRuns: 300 },
  )
})

test('repetitions are as a plain model has them', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
      (limit, values) => {
        const entity = entityOf(rules({ MAJOR: repeated({ staticValue: limit }, above(5)) }, simple(below(3))))
        const told = values.map((value, index) => {
          const before = entity.told.length
          entity.value(value, START + index)
          return entity.told.slice(before).join()
        })
        const expected = values.map((value, index) => {
          const upTo = values.slice(0, index + 1)
          const inARow = upTo.length - 1 - upTo.findLastIndex((each) => each <= 5)
          if (inARow >= limit) return 'MAJOR'
          const said = upTo.slice(0, -1).map((_, before) => before)
          const lastClear = said.findLast((before) => (upTo[before] ?? 9) < 3) ?? -1
          const wasRaised = said.some((before) => before > lastClear && rowUntil(upTo, before) >= limit)
          return value < 3 && wasRaised ? 'clear' : ''
        })
        assert.deepEqual(told, expected)
      },
    ),
    { numRuns: 300 },
  )
})

function rowUntil(values: readonly number[], index: number): number {
  const upTo = values.slice(0, index + 1)
  return upTo.length - 1 - upTo.findLastIndex((each) => each <= 5)
}
