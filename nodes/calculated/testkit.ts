/** Steps of one kind in tests: what it is given, and what is asked of the world by none. */
import { configuration as configurationSchema } from '../../model/calculated-fields/configuration.ts'
import type { AnyField, ArgumentValue, FieldTools, Step, StepInput } from '../../model/calculated-fields/kind.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { openField } from './kinds.ts'

export const DEVICE: EntityId = { entityType: 'DEVICE', id: '11111111-1111-4111-8111-111111111111' }

/** As a user saves it. `tools`: for kinds that run scripts or ask for limits. */
export function opened(configuration: JsonObject, tools: Partial<FieldTools> = {}): AnyField {
  const refuse = (): never => {
    throw new Error('the test gave no such tool')
  }
  const all: FieldTools = { compile: refuse, compileWithArguments: refuse, limit: refuse, ...tools }
  const field = openField(configurationSchema.parse(configuration), all)
  if (field === undefined) throw new Error('the type does not run')
  return field
}

export function single(value: JsonValue, ts = 1000): ArgumentValue {
  return { kind: 'single', ts, value }
}

/** One step; `state` is that of the step before. */
export function stepOf(field: AnyField, input: Partial<StepInput>, state: JsonValue = null): Step<JsonValue> {
  return field.step(state, { entity: DEVICE, now: 5000, cause: 'values', args: {}, updates: [], targets: [], ...input })
}
