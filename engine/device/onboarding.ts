/** How a device comes to a record of its own, and to its customer: what a gateway asks of the platform for it. */
import type {
  ClaimOffer,
  ClientCertificate,
  DeviceIdentity,
  NamedChild,
  ProvisionAnswer,
  ProvisionRequest,
} from './gateway.ts'

export interface DeviceOnboarding {
  /** Resolves when the offer is durable, or when it counts for nothing: the device is not told which. */
  offerForClaim(device: DeviceIdentity, offer: ClaimOffer): Promise<void>
  /** Nobody has this certificate: whether somebody has it now. Throws as `provision`. */
  provisionByCertificate(shown: ClientCertificate): Promise<boolean>
  /** Throws `retryable` where the platform does not answer, and for an address from which too much was wrong. */
  provision(request: ProvisionRequest, clientAddress: string): Promise<ProvisionAnswer>
  /**
   * The id of the device of this name in the gateway's tenant, made where there is none. Throws `CHILD_LIMIT`, `CHILD_REFUSED`, and
   * `retryable` where the platform does not answer.
   */
  connectChild(gateway: DeviceIdentity, child: NamedChild): Promise<string>
}
