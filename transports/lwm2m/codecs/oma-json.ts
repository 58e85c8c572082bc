/** JSON of LwM2M 1.0 (OMA LwM2M Core 1.0, 6.4.4), which 1.1 has no more. Opaque values are Base64 in a text. */
import { z } from 'zod'
import { stringifyJson, type JsonObject } from '../../../model/json.ts'
import { jsonNumber, jsonOf } from './json.ts'
import { pathText, type Path, type RawValue, type ValueRecord } from './records.ts'
import { recordsOf } from './senml.ts'

const FORMAT = 'OMA JSON'

const seconds = jsonNumber.transform(Number)
const document = z.object({
  bn: z.string().optional(),
  bt: seconds.optional(),
  e: z.array(
    z.object({
      n: z.string().optional(),
      t: seconds.optional(),
      v: jsonNumber.optional(),
      bv: z.boolean().optional(),
      sv: z.string().optional(),
      ov: z.string().optional(),
    }),
  ),
})

/** What a client said of `base`, the path that it was asked for: names without a base name stand below it. Throws BAD_PAYLOAD, TOO_MANY_VALUES. */
export function decodeOmaJson(payload: Buffer, base: Path): readonly ValueRecord[] {
  const { bn = pathText(base), bt, e } = jsonOf(payload, document, FORMAT, 'object with entries')
  const entries = e.map(({ n = '', t, v, bv, sv, ov }) => ({ n: joined(bn, n), t, v, vb: bv, vs: sv, vlo: ov }))
  return recordsOf([{ bt }, ...entries], FORMAT).map((record) => {
    const { value } = record
    return value.kind === 'text' ? { ...record, value: { ...value, isBase64OfOpaque: true } } : record
  })
}

export function encodeOmaJson(values: readonly { readonly path: Path; readonly value: RawValue }[]): Buffer {
  const e = values.map(({ path, value }): JsonObject => ({ n: path.join('/'), ...entryOf(value) }))
  return Buffer.from(stringifyJson({ bn: '/', e }))
}

/** Some clients leave the slash between them out. */
function joined(base: string, name: string): string {
  return name === '' || name.startsWith('/') || base.endsWith('/') ? base + name : `${base}/${name}`
}

function entryOf(value: RawValue): JsonObject {
  switch (value.kind) {
    case 'number':
      return { v: value.value }
    case 'boolean':
      return { bv: value.value }
    case 'text':
      return { sv: value.value }
    case 'link':
      return { ov: value.value }
    case 'bytes':
    case 'encoded':
      return { sv: value.bytes.toString('base64') }
  }
}
