/** Places on the map. Source: `rule-engine.md` 6.5 "geo". */
import { Fault } from '../fault.ts'
import { RANGE_UNITS, isInside, ringsIn, type RingReader } from '../../../../model/geo.ts'
import { isMap, isNumber, numberOf, type Value } from '../values.ts'
import { mapGet } from '../maps.ts'
import type { Budget } from '../budget.ts'
import { doubleArgument, libraryFunction, textArgument, type Functions } from './signature.ts'
import { jsonValue } from './object.ts'

function positionOf(values: readonly Value[]): { latitude: number; longitude: number } {
  return { latitude: doubleArgument(values, 0), longitude: doubleArgument(values, 1) }
}

function coordinate(value: Value): number {
  const number = isNumber(value)
    ? numberOf(value)
    : typeof value === 'string' && value.trim() !== ''
      ? Number(value)
      : NaN
  if (!Number.isFinite(number)) throw new Fault('a coordinate is no number')
  return number
}

const RINGS: RingReader<Value> = {
  items: (value) => (Array.isArray(value) ? value : undefined),
  coordinate: (value = null) => coordinate(value),
  refuse: (reason) => new Fault(reason),
}

/** `(latitude, longitude, '[[lat,lon],…]')`; lists of points may be nested, a ring inside another is a hole. */
function isInsidePolygon(values: readonly Value[], budget: Budget): boolean {
  const rings = ringsIn(jsonValue(textArgument(values, 2), budget), RINGS)
  budget.spend(rings.reduce((points, ring) => points + ring.length, 0) >> 2)
  if (rings.length === 0) throw new Fault('the perimeter has no points')
  return isInside({ type: 'POLYGON', rings }, positionOf(values))
}

/** `(latitude, longitude, '{"latitude","longitude","radius","radiusUnit"}')` */
function isInsideCircle(values: readonly Value[], budget: Budget): boolean {
  const circle = jsonValue(textArgument(values, 2), budget)
  if (!isMap(circle)) throw new Fault('the perimeter is no circle')
  const named = mapGet(circle, 'radiusUnit')
  const unit = named === null ? 'METER' : RANGE_UNITS.find((known) => known === named)
  if (unit === undefined) throw new Fault(`unit must be one of ${RANGE_UNITS.join(', ')}`)
  const read = (key: string): number => coordinate(mapGet(circle, key))
  const center = { latitude: read('latitude'), longitude: read('longitude') }
  return isInside({ type: 'CIRCLE', center, radius: read('radius'), unit }, positionOf(values))
}

export const geoFunctions: Functions = new Map([
  ['isInsidePolygon', libraryFunction(3, 3, isInsidePolygon)],
  ['isInsideCircle', libraryFunction(3, 3, isInsideCircle)],
])
