/**
 * What a client shows in its TLS handshake, and whether it is worth anything: the dates of all, and that each is signed by the one behind it,
 * which must be an authority. Path lengths and name constraints are not looked at. Source: `device-api.md` 3.1, 3.2.
 */
import { X509Certificate } from 'node:crypto'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { ShownCertificate } from '../connection.ts'

/** Far above what any device has; each link costs a verification. */
const MAX_CHAIN = 8
/** In DER; a session holds its chain as long as it says nothing. */
const MAX_CHAIN_BYTES = 32 * 1024

/**
 * Undefined where it shows none, 'too large' where it shows more than any device has. What vouches for nothing in the chain is left out.
 * `now` in Unix ms; undefined: dates do not count.
 */
export function shownCertificate(
  socket: Pick<TLSSocket, 'getPeerCertificate'>,
  now: number | undefined,
): ShownCertificate | 'too large' | undefined {
  const chain = chainOf(socket)
  if (chain === 'too large') return chain
  const [certificate, ...authorities] = chain
  if (certificate === undefined) return undefined
  return { certificate, authorities, isValid: isValid(chain, now) }
}

/**
 * Copies of the bytes, and not `getPeerX509Certificate`: each of its objects keeps the whole connection's chain outside the heap, over 1 MB a
 * handshake, for good.
 */
function chainOf(socket: Pick<TLSSocket, 'getPeerCertificate'>): readonly Buffer[] | 'too large' {
  const chain: Buffer[] = []
  let bytes = 0
  // Without a certificate it is an empty object, and the last one is its own issuer or has none.
  let next: Partial<DetailedPeerCertificate> | undefined = socket.getPeerCertificate(true)
  const seen = new Set<object>()
  while (next?.raw !== undefined && !seen.has(next)) {
    seen.add(next)
    chain.push(next.raw)
    bytes += next.raw.length
    if (chain.length > MAX_CHAIN || bytes > MAX_CHAIN_BYTES) return 'too large'
    next = next.issuerCertificate
  }
  return chain
}

function isValid(raw: readonly Buffer[], now: number | undefined): boolean {
  try {
    const chain = raw.map((der) => new X509Certificate(der))
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
