/** The files of a log: one a segment, numbered. */

export interface SegmentFile {
  readonly id: number
  readonly path: string
  /** How many bytes are valid: they are durable, or were when the segment was left. */
  end: number
  /** The sequence that follows the last message of this segment. */
  nextSequence: number
  /** It is kept aside for a rescue when it leaves the log. */
  isDamaged: boolean
  /** It is being removed, or is gone: nobody opens it any more. */
  isLeaving: boolean
}

/** What a segment says in its first bytes. */
export interface SegmentHeader {
  readonly id: number
  /** The segment before this one, 0 for none, how many of its bytes are valid, and which sequence follows its last. */
  readonly previousId: number
  readonly previousEnd: number
  readonly previousNextSequence: number
  /** No sequence at or above this one was given out before. */
  readonly nextSequence: number
}

/** How a log names its segments, and begins them. */
export interface SegmentFormat {
  name(id: number): string
  /** The segment's number, or undefined for a file that is none. */
  id(name: string): number | undefined
  header(header: SegmentHeader): Buffer
}

/** Segments named `<prefix>0000000001.log`. */
export function segmentNames(prefix: string): Pick<SegmentFormat, 'name' | 'id'> {
  const pattern = new RegExp(`^${prefix}(\\d{10})\\.log$`)
  return {
    name: (id) => `${prefix}${String(id).padStart(10, '0')}.log`,
    id: (name) => {
      const digits = pattern.exec(name)?.[1]
      return digits === undefined ? undefined : Number(digits)
    },
  }
}

export function segmentFile(id: number, path: string, end: number, nextSequence: number): SegmentFile {
  return { id, path, end, nextSequence, isDamaged: false, isLeaving: false }
}
