/** Where scripts of users run: the expression language inline, JavaScript in its sandbox, which starts when the first script needs it. */
import { systemClock, systemRandom } from '../model/system-clock.ts'
import type { Config } from '../config/settings.ts'
import { createScriptHost } from '../engine/script/host.ts'
import { createJavaScriptWorkers, type JavaScriptWorkers } from '../engine/script/javascript/javascript-workers.ts'
import type { ScriptHost } from '../engine/script/script.ts'
import type { Closing } from './closing.ts'

export interface Scripting {
  readonly scripts: ScriptHost
  readonly javaScript: JavaScriptWorkers
}

export function openScripting(config: Config, closing: Closing): Scripting {
  const javaScript = createJavaScriptWorkers({
    clock: systemClock,
    threads: config.jsThreads,
    minThreads: Math.min(config.jsMinThreads, config.jsThreads),
    idleTimeoutMs: config.jsIdleTimeoutMs,
    concurrentTasks: config.jsConcurrentTasks,
    batchMessages: config.jsBatchMessages,
    memoryLimitMb: config.jsMemoryMb,
    timeoutMs: config.jsMaxCpuTimeMs,
    queueBound: config.jsQueueBound,
  })
  closing.add('JavaScript workers', () => javaScript.close())
  const scripts = createScriptHost({
    tbel: { timeoutMs: config.tbelTimeoutMs, memoryBytes: config.tbelMemoryMb * 2 ** 20 },
    javaScript: (source) => javaScript.compile(source),
    clock: systemClock,
    random: systemRandom,
  })
  return { scripts, javaScript }
}
