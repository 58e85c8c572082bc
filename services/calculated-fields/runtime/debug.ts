/** What is told of calculations to those who watch a field. Source: `rule-engine.md` 9.1, 9.2. */
import type { ArgumentValue, StepResult } from '../../../model/calculated-fields/kind.ts'
import type { Clock } from '../../../model/clock.ts'
import { entityId, type EntityId } from '../../../model/entity-id.ts'
import { isJsonObject, stringifyJson, type JsonObject, type JsonValue } from '../../../model/json.ts'
import type { EventWriter } from '../../events/event-writer.ts'
import type { ActiveField } from './field-index.ts'
import { shownWindow } from './script-arguments.ts'

export interface Watched {
  readonly entity: EntityId
  /** Absent at a wake-up. */
  readonly msgId?: string | undefined
  readonly msgType?: string | undefined
  readonly args: Readonly<Record<string, ArgumentValue>>
  readonly results: readonly StepResult[]
  readonly error?: string | undefined
}

export class FieldDebug {
  private readonly writer: Pick<EventWriter, 'add'>
  private readonly clock: Clock

  constructor(writer: Pick<EventWriter, 'add'>, clock: Clock) {
    this.writer = writer
    this.clock = clock
  }

  /** Whether {@link tell} may do anything. */
  isWatched({ record }: ActiveField): boolean {
    return isJsonObject(record.debugSettings)
  }

  tell({ record }: ActiveField, { entity, msgId, msgType, args, results, error }: Watched): void {
    const { debugSettings, tenantId, id } = record
    if (!isJsonObject(debugSettings)) return
    const isAll = Number(debugSettings['allEnabledUntil'] ?? 0) > this.clock.now()
    if (!isAll && !(debugSettings['failuresEnabled'] === true && error !== undefined)) return
    const body = {
      ...{ calculatedFieldId: id, entityId: entity.id, entityType: entity.entityType, msgId, msgType },
      arguments: stringifyJson(shownArguments(args)),
      result: results.length === 0 ? undefined : stringifyJson(shownResults(results)),
      error,
    }
    this.writer.add({ type: 'DEBUG_CALCULATED_FIELD', tenantId, entity: entityId('CALCULATED_FIELD', id), body })
  }
}

/** As the test of a script takes them. */
export function shownArguments(args: Readonly<Record<string, ArgumentValue>>): JsonObject {
  return Object.fromEntries(Object.entries(args).map(([name, argument]) => [name, shown(argument)]))
}

function shown(argument: ArgumentValue): JsonValue {
  switch (argument.kind) {
    case 'single':
      return { type: 'SINGLE_VALUE', ts: argument.ts, value: argument.value }
    case 'rolling':
      return shownWindow(argument)
    case 'many':
      return argument.of.map(({ entity, ts, value }) => ({
        entityType: entity.entityType,
        entityId: entity.id,
        ts,
        value,
      }))
  }
}

function shownResults(results: readonly StepResult[]): JsonValue {
  const all = results.map((result): JsonObject => {
    if (result.kind === 'values') return result.values
    if (result.kind === 'relation') return { relation: result.action, relationType: result.relationType }
    return { alarm: result.action, ...(result.action === 'raise' ? { severity: result.severity } : {}) }
  })
  return all.length === 1 ? (all[0] ?? {}) : all
}
