/** What happens to a link that a person on call should know: rare, never one a message. */
import type { DiskEvent } from '../../disk/events.ts'

export type LinkEvent =
  | DiskEvent
  /** The dead-letter store is over its bound: its oldest letters went. */
  | { readonly kind: 'dead-letters-dropped'; readonly count: number }
  /** Letters are stored, and what each tenant has can not be looked at: shares are not kept meanwhile. Told once until it can. */
  | { readonly kind: 'dead-letter-shares-unknown'; readonly reason: string }
  /** Messages that were acknowledged and not settled are lost, unless a backup or another copy of the stream has them. */
  | (StreamDamage & { readonly stream: number })
  /** The same: the stream gives out positions for the second time, and of what stood there, all that was not settled is gone. */
  | { readonly kind: 'stream-went-back'; readonly stream: number; readonly from: number; readonly to: number }
  | { readonly kind: 'receipt-threw'; readonly error: unknown }
  | { readonly kind: 'dead-letter-not-stored'; readonly sequence: number; readonly error: unknown }
  /** The broker does not answer: nothing is acknowledged and nothing delivered until it does. */
  | { readonly kind: 'broker-away' }
  | { readonly kind: 'broker-back' }
  /** The stream takes no more: devices are held back. Told once until it takes frames again. */
  | { readonly kind: 'stream-full'; readonly stream: number }
  | { readonly kind: 'stream-open'; readonly stream: number }
  /** The broker is there and this stream does not answer: its messages are refused. Told once until it takes frames again. */
  | { readonly kind: 'stream-silent'; readonly stream: number; readonly reason: string }
  | { readonly kind: 'stream-answers'; readonly stream: number }
  | { readonly kind: 'stream-taken'; readonly stream: number; readonly epoch: number; readonly from: string }
  | { readonly kind: 'stream-released'; readonly stream: number; readonly epoch: number; readonly unsettled: number }
  /** Somebody else took it: what this process still holds of it counts for nothing. */
  | { readonly kind: 'stream-lost'; readonly stream: number; readonly epoch: number; readonly reason: string }
  /** Reading, fetching or noting of a stream failed and is tried again. */
  | { readonly kind: 'stream-troubled'; readonly stream: number; readonly reason: string }
  /** This process stood still for so long that others may count it as gone: it asks before it goes on. */
  | { readonly kind: 'slept'; readonly forMs: number }
  /** A frame whose checksum or schema is not as it should be: it stays in the stream, and is told at each reading. */
  | { readonly kind: 'frame-unreadable'; readonly stream: number; readonly position: number; readonly reason: string }

export type LinkEventListener = (event: LinkEvent) => void

/** Frames of a stream that nobody will be handed any more. */
export type StreamDamage =
  /** They stay in the stream, which counts them and steps over them: their bytes are damaged. */
  | { readonly kind: 'frames-missing'; readonly from: number; readonly to: number; readonly frames: number }
  /** The broker found its files damaged and dropped what it could not read; how many frames that were it may not know. */
  | { readonly kind: 'frames-dropped'; readonly bytes: number; readonly frames: number | undefined }
