/**
 * The production shape as processes of their own: two transports, two engines and an API on NATS, PostgreSQL and QuestDB. With one
 * NATS every member has its own line (fault proxy) to each server; a cluster of NATS is connected to directly, for a client of
 * it goes to the nodes by the addresses that they tell.
 */
import { join } from 'node:path'
import { startFaultProxy, type FaultProxy } from '../../support/fault-proxy.ts'
import {
  startNats,
  startNatsCluster,
  startPostgres,
  startQuestDb,
  type NatsRoute,
  type RunningServer,
  type StoreServer,
} from '../../support/servers/index.ts'
import { productionEnvironment, type ClusterRole } from '../../support/start-cluster.ts'
import { Member } from './member.ts'
import { watchRuns } from './runs.ts'
import type { World } from './world.ts'

export interface ProductionWorldOptions {
  readonly shape: 'production' | 'nats-cluster'
  readonly seed: number
  /** A disk of its own for the data of a server. */
  readonly smallDisk?: SmallDisk
  readonly environment?: Readonly<Record<string, string>>
  readonly crowdingTimeoutMs?: number | undefined
}

export interface SmallDisk {
  readonly folder: string
  readonly of: StoreServer
}

type Lines = Readonly<Record<StoreServer, FaultProxy>>

export async function openProductionWorld(options: ProductionWorldOptions): Promise<World> {
  const closing: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    for (const end of closing.splice(0).reverse()) await end()
  }
  try {
    return await open(options, closing, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function open(
  options: ProductionWorldOptions,
  closing: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<World> {
  const { shape } = options
  const watched = await watchRuns(options.crowdingTimeoutMs)
  closing.push(() => watched.close())
  const { natsRoutes, ...servers } = await startServers(options, closing)
  const linesOf = new Map<Member, Lines>()
  let proxies = 0
  const start = async (name: string, ...roles: readonly ClusterRole[]): Promise<Member> => {
    const direct = productionEnvironment({
      nats: servers.nats.map(({ url }) => url).join(','),
      postgres: servers.postgres[0]?.url ?? '',
      questdb: servers.questdb[0]?.url ?? '',
    })
    const lines = shape === 'production' ? await openLines(servers, options.seed + 10 * proxies++, closing) : undefined
    const through =
      lines === undefined
        ? { ...direct, NATS_REPLICAS: '3' }
        : productionEnvironment({ nats: lines.nats.url, postgres: lines.postgres.url, questdb: lines.questdb.url })
    const { preload, environment: own } = watched.options
    const environment = { ...through, ...options.environment, ...own, MILLRACE_ROLES: roles.join(',') }
    const member = await Member.start({ name, environment, preload })
    closing.push(() => member.close())
    if (lines !== undefined) linesOf.set(member, lines)
    return member
  }
  const [first, second, engine, other, api] = await allOf(
    start('transport 1', 'transport'),
    start('transport 2', 'transport'),
    start('engine 1', 'engine'),
    start('engine 2', 'engine'),
    start('API', 'api'),
  )
  const members = [first, second, engine, other, api]
  const transports = [first, second]
  const deviceLines = await Promise.all(
    transports.map(async ({ address }, index) => {
      const proxy = await startFaultProxy({ target: `127.0.0.1:${address.mqttPort}`, seed: options.seed + index })
      closing.push(() => proxy.close())
      return proxy
    }),
  )
  return {
    shape,
    transports,
    engines: [engine, other],
    api,
    members,
    servers,
    lines: (server, of = members) => of.flatMap((member) => linesOf.get(member)?.[server] ?? []),
    addresses: transports.map(({ address }, index) => ({
      url: address.url,
      mqttPort: deviceLines[index]?.port ?? address.mqttPort,
    })),
    deviceLines,
    addEngine: () => start('engine 3', 'engine'),
    natsRoutes,
    runLog: watched.log,
    smallDisk: options.smallDisk?.folder,
    close,
  }
}

async function startServers(
  { shape, smallDisk }: ProductionWorldOptions,
  closing: (() => Promise<unknown>)[],
): Promise<Readonly<Record<StoreServer, readonly RunningServer[]>> & { readonly natsRoutes: readonly NatsRoute[] }> {
  let natsRoutes: readonly NatsRoute[] = []
  const placeOf = (server: StoreServer) => (smallDisk?.of === server ? { dataDir: join(smallDisk.folder, server) } : {})
  const keep = async <Kept extends { stop(): Promise<void> }>(starting: Promise<Kept>): Promise<Kept> => {
    const started = await starting
    closing.push(() => started.stop())
    return started
  }
  const nats = async (): Promise<readonly RunningServer[]> => {
    if (shape === 'nats-cluster') {
      const cluster = await keep(startNatsCluster(3, { syncInterval: 'always', routesByLines: true }))
      natsRoutes = cluster.routes
      return cluster.nodes
    }
    return [await keep(startNats({ syncInterval: 'always', ...placeOf('nats') }))]
  }
  const [natsNodes, postgres, questdb] = await allOf(
    nats(),
    keep(startPostgres(placeOf('postgres'))),
    keep(startQuestDb({ commitMode: 'sync', ...placeOf('questdb') })),
  )
  return { nats: natsNodes, postgres: [postgres], questdb: [questdb], natsRoutes }
}

async function openLines(
  servers: Readonly<Record<StoreServer, readonly RunningServer[]>>,
  seed: number,
  closing: (() => Promise<unknown>)[],
): Promise<Lines> {
  const line = async (server: StoreServer, offset: number): Promise<FaultProxy> => {
    const proxy = await startFaultProxy({ target: servers[server][0]?.url ?? '', seed: seed + offset })
    closing.push(() => proxy.close())
    return proxy
  }
  const [nats, postgres, questdb] = await Promise.all([line('nats', 0), line('postgres', 1), line('questdb', 2)])
  return { nats, postgres, questdb }
}

/** Throws only when each has ended in one way or the other: what is still starting could not be closed. */
async function allOf<Parts extends readonly unknown[]>(
  ...parts: { readonly [Index in keyof Parts]: Promise<Parts[Index]> }
): Promise<{ -readonly [Index in keyof Parts]: Parts[Index] }> {
  await Promise.allSettled(parts)
  return Promise.all(parts)
}
