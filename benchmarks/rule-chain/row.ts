/** Nodes in a row, each behind the relation by which messages leave the one before. */
import { createHook } from 'node:async_hooks'
import { entriesOf } from '../../model/entry-json.ts'
import { parseJson, type JsonObject } from '../../model/json.ts'
import type { ParsedData } from '../../model/message.ts'
import type { ScriptHost } from '../../engine/script/script.ts'
import { BenchmarkWork, graphOf, messageOf, openChain, payloads } from './road.ts'
import { knowing, type Step } from './steps.ts'

export const PACK = 1000

const texts = payloads(PACK)
const known = texts.map((text): ParsedData => {
  const json = parseJson(text)
  return { json, entries: entriesOf(json as JsonObject, { castStrings: true, nulls: 'skip' }) }
})

export interface OpenedRow {
  /** Resolves when all messages of the pack have ended. */
  readonly pack: () => Promise<void>
  close(): Promise<void>
}

export async function openRow(row: readonly Step[], scripts: ScriptHost): Promise<OpenedRow> {
  const connections = row
    .slice(1)
    .map((_, index) => ({ fromIndex: index, toIndex: index + 1, type: row[index]?.relation ?? '' }))
  const { chain, graph } = graphOf(
    'benchmark',
    row.map(({ node }) => node),
    connections,
  )
  const road = await openChain(chain, graph, scripts, { capabilities: knowing })
  let packs = 0
  let failed = 0
  return {
    pack: () =>
      new Promise((resolve) => {
        packs++
        const state = {
          ...{ open: PACK, failed: 0 },
          done: () => {
            failed += state.failed
            resolve()
          },
        }
        road.engine.process(texts.map((text, index) => new BenchmarkWork(messageOf(text, index, known[index]), state)))
      }),
    close: async () => {
      const { nodes } = road.engine.statistics(chain.id) ?? { nodes: [] }
      // A run in which a message took another way is void.
      for (const { name, received } of nodes)
        if (failed > 0 || received !== packs * PACK)
          throw new Error(`void: ${received} of ${packs * PACK} messages came to ${name}, ${failed} failed`)
      await road.close()
    },
  }
}

/** How many promises a message makes on its way, those of one pack shared out. */
export async function promisesOf(pack: OpenedRow['pack']): Promise<number> {
  let promises = 0
  const hook = createHook({ init: (_id, type) => void (type === 'PROMISE' && promises++) }).enable()
  await pack()
  hook.disable()
  return promises / PACK
}
