/**
 * Bytes of files in the entity database, in pieces, so that neither a statement nor a row is as large as a file. They are written in the
 * transaction of the entity that has them, and go with it.
 */
import type { Clock, Random } from '../../model/clock.ts'
import type { Statement } from '../../storage/entities/database.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { EntityTable } from '../../storage/entities/tables/entity-table.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'

export const CONTENT_PIECES: EntityTable = {
  name: 'content_piece',
  version: 1,
  columns: [
    { name: 'owner_id', type: 'text', isNullable: false },
    { name: 'position', type: 'integer', isNullable: false },
    { name: 'data', type: 'text', isNullable: false },
  ],
  unique: [{ columns: ['owner_id', 'position'] }],
  indexes: [],
}

/** Before base64; a multiple of 3, so that pieces join. */
export const PIECE_BYTES = 393_216

export class StoredBytes {
  private readonly rows: RowStore
  private readonly clock: Clock
  private readonly random: Random

  constructor(entities: EntityStore, clock: Clock, random: Random) {
    const overtaken = (): Error => EntityStoreErrors.VERSION_CONFLICT({ entity: 'File' })
    this.rows = entities.rows(CONTENT_PIECES, { taken: { 'owner_id, position': overtaken }, overtaken })
    this.clock = clock
    this.random = random
  }

  /** Steps that replace what the owner had. */
  replace(owner: { readonly id: string; readonly tenantId: string }, bytes: Uint8Array): readonly Statement[] {
    const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const pieces = Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, position) =>
      this.rows.insert({
        id: this.random.uuid(),
        created_time: this.clock.now(),
        version: 1,
        tenant_id: owner.tenantId,
        owner_id: owner.id,
        position,
        data: file.toString('base64', position * PIECE_BYTES, (position + 1) * PIECE_BYTES),
      }),
    )
    return [deletePieces(this.rows, owner.id), ...pieces]
  }

  async read(ownerId: string): Promise<Buffer> {
    return joined(await this.rows.findAll([{ column: 'owner_id', is: ownerId }]))
  }

  /** A part of it, without reading the rest; empty behind the end. */
  async readPart(ownerId: string, start: number, length: number): Promise<Buffer> {
    if (length <= 0) return Buffer.alloc(0)
    const first = Math.floor(start / PIECE_BYTES)
    const count = Math.floor((start + length - 1) / PIECE_BYTES) - first + 1
    const positions = Array.from({ length: count }, (_, index) => first + index)
    const rows = await this.rows.findAll([
      { column: 'owner_id', is: ownerId },
      { column: 'position', in: positions },
    ])
    const from = start - first * PIECE_BYTES
    return joined(rows).subarray(from, from + length)
  }
}

/** What a part takes in memory: whole pieces are read for it. */
export function bytesRead(start: number, length: number, whole: number): number {
  const first = Math.floor(start / PIECE_BYTES) * PIECE_BYTES
  return Math.min(whole, Math.ceil((start + length) / PIECE_BYTES) * PIECE_BYTES) - first
}

/** Under what the preview of a picture is kept. */
export function previewOf(ownerId: string): string {
  return `${ownerId}/preview`
}

/** The step that lets the bytes go with their owner. */
export function forgetBytes(entities: EntityStore, ownerId: string): Statement {
  const overtaken = (): Error => EntityStoreErrors.VERSION_CONFLICT({ entity: 'File' })
  return deletePieces(entities.rows(CONTENT_PIECES, { taken: {}, overtaken }), ownerId)
}

function deletePieces(rows: RowStore, ownerId: string): Statement {
  return rows.deleteAll([{ column: 'owner_id', is: ownerId }])
}

function joined(rows: readonly Readonly<Record<string, unknown>>[]): Buffer {
  const sorted = rows.toSorted((a, b) => Number(a['position']) - Number(b['position']))
  return Buffer.concat(sorted.map((row) => Buffer.from(String(row['data']), 'base64')))
}
