/** Both script languages behind one door: the source says which. Source: `rule-engine.md` section 6. */
import { DEFAULT_TBEL_LIMITS, compileTbel, type TbelLimits } from './tbel/tbel.ts'
import type { Clock, Random } from '../../model/clock.ts'
import type { CompiledScript, ScriptHost, ScriptKind, ScriptSource } from './script.ts'

export interface ScriptHostOptions {
  /** Limits of the expression language that differ from {@link DEFAULT_TBEL_LIMITS}. */
  readonly tbel?: Partial<TbelLimits>
  /** Compiles a JavaScript source on the worker pool. */
  readonly javaScript: <Kind extends ScriptKind>(
    source: ScriptSource<Kind>,
  ) => CompiledScript<Kind> | Promise<CompiledScript<Kind>>
  readonly clock: Clock
  /** What `Math.random()` draws from. */
  readonly random: Random
}

export function createScriptHost(options: ScriptHostOptions): ScriptHost {
  const { clock, random } = options
  const limits = { ...DEFAULT_TBEL_LIMITS, ...options.tbel }
  return {
    compile: (source) =>
      source.language === 'TBEL' ? compileTbel(source, { clock, random, limits }) : options.javaScript(source),
  }
}
