/** How conditions of alarm rules compare texts and flags, in both their forms (`rule-engine.md` 7.2 and 7.3). */
import type { BooleanOperation, StringOperation } from '../../model/comparison.ts'

export function compareTexts(operation: StringOperation, text: string, other: string, ignoreCase: boolean): boolean {
  if (ignoreCase) return compareTexts(operation, text.toLowerCase(), other.toLowerCase(), false)
  switch (operation) {
    case 'EQUAL':
      return text === other
    case 'NOT_EQUAL':
      return text !== other
    case 'STARTS_WITH':
      return text.startsWith(other)
    case 'ENDS_WITH':
      return text.endsWith(other)
    case 'CONTAINS':
      return text.includes(other)
    case 'NOT_CONTAINS':
      return !text.includes(other)
    case 'IN':
      return listOf(other).includes(text)
    case 'NOT_IN':
      return !listOf(other).includes(text)
  }
}

/** Items between commas; quotes around them go where all have the same. */
function listOf(text: string): readonly string[] {
  const items = text.split(',').map((item) => item.trim())
  for (const quote of ["'", '"'])
    if (items.every((item) => item.length >= 2 && item.startsWith(quote) && item.endsWith(quote)))
      return items.map((item) => item.slice(1, -1))
  return items
}

export function compareFlags(operation: BooleanOperation, flag: boolean, other: boolean): boolean {
  return operation === 'EQUAL' ? flag === other : flag !== other
}
