/** The authority of a device profile that makes devices of certificates: checked when it is saved, and found by its hash. Source: `device-api.md` 9.3. */
import { X509Certificate } from 'node:crypto'
import { credentialHash } from '../../engine/device/credential-keys.ts'
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import { DeviceErrors } from './device-errors.ts'

/** Of characters: what it costs to run one grows with its length. */
const LONGEST_PATTERN = 256

/** The key of the profile. Throws `PROFILE_CERTIFICATE`, `PROFILE_CERTIFICATE_PATTERN`. */
export async function certificateKeyOf(profileData: JsonObject): Promise<string> {
  const sent = profileData['provisionConfiguration']
  const configuration = isJsonObject(sent) ? sent : {}
  const { provisionDeviceSecret: pem, certificateRegExPattern: pattern } = configuration
  await checkPattern(pattern)
  return credentialHash(authorityOf(pem).raw.toString('base64'))
}

/** The first of the text. */
function authorityOf(pem: unknown): X509Certificate {
  let certificate: X509Certificate | undefined
  try {
    certificate = new X509Certificate(typeof pem === 'string' ? pem : '')
  } catch {
    // Said below, with no word of OpenSSL's.
  }
  if (certificate?.ca !== true) throw DeviceErrors.PROFILE_CERTIFICATE()
  return certificate
}

async function checkPattern(pattern: unknown): Promise<void> {
  const isText = typeof pattern === 'string' && pattern.length <= LONGEST_PATTERN
  if (!isText) throw DeviceErrors.PROFILE_CERTIFICATE_PATTERN()
  const { RE2JS } = await import('re2js')
  try {
    if (RE2JS.compile(pattern).groupCount() > 0) return
  } catch {
    // Said below.
  }
  throw DeviceErrors.PROFILE_CERTIFICATE_PATTERN()
}
