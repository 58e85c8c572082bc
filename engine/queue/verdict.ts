/** What becomes of a message whose try has ended (`rule-engine.md` 5.4; `docs/internals/queues.md` says where ours differs). */
import type { ProcessingStrategyType } from '../../model/entities.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { QueueSettings } from './settings.ts'

/**
 * settle: it succeeded · skip: it failed and the queue ignores that · bury: it becomes a dead letter · retry: its next try comes after a
 * pause · repeat: it succeeded, and is run again with its pack · wait: tried again without a try being counted.
 */
export type Verdict = 'settle' | 'skip' | 'bury' | 'retry' | 'repeat' | 'wait'

/** Whether the message is done with. */
export const IS_OVER: Record<Verdict, boolean> = {
  settle: true,
  skip: true,
  bury: true,
  retry: false,
  repeat: false,
  wait: false,
}

/** How a try ended. */
export interface Outcome {
  readonly attempt: number
  readonly error: Error | undefined
  readonly isTimedOut: boolean
}

const RETRIED: Record<ProcessingStrategyType, { readonly failed: boolean; readonly timedOut: boolean } | undefined> = {
  SKIP_ALL_FAILURES: undefined,
  SKIP_ALL_FAILURES_AND_TIMED_OUT: undefined,
  RETRY_ALL: { failed: true, timedOut: true },
  RETRY_FAILED: { failed: true, timedOut: false },
  RETRY_TIMED_OUT: { failed: false, timedOut: true },
  RETRY_FAILED_AND_TIMED_OUT: { failed: true, timedOut: true },
}

/** The verdict on one message that does not depend on its pack. */
export function verdictOf({ attempt, error, isTimedOut }: Outcome, settings: QueueSettings): Verdict {
  if (error === undefined) return 'settle'
  // It keeps its tries, however long that lasts: senders are slowed, and nothing is lost or becomes a dead letter.
  if (isOutage(error)) return 'wait'
  const retried = RETRIED[settings.processing]
  if (retried === undefined) return 'skip'
  if (isHopeless(error) || attempt > settings.retries) return 'bury'
  return (isTimedOut || isTimeout(error) ? retried.timedOut : retried.failed) ? 'retry' : 'bury'
}

/** Whether a verdict needs the whole pack. */
export function judgesPacks({ processing, failurePercentage }: QueueSettings): boolean {
  return processing === 'RETRY_ALL' || (failurePercentage > 0 && RETRIED[processing] !== undefined)
}

/** The verdicts on a pack whose works have all ended, in its order. */
export function verdictsOf(pack: readonly Outcome[], settings: QueueSettings): Verdict[] {
  const givesUp = failsTooOften(pack, settings)
  const verdicts = pack.map((outcome): Verdict => {
    const verdict = verdictOf(outcome, settings)
    return verdict === 'retry' && givesUp && outcome.attempt === 1 ? 'bury' : verdict
  })
  if (settings.processing !== 'RETRY_ALL' || !verdicts.includes('retry')) return verdicts
  return verdicts.map((verdict, index) => {
    const mayRepeat = verdict === 'settle' && (pack[index]?.attempt ?? 0) <= settings.retries
    return mayRepeat ? 'repeat' : verdict
  })
}

/** Whether a timed-out message goes on behind its settlement (`rule-engine.md` 5.4, "late results"). */
export function runsOnAfterTimeout(processing: ProcessingStrategyType): boolean {
  return processing === 'SKIP_ALL_FAILURES'
}

/** Only first tries are counted: what fails of a pack's later tries is never more than what failed of its first. */
function failsTooOften(pack: readonly Outcome[], { failurePercentage }: QueueSettings): boolean {
  if (failurePercentage === 0) return false
  const firsts = pack.filter(({ attempt }) => attempt === 1)
  const failed = firsts.filter(({ error }) => error !== undefined && !isOutage(error))
  return failed.length * 100 > failurePercentage * firsts.length
}

/**
 * What lies in the message itself and would fail the same way again: it is buried at once and does not hold up its originator.
 * What is `terminal` here may be a chain that somebody repairs, or a stop: that is tried again.
 */
function isHopeless(error: Error): boolean {
  return isMillraceError(error) && (error.kind === 'invalid' || error.kind === 'denied')
}

/** A node gave no outcome in its time. */
function isTimeout(error: Error): boolean {
  return isMillraceError(error) && error.isTimeout
}

/** What the message met is away or full, whatever the message. */
function isOutage(error: Error): boolean {
  return isMillraceError(error) && error.isOutage
}

/** It is the tenant's own limit that is reached: an outage for its messages, and for nobody else's. */
export function isOwnLimit(error: Error | undefined): boolean {
  return isMillraceError(error) && error.isOwnLimit
}
