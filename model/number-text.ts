/** Texts that are numbers, as the reference's clients write them: decimal, with an exponent or not. */

/** A digit can match in one way only: with two, a long text that is none takes seconds. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

/** Without blanks around it. */
export function isNumberText(text: string): boolean {
  return DECIMAL.test(text)
}

/** Blanks around it count for nothing. NaN where it is none. `0x10`, `0b1` and the blank text, which this language reads as numbers, are none. */
export function numberOfText(text: string): number {
  return isNumberText(text.trim()) ? Number(text) : Number.NaN
}
