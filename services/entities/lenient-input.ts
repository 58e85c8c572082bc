/** Numbers and flags that clients send as text are taken, as the reference does; so are both for text, by `textInput`. Source: `rest-api.md` 3.3. */
import { z } from 'zod'
import { WholeDouble } from '../../model/json.ts'

/** As many digits as every whole number has that is exact. */
const DIGITS = /^-?\d{1,15}$/
export const FLAG_TEXTS: ReadonlyMap<unknown, boolean> = new Map([
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
])

/** A whole number; undefined for left out, null and empty. */
export const wholeInput = z
  .preprocess(
    (sent) => (sent === '' ? undefined : isWhole(sent) ? Number(sent) : sent),
    z
      .int()
      .nullish()
      .transform((value) => value ?? undefined),
  )
  .optional()

/** A flag; undefined for left out, null and empty. */
export const flagInput = z
  .preprocess(
    (sent) => (sent === '' ? undefined : (FLAG_TEXTS.get(sent) ?? sent)),
    z
      .boolean()
      .nullish()
      .transform((value) => value ?? undefined),
  )
  .optional()

function isWhole(sent: unknown): boolean {
  return sent instanceof WholeDouble || (typeof sent === 'string' && DIGITS.test(sent))
}
