/** Calls to a client (RPC) as requests of LwM2M. Source: `device-api.md` 13.8. */
import { z } from 'zod'
import { isJsonObject, parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { OutgoingRequest } from '../coap-messages/message.ts'
import { Format, isValuePath, pathText, type Path } from './codecs/records.ts'
import type { FindResource, ResourceModel } from './core-models.ts'
import { Lwm2mErrors } from './errors.ts'
import {
  encodeInstances,
  encodeValues,
  formatOfCreation,
  formatOfMany,
  formatOfOne,
  type WrittenValue,
} from './formats.ts'
import { readVersionedPath, type Lwm2mProfile, type VersionedPath } from './profile.ts'
import type { Offer } from './registration-request.ts'
import type { Registration } from './registrations.ts'
import { rawValueOf } from './values.ts'

/** A request to a client. */
export interface Operation {
  /** `0.01` is GET. */
  readonly code: string
  readonly path: Path
  readonly query: readonly string[]
  /** 0 begins to observe, 1 ends it. */
  readonly observe?: 0 | 1
  /** Content-Format that the answer is to have. */
  readonly accept?: number
  readonly body?: { readonly format: number; readonly bytes: Buffer }
  /** What the client has once it did so. */
  readonly written?: readonly WrittenValue[]
  /** The instance that it makes, where the client says no other. */
  readonly created?: Path
}

/** As it is sent, below what stands before the client's paths. */
export function outgoing({ code, path, query, accept, body }: Operation, rootPath: string): OutgoingRequest {
  const before = rootPath.split('/').filter((segment) => segment !== '')
  return {
    ...{ code, path: [...before, ...path.map(String)], query, accept },
    ...{ contentFormat: body?.format, payload: body?.bytes },
  }
}

export interface OperationContext {
  readonly client: Pick<Registration, 'version' | 'offer'>
  readonly profile: Lwm2mProfile
  readonly findResource: FindResource
}

interface Asked extends OperationContext {
  readonly method: string
  readonly path: Path
  readonly params: JsonObject
}

const Code = { GET: '0.01', POST: '0.02', PUT: '0.03', DELETE: '0.04' } as const
const INSTANCE_DEPTH = 2
const RESOURCE_DEPTH = 3

const METHODS: Readonly<Record<string, (asked: Asked) => Operation | Promise<Operation>>> = {
  Read: (asked) => reading(asked),
  Observe: (asked) => ({ ...reading(asked), observe: 0 }),
  ObserveCancel: (asked) => ({ ...reading(asked), observe: 1 }),
  Discover: ({ path }) => ({ code: Code.GET, path, query: [], accept: Format.LINK }),
  Delete: (asked) => ({ code: Code.DELETE, path: ofDepth(asked, INSTANCE_DEPTH), query: [] }),
  Execute: executing,
  WriteReplace: writingOne,
  WriteUpdate: writingSome,
  WriteAttributes: writingAttributes,
  Create: creating,
}

/** `params` is JSON text. Throws UNKNOWN_METHOD, KEY_NOT_CONFIGURED, BAD_CALL, WRONG_VALUE. */
export async function operationOf(method: string, params: string, context: OperationContext): Promise<Operation> {
  const known = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
  if (known === undefined) throw Lwm2mErrors.UNKNOWN_METHOD({ method })
  const sent = paramsOf(method, params)
  return known({ ...context, method, params: sent, path: targetOf(method, sent, context) })
}

function paramsOf(method: string, text: string): JsonObject {
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
function targetOf(method: string, { key, id }: JsonObject, context: OperationContext): Path {
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

function reading({ client, path, findResource, profile }: Asked): Operation {
  const model = modelAt(path, { client, findResource, profile })
  const accept = isValuePath(path) ? formatOfOne(client, model?.type) : formatOfMany(client)
  return { code: Code.GET, path, query: [], accept }
}

function executing(asked: Asked): Operation {
  const { value } = asked.params
  const path = ofDepth(asked, RESOURCE_DEPTH)
  if (value === undefined || value === null) return { code: Code.POST, path, query: [] }
  return {
    code: Code.POST,
    path,
    query: [],
    body: { format: Format.TEXT, bytes: Buffer.from(scalarText(asked, value)) },
  }
}

async function writingOne(asked: Asked): Promise<Operation> {
  const { client, path, params } = asked
  if (!isValuePath(path)) throw bad(asked, 'it is for a resource')
  const values = valuesAt(asked, path, params['value'])
  const [first] = values
  const isOne = first !== undefined && values.length === 1 && first.path.length === path.length
  const format = isOne ? formatOfOne(client, first.type) : formatOfMany(client)
  return {
    ...{ code: Code.PUT, path, query: [], body: { format, bytes: await encodeValues(format, values) } },
    written: values,
  }
}

async function writingSome(asked: Asked): Promise<Operation> {
  const { client, path, params } = asked
  const { value } = params
  if (!isJsonObject(value)) throw bad(asked, "'value' is an object")
  const values = path.length === RESOURCE_DEPTH ? valuesAt(asked, path, value) : resourcesAt(asked, value)
  const format = formatOfMany(client)
  return {
    ...{ code: Code.POST, path, query: [], body: { format, bytes: await encodeValues(format, values) } },
    written: values,
  }
}

/** Of one instance, whose id the client picks where none is named, or of several. What it must be given is the client's to say. */
async function creating(asked: Asked): Promise<Operation> {
  const { client, path, params } = asked
  const [objectId = -1, instanceId] = path
  const { value, nodes } = params
  if (path.length > INSTANCE_DEPTH) throw bad(asked, 'it is for an object or an instance of it')
  const object = [objectId]
  let values: readonly WrittenValue[]
  let isUnnamed = false
  if (isJsonObject(nodes)) {
    if (instanceId !== undefined) throw bad(asked, "'nodes' are for an object")
    values = Object.entries(nodes).flatMap(([id, each]) => {
      if (!isJsonObject(each)) throw bad(asked, "'nodes' are objects of resources by the ids of instances")
      return resourcesAt({ ...asked, path: below(asked, object, id) }, each)
    })
  } else if (isJsonObject(value)) {
    isUnnamed = instanceId === undefined
    values = resourcesAt({ ...asked, path: isUnnamed ? [objectId, nextInstance(client.offer, objectId)] : path }, value)
  } else throw bad(asked, "it needs 'value' or 'nodes', an object")
  if (values.length === 0) throw bad(asked, "'nodes' has no instance")
  const format = formatOfCreation(client, isUnnamed)
  const bytes = await encodeInstances(format, values, isUnnamed)
  return {
    code: Code.POST,
    path: object,
    query: [],
    body: { format, bytes },
    created: values[0]?.path.slice(0, 2) ?? [],
  }
}

function nextInstance({ objects }: Offer, objectId: number): number {
  return Math.max(-1, ...(objects.get(objectId)?.instances ?? [])) + 1
}

function resourcesAt(asked: Asked, value: JsonObject): readonly WrittenValue[] {
  const path = ofDepth(asked, INSTANCE_DEPTH)
  const values = Object.entries(value).flatMap(([id, each]) => valuesAt(asked, below(asked, path, id), each))
  if (values.length === 0) throw bad(asked, "'value' has no resource")
  return values
}

/** One, or where it is an object those of the resource's instances. */
function valuesAt(asked: Asked, path: Path, value: JsonValue | undefined): readonly WrittenValue[] {
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

const attributes = z.record(z.string().regex(/^[a-z]{1,16}$/), z.number()).refine((all) => Object.keys(all).length > 0)

function writingAttributes(asked: Asked): Operation {
  const { data } = attributes.safeParse(asked.params['attributes'])
  if (data === undefined) throw bad(asked, "'attributes' are numbers by name: pmin, pmax, gt, lt, st")
  return { code: Code.PUT, path: asked.path, query: Object.entries(data).map(([name, value]) => `${name}=${value}`) }
}

function modelAt(path: Path, { client, profile, findResource }: OperationContext): ResourceModel | undefined {
  const [objectId, , resourceId] = path
  if (objectId === undefined || resourceId === undefined) return undefined
  return findResource(objectId, client.offer.objects.get(objectId)?.version ?? profile.defaultVersion, resourceId)
}

function below(asked: Asked, path: Path, id: string): Path {
  const next = /^\d{1,5}$/.test(id) ? readVersionedPath(`${pathText(path)}/${id}`) : undefined
  if (next === undefined) throw bad(asked, `'${id}' is no id`)
  return next.path
}

function ofDepth(asked: Asked, depth: number): Path {
  if (asked.path.length !== depth)
    throw bad(asked, depth === INSTANCE_DEPTH ? 'it is for an instance of an object' : 'it is for a resource')
  return asked.path
}

function scalarText(asked: Asked, value: JsonValue): string {
  if (typeof value === 'string') return value
  if (value === null || isJsonObject(value) || Array.isArray(value))
    throw bad(asked, 'a value is a text, a number or a boolean')
  return stringifyJson(value)
}

function bad({ method }: Asked, reason: string): Error {
  return Lwm2mErrors.BAD_CALL({ method, reason })
}
