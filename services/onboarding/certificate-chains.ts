/**
 * Devices that come with a certificate of their maker's: a profile names an authority, and whoever shows a certificate that it vouches for is a
 * device of this profile by its common name. Source: `device-api.md` 9.3. Whoever calls has verified the chain.
 */
import { createHash, X509Certificate } from 'node:crypto'
import type { Clock } from '../../model/clock.ts'
import { isMillraceError } from '../../model/errors.ts'
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import { credentialHash } from '../../engine/device/credential-keys.ts'
import type { ClientCertificate } from '../../engine/device/gateway.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { DeviceService } from '../devices/device-service.ts'
import { deviceProfiles, type DeviceProfile } from '../entities/device-profile.ts'
import { devices } from '../entities/device.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { asDevice, type Provisioning } from './provisioning.ts'

export interface CertificateChainsParts {
  readonly entities: EntityStore
  readonly declared: EntityRegistry
  readonly provisioning: Pick<Provisioning, 'attempt' | 'create'>
  readonly devices: Pick<DeviceService, 'saveCredentialsByUser'>
  readonly clock: Pick<Clock, 'now'>
}

/**
 * A dead device comes again and again with what was refused: it counts once a minute for its address, which others share. What a profile would
 * take by now waits as long.
 */
const REFUSED_MS = 60_000
const MAX_REFUSED = 10_000

export class CertificateChains {
  private readonly parts: CertificateChainsParts
  /** By the hash of the chain, when it was refused: the oldest first. */
  private readonly refused = new Map<string, number>()

  constructor(parts: CertificateChainsParts) {
    this.parts = parts
  }

  /** Whether the certificate is a device's now. Throws `TOO_MANY_WRONG`, `BUSY`, and what the store throws that does not answer. */
  async provision(shown: ClientCertificate): Promise<boolean> {
    const hash = hashOf(shown)
    const refusedAt = this.refused.get(hash)
    if (refusedAt !== undefined && this.parts.clock.now() < refusedAt + REFUSED_MS) return false
    const isCertified = await this.parts.provisioning.attempt(
      shown.clientAddress,
      () => this.certify(shown),
      (answer) => !answer,
    )
    if (!isCertified) this.remember(hash)
    return isCertified
  }

  private remember(hash: string): void {
    this.refused.delete(hash)
    const [oldest] = this.refused.keys()
    if (this.refused.size >= MAX_REFUSED && oldest !== undefined) this.refused.delete(oldest)
    this.refused.set(hash, this.parts.clock.now())
  }

  private async certify({ certificate, authorities, clientAddress }: ClientCertificate): Promise<boolean> {
    const profile = await this.profileOf(authorities)
    if (profile === undefined) return false
    const configuration = provisionConfigurationOf(profile)
    const name = await nameOf(certificate, configuration)
    if (name === undefined) return false
    const principal = asDevice(profile.tenantId, name, clientAddress)
    const text = certificate.toString('base64')
    try {
      const existing = await this.parts.declared.of(devices).findByName(profile.tenantId, name)
      if (existing === undefined) {
        if (configuration['allowCreateNewDevicesByX509Certificate'] !== true) return false
        return (
          (await this.parts.provisioning.create(principal, profile, requestOf(profile, name, text))).status ===
          'SUCCESS'
        )
      }
      if (existing.deviceProfileId !== profile.id) return false
      const credentials = await this.parts.entities.deviceCredentials.findByDevice(existing.id)
      if (credentials?.credentialsType !== 'X509_CERTIFICATE') return false
      await this.parts.devices.saveCredentialsByUser(principal, {
        deviceId: existing.id,
        credentialsType: 'X509_CERTIFICATE',
        credentialsId: '',
        credentialsValue: text,
      })
      return true
    } catch (error) {
      // A name that is no device's, a tenant that has all its devices: the client is nobody, and is told no more.
      if (isMillraceError(error) && (error.kind === 'invalid' || error.kind === 'denied')) return false
      throw error
    }
  }

  /** Of the nearest authority that one names. */
  private async profileOf(authorities: readonly Buffer[]): Promise<DeviceProfile | undefined> {
    for (const authority of authorities) {
      const provisionDeviceKey = credentialHash(authority.toString('base64'))
      const profile = await this.parts.declared.of(deviceProfiles).findAnywhereBy({ provisionDeviceKey })
      if (profile?.provisionType === 'X509_CERTIFICATE_CHAIN') return profile
    }
    return undefined
  }
}

/** With the chain: the same certificate behind another authority is another matter. */
function hashOf({ certificate, authorities }: ClientCertificate): string {
  const hash = createHash('sha256').update(certificate)
  for (const authority of authorities) hash.update(authority)
  return hash.digest('base64')
}

function provisionConfigurationOf({ profileData }: DeviceProfile): JsonObject {
  const configuration = profileData?.['provisionConfiguration']
  return isJsonObject(configuration) ? configuration : {}
}

/** RFC 5280 has 64 characters; a device's name has these. */
const LONGEST_COMMON_NAME = 255

/** The first group of the profile's expression in the common name. The expression is the tenant's: one that takes linear time runs it. */
async function nameOf(certificate: Buffer, configuration: JsonObject): Promise<string | undefined> {
  const { CN } = new X509Certificate(certificate).toLegacyObject().subject
  const pattern = configuration['certificateRegExPattern']
  const commonName: unknown = Array.isArray(CN) ? CN[0] : CN
  if (typeof commonName !== 'string' || typeof pattern !== 'string') return undefined
  if (commonName.length > LONGEST_COMMON_NAME) return undefined
  const { RE2JS } = await import('re2js')
  const matcher = RE2JS.compile(pattern).matcher(commonName)
  const name = matcher.find() && matcher.groupCount() > 0 ? matcher.group(1) : undefined
  return name === null || name === '' ? undefined : name
}

function requestOf(profile: DeviceProfile, deviceName: string, certificate: string) {
  return {
    deviceName,
    key: profile.provisionDeviceKey ?? '',
    secret: '',
    credentialsType: 'X509_CERTIFICATE',
    certificate,
    token: undefined,
    clientId: undefined,
    userName: undefined,
    password: undefined,
    isGateway: false,
  } as const
}
