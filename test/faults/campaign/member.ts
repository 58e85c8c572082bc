/** One Millrace process of a world: it keeps its ports and its data folder over kills, so that devices find it again. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../../support/servers/ports.ts'
import { isAlive } from '../../support/servers/server-process.ts'
import { startMillrace, type RunningMillrace } from '../../support/start-millrace.ts'
import { SLOWNESS } from '../../support/slowness.ts'
import type { TransportAddress } from './steady-load.ts'

export interface MemberOptions {
  readonly name: string
  readonly environment: Readonly<Record<string, string>>
  /** Loaded before the program. */
  readonly preload?: readonly string[]
  /** Kept by the caller; without it a temporary folder that goes with the member. */
  readonly dataDir?: string
}

export class Member {
  readonly name: string
  readonly #environment: Readonly<Record<string, string>>
  readonly #dataDir: string
  readonly #ownsFolder: boolean
  readonly #preload: readonly string[]
  #running: RunningMillrace
  #isWanted = true

  private constructor(
    options: MemberOptions,
    dataDir: string,
    environment: Readonly<Record<string, string>>,
    running: RunningMillrace,
  ) {
    this.name = options.name
    this.#environment = environment
    this.#dataDir = dataDir
    this.#ownsFolder = options.dataDir === undefined
    this.#preload = options.preload ?? []
    this.#running = running
  }

  static async start(options: MemberOptions): Promise<Member> {
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'millrace-member-')))
    const [http = 0, mqtt = 0] = await freePorts(2)
    const environment = { ...options.environment, HTTP_BIND_PORT: String(http), MQTT_BIND_PORT: String(mqtt) }
    return new Member(options, dataDir, environment, await run(dataDir, environment, options.preload ?? []))
  }

  get process(): RunningMillrace {
    return this.#running
  }

  get address(): TransportAddress {
    return { url: this.#running.url, mqttPort: this.#running.ports['mqtt'] ?? 0 }
  }

  /** False when it should run and does not: it ended by itself. */
  get isAsWanted(): boolean {
    return !this.#isWanted || isAlive(this.#running.pid)
  }

  async kill(): Promise<void> {
    this.#isWanted = false
    await this.#running.kill()
  }

  /** SIGTERM; throws when the end was not in order. */
  async stop(): Promise<void> {
    this.#isWanted = false
    const code = await this.#running.stop()
    if (code !== 0) throw new Error(`${this.name} ended with ${code} when it was asked to:\n${this.#running.log()}`)
  }

  /** `changes` hold for this start alone. */
  async restart(changes: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#running = await run(this.#dataDir, { ...this.#environment, ...changes }, this.#preload)
    this.#isWanted = true
  }

  pause(): void {
    for (const pid of [this.#running.pid, ...this.children()]) process.kill(pid, 'SIGSTOP')
  }

  resume(): void {
    for (const pid of [this.#running.pid, ...this.children()]) process.kill(pid, 'SIGCONT')
  }

  /** Process ids of its script sandboxes. */
  children(): number[] {
    const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    return stdout.split('\n').flatMap((line) => {
      const [pid, parent] = line.trim().split(/\s+/).map(Number)
      return parent === this.#running.pid && pid !== undefined ? [pid] : []
    })
  }

  async close(): Promise<void> {
    this.#isWanted = false
    await this.#running.kill()
    if (this.#ownsFolder) await rm(this.#dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** As it is by default: a member that can not stop within it on a busy machine ends as if it were killed, in order or not. */
const STOP_MS = 10_000

function run(
  dataDir: string,
  environment: Readonly<Record<string, string>>,
  preload: readonly string[],
): Promise<RunningMillrace> {
  const given = { STOP_TIMEOUT_MS: String(STOP_MS * SLOWNESS), ...environment }
  return startMillrace({ dataDir, environment: given, preload, timeoutMs: 300_000 * SLOWNESS })
}
