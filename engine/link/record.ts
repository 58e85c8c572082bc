/**
 * What is kept of a stream beside its frames: who owns it since which epoch, how far it was read, and what is settled within the
 * frames that are not settled whole. Everything at or below `read` that is not among the open frames is settled.
 */
import { z } from 'zod'

/** What an observer of a stream keeps with the stream's record. */
export interface ObserverNote {
  /** It belongs behind the frame of this position. */
  readonly upTo: number
  readonly bytes: Uint8Array
}

/** What is known of a frame that was read and is not settled whole. */
export interface OpenFrame {
  /** One bit a message, lowest first: settled. Undefined: none. */
  readonly settled: Uint8Array | undefined
  /** Tries so far, by index in the frame. */
  readonly tries: ReadonlyMap<number, number> | undefined
}

/** Of bits that stand as those of `settled` above. */
export function isMarked(bits: Uint8Array | undefined, index: number): boolean {
  return ((bits?.[index >>> 3] ?? 0) & (1 << (index & 7))) !== 0
}

export function mark(bits: Uint8Array, index: number): void {
  bits[index >>> 3] = (bits[index >>> 3] ?? 0) | (1 << (index & 7))
}

/** A frame, and when it was stored: the same position may be another frame's later. */
export interface ReadPoint {
  readonly position: number
  /** Unix ms. */
  readonly storedAt: number
}

export interface OwnerRecord {
  readonly epoch: number
  /** Empty: released. */
  readonly owner: string
  /** Unix ms. */
  readonly since: number
  readonly read: ReadPoint
  readonly open: ReadonlyMap<number, OpenFrame>
  readonly note: ObserverNote | undefined
}

/** The record of a stream that nobody ever owned. */
export const NEW_RECORD: OwnerRecord = {
  epoch: 0,
  owner: '',
  since: 0,
  read: { position: 0, storedAt: 0 },
  open: new Map(),
  note: undefined,
}

const RecordSchema = z.object({
  version: z.literal(1),
  epoch: z.number().int().nonnegative(),
  owner: z.string(),
  since: z.number(),
  read: z.tuple([z.number(), z.number()]),
  /** Ranges of positions: start, count. */
  open: z.array(z.tuple([z.number(), z.number()])),
  /** Of some of them: position, settled bits in base64, pairs of index and tries. */
  partly: z.array(z.tuple([z.number(), z.string(), z.array(z.tuple([z.number(), z.number()]))])),
  /** Position and bytes in base64. */
  note: z.tuple([z.number(), z.string()]).optional(),
})

export function encodeRecord(record: OwnerRecord): Uint8Array {
  const positions = [...record.open.keys()].sort((a, b) => a - b)
  const open: [number, number][] = []
  const partly: [number, string, [number, number][]][] = []
  for (const position of positions) {
    const last = open.at(-1)
    if (last !== undefined && last[0] + last[1] === position) last[1]++
    else open.push([position, 1])
    const { settled, tries } = record.open.get(position) ?? {}
    if (settled === undefined && tries === undefined) continue
    partly.push([position, settled === undefined ? '' : Buffer.from(settled).toString('base64'), [...(tries ?? [])]])
  }
  const { epoch, owner, since, read, note } = record
  const noted = note === undefined ? undefined : [note.upTo, Buffer.from(note.bytes).toString('base64')]
  return Buffer.from(
    JSON.stringify({
      version: 1,
      epoch,
      owner,
      since,
      read: [read.position, read.storedAt],
      open,
      partly,
      note: noted,
    }),
  )
}

/** Throws where the body is no record of a version that is known. */
export function decodeRecord(body: Uint8Array): OwnerRecord {
  const content = RecordSchema.parse(JSON.parse(Buffer.from(body).toString()))
  const open = new Map<number, OpenFrame>()
  for (const [start, count] of content.open) {
    for (let position = start; position < start + count; position++) {
      open.set(position, { settled: undefined, tries: undefined })
    }
  }
  for (const [position, settled, tries] of content.partly) {
    open.set(position, {
      settled: settled === '' ? undefined : Buffer.from(settled, 'base64'),
      tries: tries.length === 0 ? undefined : new Map(tries),
    })
  }
  const { epoch, owner, since } = content
  const [position, storedAt] = content.read
  const [upTo, bytes] = content.note ?? []
  const note = upTo === undefined ? undefined : { upTo, bytes: Buffer.from(bytes ?? '', 'base64') }
  return { epoch, owner, since, read: { position, storedAt }, open, note }
}
