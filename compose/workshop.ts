/** What rule chains are checked and rehearsed with: both script languages under their usual limits, and nothing else of the platform. */
import { setTimeout as delay } from 'node:timers/promises'
import { createLog } from '../logging/log.ts'
import { readConfig } from '../config/read.ts'
import type { Config } from '../config/settings.ts'
import type { NodeCatalogue } from '../engine/rulechain/node.ts'
import { createScriptHost } from '../engine/script/host.ts'
import type { JavaScriptWorkers } from '../engine/script/javascript/javascript-workers.ts'
import type { Clock } from '../model/clock.ts'
import { systemClock, systemRandom } from '../model/system-clock.ts'
import type { TryNode } from '../services/rule-chains/checked-chain.ts'
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
  return { ...runParts(config, catalogue, javaScript), close: async () => void (await closing.run()) }
}

/** `Date` is the case's; how long a script may run is measured in real time. */
export function runParts(config: Config, catalogue: NodeCatalogue, javaScript: JavaScriptWorkers): RunParts {
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
  }
}

/** What a node of a stored chain does not start for. The world of rehearsals is loaded when the first one is tried. */
export function nodeTrial(parts: RunParts): TryNode {
  return async (node) => {
    const { tryNode } = await import('../workbench/run-cases.ts')
    const { type, name, configurationVersion, configuration, place } = node
    const drawn = { type, name, configurationVersion, configuration, place, id: undefined }
    return tryNode({ ...drawn, queueName: null, singletonMode: false }, parts)
  }
}
