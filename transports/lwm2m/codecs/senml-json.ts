/** SenML in JSON (RFC 8428, 5). Opaque values are Base64 of URLs. */
import { z } from 'zod'
import { stringifyJson, type JsonObject } from '../../../model/json.ts'
import { jsonNumber, jsonOf } from './json.ts'
import type { ValueRecord } from './records.ts'
import { packOf, recordsOf, type NamedValue } from './senml.ts'

const FORMAT = 'SenML JSON'

const seconds = jsonNumber.transform(Number)
const bytes = z
  .string()
  .regex(/^[\w+/-]*={0,2}$/)
  .transform((text) => Buffer.from(text, 'base64url'))
/** Base values and base sums stand in no pack of LwM2M: one that has them is refused, not misread. */
const record = z.object({
  bn: z.string().optional(),
  bt: seconds.optional(),
  bv: z.undefined().optional(),
  bs: z.undefined().optional(),
  n: z.string().optional(),
  t: seconds.optional(),
  v: jsonNumber.optional(),
  vs: z.string().optional(),
  vb: z.boolean().optional(),
  vd: bytes.optional(),
  vlo: z.string().optional(),
})
const pack = z.array(record)

/** Throws BAD_PAYLOAD, TOO_MANY_VALUES. */
export function decodeSenmlJson(payload: Buffer): readonly ValueRecord[] {
  return recordsOf(jsonOf(payload, pack, FORMAT, 'array of records'), FORMAT)
}

export function encodeSenmlJson(values: readonly NamedValue[]): Buffer {
  const records = packOf(values).map(({ vd, ...rest }): JsonObject => {
    const members = Object.entries(rest).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]))
    return { ...Object.fromEntries(members), ...(vd === undefined ? {} : { vd: vd.toString('base64url') }) }
  })
  return Buffer.from(stringifyJson(records))
}
