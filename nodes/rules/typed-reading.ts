/** Typed values as text, number or boolean, the way conditions of alarm rules read them (`rule-engine.md` 7.2). */
import { valueText } from '../../model/entry-json.ts'
import type { TypedValue } from '../../model/value.ts'
import { numberOfText } from '../../model/number-text.ts'

export function textOf(value: TypedValue): string {
  return valueText(value)
}

/** Undefined where a text is no number. */
export function numberOf(value: TypedValue): number | undefined {
  switch (value.type) {
    case 'BOOLEAN':
      return value.value ? 1 : 0
    case 'LONG':
    case 'DOUBLE':
      return Number(value.value)
    case 'STRING':
    case 'JSON': {
      const number = numberOfText(value.value)
      return Number.isNaN(number) ? undefined : number
    }
  }
}

export function booleanOf(value: TypedValue): boolean {
  switch (value.type) {
    case 'BOOLEAN':
      return value.value
    case 'LONG':
    case 'DOUBLE':
      return value.value > 0
    case 'STRING':
    case 'JSON':
      return value.value.toLowerCase() === 'true'
  }
}
