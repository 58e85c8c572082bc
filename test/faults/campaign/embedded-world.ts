/** The embedded default: one process is transport, engine and API, and everything is in its data folder. */
import { join } from 'node:path'
import { Member } from './member.ts'
import type { World } from './world.ts'

export async function openEmbeddedWorld(smallDisk?: string): Promise<World> {
  const place = smallDisk === undefined ? {} : { dataDir: join(smallDisk, 'data') }
  return embeddedWorldOf(await Member.start({ name: 'process', environment: {}, ...place }), smallDisk)
}

/** Closing it closes the process. */
export function embeddedWorldOf(member: Member, smallDisk?: string): World {
  return {
    shape: 'embedded',
    transports: [member],
    engines: [member],
    api: member,
    members: [member],
    servers: { nats: [], postgres: [], questdb: [] },
    lines: () => [],
    addresses: [member.address],
    deviceLines: [],
    addEngine: () => Promise.reject(new Error('the embedded shape is one process')),
    smallDisk,
    close: () => member.close(),
  }
}
