/** Configurations of calculated fields as users send them: what is refused of them, and how it is said. */
import type { JsonObject } from '../../model/json.ts'
import { argumentsOfRules, zonesOfRules } from '../../model/calculated-fields/alarm-rules.ts'
import { isZone } from '../../model/calendar.ts'
import { argumentsOf, configuration, type Configuration } from '../../model/calculated-fields/configuration.ts'
import { parseSent } from '../entities/parse-sent.ts'
import { CalculatedFieldErrors } from './errors.ts'

/** With every default. Throws `INVALID` with the member's path, and what else is refused of names and sources of arguments. */
export function configurationOf(sent: JsonObject): Configuration {
  const read = parseSent(configuration, sent)
  if (!read.success) {
    const [issue] = read.error.issues
    const member = issue === undefined || issue.path.length === 0 ? 'configuration' : issue.path.join('.')
    throw CalculatedFieldErrors.INVALID({ member, reason: issue?.message ?? 'is not valid' })
  }
  checkArguments(read.data)
  return read.data
}

/** Types that calculate with the latest values alone. */
const WITHOUT_WINDOWS = new Set<Configuration['type']>(['SIMPLE', 'ALARM', 'RELATED_ENTITIES_AGGREGATION'])
/** A window is no value that could be written elsewhere; an expression may read one. */
function isWithoutScript(read: Configuration): boolean {
  return read.type === 'PROPAGATION' && !read.applyExpressionToResolvedArguments
}

const RESERVED = new Set(['ctx'])
const VARIABLE = /^[\p{L}_$][\p{L}\p{N}_$]*$/u

function checkArguments(read: Configuration): void {
  const { type } = read
  const named = argumentsOf(read)
  for (const [name, { refEntityKey }] of Object.entries(named)) {
    if (RESERVED.has(name)) throw CalculatedFieldErrors.ARGUMENT_RESERVED({ name })
    if (!VARIABLE.test(name)) throw CalculatedFieldErrors.ARGUMENT_NAME({ name })
    const kind = refEntityKey.type
    if (kind === 'TS_ROLLING' && (WITHOUT_WINDOWS.has(type) || isWithoutScript(read)))
      throw CalculatedFieldErrors.ROLLING({ type })
    if (kind !== 'TS_LATEST' && type === 'ENTITY_AGGREGATION') throw CalculatedFieldErrors.LATEST_ONLY({ type })
  }
  checkKind(read)
  if (type !== 'ALARM') return
  for (const { member, name } of argumentsOfRules(read))
    if (!Object.hasOwn(named, name)) throw CalculatedFieldErrors.ARGUMENT_UNKNOWN({ member, name })
  // Not in the schema: what was stored before goes on and says why it does not run.
  for (const { member, name } of zonesOfRules(read))
    if (!isZone(name)) throw CalculatedFieldErrors.INVALID({ member, reason: `is no time zone: '${name}'` })
}

/** What one kind alone asks for; not in the schema, so that what was stored before goes on. */
function checkKind(read: Configuration): void {
  const refused = (member: string, reason: string): Error => CalculatedFieldErrors.INVALID({ member, reason })
  switch (read.type) {
    case 'PROPAGATION':
      if (Object.hasOwn(read.arguments, OWN_OF_PROPAGATION))
        throw CalculatedFieldErrors.ARGUMENT_RESERVED({ name: OWN_OF_PROPAGATION })
      if (read.applyExpressionToResolvedArguments && (read.expression ?? '').trim() === '')
        throw refused('expression', 'must not be empty')
      return
    case 'GEOFENCING':
      for (const name of Object.keys(read.zoneGroups))
        if (COORDINATES.has(name)) throw refused(`zoneGroups.${name}`, 'has the name of a coordinate')
      return
    case 'ENTITY_AGGREGATION': {
      const { tz, offsetSec = 0 } = read.interval
      if (!isZone(tz)) throw refused('interval.tz', `is no time zone: '${tz}'`)
      const seconds = longestSeconds(read.interval)
      if (offsetSec === null || offsetSec < 0 || offsetSec >= seconds)
        throw refused('interval.offsetSec', `must be from 0 to less than ${seconds}`)
      checkMetrics(read)
      return
    }
    case 'RELATED_ENTITIES_AGGREGATION':
      checkMetrics(read)
      return
    case 'SIMPLE':
    case 'SCRIPT':
    case 'ALARM':
      return
  }
}

const OWN_OF_PROPAGATION = 'propagationCtx'
const COORDINATES = new Set(['latitude', 'longitude'])
const DAY_SECONDS = 86_400
const LONGEST_SECONDS = {
  ...{ HOUR: 3_600, DAY: DAY_SECONDS, WEEK: 7 * DAY_SECONDS, WEEK_SUN_SAT: 7 * DAY_SECONDS },
  ...{ MONTH: 31 * DAY_SECONDS, QUARTER: 92 * DAY_SECONDS, YEAR: 366 * DAY_SECONDS },
} as const

type Aggregation = Extract<Configuration, { readonly metrics: unknown }>
type Interval = Extract<Configuration, { readonly type: 'ENTITY_AGGREGATION' }>['interval']

function longestSeconds({ type, durationSec }: Interval): number {
  return type === 'CUSTOM' ? (durationSec ?? 0) : LONGEST_SECONDS[type]
}

function checkMetrics({ metrics, arguments: named }: Aggregation): void {
  for (const [metric, { input }] of Object.entries(metrics))
    if (input.type === 'key' && !Object.hasOwn(named, input.key))
      throw CalculatedFieldErrors.ARGUMENT_UNKNOWN({ member: `metrics.${metric}.input.key`, name: input.key })
}
