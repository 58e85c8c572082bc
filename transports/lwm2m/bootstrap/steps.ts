/**
 * What a client is asked in a bootstrap (OMA LwM2M Core 1.1, 6.1.7): which accounts it has, to drop those of the servers that it gets anew, to
 * take these, and at last that this was all. A client that is not told the last keeps what it had.
 */
import type { CoapAnswer, OutgoingRequest } from '../../coap-messages/message.ts'
import { parseLinks } from '../codecs/link-format.ts'
import { Format, pathOf, pathText, type Path } from '../codecs/records.ts'
import { findCoreResource } from '../core-models.ts'
import { Lwm2mErrors } from '../errors.ts'
import { encodeValues, type WrittenValue } from '../formats.ts'
import type { Resources, ServerAccount } from './accounts.ts'

/** Rejects as `CoapRequests.ask` does. */
export type Ask = (request: OutgoingRequest) => Promise<CoapAnswer>

interface Instance {
  readonly objectId: number
  readonly id: number
  /** Absent of the bootstrap server's account. */
  readonly shortServerId: number | undefined
}

const SECURITY = 0
const SERVER = 1
const CORE_VERSION = '1.0'

/** `format`: of what is written. Rejects BOOTSTRAP_REFUSED_BY_CLIENT, and as `ask` does. */
export async function bootstrap(ask: Ask, accounts: readonly ServerAccount[], format: number): Promise<void> {
  const discovered = await done(ask, { code: '0.01', path: [], accept: Format.LINK })
  const found = instancesIn(discovered.payload.toString('utf8'))
  const ids = new Set(accounts.flatMap(({ shortServerId }) => shortServerId ?? []))
  const former = found.filter(({ shortServerId }) => shortServerId !== undefined && ids.has(shortServerId))
  for (const { objectId, id } of former) await done(ask, { code: '0.04', path: [String(objectId), String(id)] })
  const kept = found.filter((each) => !former.includes(each))
  for (const { path, resources } of placed(accounts, kept)) {
    const payload = await encodeValues(format, valuesOf(path, resources))
    await done(ask, { code: '0.03', path: path.map(String), contentFormat: format, payload })
  }
  await done(ask, { code: '0.02', path: ['bs'] })
}

/** Objects of which there may be several, and what they are for. */
function instancesIn(links: string): readonly Instance[] {
  return parseLinks(links).flatMap(({ target, parameters }) => {
    const [objectId, id] = pathOf(target) ?? []
    if ((objectId !== SECURITY && objectId !== SERVER) || id === undefined) return []
    const shortServerId = parameters.get('ssid')
    return [{ objectId, id, shortServerId: shortServerId === undefined ? undefined : Number(shortServerId) }]
  })
}

/** The bootstrap server's own account stays where it is: it can not be dropped. All others get instances that are free. */
function placed(
  accounts: readonly ServerAccount[],
  kept: readonly Instance[],
): readonly { readonly path: Path; readonly resources: Resources }[] {
  const taken = new Set(kept.map(({ objectId, id }) => pathText([objectId, id])))
  const free = (objectId: number): Path => {
    let id = 0
    while (taken.has(pathText([objectId, id]))) id++
    taken.add(pathText([objectId, id]))
    return [objectId, id]
  }
  const own = kept.find(({ objectId, shortServerId }) => objectId === SECURITY && shortServerId === undefined)
  return accounts.flatMap(({ shortServerId, security, server }) => [
    {
      path: shortServerId === undefined && own !== undefined ? [SECURITY, own.id] : free(SECURITY),
      resources: security,
    },
    ...(server === undefined ? [] : [{ path: free(SERVER), resources: server }]),
  ])
}

function valuesOf(path: Path, resources: Resources): readonly WrittenValue[] {
  const [objectId = 0] = path
  return [...resources].map(([id, value]) => {
    const model = findCoreResource(objectId, CORE_VERSION, id)
    if (model === undefined) throw new Error(`there is no resource ${objectId}/${id}`)
    return { path: [...path, id], type: model.type, value }
  })
}

async function done(ask: Ask, request: OutgoingRequest): Promise<CoapAnswer> {
  const answer = await ask(request)
  if (!answer.code.startsWith('2.'))
    throw Lwm2mErrors.BOOTSTRAP_REFUSED_BY_CLIENT({
      request: `${request.code} /${request.path.join('/')}`,
      code: answer.code,
    })
  return answer
}
