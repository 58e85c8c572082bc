/** What `NATS_URL` says: the servers, the login at them, and whether nothing but TLS will do. */

export interface NatsAddress {
  /** `host:port` of each server. */
  readonly servers: readonly string[]
  /** Names and IP addresses, without ports. */
  readonly hosts: readonly string[]
  /** That of the first address that has one: all servers take the same. Undefined where none has. */
  readonly login: { readonly user: string; readonly password: string } | { readonly token: string } | undefined
  /** One of them begins with `tls:`. */
  readonly needsTls: boolean
}

/** Reads `nats://host:port`, `tls://user:password@host:port` or `nats://token@host`, more than one with commas between. */
export function parseNatsAddress(text: string): NatsAddress {
  const urls = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => new URL(part.includes('://') ? part : `nats://${part}`))
  const named = urls.find(({ username }) => username !== '')
  return {
    servers: urls.map(({ host }) => host),
    hosts: urls.map(({ hostname }) => hostname.replace(/^\[(.*)\]$/, '$1')),
    login: named === undefined ? undefined : loginOf(named),
    needsTls: urls.some(({ protocol }) => protocol === 'tls:'),
  }
}

/** A user without a password is a token, as in every client of NATS. */
function loginOf({ username, password }: URL): NatsAddress['login'] {
  const user = decodeURIComponent(username)
  return password === '' ? { token: user } : { user, password: decodeURIComponent(password) }
}
