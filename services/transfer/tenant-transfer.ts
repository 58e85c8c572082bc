/**
 * Takes along all that a tenant has, row by row, and brings it in again: into the same tenant, another one, or another system. Rows that are there as
 * they come are left alone, so a second time changes nothing, and one that was killed goes on by beginning again. An import raises no messages to the
 * rule engine: nothing happened to the devices. Who did it is in the audit log, a row for each piece.
 */
import { createHash } from 'node:crypto'
import type { EntityId } from '../../model/entity-id.ts'
import { entityId, NULL_UUID } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import { stringifyJson } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { Clock } from '../../model/clock.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { SqlValue, Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { TimeSeriesStore } from '../../storage/timeseries/store.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import { keysOf } from '../../storage/entities/transfer-rows.ts'
import type { Changes } from '../changes/changes.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import { DECLARED } from '../entities/declared.ts'
import { retriedWhile } from '../entities/retried.ts'
import { ACCESS_TOKEN_LENGTH, randomText } from '../users/secrets.ts'
import type { NodeSecrets } from '../rule-chains/node-secrets.ts'
import type { PieceCounts, TransferPage } from './answers.ts'
import { TenantTransferErrors } from './errors.ts'
import { maskedParts, masksInParts, sealedParts } from './node-rows.ts'
import { checkRow } from './row-checks.ts'
import { rowsIn, textOf, valuesIn, type PartRows, type WholeRow } from './sent-rows.ts'
import { SERIES } from './series-rows.ts'
import { SeriesTransfer } from './series-transfer.ts'
import { NAMED, TAKEN, type Match, type TakenTable } from './tables.ts'

export interface PieceIds {
  /** Ids that are others here. */
  readonly ids: readonly (readonly [string, string])[]
  /** Places of rows that can not be brought in, and why. */
  readonly refused: readonly { readonly place: number; readonly why: string }[]
}

export interface TenantTransferParts {
  readonly entities: EntityStore
  readonly changes: Changes
  readonly feed: ChangeFeed
  readonly doubts: CommitDoubts
  readonly clock: Clock
  readonly timeSeries: TimeSeriesStore
  readonly nodeSecrets: NodeSecrets
}

const PAGE = 500
/** A page ends behind the read that made it so long. */
const PAGE_CHARACTERS = 4 << 20
/** Until it is known how long they are: of content, or of chains with their nodes. */
const FIRST_ROWS = 25
/** Pages that are asked for later are of another export. */
const EXPORT_MS = 3_600_000

export class TenantTransfer {
  private readonly parts: TenantTransferParts
  /** When they were noted, by who takes along and what. */
  private readonly exports = new Map<string, number>()
  private readonly series: SeriesTransfer

  constructor(parts: TenantTransferParts) {
    this.parts = parts
    this.series = new SeriesTransfer(parts)
  }

  /** In the order in which they can be brought in. */
  get tables(): readonly string[] {
    return TAKEN.map(({ name }) => name)
  }

  /** Lets the tenant see who takes it along: once for all the pages of an export, whichever is asked for first. */
  async noteExport(principal: Principal, tenantId: string): Promise<void> {
    const { entities, changes, clock } = this.parts
    const now = clock.now()
    for (const [key, since] of this.exports) if (since <= now - EXPORT_MS) this.exports.delete(key)
    const key = `${principal.userId} ${tenantId}`
    if (this.exports.has(key)) return
    const entity = entityId('TENANT', tenantId)
    const action = {
      actionType: 'CREDENTIALS_READ',
      entity,
      actionData: stringifyJson({ exported: tenantId }),
    } as const
    await entities.write([await changes.auditedAction({ ...principal, tenantId }, action)])
    this.exports.set(key, now)
  }

  async page(tenantId: string, table: string, after: string | undefined): Promise<TransferPage> {
    if (table === SERIES) return this.series.page(tenantId, after)
    const taken = tableOf(table)
    let keys = after === undefined ? undefined : valuesIn(after, taken)
    const texts: string[] = []
    let characters = 0
    for (let read = 0, limit = FIRST_ROWS; read < PAGE && characters < PAGE_CHARACTERS;) {
      const rows = await this.parts.entities.transferRows.page(taken, tenantId, keys, limit)
      for (const row of rows) {
        const whole = isSealed(taken, row) ? undefined : await this.whole(taken, row)
        if (whole === undefined) continue
        const text = textOf({ ...whole, parts: maskedParts(whole.parts, this.parts.nodeSecrets) })
        texts.push(text)
        characters += text.length
      }
      const last = rows.at(-1)
      if (last === undefined || rows.length < limit) return { rows: texts, next: undefined }
      keys = Object.values(keysOf(taken, last))
      read += rows.length
      const fitting = Math.floor(((PAGE_CHARACTERS - characters) * read) / Math.max(characters, 1))
      limit = Math.min(PAGE - read, Math.max(fitting, FIRST_ROWS))
    }
    return { rows: texts, next: keys && stringifyJson([...keys]) }
  }

  /** Which ids the rows get; those of the rows that they name were put in their place already. */
  async ids(tenantId: string, table: string, texts: readonly string[]): Promise<PieceIds> {
    // They have none of their own.
    if (table === SERIES) return { ids: [], refused: [] }
    const taken = tableOf(table)
    const ids: (readonly [string, string])[] = []
    const refused: { place: number; why: string }[] = []
    for (const [place, { row, parts }] of rowsIn(taken, texts, tenantId).entries())
      for (const { table: of, rows } of [{ table: taken, rows: [row] }, ...parts])
        for (const each of rows) {
          const outcome = await this.place(of, each, tenantId)
          if (outcome.why !== undefined) refused.push({ place, why: outcome.why })
          const before = each['id']
          if (typeof before === 'string' && outcome.id !== before) ids.push([before, outcome.id])
        }
    return { ids, refused }
  }

  /** What bringing the rows in would do. */
  async plan(tenantId: string, table: string, texts: readonly string[]): Promise<PieceCounts> {
    if (table === SERIES) return this.series.plan(tenantId, texts)
    return (await this.compared(tableOf(table), tenantId, texts)).counts
  }

  /** Brings the rows in, in one transaction. Throws `tenant-transfer.…`. */
  async apply(principal: Principal, tenantId: string, table: string, texts: readonly string[]): Promise<PieceCounts> {
    if (table === SERIES) return this.series.apply(principal, tenantId, texts)
    // A change that comes between the comparison and the commit is compared with in its turn: a user's, or another import's.
    return retriedWhile(wasOvertaken, () => this.applyOnce(principal, tenantId, tableOf(table), texts))
  }

  private async applyOnce(
    principal: Principal,
    tenantId: string,
    taken: TakenTable,
    texts: readonly string[],
  ): Promise<PieceCounts> {
    const { steps, written, counts } = await this.compared(taken, tenantId, texts)
    if (steps.length === 0) return counts
    await this.requireOwn(taken, tenantId, written)
    const { entities, changes, doubts, clock } = this.parts
    const actionData = stringifyJson({ imported: taken.name, rows: written.length })
    const tenant = entityId('TENANT', tenantId)
    const audited = await changes.auditedAction(
      { ...principal, tenantId },
      { actionType: 'UPDATED', entity: tenant, actionData },
    )
    const devices = taken.name === 'device_credentials' ? written.map((row) => String(row['device_id'])) : []
    const noted = devices.flatMap((id) => entities.credentialChanges.note(id, clock.now()))
    const tell = (): void => {
      for (const row of written) this.tell(taken, tenantId, row)
    }
    await doubts.watch(entities.write([...steps, ...noted, audited]), tell)
    tell()
    return counts
  }

  private async compared(taken: TakenTable, tenantId: string, texts: readonly string[]) {
    const { transferRows } = this.parts.entities
    const counts = { created: 0, changed: 0, same: 0 }
    const toFillIn: string[] = []
    const steps: Statement[] = []
    const written: Row[] = []
    for (const { row: sent, parts: sentParts } of rowsIn(taken, texts, tenantId)) {
      if (isSealed(taken, sent)) continue
      for (const { table, rows } of [{ table: taken, rows: [sent] }, ...sentParts])
        for (const each of rows) await checkRow(table.name, each)
      const before = await transferRows.find(taken.name, keysOf(taken, sent))
      if (before !== undefined && !(await transferRows.isOwned(taken, before, tenantId)))
        throw TenantTransferErrors.FOREIGN({
          table: taken.name,
          column: taken.keys.join(', '),
          id: keyText(taken, sent),
        })
      const there = before === undefined ? [] : await this.partsOf(taken, before)
      const parts = sealedParts(sentParts, there, this.parts.nodeSecrets)
      toFillIn.push(...masksInParts(parts, this.parts.nodeSecrets).map((mask) => `${String(sent['name'])}: ${mask}`))
      const row = taken.name === 'device_credentials' ? await this.credentials(sent, before) : sent
      const isThere = before !== undefined && isSame(before, row, taken)
      if (isThere && haveSame(there, parts)) {
        counts.same++
        continue
      }
      counts[before === undefined ? 'created' : 'changed']++
      written.push(row)
      steps.push(...this.replacing(taken, before, { row, parts }))
    }
    return { counts: { ...counts, toFillIn }, steps, written }
  }

  /** As of one version: read again where a change came between. Undefined where it is no more. */
  private async whole(taken: TakenTable, found: Row): Promise<WholeRow | undefined> {
    const { transferRows } = this.parts.entities
    for (let row: Row | undefined = found; row !== undefined && taken.parts.length > 0;) {
      const parts = await this.partsOf(taken, row)
      const now = await transferRows.find(taken.name, keysOf(taken, row))
      if (now?.['version'] === row['version']) return { row, parts }
      row = now
    }
    return taken.parts.length > 0 ? undefined : { row: found, parts: [] }
  }

  private partsOf({ parts }: TakenTable, row: Row): Promise<PartRows[]> {
    const { transferRows } = this.parts.entities
    const read = async (table: TakenTable) => ({
      table,
      rows: await transferRows.findAll(table, { [table.owner.column]: row['id'] ?? null }),
    })
    return Promise.all(parts.map(read))
  }

  /** One transaction has them all: nobody ever reads a row without its parts. */
  private replacing(taken: TakenTable, before: Row | undefined, { row, parts }: WholeRow): readonly Statement[] {
    const { transferRows } = this.parts.entities
    const added = parts.flatMap(({ table, rows }) => rows.map((each) => transferRows.insert(table, each)))
    if (before === undefined) return [transferRows.insert(taken, row), ...added]
    const removed = parts
      .toReversed()
      .map(({ table }) => transferRows.deleteAll(table.name, { [table.owner.column]: row['id'] ?? null }))
    if (taken.parts.length === 0) return [transferRows.update(taken, row)]
    // Who reads parts sees by the version whether they are of one time. It comes first: who changes them at the same time waits for it.
    const version = before['version'] ?? null
    return [transferRows.update(taken, { ...row, version: Number(version) + 1 }, { version }), ...removed, ...added]
  }

  /** Two devices can not have the same: one that another tenant has is replaced by a token of its own, once. */
  private async credentials(row: Row, before: Row | undefined): Promise<Row> {
    const taken = await this.parts.entities.transferRows.find('device_credentials', {
      credentials_id: row['credentials_id'] ?? null,
    })
    if (taken === undefined || taken['id'] === row['id']) return row
    return (
      before ?? {
        ...row,
        credentials_type: 'ACCESS_TOKEN',
        credentials_id: randomText(ACCESS_TOKEN_LENGTH),
        credentials_value: null,
      }
    )
  }

  private async place(taken: TakenTable, row: Row, tenantId: string): Promise<{ id: string; why?: string }> {
    const { transferRows } = this.parts.entities
    const id = String(row['id'] ?? '')
    if (!taken.keys.includes('id')) return { id }
    const byId = await transferRows.find(taken.name, { id })
    if (byId !== undefined && (await transferRows.isOwned(taken, byId, tenantId))) return { id }
    for (const match of taken.matches) {
      const values = valuesOf(match, row)
      const found = values && (await transferRows.find(taken.name, values))
      if (found === undefined) continue
      if (await transferRows.isOwned(taken, found, tenantId)) return { id: String(found['id']) }
      if (taken.name !== 'device_credentials')
        return { id, why: `${match.columns.join(', ')} ${Object.values(values ?? {}).join(', ')} is another tenant's` }
    }
    const derived = derivedId(tenantId, id)
    if (byId !== undefined || (await transferRows.find(taken.name, { id: derived })) !== undefined)
      return { id: derived }
    return { id }
  }

  /** Nobody brings in what names another tenant's, or more than a tenant may have. */
  private async requireOwn(taken: TakenTable, tenantId: string, rows: readonly Row[]): Promise<void> {
    const { transferRows } = this.parts.entities
    const seen = new Set<string>()
    const require = async (tables: readonly string[], column: string, id: SqlValue): Promise<void> => {
      if (id === null || seen.has(`${column} ${String(id)}`)) return
      for (const table of tables) {
        const found = await transferRows.find(table, { id })
        if (table === 'tenant' ? found?.['id'] === tenantId : found?.['tenant_id'] === tenantId) {
          seen.add(`${column} ${String(id)}`)
          return
        }
      }
      throw TenantTransferErrors.FOREIGN({ table: taken.name, column, id: String(id) })
    }
    for (const row of rows) {
      if (taken.name === 'app_user' && row['authority'] === 'SYS_ADMIN') throw TenantTransferErrors.AUTHORITY()
      if (taken.owner.of.length > 0) await require(taken.owner.of, taken.owner.column, row[taken.owner.column] ?? null)
      for (const [table, column] of Object.entries(taken.names)) await require([table], column, row[column] ?? null)
      for (const [column, value] of Object.entries(row))
        for (const id of namesEntities(taken, column) ? idsIn(value) : []) {
          if (seen.has(id)) continue
          const owners = await transferRows.ownersOf(NAMED, id)
          // What is gone, or comes later, is nobody's.
          if (!owners.every((owner) => owner === tenantId || (owner === NULL_UUID && column !== 'owner_id')))
            throw TenantTransferErrors.FOREIGN({ table: taken.name, column, id })
          if (taken.name === 'content_piece' && owners.length === 0)
            throw TenantTransferErrors.FOREIGN({ table: taken.name, column, id })
          seen.add(id)
        }
    }
  }

  private tell(taken: TakenTable, tenantId: string, row: Row): void {
    const { feed } = this.parts
    if (taken.name === 'attribute') {
      const entity = entityOf('DEVICE', row['entity_id'])
      const nothing = { scope: 'SERVER_SCOPE', attributes: [], audience: 'caches', sequence: 0 } as const
      feed.publish({ kind: 'attributes', entity, ...nothing })
    } else if (taken.name === 'relation')
      feed.publish({ kind: 'relations-changed', entity: entityId('TENANT', tenantId), tenantId })
    else if (taken.name === 'queue')
      feed.publish({ kind: 'queue-changed', entity: entityOf('QUEUE', row['id']), tenantId })
    else if (taken.name === 'device_credentials')
      feed.publish({
        kind: 'device-changed',
        entity: entityOf('DEVICE', row['device_id']),
        credentialsChanged: true,
      })
    else {
      const definition = DECLARED.find(({ storedAs }) => storedAs.name === taken.name)
      const change = definition?.tells?.(definition.recordOf(row), 'changed')
      for (const each of change === undefined ? [] : [change].flat()) feed.publish(each)
    }
  }
}

function wasOvertaken(error: unknown): boolean {
  return isMillraceError(error) && (error.code === 'entities.CONSTRAINT' || error.code === 'entities.VERSION_CONFLICT')
}

/** Second factors and tokens of notification services are sealed under the key of their platform, and open nowhere else. */
function isSealed({ name }: TakenTable, row: Row): boolean {
  return (name === 'user_settings' && row['type'] === 'TWO_FACTOR') || name === 'notification_settings'
}

/** Columns of ids, alone or behind a type. What a debug event was about is no name of it. */
const NAMING = /^(?!body_)(.+_id|entity|rule_entity)$/

/** What calculated fields read is in their configuration: they run by themselves. */
function namesEntities({ name }: TakenTable, column: string): boolean {
  return NAMING.test(column) || (name === 'calculated_field' && column === 'configuration')
}

function idsIn(value: SqlValue): readonly string[] {
  const found = String(value ?? '').match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi) ?? []
  return found.map((id) => id.toLowerCase()).filter((id) => id !== NULL_UUID)
}

function entityOf<const Type extends EntityId['entityType']>(type: Type, id: SqlValue | undefined) {
  return { entityType: type, id: String(id) }
}

function tableOf(name: string): TakenTable {
  const table = TAKEN.find((taken) => taken.name === name)
  if (table === undefined) throw TenantTransferErrors.TABLE({ table: name })
  return table
}

/** The same id in the same tenant each time. */
function derivedId(tenantId: string, id: string): string {
  const hex = createHash('sha256').update(`${tenantId} ${id}`).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}

/** Undefined where the row is not among those that the match is about. */
function valuesOf({ columns, where }: Match, row: Row): Row | undefined {
  for (const [column, value] of Object.entries(where)) if (row[column] !== value) return undefined
  const values: Record<string, SqlValue> = { ...where }
  for (const column of columns) {
    const value = row[column] ?? null
    if (value === null) return undefined
    values[column] = value
  }
  return values
}

function haveSame(there: readonly PartRows[], parts: readonly PartRows[]): boolean {
  return parts.every(({ table, rows }, index) => {
    const byKeys = new Map(there[index]?.rows.map((each) => [keyText(table, each), each]))
    if (byKeys.size !== rows.length) return false
    return rows.every((each) => {
      const before = byKeys.get(keyText(table, each))
      return before !== undefined && isSame(before, each, table)
    })
  })
}

/** The version of what has parts counts the changes here. */
function isSame(before: Row, row: Row, { fresh, parts }: TakenTable): boolean {
  const isFree = (column: string) => column in fresh || (column === 'version' && parts.length > 0)
  return Object.entries(row).every(([column, value]) => isFree(column) || before[column] === value)
}

function keyText(table: TakenTable, row: Row): string {
  return stringifyJson(Object.values(keysOf(table, row)))
}
