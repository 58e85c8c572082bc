/** What of a device's session outlives the process that has it: for the process to which its client comes next. */

/** Who has another version than the store has what was before. */
export interface KeptSessionVersion {
  readonly id: string
  /** 1, and one more with each change and each process that takes the session over. */
  readonly version: number
}

export interface KeptSessionRow extends KeptSessionVersion {
  readonly tenantId: string
  readonly deviceId: string
  readonly clientId: string
  /** As the transport writes them. */
  readonly subscriptions: string
  /** How long the client may stay away. */
  readonly expirySeconds: number
  /** Unix ms: of shared attributes that changed before, the client has heard. */
  readonly toldTime: number
  /** Unix ms: then it is over, unless it is renewed. */
  readonly expiresTime: number
}
