/**
 * What a client shows in its TLS handshake, and whether it is worth anything: the dates of all, and that each is signed by the one behind it,
 * which must be an authority. Path lengths and name constraints are not looked at. Source: `device-api.md` 3.1, 3.2.
 */
import type { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import type { ShownCertificate } from '../connection.ts'

/** Far above what any device has; each link costs a verification. */
const MAX_CHAIN = 8

/** Undefined where it shows none. `now` in Unix ms; undefined: dates do not count. To be called once: reading the chain empties it. */
export function shownCertificate(
  socket: Pick<TLSSocket, 'getPeerX509Certificate'>,
  now: number | undefined,
): ShownCertificate | undefined {
  const leaf = socket.getPeerX509Certificate()
  if (leaf === undefined) return undefined
  const chain: X509Certificate[] = []
  for (let next: X509Certificate | undefined = leaf; next !== undefined; next = next.issuerCertificate) chain.push(next)
  const authorities = chain.slice(1).map(({ raw }) => raw)
  return { certificate: leaf.raw, authorities, isValid: isValid(chain, now) }
}

function isValid(chain: readonly X509Certificate[], now: number | undefined): boolean {
  if (chain.length > MAX_CHAIN) return false
  try {
    return chain.every((certificate, index) => isInDate(certificate, now) && isIssuedBy(certificate, chain[index + 1]))
  } catch {
    // A key of a kind that OpenSSL does not know: whatever it signed can not be verified.
    return false
  }
}

function isInDate({ validFromDate, validToDate }: X509Certificate, now: number | undefined): boolean {
  return now === undefined || (validFromDate.getTime() <= now && now <= validToDate.getTime())
}

/** The last one is vouched for by nobody: the store of devices knows it, or does not. */
function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate | undefined): boolean {
  if (issuer === undefined) return true
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}
