/** Starts a server as its definition says: folders, free ports, waiting until it answers, restart on the same data and ports. */
import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { freePorts } from './ports.ts'
import { logTail, spawnServer, type ServerCommand, type ServerProcess } from './server-process.ts'
import type { BrokerName, RunningServer, ServerName } from './server.ts'

export interface PlaceOptions {
  /** Where the data lies; kept after the stop. Without it a fresh temporary folder, gone with the server. */
  readonly dataDir?: string
  /** Fixed ports, in the order of the definition; without them free ones. */
  readonly ports?: readonly number[]
}

export interface ServerDefinition {
  readonly name: ServerName | BrokerName
  readonly portCount: number
  /** The owner of the folders, where the server runs as another user. */
  readonly user?: { readonly uid: number; readonly gid: number }
  /** Makes the folders' content (configuration, an empty database) for these ports and says how to start. */
  prepare(folders: ServerFolders, ports: readonly number[]): Promise<ServerCommand>
  url(ports: readonly number[]): string
  /** True when the server answers on its ports. A throw counts as "not yet". */
  answers(ports: readonly number[]): Promise<boolean>
}

export interface ServerFolders {
  /** Survives a restart. */
  readonly data: string
  /** Configuration and log. */
  readonly work: string
}

/** A server of Java has to compile itself first, and may share a processor with many. */
const READY_MS = 180_000
const STARTS = 6

/** Throws with the server's own output when it does not come up. */
export async function runServer(definition: ServerDefinition, place: PlaceOptions = {}): Promise<RunningServer> {
  for (let start = 1; ; start++) {
    const ports = place.ports ?? (await freePorts(definition.portCount))
    const server = new Server(definition, place, ports)
    try {
      await server.open()
      return server
    } catch (error) {
      const log = server.log()
      await server.stop()
      const portTaken = place.ports === undefined && /address (?:already )?in use|could not bind|EADDRINUSE/i.test(log)
      if (!portTaken || start === STARTS) {
        throw new Error(`${definition.name} did not start: ${(error as Error).message}\n${log}`, { cause: error })
      }
    }
  }
}

class Server implements RunningServer {
  readonly owned = true
  readonly url: string
  readonly #definition: ServerDefinition
  readonly #place: PlaceOptions
  readonly #ports: readonly number[]
  #folders: ServerFolders = { data: '', work: '' }
  #temporary: string | undefined
  #process: ServerProcess | undefined
  #command: ServerCommand | undefined
  #stopped: Promise<void> | undefined

  constructor(definition: ServerDefinition, place: PlaceOptions, ports: readonly number[]) {
    this.#definition = definition
    this.#place = place
    this.#ports = ports
    this.url = definition.url(ports)
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  get dataDir(): string {
    return this.#folders.data
  }

  async open(): Promise<void> {
    const { user, name } = this.#definition
    if (this.#place.dataDir === undefined) this.#temporary = await mkdtemp(join(tmpdir(), `millrace-${name}-`))
    const work = this.#temporary ?? resolve(this.#place.dataDir ?? '')
    this.#folders = { work, data: join(work, 'data') }
    await mkdir(this.#folders.data, { recursive: true })
    if (user !== undefined) {
      for (const folder of [work, this.#folders.data]) await chown(folder, user.uid, user.gid)
    }
    this.#command = await this.#definition.prepare(this.#folders, this.#ports)
    await this.#start()
  }

  log(): string {
    return logTail(this.#logFile())
  }

  async kill(): Promise<void> {
    await this.#process?.kill()
  }

  async restart(): Promise<void> {
    if (this.#stopped !== undefined) throw new Error(`${this.#definition.name} was stopped for good`)
    await this.#process?.end()
    await this.#start()
  }

  pause(): void {
    if (this.#process === undefined) throw new Error(`${this.#definition.name} is not running`)
    this.#process.pause()
  }

  resume(): void {
    this.#process?.resume()
  }

  stop(): Promise<void> {
    this.#stopped ??= (async () => {
      await this.#process?.end()
      if (this.#temporary !== undefined) await rm(this.#temporary, { recursive: true, force: true, maxRetries: 5 })
    })()
    return this.#stopped
  }

  #logFile(): string {
    return join(this.#folders.work, 'server.log')
  }

  async #start(): Promise<void> {
    if (this.#command === undefined) throw new Error('started before it was prepared')
    const started = await spawnServer(this.#command, {
      workingFolder: this.#folders.work,
      logFile: this.#logFile(),
      ...(this.#temporary === undefined ? {} : { temporaryFolder: this.#temporary }),
    })
    this.#process = started
    const deadline = performance.now() + READY_MS
    while (!(await this.#answers())) {
      if (!started.running()) throw new Error('it ended before it answered')
      if (performance.now() > deadline) throw new Error(`no answer after ${READY_MS} ms`)
      await new Promise((wait) => setTimeout(wait, 20))
    }
    // Another process may hold the port and answer in the place of ours, which then ends.
    if (!started.running()) throw new Error('it ended before it answered')
  }

  async #answers(): Promise<boolean> {
    try {
      return await this.#definition.answers(this.#ports)
    } catch {
      return false
    }
  }
}
