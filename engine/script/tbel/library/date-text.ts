/** Dates as texts: in a language, a zone and a style or pattern. Source: `rule-engine.md` 6.5 "Date". */
import { parseJson } from '../../../../model/json.ts'
import { isMillraceError } from '../../../../model/errors.ts'
import { Fault } from '../fault.ts'
import { isMap, mutableCopy, textOf, type Value } from '../values.ts'
import { mapGet } from '../maps.ts'
import type { Budget } from '../budget.ts'
import type { DateValue } from './date-value.ts'
import { DEFAULT_LOCALE, NEUTRAL, localeOf, neutralPattern, styledText, type Style } from './date-names.ts'
import { patternText } from './date-pattern.ts'
import { UTC, findZone, type Zone } from './zones.ts'
import { argument, method, textArgument, type Method } from './signature.ts'

/** What writing a date counts for. */
const WRITE_STEPS = 300
const STYLES: readonly Style[] = ['full', 'long', 'medium', 'short']
const GMT: Zone = { ...UTC, id: 'GMT' }

interface Options {
  readonly zone: Zone
  readonly pattern: string
  readonly dateStyle: Style
  readonly timeStyle: Style
}

/** The name of a zone, or JSON with `timeZone`, `dateStyle`, `timeStyle`, `pattern`. An unknown zone is GMT. */
function optionsOf(text: string): Options {
  const parsed = jsonOptions(text)
  const read = (key: string): string => {
    const value = parsed === undefined ? null : mapGet(parsed, key)
    return value === null ? '' : textOf(value)
  }
  const zone = parsed === undefined ? text : read('timeZone')
  const style = (key: string, missing: Style): Style =>
    STYLES.find((known) => known === read(key).toLowerCase()) ?? missing
  return {
    zone: zone === '' ? UTC : (findZone(zone) ?? GMT),
    pattern: read('pattern'),
    dateStyle: style('dateStyle', 'short'),
    timeStyle: style('timeStyle', 'medium'),
  }
}

function jsonOptions(text: string) {
  if (text.length > 1000) throw new Fault('the options of a date are too long')
  try {
    const value = mutableCopy(parseJson(text))
    return isMap(value) ? value : undefined
  } catch (error) {
    if (isMillraceError(error)) return undefined
    throw error
  }
}

type StyleOf = (options: Options) => readonly [date: Style | undefined, time: Style | undefined]

/** `([locale[, options]])`: `plain` is the style without options. */
function writer(missingLocale: string, plain: StyleOf, withOptions: StyleOf = plain): Method<DateValue> {
  return method<DateValue>(0, 2, (value, values, budget) => {
    const given = argument(values, 0)
    const locale =
      values.length === 0 || given === null || given === '' ? missingLocale : localeOf(textArgument(values, 0))
    const options = optionsOf(argument(values, 1) === null ? '' : textArgument(values, 1))
    return written(value, locale, options, values.length > 1 ? withOptions : plain, budget)
  })
}

function written(value: DateValue, locale: string, options: Options, styleOf: StyleOf, budget: Budget): Value {
  budget.spend(WRITE_STEPS)
  const { pattern, zone } = options
  if (pattern !== '') return counted(patternText(pattern, value, zone, locale), budget)
  const [date, clock] = styleOf(options)
  const text =
    locale === NEUTRAL
      ? patternText(neutralPattern(date, clock), value, zone, locale)
      : styledText(locale, value.time, zone, date, clock)
  return counted(text, budget)
}

function counted(text: string, budget: Budget): string {
  budget.allocate(2 * text.length)
  return text
}

/** Always in UTC. */
const utcString = method<DateValue>(0, 1, (value, values, budget) => {
  const locale = values.length === 0 ? NEUTRAL : localeOf(textArgument(values, 0))
  return written(value, locale, optionsOf(''), () => ['full', 'medium'], budget)
})

const isoText = method<DateValue>(0, 0, (value) => value.toIsoText(), 'string')

export const dateTexts: readonly (readonly [string, Method<DateValue>])[] = [
  ['toISOString', isoText],
  ['toJSON', isoText],
  ['toUTCString', utcString],
  ['toString', writer(DEFAULT_LOCALE, () => ['full', 'full'])],
  ['toDateString', writer(NEUTRAL, () => ['full', undefined])],
  ['toTimeString', writer(DEFAULT_LOCALE, () => [undefined, 'full'])],
  ['toLocaleString', writer(NEUTRAL, ({ dateStyle, timeStyle }) => [dateStyle, timeStyle])],
  [
    'toLocaleDateString',
    writer(
      NEUTRAL,
      () => ['full', undefined],
      ({ dateStyle }) => [dateStyle, undefined],
    ),
  ],
  ['toLocaleTimeString', writer(DEFAULT_LOCALE, ({ timeStyle }) => [undefined, timeStyle])],
]
