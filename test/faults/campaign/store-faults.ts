/** Faults of the disks and lines below the stores: full or failing under PostgreSQL and QuestDB, and a cut between NATS nodes. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { RunningServer, StoreServer } from '../../support/servers/index.ts'
import { hasTool } from '../../support/require-tool.ts'
import { isAlive } from '../../support/servers/server-process.ts'
import { requireOne, type Fault } from './fault.ts'
import { fillDisk, freeDisk } from './small-disk.ts'

type Store = Extract<StoreServer, 'postgres' | 'questdb'>

const TITLES: Readonly<Record<Store, string>> = { postgres: 'PostgreSQL', questdb: 'QuestDB' }

/** Either server may end itself at the end of its disk: then it is started again once there is room. */
function diskFull(store: Store): Fault {
  return {
    name: `the disk of ${TITLES[store]} full`,
    row: 'D7',
    shape: 'production',
    onSmallDisk: true,
    smallDiskOf: store,
    holdMs: [3_000, 5_000],
    inject: async ({ smallDisk, servers }, random) => {
      if (smallDisk === undefined) throw new Error('the world has no disk of its own')
      const server = requireOne(servers[store], random)
      fillDisk(smallDisk)
      return async () => {
        freeDisk(smallDisk)
        await server.restart()
      }
    },
  }
}

/** Writes and syncs of files fail; sockets are written by other calls. What the server made of it, its restart has to mend. */
function diskFailing(store: Store): Fault {
  return {
    name: `EIO under ${TITLES[store]}`,
    row: 'D6',
    shape: 'production',
    holdMs: [2_000, 4_000],
    inject: async ({ servers }, random) => {
      if (!hasTool('strace')) throw new Error('needs strace, which is not on this machine')
      const server = requireOne(servers[store], random)
      const end = await failDiskCalls(server)
      return async () => {
        await end()
        await server.restart()
      }
    },
  }
}

const FAILING_CALLS = 'pwrite64,pwritev,fdatasync,fsync,msync'

async function failDiskCalls(server: RunningServer): Promise<() => Promise<void>> {
  const pids = [server.pid, ...childrenOf(server.pid)].filter(isAlive)
  const strace = spawn(
    'strace',
    [
      ...['-f', '-qq', '-s', '0', '-o', '/dev/null', ...pids.flatMap((pid) => ['-p', String(pid)])],
      ...['-e', `trace=${FAILING_CALLS}`, '-e', `inject=${FAILING_CALLS}:error=EIO`],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const ended = once(strace, 'exit')
  // It tells of nothing when it is quiet: that the server is traced is in the kernel's own words.
  createInterface({ input: strace.stderr }).on('line', () => undefined)
  await isTraced(server.pid)
  return async () => {
    strace.kill('SIGINT')
    await ended
  }
}

async function isTraced(pid: number): Promise<void> {
  const deadline = performance.now() + 10_000
  while (spawnSync('grep', ['-q', '^TracerPid:[[:space:]]*[1-9]', `/proc/${pid}/status`]).status !== 0) {
    if (performance.now() > deadline) throw new Error(`strace did not attach to ${pid}`)
  }
}

function childrenOf(parent: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return stdout.split('\n').flatMap((line) => {
    const [pid, ppid] = line.trim().split(/\s+/).map(Number)
    return ppid === parent && pid !== undefined ? [pid] : []
  })
}

/** One node hears nothing of the other two, and clients reach all three. */
const natsNodeCutOff: Fault = {
  name: 'one of three NATS nodes cut off from the others',
  row: 'K3',
  shape: 'nats-cluster',
  holdMs: [3_000, 8_000],
  inject: async ({ natsRoutes }, random) => {
    const node = random.between(0, 2)
    const cut = natsRoutes.filter(({ nodes }) => nodes.includes(node)).map(({ line }) => line)
    if (cut.length !== 4) throw new Error(`the node has ${cut.length} routes in place of 4`)
    for (const line of cut) line.change({ stalled: true })
    return async () => {
      await Promise.all(cut.map((line) => line.heal()))
    }
  },
}

export const STORE_FAULTS: readonly Fault[] = [
  diskFull('postgres'),
  diskFull('questdb'),
  diskFailing('postgres'),
  diskFailing('questdb'),
  natsNodeCutOff,
]
