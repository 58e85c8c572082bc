/** A connection as its server and its packet handlers see it, and the server as the connection sees it. */
import type { KeptSessionRow } from '../../model/kept-session.ts'
import type {
  DeviceGateway,
  DeviceIdentity,
  DeviceSession,
  DeviceSessionListener,
  PublishReceipt,
} from '../../engine/device/gateway.ts'
import type { JsonPayloadDecoder } from '../payload/json.ts'
import type { Acknowledgement, AcknowledgementLine, AcknowledgementOwner } from './acknowledgements.ts'
import type { Packet, ProtocolVersion } from './codec.ts'
import type { DownlinkPushes } from './downlink-pushes.ts'
import type { GatewayDecoder } from './gateway/payloads.ts'
import type { ChildRegistry } from './gateway/registry.ts'
import type { KeepAliveWheel, Timed } from './keep-alive-wheel.ts'
import type { MqttLimits } from './limits.ts'
import type { PackageDownloads } from './package-downloads.ts'
import type { TenantShares } from '../tenant-shares.ts'
import type { ReasonCode } from './reason-codes.ts'
import type { TopicAliases } from './topic-aliases.ts'
import type { EdgeNode } from './sparkplug/edge-node.ts'
import type { SparkplugDecoder } from './sparkplug/payload.ts'

/** What the client showed in its TLS handshake. */
export interface ShownCertificate {
  /** DER. */
  readonly certificate: Buffer
  /** Those behind it; DER. */
  readonly authorities: readonly Buffer[]
  /** Its dates are right now, and each of its chain vouches for the one before. */
  readonly isValid: boolean
}

export type SessionPhase = 'NEW' | 'AUTHENTICATING' | 'CONNECTED' | 'CLOSED'

/** What carries a connection's bytes, as far as the session knows it: a TCP socket, TLS over one, or a WebSocket. */
export interface ByteStream {
  /** Of the other end; undefined once it is gone. */
  readonly remoteAddress?: string | undefined
  /** Bytes that the other end has not taken yet. */
  readonly writableLength: number
  /** `written` is called once the bytes have left the process, or have nobody to go to. */
  write(bytes: Buffer, written?: () => void): unknown
  /** Closes it behind what was written. */
  end(): unknown
  destroy(): unknown
  /** Nothing is handed to the session any more, and the other end is slowed down. */
  pause(): unknown
  resume(): unknown
}

/** One MQTT connection. It is also the receipt of its publishes of QoS 0. */
export interface MqttConnection extends DeviceSessionListener, AcknowledgementOwner, Timed, PublishReceipt {
  readonly host: SessionHost
  readonly acknowledgements: AcknowledgementLine
  phase: SessionPhase
  version: ProtocolVersion
  device: DeviceSession | undefined
  /** Of who speaks TLS and showed one; until the CONNECT was read. */
  shown: ShownCertificate | undefined
  /** It may only ask for credentials. */
  isProvisioning: boolean
  /** Where it comes from. */
  readonly address: string
  /** The tenant that the connection counts for; undefined while it counts for none. */
  tenantId: string | undefined
  /** Ticks of silence that are allowed. */
  allowedTicks: number
  /** Bits by filter: subscribed, and granted QoS 1. */
  subscriptions: number
  grantedQos1: number
  /** Attribute filters in the order of their SUBSCRIBEs: the text of the last one is the topic of pushes. */
  attributeFilters: readonly number[]
  /** The text of the subscribed filter that is the profile's; undefined where there is none. */
  customAttributeFilter: string | undefined
  /** Call filters, likewise. */
  callFilters: readonly number[]
  /**
   * QoS 2 publishes that were not released, by their packet ids, with who is to answer those that were not; undefined while there are none. All
   * connections of a session have the same one.
   */
  unreleased: Map<number, Acknowledgement | 'ANSWERED'> | undefined
  /** Topic Alias Maximum that the client was told. */
  topicAliasMaximum: number
  /** Undefined until it gives a topic a number. */
  topicAliases: TopicAliases | undefined
  readonly pushes: DownlinkPushes
  /** Set where the session outlives the connection. */
  kept: OutlivingSession | undefined
  /** The client asked for it in its CONNECT, whether or not it got it. */
  wasKeptAsked: boolean
  /** Set where it is a gateway: the devices behind it. */
  children: ChildRegistry | undefined
  /** Set where it is an edge node of Sparkplug: such a session speaks nothing else. */
  sparkplug: EdgeNode | undefined
  /** When the last whole packet came, in ticks of the wheel. */
  readonly heardTick: number
  /** Of firmware and software; undefined until the device asks for some. */
  downloads: PackageDownloads | undefined
  /** Calls back once everything that was sent so far has left the process, or the connection is gone. */
  whenWritten(written: () => void): void
  /** A whole packet came: the silence begins anew. */
  heard(): void
  send(packet: Packet): void
  sendBytes(bytes: Buffer): void
  /** Ends the connection, with the reason for a v5 client; undefined where the client ended it. */
  close(reason: ReasonCode | undefined): void
  /** The same once what came before is answered; nothing more is read. */
  closeWhenAnswered(reason: ReasonCode): void
  /** Ends the connection for what a handler threw. */
  violated(error: unknown): void
  /** Writes what there is to say. */
  flush(): void
  /** Goes on reading where it stopped. */
  resume(): void
}

/** Figures since the start; each only grows. */
export interface MqttCounts {
  accepted: number
  received: number
  acknowledged: number
  storedUnacknowledged: number
  refused: number
  undecodable: number
  unknownTopics: number
  malformed: number
  unauthenticated: number
  addressBlocked: number
  pushed: number
  pushesDropped: number
  slowConsumers: number
  overConnectionLimit: number
  overTenantLimit: number
  silentDropped: number
  failedHandshakes: number
}

/** A session that is there when its connection is gone, as the connection sees it. */
export interface OutlivingSession {
  /** Behind the CONNACK: what the client has missed. */
  resume(connection: MqttConnection): void
  /** Its subscriptions are others: `done` is called once the client may be told. Where it may not, the connection ends. */
  subscribed(connection: MqttConnection, done: () => void): void
  /** The client says at its end how long it stays away. */
  expiresAfter(seconds: number): void
  /** The connection is at its end, its state still there. */
  detach(connection: MqttConnection): void
  /** Nothing of it is kept. A connection that it has goes on without. */
  end(): void
}

export interface AskedSession {
  readonly clientId: string
  /** It was made just now: nobody left anything under it. */
  readonly isNewId: boolean
  /** Nothing of an earlier session is wanted. */
  readonly isClean: boolean
  readonly expirySeconds: number
}

export interface BegunSession {
  readonly isPresent: boolean
  /** What the client gets of what it asked for. */
  readonly expirySeconds: number
}

export interface SessionStore {
  /**
   * What the client left, wherever that was: for `begin`, to be asked for before. Undefined where nobody has to wait. Rejects where that is not
   * known.
   */
  recall(device: DeviceIdentity, asked: AskedSession): Promise<KeptSessionRow | undefined> | undefined
  /** The client's session: the one that it left, or a new one. Sets `kept` of the connection where it will outlive it. */
  begin(
    connection: MqttConnection,
    device: DeviceIdentity,
    asked: AskedSession,
    recalled: KeptSessionRow | undefined,
  ): BegunSession
}

/** What edge nodes of Sparkplug share. */
export interface SparkplugParts {
  readonly decoder: SparkplugDecoder
  /** Bytes of births, by tenant. */
  readonly births: TenantShares
}

export interface SessionHost {
  readonly gateway: DeviceGateway
  readonly limits: MqttLimits
  readonly decoder: JsonPayloadDecoder
  readonly gatewayDecoders: { readonly json: GatewayDecoder; readonly protobuf: GatewayDecoder }
  readonly sparkplug: SparkplugParts
  /** Bytes of topic aliases, by tenant. */
  readonly aliasShares: TenantShares
  readonly wheel: KeepAliveWheel
  readonly keptSessions: SessionStore
  readonly counts: MqttCounts
  /** Writes what sessions have to say, once, when the present turn is over. */
  flushSoon(session: MqttConnection): void
  /** Calls the session's `resume` when the gateway is writable again. */
  waitForRoom(session: MqttConnection): void
  /** Counts the connection for its tenant. False where the tenant has its share already: it is then to be refused. */
  admit(device: DeviceIdentity): boolean
  /** Gives back what `admit` counted. */
  release(tenantId: string): void
  /** The same of a device that connects through a gateway. */
  admitChild(gateway: DeviceIdentity): boolean
  releaseChild(tenantId: string): void
  /** Unix ms. */
  now(): number
  /** Gives a place to a connection without credentials; the oldest loses its own where there are too many. */
  admitProvisioning(session: MqttConnection): void
  releaseProvisioning(session: MqttConnection): void
  /** The connection's stream is closed. */
  forget(session: MqttConnection): void
  /** Its credentials are somebody's, or nobody's. */
  loginEnded(session: MqttConnection, isGood: boolean): void
  /** Of a connection that has not sent its CONNECT so many bytes more are kept, or less. False where that is too much: it is to be closed. */
  silentBytesChanged(bytes: number): boolean
  /** The connection has sent its CONNECT. */
  connectReceived(session: MqttConnection): void
  /** A programming error reached a session: logged with its stack, the session is closed. */
  unexpected(error: unknown): void
}
