/** Texts that are numbers, as the reference's clients write them: decimal, with an exponent or not, blanks around. */

/** A digit can match in one way only: with two, a long text that is none takes seconds. */
const DECIMAL = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i

/** NaN where it is none. `0x10`, `0b1` and the blank text, which this language reads as numbers, are none. */
export function numberOfText(text: string): number {
  return DECIMAL.test(text) ? Number(text) : Number.NaN
}
