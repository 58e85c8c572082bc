/** How conditions compare values: of queries over entities (`rest-api.md` 7) and of both forms of alarm rules (`rule-engine.md` 7.2 and 7.3). */

export const STRING_OPERATIONS = [
  'EQUAL',
  'NOT_EQUAL',
  'STARTS_WITH',
  'ENDS_WITH',
  'CONTAINS',
  'NOT_CONTAINS',
  'IN',
  'NOT_IN',
] as const
export type StringOperation = (typeof STRING_OPERATIONS)[number]
export const NUMERIC_OPERATIONS = [
  'EQUAL',
  'NOT_EQUAL',
  'GREATER',
  'LESS',
  'GREATER_OR_EQUAL',
  'LESS_OR_EQUAL',
] as const
export type NumericOperation = (typeof NUMERIC_OPERATIONS)[number]
export const BOOLEAN_OPERATIONS = ['EQUAL', 'NOT_EQUAL'] as const
export type BooleanOperation = (typeof BOOLEAN_OPERATIONS)[number]

export function compareNumbers(operation: NumericOperation, number: number, other: number): boolean {
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
