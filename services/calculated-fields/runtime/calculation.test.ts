import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configuration as configurationSchema } from '../../../model/calculated-fields/configuration.ts'
import { hidingState, type ArgumentNeed, type StepInput } from '../../../model/calculated-fields/kind.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import { calculatedFields } from '../../entities/calculated-field.ts'
import { recordWith } from '../../entities/rows.ts'
import { NO_LIMITS } from './bounds.ts'
import { calculate, type Calculated, type CalculationTurn } from './calculation.ts'
import type { ActiveField } from './field-index.ts'
import type { Held } from './held.ts'
import type { News, ValuesNews } from './payload.ts'
import type { FieldState } from './states.ts'

const DEVICE: EntityId = { entityType: 'DEVICE', id: '11111111-1111-4111-8111-111111111111' }
const NEED: ArgumentNeed = { origin: { from: 'own' }, key: 'temperature', type: 'TS_LATEST' }

/** Answers what it was given; fails where that is below zero. */
function echoing(steps: StepInput[] = [], version = 1, need = NEED): ActiveField {
  const field = hidingState<number>({
    needs: { arguments: { t: need } },
    parse: Number,
    step: (state, input) => {
      steps.push(input)
      const { t } = input.args
      if (t?.kind === 'single' && Number(t.value) < 0) throw new Error('below zero')
      return {
        state: (state ?? 0) + 1,
        results: [{ kind: 'values', entity: DEVICE, values: { count: (state ?? 0) + 1 } }],
      }
    },
  })
  const identity = { id: 'f', createdTime: 1, version, tenantId: 'tenant' }
  return {
    record: recordWith(calculatedFields, identity, { name: 'echo' }),
    owner: DEVICE,
    configuration: configurationSchema.parse({
      ...{ type: 'SIMPLE', expression: 't', output: { type: 'TIME_SERIES', name: 'o' } },
      arguments: { t: { refEntityKey: { key: 'temperature', type: 'TS_LATEST' } } },
    }),
    field,
    failure: undefined,
  }
}

function came(value: number, ts = 1000, key = 'temperature'): ValuesNews {
  return { kind: 'values', source: 'series', values: [[key, ts, value]], deleted: [], type: 'POST_TELEMETRY_REQUEST' }
}

function turn(field: ActiveField, before: FieldState | undefined, change: Partial<CalculationTurn>): Calculated {
  return calculate(field, before, {
    ...{ entity: DEVICE, now: 2000, news: undefined, loaded: undefined, targets: [], limits: NO_LIMITS },
    ...change,
  })
}

test('a field begins with what was read, and values that came are over it', () => {
  const steps: StepInput[] = []
  const first = turn(echoing(steps), undefined, { news: came(5), loaded: { args: { t: { one: [500, 4] } } } })
  assert.deepEqual(steps[0]?.args, { t: { kind: 'single', ts: 1000, value: 5 } })
  assert.equal(first.state.own, 1)
  assert.equal(turn(echoing(), first.state, { news: came(6, 3000) }).state.own, 2)
})

test('a value that is older than what is there is told and not taken over', () => {
  const steps: StepInput[] = []
  turn(echoing(steps), { version: 1, args: { t: { one: [900, 4] } }, own: 1 }, { news: came(5, 800) })
  assert.deepEqual(steps[0]?.args['t'], { kind: 'single', ts: 900, value: 4 })
  assert.deepEqual(
    steps[0].updates.map(({ ts }) => ts),
    [800],
  )
})

test('a step is told where what counts was read for it, though what came is older', () => {
  const steps: StepInput[] = []
  const loaded: CalculationTurn['loaded'] = { args: { t: { one: [1900, 4] } } }
  const first = turn(echoing(steps), undefined, { news: came(5, 800), loaded })
  turn(echoing(steps), first.state, { news: came(5, 800) })
  turn(echoing(steps), first.state, { news: came(5, 800), loaded })
  assert.deepEqual(
    steps.map(({ cause, isRead }) => [cause, isRead]),
    [
      ['values', true],
      ['values', undefined],
      ['values', true],
    ],
  )
})

test('of a series of which points went counts what was read then, older as it may be', () => {
  const steps: StepInput[] = []
  const gone: News = { ...came(5), values: [], deleted: ['temperature'] }
  const before: FieldState = { version: 1, args: { t: { one: [900, 4] } }, own: 1 }
  const left = turn(echoing(steps), before, { news: gone, loaded: { args: { t: { one: [800, 3] } } } })
  assert.deepEqual([steps[0]?.cause, steps[0]?.args['t']], ['values', { kind: 'single', ts: 800, value: 3 }])
  assert.deepEqual(left.state.args, { t: { one: [800, 3] } })
  const none = turn(echoing(), before, { news: gone, loaded: { args: { t: {} } } })
  assert.equal(none.shown?.error, 'Required arguments are missing: t')
})

test('a step that changed nothing is shown by no debug event', () => {
  const quiet = echoing()
  const { field } = quiet
  assert.ok(field)
  const step: typeof field.step = (...given) => ({ ...field.step(...given), isUnchanged: true })
  const before: FieldState = { version: 1, args: { t: { one: [900, 4] } }, own: 1 }
  const { shown } = turn({ ...quiet, field: { ...field, step } }, before, { news: came(5) })
  assert.equal(shown, undefined)
})

test('without all of its arguments a field waits, and says which are missing', () => {
  const waiting = turn(echoing(), undefined, { loaded: { args: { t: {} } } })
  assert.deepEqual(waiting.results, [])
  assert.equal(waiting.shown?.error, 'Required arguments are missing: t')
})

test('news of another key, and of another entity, leaves the state as it is', () => {
  const before: FieldState = { version: 1, args: { t: { one: [900, 4] } }, own: 1 }
  assert.equal(turn(echoing(), before, { news: came(1, 1000, 'other') }).state, before)
  const stranger = { entityType: 'DEVICE', id: '22222222-2222-4222-8222-222222222222' } as const
  assert.equal(turn(echoing(), before, { news: { ...came(1), from: stranger } }).state, before)
})

test('a failed step keeps the state of its kind and the new value', () => {
  const failed = turn(echoing(), { version: 1, args: { t: { one: [900, 4] } }, own: 7 }, { news: came(-1) })
  assert.equal(failed.shown?.error, 'below zero')
  assert.equal(failed.state.own, 7)
  assert.deepEqual(failed.state.args['t']?.one, [1000, -1])
})

test('another version begins anew', () => {
  const before: FieldState = { version: 1, args: { t: { one: [900, 4] } }, own: 7 }
  const begun = turn(echoing([], 2), before, { loaded: { args: { t: { one: [900, 4] } } } })
  assert.deepEqual([begun.state.version, begun.state.own], [2, 1])
})

test('a field whose state is too large rests until it is another version', () => {
  const rolling: ArgumentNeed = { ...NEED, type: 'TS_ROLLING', timeWindow: 10_000 }
  const points = Array.from({ length: 50 }, (_, index) => [index, index] as const)
  const large = turn(echoing([], 1, rolling), undefined, {
    loaded: { args: { t: { points } } },
    limits: { ...NO_LIMITS, maxStateBytes: 200 },
  })
  assert.equal(large.state.isTooLarge, true)
  assert.match(large.shown?.error ?? '', /at most 200/)
  assert.equal(turn(echoing([], 1, rolling), large.state, { news: came(1) }).state, large.state)
})

test('a value that is larger than the profile allows is not taken, and said', () => {
  const limits = { ...NO_LIMITS, maxValueBytes: 4 }
  const large = (value: string): News => ({
    ...{ kind: 'values', source: 'series', values: [['temperature', 1000, value]], deleted: [], type: '' },
  })
  const before: FieldState = { version: 1, args: { t: { one: [900, 4] } }, own: 7 }
  const refused = turn(echoing(), before, { news: large('12345'), limits })
  assert.match(refused.shown?.error ?? '', /exceeds the maximum.*: t$/)
  assert.deepEqual([refused.results, refused.state.own, refused.state.args['t']?.one], [[], 7, [900, 4]])
  assert.equal(turn(echoing(), before, { news: large('ünd'), limits }).state.own, 8)
  const begun = turn(echoing(), undefined, { loaded: { args: { t: { one: [900, '12345'] } } }, limits })
  assert.deepEqual([begun.results, begun.state.args], [[], { t: {} }])
})

test('a window has no more points than the field asks for and the profile allows', () => {
  const sizes = ([limit, maxPoints]: readonly [number | undefined, number]) => {
    const need: ArgumentNeed = { ...NEED, type: 'TS_ROLLING', limit }
    const points = Array.from({ length: 8 }, (_, index) => [index, index] as const)
    const loaded = { args: { t: { points } } }
    const { state } = turn(echoing([], 1, need), undefined, {
      loaded,
      news: came(9),
      limits: { ...NO_LIMITS, maxPoints },
    })
    return state.args['t']?.points?.length
  }
  assert.deepEqual(
    (
      [
        [5, 3],
        [2, 3],
        [undefined, 3],
        [undefined, 0],
      ] as const
    ).map(sizes),
    [3, 2, 3, 9],
  )
})

test('a relation that leads to nothing else has no result; one that does has', () => {
  const sources: Held['sources'] = [['DEVICE', 'a']]
  const origin = { from: 'related', levels: [{ direction: 'FROM', relationType: 'Contains' }] } as const
  const need: ArgumentNeed = { ...NEED, origin, defaultValue: '4' }
  const steps: StepInput[] = []
  const after = (kept: Held, read: Held) =>
    turn(
      echoing(steps, 1, need),
      { version: 1, args: { t: kept }, own: 7 },
      {
        news: { kind: 'related' },
        loaded: { args: { t: read } },
      },
    ).state.own
  assert.equal(after({ sources, one: [900, 4] }, { sources: [['DEVICE', 'a']], one: [900, 4] }), 7)
  assert.equal(after({ sources, one: [900, 4], isDefault: true }, { sources, one: [2000, 4], isDefault: true }), 7)
  assert.deepEqual(steps, [])
  assert.equal(after({ sources, one: [900, 4] }, { sources: [['DEVICE', 'b']], one: [900, 4] }), 8)
  assert.equal(after({ sources, one: [900, 4] }, { sources, one: [900, 5] }), 8)
  assert.equal(after({ sources, one: [900, 4] }, { sources, one: [901, 4] }), 8)
})
