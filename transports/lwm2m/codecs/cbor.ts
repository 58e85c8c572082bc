/** CBOR of single values, and SenML in CBOR (RFC 8428, 6), by `cborg`. Loaded with the first: most servers never have one. */
import type { TagDecoder } from 'cborg'
import { z } from 'zod'
import { errorText } from '../../../model/errors.ts'
import { Lwm2mErrors } from '../errors.ts'
import { Records, type Path, type RawValue, type ValueRecord } from './records.ts'
import { isDemanding, packOf, recordSchema, recordsOf, type NamedValue, type SenmlRecord } from './senml.ts'

const FORMAT = 'SenML CBOR'
/** RFC 8428, table 4. */
const LABELS = { bver: -1, bn: -2, bt: -3, bv: -5, bs: -6, n: 0, v: 2, vs: 3, vb: 4, t: 6, vd: 8, vlo: 'vlo' } as const

const number = z.union([z.number(), z.bigint()])
const bytes = z.instanceof(Uint8Array).transform((value) => Buffer.from(value))
const record = recordSchema(number, bytes)
const pack = z.array(
  z
    .map(z.union([z.number(), z.string()]), z.unknown())
    .refine((labels) => ![...labels.keys()].some((label) => typeof label === 'string' && isDemanding(label)))
    .transform(named)
    .pipe(record),
)
const single = z.union([number, z.string(), z.boolean(), bytes])
/**
 * What clients mark: a date as text (0) or in seconds (1) at a resource that is a time, and decimal fractions (4; RFC 8428, 6).
 * Source: RFC 8949, 3.4.
 */
const TAGS: Readonly<Record<number, TagDecoder>> = {
  0: marked(z.string()),
  1: marked(number),
  4: marked(z.tuple([z.int(), number]).transform(([exponent, mantissa]) => Number(`${mantissa}e${exponent}`))),
}

/** Throws BAD_PAYLOAD, TOO_MANY_VALUES. */
export async function decodeSenmlCbor(payload: Buffer): Promise<readonly ValueRecord[]> {
  const { data, error } = pack.safeParse(await decoded(payload, FORMAT))
  if (data === undefined) throw Lwm2mErrors.BAD_PAYLOAD({ format: FORMAT, reason: 'it is no array of records' }, error)
  return recordsOf(data, FORMAT)
}

export async function encodeSenmlCbor(values: readonly NamedValue[]): Promise<Buffer> {
  const { encode } = await import('cborg')
  return Buffer.from(encode(packOf(values).map(labelled)))
}

/** One value at the path that was asked for. Throws BAD_PAYLOAD. */
export async function decodeCbor(payload: Buffer, path: Path): Promise<readonly ValueRecord[]> {
  const { data, error } = single.safeParse(await decoded(payload, 'CBOR'))
  if (data === undefined) throw Lwm2mErrors.BAD_PAYLOAD({ format: 'CBOR', reason: 'it is no single value' }, error)
  const records = new Records()
  records.add({ path, value: rawOf(data) })
  return records.all
}

async function decoded(payload: Buffer, format: string): Promise<unknown> {
  const { decode } = await import('cborg')
  try {
    return decode(payload, { useMaps: true, rejectDuplicateMapKeys: true, tags: TAGS })
  } catch (error) {
    throw Lwm2mErrors.BAD_PAYLOAD({ format, reason: errorText(error) }, error)
  }
}

function marked<Content>(schema: z.ZodType<Content>): (content: () => unknown) => Content {
  return (content) => {
    const { data, error } = schema.safeParse(content())
    if (error !== undefined) throw new Error('a tag marks what it can not mark')
    return data
  }
}

function rawOf(value: number | bigint | string | boolean | Buffer): RawValue {
  if (typeof value === 'boolean') return { kind: 'boolean', value }
  if (typeof value === 'string') return { kind: 'text', value }
  return Buffer.isBuffer(value) ? { kind: 'bytes', bytes: value } : { kind: 'number', value }
}

function named(labels: ReadonlyMap<number | string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(LABELS).map(([name, label]) => [name, labels.get(label)]))
}

function labelled({ n, v, vs, vb, vd, vlo }: SenmlRecord): Map<number | string, unknown> {
  const labels = new Map<number | string, unknown>()
  for (const [label, value] of [
    [LABELS.n, n],
    [LABELS.v, v],
    [LABELS.vs, vs],
    [LABELS.vb, vb],
    [LABELS.vd, vd],
    [LABELS.vlo, vlo],
  ] as const)
    if (value !== undefined) labels.set(label, value)
  return labels
}
