/** How a device comes to a record of its own, and to its customer: what a gateway asks of the platform for it. */
import type { DeviceIdentity } from './gateway.ts'

/** The device may be claimed by whoever knows the secret. */
export interface ClaimOffer {
  /** Empty where the device sent none. */
  readonly secretKey: string
  /** 0: as long as the platform gives. */
  readonly durationMs: number
}

/** What a device without credentials asks for them with. Source: `device-api.md` 9.1. */
export interface ProvisionRequest {
  readonly deviceName: string | undefined
  readonly key: string
  readonly secret: string
  readonly credentialsType: ProvisionedCredentialsType
  readonly token: string | undefined
  readonly clientId: string | undefined
  readonly userName: string | undefined
  readonly password: string | undefined
  /** The certificate itself, whatever its name on the wire says. */
  readonly certificate: string | undefined
  readonly isGateway: boolean
}

export const PROVISIONED_CREDENTIALS = ['ACCESS_TOKEN', 'MQTT_BASIC', 'X509_CERTIFICATE', 'LWM2M_CREDENTIALS'] as const
export type ProvisionedCredentialsType = (typeof PROVISIONED_CREDENTIALS)[number]

export type ProvisionAnswer =
  | {
      readonly status: 'SUCCESS'
      readonly credentialsType: ProvisionedCredentialsType
      /** As the store has it: a token, the text of a certificate, or JSON text. */
      readonly credentialsValue: string
    }
  | { readonly status: 'FAILURE' | 'NOT_FOUND' }

export interface DeviceOnboarding {
  /** Resolves when the offer is durable, or when it counts for nothing: the device is not told which. */
  offerForClaim(device: DeviceIdentity, offer: ClaimOffer): Promise<void>
  /** Throws `retryable` where the platform does not answer, and for an address from which too much was wrong. */
  provision(request: ProvisionRequest, clientAddress: string): Promise<ProvisionAnswer>
}
