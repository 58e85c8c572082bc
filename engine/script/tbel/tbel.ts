/**
 * The expression language as scripts of rule nodes: parsed and compiled to guarded closures, run inline. Source:
 * `rule-engine.md` section 6; what is supported and what differs: `docs/internals/expression-language.md`.
 */
import { ScriptErrors } from '../errors.ts'
import { errorText } from '../../../model/errors.ts'
import { compileProgram, type CompiledProgram } from './compile.ts'
import { conversions } from './results.ts'
import { Fault } from './fault.ts'
import { routeOf, syntaxError } from './source.ts'
import { standardLibrary } from './standard-library.ts'
import { DEFAULT_TBEL_LIMITS, type TbelLimits } from './budget.ts'
import { mutableCopy, type Value } from './values.ts'
import type { Clock, Random } from '../../../model/clock.ts'
import type { JsonValue } from '../../../model/json.ts'
import type { Message } from '../../../model/message.ts'
import type { CompiledScript, ScriptBatchResult, ScriptKind, ScriptResults, ScriptSource } from '../script.ts'

export { DEFAULT_TBEL_LIMITS, type TbelLimits }

export interface TbelContext {
  readonly clock: Clock
  readonly random: Random
  readonly limits?: TbelLimits
}

const PARAMETERS = ['msg', 'metadata', 'msgType']

/**
 * Throws `SCRIPT_SYNTAX` with line and column; `SCRIPT_BODY` where it is blank or too long. Other parameters than those of rule nodes: for
 * {@link InlineScript.call}.
 */
export function compileTbel<Kind extends ScriptKind>(
  source: ScriptSource<Kind>,
  context: TbelContext,
  parameters: readonly string[] = PARAMETERS,
): InlineScript<Kind> {
  const limits = context.limits ?? DEFAULT_TBEL_LIMITS
  if (source.body.trim() === '') throw ScriptErrors.SCRIPT_BODY({ reason: 'blank' })
  if (source.body.length > limits.bodySize) {
    throw ScriptErrors.SCRIPT_BODY({ reason: `longer than ${limits.bodySize} characters` })
  }
  try {
    const library = standardLibrary(context.clock, context.random)
    const program = compileProgram(source.body, parameters, library, limits, context.clock)
    return new InlineScript(source, program, limits, context.clock)
  } catch (error) {
    if (error instanceof RangeError) throw syntaxError(source.body, 0, 'script is nested too deeply')
    throw error
  }
}

/** One compiled script; runs one message at a time, on the caller's thread. */
export class InlineScript<Kind extends ScriptKind> implements CompiledScript<Kind> {
  private readonly kind: Kind
  private readonly body: string
  private readonly program: CompiledProgram
  private readonly limits: TbelLimits
  private readonly clock: Clock
  private readonly readsMetadata: boolean
  /** Limit violations in a row, and the time of the last one: at the maximum the script rests. */
  private violations = 0
  private lastViolation = 0

  constructor(source: ScriptSource<Kind>, program: CompiledProgram, limits: TbelLimits, clock: Clock) {
    this.kind = source.kind
    this.body = source.body
    this.program = program
    this.limits = limits
    this.clock = clock
    this.readsMetadata = source.body.includes('metadata')
  }

  /** Throws a ScriptError; the message itself is never changed. */
  readonly run = (message: Message): ScriptResults[Kind] => {
    if (this.violations > 0) this.checkBlocked()
    this.checkArguments(message)
    const json = dataOf(message)
    try {
      const { program } = this
      const value = program.writes
        ? program.run([mutableCopy(json), mutableCopy(message.metadata), message.type])
        : program.run([json, message.metadata, message.type])
      return conversions[this.kind](value, this.limits.resultSize)
    } catch (error) {
      throw this.scriptError(error)
    }
  }

  /** With values of its parameters, in their order. Throws a ScriptError; the values are never changed. */
  call(values: readonly Value[]): ScriptResults[Kind] {
    if (this.violations > 0) this.checkBlocked()
    try {
      const { program } = this
      const given = program.writes ? values.map(mutableCopy) : [...values]
      return conversions[this.kind](program.run(given), this.limits.resultSize)
    } catch (error) {
      throw this.scriptError(error)
    }
  }

  runBatch(messages: readonly Message[], result: ScriptBatchResult<Kind>): void {
    for (const [index, message] of messages.entries()) {
      let value: ScriptResults[Kind]
      try {
        value = this.run(message)
      } catch (error) {
        result.error(index, error instanceof Error ? error : new Error(errorText(error)))
        continue
      }
      result.value(index, value)
    }
  }

  close(): void {
    // Holds nothing but memory.
  }

  private checkArguments(message: Message): void {
    let size = message.data.length
    if (this.readsMetadata)
      for (const key in message.metadata) size += key.length + (message.metadata[key]?.length ?? 0)
    const limit = this.limits.argumentsSize
    if (size > limit) throw this.violation(ScriptErrors.SCRIPT_ARGUMENTS_TOO_LARGE({ size, limit }))
  }

  private scriptError(error: unknown): Error {
    if (error instanceof RangeError) return this.runtimeError('calls or values are nested too deeply')
    if (!(error instanceof Fault)) {
      if (error instanceof Error && 'code' in error && error.code === 'script.SCRIPT_RESULT_TOO_LARGE')
        return this.violation(error)
      return error instanceof Error ? error : new Error(errorText(error))
    }
    const place = routeOf(this.body, this.program.budget.at)
    switch (error.kind) {
      case 'time':
        return this.violation(ScriptErrors.SCRIPT_TIMEOUT({ ...place, limit: this.limits.timeoutMs }))
      case 'work':
        return this.violation(ScriptErrors.SCRIPT_WORK_LIMIT({ ...place, limit: this.limits.steps }))
      case 'memory':
        return this.violation(ScriptErrors.SCRIPT_MEMORY_LIMIT({ ...place, limit: this.limits.memoryBytes }))
      case 'runtime':
        return this.runtimeError(error.message)
    }
  }

  private runtimeError(reason: string): Error {
    return ScriptErrors.SCRIPT_RUNTIME({ ...routeOf(this.body, this.program.budget.at), reason })
  }

  private violation(error: Error): Error {
    this.violations++
    this.lastViolation = this.clock.monotonic()
    return error
  }

  private checkBlocked(): void {
    if (this.clock.monotonic() - this.lastViolation >= this.limits.blockMs) this.violations = 0
    if (this.violations >= this.limits.maxErrors) throw ScriptErrors.SCRIPT_BLOCKED({ limit: this.limits.maxErrors })
  }
}

/** The message's data; throws `SCRIPT_DATA` where it is no JSON. */
function dataOf(message: Message): JsonValue & Value {
  try {
    return message.json()
  } catch (error) {
    throw ScriptErrors.SCRIPT_DATA({ reason: errorText(error) }, error)
  }
}
