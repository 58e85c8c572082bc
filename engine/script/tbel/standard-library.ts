/** The names of rule-node scripts. Source: `rule-engine.md` 6.5. */
import { libraryFunction, textArgument, argument, doubleArgument, type Functions } from './library/signature.ts'
import { mathConstants, mathFunctions } from './library/math.ts'
import { dateFunctions, newDate } from './library/date.ts'
import { parseFunctions } from './library/parse.ts'
import { wrapperConstants } from './library/wrapper-constants.ts'
import { wrapperFunctions } from './library/wrappers.ts'
import { bytesFunctions } from './library/bytes.ts'
import { geoFunctions } from './library/geo.ts'
import { hexFunctions } from './library/hex.ts'
import { objectFunctions, jsonFunctions } from './library/object.ts'
import { mapEntries } from './maps.ts'
import { Fault } from './fault.ts'
import { isMap, textOf, type Value } from './values.ts'
import type { Clock, Random } from '../../../model/clock.ts'
import type { Library } from './library/library.ts'

export function standardLibrary(clock: Clock, random: Random): Library {
  return {
    functions: new Map([
      ...parseFunctions,
      ...hexFunctions,
      ...bytesFunctions,
      ...geoFunctions,
      ...objectFunctions,
      ...errorFunctions,
    ]),
    statics: new Map<string, Functions>([
      ['Math', mathFunctions(() => random.next())],
      ['Date', dateFunctions(clock)],
      ['JSON', jsonFunctions],
      ...wrapperFunctions,
    ]),
    constants: new Map([['Math', mathConstants], ...wrapperConstants]),
    constructors: new Map([
      ['java.util.ArrayList', libraryFunction(0, 1, (values) => newList(argument(values, 0)), 'list')],
      ['java.util.HashMap', libraryFunction(0, 1, (values) => newMap(argument(values, 0)), 'map')],
      ['java.util.LinkedHashMap', libraryFunction(0, 1, (values) => newMap(argument(values, 0)), 'map')],
      ['Date', libraryFunction(0, 8, (values, budget) => newDate(clock, values, budget))],
    ]),
  }
}

/** A number is a capacity, which means nothing here. */
function newList(from: Value): Value {
  return Array.isArray(from) ? [...from] : []
}

function newMap(from: Value): Value {
  return new Map(isMap(from) ? mapEntries(from) : [])
}

const errorFunctions: Functions = new Map([
  ['raiseError', libraryFunction(1, 1, (values) => raise(textArgument(values, 0)))],
  ['isNaN', libraryFunction(1, 1, (values) => Number.isNaN(doubleArgument(values, 0)))],
])

const MAX_MESSAGE = 1000

function raise(message: string): never {
  throw new Fault(textOf(message).slice(0, MAX_MESSAGE))
}
