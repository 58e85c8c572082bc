/** What a record of the log says. The form of a write is made on the caller's thread and kept as it is. */
import type { DeleteRange } from '../store.ts'
import { ByteReader, ByteWriter } from './bytes.ts'

/** Codes on disk. */
export const OPERATION = { WRITE: 1, DELETE_RANGE: 2, DELETE_ENTITY: 3 } as const

export type Operation =
  /** Batches one after the other, as `encodeBatch` makes them. */
  | { readonly kind: typeof OPERATION.WRITE; readonly batches: Uint8Array }
  | { readonly kind: typeof OPERATION.DELETE_RANGE; readonly range: DeleteRange }
  | { readonly kind: typeof OPERATION.DELETE_ENTITY; readonly entityId: string }

export function encodeOperation(operation: Operation): Buffer {
  const writer = new ByteWriter(256)
  writer.byte(operation.kind)
  switch (operation.kind) {
    case OPERATION.WRITE:
      writer.bytes(operation.batches)
      break
    case OPERATION.DELETE_RANGE:
      encodeRange(writer, operation.range)
      break
    case OPERATION.DELETE_ENTITY:
      writer.text(operation.entityId)
  }
  return writer.copy()
}

/** Throws a RangeError for bytes that are none. */
export function decodeOperation(bytes: Uint8Array): Operation {
  const reader = new ByteReader(bytes)
  const kind = reader.byte()
  switch (kind) {
    case OPERATION.WRITE:
      return { kind, batches: bytes.subarray(1) }
    case OPERATION.DELETE_RANGE:
      return { kind, range: decodeRange(reader) }
    case OPERATION.DELETE_ENTITY:
      return { kind, entityId: reader.text() }
    default:
      throw new RangeError(`operation ${kind}`)
  }
}

function encodeRange(writer: ByteWriter, range: DeleteRange): void {
  writer.text(range.entityId)
  writer.float(range.startTs)
  writer.float(range.endTs)
  writer.byte((range.deleteLatest ? 1 : 0) | (range.rewriteLatest ? 2 : 0))
  writer.unsigned(range.keys.length)
  for (const key of range.keys) writer.text(key)
}

function decodeRange(reader: ByteReader): DeleteRange {
  const entityId = reader.text()
  const startTs = reader.float()
  const endTs = reader.float()
  const flags = reader.byte()
  const keys: string[] = []
  for (let left = reader.unsigned(); left > 0; left--) keys.push(reader.text())
  return { entityId, keys, startTs, endTs, deleteLatest: (flags & 1) !== 0, rewriteLatest: (flags & 2) !== 0 }
}
