/** Custom tables of PostgreSQL: the node's tenant decides whose they are, and each tenant writes to one at a time. */
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { CustomTableRow, NodeTables } from '../../engine/rulechain/capabilities/tables.ts'
import type { PostgresCustomTables } from '../../storage/postgres/custom-tables.ts'
import type { RoomLimits } from '../outbound/call-room.ts'
import type { SharedTurns } from '../outbound/shared-turns.ts'
import { NodeCapabilityErrors } from './errors.ts'

/** Of the tenants that write at a time: one whose table is locked holds up one connection. */
export const TABLE_CONNECTIONS = 4
export const TABLES_ROOM: RoomLimits = {
  ...{ calls: TABLE_CONNECTIONS, bytes: 32 * 2 ** 20 },
  ...{ tenantCalls: 1, tenantBytes: 8 * 2 ** 20, tenantWaiting: 1000 },
}

/** Beside its texts. */
const ROW_BYTES = 64
const PIECE_ROWS = 500
const PIECE_BYTES = 4 * 2 ** 20

export interface CustomTableParts {
  readonly store: Pick<PostgresCustomTables, 'open' | 'write'>
  readonly turns: Pick<SharedTurns, 'inTurn'>
}

/** Without `tables` nothing of this Millrace lies in PostgreSQL. */
export function nodeTables(tables: CustomTableParts | undefined): (node: Pick<NodeIdentity, 'tenantId'>) => NodeTables {
  return ({ tenantId }) => ({
    open: async (target) => {
      if (tables === undefined) throw NodeCapabilityErrors.NO_CUSTOM_TABLES()
      const { store, turns } = tables
      const table = await turns.inTurn(tenantId, ROW_BYTES, () => store.open({ ...target, tenantId }))
      return {
        write: async (rows) => {
          const outcomes: (Error | undefined)[] = []
          for (const piece of piecesOf(rows)) {
            outcomes.push(...(await turns.inTurn(tenantId, bytesOf(piece), () => store.write(table, piece))))
          }
          return outcomes
        },
      }
    },
  })
}

/** What is put in one turn, so that a batch of big rows is no more than a turn may hold. */
function* piecesOf(rows: readonly CustomTableRow[]): Generator<readonly CustomTableRow[]> {
  let [piece, bytes]: [CustomTableRow[], number] = [[], 0]
  for (const row of rows) {
    const more = bytesOf([row])
    if (piece.length > 0 && (piece.length === PIECE_ROWS || bytes + more > PIECE_BYTES)) {
      yield piece
      ;[piece, bytes] = [[], 0]
    }
    piece.push(row)
    bytes += more
  }
  if (piece.length > 0) yield piece
}

function bytesOf(rows: readonly CustomTableRow[]): number {
  return rows.reduce(
    (bytes, row) => row.reduce((sum, value) => sum + Buffer.byteLength(value ?? ''), bytes + ROW_BYTES),
    0,
  )
}
