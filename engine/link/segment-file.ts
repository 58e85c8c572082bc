/** The files of a log: one a segment, numbered. */

export interface SegmentFile {
  readonly id: number
  readonly path: string
  /** How many bytes are valid: they are durable, or were when the segment was left. */
  end: number
  /** The sequence that follows the last message of this segment. */
  nextSequence: number
}

const NAME = /^segment-(\d{10})\.log$/

export function segmentPath(directory: string, id: number): string {
  return `${directory}/segment-${String(id).padStart(10, '0')}.log`
}

/** The segment's number, or undefined for a file that is none. */
export function segmentId(name: string): number | undefined {
  const match = NAME.exec(name)
  return match === null ? undefined : Number(match[1])
}
