/** Faults of the lines between members and servers: cut, silent, slow, or one engine alone without them. */
import type { FaultProxy } from '../../support/fault-proxy.ts'
import type { StoreServer } from '../../support/servers/index.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { requireOne, type Fault, type Heal } from './fault.ts'

const TITLES: Readonly<Record<StoreServer, string>> = { nats: 'NATS', postgres: 'PostgreSQL', questdb: 'QuestDB' }

function healOf(lines: readonly FaultProxy[]): Heal {
  return async () => {
    await Promise.all(lines.map((line) => line.heal()))
  }
}

function linesFault(
  server: StoreServer,
  name: string,
  holdMs: readonly [number, number],
  worsen: (lines: readonly FaultProxy[], random: SeededRandom) => void,
): Fault {
  return {
    name: `${name} ${TITLES[server]}`,
    row: server === 'nats' ? 'D2' : 'B1',
    shape: 'production',
    holdMs,
    inject: async (world, random) => {
      const lines = world.lines(server)
      worsen(lines, random)
      return healOf(lines)
    },
  }
}

/** One of them at an arbitrary byte, in either direction. */
function cutAll(lines: readonly FaultProxy[], random: SeededRandom): void {
  const odd = random.pick(lines)
  for (const line of lines) if (line !== odd) line.cut('reset')
  odd.cutAfter(random.between(1, 2_000), random.pick(['toServer', 'toClient']))
}

function silenceAll(lines: readonly FaultProxy[]): void {
  for (const line of lines) line.change({ swallowing: true })
}

function slowAll(lines: readonly FaultProxy[], random: SeededRandom): void {
  const weather = {
    delayMs: random.between(20, 150),
    jitterMs: 100,
    bytesPerSecond: random.between(20, 200) * 1024,
    largestPiece: 700,
  }
  for (const line of lines) line.change(weather)
}

function alone(server: StoreServer): Fault {
  return {
    name: `one engine alone without ${TITLES[server]}`,
    row: 'K3',
    shape: 'production',
    holdMs: [4_000, 7_000],
    inject: async (world, random) => {
      const lines = world.lines(server, [requireOne(world.engines, random)])
      for (const line of lines) line.change({ stalled: true })
      return healOf(lines)
    },
  }
}

function deviceFault(
  name: string,
  holdMs: readonly [number, number],
  worsen: (lines: readonly FaultProxy[], random: SeededRandom) => void,
): Fault {
  return {
    name: `${name} of devices over MQTT`,
    row: 'O2',
    shape: 'production',
    holdMs,
    inject: async ({ deviceLines }, random) => {
      worsen(deviceLines, random)
      return healOf(deviceLines)
    },
  }
}

export const LINE_FAULTS: readonly Fault[] = [
  ...(['nats', 'postgres', 'questdb'] as const).flatMap((server) => [
    linesFault(server, 'connections cut to', [0, 500], cutAll),
    linesFault(server, 'half-open connections to', [2_000, 5_000], silenceAll),
    linesFault(server, 'a slow network to', [3_000, 6_000], slowAll),
  ]),
  deviceFault('connections cut', [0, 500], cutAll),
  deviceFault('half-open connections', [2_000, 5_000], silenceAll),
  deviceFault('a slow network', [3_000, 5_000], slowAll),
  alone('nats'),
  alone('postgres'),
  alone('questdb'),
]
