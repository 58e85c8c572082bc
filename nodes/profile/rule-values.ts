/** What conditions of alarm rules compare: values of a device and its surroundings, as text, number or boolean (`rule-engine.md` 7.2). */
import { z } from 'zod'
import type { TypedValue } from '../../model/value.ts'

export const KEY_TYPES = ['ATTRIBUTE', 'TIME_SERIES', 'ENTITY_FIELD', 'CONSTANT'] as const

export interface RuleKey {
  readonly type: (typeof KEY_TYPES)[number]
  readonly key: string
}

/** What a rule may ask for while it is evaluated. */
export interface RuleValues {
  /** Of the device: an attribute of any scope, the latest of a series, a field. */
  own(key: RuleKey): TypedValue | undefined
  /** Server attributes. */
  ofCustomer(attribute: string): TypedValue | undefined
  ofTenant(attribute: string): TypedValue | undefined
}

const SOURCES = ['CURRENT_DEVICE', 'CURRENT_CUSTOMER', 'CURRENT_TENANT', 'CURRENT_USER'] as const

const sourceSchema = z.looseObject({
  sourceType: z.enum(SOURCES).nullish(),
  sourceAttribute: z.string().nullish(),
  inherit: z.boolean().nullish(),
})

/** An attribute that stands for a written value. */
export interface Source {
  readonly from: (typeof SOURCES)[number]
  readonly attribute: string
  /** Where the device has none the customer's counts, then the tenant's. */
  readonly inherit: boolean
}

export const source = sourceSchema.nullish().transform((value): Source | undefined => {
  const { sourceType, sourceAttribute, inherit } = value ?? {}
  if (sourceType === null || sourceType === undefined || sourceAttribute === null || sourceAttribute === undefined)
    return undefined
  return { from: sourceType, attribute: sourceAttribute, inherit: inherit ?? false }
})

/** A written value, for which an attribute may stand. */
export interface RuleValue<Value> {
  readonly written: Value | undefined
  readonly source: Source | undefined
}

export function ruleValue<Schema extends z.ZodType>(schema: Schema) {
  return z
    .looseObject({ defaultValue: schema.nullish(), dynamicValue: source })
    .transform(({ defaultValue, dynamicValue }): RuleValue<z.output<Schema>> => ({
      written: defaultValue ?? undefined,
      source: dynamicValue,
    }))
}

export function sourced(wanted: Source | undefined, values: RuleValues): TypedValue | undefined {
  if (wanted === undefined) return undefined
  const { from, attribute, inherit } = wanted
  switch (from) {
    case 'CURRENT_DEVICE': {
      const own = values.own({ type: 'ATTRIBUTE', key: attribute })
      if (own !== undefined || !inherit) return own
      return values.ofCustomer(attribute) ?? values.ofTenant(attribute)
    }
    case 'CURRENT_CUSTOMER': {
      const customers = values.ofCustomer(attribute)
      return customers !== undefined || !inherit ? customers : values.ofTenant(attribute)
    }
    case 'CURRENT_TENANT':
      return values.ofTenant(attribute)
    // Rules run for nobody.
    case 'CURRENT_USER':
      return undefined
  }
}

/** What the attribute says where it can be read so, else what is written. */
export function resolved<Value>(
  { written, source: wanted }: RuleValue<Value>,
  values: RuleValues,
  read: (value: TypedValue) => Value | undefined,
): Value | undefined {
  const found = sourced(wanted, values)
  return (found === undefined ? undefined : read(found)) ?? written
}
