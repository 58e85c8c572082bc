/** What a client says of itself when it registers, and when it updates that. Source: `device-api.md` 13.1, OMA LwM2M Core 1.1, 6.2. */
import { parseLinks, type Link } from './codecs/link-format.ts'
import { Format, pathOf } from './codecs/records.ts'
import { Lwm2mErrors } from './errors.ts'

export const VERSIONS = ['1.0', '1.1'] as const
export type Lwm2mVersion = (typeof VERSIONS)[number]

export interface OfferedObject {
  /** Undefined where the client did not say: what the profile takes for that. */
  readonly version: string | undefined
  readonly instances: readonly number[]
}

/** What its list of objects says. */
export interface Offer {
  /** What stands before its paths: empty, or `/lwm2m`. */
  readonly rootPath: string
  /** Content-Formats that it understands. */
  readonly formats: readonly number[]
  readonly objects: ReadonlyMap<number, OfferedObject>
}

export interface Presence {
  readonly lifetimeS: number
  /** It sleeps: what is for it waits until it is heard. */
  readonly isQueueMode: boolean
}

export interface RegistrationRequest extends Presence {
  readonly endpoint: string
  readonly version: Lwm2mVersion
  readonly offer: Offer
}

/** What it did not say stays as it was. */
export interface UpdateRequest extends Partial<Presence> {
  readonly offer?: Offer
}

type Query = ReadonlyMap<string, string>

/** Of the standard: a day. */
const DEFAULT_LIFETIME_S = 86_400
const LONGEST_LIFETIME_S = 2 ** 32 - 1
/** It ends by the client's word alone (OMA LwM2M Core 1.1, appendix E.2, resource 1). */
const ENDLESS = '0'
const LONGEST_ENDPOINT = 255
/** Objects and instances: what is kept of a client is bounded by them. */
const MAX_OFFERED = 256
const MAX_FORMATS = 16
const VERSION = /^\d{1,5}\.\d{1,5}$/
const ROOT_TYPE = 'oma.lwm2m'

/** Of whom a client says that it is. Throws BAD_PARAMETER. */
export function endpointOf(query: Query): string {
  const endpoint = query.get('ep') ?? ''
  if (endpoint === '' || endpoint.length > LONGEST_ENDPOINT) throw bad('ep', 'it is the name of the endpoint')
  return endpoint
}

/** Throws what the client is answered with. */
export function registrationOf(query: Query, body: string): RegistrationRequest {
  const endpoint = endpointOf(query)
  const sent = query.get('lwm2m') ?? ''
  const version = VERSIONS.find((each) => each === sent)
  if (version === undefined) throw Lwm2mErrors.OTHER_VERSION({ version: sent, known: VERSIONS.join(', ') })
  const { lifetimeS = DEFAULT_LIFETIME_S, isQueueMode = false } = presenceOf(query)
  return { endpoint, version, lifetimeS, isQueueMode, offer: offerOf(body) }
}

/** Throws what the client is answered with. */
export function updateOf(query: Query, body: string): UpdateRequest {
  return { ...presenceOf(query), ...(body === '' ? {} : { offer: offerOf(body) }) }
}

function presenceOf(query: Query): Partial<Presence> {
  const lifetime = query.get('lt')
  const binding = query.get('b')
  const lifetimeS = lifetime === undefined ? undefined : lifetimeOf(lifetime)
  if (binding !== undefined && !/^[UTSNQ]{1,8}$/.test(binding))
    throw bad('b', 'it is U, with Q where the client sleeps')
  return {
    ...(lifetimeS === undefined ? {} : { lifetimeS }),
    // 1.0 has it in the binding, 1.1 beside it.
    ...(binding === undefined && !query.has('Q')
      ? {}
      : { isQueueMode: query.has('Q') || binding?.includes('Q') === true }),
  }
}

/** Seconds. */
function lifetimeOf(text: string): number {
  if (text === ENDLESS) return LONGEST_LIFETIME_S
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : 0
  if (seconds < 1 || seconds > LONGEST_LIFETIME_S) throw bad('lt', 'it is a number of seconds')
  return seconds
}

function offerOf(body: string): Offer {
  const links = parseLinks(body)
  const root =
    links.find(({ parameters }) => parameters.get('rt') === ROOT_TYPE) ?? links.find(({ target }) => target === '/')
  const rootPath = (root?.target ?? '/').replace(/\/$/, '')
  const objects = new Map<number, { version: string | undefined; instances: number[] }>()
  let offered = 0
  for (const link of links) {
    const [objectId, instanceId] = objectOf(link, rootPath) ?? []
    if (objectId === undefined) continue
    if (++offered > MAX_OFFERED) throw Lwm2mErrors.TOO_MANY_OBJECTS({ limit: MAX_OFFERED })
    const object = objects.get(objectId) ?? { version: undefined, instances: [] }
    const version = link.parameters.get('ver')
    if (version !== undefined && !VERSION.test(version)) throw bad('ver', 'it is the version of an object, as 1.0')
    object.version ??= version
    if (instanceId !== undefined && !object.instances.includes(instanceId)) object.instances.push(instanceId)
    objects.set(objectId, object)
  }
  return { rootPath, formats: formatsOf(root), objects }
}

/** Undefined for what is no object of LwM2M: a client may have other resources. */
function objectOf({ target }: Link, rootPath: string): readonly number[] | undefined {
  if (!target.startsWith(`${rootPath}/`)) return undefined
  const path = pathOf(target.slice(rootPath.length))
  return path !== undefined && path.length <= 2 ? path : undefined
}

/** One that does not say understands what 1.0 demands. */
function formatsOf(root: Link | undefined): readonly number[] {
  const sent = root?.parameters.get('ct')
  if (sent === undefined) return [Format.TLV]
  return sent
    .split(' ')
    .filter((each) => /^\d{1,5}$/.test(each))
    .slice(0, MAX_FORMATS)
    .map(Number)
}

function bad(name: string, reason: string): Error {
  return Lwm2mErrors.BAD_PARAMETER({ name, reason })
}
