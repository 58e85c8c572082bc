/** Scripts and limits as kinds of calculated fields have them. */
import type { FieldScript, FieldTools } from '../../../model/calculated-fields/kind.ts'
import type { Clock, Random } from '../../../model/clock.ts'
import { parseJson } from '../../../model/json.ts'
import { compileTbel } from '../../../engine/script/tbel/tbel.ts'
import { DEFAULT_LIMITS, type TenantLimits } from '../../entities/tenant-limits.ts'
import { scriptArguments } from './script-arguments.ts'

export interface ToolsParts {
  readonly clock: Clock
  readonly random: Random
}

/** Limits are those that were read last. */
export function fieldTools(
  { clock, random }: ToolsParts,
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
  limitsOf: () => TenantLimits | undefined,
): FieldTools {
  const compile = (body: string, parameters: readonly string[]): FieldScript => {
    const source = { language: 'TBEL', kind: 'json', body, tenantId, ownerId: id } as const
    const script = compileTbel(source, { clock, random }, parameters)
    return {
      call: (values) => parseJson(script.call(values)),
    }
  }
  return {
    compile,
    compileWithArguments: (expression, names) => {
      const script = compile(expression, ['ctx', ...names])
      return (args) => script.call(scriptArguments(names, args))
    },
    limit: (name) => (limitsOf() ?? DEFAULT_LIMITS)[name],
  }
}
