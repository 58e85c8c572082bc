/** What callers say of a call: JSON, paths and keys, values by the types of their resources. Source: `device-api.md` 13.8. */
import { isJsonObject, parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { pathText, type Path } from './codecs/records.ts'
import type { FindResource, ResourceModel } from './core-models.ts'
import { Lwm2mErrors } from './errors.ts'
import type { WrittenValue } from './formats.ts'
import { readVersionedPath, type Lwm2mProfile, type VersionedPath } from './profile.ts'
import type { Registration } from './registrations.ts'
import { rawValueOf } from './values.ts'

export interface OperationContext {
  readonly client: Pick<Registration, 'version' | 'offer'>
  readonly profile: Lwm2mProfile
  readonly findResource: FindResource
}

export interface Asked extends OperationContext {
  readonly method: string
  readonly path: Path
  readonly params: JsonObject
}

const INSTANCE_DEPTH = 2
const RESOURCE_DEPTH = 3

export function paramsOf(method: string, text: string): JsonObject {
  const refused = (cause?: unknown): Error => Lwm2mErrors.BAD_CALL({ method, reason: 'params are an object' }, cause)
  let params: JsonValue
  try {
    params = parseJson(text)
  } catch (error) {
    throw refused(error)
  }
  if (!isJsonObject(params)) throw refused()
  return params
}

/** Of the version that the client has: a path that names another is of nothing here. */
export function targetOf(method: string, { key, id }: JsonObject, context: OperationContext): Path {
  const target = typeof key === 'string' ? configured(key, context.profile) : pathIn(method, id)
  const { path, version } = target
  const [objectId = -1] = path
  const has = context.client.offer.objects.get(objectId)?.version ?? context.profile.defaultVersion
  if (version !== undefined && version !== has)
    throw Lwm2mErrors.BAD_CALL({ method, reason: `the client has version ${has} of object ${objectId}` })
  return path
}

function configured(key: string, { keys }: Lwm2mProfile): VersionedPath {
  const path = keys.get(key)
  if (path === undefined) throw Lwm2mErrors.KEY_NOT_CONFIGURED({ key })
  return path
}

function pathIn(method: string, id: JsonValue | undefined): VersionedPath {
  const path = typeof id === 'string' ? readVersionedPath(id) : undefined
  if (path === undefined) throw Lwm2mErrors.BAD_CALL({ method, reason: "it needs 'id', a path, or 'key'" })
  return path
}

/** One, or where it is an object those of the resource's instances. */
export function valuesAt(asked: Asked, path: Path, value: JsonValue | undefined): readonly WrittenValue[] {
  const model = modelAt(path, asked)
  if (model === undefined) throw bad(asked, `nobody knows the type of ${pathText(path)}`)
  const { type } = model
  const written = (at: Path, each: JsonValue): WrittenValue => ({
    ...{ path: at, type },
    value: rawValueOf(type, scalarText(asked, each), at),
  })
  if (value === undefined || value === null) throw bad(asked, "it needs 'value'")
  if (!isJsonObject(value)) return [written(path, value)]
  if (path.length !== RESOURCE_DEPTH) throw bad(asked, 'an instance has one value')
  const values = Object.entries(value).map(([id, each]) => written(below(asked, path, id), each))
  if (values.length === 0) throw bad(asked, "'value' has no instance")
  return values
}

export function modelAt(path: Path, { client, profile, findResource }: OperationContext): ResourceModel | undefined {
  const [objectId, , resourceId] = path
  if (objectId === undefined || resourceId === undefined) return undefined
  return findResource(objectId, client.offer.objects.get(objectId)?.version ?? profile.defaultVersion, resourceId)
}

export function below(asked: Asked, path: Path, id: string): Path {
  const next = /^\d{1,5}$/.test(id) ? readVersionedPath(`${pathText(path)}/${id}`) : undefined
  if (next === undefined) throw bad(asked, `'${id}' is no id`)
  return next.path
}

export function ofDepth(asked: Asked, depth: number): Path {
  if (asked.path.length !== depth)
    throw bad(asked, depth === INSTANCE_DEPTH ? 'it is for an instance of an object' : 'it is for a resource')
  return asked.path
}

export function scalarText(asked: Asked, value: JsonValue): string {
  if (typeof value === 'string') return value
  if (value === null || isJsonObject(value) || Array.isArray(value))
    throw bad(asked, 'a value is a text, a number or a boolean')
  return stringifyJson(value)
}

export function bad({ method }: Pick<Asked, 'method'>, reason: string): Error {
  return Lwm2mErrors.BAD_CALL({ method, reason })
}
