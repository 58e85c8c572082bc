/** Runs the script of a calculated field or an alarm rule once, with values that a user gives, under the limits of all scripts. */
import { z } from 'zod'
import { whole } from '../../model/calculated-fields/arguments.ts'
import type { Clock, Random } from '../../model/clock.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { compileTbel } from '../../engine/script/tbel/tbel.ts'
import { CalculatedFieldErrors } from './errors.ts'

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
    return { output: script.call([contextOf(test), ...Object.values(test.arguments).map(variableOf)]), error: '' }
  } catch (error) {
    if (!isMillraceError(error)) throw error
    return { output: '', error: errorText(error) }
  }
}

/** What the script sees under the name: a value, or the points of a window. */
function variableOf(argument: TestArgument): JsonValue {
  if (argument.type === 'SINGLE_VALUE') return argument.value
  const { timeWindow, values } = argument
  return { ...(timeWindow === undefined ? {} : { timeWindow }), values: values.map(({ ts, value }) => ({ ts, value })) }
}

function contextOf({ arguments: given }: ScriptTest): JsonObject {
  const times = Object.values(given).flatMap((argument) =>
    argument.type === 'SINGLE_VALUE' ? [argument.ts ?? 0] : argument.values.map(({ ts }) => ts),
  )
  const args = Object.entries(given).map(([name, argument]) => [
    name,
    argument.type === 'SINGLE_VALUE' ? { ts: argument.ts ?? 0, value: argument.value } : variableOf(argument),
  ])
  return { latestTs: Math.max(0, ...times), args: Object.fromEntries(args) as JsonObject }
}
