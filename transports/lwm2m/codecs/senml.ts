/** Packs of SenML (RFC 8428) as LwM2M 1.1 uses them: names are paths. What JSON and CBOR have in common. */
import { z } from 'zod'
import { Lwm2mErrors } from '../errors.ts'
import { isValuePath, pathOf, pathText, Records, type Path, type RawValue, type ValueRecord } from './records.ts'

/** One record of a pack, by the names of RFC 8428 table 4; `vlo` is LwM2M's object link. */
export interface SenmlRecord {
  readonly bn?: string | undefined
  readonly bt?: number | undefined
  readonly n?: string | undefined
  readonly t?: number | undefined
  readonly v?: number | bigint | undefined
  readonly vs?: string | undefined
  readonly vb?: boolean | undefined
  readonly vd?: Buffer | undefined
  readonly vlo?: string | undefined
}

/** RFC 8428, 4.1: packs of later versions are not understood. */
const LAST_VERSION = 10

/**
 * What a record may hold, with the numbers and bytes of its form. Base values and base sums stand in no pack of LwM2M: one that has them is
 * refused, not misread.
 */
export function recordSchema<Numbers extends z.ZodType<number | bigint>, Bytes extends z.ZodType<Buffer>>(
  numbers: Numbers,
  bytes: Bytes,
) {
  const seconds = numbers.transform(Number)
  return z.object({
    bn: z.string().optional(),
    bt: seconds.optional(),
    bver: seconds.refine((version) => version <= LAST_VERSION).optional(),
    bv: z.undefined().optional(),
    bs: z.undefined().optional(),
    n: z.string().optional(),
    t: seconds.optional(),
    v: numbers.optional(),
    vs: z.string().optional(),
    vb: z.boolean().optional(),
    vd: bytes.optional(),
    vlo: z.string().optional(),
  })
}

/** Whether a reader has to know what that member is (RFC 8428, 4.4): one that does not takes nothing of the pack. */
export function isDemanding(name: string): boolean {
  return name.endsWith('_')
}

/** Names are resolved, records without a value are passed over. Throws BAD_PAYLOAD, TOO_MANY_VALUES. */
export function recordsOf(pack: readonly SenmlRecord[], format: string): readonly ValueRecord[] {
  const records = new Records()
  let baseName = ''
  let baseTime: number | undefined
  for (const each of pack) {
    baseName = each.bn ?? baseName
    baseTime = each.bt ?? baseTime
    const value = valueOf(each)
    if (value === undefined) continue
    const name = baseName + (each.n ?? '')
    const path = pathOf(name)
    if (path === undefined || !isValuePath(path))
      throw Lwm2mErrors.BAD_PAYLOAD({ format, reason: 'a name is no path of a resource' })
    const hasTime = baseTime !== undefined || each.t !== undefined
    records.add({ path, value, ...(hasTime ? { time: (baseTime ?? 0) + (each.t ?? 0) } : {}) })
  }
  return records.all
}

/** A value with its path; without one where the path alone is named. */
export interface NamedValue {
  readonly path: Path
  readonly value?: RawValue
}

/** Each with its whole name. */
export function packOf(values: readonly NamedValue[]): readonly SenmlRecord[] {
  return values.map(({ path, value }) => ({ n: pathText(path), ...(value === undefined ? {} : senmlValue(value)) }))
}

function valueOf({ v, vs, vb, vd, vlo }: SenmlRecord): RawValue | undefined {
  if (v !== undefined) return { kind: 'number', value: v }
  if (vs !== undefined) return { kind: 'text', value: vs }
  if (vb !== undefined) return { kind: 'boolean', value: vb }
  if (vd !== undefined) return { kind: 'bytes', bytes: vd }
  return vlo === undefined ? undefined : { kind: 'link', value: vlo }
}

function senmlValue(value: RawValue): SenmlRecord {
  switch (value.kind) {
    case 'number':
      return { v: value.value }
    case 'text':
      return { vs: value.value }
    case 'boolean':
      return { vb: value.value }
    case 'link':
      return { vlo: value.value }
    case 'bytes':
    case 'encoded':
      return { vd: value.bytes }
  }
}
