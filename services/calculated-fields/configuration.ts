/** Configurations of calculated fields as users send them: what is refused of them, and how it is said. */
import type { JsonObject } from '../../model/json.ts'
import { argumentsOfRules, zonesOfRules } from '../../model/calculated-fields/alarm-rules.ts'
import { isZone } from '../../model/calendar.ts'
import { argumentsOf, configuration, type Configuration } from '../../model/calculated-fields/configuration.ts'
import { CalculatedFieldErrors } from './errors.ts'

/** With every default. Throws `INVALID` with the member's path, and what else is refused of names and sources of arguments. */
export function configurationOf(sent: JsonObject): Configuration {
  const read = configuration.safeParse(sent)
  if (!read.success) {
    const [issue] = read.error.issues
    const member = issue === undefined || issue.path.length === 0 ? 'configuration' : issue.path.join('.')
    throw CalculatedFieldErrors.INVALID({ member, reason: issue?.message ?? 'is not valid' })
  }
  checkArguments(read.data)
  return read.data
}

/** Types that calculate with the latest values alone. */
const WITHOUT_WINDOWS = new Set<Configuration['type']>([
  'SIMPLE',
  'ALARM',
  'PROPAGATION',
  'RELATED_ENTITIES_AGGREGATION',
])
const RESERVED = new Set(['ctx'])
const VARIABLE = /^[\p{L}_$][\p{L}\p{N}_$]*$/u

function checkArguments(read: Configuration): void {
  const { type } = read
  const named = argumentsOf(read)
  for (const [name, { refEntityKey }] of Object.entries(named)) {
    if (RESERVED.has(name)) throw CalculatedFieldErrors.ARGUMENT_RESERVED({ name })
    if (!VARIABLE.test(name)) throw CalculatedFieldErrors.ARGUMENT_NAME({ name })
    const kind = refEntityKey.type
    if (kind === 'TS_ROLLING' && WITHOUT_WINDOWS.has(type)) throw CalculatedFieldErrors.ROLLING({ type })
    if (kind !== 'TS_LATEST' && type === 'ENTITY_AGGREGATION') throw CalculatedFieldErrors.LATEST_ONLY({ type })
  }
  if (type !== 'ALARM') return
  for (const { member, name } of argumentsOfRules(read))
    if (!Object.hasOwn(named, name)) throw CalculatedFieldErrors.ARGUMENT_UNKNOWN({ member, name })
  // Not in the schema: what was stored before goes on and says why it does not run.
  for (const { member, name } of zonesOfRules(read))
    if (!isZone(name)) throw CalculatedFieldErrors.INVALID({ member, reason: `is no time zone: '${name}'` })
}
