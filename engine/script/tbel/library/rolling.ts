/** Windows of a time series as scripts of calculated fields have them: points with their times, what they come to, and several side by side. Source: `rule-engine.md` 8.2. */
import { Fault } from '../fault.ts'
import { mapGet, mapHas } from '../maps.ts'
import {
  PlatformObject,
  double,
  isMap,
  numberOf,
  rankOf,
  textOf,
  typeName,
  type Payments,
  type Value,
} from '../values.ts'
import { PlatformArray } from './platform-array.ts'
import { argument, booleanArgument, listArgument } from './signature.ts'

export interface Point {
  /** Unix ms. */
  readonly ts: number
  /** NaN where it is no number. */
  readonly value: number
}

const EMPTY = 'Rolling argument values are empty.'
const POINT_BYTES = 32

export class TimeWindow extends PlatformObject {
  readonly typeName = 'time window'
  readonly startTs: number
  /** Exclusive. */
  readonly endTs: number

  constructor(startTs: number, endTs: number) {
    super()
    this.startTs = startTs
    this.endTs = endTs
  }

  members() {
    return [['startTs', this.startTs] as const, ['endTs', this.endTs] as const]
  }

  matches(ts: number): boolean {
    return ts >= this.startTs && ts < this.endTs
  }

  override call(name: string, values: readonly Value[], budget: Payments): Value | undefined {
    if (name === 'matches' && values.length === 1) return this.matches(timeOf(argument(values, 0)))
    return super.call(name, values, budget)
  }
}

class RollingPoint extends PlatformObject {
  readonly typeName = 'point'
  private readonly point: Point

  constructor(point: Point) {
    super()
    this.point = point
  }

  members() {
    return [['ts', this.point.ts] as const, ['value', double(this.point.value)] as const]
  }
}

/** What several series had at one time. */
class MergedPoint extends PlatformObject {
  readonly typeName = 'merged point'
  private readonly ts: number
  private readonly values: readonly number[]

  constructor(ts: number, values: readonly number[]) {
    super()
    this.ts = ts
    this.values = values
  }

  members() {
    return [['ts', this.ts] as const, ['values', PlatformArray.ofValues(this.values.map(double))] as const]
  }

  /** `v1` to `v5`. */
  override property(name: string): Value | undefined {
    if (!/^v[1-5]$/.test(name)) return super.property(name)
    const index = Number(name.charAt(1)) - 1
    const value = this.values[index]
    if (value === undefined)
      throw new Fault(`Can't get value at index ${index}. There are ${this.values.length} values present.`)
    return double(value)
  }
}

abstract class Windowed extends PlatformObject {
  readonly timeWindow: TimeWindow
  private readonly list: Value[]

  constructor(timeWindow: TimeWindow, list: Value[]) {
    super()
    this.timeWindow = timeWindow
    this.list = list
  }

  members() {
    return [['timeWindow', this.timeWindow] as const, ['values', this.list] as const]
  }

  override items(): readonly Value[] {
    return this.list
  }

  override property(name: string): Value | undefined {
    if (name === 'size') return this.list.length
    return name === 'value' ? this.list : super.property(name)
  }
}

class MergedRolling extends Windowed {
  readonly typeName = 'merged window'
}

export class Rolling extends Windowed {
  readonly typeName = 'window'
  /** Oldest first. */
  readonly points: readonly Point[]

  constructor(timeWindow: TimeWindow, points: readonly Point[]) {
    super(
      timeWindow,
      points.map((point) => new RollingPoint(point)),
    )
    this.points = points
  }

  override call(name: string, values: readonly Value[], budget: Payments): Value | undefined {
    const figure = FIGURES.get(name)
    if (figure !== undefined && values.length <= 1) {
      budget.spend(this.points.length)
      return figure(this.points, booleanArgument(values, 0, true))
    }
    const settings = argument(values, 1)
    if (name === 'merge' && (values.length === 1 || values.length === 2))
      return merged([this, rollingOf(argument(values, 0))], settings, budget)
    if (name === 'mergeAll' && (values.length === 1 || values.length === 2))
      return merged([this, ...listArgument(values, 0).map(rollingOf)], settings, budget)
    return super.call(name, values, budget)
  }
}

type Figure = (points: readonly Point[], ignoresNaN: boolean) => Value

/** NaN comes of points that are no numbers, unless they are ignored. */
function figureOf(of: (numbers: readonly number[]) => number): Figure {
  return (points, ignoresNaN) => {
    if (points.length === 0) throw new Fault(EMPTY)
    const numbers = points.map(({ value }) => value)
    const counted = numbers.filter((number) => !Number.isNaN(number))
    return !ignoresNaN && counted.length < numbers.length ? NaN : double(of(counted))
  }
}

function endOf(of: (numbers: readonly number[]) => number | undefined): Figure {
  return (points, ignoresNaN) => {
    const numbers = points.map(({ value }) => value)
    const found = of(ignoresNaN ? numbers.filter((number) => !Number.isNaN(number)) : numbers)
    if (found === undefined) throw new Fault(EMPTY)
    return double(found)
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)
const meanOf = (numbers: readonly number[]): number => sumOf(numbers) / numbers.length
/** Of nothing but what is no number: NaN. */
const extremeOf = (pick: (one: number, other: number) => number) => (numbers: readonly number[]) =>
  numbers.length === 0 ? NaN : numbers.reduce(pick)

function deviationOf(numbers: readonly number[]): number {
  const mean = meanOf(numbers)
  return Math.sqrt(sumOf(numbers.map((number) => (number - mean) ** 2)) / numbers.length)
}

function medianOf(numbers: readonly number[]): number {
  if (numbers.length === 0) throw new Fault(EMPTY)
  const sorted = numbers.toSorted((one, other) => one - other)
  const upper = sorted[sorted.length >> 1] ?? NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[(sorted.length >> 1) - 1] ?? NaN) + upper) / 2
}

const FIGURES: ReadonlyMap<string, Figure> = new Map([
  ['max', figureOf(extremeOf((one, other) => Math.max(one, other)))],
  ['min', figureOf(extremeOf((one, other) => Math.min(one, other)))],
  ['avg', figureOf(meanOf)],
  ['mean', figureOf(meanOf)],
  ['std', figureOf(deviationOf)],
  ['median', figureOf(medianOf)],
  ['sum', figureOf(sumOf)],
  ['first', endOf((numbers) => numbers[0])],
  ['last', endOf((numbers) => numbers.at(-1))],
  [
    'count',
    (points, ignoresNaN) => (ignoresNaN ? points.filter(({ value }) => !Number.isNaN(value)).length : points.length),
  ],
])

/** At each time of any of them the newest value of each; those of before the settings' window are the newest there too. */
function merged(all: readonly Rolling[], settings: Value, budget: Payments): MergedRolling {
  const { ignoresNaN, timeWindow } = settingsOf(settings)
  const count = all.reduce((sum, { points }) => sum + points.length, 0)
  budget.spend(count * (all.length + 8))
  budget.allocate(count * (POINT_BYTES + 8 * all.length))
  const times = [...new Set(all.flatMap(({ points }) => points.map(({ ts }) => ts)))].toSorted((a, b) => a - b)
  const places = all.map(() => 0)
  const newest = all.map(() => NaN)
  const points: Value[] = []
  for (const ts of times) {
    all.forEach((rolling, index) => {
      for (let point = rolling.points[places[index] ?? 0]; point !== undefined && point.ts <= ts;) {
        newest[index] = point.value
        places[index] = (places[index] ?? 0) + 1
        point = rolling.points[places[index] ?? 0]
      }
    })
    if (timeWindow?.matches(ts) === false || (ignoresNaN && newest.some(Number.isNaN))) continue
    points.push(new MergedPoint(ts, [...newest]))
  }
  return new MergedRolling(timeWindow ?? around(all), points)
}

function around(all: readonly Rolling[]): TimeWindow {
  const [starts, ends] = [
    all.map(({ timeWindow }) => timeWindow.startTs),
    all.map(({ timeWindow }) => timeWindow.endTs),
  ]
  return new TimeWindow(Math.min(...starts), Math.max(...ends))
}

function settingsOf(settings: Value): { readonly ignoresNaN: boolean; readonly timeWindow: TimeWindow | undefined } {
  if (settings === null) return { ignoresNaN: true, timeWindow: undefined }
  if (!isMap(settings)) throw new Fault(`settings must be a map, not ${typeName(settings)}`)
  return {
    ignoresNaN: !mapHas(settings, 'ignoreNaN') || textOf(mapGet(settings, 'ignoreNaN')).toLowerCase() === 'true',
    timeWindow: mapHas(settings, 'timeWindow') ? windowOf(mapGet(settings, 'timeWindow')) : undefined,
  }
}

function windowOf(value: Value): TimeWindow {
  if (value instanceof TimeWindow) return value
  if (!isMap(value)) throw new Fault(`timeWindow must have startTs and endTs, not be a ${typeName(value)}`)
  return new TimeWindow(timeOf(mapGet(value, 'startTs')), timeOf(mapGet(value, 'endTs')))
}

function timeOf(value: Value): number {
  const time = rankOf(value) === 0 ? Number(typeof value === 'string' ? value : NaN) : numberOf(value)
  if (!Number.isSafeInteger(time)) throw new Fault(`${typeName(value)} is no time in milliseconds`)
  return time
}

function rollingOf(value: Value): Rolling {
  if (value instanceof Rolling) return value
  throw new Fault(`a rolling argument is expected, not a ${typeName(value)}`)
}
