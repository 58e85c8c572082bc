/**
 * Starts the real program for whole-system tests: free loopback ports, a data folder of its own, ready when it says so.
 * It is ended by its own process id; nothing of it is left when the test ends.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { SLOWNESS } from './slowness.ts'

export const PROJECT_ROOT = resolve(import.meta.dirname, '..', '..')

/** What `npm start` says to Node; `-- config` and its like follow. */
export const MILLRACE: readonly string[] = [
  '--disable-warning=ExperimentalWarning',
  '--import',
  join(PROJECT_ROOT, 'compose', 'stripped-types.mjs'),
  join(PROJECT_ROOT, 'main.ts'),
]

export interface StartOptions {
  /** Kept after the stop when given, so that a test can start again on it; else a fresh one that goes with the process. */
  readonly dataDir?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Modules that are loaded before the program, such as the log of runs. */
  readonly preload?: readonly string[]
  /** Milliseconds until the start counts as failed. */
  readonly timeoutMs?: number
}

export interface RunningMillrace {
  readonly pid: number
  readonly dataDir: string
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string
  readonly ports: Readonly<Record<string, number>>
  /** From the spawn to the ready line. */
  readonly startMs: number
  /** All that it wrote to standard error so far (the system log). */
  log(): string
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
}

/** Starts with demo data on free ports. Throws with what the program wrote when it ends or stays silent. */
export async function startMillrace(options: StartOptions = {}): Promise<RunningMillrace> {
  const ownFolder = options.dataDir === undefined
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'millrace-test-')))
  const began = performance.now()
  const preload = (options.preload ?? []).flatMap((module) => ['--import', module])
  // Behind our own preload: the hooks of the last one are the first to be asked.
  const argv = MILLRACE.toSpliced(-1, 0, ...preload)
  const child = spawn(process.execPath, argv, {
    cwd: PROJECT_ROOT,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      DATA_DIR: dataDir,
      READY_JSON: 'true',
      HTTP_BIND_PORT: '0',
      MQTT_BIND_PORT: '0',
      COAP_BIND_PORT: '0',
      LWM2M_BIND_PORT: '0',
      LWM2M_BS_BIND_PORT: '0',
      ...options.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-4_000_000)
  })
  const exited = once(child, 'exit')
  const ports = await readyLine(child, options.timeoutMs ?? 300_000 * SLOWNESS, () => log)
  const startMs = performance.now() - began

  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await exited
    if (ownFolder) await rm(dataDir, { recursive: true, force: true })
    return child.exitCode
  }
  return {
    pid: child.pid ?? 0,
    dataDir,
    url: `http://127.0.0.1:${ports['http']}`,
    ports,
    startMs,
    log: () => log,
    stop: () => end('SIGTERM'),
    kill: async () => {
      await end('SIGKILL')
    },
  }
}

async function readyLine(child: ChildProcess, timeoutMs: number, log: () => string): Promise<Record<string, number>> {
  const { stdout } = child
  if (stdout === null) throw new Error('the program was started without its standard output')
  let timer: NodeJS.Timeout | undefined
  const failed = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) =>
      reject(new Error(`ended with ${code ?? signal} before it was ready:\n${log()}`)),
    )
    child.once('error', reject)
    timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`not ready after ${timeoutMs} ms:\n${log()}`))
    }, timeoutMs)
  })
  const ready = (async () => {
    for await (const line of createInterface({ input: stdout })) {
      const message = parseReady(line)
      if (message !== undefined) return message
    }
    return failed
  })()
  try {
    return await Promise.race([ready, failed])
  } finally {
    clearTimeout(timer)
    failed.catch(() => undefined) // The later exit of a process that was ready is its stop, and nobody waits for it here.
  }
}

function parseReady(line: string): Record<string, number> | undefined {
  if (!line.startsWith('{"ready":true')) return undefined
  const message = JSON.parse(line) as { ports: Record<string, number> }
  return message.ports
}
