/** A file too large for one call, imported piece by piece: where it is, is durable with the lines that it stands for. */
import type { Principal } from '../../model/principal.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { ServiceErrors } from '../errors.ts'
import type { BulkImport, LineOutcome } from './bulk-import.ts'
import { wholeLines } from './csv.ts'
import { TransferErrors } from './errors.ts'
import type { FileImporter, FilePiece, FilePosition } from './importer.ts'
import type { Transfer, Transfers } from './positions.ts'

const NOWHERE: FilePosition = { position: 0, created: 0, updated: 0, errors: 0, errorsList: [] }

export class FileImport implements FileImporter {
  private readonly transfers: Transfers
  private readonly lines: BulkImport
  private readonly entities: EntityStore

  constructor(parts: { readonly transfers: Transfers; readonly lines: BulkImport; readonly entities: EntityStore }) {
    this.transfers = parts.transfers
    this.lines = parts.lines
    this.entities = parts.entities
  }

  async position(principal: Principal, name: string): Promise<FilePosition> {
    const transfer = await this.transfers.find(tenantOf(principal), name)
    return transfer === undefined ? NOWHERE : positionOf(transfer)
  }

  /** Takes the next piece; the piece before it once more is answered as it was. Throws `transfer.ELSEWHERE`, `transfer.OTHERS`, `transfer.TOO_MANY`. */
  async take(principal: Principal, piece: FilePiece): Promise<FilePosition> {
    const before = await this.transfers.begin(tenantOf(principal), piece.name)
    if (piece.to === before.position && piece.from === before.lastFrom) return positionOf(before)
    if (piece.from !== before.position) throw TransferErrors.ELSEWHERE({ position: before.position, from: piece.from })
    const transfer = await this.transfers.claim(before)
    const outcomes = await this.outcomes(principal, piece, transfer)
    const done = outcomes.filter(({ error }) => error === undefined)
    const created = done.filter(({ isNew }) => isNew).length
    const errors = outcomes.flatMap(({ line, error }) => (error === undefined ? [] : [`Line ${line}: ${error}`]))
    const moved = { to: piece.to, created, updated: done.length - created, errors }
    await this.entities.write(this.transfers.moved(transfer, moved))
    return {
      position: piece.to,
      created: transfer.created + moved.created,
      updated: transfer.updated + moved.updated,
      errors: transfer.refused + errors.length,
      errorsList: errors,
    }
  }

  /** For another time from the start. */
  forget(principal: Principal, name: string): Promise<void> {
    return this.transfers.forget(tenantOf(principal), name)
  }

  private async outcomes(
    principal: Principal,
    { type, file, delimiter, firstLine, columns, update }: FilePiece,
    transfer: Transfer,
  ): Promise<readonly LineOutcome[]> {
    const numbered = wholeLines(file, delimiter, firstLine)
    const { whole, begun } = await this.transfers.marked(transfer)
    const left = numbered.filter(({ number }) => !whole.has(number))
    const done = await this.lines.lines(
      principal,
      type,
      left,
      { columns, update },
      {
        seriesTime: transfer.createdTime,
        begun,
        mark: (line, mark) => this.transfers.mark(transfer, line, mark),
        whole: (line) => this.transfers.whole(transfer, line),
        unmark: (line) => this.transfers.unmark(transfer, line),
      },
    )
    return [...[...whole].map(([line, isNew]) => ({ line, isNew })), ...done]
  }
}

function positionOf({ position, created, updated, refused, lastErrors }: Transfer): FilePosition {
  return { position, created, updated, errors: refused, errorsList: lastErrors }
}

function tenantOf({ tenantId }: Principal): string {
  if (tenantId === null) throw ServiceErrors.PERMISSION_DENIED()
  return tenantId
}
