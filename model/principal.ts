/** Who acts: the user behind a JWT, as access checks and audit see it. */
import type { Authority } from './entities.ts'

export interface Principal {
  readonly userId: string
  readonly email: string
  readonly authority: Authority
  /** Null for system administrators. */
  readonly tenantId: string | null
  /** Set for customer users. */
  readonly customerId: string | null
  readonly firstName: string | null
  readonly lastName: string | null
  /** A device acts for itself, as when it is provisioned: messages name no user. */
  readonly isDevice?: true
  /** A gateway acts for a device behind it: messages name it. */
  readonly gatewayId?: string
  /** A rule node acts: nobody audits it, and only what it makes is told, with just this in the message's metadata. */
  readonly ruleNodeId?: string
  /** Of who gave the password and must still set up a second factor; nothing else is open to such a session. */
  readonly setUpSession?: string
  /** Where the call came from; absent where there is none, as in a command. */
  readonly clientAddress?: string
}
