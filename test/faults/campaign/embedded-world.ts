/** The embedded default: one process is transport, engine and API, and everything is in its data folder. */
import { join } from 'node:path'
import { PLANTED_PRELOAD, type PlantedBug } from '../../support/planted/index.ts'
import type { RunLog } from '../../support/run-log/index.ts'
import { Member } from './member.ts'
import { watchRuns } from './runs.ts'
import type { World } from './world.ts'

export interface EmbeddedWorldOptions {
  readonly smallDisk?: string | undefined
  /** In production code: its judges must find it. */
  readonly bug?: PlantedBug
  readonly crowdingTimeoutMs?: number | undefined
  readonly environment?: Readonly<Record<string, string>>
}

export async function openEmbeddedWorld({
  smallDisk,
  bug,
  crowdingTimeoutMs,
  environment: own = {},
}: EmbeddedWorldOptions = {}): Promise<World> {
  const place = smallDisk === undefined ? {} : { dataDir: join(smallDisk, 'data') }
  const watched = await watchRuns(crowdingTimeoutMs)
  const { preload, environment } = watched.options
  const planted =
    bug === undefined
      ? { preload, environment: { ...environment, ...own } }
      : { preload: [...preload, PLANTED_PRELOAD], environment: { ...environment, ...own, PLANTED_BUG: bug.name } }
  try {
    const member = await Member.start({ name: 'process', ...planted, ...place })
    return {
      ...embeddedWorldOf(member, smallDisk, watched.log),
      close: async () => {
        await member.close()
        await watched.close()
      },
    }
  } catch (error) {
    await watched.close()
    throw error
  }
}

/** Closing it closes the process. */
export function embeddedWorldOf(member: Member, smallDisk?: string, runLog?: RunLog): World {
  return {
    shape: 'embedded',
    transports: [member],
    engines: [member],
    api: member,
    members: [member],
    servers: { nats: [], postgres: [], questdb: [] },
    lines: () => [],
    addresses: [member.address],
    deviceLines: [],
    natsRoutes: [],
    runLog,
    addEngine: () => Promise.reject(new Error('the embedded shape is one process')),
    smallDisk,
    close: () => member.close(),
  }
}
