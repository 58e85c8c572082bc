/**
 * `npm run services`: NATS, PostgreSQL, QuestDB and Valkey on loopback for development, their data kept in `data/services` (or
 * `SERVICES_DATA_DIR`), and the environment for `npm start` in its production shape. Ctrl-C stops them. `npm run services -- nats postgres` starts only these.
 *
 * They take their usual ports; where one is in use, it says so and takes a free one.
 */
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import {
  startNats,
  startPostgres,
  startQuestDb,
  startValkey,
  type RunningServer,
  type ServerName,
} from '../test/support/servers/index.ts'
import { freePorts, isFree } from '../test/support/servers/ports.ts'

const root = resolve(import.meta.dirname, '..')
const DATA = process.env['SERVICES_DATA_DIR'] ?? join(root, 'data', 'services')

interface Service {
  readonly ports: readonly number[]
  start(dataDir: string, ports: readonly number[]): Promise<RunningServer>
  /** What a Millrace that uses it is told. */
  environment(server: RunningServer): Readonly<Record<string, string>>
}

const SERVICES: Readonly<Record<ServerName, Service>> = {
  nats: {
    ports: [4222],
    start: (dataDir, ports) => startNats({ dataDir, ports }),
    environment: ({ url }) => ({ LINK: 'jetstream', NATS_URL: url, NATS_SYNCED: 'always' }),
  },
  postgres: {
    ports: [5432],
    start: (dataDir, ports) => startPostgres({ dataDir, ports }),
    environment: ({ url }) => ({ DATABASE_ENTITIES_TYPE: 'postgres', DATABASE_URL: url }),
  },
  questdb: {
    ports: [9000, 8812],
    start: (dataDir, ports) => startQuestDb({ dataDir, ports, heapMiB: 512 }),
    environment: ({ url }) => ({ DATABASE_TS_TYPE: 'questdb', QUESTDB_URL: url }),
  },
  valkey: {
    ports: [6379],
    start: (dataDir, ports) => startValkey({ dataDir, ports }),
    environment: ({ url }) => ({ CACHE_TYPE: 'redis', REDIS_PORT: new URL(url).port }),
  },
}

const isService = (name: string): name is ServerName => Object.hasOwn(SERVICES, name)

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.find((name) => !isService(name))
  if (unknown !== undefined) {
    process.stderr.write(`no service '${unknown}': there are ${Object.keys(SERVICES).join(', ')}\n`)
    return 2
  }
  // Listened for before anything starts: a Ctrl-C during the start stops what is there by then.
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), once(process, 'SIGHUP')])
  const wanted = Object.keys(SERVICES).filter((name) => names.length === 0 || names.includes(name))
  const starts = wanted.filter(isService).map(startService)
  const started = await Promise.allSettled(starts)
  const environments = started.flatMap((start) => (start.status === 'fulfilled' ? [start.value.environment] : []))
  const failures = started.flatMap((start) => (start.status === 'rejected' ? [String(start.reason)] : []))
  if (failures.length === 0) {
    process.stdout.write(`${environmentText(Object.fromEntries(environments.flatMap((one) => Object.entries(one))))}\n`)
    process.stderr.write(`Ctrl-C stops them; their data stays in ${DATA}.\n`)
    const alive = setInterval(() => undefined, 2 ** 30) // Servers do not keep this process alive: they must not outlive it.
    await interrupted
    clearInterval(alive)
  }
  process.stderr.write(`${failures.map((failure) => `${failure}\n`).join('')}stopping\n`)
  await Promise.all(started.flatMap((start) => (start.status === 'fulfilled' ? [start.value.server.stop()] : [])))
  return failures.length === 0 ? 0 : 1
}

async function startService(name: ServerName): Promise<{ server: RunningServer; environment: Record<string, string> }> {
  const service = SERVICES[name]
  const began = performance.now()
  const server = await service.start(join(DATA, name), await usualOrFree(name, service.ports))
  const place = server.owned
    ? `process ${server.pid}, ${((performance.now() - began) / 1000).toFixed(1)} s`
    : 'already there'
  process.stderr.write(`${name} ${server.url} (${place})\n`)
  return { server, environment: service.environment(server) }
}

async function usualOrFree(name: ServerName, ports: readonly number[]): Promise<number[]> {
  const [spare, free] = await Promise.all([freePorts(ports.length), Promise.all(ports.map(isFree))])
  return ports.map((port, index) => {
    if (free[index] === true) return port
    process.stderr.write(`port ${port} is in use: ${name} takes ${spare[index]}\n`)
    return spare[index] ?? 0
  })
}

function environmentText(environment: Readonly<Record<string, string>>): string {
  return Object.entries(environment)
    .map(([name, value]) => `export ${name}='${value}'`)
    .join('\n')
}

process.exitCode = await main(process.argv.slice(2))
