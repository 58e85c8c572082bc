/** Runs the cases of a chain, each on a world, a clock and an engine of its own. */
import { createActorSystem } from '../engine/actor/system.ts'
import type { NodeCatalogue } from '../engine/rulechain/node.ts'
import type { ScriptHost } from '../engine/script/script.ts'
import { awaitedLater } from '../model/awaited-later.ts'
import type { Clock } from '../model/clock.ts'
import { errorText } from '../model/errors.ts'
import { stringifyJson } from '../model/json.ts'
import { ManualClock, SeededRandom } from '../model/manual-clock.ts'
import { Message } from '../model/message.ts'
import {
  durationMs,
  timeMs,
  type CaseFile,
  type CaseMessage,
  type CaseStep,
  type ChainCase,
  type WorldText,
} from './cases.ts'
import type { DrawnChain, DrawnNode } from './chain-file.ts'
import { Coverage } from './coverage.ts'
import { WorkbenchErrors } from './errors.ts'
import { bodyOf, complaints } from './judge.ts'
import { Rehearsal, type RehearsalParts } from './rehearsal.ts'
import { named, stagedWorld } from './stage.ts'
import type { World } from './world.ts'

export interface RunParts {
  readonly catalogue: NodeCatalogue
  /** Scripts see the clock of their case. */
  readonly scriptsFor: (clock: Clock) => ScriptHost
  readonly pause: RehearsalParts['pause']
}

export interface CaseResult {
  readonly name: string
  /** Empty where it passed. */
  readonly complaints: readonly string[]
}

export interface CasesResult {
  readonly results: readonly CaseResult[]
  readonly coverage: Coverage
}

export const REHEARSAL_TENANT = '10000000-0000-4000-8000-00000000000a'

export async function runCases(chain: DrawnChain, file: CaseFile, parts: RunParts): Promise<CasesResult> {
  const coverage = new Coverage(chain)
  const results: CaseResult[] = []
  for (const one of file.cases) {
    try {
      results.push({ name: one.name, complaints: await runCase(chain, file, one, parts, coverage) })
    } catch (error) {
      results.push({ name: one.name, complaints: [errorText(error)] })
    }
  }
  return { results, coverage }
}

/** Makes one node as the engine would; resolves with what it does not start for. */
export async function tryNode(node: DrawnNode, parts: RunParts): Promise<Error | undefined> {
  const chain: DrawnChain = { name: node.name, type: 'CORE', firstNodeIndex: 0, nodes: [node], connections: [] }
  const { rehearsal, close } = rehearse(chain, 0, [], parts)
  try {
    return (await rehearsal.load())[0]?.error
  } finally {
    await close()
  }
}

interface Opened {
  readonly rehearsal: Rehearsal
  readonly world: World
  readonly clock: ManualClock
  /** Errors that no message stands for: faults of ours. */
  readonly broken: readonly unknown[]
  readonly close: () => Promise<void>
}

function rehearse(chain: DrawnChain, startMs: number, descriptions: readonly WorldText[], parts: RunParts): Opened {
  const clock = new ManualClock(startMs)
  const random = new SeededRandom(1)
  const scripts = parts.scriptsFor(clock)
  const world = stagedWorld({ tenantId: REHEARSAL_TENANT, clock, random, scripts }, descriptions)
  const broken: unknown[] = []
  const actors = createActorSystem({ clock, onError: ({ error }) => void broken.push(error) })
  const rehearsal = new Rehearsal(chain, {
    ...{ tenantId: REHEARSAL_TENANT, catalogue: parts.catalogue, world, clock, random, actors, pause: parts.pause },
  })
  const close = async (): Promise<void> => {
    const closing = awaitedLater(rehearsal.close())
    await clock.settle()
    await closing
  }
  return { rehearsal, world, clock, broken, close }
}

async function runCase(
  chain: DrawnChain,
  file: CaseFile,
  { world: own, steps }: ChainCase,
  parts: RunParts,
  coverage: Coverage,
): Promise<readonly string[]> {
  const descriptions = own === undefined ? [file.world] : [file.world, own]
  const { rehearsal, world, clock, broken, close } = rehearse(chain, timeMs(file.clock), descriptions, parts)
  try {
    const starts = await rehearsal.load()
    const found = starts.flatMap(({ name, error }) =>
      error === undefined ? [] : [`node '${name}' does not start: ${errorText(error)}`],
    )
    for (const [index, step] of steps.entries()) {
      const prefix = steps.length === 1 ? '' : `step ${index + 1}: `
      found.push(...(await runStep(chain, step, rehearsal, world, clock)).map((line) => `${prefix}${line}`))
    }
    coverage.add(rehearsal.visits)
    return [...found, ...broken.map((error) => errorText(error))]
  } finally {
    await close()
  }
}

async function runStep(
  chain: DrawnChain,
  { send, wait, expect }: CaseStep,
  rehearsal: Rehearsal,
  world: World,
  clock: ManualClock,
): Promise<readonly string[]> {
  const seen = { visits: rehearsal.visits.length, effects: world.effects.length }
  const failures = [
    ...(wait === undefined ? [] : await rehearsal.pass(durationMs(wait))),
    ...(await rehearsal.send(
      (send ?? []).map((message, index) => messageOf(message, world, clock, seen.visits + index)),
    )),
  ]
  const visits = rehearsal.visits.slice(seen.visits)
  return complaints(chain, expect, { visits, effects: world.effects.slice(seen.effects), failures })
}

/** `deviceName` and `deviceType` stand in the metadata, as a device's transport puts them there. */
function messageOf(
  { from, type, data, metadata, ts }: CaseMessage,
  world: World,
  clock: ManualClock,
  number: number,
): Message {
  const originator = from === undefined ? world.firstDevice() : named(world, from, 'send')
  if (originator === undefined) throw WorkbenchErrors.ENTITY_UNKNOWN({ where: 'send', name: 'device' })
  const time = ts === undefined ? clock.now() : timeMs(ts)
  const { name, type: profile, id } = originator
  const ofDevice = id.entityType === 'DEVICE' ? { deviceName: name, deviceType: profile, ts: String(time) } : {}
  return new Message({
    ...{
      id: `00000000-0000-4000-9000-${String(number).padStart(12, '0')}`,
      ts: time,
      type,
      tenantId: REHEARSAL_TENANT,
    },
    ...{ originator: id, metadata: { ...ofDevice, ...metadata }, data: stringifyJson(bodyOf(data)) },
  })
}
