/** Methods of texts. Source: `rule-engine.md` 6.4, 6.5; they are those of the platform the reference runs on. */
import { Fault } from '../fault.ts'
import { signOf } from '../comparison.ts'
import { textOf, type Value } from '../values.ts'
import { search, matchesWhole, type Captures } from './regex.ts'
import type { Budget } from '../budget.ts'
import { argument, intArgument, method, textArgument, type Method, type Methods } from './signature.ts'

/** Counts a new text. */
function made(text: string, budget: Budget): string {
  budget.allocate(2 * text.length)
  return text
}

function scanned(text: string, budget: Budget): string {
  budget.spend(text.length >> 4)
  return text
}

/** Counts the search for a part: at worst every place of the text is compared with all of it. */
function searched(text: string, part: string, budget: Budget): string {
  const places = Math.max(0, text.length - part.length + 1)
  budget.spend(Math.floor((places * part.length) / 1024))
  return scanned(text, budget)
}

function substring(text: string, values: readonly Value[]): string {
  const from = intArgument(values, 0)
  const to = intArgument(values, 1, text.length)
  if (from < 0 || to > text.length || from > to)
    throw new Fault(`no text from ${from} to ${to} in ${text.length} characters`)
  return text.slice(from, to)
}

function charAt(text: string, index: number): string {
  if (index < 0 || index >= text.length)
    throw new Fault(`index ${index} is out of bounds for ${text.length} characters`)
  return text.charAt(index)
}

function repeat(text: string, count: number, budget: Budget): string {
  if (count < 0) throw new Fault('count is negative')
  budget.allocate(2 * text.length * count)
  return text.repeat(count)
}

/** A character given as its number or as text. */
function needle(value: Value): string {
  return typeof value === 'number'
    ? String.fromCodePoint(Math.min(0x10ffff, Math.max(0, Math.trunc(value))))
    : textOf(value)
}

function replace(text: string, values: readonly Value[], budget: Budget): string {
  const old = textArgument(values, 0)
  const fresh = textArgument(values, 1)
  // Before it is done: every character may be one occurrence, or none but the empty one.
  const most = old === '' ? text.length + 1 : searched(text, old, budget).split(old).length - 1
  budget.allocate(2 * (text.length + most * fresh.length))
  return text.replaceAll(old, () => fresh)
}

function replacePattern(text: string, values: readonly Value[], budget: Budget, all: boolean): string {
  const pattern = textArgument(values, 0)
  const replacement = textArgument(values, 1)
  let result = ''
  let from = 0
  let at = 0
  while (at <= text.length) {
    const found = search(pattern, text, at, budget)
    if (found === undefined) break
    const [start = 0, end = 0] = found
    budget.allocate(2 * (start - from + replacement.length))
    result += text.slice(from, start) + expand(replacement, text, found, budget)
    from = end
    at = end === start ? end + 1 : end
    if (!all) break
  }
  return result + text.slice(from)
}

/** `$1` and `\` in a replacement. Each group is counted before it goes in: together they may be far longer than the text. */
function expand(replacement: string, text: string, captures: Captures, budget: Budget): string {
  return replacement.replace(
    /\\(.)|\$(\d)|[\\$]/g,
    (_whole: string, escaped: string | undefined, group: string | undefined) => {
      if (escaped !== undefined) return escaped
      const start = captures[2 * Number(group)]
      if (group === undefined || start === undefined)
        throw new Fault(`replacement '${replacement.slice(0, 100)}' names no group`)
      if (start < 0) return ''
      const found = text.slice(start, captures[2 * Number(group) + 1])
      budget.allocate(2 * found.length)
      return found
    },
  )
}

/** Splits at a pattern; without a limit, empty texts at the end go. */
function split(text: string, values: readonly Value[], budget: Budget): Value[] {
  const pattern = textArgument(values, 0)
  const limit = intArgument(values, 1, 0)
  const parts: string[] = []
  let from = 0
  for (let at = 0; at <= text.length && (limit <= 0 || parts.length < limit - 1);) {
    const found = search(pattern, text, at, budget)
    if (found === undefined) break
    const [start = 0, end = 0] = found
    at = end === start ? end + 1 : end
    if (end === 0 || (start === end && start >= text.length)) continue
    parts.push(made(text.slice(from, start), budget))
    from = end
  }
  if (parts.length === 0 && from === 0) return [text]
  parts.push(made(text.slice(from), budget))
  while (limit === 0 && parts.at(-1) === '') parts.pop()
  return parts
}

/** The platform's white space: no-break spaces are none, separators of files and records are. */
const WHITE_SPACE = /[\t-\r\u001c-\u0020\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]/

function isWhiteSpace(code: number): boolean {
  return code <= 32
    ? (code >= 9 && code <= 13) || code >= 28
    : code >= 0x1680 && WHITE_SPACE.test(String.fromCharCode(code))
}

/** What `trim` takes away, which is older than Unicode. */
function isBlankOrControl(code: number): boolean {
  return code <= 32
}

/** Without what is blank at the ends, or at one of them. */
function stripped(at: 'both' | 'start' | 'end', isBlank = isWhiteSpace): Method<string>['run'] {
  return (text, _values, budget) => {
    scanned(text, budget)
    let start = 0
    let end = text.length
    if (at !== 'end') while (start < end && isBlank(text.charCodeAt(start))) start++
    if (at !== 'start') while (end > start && isBlank(text.charCodeAt(end - 1))) end--
    return made(text.slice(start, end), budget)
  }
}

function hashOf(text: string): number {
  let hash = 0
  for (let index = 0; index < text.length; index++) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  return hash
}

/** Order as the platform gives it: the difference of the first unequal characters, or of the lengths. */
function compare(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const difference = left.charCodeAt(index) - right.charCodeAt(index)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

const inspecting: Methods<string> = new Map([
  ['length', method<string>(0, 0, (text) => text.length, 'platformInt')],
  ['isEmpty', method<string>(0, 0, (text) => text === '')],
  ['isBlank', method<string>(0, 0, (text, values, budget) => stripped('start')(text, values, budget) === '')],
  ['charAt', method<string>(1, 1, (text, values) => charAt(text, intArgument(values, 0)))],
  [
    'codePointAt',
    method<string>(
      1,
      1,
      (text, values) => charAt(text, intArgument(values, 0)) && (text.codePointAt(intArgument(values, 0)) ?? 0),
      'platformInt',
    ),
  ],
  ['indexOf', method<string>(1, 2, (text, values, budget) => indexOf(text, values, budget), 'platformInt')],
  ['lastIndexOf', method<string>(1, 2, (text, values, budget) => lastIndexOf(text, values, budget), 'platformInt')],
  ['contains', method<string>(1, 1, (text, values, budget) => contains(text, textArgument(values, 0), budget))],
  [
    'startsWith',
    method<string>(1, 2, (text, values) => text.startsWith(textArgument(values, 0), intArgument(values, 1, 0))),
  ],
  ['endsWith', method<string>(1, 1, (text, values) => text.endsWith(textArgument(values, 0)))],
  ['equals', method<string>(1, 1, (text, values) => text === argument(values, 0))],
  [
    'equalsIgnoreCase',
    method<string>(1, 1, (text, values, budget) => equalsIgnoreCase(scanned(text, budget), argument(values, 0))),
  ],
  [
    'compareTo',
    method<string>(
      1,
      1,
      (text, values, budget) => compare(scanned(text, budget), textArgument(values, 0)),
      'platformInt',
    ),
  ],
  [
    'compareToIgnoreCase',
    method<string>(
      1,
      1,
      (text, values, budget) => compare(scanned(text, budget).toLowerCase(), textArgument(values, 0).toLowerCase()),
      'platformInt',
    ),
  ],
  ['matches', method<string>(1, 1, (text, values, budget) => matchesWhole(textArgument(values, 0), text, budget))],
  ['hashCode', method<string>(0, 0, (text, _values, budget) => hashOf(scanned(text, budget)), 'platformInt')],
])

const making: Methods<string> = new Map([
  ['substring', method<string>(1, 2, (text, values, budget) => made(substring(text, values), budget), 'string')],
  ['trim', method<string>(0, 0, stripped('both', isBlankOrControl), 'string')],
  ['strip', method<string>(0, 0, stripped('both'), 'string')],
  ['stripLeading', method<string>(0, 0, stripped('start'), 'string')],
  ['stripTrailing', method<string>(0, 0, stripped('end'), 'string')],
  ['toUpperCase', method<string>(0, 0, (text, _values, budget) => made(text.toUpperCase(), budget), 'string')],
  ['toLowerCase', method<string>(0, 0, (text, _values, budget) => made(text.toLowerCase(), budget), 'string')],
  ['concat', method<string>(1, 1, (text, values, budget) => made(text + textArgument(values, 0), budget), 'string')],
  ['repeat', method<string>(1, 1, (text, values, budget) => repeat(text, intArgument(values, 0), budget), 'string')],
  ['replace', method<string>(2, 2, replace, 'string')],
  ['replaceAll', method<string>(2, 2, (text, values, budget) => replacePattern(text, values, budget, true), 'string')],
  [
    'replaceFirst',
    method<string>(2, 2, (text, values, budget) => replacePattern(text, values, budget, false), 'string'),
  ],
  ['split', method<string>(1, 2, split)],
  ['toString', method<string>(0, 0, (text) => text, 'string')],
])

export const stringMethods: Methods<string> = new Map([...inspecting, ...making])

function contains(text: string, part: string, budget: Budget): boolean {
  return searched(text, part, budget).includes(part)
}

function indexOf(text: string, values: readonly Value[], budget: Budget): number {
  const part = needle(argument(values, 0))
  return searched(text, part, budget).indexOf(part, intArgument(values, 1, 0))
}

function lastIndexOf(text: string, values: readonly Value[], budget: Budget): number {
  const from = intArgument(values, 1, text.length)
  if (from < 0) return -1
  const part = needle(argument(values, 0))
  return searched(text, part, budget).lastIndexOf(part, from)
}

function equalsIgnoreCase(text: string, other: Value): boolean {
  return typeof other === 'string' && signOf(text.toLowerCase(), other.toLowerCase()) === 0
}
