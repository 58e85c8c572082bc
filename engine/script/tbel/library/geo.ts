/** Places on the map. Source: `rule-engine.md` 6.5 "geo". */
import { Fault } from '../fault.ts'
import { RANGE_UNITS, isInside, type Point } from '../../../../model/geo.ts'
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

/** `(latitude, longitude, '[[lat,lon],…]')`; lists of points may be nested, a ring inside another is a hole. */
function isInsidePolygon(values: readonly Value[], budget: Budget): boolean {
  const rings = ringsOf(jsonValue(textArgument(values, 2), budget))
  budget.spend(rings.reduce((points, ring) => points + ring.length, 0) >> 2)
  if (rings.length === 0) throw new Fault('the perimeter has no points')
  return isInside({ type: 'POLYGON', rings }, positionOf(values))
}

function ringsOf(value: Value): readonly (readonly Point[])[] {
  if (!Array.isArray(value)) throw new Fault('the perimeter is no list of points')
  const isRing = value.length > 0 && value.every((item) => Array.isArray(item) && !item.some(Array.isArray))
  return isRing ? [ringOf(value.map(pointOf))] : value.flatMap(ringsOf)
}

function pointOf(value: Value): Point {
  const [latitude = null, longitude = null] = Array.isArray(value) ? value : []
  return [coordinate(latitude), coordinate(longitude)]
}

/** Two points are the corners of a rectangle. */
function ringOf(points: readonly Point[]): readonly Point[] {
  const [first, second] = points
  if (first === undefined || second === undefined) throw new Fault('a perimeter needs two points at least')
  return points.length > 2 ? points : [first, [first[0], second[1]], second, [second[0], first[1]]]
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
