/** Faults of processes: killed, stopped for a while, added and removed. */
import type { RunningServer, StoreServer } from '../../support/servers/index.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { requireOne, type Fault } from './fault.ts'
import type { Member } from './member.ts'
import type { Shape, World } from './world.ts'

type ChooseMember = (world: World, random: SeededRandom) => Member

const anEngine: ChooseMember = ({ engines }, random) => requireOne(engines, random)
const aTransport: ChooseMember = ({ transports }, random) => requireOne(transports, random)
const theApi: ChooseMember = ({ api }) => api

function killMember(name: string, choose: ChooseMember, shape: Shape = 'production', row = 'D2'): Fault {
  return {
    name: `SIGKILL of ${name}`,
    row,
    shape,
    holdMs: [0, 4_000],
    inject: async (world, random) => {
      const member = choose(world, random)
      await member.kill()
      return () => member.restart()
    },
  }
}

function pauseMember(
  name: string,
  choose: ChooseMember,
  holdMs: readonly [number, number] = [2_000, 5_000],
  shape: Shape = 'production',
): Fault {
  return {
    name: `SIGSTOP of ${name}`,
    row: 'K2',
    shape,
    holdMs,
    inject: async (world, random) => {
      const member = choose(world, random)
      member.pause()
      return async () => member.resume()
    },
  }
}

function killServer(server: StoreServer, title: string): Fault {
  return {
    name: `SIGKILL of ${title}`,
    row: 'D2',
    shape: 'production',
    holdMs: [0, 4_000],
    inject: async ({ servers }, random) => {
      const one = requireOne(servers[server], random)
      await one.kill()
      return () => one.restart()
    },
  }
}

function pauseServer(server: StoreServer, title: string): Fault {
  return {
    name: `SIGSTOP of ${title}`,
    row: server === 'nats' ? 'D2' : 'B1',
    shape: 'production',
    holdMs: [2_000, 5_000],
    inject: async ({ servers }, random) => pause(requireOne(servers[server], random)),
  }
}

async function pause(server: RunningServer): Promise<() => Promise<void>> {
  server.pause()
  return async () => server.resume()
}

/** The servers first: members that find none at their start wait for them only for a while. */
const killAll: Fault = {
  name: 'SIGKILL of everything at once',
  row: 'D2',
  shape: 'production',
  holdMs: [0, 1_000],
  inject: async ({ members, servers }) => {
    const all = [...servers.nats, ...servers.postgres, ...servers.questdb]
    await Promise.all([...members, ...all].map((one) => one.kill()))
    return async () => {
      await Promise.all(all.map((server) => server.restart()))
      await Promise.all(members.map((member) => member.restart()))
    }
  },
}

const engineJoins: Fault = {
  name: 'an engine added and removed again',
  row: 'K1',
  shape: 'production',
  holdMs: [3_000, 5_000],
  inject: async (world) => {
    const engine = await world.addEngine()
    return () => engine.stop()
  },
}

const engineLeaves: Fault = {
  name: 'an engine removed (SIGTERM) and added again',
  row: 'K1',
  shape: 'production',
  holdMs: [2_000, 4_000],
  inject: async (world, random) => {
    const engine = anEngine(world, random)
    await engine.stop()
    return () => engine.restart()
  },
}

const natsNodeKilled: Fault = {
  name: 'SIGKILL of one of three NATS nodes',
  row: 'D2',
  shape: 'nats-cluster',
  holdMs: [1_000, 4_000],
  inject: async ({ servers }, random) => {
    const node = requireOne(servers.nats, random)
    await node.kill()
    return () => node.restart()
  },
}

const natsNodePaused: Fault = {
  name: 'SIGSTOP of one of three NATS nodes',
  row: 'D2',
  shape: 'nats-cluster',
  holdMs: [2_000, 5_000],
  inject: async ({ servers }, random) => pause(requireOne(servers.nats, random)),
}

const natsMajorityKilled: Fault = {
  name: 'SIGKILL of two of three NATS nodes',
  row: 'D2',
  shape: 'nats-cluster',
  holdMs: [500, 2_000],
  inject: async ({ servers }, random) => {
    const kept = requireOne(servers.nats, random)
    const killed = servers.nats.filter((node) => node !== kept)
    await Promise.all(killed.map((node) => node.kill()))
    return async () => {
      await Promise.all(killed.map((node) => node.restart()))
    }
  },
}

export const PROCESS_FAULTS: readonly Fault[] = [
  killMember('an engine', anEngine),
  killMember('a transport', aTransport),
  killMember('the API', theApi),
  killServer('nats', 'NATS'),
  // What waits for it is refused after 10 s.
  { ...killServer('nats', 'NATS for longer than a publish waits'), holdMs: [11_000, 14_000] },
  killServer('postgres', 'PostgreSQL'),
  killServer('questdb', 'QuestDB'),
  killAll,
  pauseMember('an engine', anEngine),
  pauseMember('an engine until others have its partitions', anEngine, [6_000, 8_000]),
  pauseMember('an engine for 30 s', anEngine, [30_000, 30_000]),
  pauseMember('a transport', aTransport),
  pauseMember('the API', theApi),
  pauseServer('nats', 'NATS'),
  pauseServer('postgres', 'PostgreSQL'),
  pauseServer('questdb', 'QuestDB'),
  engineJoins,
  engineLeaves,
  natsNodeKilled,
  natsNodePaused,
  natsMajorityKilled,
  killMember('an engine, NATS in three copies', anEngine, 'nats-cluster'),
  killMember('the one process', anEngine, 'embedded', 'D1'),
  pauseMember('the one process', anEngine, [1_000, 5_000], 'embedded'),
]
