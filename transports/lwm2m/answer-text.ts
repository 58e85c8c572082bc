/** What a client read, as the text in which callers of the reference get it: Leshan's. Source: `device-api.md` 13.8. */
import { stringifyJson, WholeDouble } from '../../model/json.ts'
import type { TypedValue } from '../../model/value.ts'
import { pathText, type Path, type ValueRecord } from './codecs/records.ts'
import type { ResourceModel } from './core-models.ts'
import { typedValue } from './values.ts'

type FindModel = (path: Path) => ResourceModel | undefined
type Tree = Map<number, Tree | string>

const MAX_OPAQUE_DIGITS = 1024
const DEPTHS = { object: 1, instance: 2, resource: 3 } as const

/** Of a composite request each path with what stands there. Throws WRONG_VALUE. */
export function answeredText(
  records: readonly ValueRecord[],
  { path, paths }: { readonly path: Path; readonly paths?: readonly Path[] },
  modelAt: FindModel,
): string {
  if (paths === undefined) return valueText(records, path, modelAt)
  const below = recordsBelow(records)
  const texts = paths.map((each) => {
    const text = pathText(each)
    const own = below.get(text) ?? []
    return `${text}=${own.length === 0 ? 'null' : valueText(own, each, modelAt)}`
  })
  return `{${texts.join(', ')}}`
}

/** By each path above a record and its own: callers name thousands of paths, and clients say thousands of values. */
function recordsBelow(records: readonly ValueRecord[]): ReadonlyMap<string, readonly ValueRecord[]> {
  const below = new Map<string, ValueRecord[]>()
  for (const record of records) {
    const { path } = record
    for (let depth = 0; depth <= path.length; depth++) {
      const text = pathText(path.slice(0, depth))
      const known = below.get(text)
      if (known === undefined) below.set(text, [record])
      else known.push(record)
    }
  }
  return below
}

/** Throws WRONG_VALUE. What nobody knows the type of is told as opaque. */
export function valueText(records: readonly ValueRecord[], path: Path, modelAt: FindModel): string {
  const [first] = records
  if (path.length > DEPTHS.resource && first !== undefined) return one(first, modelAt)
  const resources = resourcesOf(records, modelAt)
  if (path.length === DEPTHS.resource) return resources.get(pathText(path)) ?? ''
  const tree: Tree = new Map()
  for (const [text, shown] of resources) {
    const [, instanceId = 0, resourceId = 0] = text.split('/').slice(1).map(Number)
    const known = tree.get(instanceId)
    const instance: Tree = known instanceof Map ? known : new Map<number, Tree | string>()
    tree.set(instanceId, instance.set(resourceId, shown))
  }
  const instances = [...tree].map(
    ([id, instance]) =>
      [id, `LwM2mObjectInstance [id=${id}, resources=${mapText(instance instanceof Map ? instance : [])}]`] as const,
  )
  if (path.length === DEPTHS.instance) return instances[0]?.[1] ?? emptyInstance(path)
  return `LwM2mObject [id=${path[0] ?? 0}, instances=${mapText(instances)}]`
}

function emptyInstance([, id = 0]: Path): string {
  return `LwM2mObjectInstance [id=${id}, resources={}]`
}

function resourcesOf(records: readonly ValueRecord[], modelAt: FindModel): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  const multiple = new Map<string, ValueRecord[]>()
  for (const record of records) {
    const text = pathText(record.path.slice(0, DEPTHS.resource))
    if (record.path.length === DEPTHS.resource) texts.set(text, one(record, modelAt))
    else multiple.set(text, [...(multiple.get(text) ?? []), record])
  }
  for (const [text, instances] of multiple) {
    const shown = instances.map((each) => [each.path[DEPTHS.resource] ?? 0, one(each, modelAt)] as const)
    const id = text.slice(text.lastIndexOf('/') + 1)
    const type = typeOf(instances[0]?.path ?? [], modelAt)
    texts.set(text, `LwM2mMultipleResource [id=${id}, values=${mapText(shown)}, type=${type}]`)
  }
  return texts
}

function one({ path, value }: ValueRecord, modelAt: FindModel): string {
  const type = typeOf(path, modelAt)
  const shown = type === 'OPAQUE' && !isBase64(value, path, modelAt) ? opaque(value) : value
  const text = shownValue(typedValue(type, shown, path))
  const kind = path.length > DEPTHS.resource ? 'LwM2mResourceInstance' : 'LwM2mSingleResource'
  return `${kind} [id=${path.at(-1) ?? 0}, value=${text}, type=${type}]`
}

function typeOf(path: Path, modelAt: FindModel) {
  return modelAt(path)?.type ?? 'OPAQUE'
}

/** A text may be one where nobody knows the type. */
function isBase64(value: ValueRecord['value'], path: Path, modelAt: FindModel): boolean {
  return value.kind === 'text' && value.isBase64OfOpaque === true && modelAt(path) !== undefined
}

function opaque(value: ValueRecord['value']): ValueRecord['value'] {
  switch (value.kind) {
    case 'bytes':
    case 'encoded':
      return value
    case 'text':
    case 'link':
      return { kind: 'bytes', bytes: Buffer.from(value.value) }
    case 'boolean':
    case 'number':
      return { kind: 'bytes', bytes: Buffer.from(String(value.value)) }
  }
}

function shownValue({ type, value }: TypedValue): string {
  if (type === 'DOUBLE') return stringifyJson(Number.isInteger(value) ? new WholeDouble(value) : value)
  return String(value).slice(0, MAX_OPAQUE_DIGITS)
}

function mapText(entries: Iterable<readonly [number, unknown]>): string {
  const sorted = [...entries].toSorted(([a], [b]) => a - b)
  return `{${sorted.map(([id, text]) => `${id}=${typeof text === 'string' ? text : ''}`).join(', ')}}`
}
