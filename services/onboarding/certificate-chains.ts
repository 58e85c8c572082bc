/**
 * Devices that come with a certificate of their maker's: a profile names an authority, and whoever shows a certificate that it vouches for is a
 * device of this profile by its common name. Source: `device-api.md` 9.3. Whoever calls has verified the chain.
 */
import { X509Certificate } from 'node:crypto'
import { isMillraceError } from '../../model/errors.ts'
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import { credentialHash } from '../../engine/device/credential-keys.ts'
import type { ClientCertificate } from '../../engine/device/gateway.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { DeviceService } from '../device-service.ts'
import { deviceProfiles, type DeviceProfile } from '../entities/device-profile.ts'
import { devices } from '../entities/device.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { asDevice, type Provisioning } from './provisioning.ts'

export interface CertificateChainsParts {
  readonly entities: EntityStore
  readonly declared: EntityRegistry
  readonly provisioning: Pick<Provisioning, 'attempt' | 'create'>
  readonly devices: Pick<DeviceService, 'saveCredentialsByUser'>
}

export class CertificateChains {
  private readonly parts: CertificateChainsParts

  constructor(parts: CertificateChainsParts) {
    this.parts = parts
  }

  /** Whether the certificate is a device's now. Throws `TOO_MANY_WRONG`, `BUSY`, and what the store throws that does not answer. */
  provision(shown: ClientCertificate): Promise<boolean> {
    return this.parts.provisioning.attempt(
      shown.clientAddress,
      () => this.certify(shown),
      (isCertified) => !isCertified,
    )
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

function provisionConfigurationOf({ profileData }: DeviceProfile): JsonObject {
  const configuration = profileData?.['provisionConfiguration']
  return isJsonObject(configuration) ? configuration : {}
}

/** The first group of the profile's expression in the common name. The expression is the tenant's: one that takes linear time runs it. */
async function nameOf(certificate: Buffer, configuration: JsonObject): Promise<string | undefined> {
  const { CN } = new X509Certificate(certificate).toLegacyObject().subject
  const pattern = configuration['certificateRegExPattern']
  const commonName: unknown = Array.isArray(CN) ? CN[0] : CN
  if (typeof commonName !== 'string' || typeof pattern !== 'string') return undefined
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
