/**
 * One server process of its own process group, with a guard that ends it when this process goes away in any way.
 *
 * The guard is a shell that reads a pipe from here: the end of this process, SIGKILL included, closes the pipe, and the
 * guard then kills the server by its process id and removes its temporary folder. No orphan server is left behind.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { Socket } from 'node:net'

export interface ServerCommand {
  readonly command: string
  readonly parameters: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** The system user it runs as, where it must not be ours (PostgreSQL refuses root). */
  readonly user?: { readonly uid: number; readonly gid: number }
  /** The signal that ends it in order. */
  readonly endSignal: NodeJS.Signals
}

export interface Surroundings {
  readonly workingFolder: string
  readonly logFile: string
  /** Removed by the guard when this process is gone. */
  readonly temporaryFolder?: string
}

export interface ServerProcess {
  readonly pid: number
  running(): boolean
  end(): Promise<void>
  kill(): Promise<void>
  pause(): void
  resume(): void
}

const END_MS = 20_000

/** The children are read while the server still lives: afterwards they are children of the first process. */
const GUARD = `
read line && exit 0
children=$(ps -A -o pid=,ppid= | awk -v parent="$1" '$2 == parent { print $1 }')
kill -KILL "$1" $children 2>/dev/null
[ -z "$2" ] && exit 0
sleep 0.2
rm -rf "$2"
`

/** Throws when the command cannot be started at all; that it answers is the caller's to find out. */
export async function spawnServer(command: ServerCommand, surroundings: Surroundings): Promise<ServerProcess> {
  const log = openSync(surroundings.logFile, 'a')
  const child = spawn(command.command, command.parameters, {
    cwd: surroundings.workingFolder,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], LC_ALL: 'C', ...command.environment },
    stdio: ['ignore', log, log],
    detached: true, // Ctrl-C at the terminal reaches the test, which then ends its servers in order.
    ...command.user,
  })
  closeSync(log)
  await once(child, 'spawn')
  const { pid } = child
  if (pid === undefined) throw new Error(`${command.command} has no process id`)
  const guard = startGuard(pid, surroundings.temporaryFolder ?? '')
  child.unref()

  const running = (): boolean => child.exitCode === null && child.signalCode === null
  const signalAll = (signal: NodeJS.Signals): number[] => {
    // A stopped parent starts no further children; so the list is complete.
    if (signal === 'SIGSTOP' || signal === 'SIGKILL') signalOne(pid, 'SIGSTOP')
    const children = childrenOf(pid)
    for (const member of [pid, ...children]) signalOne(member, signal)
    return children
  }
  const gone = async (): Promise<void> => {
    if (running()) {
      child.ref()
      await once(child, 'exit')
    }
    guard.stdin?.end('over\n')
  }
  return {
    pid,
    running,
    end: async () => {
      if (running()) {
        signalAll('SIGCONT')
        signalOne(pid, command.endSignal)
      }
      const lateKill = setTimeout(() => running() && signalAll('SIGKILL'), END_MS)
      await gone()
      clearTimeout(lateKill)
    },
    kill: async () => {
      const children = running() ? signalAll('SIGKILL') : []
      await gone()
      await Promise.all(children.map(processGone))
    },
    pause: () => {
      if (!running()) throw new Error('a server that is not running cannot be paused')
      signalAll('SIGSTOP')
    },
    resume: () => {
      if (running()) signalAll('SIGCONT')
    },
  }
}

function startGuard(pid: number, temporaryFolder: string): ChildProcess {
  const guard = spawn('sh', ['-c', GUARD, 'guard', String(pid), temporaryFolder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.unref()
  guard.stdin.on('error', () => undefined) // The guard was ended by somebody else: there is nothing left to tell it.
  if (guard.stdin instanceof Socket) guard.stdin.unref() // Else the pipe would keep this process alive.
  return guard
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // Gone already is what was wanted.
  }
}

function childrenOf(parent: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  const children: number[] = []
  for (const line of stdout.split('\n')) {
    const [pid, ppid] = line.trim().split(/\s+/).map(Number)
    if (ppid === parent && pid !== undefined) children.push(pid)
  }
  return children
}

async function processGone(pid: number): Promise<void> {
  for (let waited = 0; isAlive(pid); waited += 20) {
    if (waited > END_MS) throw new Error(`process ${pid} is still there ${END_MS} ms after SIGKILL`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** False for a process that has ended, also where its first ancestor does not collect it (a zombie still takes signal 0). */
export function isAlive(pid: number): boolean {
  const state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim()
  return state !== '' && !state.startsWith('Z')
}

/** The last 64 KiB of a server's output. */
export function logTail(file: string): string {
  try {
    return readFileSync(file, 'utf8').slice(-65_536)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? '' : String(error)
  }
}
