/** Faults of what processes live on: script sandboxes, memory, room on the disk. */
import { fillDisk, freeDisk } from './small-disk.ts'
import { requireOne, type Fault } from './fault.ts'
import type { Member } from './member.ts'
import type { World } from './world.ts'

const sandboxKilled: Fault = {
  name: 'SIGKILL of a script sandbox',
  row: 'Q3',
  shape: 'production',
  holdMs: [500, 1_500],
  inject: async (world, random) => {
    const sandboxes = world.engines.flatMap((engine) => engine.children())
    process.kill(requireOne(sandboxes, random), 'SIGKILL')
    return async () => undefined // The engine starts another one by itself.
  },
}

/** The chain's script takes all the memory there is when a message bids it to; the messages of others go through the same script. */
const scriptOutOfMemory: Fault = {
  name: 'a script out of memory',
  row: 'Q3',
  shape: 'production',
  holdMs: [1_000, 2_000],
  inject: async (world, random) => {
    const { url } = requireOne(world.transports, random).address
    const response = await fetch(`${url}/api/v1/${GLUTTON_TOKEN}/telemetry`, {
      method: 'POST',
      body: '{"devour":true}',
    })
    await response.arrayBuffer()
    return async () => undefined
  },
}

export const GLUTTON_TOKEN = 'GLUTTON'

/** Returns the status. */
async function sendAsGlutton({ address }: Member, values: object): Promise<number> {
  const url = `${address.url}/api/v1/${GLUTTON_TOKEN}/telemetry`
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(values) })
  await response.arrayBuffer()
  return response.status
}

/** Room that the stores had set aside before the disk was full is used up first. */
async function sendUntilRefused(member: Member): Promise<void> {
  const padding = 'x'.repeat(20_000)
  for (let count = 0; count < 4_000; count++) if ((await sendAsGlutton(member, { padding })) !== 200) return
  throw new Error('the disk was never full')
}

function disk(world: World): string {
  if (world.smallDisk === undefined) throw new Error('the world has no disk of its own')
  return world.smallDisk
}

/** NATS switches JetStream off when it meets the end of the disk: it has to be started again once there is room. */
const natsDiskFull: Fault = {
  name: 'the disk of NATS full',
  row: 'D7',
  shape: 'production',
  onSmallDisk: true,
  holdMs: [2_000, 4_000],
  inject: async (world, random) => {
    fillDisk(disk(world))
    return async () => {
      freeDisk(disk(world))
      await requireOne(world.servers.nats, random).restart()
    }
  },
}

const embeddedDiskFull: Fault = {
  name: 'the disk full',
  row: 'D7',
  shape: 'embedded',
  onSmallDisk: true,
  holdMs: [2_000, 4_000],
  inject: async (world) => {
    fillDisk(disk(world))
    await sendUntilRefused(world.api)
    return async () => freeDisk(disk(world))
  },
}

export const RESOURCE_FAULTS: readonly Fault[] = [sandboxKilled, scriptOutOfMemory, natsDiskFull, embeddedDiskFull]
