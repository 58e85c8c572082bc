/** Bounds on MQTT clients, each with the attack or mistake that it stops. */
import type { BlockLimits } from './address-blocks.ts'

export interface MqttLimits {
  /** Remaining length of one packet. An endless packet: v5 DISCONNECT 0x95, v3 close. `device-api.md` 3.1. */
  readonly maxPacketBytes: number
  /** From the TCP connect to a complete CONNECT. A connection that never speaks is closed. */
  readonly connectTimeoutMs: number
  /** For sessions without a keep alive: the longest silence. */
  readonly idleTimeoutMs: number
  /**
   * Publishes of one session not acknowledged yet. Over it the socket is not read; a v5 client is told it as Receive Maximum
   * and is disconnected with 0x93 if it sends more.
   */
  readonly maxInFlight: number
  /** Bytes a client does not read. Over it the client is cut off. */
  readonly maxPendingBytes: number
  /** QoS 1 pushes that the client has not acknowledged; a v5 client's Receive Maximum makes it less. Over it pushes wait. */
  readonly maxOpenPushes: number
  /** Pushes that wait for a PUBACK; their text counts up to `maxPendingBytes`. Over either: DISCONNECT 0x97. */
  readonly maxQueuedPushes: number
  /** Session Expiry Interval of MQTT 5; more is cut to it. */
  readonly maxSessionExpirySeconds: number
  /** Sessions that outlive their connection, and those of one tenant: over it a client is told that its session ends with the connection. */
  readonly maxKeptSessions: number
  readonly maxKeptSessionsPerTenant: number
  /** Those of one device: over it the oldest whose client is away is gone. A client that has another id each time. */
  readonly maxKeptSessionsPerDevice: number
  /** What waits for the clients of kept sessions: of one, of all, and of those of one tenant. Over one of them the session is gone. */
  readonly maxKeptBytesPerSession: number
  readonly maxKeptBytes: number
  readonly maxKeptBytesPerTenant: number
  /** Topic Alias Maximum of MQTT 5. An alias over it: DISCONNECT 0x94. */
  readonly maxTopicAliases: number
  /**
   * What topic aliases take in bytes: of one connection, of all, and of one tenant's. Over one of them: DISCONNECT 0x97. Where there is
   * no room for what one connection may take, a new one is allowed no alias.
   */
  readonly maxAliasBytesPerSession: number
  readonly maxAliasBytes: number
  readonly maxAliasBytesPerTenant: number
  /** Bytes of a firmware or software that is asked for in one piece; a part has at most `maxPacketBytes`. Over it: `PAYLOAD_TOO_LARGE`. */
  readonly maxWholePackageBytes: number
  /** Over it new connections are closed at once. */
  readonly maxConnections: number
  /** Connections of one tenant; over it CONNACK 0x97, or 3. */
  readonly maxConnectionsPerTenant: number
  /** Devices connected through one gateway, through all, and through those of one tenant. Over one of them: PUBACK 0x97, the connection stays. */
  readonly maxChildrenPerGateway: number
  readonly maxChildren: number
  readonly maxChildrenPerTenant: number
  /** Of what births of Sparkplug say: of one edge node with its devices, of all, and of one tenant. Over one of them: PUBACK 0x97, the connection stays. */
  readonly maxBirthBytesPerNode: number
  readonly maxBirthBytes: number
  readonly maxBirthBytesPerTenant: number
  /** Connections that have not sent a CONNECT: over it the oldest of them is cut off. Who never speaks fills no more places than these. */
  readonly maxSilentConnections: number
  /** What is kept of their halves of a CONNECT, in bytes, of all together: over it such a connection is cut off, one whose CONNECT comes in one piece is not. */
  readonly maxSilentBytes: number
  /** Handshakes of TLS, and of WebSocket, under way. Over it the oldest that never said a word is cut off, or else `handshakes.ts` says who. */
  readonly maxHandshakes: number
  /** From the TCP connect to the end of the handshake of TLS or WebSocket. */
  readonly handshakeTimeoutMs: number
  /** Connections of who has no credentials and may only ask for some, a tenth of them of one address: over either the oldest is cut off. */
  readonly maxProvisioningConnections: number
  /** Silence after which such a connection is closed; only its requests count as being heard. */
  readonly provisioningTimeoutMs: number
  /** Log-ins of one address that fail in a row, and how long its new connections are closed then. Undefined: nobody counts. */
  readonly loginFailures: BlockLimits | undefined
}

export const DEFAULT_MQTT_LIMITS: MqttLimits = Object.freeze({
  maxPacketBytes: 65_536,
  connectTimeoutMs: 10_000,
  idleTimeoutMs: 600_000,
  maxInFlight: 1000,
  maxPendingBytes: 1_048_576,
  maxOpenPushes: 1000,
  maxQueuedPushes: 100,
  maxSessionExpirySeconds: 3600,
  maxKeptSessions: 10_000,
  maxKeptSessionsPerTenant: 7500,
  maxKeptSessionsPerDevice: 2,
  maxKeptBytesPerSession: 16_384,
  maxKeptBytes: 64 * 2 ** 20,
  maxKeptBytesPerTenant: 48 * 2 ** 20,
  maxTopicAliases: 16,
  maxAliasBytesPerSession: 8192,
  maxAliasBytes: 32 * 2 ** 20,
  maxAliasBytesPerTenant: 24 * 2 ** 20,
  maxWholePackageBytes: 524_288,
  maxConnections: 100_000,
  maxConnectionsPerTenant: 75_000,
  maxChildrenPerGateway: 10_000,
  maxChildren: 100_000,
  maxChildrenPerTenant: 75_000,
  maxBirthBytesPerNode: 16 * 2 ** 20,
  maxBirthBytes: 128 * 2 ** 20,
  maxBirthBytesPerTenant: 96 * 2 ** 20,
  maxSilentConnections: 10_000,
  maxSilentBytes: 32 * 2 ** 20,
  maxHandshakes: 2000,
  handshakeTimeoutMs: 10_000,
  maxProvisioningConnections: 1000,
  provisioningTimeoutMs: 60_000,
  loginFailures: undefined,
})
