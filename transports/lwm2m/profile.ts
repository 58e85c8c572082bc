/** What a device profile wants of its clients: what to observe and read, and what of it is stored under which key. Source: `device-api.md` 13.3. */
import { z } from 'zod'
import type { JsonObject } from '../../model/json.ts'
import { isBelow, isValuePath, pathOf, pathText, type Path } from './codecs/records.ts'
import { Lwm2mErrors } from './errors.ts'
import { formatOfComposite } from './formats.ts'
import type { Registration } from './registrations.ts'

const RESOURCE_DEPTH = 3
const paths = z.array(z.string()).nullish()
/** Attributes of notifications: pmin, gt … as numbers. Texts, such as a version, say what the client has: nothing is to be written. */
const attributes = z.record(z.string(), z.union([z.number(), z.string()]).nullable())
const LAST_STRATEGY = 3
const milliseconds = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
  .nullish()
const strategy = z.number().int().min(1).max(LAST_STRATEGY).nullish()
const GROUPINGS = ['SINGLE', 'COMPOSITE_ALL', 'COMPOSITE_BY_OBJECT'] as const
/** By name or number. */
const grouping = z.union([
  z.enum(GROUPINGS),
  z
    .int()
    .min(0)
    .max(GROUPINGS.length - 1)
    .transform((index) => GROUPINGS[index] ?? 'SINGLE'),
])
const powerModes = z.enum(['DRX', 'PSM', 'E_DRX'])
const schema = z.object({
  observeAttr: z
    .object({
      keyName: z.record(z.string(), z.string()).nullish(),
      observe: paths,
      telemetry: paths,
      attribute: paths,
      attributeLwm2m: z.record(z.string(), attributes.nullable()).nullish(),
      observeStrategy: grouping.nullish(),
      initAttrTelAsObsStrategy: z.boolean().nullish(),
    })
    .nullish(),
  clientLwM2mSettings: z
    .object({
      defaultObjectIDVer: z.string().nullish(),
      fwUpdateStrategy: strategy,
      swUpdateStrategy: strategy,
      fwUpdateResource: z.string().nullish(),
      swUpdateResource: z.string().nullish(),
      useObject19ForOtaInfo: z.boolean().nullish(),
      powerMode: powerModes.nullish(),
      psmActivityTimer: milliseconds,
      pagingTransmissionWindow: milliseconds,
    })
    .nullish(),
})
/** Of a device: what is of another type is what it does not say, so that its profile still counts. */
const ownSchema = z
  .object({
    powerMode: powerModes.nullish().catch(null),
    psmActivityTimer: milliseconds.catch(null),
    pagingTransmissionWindow: milliseconds.catch(null),
  })
  .partial()

type PowerSaving = z.infer<typeof ownSchema>

export interface VersionedPath {
  readonly path: Path
  /** Undefined where the path names none: any. */
  readonly version: string | undefined
}

export interface Lwm2mProfile {
  /** What callers may call a path, whether it is stored or not. */
  readonly keys: ReadonlyMap<string, VersionedPath>
  readonly observe: readonly VersionedPath[]
  /** How what is observed is put together in requests, and whether what is read is so too. */
  readonly grouping: (typeof GROUPINGS)[number]
  readonly isReadGrouped: boolean
  readonly telemetry: readonly (VersionedPath & { readonly key: string })[]
  readonly attributes: readonly (VersionedPath & { readonly key: string })[]
  readonly notifying: readonly (VersionedPath & { readonly parameters: Readonly<Record<string, number>> })[]
  /** Of objects whose version a client does not say. */
  readonly defaultVersion: string
  /** How long clients listen after they were heard, ms; undefined: they do not sleep unless they say so. */
  readonly listensMs: number | undefined
  /** How firmware and software come to clients. */
  readonly strategies: Readonly<Record<'fw' | 'sw', UpdateStrategy>>
  /** Object 19 is told about a package before it comes. */
  readonly isPackageDescribed: boolean
}

export interface UpdateStrategy {
  /** 1: written, 2: its address here, 3: written to object 19. */
  readonly number: number
  /** This server as clients see it: `coap://host:5685`. */
  readonly address: string | undefined
}

/** What of its profile concerns one client: what its list of objects has, in the versions that it has. */
export interface ClientPlan {
  /** Each with what one request is for: several are a composite one. */
  readonly observe: readonly (readonly Path[])[]
  /** What is stored and not observed, likewise. */
  readonly read: readonly (readonly Path[])[]
  /** Keys by the path's text. */
  readonly telemetry: ReadonlyMap<string, string>
  readonly attributes: ReadonlyMap<string, string>
  readonly notifying: readonly { readonly path: Path; readonly parameters: Readonly<Record<string, number>> }[]
}

const DEFAULT_VERSION = '1.0'
const DEFAULT_LISTENING_MS = 10_000
const VERSIONED = /^\/?(\d+)(?:_(\d+\.\d+))?((?:\/\d+)*)$/

/**
 * Of the profile's `transportConfiguration`, and the device's own one. What is stored needs a key: a path without one is passed over.
 * Throws PROFILE.
 */
export function profileOf(configuration: JsonObject, own: JsonObject = {}): Lwm2mProfile {
  const { data, error } = schema.safeParse(configuration)
  if (data === undefined)
    throw Lwm2mErrors.PROFILE({ reason: error.issues[0]?.path.join('.') ?? 'transportConfiguration' }, error)
  const { observeAttr, clientLwM2mSettings } = data
  const keys = new Map(Object.entries(observeAttr?.keyName ?? {}))
  const keyed = (texts: readonly string[] | null | undefined) =>
    (texts ?? []).flatMap((text) => {
      const key = keys.get(text)
      const at = versionedPath(text)
      if (!isValuePath(at.path)) throw Lwm2mErrors.PROFILE({ reason: `${text} is no resource` })
      return key === undefined || key === '' ? [] : [{ ...at, key }]
    })
  return {
    keys: new Map([...keys].map(([text, key]) => [key, versionedPath(text)])),
    observe: (observeAttr?.observe ?? []).map(versionedPath),
    grouping: observeAttr?.observeStrategy ?? 'SINGLE',
    isReadGrouped: observeAttr?.initAttrTelAsObsStrategy === true,
    telemetry: keyed(observeAttr?.telemetry),
    attributes: keyed(observeAttr?.attribute),
    notifying: Object.entries(observeAttr?.attributeLwm2m ?? {}).map(([text, sent]) => {
      const set = Object.entries(sent ?? {}).flatMap(([name, value]) =>
        typeof value === 'number' ? [[name, value] as const] : [],
      )
      return { ...versionedPath(text), parameters: Object.fromEntries(set) }
    }),
    defaultVersion: clientLwM2mSettings?.defaultObjectIDVer ?? DEFAULT_VERSION,
    listensMs: listeningOf(ownSchema.parse(own), clientLwM2mSettings ?? {}),
    strategies: {
      fw: strategyOf(clientLwM2mSettings?.fwUpdateStrategy, clientLwM2mSettings?.fwUpdateResource),
      sw: strategyOf(clientLwM2mSettings?.swUpdateStrategy, clientLwM2mSettings?.swUpdateResource),
    },
    isPackageDescribed: clientLwM2mSettings?.useObject19ForOtaInfo === true,
  }
}

/** A mode of the device's own counts with its own times alone. Source: `device-api.md` 12, power modes. */
function listeningOf(own: PowerSaving, profile: PowerSaving): number | undefined {
  const hasOwnMode = own.powerMode !== null && own.powerMode !== undefined
  const said = hasOwnMode ? [own] : [own, profile]
  switch (hasOwnMode ? own.powerMode : profile.powerMode) {
    case 'PSM':
      return listeningMs(said.map(({ psmActivityTimer }) => psmActivityTimer))
    case 'E_DRX':
      return listeningMs(said.map(({ pagingTransmissionWindow }) => pagingTransmissionWindow))
    default:
      return undefined
  }
}

/** The first that is said; 0 is as good as none. */
function listeningMs(times: readonly (number | null | undefined)[]): number {
  return times.find((each) => typeof each === 'number' && each > 0) ?? DEFAULT_LISTENING_MS
}

function strategyOf(number: number | null | undefined, address: string | null | undefined): UpdateStrategy {
  return { number: number ?? 1, address: address === null || address === '' ? undefined : address }
}

/** An entry of a version that the client has not is inert. */
export function planOf(profile: Lwm2mProfile, client: Pick<Registration, 'version' | 'offer'>): ClientPlan {
  const { objects } = client.offer
  const has = ({ path: [objectId = -1, instanceId], version }: VersionedPath): boolean => {
    const object = objects.get(objectId)
    if (object === undefined) return false
    if (version !== undefined && version !== (object.version ?? profile.defaultVersion)) return false
    return instanceId === undefined || object.instances.includes(instanceId)
  }
  const observe = profile.observe.filter(has).map(({ path }) => path)
  const [telemetry, kept] = [profile.telemetry.filter(has), profile.attributes.filter(has)]
  const read = new Map<string, Path>()
  for (const { path } of [...telemetry, ...kept])
    if (!observe.some((observed) => isBelow(path, observed))) read.set(pathText(path), path)
  const grouping = formatOfComposite(client) === undefined ? 'SINGLE' : profile.grouping
  return {
    observe: grouped(observe, grouping),
    read: grouped([...read.values()], profile.isReadGrouped ? grouping : 'SINGLE'),
    telemetry: keysByPath(telemetry),
    attributes: keysByPath(kept),
    notifying: profile.notifying.filter(has).map(({ path, parameters }) => ({ path, parameters })),
  }
}

function grouped(paths: readonly Path[], grouping: Lwm2mProfile['grouping']): readonly (readonly Path[])[] {
  switch (grouping) {
    case 'SINGLE':
      return paths.map((path) => [path])
    case 'COMPOSITE_ALL':
      return paths.length === 0 ? [] : [paths]
    case 'COMPOSITE_BY_OBJECT':
      return [...Map.groupBy(paths, ([objectId]) => objectId).values()]
  }
}

/** The resource of a value: a resource with instances is stored whole. */
export function resourcePath(path: Path): Path {
  return path.slice(0, RESOURCE_DEPTH)
}

function keysByPath(entries: readonly { readonly path: Path; readonly key: string }[]): ReadonlyMap<string, string> {
  return new Map(entries.map(({ path, key }) => [pathText(resourcePath(path)), key]))
}

function versionedPath(text: string): VersionedPath {
  const read = readVersionedPath(text)
  if (read === undefined) throw Lwm2mErrors.PROFILE({ reason: `${text} is no path` })
  return read
}

/** `/3_1.2/0/9`, with or without the version and the first slash; undefined where it is none. */
export function readVersionedPath(text: string): VersionedPath | undefined {
  const [, objectId, version, rest = ''] = VERSIONED.exec(text) ?? []
  const path = objectId === undefined ? undefined : pathOf(`/${objectId}${rest}`)
  return path === undefined ? undefined : { path, version }
}
