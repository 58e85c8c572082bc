/** The production shape for tests: real NATS, PostgreSQL and QuestDB, and any number of Millrace processes with roles on them. */
import { startMillrace, type RunningMillrace } from './start-millrace.ts'
import {
  startNats,
  startPostgres,
  startQuestDb,
  type NatsOptions,
  type QuestDbOptions,
  type RunningServer,
} from './servers/index.ts'

export interface ProductionServers {
  readonly nats: RunningServer
  readonly postgres: RunningServer
  readonly questdb: RunningServer
  /** The settings that point a Millrace at these servers. */
  readonly environment: Readonly<Record<string, string>>
  stop(): Promise<void>
}

export interface ProductionOptions {
  readonly nats?: NatsOptions
  readonly questdb?: QuestDbOptions
}

/** All three side by side; what started is stopped again where another did not. */
export async function startProductionServers(options: ProductionOptions = {}): Promise<ProductionServers> {
  const starts = await Promise.allSettled([startNats(options.nats), startPostgres(), startQuestDb(options.questdb)])
  const running = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
  const stop = async (): Promise<void> => {
    await Promise.all(running.map((server) => server.stop()))
  }
  const [nats, postgres, questdb] = starts
  if (nats.status === 'fulfilled' && postgres.status === 'fulfilled' && questdb.status === 'fulfilled') {
    const urls = { nats: nats.value.url, postgres: postgres.value.url, questdb: questdb.value.url }
    return {
      nats: nats.value,
      postgres: postgres.value,
      questdb: questdb.value,
      environment: productionEnvironment(urls),
      stop,
    }
  }
  await stop()
  throw starts.find((start) => start.status === 'rejected')?.reason
}

/** The settings for NATS and PostgreSQL alone, which then keeps the time series too. */
export function natsAndPostgresEnvironment(urls: {
  readonly nats: string
  readonly postgres: string
}): Readonly<Record<string, string>> {
  return {
    LINK: 'jetstream',
    NATS_URL: urls.nats,
    DATABASE_ENTITIES_TYPE: 'postgres',
    DATABASE_URL: urls.postgres,
    DATABASE_TS_TYPE: 'sql',
  }
}

export function productionEnvironment(urls: {
  readonly nats: string
  readonly postgres: string
  readonly questdb: string
}): Readonly<Record<string, string>> {
  return {
    LINK: 'jetstream',
    NATS_URL: urls.nats,
    DATABASE_ENTITIES_TYPE: 'postgres',
    DATABASE_URL: urls.postgres,
    DATABASE_TS_TYPE: 'questdb',
    QUESTDB_URL: urls.questdb,
  }
}

export type ClusterRole = 'transport' | 'engine' | 'api'

/** One process of a cluster; MQTT where it is a transport. */
export function startMember(
  environment: Readonly<Record<string, string>>,
  roles: readonly ClusterRole[],
  more: Readonly<Record<string, string>> = {},
  preload: readonly string[] = [],
): Promise<RunningMillrace> {
  return startMillrace({ environment: { ...environment, MILLRACE_ROLES: roles.join(','), ...more }, preload })
}
