/** From what a client said to what is stored: the values that its profile names, under its keys. Source: `device-api.md` 13.5. */
import type { UploadGroup } from '../../engine/device/gateway.ts'
import { stringifyJson, WholeDouble, type JsonValue } from '../../model/json.ts'
import { LAST_TS, type Entry, type TypedValue } from '../../model/value.ts'
import { pathText, type Path, type ValueRecord } from './codecs/records.ts'
import type { FindResource } from './core-models.ts'
import { Lwm2mErrors } from './errors.ts'
import { resourcePath, type ClientPlan } from './profile.ts'
import type { Offer } from './registration-request.ts'
import { UPDATE_LABELS } from './updates/kinds.ts'
import { typedValue } from './values.ts'

export interface Uplink {
  /** One a time, in the order in which they came. */
  readonly telemetry: readonly UploadGroup[]
  readonly attributes: readonly Entry[]
  /** Values that are to be stored and whose type nobody knows. */
  readonly unknown: number
}

export interface UplinkContext {
  readonly plan: ClientPlan
  readonly offer: Offer
  readonly defaultVersion: string
  readonly findResource: FindResource
  /** Unix ms. */
  readonly now: number
}

interface Resource {
  readonly path: Path
  readonly ts: number | undefined
  single: TypedValue | undefined
  /** Of a resource with instances: by their ids. */
  readonly instances: Map<number, TypedValue>
}

const MS = 1000
/** Of a pack: below it a time counts from now (RFC 8428, 4.5.3). */
const ABSOLUTE_TIME = 2 ** 28

/**
 * Throws WRONG_VALUE where one is not of the type that its resource has, BAD_TIME where no date can name its time: nothing of it is stored then.
 */
export function uplinkOf(records: readonly ValueRecord[], context: UplinkContext): Uplink {
  const { plan, offer, defaultVersion, findResource } = context
  const resources = new Map<string, Resource>()
  let unknown = 0
  for (const { path, value, time } of records) {
    const at = resourcePath(path)
    const text = pathText(at)
    if (!plan.telemetry.has(text) && !plan.attributes.has(text)) continue
    const [objectId = 0, , resourceId = 0, instanceId] = path
    const model = findResource(objectId, offer.objects.get(objectId)?.version ?? defaultVersion, resourceId)
    if (model === undefined) {
      unknown++
      continue
    }
    const ts = time === undefined ? undefined : timestampOf(time, context.now, text)
    const key = `${text} ${ts}`
    const resource = resources.get(key) ?? { path: at, ts, single: undefined, instances: new Map<number, TypedValue>() }
    resources.set(key, resource)
    if (instanceId === undefined) resource.single = labelled(text, typedValue(model.type, value, path))
    else resource.instances.set(instanceId, typedValue(model.type, value, path))
  }
  return { ...stored([...resources.values()], plan), unknown }
}

function stored(resources: readonly Resource[], plan: ClientPlan): Omit<Uplink, 'unknown'> {
  const groups = new Map<number | undefined, Entry[]>()
  /** The last value of each counts. */
  const attributes = new Map<string, Entry>()
  for (const { path, ts, single, instances } of resources) {
    const value = single ?? { type: 'JSON', value: instancesJson(instances) }
    const [telemetryKey, attributeKey] = [plan.telemetry.get(pathText(path)), plan.attributes.get(pathText(path))]
    if (attributeKey !== undefined) attributes.set(attributeKey, { key: attributeKey, ...value })
    if (telemetryKey === undefined) continue
    const entries = groups.get(ts) ?? []
    entries.push({ key: telemetryKey, ...value })
    groups.set(ts, entries)
  }
  return {
    telemetry: [...groups].map(([ts, entries]) => ({ ts, entries })),
    attributes: [...attributes.values()],
  }
}

/** States and results of updates are stored in words (`device-api.md` 13.5). */
function labelled(text: string, value: TypedValue): TypedValue {
  const label = value.type === 'LONG' ? UPDATE_LABELS.get(text)?.[Number(value.value)] : undefined
  return label === undefined ? value : { type: 'STRING', value: label }
}

function instancesJson(instances: ReadonlyMap<number, TypedValue>): string {
  const sorted = [...instances].toSorted(([a], [b]) => a - b)
  return stringifyJson(Object.fromEntries(sorted.map(([id, value]) => [String(id), jsonOf(value)])))
}

/** No resource is JSON itself. */
function jsonOf(value: TypedValue): JsonValue {
  if (value.type === 'DOUBLE' && Number.isInteger(value.value)) return new WholeDouble(value.value)
  return value.value
}

/** A time before now is negative, however far; one of a pack that names none at all is not a number. */
function timestampOf(time: number, now: number, path: string): number {
  const ts = Math.round(time * MS) + (time < ABSOLUTE_TIME ? now : 0)
  if (!(Math.abs(ts) <= LAST_TS)) throw Lwm2mErrors.BAD_TIME({ path, time })
  return ts
}
