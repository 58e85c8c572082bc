/** Lives through many histories by seed: as the code is, or in a process of its own with a bug planted in production code. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { threadArguments } from '../../model/thread-arguments.ts'
import { PLANTED_PRELOAD } from '../support/planted/index.ts'

/** One history; throws what its checks found. The figures are added up. */
export type Live = (seed: number) => Promise<Readonly<Record<string, number>>>

const firstSeed = Number(process.env['SEED'] ?? 1)

/** `SEEDS` of them where it is set, from `SEED` on. `file` is the test's, for the command that repeats a seed. */
export async function liveThroughAll(file: string, defaultSeeds: number, live: Live): Promise<Record<string, number>> {
  const seeds = Number(process.env['SEEDS'] ?? defaultSeeds)
  const total: Record<string, number> = { seeds }
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const figures = await live(seed).catch((error: unknown) => {
      const command = `SEED=${seed} SEEDS=1 node --test ${file}`
      throw new Error(`seed ${seed}: ${String(error)}; repeat: ${command}`, { cause: error })
    })
    for (const [name, figure] of Object.entries(figures)) total[name] = (total[name] ?? 0) + figure
  }
  return total
}

const FINDER = join(import.meta.dirname, 'find-bug.ts')

/** The seed and the finding of the first of `seeds` histories that shows the planted bug. Rejects where none does. */
export async function findPlantedBug(name: string, world: string, seeds: number): Promise<string> {
  const options = [...threadArguments(), '--import', PLANTED_PRELOAD]
  const env = { ...process.env, PLANTED_BUG: name }
  const run = promisify(execFile)(process.execPath, [...options, FINDER, world, String(seeds)], { env })
  return (await run).stdout.trim()
}
