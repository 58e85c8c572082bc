/** Calls to a client (RPC) as requests of LwM2M. Source: `device-api.md` 13.8. */
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import {
  bad,
  below,
  modelAt,
  ofDepth,
  paramsOf,
  scalarText,
  targetOf,
  valuesAt,
  type Asked,
  type OperationContext,
} from './call-params.ts'
import { Format, isValuePath, pathText, type Path } from './codecs/records.ts'
import { compositeReading, compositeTargets, compositeWriting } from './composite.ts'
import { Lwm2mErrors } from './errors.ts'
import {
  encodeInstances,
  encodeValues,
  formatOfCreation,
  formatOfMany,
  formatOfOne,
  type WrittenValue,
} from './formats.ts'
import { Code, type Operation } from './operation.ts'
import type { Offer } from './registration-request.ts'

const INSTANCE_DEPTH = 2
const RESOURCE_DEPTH = 3

const METHODS: Readonly<Record<string, (asked: Asked) => Operation | Promise<Operation>>> = {
  Read: (asked) => reading(asked, asked.path),
  Observe: (asked) => ({ ...reading(asked, asked.path), observe: 0 }),
  ObserveCancel: (asked) => ({ ...reading(asked, asked.path), observe: 1 }),
  Discover: ({ path }) => ({ code: Code.GET, path, query: [], accept: Format.LINK }),
  Delete: (asked) => ({ code: Code.DELETE, path: ofDepth(asked, INSTANCE_DEPTH), query: [] }),
  Execute: executing,
  WriteReplace: writingOne,
  WriteUpdate: writingSome,
  WriteAttributes: writingAttributes,
  Create: creating,
}

type AskedOfMany = Omit<Asked, 'path'>

const COMPOSITE: Readonly<Record<string, (asked: AskedOfMany) => Promise<Operation>>> = {
  ReadComposite: (asked) => compositeReading(asked, compositeTargets(asked)),
  ObserveComposite: async (asked) => ({ ...(await compositeReading(asked, compositeTargets(asked))), observe: 0 }),
  ObserveCompositeCancel: async (asked) => ({
    ...(await compositeReading(asked, compositeTargets(asked))),
    observe: 1,
  }),
  WriteComposite: compositeWriting,
}

/** `params` is JSON text. Throws UNKNOWN_METHOD, KEY_NOT_CONFIGURED, BAD_CALL, WRONG_VALUE. */
export async function operationOf(method: string, params: string, context: OperationContext): Promise<Operation> {
  const composite = Object.hasOwn(COMPOSITE, method) ? COMPOSITE[method] : undefined
  if (composite !== undefined) return composite({ ...context, method, params: paramsOf(method, params) })
  const known = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
  if (known === undefined) throw Lwm2mErrors.UNKNOWN_METHOD({ method })
  const sent = paramsOf(method, params)
  return known({ ...context, method, params: sent, path: targetOf(method, sent, context) })
}

/** Also of what the profile names. */
export function reading(context: OperationContext, path: Path): Operation {
  const { client } = context
  const accept = isValuePath(path) ? formatOfOne(client, modelAt(path, context)?.type) : formatOfMany(client)
  return { code: Code.GET, path, query: [], accept }
}

function executing(asked: Asked): Operation {
  const { value } = asked.params
  const path = ofDepth(asked, RESOURCE_DEPTH)
  // What is executed has no value, and so no type.
  if (modelAt(path, asked) !== undefined) throw bad(asked, `${pathText(path)} is not executable`)
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

const attributes = z.record(z.string().regex(/^[a-z]{1,16}$/), z.number()).refine((all) => Object.keys(all).length > 0)

function writingAttributes(asked: Asked): Operation {
  const { data } = attributes.safeParse(asked.params['attributes'])
  if (data === undefined) throw bad(asked, "'attributes' are numbers by name: pmin, pmax, gt, lt, st")
  return { code: Code.PUT, path: asked.path, query: Object.entries(data).map(([name, value]) => `${name}=${value}`) }
}
