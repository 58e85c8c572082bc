/** For tests: JetStream links on a real server, which can end as a killed process would. */
import { RunClock } from '../../../test/simulation/run-clock.ts'
import { soleMember, type Membership } from '../../cluster/membership.ts'
import { connectNats, type NatsLine } from '../../cluster/nats-connection.ts'
import { systemClock, systemRandom } from '../../../model/system-clock.ts'
import type { LinkUnderTest } from '../contract.ts'
import type { LinkEvent } from '../events.ts'
import type { FrameLink } from '../frame-link.ts'
import { openJetStreamLink, type JetStreamLinkOptions } from './jetstream-link.ts'

export interface TestLinkOptions {
  readonly servers: string
  readonly prefix: string
  readonly membership?: Membership
  readonly settings?: Partial<JetStreamLinkOptions>
}

export interface OpenTestLink {
  readonly link: FrameLink
  readonly line: NatsLine
  readonly events: LinkEvent[]
  readonly close: () => Promise<void>
  /** Leaves everything as it is: no good-bye, nothing stored any more. */
  readonly crash: () => Promise<void>
}

export function newPrefix(): string {
  return `t${systemRandom.uuid().slice(0, 8)}`
}

export async function openTestLink(options: TestLinkOptions): Promise<OpenTestLink> {
  const clock = new RunClock(systemClock)
  const line = await connectNats({ servers: options.servers, name: 'test', clock: systemClock })
  const events: LinkEvent[] = []
  const link = await openJetStreamLink({
    line,
    prefix: options.prefix,
    partitions: 8,
    streams: 4,
    replicas: 1,
    maxBytesPerPartition: 16 << 20,
    maxLetters: 1000,
    maxLetterBytes: 16 << 20,
    membership:
      options.membership ?? soleMember({ id: systemRandom.uuid(), roles: ['engine'], startedAt: systemClock.now() }),
    clock,
    random: systemRandom,
    onEvent: (event) => void events.push(event),
    ...options.settings,
    bounds: { retentionBytes: 32 << 20, ...options.settings?.bounds },
  }).catch(async (error: unknown) => {
    await line.close()
    throw error
  })
  return {
    link,
    line,
    events,
    close: async () => {
      await link.close()
      await line.close()
    },
    crash: async () => {
      clock.kill()
      await line.connection.close()
    },
  }
}

/** A link for the contract: what it leaves is on the server. */
export async function jetStreamUnderTest(options: TestLinkOptions): Promise<LinkUnderTest> {
  const open = await openTestLink(options)
  return {
    link: open.link,
    settlesDurable: () => open.link.flush(),
    reopen: async () => {
      await open.close()
      return jetStreamUnderTest(options)
    },
    crash: async () => {
      await open.crash()
      return jetStreamUnderTest(options)
    },
    buried: () => open.link.deadLetters.list({ limit: 100 }),
    close: () => open.close(),
  }
}
