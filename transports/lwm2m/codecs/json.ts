/** What the formats in JSON have in common. */
import { z } from 'zod'
import { errorText } from '../../../model/errors.ts'
import { LongDecimal, parseJson, WholeDouble } from '../../../model/json.ts'
import { Lwm2mErrors } from '../errors.ts'

/** With every digit that was sent. */
export const jsonNumber = z.union([
  z.number(),
  z.bigint(),
  z.instanceof(WholeDouble).transform(({ value }) => value),
  z.instanceof(LongDecimal).transform(({ value }) => value),
])

/** Throws BAD_PAYLOAD; `shape`: what it should be. */
export function jsonOf<Output>(payload: Buffer, schema: z.ZodType<Output>, format: string, shape: string): Output {
  let document: unknown
  try {
    document = parseJson(payload.toString('utf8'))
  } catch (error) {
    throw Lwm2mErrors.BAD_PAYLOAD({ format, reason: errorText(error) }, error)
  }
  const { data, error } = schema.safeParse(document)
  if (error !== undefined) throw Lwm2mErrors.BAD_PAYLOAD({ format, reason: `it is no ${shape}` }, error)
  return data
}
