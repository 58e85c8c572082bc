/** The operations of the math node and how many values each takes. */
type Calculate = (x: number, y: number) => number

interface Operation {
  readonly values: 1 | 2
  readonly calculate: Calculate
}

const one = (calculate: (x: number) => number): Operation => ({ values: 1, calculate })
const two = (calculate: Calculate): Operation => ({ values: 2, calculate })

/** The doubles that the reference multiplies by: a stored result has all digits. */
const RADIANS_OF_A_DEGREE = 0.017453292519943295
const DEGREES_OF_A_RADIAN = 57.29577951308232

export const OPERATIONS = {
  ADD: two((x, y) => x + y),
  SUB: two((x, y) => x - y),
  MULT: two((x, y) => x * y),
  DIV: two((x, y) => x / y),
  SIN: one(Math.sin),
  SINH: one(Math.sinh),
  COS: one(Math.cos),
  COSH: one(Math.cosh),
  TAN: one(Math.tan),
  TANH: one(Math.tanh),
  ACOS: one(Math.acos),
  ASIN: one(Math.asin),
  ATAN: one(Math.atan),
  ATAN2: two(Math.atan2),
  EXP: one(Math.exp),
  EXPM1: one(Math.expm1),
  SQRT: one(Math.sqrt),
  CBRT: one(Math.cbrt),
  GET_EXP: one(exponentOf),
  HYPOT: two((x, y) => Math.hypot(x, y)),
  LOG: one(Math.log),
  LOG10: one(Math.log10),
  LOG1P: one(Math.log1p),
  CEIL: one(Math.ceil),
  FLOOR: one(Math.floor),
  /** Of the whole parts, as the next. */
  FLOOR_DIV: two((x, y) => Math.floor(Math.trunc(x) / Math.trunc(y))),
  FLOOR_MOD: two((x, y) => Math.trunc(x) - Math.floor(Math.trunc(x) / Math.trunc(y)) * Math.trunc(y)),
  ABS: one(Math.abs),
  MIN: two(Math.min),
  MAX: two(Math.max),
  POW: two((x, y) => x ** y),
  SIGNUM: one(Math.sign),
  RAD: one((degrees) => degrees * RADIANS_OF_A_DEGREE),
  DEG: one((radians) => radians * DEGREES_OF_A_RADIAN),
} as const satisfies Readonly<Record<string, Operation>>

export type OperationName = keyof typeof OPERATIONS
export const OPERATION_NAMES = Object.keys(OPERATIONS) as [OperationName, ...OperationName[]]

/** The exponent in the number's binary form. */
function exponentOf(value: number): number {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, value)
  return ((bits.getUint16(0) >> 4) & 0x7ff) - 1023
}
