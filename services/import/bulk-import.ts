/** Devices and assets from a file of comma-separated values, matched by name, line by line (`rest-api.md` 5.6). */
import type { Clock } from '../../model/clock.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import { assets } from '../entities/asset.ts'
import { devices } from '../entities/device.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { ServiceErrors, TelemetryErrors } from '../errors.ts'
import { checkKey } from '../names.ts'
import type { AttributeService, DeviceService, TelemetryService } from '../services.ts'
import { additionalInfoOf, credentialsOf, rowOf, type ImportRow } from './columns.ts'
import { csvLines, type CsvLine } from './csv.ts'
import type { Imported, Importer, ImportRequest, ImportResult } from './importer.ts'

export interface BulkImportParts {
  readonly declared: EntityRegistry
  readonly devices: Pick<DeviceService, 'saveByUser'>
  readonly attributes: Pick<AttributeService, 'saveByUser'>
  readonly telemetry: Pick<TelemetryService, 'saveByUser'>
  readonly clock: Clock
}

/** Lines that are saved together: they share commits. */
const LINES_AT_ONCE = 50

export class BulkImport implements Importer {
  private readonly parts: BulkImportParts

  constructor(parts: BulkImportParts) {
    this.parts = parts
  }

  async run(principal: Principal, type: Imported, request: ImportRequest): Promise<ImportResult> {
    const result = { created: 0, updated: 0, errors: 0, errorsList: [] as string[] }
    const lines = csvLines(request.file, request.delimiter)
    if (request.hasHeader) lines.next()
    for (const some of groups(lines)) {
      const outcomes = await Promise.all(some.map((line) => this.line(principal, type, line, request)))
      for (const outcome of outcomes) {
        if (outcome.error === undefined) result[outcome.isNew ? 'created' : 'updated']++
        else {
          result.errors++
          result.errorsList.push(outcome.error)
        }
      }
    }
    return result
  }

  private async line(
    principal: Principal,
    type: Imported,
    line: CsvLine,
    request: ImportRequest,
  ): Promise<{ readonly isNew: boolean; readonly error?: string }> {
    try {
      const row = rowOf(line.cells, request.columns)
      for (const { key } of [...row.shared, ...row.server]) checkKey(key, TelemetryErrors.KEY_BLANK)
      for (const { key } of row.series) checkKey(key, TelemetryErrors.KEY_EMPTY)
      return { isNew: await this.save(principal, type, row, request.update) }
    } catch (error) {
      // Refused for what the line says: the others go on. What failed for another reason fails the call.
      if (!isMillraceError(error) || error.status >= 500) throw error
      return { isNew: false, error: `Line ${line.number}: DataValidationException: ${error.message}` }
    }
  }

  /** Whether it was not there before. */
  private async save(principal: Principal, type: Imported, row: ImportRow, update: boolean): Promise<boolean> {
    const { id, isNew } = await (type === 'DEVICE' ? this.device(principal, row) : this.asset(principal, row))
    if (!isNew && !update) return false
    try {
      await this.values(principal, entityId(type, id), row)
    } catch (error) {
      // A line that is refused leaves nothing new behind.
      if (isNew) await this.remove(principal, type, id)
      throw error
    }
    return isNew
  }

  private remove(principal: Principal, type: Imported, id: string): Promise<void> {
    const { declared } = this.parts
    return type === 'DEVICE'
      ? declared.of(devices).deleteByUser(principal, id)
      : declared.of(assets).deleteByUser(principal, id)
  }

  private async device(principal: Principal, row: ImportRow): Promise<{ id: string; isNew: boolean }> {
    const name = row.fields.get('NAME') ?? ''
    const before = await this.parts.declared.of(devices).findByName(tenantOf(principal), name)
    const type = row.fields.get('TYPE')
    const draft = {
      ...before,
      version: undefined,
      name,
      type,
      // The type says which profile; without one the device keeps its own.
      deviceProfileId: type === undefined ? before?.deviceProfileId : undefined,
      label: row.fields.get('LABEL') ?? before?.label,
      additionalInfo: additionalInfoOf(before?.additionalInfo ?? null, row),
    }
    const saved = await this.parts.devices.saveByUser(principal, draft, credentialsOf(row))
    return { id: saved.id, isNew: before === undefined }
  }

  private async asset(principal: Principal, row: ImportRow): Promise<{ id: string; isNew: boolean }> {
    const service = this.parts.declared.of(assets)
    const name = row.fields.get('NAME') ?? ''
    const before = await service.findByName(tenantOf(principal), name)
    const type = row.fields.get('TYPE')
    const saved = await service.saveByUser(principal, {
      ...before,
      version: undefined,
      name,
      type,
      assetProfileId: type === undefined ? before?.assetProfileId : undefined,
      label: row.fields.get('LABEL') ?? before?.label,
      additionalInfo: additionalInfoOf(before?.additionalInfo ?? null, row),
    })
    return { id: saved.id, isNew: before === undefined }
  }

  private async values(principal: Principal, entity: EntityId, { shared, server, series }: ImportRow): Promise<void> {
    const { attributes, telemetry, clock } = this.parts
    if (server.length > 0) await attributes.saveByUser(principal, entity, 'SERVER_SCOPE', server)
    if (shared.length > 0) await attributes.saveByUser(principal, entity, 'SHARED_SCOPE', shared)
    if (series.length > 0) await telemetry.saveByUser(principal, entity, [{ ts: clock.now(), entries: series }], 0)
  }
}

function tenantOf({ tenantId }: Principal): string {
  if (tenantId === null) throw ServiceErrors.PERMISSION_DENIED()
  return tenantId
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
