/** What happens to a frame link that a person on call should know: rare, never one a message. */
import type { LinkEvent } from '../events.ts'
import type { StreamDamage } from './broker.ts'

export type FrameLinkEvent =
  | StreamDamageEvent
  | Extract<LinkEvent, { kind: 'receipt-threw' | 'dead-letter-not-stored' }>
  /** The broker does not answer: nothing is acknowledged and nothing delivered until it does. */
  | { readonly kind: 'broker-away' }
  | { readonly kind: 'broker-back' }
  /** The stream takes no more: devices are held back. Told once until it takes frames again. */
  | { readonly kind: 'stream-full'; readonly partition: number }
  | { readonly kind: 'stream-open'; readonly partition: number }
  /** The broker is there and this stream does not answer: its messages are refused. Told once until it takes frames again. */
  | { readonly kind: 'stream-silent'; readonly partition: number; readonly reason: string }
  | { readonly kind: 'stream-answers'; readonly partition: number }
  | { readonly kind: 'partition-taken'; readonly partition: number; readonly epoch: number; readonly from: string }
  | {
      readonly kind: 'partition-released'
      readonly partition: number
      readonly epoch: number
      readonly unsettled: number
    }
  /** Somebody else took it: what this process still holds of it counts for nothing. */
  | { readonly kind: 'partition-lost'; readonly partition: number; readonly epoch: number; readonly reason: string }
  /** This process stood still for so long that others may count it as gone: it asks before it goes on. */
  | { readonly kind: 'slept'; readonly forMs: number }
  /** Reading, fetching or noting of a partition failed and is tried again. */
  | { readonly kind: 'partition-troubled'; readonly partition: number; readonly reason: string }
  /** A frame whose checksum or schema is not as it should be: it stays in the stream, and is told at each reading. */
  | {
      readonly kind: 'frame-unreadable'
      readonly partition: number
      readonly position: number
      readonly reason: string
    }

/** Messages that were acknowledged and not settled are lost, unless a backup or another copy of the stream has them. */
export type StreamDamageEvent =
  | (StreamDamage & { readonly partition: number })
  /** The stream gives out positions for the second time: of what stood there, all that was not settled is gone. */
  | { readonly kind: 'stream-went-back'; readonly partition: number; readonly from: number; readonly to: number }

export type FrameLinkEventListener = (event: FrameLinkEvent) => void
