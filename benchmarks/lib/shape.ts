/** The shapes in which a benchmark runs Millrace: the embedded default, or with real servers beside it on the same machine. */
import { startMillrace, type RunningMillrace } from '../../test/support/start-millrace.ts'
import { startProductionServers } from '../../test/support/start-cluster.ts'

export const SHAPES = ['embedded', 'production'] as const
export type Shape = (typeof SHAPES)[number]

export interface RunningShape {
  readonly millrace: RunningMillrace
  /** Process ids of all that works for it, its own included: their processor time is the cost. */
  readonly pids: readonly number[]
  close(): Promise<void>
}

export function shapeOf(name: string): Shape {
  const shape = SHAPES.find((known) => known === name)
  if (shape === undefined) throw new Error(`no shape ${name}: there are ${SHAPES.join(', ')}`)
  return shape
}

/** `production` is JetStream with synced frames, QuestDB with synced commits, and PostgreSQL, all on loopback. */
export async function startShape(
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningShape> {
  if (shapeOf(name) === 'embedded') {
    const millrace = await startMillrace({ environment })
    return { millrace, pids: [millrace.pid], close: () => ended(millrace) }
  }
  const servers = await startProductionServers({ nats: { syncInterval: 'always' }, questdb: { commitMode: 'sync' } })
  try {
    const millrace = await startMillrace({ environment: { ...servers.environment, ...environment } })
    return {
      millrace,
      pids: [millrace.pid, servers.nats.pid, servers.postgres.pid, servers.questdb.pid],
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

/** A process that does not end well has not measured well. */
async function ended(millrace: RunningMillrace): Promise<void> {
  const code = await millrace.stop()
  if (code !== 0) throw new Error(`Millrace ended with ${code}:\n${millrace.log()}`)
}
