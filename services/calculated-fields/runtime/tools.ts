/** Scripts and limits as kinds of calculated fields have them. */
import type { FieldTools } from '../../../model/calculated-fields/kind.ts'
import { latestOf } from '../../../model/calculated-fields/latest-time.ts'
import type { Clock, Random } from '../../../model/clock.ts'
import { parseJson, type JsonValue } from '../../../model/json.ts'
import { compileTbel } from '../../../engine/script/tbel/tbel.ts'
import type { Value } from '../../../engine/script/tbel/values.ts'
import { USAGE, type UsageMeter } from '../../../engine/usage/usage.ts'
import { DEFAULT_LIMITS, type TenantLimits } from '../../entities/tenant-limits.ts'
import { UsageErrors } from '../../usage/errors.ts'
import type { CalculationTime } from './bounds.ts'
import { scriptArguments } from './script-arguments.ts'

export interface ToolsParts {
  readonly meter: UsageMeter
  readonly clock: Clock
  readonly random: Random
  readonly time: CalculationTime
}

/** As the reference has it. */
const NO_TIME = -1

/** Limits are those that were read last. */
export function fieldTools(
  { meter, clock, random, time }: ToolsParts,
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
  limitsOf: () => TenantLimits | undefined,
): FieldTools {
  const compile = (body: string, parameters: readonly string[]) => {
    const source = { language: 'TBEL', kind: 'json', body, tenantId, ownerId: id } as const
    const script = compileTbel(source, { clock, random }, parameters)
    return {
      call(values: readonly Value[]): JsonValue {
        time.check()
        // Looked up each time: a tenant that is forgotten and comes again has counts of its own.
        const usage = meter.of(tenantId)
        if (usage.isDisabled('TBEL')) throw UsageErrors.SCRIPTS({ language: 'TBEL' })
        usage.add(USAGE.tbelExecutions, 1)
        return parseJson(script.call(values))
      },
    }
  }
  return {
    compile,
    compileWithArguments: (expression, names) => {
      const script = compile(expression, ['ctx', ...names])
      return (args) => script.call(scriptArguments(names, args, latestOf(args) ?? NO_TIME))
    },
    limit: (name) => (limitsOf() ?? DEFAULT_LIMITS)[name],
  }
}
