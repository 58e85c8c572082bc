/** Outcomes of messages, from the sandbox's text to what the rule node is told. */
import { ScriptErrors } from '../errors.ts'
import type { ScriptKind, ScriptResults, TransformedMessage } from '../script.ts'
import type { GuestError } from './protocol.ts'

/** Limits that the texts of errors name. */
export interface OutcomeLimits {
  readonly timeoutMs: number
  readonly memoryLimitMb: number
  readonly resultLimit: number
}

/** The outcomes of an answer. Throws where the text is no array: the sandbox never sends that by itself. */
export function parseOutcomes(text: string): readonly unknown[] {
  const outcomes: unknown = JSON.parse(text)
  if (!Array.isArray(outcomes)) throw new TypeError('sandbox answered with something else than a list of outcomes')
  return outcomes as readonly unknown[]
}

/** What is wrong with an outcome; undefined where nothing is. */
export function failureOf(outcome: unknown): GuestError['error'] | undefined {
  return isGuestError(outcome) ? outcome.error : undefined
}

/** Errors by which a script uses up its patience: see {@link Breaker}. */
export function isStrike(failure: GuestError['error']): boolean {
  return failure === 'timeout' || failure === 'memory' || failure === 'result-size'
}

/** The value of one outcome; throws it where it is an error, and a TypeError where it is not of the script's kind. */
export function outcomeValue<Kind extends ScriptKind>(
  kind: Kind,
  outcome: unknown,
  limits: OutcomeLimits,
): ScriptResults[Kind]
export function outcomeValue(kind: ScriptKind, outcome: unknown, limits: OutcomeLimits): ScriptResults[ScriptKind] {
  if (isGuestError(outcome)) throw scriptError(outcome, limits)
  if (kind === 'filter' && typeof outcome === 'boolean') return outcome
  if ((kind === 'log' || kind === 'json') && typeof outcome === 'string') return outcome
  if (kind === 'switch' && isTexts(outcome)) return outcome
  if (kind === 'transform' && Array.isArray(outcome)) return outcome.map(transformedMessage)
  if (kind === 'generate' && Array.isArray(outcome)) return transformedMessage(outcome)
  throw new TypeError(`sandbox answered a ${kind} script with ${typeof outcome}`)
}

function scriptError(error: GuestError, limits: OutcomeLimits): Error {
  switch (error.error) {
    case 'runtime':
      return ScriptErrors.SCRIPT_RUNTIME({ line: error.line, column: error.column, reason: error.reason })
    case 'data':
      return ScriptErrors.SCRIPT_DATA({ reason: error.reason })
    case 'result-type':
      return ScriptErrors.SCRIPT_RESULT_TYPE({ actual: error.actual, expected: error.expected })
    case 'result-size':
      return ScriptErrors.SCRIPT_RESULT_TOO_LARGE({ size: error.size, limit: limits.resultLimit })
    case 'timeout':
      return ScriptErrors.SCRIPT_TIMEOUT({ limit: limits.timeoutMs, line: error.line, column: error.column })
    case 'memory':
      return ScriptErrors.SCRIPT_MEMORY_LIMIT({ limit: limits.memoryLimitMb * 1024 * 1024 })
  }
}

function isGuestError(outcome: unknown): outcome is GuestError {
  return typeof outcome === 'object' && outcome !== null && 'error' in outcome
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function transformedMessage(item: unknown): TransformedMessage {
  const [data, metadata, type] = item as readonly [string | null, Record<string, string> | null, string | null]
  return {
    ...(data === null ? {} : { data }),
    ...(metadata === null ? {} : { metadata }),
    ...(type === null ? {} : { type }),
  }
}
