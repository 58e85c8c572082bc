/**
 * The accounts that a client gets: a server of its profile's `bootstrap` each, with the keys of the device's credentials, as resources of
 * objects 0 (Security) and 1 (Server). Source: `device-api.md` 13.10; OMA LwM2M Core 1.1, appendix E.1 and E.2.
 */
import { isIPv6 } from 'node:net'
import { z } from 'zod'
import type { JsonObject } from '../../../model/json.ts'
import type { RawValue } from '../codecs/records.ts'
import { Lwm2mErrors } from '../errors.ts'

export type Resources = ReadonlyMap<number, RawValue>

export interface ServerAccount {
  /** Undefined for the bootstrap server's own. */
  readonly shortServerId: number | undefined
  readonly security: Resources
  /** Undefined for the bootstrap server's own: it has no Server object. */
  readonly server: Resources | undefined
}

const MODES = { PSK: 0, RPK: 1, X509: 2, NO_SEC: 3 } as const
const LAST_SHORT_ID = 65_534
const EMPTY = Buffer.alloc(0)

const mode = z.enum(['PSK', 'RPK', 'X509', 'NO_SEC'])
const seconds = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
const profileSchema = z.object({
  bootstrapServerUpdateEnable: z.boolean().nullish(),
  bootstrap: z.array(
    z.object({
      securityMode: mode,
      bootstrapServerIs: z.boolean().nullish(),
      shortServerId: z.int().nullish(),
      host: z.string().min(1),
      port: z.int().min(1).max(65_535),
      clientHoldOffTime: seconds.nullish(),
      bootstrapServerAccountTimeout: seconds.nullish(),
      serverPublicKey: z.string().nullish(),
      serverCertificate: z.string().nullish(),
      lifetime: seconds.nullish(),
      defaultMinPeriod: seconds.nullish(),
      notifIfDisabled: z.boolean().nullish(),
      binding: z.string().nullish(),
    }),
  ),
})
const keys = z.object({
  securityMode: mode,
  clientPublicKeyOrId: z.string().nullish(),
  clientSecretKey: z.string().nullish(),
})
const credentialsSchema = z.object({ bootstrapServer: keys, lwm2mServer: keys })

type ServerSettings = z.infer<typeof profileSchema>['bootstrap'][number]
type Keys = z.infer<typeof keys>

/**
 * `configuration`: the profile's `transportConfiguration`; `credentials`: the `bootstrap` member of the device's. `isSecret`: whether nobody
 * else hears them. Throws BOOTSTRAP_UNFIT where one of them can not be written as a whole: nothing is written then.
 */
export function accountsOf(
  configuration: JsonObject,
  credentials: JsonObject | undefined,
  isSecret: boolean,
): readonly ServerAccount[] {
  const { bootstrap, bootstrapServerUpdateEnable } = parsed(profileSchema, configuration, 'the profile')
  const { bootstrapServer, lwm2mServer } = parsed(credentialsSchema, credentials, 'bootstrap of the credentials')
  const wanted = bootstrap.filter((each) => each.bootstrapServerIs !== true || bootstrapServerUpdateEnable === true)
  const accounts = wanted.map((each) => {
    const isBootstrap = each.bootstrapServerIs === true
    const own = isBootstrap ? bootstrapServer : lwm2mServer
    if (own.securityMode !== each.securityMode)
      throw unfit(`the profile's ${each.host} is ${each.securityMode}, the credentials are ${own.securityMode}`)
    if (each.securityMode !== 'NO_SEC' && !isSecret) throw unfit('keys are told over DTLS alone')
    return isBootstrap ? bootstrapAccount(each, own) : account(each, own)
  })
  const ids = accounts.map(({ shortServerId }) => shortServerId)
  if (new Set(ids).size !== ids.length) throw unfit('two servers of the profile have one shortServerId')
  if (accounts.every(({ server }) => server === undefined)) throw unfit('the profile has no server')
  return accounts
}

function account(settings: ServerSettings, own: Keys): ServerAccount {
  const { shortServerId, lifetime, defaultMinPeriod, notifIfDisabled, binding } = settings
  if (typeof shortServerId !== 'number' || shortServerId < 1 || shortServerId > LAST_SHORT_ID)
    throw unfit(`shortServerId is from 1 to ${LAST_SHORT_ID}`)
  const security = securityOf(settings, own, false).set(10, number(shortServerId))
  const server = new Map<number, RawValue>([
    [0, number(shortServerId)],
    [1, number(lifetime ?? 300)],
    [2, number(defaultMinPeriod ?? 1)],
    [6, { kind: 'boolean', value: notifIfDisabled ?? true }],
    [7, { kind: 'text', value: binding ?? 'U' }],
  ])
  return { shortServerId, security, server }
}

function bootstrapAccount(settings: ServerSettings, own: Keys): ServerAccount {
  const security = securityOf(settings, own, true).set(12, number(settings.bootstrapServerAccountTimeout ?? 0))
  return { shortServerId: undefined, security, server: undefined }
}

function securityOf(settings: ServerSettings, own: Keys, isBootstrap: boolean): Map<number, RawValue> {
  const { securityMode, host, port, clientHoldOffTime } = settings
  const [client, server, secret] = keysOf(settings, own)
  return new Map<number, RawValue>([
    [0, { kind: 'text', value: `${securityMode === 'NO_SEC' ? 'coap' : 'coaps'}://${reachable(host)}:${port}` }],
    [1, { kind: 'boolean', value: isBootstrap }],
    [2, number(MODES[securityMode])],
    ...[client, server, secret].map((bytes, index) => [3 + index, { kind: 'bytes', bytes }] as const),
    [11, number(clientHoldOffTime ?? 1)],
  ])
}

/** The client's public key, certificate or identity; the server's; the client's secret key. */
function keysOf(settings: ServerSettings, own: Keys): readonly [Buffer, Buffer, Buffer] {
  const { securityMode, serverPublicKey, serverCertificate } = settings
  switch (securityMode) {
    case 'NO_SEC':
      return [EMPTY, EMPTY, EMPTY]
    case 'PSK':
      return [
        Buffer.from(present(own.clientPublicKeyOrId, 'clientPublicKeyOrId')),
        EMPTY,
        encoded('hex', own.clientSecretKey, 'clientSecretKey'),
      ]
    case 'RPK':
    case 'X509':
      return [
        encoded('base64', own.clientPublicKeyOrId, 'clientPublicKeyOrId'),
        securityMode === 'RPK'
          ? encoded('base64', serverPublicKey, 'serverPublicKey')
          : encoded('base64', serverCertificate, 'serverCertificate'),
        encoded('base64', own.clientSecretKey, 'clientSecretKey'),
      ]
  }
}

/** As the reference has it, so that its profiles work where client and server are on one machine. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}

function encoded(encoding: 'hex' | 'base64', text: string | null | undefined, name: string): Buffer {
  const bare = present(text, name)
    .replace(/-----[A-Z ]+-----/g, '')
    .replace(/\s/g, '')
  const pattern = encoding === 'hex' ? /^(?:[\da-f]{2})+$/i : /^[\w+/-]+={0,2}$/
  if (!pattern.test(bare)) throw unfit(`${name} is no ${encoding === 'hex' ? 'hexadecimal' : 'Base64'} text`)
  return Buffer.from(bare, encoding)
}

function present(text: string | null | undefined, name: string): string {
  if (text === null || text === undefined || text === '') throw unfit(`${name} is missing`)
  return text
}

function number(value: number): RawValue {
  return { kind: 'number', value }
}

function parsed<Output>(schema: z.ZodType<Output>, value: unknown, what: string): Output {
  const { data, error } = schema.safeParse(value)
  if (error !== undefined) throw unfit(`${what} has another shape at '${error.issues[0]?.path.join('.') ?? ''}'`)
  return data
}

function unfit(reason: string): Error {
  return Lwm2mErrors.BOOTSTRAP_UNFIT({ reason })
}
