/** The script hosts as the composition root makes them, one language at a time. */
import type { Clock, Random } from '../../model/clock.ts'
import { createJavaScriptWorkers } from '../../engine/script/javascript/javascript-workers.ts'
import type { ScriptHost, ScriptLanguage } from '../../engine/script/script.ts'
import { compileTbel } from '../../engine/script/tbel/tbel.ts'

export interface OpenedScriptHost {
  readonly scripts: ScriptHost
  close(): Promise<void>
}

export function openScriptHost(
  language: ScriptLanguage,
  clock: Clock,
  random: Random,
  threads: number,
): OpenedScriptHost {
  if (language === 'TBEL') {
    return { scripts: { compile: (source) => compileTbel(source, { clock, random }) }, close: async () => undefined }
  }
  const workers = createJavaScriptWorkers({
    clock,
    threads,
    memoryLimitMb: 64,
    timeoutMs: 2000,
    queueBound: 100_000,
  })
  return { scripts: workers, close: () => workers.close() }
}
