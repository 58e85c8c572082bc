/**
 * What the engine, the pool's threads and the sandbox processes say to each other. Batches and results cross as one text
 * each: nothing is cloned member by member.
 */
import type { ScriptKind } from '../script.ts'

/** What every request must carry so that any sandbox process can serve it: none knows a script beforehand. */
export interface ScriptIdentity {
  readonly scriptId: number
  readonly tenantId: string
  readonly kind: ScriptKind
  readonly body: string
}

export type SandboxRequest =
  | ({ readonly type: 'compile' } & ScriptIdentity)
  /** `batch` is made by `batchText`; `count` messages are in it. */
  | ({ readonly type: 'run'; readonly batch: string; readonly count: number } & ScriptIdentity)

export interface SourceFault {
  readonly line: number
  readonly column: number
  readonly reason: string
}

export type SandboxAnswer =
  | { readonly type: 'compiled' }
  | { readonly type: 'refused'; readonly fault: SourceFault }
  /**
   * `outcomes` is JSON text: an array with the outcomes of the first messages of the batch. Fewer than were asked for: the
   * rest is asked again; none at all: the batch broke its isolate, the messages are asked again one by one.
   */
  | { readonly type: 'ran'; readonly outcomes: string; readonly count: number }
  /** The sandbox process died under the request. */
  | { readonly type: 'died'; readonly reason: string }

export interface TimedAnswer {
  readonly answer: SandboxAnswer
  /** From request to answer in the sandbox, ms. */
  readonly runMs: number
  /** Processor time it used for that, ms: less on a machine with too much to do. */
  readonly usedMs: number
}

/** `trying`: the process has started, or begins a further try of the request it has. */
export type SandboxNews = TimedAnswer | 'trying'

export function isTrying(news: SandboxNews): news is 'trying' {
  return news === 'trying'
}

/** How one message failed; every other outcome is a value of the script's kind. */
export type GuestError =
  | { readonly error: 'runtime'; readonly reason: string; readonly line: number; readonly column: number }
  | { readonly error: 'data'; readonly reason: string }
  | { readonly error: 'result-type'; readonly actual: string; readonly expected: string }
  | { readonly error: 'result-size'; readonly size: number }
  | { readonly error: 'timeout'; readonly line: number; readonly column: number }
  | { readonly error: 'memory' }

/** Limits that hold inside the sandbox. */
export interface SandboxLimits {
  /** Heap of one tenant's isolate, MiB. */
  readonly memoryLimitMb: number
  /** Time of one call, which carries a batch, and of each message that is tried alone; ms. */
  readonly timeoutMs: number
  /** Characters of one message's result. */
  readonly resultLimit: number
  /** Isolates kept in one sandbox process; the one unused longest goes first. */
  readonly isolates: number
  /** Compiled scripts kept in one isolate. */
  readonly scripts: number
}
