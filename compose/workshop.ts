/** What rule chains are checked and rehearsed with: both script languages under their usual limits, and nothing else of the platform. */
import { setTimeout as delay } from 'node:timers/promises'
import { createLog } from '../logging/log.ts'
import { readConfig } from '../config/read.ts'
import { createScriptHost } from '../engine/script/host.ts'
import type { Clock } from '../model/clock.ts'
import { systemClock, systemRandom } from '../model/system-clock.ts'
import type { RunParts } from '../workbench/run-cases.ts'
import { Closing } from './closing.ts'
import { openCatalogue } from './own-nodes.ts'
import { openScripting } from './scripts.ts'

export interface Workshop extends RunParts {
  close(): Promise<void>
}

/** Ms between two looks at what runs in real time, and the most of them: a script ends within its limit long before. */
const PAUSE_MS = 2
const MAX_PAUSES = 10_000

export async function openWorkshop(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Workshop> {
  const config = readConfig(environment)
  const catalogue = await openCatalogue(config)
  const log = createLog('error')
  const closing = new Closing(log)
  const { javaScript } = openScripting(config, closing)
  /** `Date` is the case's; how long a script may run is measured in real time. */
  const scriptsFor = (clock: Clock) =>
    createScriptHost({
      tbel: { timeoutMs: config.tbelTimeoutMs, memoryBytes: config.tbelMemoryMb * 2 ** 20 },
      javaScript: (source) => javaScript.compile(source),
      clock: { ...systemClock, now: () => clock.now() },
      random: systemRandom,
    })
  return {
    catalogue,
    scriptsFor,
    pause: async (sofar) => {
      await delay(PAUSE_MS)
      return sofar < MAX_PAUSES
    },
    close: async () => void (await closing.run()),
  }
}
