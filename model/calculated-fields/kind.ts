/**
 * One type of calculated field as a pure function: from a state and what changed to the next state and what comes of it. The runtime
 * (`services/calculated-fields/runtime/`) reads values, keeps the states, orders and retries; a kind (`nodes/calculated/`) only calculates.
 */
import type { EntityId } from '../entity-id.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { RelationDirection } from '../relation.ts'
import type { AttributeScope } from '../value.ts'
import type { Configuration } from './configuration.ts'

/** Where the values of an argument come from. */
export type Origin =
  /** The entity that the field is calculated for. */
  | { readonly from: 'own' }
  | { readonly from: 'entity'; readonly entity: EntityId }
  /** The entity's customer; its tenant where it has none. */
  | { readonly from: 'owner' }
  /** Level by level from the entity. */
  | {
      readonly from: 'related'
      readonly levels: readonly { readonly direction: RelationDirection; readonly relationType: string }[]
    }

export interface ArgumentNeed {
  readonly origin: Origin
  readonly key: string
  readonly type: 'TS_LATEST' | 'ATTRIBUTE' | 'TS_ROLLING'
  /** Of attributes; absent means SERVER_SCOPE. */
  readonly scope?: AttributeScope | undefined
  readonly defaultValue?: string | undefined
  /** Of TS_ROLLING: points. */
  readonly limit?: number | undefined
  /** Of TS_ROLLING: ms; 0 and undefined mean all that is there. */
  readonly timeWindow?: number | undefined
  /** The values of all entities that `origin` leads to, not of the first. */
  readonly many?: boolean | undefined
}

export interface Needs {
  /** By name. A field is not stepped before each of them has a value (a list may be empty), save those in `optional`. */
  readonly arguments: Readonly<Record<string, ArgumentNeed>>
  readonly optional?: ReadonlySet<string> | undefined
  /** Entities that results go to: read before each step, `input.targets` then. */
  readonly targets?: { readonly direction: RelationDirection; readonly relationType: string } | undefined
  /** Arguments from relations and owners are read again after so long, ms; `cause` is then `reload`. */
  readonly reloadEveryMs?: number | undefined
  /** Whether the alarm of the field's name is active is read when the field begins: `input.alarm` then. */
  readonly alarm?: boolean | undefined
}

/** A value as it was stored: WholeDouble, bigint and the like keep what kind of number it is; JSON values are parsed. */
export interface SingleValue {
  /** Of an attribute: when it was updated. Unix ms. */
  readonly ts: number
  readonly value: JsonValue
}

export type ArgumentValue =
  /** `isDefault`: no value was there; its time is when that was seen. */
  | ({ readonly kind: 'single'; readonly isDefault?: true | undefined } & SingleValue)
  /** Oldest first, those within a window of time: Unix ms, `until` exclusive. */
  | { readonly kind: 'rolling'; readonly points: readonly SingleValue[]; readonly from: number; readonly until: number }
  /** In the order in which the origin leads to them; entities without the value are not there. */
  | { readonly kind: 'many'; readonly of: readonly (SingleValue & { readonly entity: EntityId })[] }

/** One value that came just now. */
export interface ArgumentUpdate extends SingleValue {
  readonly name: string
  readonly entity: EntityId
}

export interface StepInput {
  readonly entity: EntityId
  /** Unix ms: when what caused the step came to be; the same when it is delivered again. */
  readonly now: number
  /**
   * `begin`: the field is new here, or was changed, and its arguments were read; `values`: `updates` came (the first step of a field too, where they
   * brought it here: its state is null then); `wake`: the time that the last step asked for is there; `reload`:
   * arguments were read again; `alarm`: `alarm` changed by other hands.
   */
  readonly cause: 'begin' | 'values' | 'wake' | 'reload' | 'alarm'
  /** All arguments that have a value, with `updates` in them. Defaults count as values. */
  readonly args: Readonly<Record<string, ArgumentValue>>
  /** In the order of their times; empty where `cause` is not `values`. Those that are older than what the argument has come too. */
  readonly updates: readonly ArgumentUpdate[]
  /** Arguments were read for this step, as at the first one: they may say what no step has seen, older as the updates may be. */
  readonly isRead?: true | undefined
  /** Where the need `targets` is declared. */
  readonly targets: readonly EntityId[]
  /** Of the need `alarm`: at a field's first step what is active, or null; at `alarm` what other hands made of it. Undefined otherwise. */
  readonly alarm?: { readonly severity: string; readonly startTs: number } | null | undefined
}

/** What a step makes of the world. Results of one step take effect in their order. */
export type StepResult =
  /** Values by key, to where the field's output says. */
  | {
      readonly kind: 'values'
      readonly entity: EntityId
      readonly values: JsonObject
      /** Unix ms; absent means `input.now`. Set, a message of it is `{"ts", "values"}`. */
      readonly ts?: number | undefined
    }
  | {
      readonly kind: 'alarm'
      readonly entity: EntityId
      readonly action: 'raise'
      readonly severity: string
      /** Of an alarm that is new, Unix ms. */
      readonly startTs: number
      /** In the place of the alarm's, with the dashboard; those stay where both are null. */
      readonly details: JsonObject | null
      readonly dashboardId: string | null
      readonly propagate: boolean
      readonly propagateToOwner: boolean
      readonly propagateToTenant: boolean
      readonly propagateRelationTypes: readonly string[]
      /** Beside the flags: `alarmConditionRepeats`, `alarmConditionDuration`. */
      readonly metadata: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'alarm'
      readonly entity: EntityId
      readonly action: 'clear'
      readonly details: JsonObject | null
      readonly metadata: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'relation'
      readonly action: 'create' | 'delete'
      readonly from: EntityId
      readonly to: EntityId
      readonly relationType: string
    }

export interface Step<State extends JsonValue> {
  /** Plain and bounded: what the entity needs for its next step, beside the arguments, which the runtime keeps. Null: nothing. */
  readonly state: State | null
  readonly results: readonly StepResult[]
  /** Unix ms; undefined: not at all. A time that is past comes soon. */
  readonly wakeAt?: number | undefined
  /** Nothing was calculated: debug events show nothing of it. */
  readonly isUnchanged?: true | undefined
}

/** A field with its configuration read and its scripts compiled; shared by all entities that it is calculated for. */
export interface OpenedField<State extends JsonValue> {
  readonly needs: Needs
  /** Null where what was stored has another shape: the field begins anew. */
  parse(stored: JsonValue): State | null
  /** Changes nothing that it is given. What it throws is in the field's debug events, and leaves the state as it was. */
  step(state: State | null, input: StepInput): Step<State>
}

/** A compiled expression of the platform's language. */
export interface FieldScript {
  /** Values of its parameters in their order. Throws where the script fails or takes too long. */
  call(values: readonly JsonValue[]): JsonValue
}

export interface FieldTools {
  /** The tenant's budget, a calculation's time limit. Throws where the text does not compile. */
  compile(expression: string, parameters: readonly string[]): FieldScript
  /** Calculates with the reference's script arguments: `ctx` and each argument under its name, `undefined` ones as null. */
  compileWithArguments(
    expression: string,
    names: readonly string[],
  ): (args: Readonly<Record<string, ArgumentValue>>) => JsonValue
  /** Seconds or numbers of the tenant's profile (`rule-engine.md` 8.4), as they are now. */
  limit(name: FieldLimit): number
}

export type FieldLimit =
  | 'maxRelatedEntitiesToReturnPerCfArgument'
  | 'intermediateAggregationIntervalInSecForCF'
  | 'cfReevaluationCheckInterval'
  | 'alarmsReevaluationInterval'

export type ConfigurationOf<Type extends Configuration['type']> = Extract<Configuration, { readonly type: Type }>

export interface FieldKind<Type extends Configuration['type'] = Configuration['type']> {
  readonly type: Type
  /** Throws where the field can not run: in its debug events. */
  open(configuration: ConfigurationOf<Type>, tools: FieldTools): AnyField
}

/** A field whose state only it knows: {@link hidingState} makes it. */
export interface AnyField {
  readonly needs: Needs
  step(stored: JsonValue, input: StepInput): Step<JsonValue>
}

export function hidingState<State extends JsonValue>(field: OpenedField<State>): AnyField {
  return {
    needs: field.needs,
    step: (stored, input) => field.step(stored === null ? null : field.parse(stored), input),
  }
}
