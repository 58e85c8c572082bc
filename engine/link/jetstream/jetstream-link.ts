/** The frame link on NATS JetStream, ready to use. */
import type { Clock, Random } from '../../../model/clock.ts'
import type { Membership } from '../../cluster/membership.ts'
import type { NatsLine } from '../../cluster/nats-connection.ts'
import type { LinkEventListener } from '../events.ts'
import { FrameLink } from '../frame-link.ts'
import { checkDurability, type DurabilityOptions, type DurabilityReport } from './nats-durability.ts'
import { openNatsBroker } from './nats-broker.ts'
import { openNatsLetters } from './nats-letters.ts'
import { DEFAULT_FRAME_BOUNDS, type FrameLinkBounds, type FrameObserver } from '../options.ts'

export interface JetStreamLink extends FrameLink {
  /** What an acknowledgement is worth on these servers. */
  readonly durability: DurabilityReport
}

export interface JetStreamLinkOptions extends DurabilityOptions {
  /** Shared with membership and change feed; stays its owner's to close, after the link. */
  readonly line: NatsLine
  /** What the names of streams and subjects begin with. */
  readonly prefix: string
  readonly partitions: number
  /** Units of ownership: at most so many processes share the work. */
  readonly streams: number
  /** What a partition takes before devices are held back; the servers set it aside at once, for all partitions and copies. */
  readonly maxBytesPerPartition: number
  readonly maxLetters: number
  readonly maxLetterBytes: number
  readonly membership: Membership
  readonly clock: Clock
  readonly random: Random
  readonly bounds?: Partial<FrameLinkBounds>
  readonly observer?: FrameObserver | undefined
  readonly onEvent?: LinkEventListener
}

/** What a frame's subject and headers take of the server's bound on a message, with some to spare. */
const OVERHEAD_BYTES = 4096

/** Makes or checks the streams. Throws BROKER_AWAY, PARTITIONS_DIFFER, STREAMS_DIFFER, STREAM_UNFIT and NOT_DURABLE of the link's errors. */
export async function openJetStreamLink(options: JetStreamLinkOptions): Promise<JetStreamLink> {
  const bounds = { ...DEFAULT_FRAME_BOUNDS, ...options.bounds }
  const maxPayload = options.line.connection.info?.max_payload ?? 1 << 20
  const durability = await checkDurability(options)
  const { retentionBytes, restMs, ownFrameBytes } = bounds
  const maxFrameBytes = maxPayload - OVERHEAD_BYTES
  const broker = await openNatsBroker({ ...options, retentionBytes, restMs, ownFrameBytes, maxFrameBytes })
  const letters = await openNatsLetters({ ...options, maxBytes: options.maxLetterBytes })
  const link = new FrameLink({ ...options, broker, letters, bounds })
  return Object.assign(link, { durability })
}
