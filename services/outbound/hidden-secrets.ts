/** Takes secrets out of the texts of errors: a client library may quote what it was given. */
import { isNameOfSecret, isSecretName, SECRET_MASK } from '../../model/secret-members.ts'

/** Shorter ones stand in any text by chance, and would mask words that hide nothing. */
const SHORTEST = 4
/** In front of an URL's host, whoever wrote it. */
const LOGIN = /([a-z][a-z0-9+.-]*:\/\/)[^\s/?#'"]+@/gi
/** Behind an URL's path, by the names that secrets have. */
const PARAMETER = /([?&]([^\s=&#'"]+)=)[^\s&#'"]+/g
const SCHEME = /^(?:bearer|basic|token|apikey)\s+/i

/** `settings` is what the client was opened with; its secret members are found at any depth. `others` stand nowhere in it. */
export function hiddenSecrets(settings: object, others: readonly string[] = []): (text: string) => string {
  const found = [...secretsIn(settings), ...others]
  const secrets = [...new Set(found.flatMap((secret) => [secret, secret.replace(SCHEME, '')]))]
  const forms = secrets
    .filter((secret) => secret.length >= SHORTEST)
    .flatMap((secret) => [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
    .toSorted((a, b) => b.length - a.length)
  return (text) =>
    forms
      .reduce((hidden, form) => hidden.replaceAll(form, SECRET_MASK), text)
      .replaceAll(LOGIN, `$1${SECRET_MASK}@`)
      .replaceAll(PARAMETER, (all, before: string, name: string) => (isNameOfSecret(name) ? before + SECRET_MASK : all))
}

function secretsIn(value: object): readonly string[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (typeof member === 'string') return isSecretName(name) || name === 'secret' ? [member] : []
    return typeof member === 'object' && member !== null ? secretsIn(member) : []
  })
}
