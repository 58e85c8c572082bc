/** Scripts of rule nodes in both languages, behind one interface. Source: `rule-engine.md` section 6. */
import type { Message } from '../../model/message.ts'

/** Characters of all arguments of one call, in either language. Source: `rule-engine.md` 6.3. */
export const LONGEST_ARGUMENTS = 100_000

export type ScriptLanguage = 'TBEL' | 'JS'

/** What the script must return: boolean · relations · messages · one message · text · any value. */
export type ScriptKind = 'filter' | 'switch' | 'transform' | 'generate' | 'log' | 'json'

/** One message as a transformation left it: a missing member keeps the original. */
export interface TransformedMessage {
  /** JSON text. */
  readonly data?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly type?: string
}

export interface ScriptResults {
  filter: boolean
  switch: readonly string[]
  transform: readonly TransformedMessage[]
  generate: TransformedMessage
  log: string
  /** JSON text. */
  json: string
}

/** Receives each message's outcome; `index` is its place in the batch. */
export interface ScriptBatchResult<Kind extends ScriptKind> {
  value(index: number, value: ScriptResults[Kind]): void
  /** A {@link ScriptError} with line and column where they are known. */
  error(index: number, error: Error): void
}

export interface CompiledScript<Kind extends ScriptKind> {
  /** There in languages that run inline (TBEL): no promise, no batch. Throws a ScriptError. */
  readonly run?: (message: Message) => ScriptResults[Kind]
  /** Runs a batch; every index is reported exactly once before the promise resolves. */
  runBatch(messages: readonly Message[], result: ScriptBatchResult<Kind>): void | Promise<void>
  close(): void
}

export interface ScriptSource<Kind extends ScriptKind> {
  readonly language: ScriptLanguage
  readonly kind: Kind
  /** The function's body; arguments are `msg`, `metadata`, `msgType`. */
  readonly body: string
  /** Whose budget it runs on. */
  readonly tenantId: string
  /** The rule node's id; for figures, and what its breaker goes by. */
  readonly ownerId: string
  /** For figures. */
  readonly ownerName?: string
  /** Rule chains of a tenant take turns; scripts of no chain have theirs together. */
  readonly ruleChainId?: string
  /** For figures. */
  readonly ruleChainName?: string
}

export interface ScriptHost {
  /** Throws `SCRIPT_SYNTAX` with line and column; blank bodies and bodies over the size limit are refused too. */
  compile<Kind extends ScriptKind>(source: ScriptSource<Kind>): CompiledScript<Kind> | Promise<CompiledScript<Kind>>
}
