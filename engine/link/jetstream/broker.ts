/**
 * What the frame link asks of a broker: streams of frames, one a partition, and a record a partition that is changed only by
 * who knows its present revision. `nats-broker.ts` is JetStream; a simulated one runs a whole cluster in one process on a
 * simulated clock.
 */

/** A frame as the stream keeps it. */
export interface StoredFrame {
  /** Rises within the partition. */
  readonly position: number
  /**
   * When it was stored, Unix ms of the broker's clock: a position that is known as settled and was stored later than it is another frame's
   * (the broker lost its end and counted again).
   */
  readonly storedAt: number
  readonly body: Uint8Array
  /**
   * How to settle the frame: it leaves the stream. Resolves when the broker has noted it, rejects where the reader is over. Kept for longer
   * than the frame: it must not hold the body.
   */
  readonly acknowledge: () => Promise<void>
}

/** Frames of one partition, in order, from the oldest that is not acknowledged. */
export interface FrameReader {
  /** At most `frames` more may be handed to `onFrame`; called again as there is room. */
  request(frames: number): void
  close(): Promise<void>
}

export interface PartitionRecord {
  readonly body: Uint8Array
  /** Handed back to change it. */
  readonly revision: number
}

/** Frames of a stream that nobody will be handed any more. */
export type StreamDamage =
  /** They stay in the stream, which counts them and steps over them: their bytes are damaged. */
  | { readonly kind: 'frames-missing'; readonly from: number; readonly to: number; readonly frames: number }
  /** The broker found its files damaged and dropped what it could not read; how many frames that were it may not know. */
  | { readonly kind: 'frames-dropped'; readonly bytes: number; readonly frames: number | undefined }

export interface FrameReaderListener {
  onFrame(frame: StoredFrame): void
  /** Told by every reader that meets it. */
  onDamage(damage: StreamDamage): void
  /** The reader was ended by somebody else's take-over, or by a lost connection: frames may be missing from here on. */
  onLost(reason: Error): void
}

export interface FrameBroker {
  readonly partitions: number
  /** False while the broker does not answer. */
  readonly connected: boolean
  onConnection(listener: (connected: boolean) => void): () => void
  /**
   * Messages of all queues share the frames of their partition, so that positions rise over the queues of an originator. Resolves with the
   * frame's position once it is stored as durably as the stream is configured. Stored once for one `frameId`, however
   * often it is tried within the broker's memory of ids (minutes). Rejects `retryable`: BACKLOG_FULL where the stream is full,
   * BROKER_AWAY where no answer came (it may be stored: try again with the same id).
   */
  publish(partition: number, body: Uint8Array, frameId: string): Promise<number>
  readRecord(partition: number): Promise<PartitionRecord | undefined>
  /** Rejects FENCED where the record has another revision (or exists, for `revision` undefined). Resolves with the new revision. */
  writeRecord(partition: number, body: Uint8Array, revision: number | undefined): Promise<number>
  /**
   * Starts reading as the owner of this epoch, with every frame that is not acknowledged, and ends every reader of this and of earlier epochs.
   * Rejects FENCED where one of a later epoch reads.
   */
  read(partition: number, epoch: number, listener: FrameReaderListener): Promise<FrameReader>
  /** The body of a stored frame once more; undefined where it has left the stream. */
  fetch(partition: number, position: number): Promise<Uint8Array | undefined>
  close(): Promise<void>
}
