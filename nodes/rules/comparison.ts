/** How conditions of alarm rules compare texts and numbers, in both their forms (`rule-engine.md` 7.2 and 7.3). */

export const EQUALITY = ['EQUAL', 'NOT_EQUAL'] as const
export const TEXT_OPERATIONS = [
  ...EQUALITY,
  'STARTS_WITH',
  'ENDS_WITH',
  'CONTAINS',
  'NOT_CONTAINS',
  'IN',
  'NOT_IN',
] as const
export const NUMBER_OPERATIONS = [...EQUALITY, 'GREATER', 'LESS', 'GREATER_OR_EQUAL', 'LESS_OR_EQUAL'] as const

export function compareTexts(
  operation: (typeof TEXT_OPERATIONS)[number],
  text: string,
  other: string,
  ignoreCase: boolean,
): boolean {
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

export function compareNumbers(operation: (typeof NUMBER_OPERATIONS)[number], number: number, other: number): boolean {
  switch (operation) {
    case 'EQUAL':
      return number === other
    case 'NOT_EQUAL':
      return number !== other
    case 'GREATER':
      return number > other
    case 'LESS':
      return number < other
    case 'GREATER_OR_EQUAL':
      return number >= other
    case 'LESS_OR_EQUAL':
      return number <= other
  }
}

export function compareFlags(operation: (typeof EQUALITY)[number], flag: boolean, other: boolean): boolean {
  return operation === 'EQUAL' ? flag === other : flag !== other
}
