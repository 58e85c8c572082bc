/** Every type of calculated field that runs. To add one: its file here, its test beside it, a line below. */
import type { Configuration } from '../../model/calculated-fields/configuration.ts'
import type { AnyField, FieldKind, FieldTools } from '../../model/calculated-fields/kind.ts'
import { alarm } from './alarm.ts'
import { entityAggregation } from './entity-aggregation.ts'
import { geofencing } from './geofencing.ts'
import { propagation } from './propagation.ts'
import { relatedEntitiesAggregation } from './related-entities-aggregation.ts'
import { script } from './script.ts'
import { simple } from './simple.ts'

type Kinds = { readonly [Type in Configuration['type']]?: FieldKind<Type> }

const KINDS: Kinds = {
  SIMPLE: simple,
  ALARM: alarm,
  GEOFENCING: geofencing,
  PROPAGATION: propagation,
  RELATED_ENTITIES_AGGREGATION: relatedEntitiesAggregation,
  ENTITY_AGGREGATION: entityAggregation,
  SCRIPT: script,
}

/** Undefined where the type does not run. Throws what the kind refuses. */
export function openField(configuration: Configuration, tools: FieldTools): AnyField | undefined {
  return open(KINDS, configuration, tools)
}

function open<Type extends Configuration['type']>(
  kinds: { readonly [Each in Type]?: FieldKind<Each> },
  configuration: Extract<Configuration, { readonly type: Type }>,
  tools: FieldTools,
): AnyField | undefined {
  return kinds[configuration.type]?.open(configuration, tools)
}
