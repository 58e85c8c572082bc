/**
 * Devices and assets from a file of comma-separated values, matched by name, line by line (`rest-api.md` 5.6). A line is one transaction: the
 * entity, what it presents, its attributes, their audit rows and their messages, all of it or nothing. Its series lie in another store: they come after
 * it, and with it once more where they did not come.
 */
import { awaitedLater } from '../../model/awaited-later.ts'
import type { Clock } from '../../model/clock.ts'
import { entityId } from '../../model/entity-id.ts'
import { isMillraceError, type MillraceError } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import type { AttributeScope, Entry, TelemetryGroup } from '../../model/value.ts'
import type { Statement } from '../../storage/entities/database.ts'
import { assets } from '../entities/asset.ts'
import type { ColumnSet, DraftOf, RecordOf } from '../entities/define.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import type { EntityService } from '../entities/entity-service.ts'
import type { Joined } from '../entities/service-parts.ts'
import { ServiceErrors, TelemetryErrors } from '../errors.ts'
import { checkKey } from '../names.ts'
import type { AttributeService } from '../attributes/attribute-service.ts'
import type { DeviceService } from '../devices/device-service.ts'
import type { StoredTelemetry } from '../telemetry/telemetry.ts'
import { draftIn, nameIn, rowOf } from './columns.ts'
import { credentialsOf } from './credential-columns.ts'
import { wholeLines, type CsvLine } from './csv.ts'
import type { Imported, Importer, ImportRequest, ImportResult, ImportRow } from './importer.ts'
import type { LineMark } from './positions.ts'

export interface BulkImportParts {
  readonly declared: EntityRegistry
  readonly devices: Pick<DeviceService, 'saveByUser'>
  readonly attributes: Pick<AttributeService, 'savingByUser'>
  readonly telemetry: Pick<StoredTelemetry, 'saveByUser' | 'checkByUser'>
  readonly clock: Clock
}

/** Lines that are saved together: they share commits. */
const LINES_AT_ONCE = 200

/** One is prepared while the database has the other. */
const GROUPS_AT_ONCE = 2

export interface LineOutcome {
  readonly line: number
  readonly isNew: boolean
  /** Why it was refused. */
  readonly error?: string
}

/** How lines are noted as done, so that those that were cut off are done once more. */
export interface LineMarks {
  /** Of all points: written once more they are the same. */
  readonly seriesTime: number
  /** Lines of which all but the series is there, and whether they made something new. */
  readonly begun: ReadonlyMap<number, boolean>
  /** A step of the transaction of the line. */
  mark(line: number, mark: LineMark): Statement
  /** Its series are there too. */
  whole(line: number): Promise<void>
  /** It came to nothing. */
  unmark(line: number): Promise<void>
}

type Before = RecordOf<ColumnSet> | undefined

export class BulkImport implements Importer {
  private readonly parts: BulkImportParts

  constructor(parts: BulkImportParts) {
    this.parts = parts
  }

  async run(principal: Principal, type: Imported, request: ImportRequest): Promise<ImportResult> {
    const result = { created: 0, updated: 0, errors: 0, errorsList: [] as string[] }
    const lines = wholeLines(request.file, request.delimiter)
    const own = request.hasHeader ? lines.slice(1) : lines
    for (const { line, isNew, error } of await this.lines(principal, type, own, request)) {
      if (error === undefined) result[isNew ? 'created' : 'updated']++
      else {
        result.errors++
        result.errorsList.push(`Line ${line}: ${error}`)
      }
    }
    return result
  }

  /** One outcome a line, in their order. Throws what is no fault of a line. */
  async lines(
    principal: Principal,
    type: Imported,
    lines: Iterable<CsvLine>,
    request: Pick<ImportRequest, 'columns' | 'update'>,
    marks?: LineMarks,
  ): Promise<readonly LineOutcome[]> {
    const service = this.parts.declared.ofType(type)
    if (service === undefined) throw new TypeError(`${type} is not served`)
    const line = new LineImport(this.parts, principal, type, service, request.update, marks)
    const all: Promise<readonly LineOutcome[]>[] = []
    try {
      for (const some of groups(lines)) {
        // Those before it may fail first.
        all.push(awaitedLater(line.together(some, request.columns)))
        await all.at(-GROUPS_AT_ONCE)
      }
      return (await Promise.all(all)).flat()
    } finally {
      // Nothing is written any more when the call has ended.
      await Promise.allSettled(all)
    }
  }
}

interface Line {
  readonly number: number
  readonly row: ImportRow
  readonly name: string
}

class LineImport {
  private readonly parts: BulkImportParts
  private readonly principal: Principal
  private readonly type: Imported
  private readonly service: EntityService<ColumnSet>
  private readonly update: boolean
  private readonly marks: LineMarks | undefined
  /** The last line of each name. */
  private readonly earlier = new Map<string, Promise<LineOutcome>>()

  constructor(
    parts: BulkImportParts,
    principal: Principal,
    type: Imported,
    service: EntityService<ColumnSet>,
    update: boolean,
    marks: LineMarks | undefined,
  ) {
    this.parts = parts
    this.principal = principal
    this.type = type
    this.service = service
    this.update = update
    this.marks = marks
  }

  /** Lines of one name come one after the other: the first may make what the next changes. */
  async together(lines: readonly CsvLine[], columns: ImportRequest['columns']): Promise<readonly LineOutcome[]> {
    const rows = lines.map(({ number, cells }): Line => {
      const row = rowOf(cells, columns)
      return { number, row, name: nameIn(this.service.definition, row) }
    })
    // By each line that is first of its name.
    const there = awaitedLater(this.named([...new Set(rows.map(({ name }) => name))]))
    return Promise.all(
      rows.map((line) => {
        const before = this.earlier.get(line.name)
        const outcome = this.outcome(line, async () => {
          if (before === undefined) return (await there).get(line.name)
          // What failed for another reason ends the call by itself.
          await before.catch(() => undefined)
          return this.service.findByName(this.tenantId(), line.name)
        })
        this.earlier.set(line.name, outcome)
        return outcome
      }),
    )
  }

  private async named(names: readonly string[]): Promise<ReadonlyMap<string, Before>> {
    const tenant = { column: 'tenant_id', is: this.tenantId() }
    const found = await this.service.findWhere([tenant, { column: this.service.nameColumn, in: names }])
    return new Map(found.map((record) => [String(record[this.service.definition.name]), record]))
  }

  private async outcome({ number, row }: Line, find: () => Promise<Before>): Promise<LineOutcome> {
    try {
      for (const { key } of [...row.shared, ...row.server]) checkKey(key, TelemetryErrors.KEY_BLANK)
      for (const { key } of row.series) checkKey(key, TelemetryErrors.KEY_EMPTY)
      return { line: number, isNew: await this.save(number, row, await find()) }
    } catch (error) {
      // Refused for what the line says: the others go on. What failed for another reason fails the call.
      if (!isRefusal(error) || error.code === 'transfer.OTHERS') throw error
      return { line: number, isNew: false, error: `DataValidationException: ${error.message}` }
    }
  }

  /** Whether it was not there before. */
  private async save(number: number, row: ImportRow, before: Before): Promise<boolean> {
    const begun = this.marks?.begun.get(number)
    if (begun !== undefined) {
      // It may have been deleted meanwhile.
      if (before !== undefined) await this.saveSeries(number, before.id, row, begun)
      return begun
    }
    const isNew = before === undefined
    const hasSeries = row.series.length > 0 && (isNew || this.update)
    const { definition } = this.service
    const options = {
      // Who changed it meanwhile is not overwritten: the line is laid over what is there at each try.
      over: (now: RecordOf<ColumnSet>) => draftIn(definition, row, now),
      joined: async (record: RecordOf<ColumnSet>) => {
        if (hasSeries) await this.checkSeries(record, row)
        return [
          ...(isNew || this.update ? await this.attributes(record, row) : []),
          ...(this.marks === undefined ? [] : [{ statements: [this.marks.mark(number, { isNew, hasSeries })] }]),
        ]
      },
    }
    const draft = isNew ? draftIn(definition, row, undefined) : { id: before.id }
    const id = await this.saveEntity(draft, row, options)
    if (hasSeries) await this.saveSeries(number, id, row, isNew)
    return isNew
  }

  /** Refused while nothing of the line is there. */
  private async checkSeries(record: RecordOf<ColumnSet>, row: ImportRow): Promise<void> {
    const place = await this.service.routeOf(record)
    this.parts.telemetry.checkByUser(this.principal, entityId(this.type, record.id), place, [this.groupOf(row)])
  }

  private async saveSeries(number: number, id: string, row: ImportRow, isNew: boolean): Promise<void> {
    try {
      await this.parts.telemetry.saveByUser(this.principal, entityId(this.type, id), [this.groupOf(row)], 0)
    } catch (error) {
      if (isNew && isRefusal(error)) await this.takeBack(number, id)
      throw error
    }
    await this.marks?.whole(number)
  }

  /** Their store refuses the series for what they are: nothing of the line stays. */
  private async takeBack(number: number, id: string): Promise<void> {
    await this.service.deleteByUser(this.principal, id)
    await this.marks?.unmark(number)
  }

  private groupOf({ series }: ImportRow): TelemetryGroup {
    return { ts: this.marks?.seriesTime ?? this.parts.clock.now(), entries: series }
  }

  private async saveEntity(draft: DraftOf<ColumnSet>, row: ImportRow, options: LineOptions): Promise<string> {
    if (this.type === 'ASSET')
      return (await this.parts.declared.of(assets).saveByUser(this.principal, draft, options)).id
    const credentials = credentialsOf(row)
    const isLwm2m = credentials?.credentialsType === 'LWM2M_CREDENTIALS'
    const spoken = isLwm2m ? { ...options, transport: 'LWM2M' as const } : options
    return (await this.parts.devices.saveByUser(this.principal, draft, credentials, spoken)).id
  }

  private async attributes(record: RecordOf<ColumnSet>, { server, shared }: ImportRow): Promise<readonly Joined[]> {
    const scopes: readonly (readonly [AttributeScope, readonly Entry[]])[] = [
      ['SERVER_SCOPE', server],
      ['SHARED_SCOPE', shared],
    ]
    const entity = entityId(this.type, record.id)
    // Asked for by whoever waits for it: one that fails and that nobody waits for would end the process.
    let where: ReturnType<typeof this.service.routeOf> | undefined
    const route = () => (where ??= this.service.routeOf(record))
    const given = scopes.filter(([, entries]) => entries.length > 0)
    return Promise.all(
      given.map(([scope, entries]) =>
        this.parts.attributes.savingByUser(this.principal, { entity, scope, entries, route }),
      ),
    )
  }

  private tenantId(): string {
    const { tenantId } = this.principal
    if (tenantId === null) throw ServiceErrors.PERMISSION_DENIED()
    return tenantId
  }
}

function isRefusal(error: unknown): error is MillraceError {
  return isMillraceError(error) && error.status < 500
}

interface LineOptions {
  readonly over: (now: RecordOf<ColumnSet>) => DraftOf<ColumnSet>
  readonly joined: (record: RecordOf<ColumnSet>) => Promise<readonly Joined[]>
}

function* groups(lines: Iterable<CsvLine>): Generator<readonly CsvLine[]> {
  let some: CsvLine[] = []
  for (const line of lines) {
    some.push(line)
    if (some.length < LINES_AT_ONCE) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}
