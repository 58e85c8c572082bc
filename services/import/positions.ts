/**
 * How far transfers into a tenant have come, such as imports of large files: kept with what they brought. A line of the piece under way is marked in the
 * transaction that brings it; a piece that is whole moves the position and takes its marks away. So whoever was killed goes on where it was.
 * Who begins a piece takes it over from whoever was at it: of that one no line is marked any more.
 */
import type { Clock, Random } from '../../model/clock.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { EntityTable, Row } from '../../storage/entities/tables/entity-table.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import { TransferErrors } from './errors.ts'

/** Of one tenant; those that have rested longest go. */
const MAX_TRANSFERS = 100
/** One whose last piece began later than that is under way. */
const RESTED_MS = 3_600_000

const integer = (name: string) => ({ name, type: 'integer', isNullable: false }) as const
const text = (name: string) => ({ name, type: 'text', isNullable: false }) as const

export const TRANSFERS: EntityTable = {
  name: 'transfer',
  version: 2,
  columns: [
    text('name'),
    integer('position'),
    integer('created'),
    integer('updated'),
    integer('refused'),
    integer('last_from'),
    text('last_errors'),
    // When its last piece began.
    { ...integer('moved_time'), since: 2, filledBy: 'created_time' },
  ],
  unique: [{ columns: ['tenant_id', 'name'] }],
  indexes: [],
}

export const TRANSFER_LINES: EntityTable = {
  name: 'transfer_line',
  version: 2,
  columns: [
    {
      ...text('transfer_id'),
      references: { table: 'transfer', whenDeleted: 'delete' },
    },
    integer('line'),
    integer('is_new'),
    { ...integer('series_left'), since: 2, filledBy: '0' },
  ],
  unique: [{ columns: ['transfer_id', 'line'] }],
  indexes: [],
}

export interface Transfer {
  readonly row: Row
  readonly id: string
  readonly createdTime: number
  readonly tenantId: string
  readonly position: number
  readonly created: number
  readonly updated: number
  readonly refused: number
  /** Where the piece before the position began, and what was refused of it. */
  readonly lastFrom: number
  readonly lastErrors: readonly string[]
}

export interface LineMark {
  readonly isNew: boolean
  /** Its series are not there yet. */
  readonly hasSeries: boolean
}

/** Of the piece under way, by line: whether it made something new. */
export interface MarkedLines {
  readonly whole: ReadonlyMap<number, boolean>
  /** All but their series are there. */
  readonly begun: ReadonlyMap<number, boolean>
}

export interface PieceDone {
  readonly to: number
  readonly created: number
  readonly updated: number
  readonly errors: readonly string[]
}

export class Transfers {
  private readonly entities: EntityStore
  private readonly rows: RowStore
  private readonly lines: RowStore
  private readonly clock: Clock
  private readonly random: Random

  constructor(entities: EntityStore, clock: Clock, random: Random) {
    this.entities = entities
    this.clock = clock
    this.random = random
    const others = () => TransferErrors.OTHERS()
    const taken = { 'tenant_id, name': others, 'transfer_id, line': others }
    this.rows = entities.rows(TRANSFERS, { taken, overtaken: others })
    this.lines = entities.rows(TRANSFER_LINES, { taken, overtaken: others })
  }

  async find(tenantId: string, name: string): Promise<Transfer | undefined> {
    const row = await this.rows.find([
      { column: 'tenant_id', is: tenantId },
      { column: 'name', is: name },
    ])
    return row && transferOf(row)
  }

  /** Throws `TOO_MANY`. */
  async begin(tenantId: string, name: string): Promise<Transfer> {
    const there = await this.find(tenantId, name)
    if (there !== undefined) return there
    const now = this.clock.now()
    const row: Row = {
      ...{ id: this.random.uuid(), created_time: now, version: 1, tenant_id: tenantId, name },
      ...{ position: 0, created: 0, updated: 0, refused: 0, last_from: 0, last_errors: '[]', moved_time: now },
    }
    await this.entities.write([...(await this.room(tenantId, now)), this.rows.insert(row)])
    return transferOf(row)
  }

  /** Takes the piece that comes next over. Throws `OTHERS` where another did so at the same time. */
  async claim({ row }: Transfer): Promise<Transfer> {
    const claimed = { ...row, version: Number(row['version']) + 1, moved_time: this.clock.now() }
    await this.entities.write([this.rows.update(claimed)])
    return transferOf(claimed)
  }

  private async room(tenantId: string, now: number): Promise<readonly Statement[]> {
    const own = { column: 'tenant_id', is: tenantId }
    const over = (await this.rows.count([own])) + 1 - MAX_TRANSFERS
    if (over <= 0) return []
    const rested = { column: 'moved_time', from: 0, to: now - RESTED_MS }
    if ((await this.rows.count([own, rested])) < over) throw TransferErrors.TOO_MANY({ limit: MAX_TRANSFERS })
    return [this.rows.deleteOldest([own, rested], over, 'moved_time')]
  }

  async marked({ id }: Transfer): Promise<MarkedLines> {
    const rows = await this.lines.findAll([{ column: 'transfer_id', is: id }])
    const those = (seriesLeft: 0 | 1) =>
      new Map(
        rows
          .filter((row) => row['series_left'] === seriesLeft)
          .map((row) => [Number(row['line']), row['is_new'] === 1]),
      )
    return { whole: those(0), begun: those(1) }
  }

  /** A step of the transaction that brings the line. Refused with `OTHERS` where the piece was taken over. */
  mark({ row, id, tenantId }: Transfer, line: number, { isNew, hasSeries }: LineMark): Statement {
    const identity = { id: this.random.uuid(), created_time: this.clock.now(), version: 1, tenant_id: tenantId }
    const state = { is_new: isNew ? 1 : 0, series_left: hasSeries ? 1 : 0 }
    const claimed = { table: TRANSFERS.name, where: { id, version: row['version'] ?? null } }
    return this.lines.insertWhile({ ...identity, transfer_id: id, line, ...state }, claimed, () =>
      TransferErrors.OTHERS(),
    )
  }

  /** The line's series are there too. */
  async whole(transfer: Transfer, line: number): Promise<void> {
    await this.entities.write([this.lines.updateAll(isLine(transfer, line), { series_left: 0 })])
  }

  /** The line came to nothing. */
  async unmark(transfer: Transfer, line: number): Promise<void> {
    await this.entities.write([this.lines.deleteAll(isLine(transfer, line))])
  }

  /** Steps that move the position behind a piece. Refused where another moved it meanwhile. */
  moved({ row, ...transfer }: Transfer, piece: PieceDone): readonly Statement[] {
    return [
      this.rows.update({
        ...row,
        version: Number(row['version']) + 1,
        position: piece.to,
        created: transfer.created + piece.created,
        updated: transfer.updated + piece.updated,
        refused: transfer.refused + piece.errors.length,
        last_from: transfer.position,
        last_errors: JSON.stringify(piece.errors),
      }),
      this.lines.deleteAll([{ column: 'transfer_id', is: transfer.id }]),
    ]
  }

  async forget(tenantId: string, name: string): Promise<void> {
    await this.entities.write([
      this.rows.deleteAll([
        { column: 'tenant_id', is: tenantId },
        { column: 'name', is: name },
      ]),
    ])
  }
}

function isLine({ id }: Transfer, line: number) {
  return [
    { column: 'transfer_id', is: id },
    { column: 'line', is: line },
  ]
}

function transferOf(row: Row): Transfer {
  const number = (name: string) => Number(row[name])
  return {
    row,
    id: String(row['id']),
    createdTime: number('created_time'),
    tenantId: String(row['tenant_id']),
    position: number('position'),
    created: number('created'),
    updated: number('updated'),
    refused: number('refused'),
    lastFrom: number('last_from'),
    lastErrors: textsIn(String(row['last_errors'])),
  }
}

function textsIn(json: string): readonly string[] {
  const value: unknown = JSON.parse(json)
  return Array.isArray(value) ? value.map(String) : []
}
