/** Runs a script in our engine and writes its result in the notation of the real one's runner. */
import { compileProgram } from '../../../engine/script/tbel/compile.ts'
import { standardLibrary } from '../../../engine/script/tbel/standard-library.ts'
import { DEFAULT_TBEL_LIMITS } from '../../../engine/script/tbel/budget.ts'
import { Fault } from '../../../engine/script/tbel/fault.ts'
import { mutableCopy } from '../../../engine/script/tbel/values.ts'
import { handClock } from '../../../engine/script/javascript/testkit.ts'
import { isMillraceError } from '../../../model/errors.ts'
import type { JsonObject } from '../../../model/json.ts'
import { typedText } from './typed-text.ts'

const clock = handClock()
const library = standardLibrary(clock, { next: () => 0.5, uuid: () => '' })

/** `V…` with the typed value, `E…` with the error's text. Anything but a script's own error is thrown. */
export function runOurs(script: string, msg: JsonObject, metadata: JsonObject): string {
  try {
    const program = compileProgram(script, ['msg', 'metadata', 'msgType'], library, DEFAULT_TBEL_LIMITS, clock)
    const values = program.writes ? [mutableCopy(msg), mutableCopy(metadata)] : [msg, metadata]
    return `V${typedText(program.run([...values, 'POST_TELEMETRY_REQUEST']))}`
  } catch (error) {
    if (error instanceof Fault || isMillraceError(error)) return `E${error.message}`
    throw error
  }
}
