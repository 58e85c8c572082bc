import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testMessage } from '../testkit.ts'
import { PERIMETER_DEFAULTS, insideCheck, parseCircle, parsePolygon, perimeterConfiguration } from './perimeter.ts'
import { distance, isInside } from '../../model/geo.ts'
import type { Position } from '../../model/geo.ts'

const at = (latitude: number, longitude: number): Position => ({ latitude, longitude })
const SQUARE = '[[10.0,10.0],[10.0,20.0],[20.0,20.0],[20.0,10.0]]'

function check(configuration: object, data: object, metadata: Readonly<Record<string, string>> = {}): boolean {
  const parsed = perimeterConfiguration.parse({ ...PERIMETER_DEFAULTS, ...configuration })
  return insideCheck(parsed)(testMessage({ data: JSON.stringify(data), metadata }))
}

test('the border of a polygon is outside, its corners too', () => {
  const square = parsePolygon(SQUARE)
  for (const [position, expected] of [
    [at(15, 15), true],
    [at(10.000001, 19.999999), true],
    [at(10, 10), false],
    [at(10, 15), false],
    [at(20, 20), false],
    [at(15, 20), false],
    [at(9.999999, 15), false],
    [at(25, 15), false],
    [at(15, 25), false],
  ] as const) {
    assert.equal(isInside(square, position), expected, JSON.stringify(position))
  }
})

test('a ring inside another is a hole, one beside it another area', () => {
  const [outer, hole, island] = ['[[0,0],[0,30],[30,30],[30,0]]', SQUARE, '[[50,50],[50,60],[60,60],[60,50],[50,50]]']
  const polygon = parsePolygon(`[${outer},${hole},${island}]`)
  assert.deepEqual(
    [at(5, 5), at(15, 15), at(10, 15), at(55, 55), at(40, 40)].map((position) => isInside(polygon, position)),
    [true, false, false, true, false],
  )
  assert.deepEqual(parsePolygon(`[[${outer},${hole}],[${island}]]`), polygon)
})

test('two points are a rectangle', () => {
  const rectangle = parsePolygon('[[10,10],[20,30]]')
  assert.deepEqual(
    [at(15, 29), at(15, 31), at(10, 15)].map((position) => isInside(rectangle, position)),
    [true, false, false],
  )
})

test('in a convex polygon lies what is on the same side of all edges', () => {
  fc.assert(
    fc.property(fc.double({ min: -2, max: 2, noNaN: true }), fc.double({ min: -2, max: 2, noNaN: true }), (x, y) => {
      const diamond = parsePolygon('[[1,0],[0,1],[-1,0],[0,-1]]')
      const size = Math.abs(x) + Math.abs(y)
      if (Math.abs(size - 1) > 1e-9) assert.equal(isInside(diamond, at(x, y)), size < 1)
    }),
  )
})

test('a circle is measured along the globe, its border is outside', () => {
  assert.ok(Math.abs(distance(at(0, 0), at(0, 1), 'KILOMETER') - 111.195) < 0.001)
  assert.equal(distance(at(50, 30), at(50, 30), 'METER'), 0)
  assert.ok(Math.abs(distance(at(0, 0), at(0, 180), 'MILE') - 12436.7) < 1)
  const center = at(50, 30)
  const reach = distance(at(50.01, 30), center, 'FOOT')
  for (const [radius, expected] of [
    [reach, false],
    [reach + 0.001, true],
  ] as const) {
    assert.equal(isInside({ type: 'CIRCLE', center, radius, unit: 'FOOT' }, at(50.01, 30)), expected)
  }
})

test('the position stands in the body or in the metadata, as number or text', () => {
  const polygon = { fetchPerimeterInfoFromMessageMetadata: false, polygonsDefinition: SQUARE }
  assert.equal(check(polygon, { latitude: '15', longitude: 15 }), true)
  assert.equal(check(polygon, {}, { latitude: '15', longitude: '15' }), true)
  assert.equal(check(polygon, { latitude: { a: 1 } }, { latitude: '15', longitude: '25' }), false)
  for (const [data, reason] of [
    [{ latitude: 15 }, /no longitude in data or metadata/],
    [{ latitude: 'x', longitude: 1 }, /'latitude' is not a number/],
    [{ latitude: true, longitude: 1 }, /'latitude' is not a number/],
    [{ latitude: '', longitude: 1 }, /'latitude' is not a number/],
    [[15, 15], /not a JSON object/],
  ] as const) {
    assert.throws(() => check(polygon, data), reason)
  }
})

test('the perimeter comes from the metadata under its key, or under the keys of old configurations', () => {
  const inside = { latitude: 15, longitude: 15 }
  assert.equal(check({}, inside, { ss_perimeter: SQUARE }), true)
  const circle = { perimeterType: 'CIRCLE' }
  assert.equal(check(circle, inside, { ss_perimeter: '{"latitude":15,"longitude":15,"radius":1}' }), true)
  const old = { perimeterKeyName: '' }
  assert.equal(check(old, inside, { perimeter: SQUARE }), true)
  const center = { centerLatitude: '15', centerLongitude: '15.1', range: '1', rangeUnit: 'KILOMETER' }
  assert.equal(check(old, inside, center), false)
  assert.equal(check(old, inside, { ...center, range: '20' }), true)
  for (const [configuration, metadata] of [
    [{}, {}],
    [old, {}],
    [{ fetchPerimeterInfoFromMessageMetadata: false }, {}],
    [{ ...circle, fetchPerimeterInfoFromMessageMetadata: false, centerLatitude: 1 }, {}],
  ] as const) {
    assert.throws(() => check(configuration, inside, metadata), /Missing perimeter/)
  }
})

test('without a type the metadata of old configurations do, and what needs one fails', () => {
  const inside = { latitude: 15, longitude: 15 }
  const untyped = { perimeterType: null }
  assert.equal(check({ ...untyped, perimeterKeyName: '' }, inside, { perimeter: SQUARE }), true)
  assert.throws(() => check(untyped, inside, { ss_perimeter: SQUARE }), /Unsupported perimeter type/)
  const fixed = { ...untyped, fetchPerimeterInfoFromMessageMetadata: false, polygonsDefinition: SQUARE }
  assert.throws(() => check(fixed, inside), /Unsupported perimeter type/)
})

test('malformed perimeters are refused', () => {
  for (const text of ['[]', '{}', '[[1,2]]', '[[1,"a"],[2,3]]', '[[1],[2,3]]', '5', 'no JSON']) {
    assert.throws(() => parsePolygon(text), text)
  }
  for (const text of ['{"latitude":50}', '[]', '{"latitude":1,"longitude":1,"radius":1,"radiusUnit":"YARD"}']) {
    assert.throws(() => parseCircle(text), text)
  }
})
