/**
 * Requests for several paths at once (OMA LwM2M Core 1.1, 6.3.9 to 6.3.11 and 6.4.4): read, observed and written in packs of SenML, whose names
 * are the paths. Source: `device-api.md` 13.8.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'
import { bad, targetOf, valuesAt, type Asked, type OperationContext } from './call-params.ts'
import { pathText, type Path } from './codecs/records.ts'
import { Lwm2mErrors } from './errors.ts'
import { encodeNames, encodeValues, formatOfComposite } from './formats.ts'
import { Code, type Operation } from './operation.ts'

type AskedOfMany = Omit<Asked, 'path'>

const ROOT: Path = []

/** Rejects NO_COMPOSITE. */
export async function compositeReading({ client }: OperationContext, paths: readonly Path[]): Promise<Operation> {
  const format = known(formatOfComposite(client))
  const body = { format, bytes: await encodeNames(format, paths) }
  return { code: Code.FETCH, path: ROOT, paths, query: [], accept: format, body }
}

/** What `ids` or `keys` name. Throws KEY_NOT_CONFIGURED, BAD_CALL. */
export function compositeTargets(asked: AskedOfMany): readonly Path[] {
  const { method, params } = asked
  const { ids, keys } = params
  const named: readonly JsonObject[] = Array.isArray(keys)
    ? keys.map((key) => ({ key }))
    : listed(ids).map((id) => ({ id }))
  if (named.length === 0) throw bad(asked, "it needs 'ids' or 'keys', a list")
  const paths = new Map(named.map((each) => targetOf(method, each, asked)).map((path) => [pathText(path), path]))
  return [...paths.values()]
}

/** Of what `nodes` names by path or key. Rejects NO_COMPOSITE, KEY_NOT_CONFIGURED, BAD_CALL, WRONG_VALUE. */
export async function compositeWriting(asked: AskedOfMany): Promise<Operation> {
  const { method, params, client, profile } = asked
  const { nodes } = params
  const format = known(formatOfComposite(client))
  if (!isJsonObject(nodes)) throw bad(asked, "it needs 'nodes', an object")
  const written = Object.entries(nodes).flatMap(([name, value]) => {
    const path = targetOf(method, profile.keys.has(name) ? { key: name } : { id: name }, asked)
    return valuesAt({ ...asked, path }, path, value)
  })
  if (written.length === 0) throw bad(asked, "'nodes' has no value")
  return {
    code: Code.IPATCH,
    path: ROOT,
    query: [],
    body: { format, bytes: await encodeValues(format, written) },
    written,
  }
}

function known(format: number | undefined): number {
  if (format === undefined) throw Lwm2mErrors.NO_COMPOSITE()
  return format
}

function listed(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}
