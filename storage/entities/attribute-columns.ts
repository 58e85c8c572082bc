/** Typed values as columns: exactly one of the value columns is set, `kind` says what it means. */
import type { AttributeScope, TypedValue, ValueType } from '../../model/value.ts'
import type { AttributeTable } from './schema.ts'

/** As existing databases number them (`rule-engine.md` 10.1); their order is the order of answers. */
export const ATTRIBUTE_SCOPE_NUMBERS: Readonly<Record<AttributeScope, number>> = {
  CLIENT_SCOPE: 1,
  SERVER_SCOPE: 2,
  SHARED_SCOPE: 3,
}

const KIND_NUMBERS: Readonly<Record<ValueType, number>> = { BOOLEAN: 1, LONG: 2, DOUBLE: 3, STRING: 4, JSON: 5 }

export type ValueColumns = Pick<AttributeTable, 'kind' | 'long_value' | 'double_value' | 'text_value'>

export function scopeOf(number: number): AttributeScope {
  if (number === ATTRIBUTE_SCOPE_NUMBERS.CLIENT_SCOPE) return 'CLIENT_SCOPE'
  return number === ATTRIBUTE_SCOPE_NUMBERS.SERVER_SCOPE ? 'SERVER_SCOPE' : 'SHARED_SCOPE'
}

export function valueColumns(value: TypedValue): ValueColumns {
  const kind = KIND_NUMBERS[value.type]
  const columns = { kind, long_value: null, double_value: null, text_value: null }
  switch (value.type) {
    case 'BOOLEAN':
      return { ...columns, long_value: value.value ? 1 : 0 }
    case 'LONG':
      return { ...columns, long_value: value.value }
    case 'DOUBLE':
      // SQLite writes a whole double as an integer and so loses the sign of -0.0: that one is kept as text.
      return Object.is(value.value, -0) ? { ...columns, text_value: '-0.0' } : { ...columns, double_value: value.value }
    default:
      return { ...columns, text_value: value.value }
  }
}

export function typedValue(columns: ValueColumns): TypedValue {
  switch (columns.kind) {
    case KIND_NUMBERS.BOOLEAN:
      return { type: 'BOOLEAN', value: columns.long_value === 1 }
    case KIND_NUMBERS.LONG:
      return { type: 'LONG', value: columns.long_value ?? 0 }
    case KIND_NUMBERS.DOUBLE:
      return { type: 'DOUBLE', value: columns.double_value ?? Number(columns.text_value) }
    case KIND_NUMBERS.STRING:
      return { type: 'STRING', value: columns.text_value ?? '' }
    default:
      return { type: 'JSON', value: columns.text_value ?? 'null' }
  }
}
