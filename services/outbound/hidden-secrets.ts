/** Takes secrets out of the texts of errors: a client library may quote what it was given. */
import { isSecretName, SECRET_MASK as MASK } from '../../model/secret-members.ts'

/** Shorter ones stand in any text by chance, and would mask words that hide nothing. */
const SHORTEST = 4

/** `settings` is what the client was opened with; its secret members are found at any depth. */
export function hiddenSecrets(settings: object): (text: string) => string {
  const secrets = [...new Set(secretsIn(settings))].filter((secret) => secret.length >= SHORTEST)
  const forms = secrets
    .flatMap((secret) => [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
    .toSorted((a, b) => b.length - a.length)
  return (text) => forms.reduce((hidden, form) => hidden.replaceAll(form, MASK), text)
}

function secretsIn(value: object): readonly string[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (typeof member === 'string') return isSecretName(name) || name === 'secret' ? [member] : []
    return typeof member === 'object' && member !== null ? secretsIn(member) : []
  })
}
