/** SenML in JSON (RFC 8428, 5). Opaque values are Base64 of URLs. */
import { z } from 'zod'
import { stringifyJson, type JsonObject } from '../../../model/json.ts'
import { jsonNumber, jsonOf } from './json.ts'
import type { ValueRecord } from './records.ts'
import { isDemanding, packOf, recordSchema, recordsOf, type NamedValue } from './senml.ts'

const FORMAT = 'SenML JSON'

const bytes = z
  .string()
  .regex(/^[\w+/-]*={0,2}$/)
  .transform((text) => Buffer.from(text, 'base64url'))
const pack = z.array(
  z
    .record(z.string(), z.unknown())
    .refine((members) => !Object.keys(members).some(isDemanding))
    .pipe(recordSchema(jsonNumber, bytes)),
)

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
