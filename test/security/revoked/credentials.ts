/** Credentials of devices that show a certificate. */
import { readFile } from 'node:fs/promises'

/** When the certificates expired that have. */
export const LONG_AGO = new Date('2022-01-01T00:00:00Z')

/** Of a device whose certificate is in this PEM file. */
export async function certificateOf(certFile: string) {
  return { credentialsType: 'X509_CERTIFICATE', credentialsValue: await readFile(certFile, 'utf8') }
}
