/** The shapes in which a benchmark runs Millrace: the embedded default, or with real servers beside it on the same machine. */
import { startMillrace, type RunningMillrace } from '../../test/support/start-millrace.ts'
import { startNatsCluster, startPostgres, startQuestDb } from '../../test/support/servers/index.ts'
import { productionEnvironment, startProductionServers } from '../../test/support/start-cluster.ts'

export const SHAPES = ['embedded', 'production', 'three-copies'] as const
export type Shape = (typeof SHAPES)[number]

export interface RunningShape {
  readonly millrace: RunningMillrace
  /** Process ids of all that works for it, its own included: their processor time is the cost. */
  readonly pids: readonly number[]
  /** Of its HTTP API, where QuestDB stores the series. */
  readonly questDbUrl?: string
  close(): Promise<void>
}

export function shapeOf(name: string): Shape {
  const shape = SHAPES.find((known) => known === name)
  if (shape === undefined) throw new Error(`no shape ${name}: there are ${SHAPES.join(', ')}`)
  return shape
}

/**
 * `production` is JetStream with synced frames, QuestDB with synced commits, and PostgreSQL, all on loopback; `three-copies` has each frame
 * on three NATS servers.
 */
export async function startShape(
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningShape> {
  if (shapeOf(name) === 'embedded') {
    const millrace = await startMillrace({ environment })
    return { millrace, pids: [millrace.pid], close: () => ended(millrace) }
  }
  const servers = name === 'three-copies' ? await startThreeCopies() : await startOne()
  try {
    const millrace = await startMillrace({ environment: { ...servers.environment, ...environment } })
    return {
      millrace,
      pids: [millrace.pid, ...servers.pids],
      questDbUrl: servers.questDbUrl,
      close: async () => {
        try {
          await ended(millrace)
        } finally {
          await servers.stop()
        }
      },
    }
  } catch (error) {
    await servers.stop()
    throw error
  }
}

interface Servers {
  readonly environment: Readonly<Record<string, string>>
  readonly pids: readonly number[]
  readonly questDbUrl: string
  stop(): Promise<void>
}

async function startOne(): Promise<Servers> {
  const servers = await startProductionServers({ nats: { syncInterval: 'always' }, questdb: { commitMode: 'sync' } })
  const { nats, postgres, questdb, environment } = servers
  const pids = [nats.pid, postgres.pid, questdb.pid]
  return { environment, pids, questDbUrl: questdb.url, stop: () => servers.stop() }
}

async function startThreeCopies(): Promise<Servers> {
  const nats = await startNatsCluster(3, { syncInterval: 'always' })
  const [postgres, questdb] = await Promise.all([startPostgres(), startQuestDb({ commitMode: 'sync' })])
  const urls = { nats: nats.nodes.map(({ url }) => url).join(','), postgres: postgres.url, questdb: questdb.url }
  return {
    environment: { ...productionEnvironment(urls), NATS_REPLICAS: '3' },
    pids: [...nats.nodes, postgres, questdb].map(({ pid }) => pid),
    questDbUrl: questdb.url,
    stop: async () => {
      await Promise.all([nats.stop(), postgres.stop(), questdb.stop()])
    },
  }
}

/** A process that does not end well has not measured well. */
async function ended(millrace: RunningMillrace): Promise<void> {
  const code = await millrace.stop()
  if (code !== 0) throw new Error(`Millrace ended with ${code}:\n${millrace.log()}`)
}
