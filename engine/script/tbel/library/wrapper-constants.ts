/** Constants of the platform's classes of numbers and characters. Source: `rule-engine.md` 6.4. */
import { double, type Value } from '../values.ts'
import { single } from './floating.ts'

const sizes = (bits: number): readonly (readonly [string, Value])[] => [
  ['SIZE', bits],
  ['BYTES', bits / 8],
]
const FLOATING: readonly (readonly [string, Value])[] = [
  ['NaN', NaN],
  ['POSITIVE_INFINITY', Infinity],
  ['NEGATIVE_INFINITY', -Infinity],
]

export const wrapperConstants: readonly (readonly [string, ReadonlyMap<string, Value>])[] = [
  ['Integer', new Map<string, Value>([['MAX_VALUE', 2147483647], ['MIN_VALUE', -2147483648], ...sizes(32)])],
  [
    'Long',
    new Map<string, Value>([['MAX_VALUE', 9223372036854775807n], ['MIN_VALUE', -9223372036854775808n], ...sizes(64)]),
  ],
  ['Short', new Map<string, Value>([['MAX_VALUE', 32767], ['MIN_VALUE', -32768], ...sizes(16)])],
  ['Byte', new Map<string, Value>([['MAX_VALUE', 127], ['MIN_VALUE', -128], ...sizes(8)])],
  ['Character', new Map<string, Value>([['MAX_VALUE', '\uffff'], ['MIN_VALUE', '\0'], ...sizes(16)])],
  [
    'Double',
    new Map<string, Value>([
      ...FLOATING,
      ['MAX_VALUE', double(Number.MAX_VALUE)],
      ['MIN_VALUE', Number.MIN_VALUE],
      ['MIN_NORMAL', 2 ** -1022],
      ['MAX_EXPONENT', 1023],
      ['MIN_EXPONENT', -1022],
      ...sizes(64),
    ]),
  ],
  [
    'Float',
    new Map<string, Value>([
      ...FLOATING,
      ['MAX_VALUE', double(single(3.4028234663852886e38))],
      ['MIN_VALUE', single(2 ** -149)],
      ['MIN_NORMAL', single(2 ** -126)],
      ['MAX_EXPONENT', 127],
      ['MIN_EXPONENT', -126],
      ...sizes(32),
    ]),
  ],
  [
    'Boolean',
    new Map<string, Value>([
      ['TRUE', true],
      ['FALSE', false],
    ]),
  ],
]
