/**
 * Where secrets stand in a JSON object, such as the configuration of a rule node: as its declaration says it, and wherever a member has one of
 * the names that secrets have. What is kept sealed, shown masked and left out of errors is found by this one walk.
 */
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

/** Stands for a secret wherever one is shown. Sent back it means: the one that is there. */
export const SECRET_MASK = '********'

/** What settings and configurations call their secrets, at any depth. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'password',
  'privateKey',
  'privateKeyPassword',
  'secretKey',
  'secretAccessKey',
  'accountToken',
  'clientSecret',
  'refreshToken',
  'botToken',
  'apiKey',
  'tokenSigningKey',
  'privateKeyFileContent',
  'serviceAccountKey',
  'firebaseServiceAccountCredentials',
  'sasKey',
  'proxyPassword',
  'authToken',
  // Properties of Kafka's client.
  'sasl.jaas.config',
  'ssl.keystore.key',
  'ssl.key.password',
])

export function isSecretName(name: string): boolean {
  return SECRET_NAMES.has(name)
}

/**
 * `text`: the whole member. `login`: of an URL the password, or the user name where there is none, and parameters with a secret's name.
 * `named`: those entries of a record, or of a list of `key` and `value`, whose key is that of a secret: headers, properties of a client.
 */
export type SecretKind = 'text' | 'login' | 'named'

/** Marks a text of a schema that is a secret as a whole. */
export const SECRET = { secret: 'text', writeOnly: true } as const

/** Members that hold secrets, and those that hold such members; items of a list are as their list. */
export interface SecretShape {
  readonly [member: string]: SecretKind | SecretShape
}

export type SecretChange = (secret: string, path: string) => string

/** The same object where there is no secret, or where each stays as it is. */
export function mapSecrets(value: JsonObject, shape: SecretShape, change: SecretChange): JsonObject {
  return objectAfter(value, shape, '', change)
}

/** Each secret and its path, such as `/credentials/password`. */
export function secretsOf(value: JsonObject, shape: SecretShape): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  mapSecrets(value, shape, (secret, path) => {
    found.set(path, secret)
    return secret
  })
  return found
}

export function maskedSecrets(value: JsonObject, shape: SecretShape): JsonObject {
  return mapSecrets(value, shape, () => SECRET_MASK)
}

/** The members that a mask stands in, such as `credentials.password`: what is still to be filled in. */
export function masksIn(value: JsonObject, shape: SecretShape): readonly string[] {
  return [...secretsOf(value, shape)].filter(([, secret]) => secret === SECRET_MASK).map(([path]) => memberText(path))
}

export function memberText(path: string): string {
  return path.slice(1).replaceAll('/', '.')
}

function objectAfter(value: JsonObject, shape: SecretShape, path: string, change: SecretChange): JsonObject {
  const entries = Object.entries(value).map(([name, member]): [string, JsonValue] => {
    const kind = Object.hasOwn(shape, name) ? shape[name] : undefined
    return [name, memberAfter(name, member, kind, `${path}/${name}`, change)]
  })
  return entries.some(([name, member]) => member !== value[name]) ? Object.fromEntries(entries) : value
}

function memberAfter(
  name: string,
  member: JsonValue,
  kind: SecretKind | SecretShape | undefined,
  path: string,
  change: SecretChange,
): JsonValue {
  if (kind === 'named') return namedAfter(member, path, change)
  if (typeof member === 'string') {
    if (kind === 'login') return loginAfter(member, path, change)
    const isSecret = member !== '' && (kind === 'text' || SECRET_NAMES.has(name))
    return isSecret ? change(member, path) : member
  }
  const shape = typeof kind === 'object' ? kind : {}
  if (isJsonObject(member)) return objectAfter(member, shape, path, change)
  if (!Array.isArray(member)) return member
  // With how many there are: in a list that became shorter or longer nobody knows which is which.
  const items = member.map((item, index) => memberAfter(name, item, kind, `${path}[${index}/${member.length}]`, change))
  return items.some((item, index) => item !== member[index]) ? items : member
}

const LOGIN = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(@.*)$/is
/** A user name that is sealed: its colons part nothing. */
const SEALED_USER = /^sealed:\d+:/

/** The password; where there is none the user name, which is a token then; and query parameters with a secret's name. */
function loginAfter(url: string, path: string, change: SecretChange): string {
  return queryAfter(userAfter(url, path, change), path, change)
}

function userAfter(url: string, path: string, change: SecretChange): string {
  // The last @ in front of the path parts login and host: a password may hold others.
  const [, scheme, login, behind] = LOGIN.exec(url) ?? []
  if (scheme === undefined || login === undefined || behind === undefined) return url
  const [, user = '', colon = ''] = /^(.*?)(:?)$/s.exec(login) ?? []
  const at = SEALED_USER.test(user) ? -1 : user.indexOf(':')
  const [before, secret] = [user.slice(0, at + 1), user.slice(at + 1)]
  if (secret === '' || isOfTheMessage(secret)) return url
  return `${scheme}${before}${change(secret, path)}${colon}${behind}`
}

function queryAfter(url: string, path: string, change: SecretChange): string {
  const [, before, query, behind] = /^([^?#]*\?)([^#]*)(.*)$/s.exec(url) ?? []
  if (before === undefined || query === undefined || behind === undefined) return url
  const seen = new Map<string, number>()
  const parameters = query.split('&').map((parameter) => {
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(parameter) ?? []
    if (value === '' || !isNameOfSecret(name) || isOfTheMessage(value)) return parameter
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return `${name}=${change(value, `${path}?${name}${count === 1 ? '' : `[${count}]`}`)}`
  })
  return `${before}${parameters.join('&')}${behind}`
}

function namedAfter(member: JsonValue, path: string, change: SecretChange): JsonValue {
  const after = (name: JsonValue | undefined, value: JsonValue | undefined): JsonValue | undefined => {
    if (typeof name !== 'string' || typeof value !== 'string' || value === '' || isOfTheMessage(value)) return value
    return isNameOfSecret(name) ? change(value, `${path}/${name}`) : value
  }
  if (Array.isArray(member)) {
    const items = member.map((item): JsonValue => {
      if (!isJsonObject(item)) return item
      const value = after(item['key'], item['value'])
      return value === item['value'] || value === undefined ? item : { ...item, value }
    })
    return items.some((item, index) => item !== member[index]) ? items : member
  }
  if (!isJsonObject(member)) return member
  const entries = Object.entries(member).map(([name, value]): [string, JsonValue] => [
    name,
    after(name, value) ?? value,
  ])
  return entries.some(([name, value]) => value !== member[name]) ? Object.fromEntries(entries) : member
}

/** Of headers, query parameters and properties. */
const NAME_OF_SECRET =
  /authorization|token|secret|passw(or)?d|passphrase|cookie|credential|signature|jaas|private|api[-_.]?key|[-_.]key$/i

export function isNameOfSecret(name: string): boolean {
  return NAME_OF_SECRET.test(name)
}

/** Nothing but what a message brings, behind the word for the way of the login. */
function isOfTheMessage(text: string): boolean {
  return /^(?:(?:bearer|basic|token|apikey)\s+)?(?:\$\{[^{}]*\}|\$\[[^[\]]*\])+$/i.test(text)
}
