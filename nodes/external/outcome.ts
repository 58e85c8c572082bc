/** What all external nodes share: how the outcome of a call goes on, and what their configurations have in common. */
import { z } from 'zod'
import type { Emission, NodeInstance, NodeOutcome, Visited } from '../../engine/rulechain/node.ts'
import type {
  HttpProxy,
  NodeOutbound,
  OutboundCertificates,
  OutboundClient,
} from '../../engine/rulechain/capabilities/outbound.ts'
import { errorText } from '../../model/errors.ts'
import { parseJson } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { withMetadata } from '../body.ts'
import { NodeErrors } from '../errors.ts'
import { SECRET } from '../secrets.ts'

interface Opened {
  close(): Promise<void>
}

/**
 * A node that calls a service with each message, at its visit. `call` answers the message that goes on through `Success`; a failure goes through `Failure` with
 * its reason in the metadata. With `forceAck` the message settles first, and what goes on is a message of its own.
 */
export function callingNode(
  { forceAck }: Pick<NodeOutbound, 'forceAck'>,
  client: Opened,
  call: (message: Message, at: Visited) => Promise<Outcome>,
): NodeInstance {
  const emitted = async (message: Message, at: Visited): Promise<Outcome> => {
    try {
      return await call(message, at)
    } catch (error) {
      return failure(message, error)
    }
  }
  const close = (): Promise<void> => client.close()
  if (!forceAck) return { handle: emitted, close }
  const outcome = async (message: Message, at: Visited): Promise<NodeOutcome> => {
    const { relations, ...rest } = await emitted(message, at)
    return { ...rest, relation: relations[0] }
  }
  return { handle: (message, at) => ({ flow: 'afterwards', outcome: outcome(message, at) }), close }
}

/** A call comes out once. */
export type Outcome = Emission & { readonly relations: readonly [string] }

export function success(message: Message): Outcome {
  return { message, relations: ['Success'] }
}

/** As the reference writes it: the kind of the error and its text. */
export function failure(message: Message, cause: unknown, more: Readonly<Record<string, string>> = {}): Outcome {
  const error = cause instanceof Error ? cause : new Error(errorText(cause))
  const text = `class ${error.name}: ${error.message}`
  return { message: withMetadata(message, Object.entries({ error: text, ...more })), relations: ['Failure'], error }
}

/** A body that is a JSON text, without its quotes; any other as it is. */
export function plainText(data: string): string {
  if (!data.startsWith('"')) return data
  try {
    const value = parseJson(data)
    return typeof value === 'string' ? value : data
  } catch {
    // No JSON is sent as it is.
    return data
  }
}

export function bytesOf(...texts: readonly (string | undefined)[]): number {
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text ?? ''), 0)
}

/** Metadata of what a service answered: members that it left out are not there. */
export function answered(message: Message, members: Readonly<Record<string, string | number | undefined>>): Outcome {
  const known = Object.entries(members).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [[key, String(value)] as const],
  )
  return success(withMetadata(message, known))
}

const text = z.string().nullish()

/** How a node shows who it is; keys of other types may stand beside. */
export const credentialsSchema = z
  .looseObject({
    type: z.string(),
    username: text,
    password: text.meta(SECRET),
    caCert: text,
    cert: text,
    privateKey: text.meta(SECRET),
    sasKey: text.meta(SECRET),
  })
  .nullish()
  .meta({
    title: 'Credentials',
    description: 'anonymous, basic (user name and password) or cert.PEM (certificates as PEM texts).',
  })

export type Credentials = NonNullable<z.output<typeof credentialsSchema>>

/** Throws `CONFIGURATION_INVALID` where the node does not take credentials of that type. */
export function checkCredentials(node: string, credentials: Credentials, types: readonly string[]): void {
  if (types.includes(credentials.type)) return
  const reason = `'${credentials.type}' is none of ${types.join(', ')}`
  throw NodeErrors.CONFIGURATION_INVALID({ node, field: 'credentials.type', reason })
}

/** Undefined where there is nothing but what every program trusts. */
export function certificatesOf({
  caCert,
  cert,
  privateKey,
  password,
  type,
}: Credentials): OutboundCertificates | undefined {
  if (type !== 'cert.PEM' && type !== 'sas') return undefined
  const own = type === 'cert.PEM' ? { certificate: cert, privateKey, password } : {}
  const given = Object.entries({ ca: caCert, ...own }).filter(([, value]) => typeof value === 'string' && value !== '')
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

/** Rejects with why it can not be made: a node that can never call says so at its start. */
export async function made<Call, Answer>(client: OutboundClient<Call, Answer>): Promise<OutboundClient<Call, Answer>> {
  try {
    await client.ready()
    return client
  } catch (error) {
    await client.close()
    throw error
  }
}

export interface ProxyFields {
  readonly proxyHost?: string | null | undefined
  readonly proxyPort?: number | string | null | undefined
  readonly proxyUser?: string | null | undefined
  readonly proxyPassword?: string | null | undefined
}

/** Of a node whose calls go through a proxy. */
export function proxyOf(node: string, { proxyHost, proxyPort, proxyUser, proxyPassword }: ProxyFields): HttpProxy {
  const refused = (field: string, reason: string) => NodeErrors.CONFIGURATION_INVALID({ node, field, reason })
  if (!proxyHost) throw refused('proxyHost', 'is missing')
  const port = Number(proxyPort)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw refused('proxyPort', 'is no port')
  return { host: proxyHost, port, ...(proxyUser ? { user: proxyUser, password: proxyPassword ?? '' } : {}) }
}
