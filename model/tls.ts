/** What is wrong with a TLS connection, as Node tells it, whichever server is at the other end. */
import { errorText } from './errors.ts'

/**
 * Of the certificate (OpenSSL's verification results), its name, or the handshake
 * (https://nodejs.org/docs/latest-v22.x/api/tls.html#x509-certificate-error-codes).
 */
const CODES =
  /^(CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|ERR_TLS_|ERR_SSL_|ERR_OSSL_)/

/** The reason where TLS is why there is no connection; undefined for whatever else was thrown. */
export function tlsFault(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const text = errorText(error)
  // OpenSSL tells where in its source it stood; the alert's name behind it is what a reader can use.
  const alert = /:SSL routines:[^:]*:([^:]+):/.exec(text)?.[1]
  if (alert !== undefined) return alert === 'wrong version number' ? 'the server does not speak TLS' : alert
  if ('code' in error && typeof error.code === 'string' && CODES.test(error.code)) return text
  return tlsFault(error.cause)
}
