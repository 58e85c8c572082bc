/** `Character`: a character is a text of length one here, or its number (`rule-engine.md` 6.4). */
import { Fault } from '../fault.ts'
import { isInt, type Value } from '../values.ts'
import { argument, intArgument, libraryFunction, type Functions, type LibraryFunction } from './signature.ts'

/** Throws where it is neither one character nor the number of one. */
function characterOf(values: readonly Value[], index = 0): string {
  const value = argument(values, index)
  if (typeof value === 'string' && value.length === 1) return value
  if (isInt(value) && value >= 0 && value <= 0x10ffff) return String.fromCodePoint(value)
  throw new Fault('argument must be a character')
}

function matching(pattern: RegExp): LibraryFunction {
  return libraryFunction(1, 1, (values) => pattern.test(characterOf(values)))
}

/** Of a number the number of the other character. */
function changed(change: (character: string) => string): LibraryFunction {
  return libraryFunction(1, 1, (values) => {
    const character = characterOf(values)
    const other = change(character)
    // One that would become two stays.
    const result = other.length === character.length ? other : character
    return typeof argument(values, 0) === 'string' ? result : (result.codePointAt(0) ?? 0)
  })
}

/** -1 where it is no digit of that radix, or there is no such radix. */
function digit(character: string, radix: number): number {
  if (radix < 2 || radix > 36) return -1
  const value = /^[0-9a-z]$/i.test(character) ? Number.parseInt(character, 36) : -1
  return value < radix ? value : -1
}

const asText = libraryFunction(1, 1, (values) => characterOf(values), 'string')

export const characterFunctions: Functions = new Map([
  ['isDigit', matching(/^\p{Nd}$/u)],
  ['isLetter', matching(/^\p{L}$/u)],
  ['isAlphabetic', matching(/^\p{Alphabetic}$/u)],
  ['isLetterOrDigit', matching(/^[\p{L}\p{Nd}]$/u)],
  ['isUpperCase', matching(/^\p{Uppercase}$/u)],
  ['isLowerCase', matching(/^\p{Lowercase}$/u)],
  ['isWhitespace', matching(/^(?![\u00a0\u2007\u202f])[\p{Z}\t-\r\u001c-\u001f]$/u)],
  ['isSpaceChar', matching(/^\p{Z}$/u)],
  ['toUpperCase', changed((character) => character.toUpperCase())],
  ['toLowerCase', changed((character) => character.toLowerCase())],
  ['toString', asText],
  ['valueOf', asText],
  ['getNumericValue', libraryFunction(1, 1, (values) => digit(characterOf(values), 36), 'platformInt')],
  ['digit', libraryFunction(2, 2, (values) => digit(characterOf(values), intArgument(values, 1)), 'platformInt')],
  [
    'forDigit',
    libraryFunction(2, 2, (values) => {
      const [value, radix] = [intArgument(values, 0), intArgument(values, 1)]
      return radix < 2 || radix > 36 || value < 0 || value >= radix ? '\0' : value.toString(radix)
    }),
  ],
  [
    'compare',
    libraryFunction(
      2,
      2,
      (values) => (characterOf(values).codePointAt(0) ?? 0) - (characterOf(values, 1).codePointAt(0) ?? 0),
      'platformInt',
    ),
  ],
])
