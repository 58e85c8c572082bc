import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ArgumentValue } from '../../../model/calculated-fields/kind.ts'
import { stringifyJson, type JsonValue } from '../../../model/json.ts'
import { ManualClock } from '../../../model/manual-clock.ts'
import { SeededRandom } from '../../../engine/actor/testkit.ts'
import { UsageMeter } from '../../../engine/usage/usage.ts'
import { DEFAULT_LIMITS } from '../../entities/tenant-limits.ts'
import { CalculationTime } from './bounds.ts'
import { fieldTools } from './tools.ts'

const clock = new ManualClock(1)
const parts = { meter: new UsageMeter(), clock, random: new SeededRandom(1), time: new CalculationTime(clock) }
const tools = fieldTools(parts, { tenantId: 'tenant', id: 'f' }, () => DEFAULT_LIMITS)

const window = (points: readonly (readonly [number, JsonValue])[], from = 0, until = 100): ArgumentValue => ({
  ...{ kind: 'rolling', from, until },
  points: points.map(([ts, value]) => ({ ts, value })),
})
const ARGS: Readonly<Record<string, ArgumentValue>> = {
  a: window([
    [10, 4],
    [20, '1.5'],
    [30, true],
    [40, 'cold'],
    [50, 3.5],
  ]),
  b: window(
    [
      [5, 7],
      [30, 8],
    ],
    -10,
    90,
  ),
  cold: window([[1, 'cold']]),
  below: window([
    [1, -5],
    [2, -3],
  ]),
  x: { kind: 'single', ts: 60, value: 2 },
}

function valueOf(expression: string): string {
  return stringifyJson(tools.compileWithArguments(`return ${expression};`, Object.keys(ARGS))(ARGS))
}

const RESULTS: readonly (readonly [expression: string, result: string])[] = [
  ['a.sum()', '10.0'],
  ['a.mean()', '2.5'],
  ['a.avg(true)', '2.5'],
  ['a.min()', '1.0'],
  ['a.max()', '4.0'],
  ['below.max()', '-3.0'],
  ['a.count()', '4'],
  ['a.count(false)', '5'],
  ['b.std()', '0.5'],
  ['a.median()', '2.5'],
  ['b.median()', '7.5'],
  ['a.first()', '4.0'],
  ['a.last()', '3.5'],
  ['cold.count()', '0'],
  ...['sum', 'mean', 'avg', 'min', 'max', 'std', 'median'].map((name) => [`a.${name}(false)`, '"NaN"'] as const),
  ['cold.last(false)', '"NaN"'],
  ['a.size', '5'],
  ['a.values.size()', '5'],
  ['a.getValues().get(1).value', '1.5'],
  ['a.values[0].ts', '10'],
  ['a.values[2].getTs()', '30'],
  ['a.timeWindow.endTs - a.timeWindow.startTs', '100'],
  ['ctx.args.a.max()', '4.0'],
  ['ctx.latestTs', '60'],
  ['ctx.args.x.ts + x', '62'],
  ['b', '{"timeWindow":{"startTs":-10,"endTs":90},"values":[{"ts":5,"value":7.0},{"ts":30,"value":8.0}]}'],
  ['a.merge(b).values.size()', '4'],
  [
    'a.merge(b)',
    '{"timeWindow":{"startTs":-10,"endTs":100},"values":[{"ts":10,"values":[4.0,7.0]},{"ts":20,"values":[1.5,7.0]},' +
      '{"ts":30,"values":[1.0,8.0]},{"ts":50,"values":[3.5,8.0]}]}',
  ],
  ['a.merge(b, {"ignoreNaN": false}).size', '6'],
  ['a.merge(b, {"ignoreNaN": false}).values[0].v1', '"NaN"'],
  ['a.merge(b, {"timeWindow": {"startTs": 20, "endTs": 30}}).values.size()', '1'],
  ['b.merge(a, {timeWindow: b.timeWindow}).values[0].v1', '7.0'],
  ['a.mergeAll([b, below]).values[3].v3', '-3.0'],
]

for (const [expression, result] of RESULTS)
  test(`of rolling arguments ${expression} is ${result.slice(0, 40)}`, () => assert.equal(valueOf(expression), result))

test('points of a window, and of several together, are gone through', () => {
  const script = (body: string) => tools.compileWithArguments(body, Object.keys(ARGS))(ARGS)
  const summed = 'var sum = 0; foreach (point : below) { sum += point.value; } return sum;'
  assert.equal(Number(script(summed)), -8)
  assert.equal(Number(script(summed.replace('below', 'below.values'))), -8)
  assert.equal(Number(script('var sum = 0; foreach (p : a.merge(b)) { sum += p.v1 * p.v2; } return sum;')), 74.5)
})

test('what a window has nothing for, fails', () => {
  for (const expression of ['cold.last()', 'cold.first()', 'cold.median()'])
    assert.throws(() => valueOf(expression), /Rolling argument values are empty/)
  assert.throws(() => valueOf('a.merge(b).values[0].v3'), /index 2/)
  assert.throws(() => valueOf('a.mean(1, 2)'), /mean/)
  assert.throws(() => valueOf('a.oldest'), /oldest/)
  assert.throws(() => valueOf('a.merge(x)'), /rolling argument/)
})

test('a script changes nothing that others see', () => {
  const args: Record<string, ArgumentValue> = { x: { kind: 'single', ts: 1, value: { list: [1] } } }
  const script = tools.compileWithArguments('ctx.args.x.value.list.add(2); x.list.add(3); return x.list;', ['x'])
  assert.equal(stringifyJson(script(args)), '[1,3]')
  assert.equal(stringifyJson(script(args)), '[1,3]')
})
