/** Runs the script of a calculated field or an alarm rule once, with values that a user gives, under the limits of all scripts. */
import { z } from 'zod'
import { whole } from '../../model/calculated-fields/arguments.ts'
import type { ArgumentValue } from '../../model/calculated-fields/kind.ts'
import { latestOf } from '../../model/calculated-fields/latest-time.ts'
import type { Clock, Random } from '../../model/clock.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { JsonValue } from '../../model/json.ts'
import { compileTbel } from '../../engine/script/tbel/tbel.ts'
import { CalculatedFieldErrors } from './errors.ts'
import { scriptArguments } from './runtime/script-arguments.ts'

const anyValue = z.custom<JsonValue>((value) => value !== undefined)
const point = z.object({ ts: whole, value: anyValue })

export const scriptTest = z.object({
  expression: z.string(),
  arguments: z.record(
    z.string(),
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('SINGLE_VALUE'), ts: whole.optional(), value: anyValue }),
      z.object({
        type: z.literal('TS_ROLLING'),
        timeWindow: z.object({ startTs: whole, endTs: whole }).optional(),
        values: z.array(point),
      }),
    ]),
  ),
})
export type ScriptTest = z.infer<typeof scriptTest>
type TestArgument = ScriptTest['arguments'][string]

const VARIABLE = /^[\p{L}_$][\p{L}\p{N}_$]*$/u

/** `output` is JSON text, `error` what the script failed for; one of them is ''. */
export function testScript(
  test: ScriptTest,
  tenantId: string,
  context: { readonly clock: Clock; readonly random: Random },
): { readonly output: string; readonly error: string } {
  const names = Object.keys(test.arguments)
  for (const name of names) {
    if (name === 'ctx') throw CalculatedFieldErrors.ARGUMENT_RESERVED({ name })
    if (!VARIABLE.test(name)) throw CalculatedFieldErrors.ARGUMENT_NAME({ name })
  }
  try {
    const source = { language: 'TBEL', kind: 'log', body: test.expression, tenantId, ownerId: 'script test' } as const
    const script = compileTbel(source, context, ['ctx', ...names])
    const args = Object.entries(test.arguments).map(
      ([name, argument]) => [name, argumentOf(argument, context.clock.now())] as const,
    )
    const values = Object.fromEntries(args)
    return { output: script.call(scriptArguments(names, values, latestOf(values) ?? 0)), error: '' }
  } catch (error) {
    if (!isMillraceError(error)) throw error
    return { output: '', error: errorText(error) }
  }
}

function argumentOf(argument: TestArgument, now: number): ArgumentValue {
  if (argument.type === 'SINGLE_VALUE') return { kind: 'single', ts: argument.ts ?? 0, value: argument.value }
  const { startTs = 0, endTs = now } = argument.timeWindow ?? {}
  const points = argument.values.toSorted((one, other) => one.ts - other.ts)
  return { kind: 'rolling', points, from: startTs, until: endTs }
}
