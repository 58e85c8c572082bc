/**
 * What a transport knows of the platform: it authenticates a device, opens a session, publishes what the device sent and
 * gets what is for the device. Source: `device-api.md` section 1.
 */
import type { MillraceError } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Entry } from '../../model/value.ts'
import type { PublishReceipt } from '../link/link.ts'
import type { CallRequest, Delivery, Listening } from './calls/call.ts'
import type { KeptSessionStore } from './kept-session-store.ts'
import type { MqttProfile } from './mqtt-profile.ts'
import type { DevicePayloads } from './payload-schemas.ts'

/** A lasting session is the device's connection: its begin and end are events, and it takes an older one's place. A brief one is a request. */
export type SessionKind = 'lasting' | 'brief'

/** What a device presents. */
export type PresentedCredentials =
  { readonly type: 'ACCESS_TOKEN'; readonly token: string } | MqttLogin | ClientCertificate | Lwm2mEndpoint

/** The name with which a client registers, and what a DTLS handshake has proven of it. Without a proof it is known only where the device's credentials say `NO_SEC`. */
export interface Lwm2mEndpoint {
  readonly type: 'LWM2M_ENDPOINT'
  readonly endpoint: string
  readonly proof?: Lwm2mProof
}

/** Source: `device-api.md` 13.2. */
export type Lwm2mProof =
  | {
      readonly mode: 'PSK'
      readonly identity: string
      /** Of the key that was used, as `findPreSharedKey` told it: a handshake with a key that was changed since proves nothing. */
      readonly keyId: string
    }
  /** SubjectPublicKeyInfo. */
  | { readonly mode: 'RPK'; readonly key: Buffer }
  | {
      readonly mode: 'X509'
      /** DER. */
      readonly certificate: Buffer
      /** The common name, where the certificate is of an issuer whom the operator trusts. */
      readonly trustedName: string | undefined
    }

export interface PreSharedKey {
  readonly key: Buffer
  /** Another for another key; tells nothing of it. */
  readonly keyId: string
}

/** Shown in a TLS handshake, which has proven that the device holds its key; whoever asks has looked at its chain and dates. */
export interface ClientCertificate {
  readonly type: 'X509_CERTIFICATE'
  /** DER. */
  readonly certificate: Buffer
  /** Those behind it, each vouching for the one before; DER. */
  readonly authorities: readonly Buffer[]
  readonly clientAddress: string
}

/** Of a CONNECT; what it does not have is empty. The user name may be an access token. */
export interface MqttLogin {
  readonly type: 'MQTT_LOGIN'
  readonly clientId: string
  readonly userName: string
  readonly password: string
}

/** The device as its sessions know it: the part of its record that messages carry. */
export interface DeviceIdentity {
  readonly deviceId: string
  readonly tenantId: string
  readonly customerId: string | null
  readonly deviceName: string
  readonly deviceType: string
  /** Absent or null where the device has none. */
  readonly deviceLabel?: string | null
  readonly deviceProfileId: string
  /** Of its profile: the protocol that it speaks, `DEFAULT` for any; absent is `DEFAULT`. HTTP takes all (`device-api.md` 1.3). */
  readonly transportType?: string
  /** What its profile says of MQTT; absent where that is the standard. */
  readonly mqtt?: MqttProfile
  /** What its profile says of LwM2M: its `transportConfiguration`, one object for all devices of the profile as long as it stays what it is. */
  readonly lwm2m?: JsonObject
  /** What the device itself says of its power saving, which counts before that: of `deviceData.transportConfiguration`. */
  readonly ownLwm2m?: JsonObject
  /** Set where its profile has Protobuf for payloads of MQTT and CoAP; absent is JSON. */
  readonly payloads?: DevicePayloads
  /** The chain of its profile; null means the tenant's root chain. */
  readonly ruleChainId: string | null
  /** The queue of its profile; absent or null means `Main`. */
  readonly queueName?: string | null
  /** Set where others may connect through it. */
  readonly isGateway?: true
  /** Of a gateway: what it does counts as done by all devices behind it. */
  readonly overwritesActivityTime?: true
}

/** Whether a device of this profile may speak the protocol that profiles call so. HTTP does not ask. Source: `device-api.md` 1.3. */
export function mayUse(protocol: string, { transportType = 'DEFAULT' }: DeviceIdentity): boolean {
  return transportType === 'DEFAULT' || transportType === protocol
}

/** One element of an upload: `ts` undefined where the device sent none (the arrival time is set, strictly increasing). */
export interface UploadGroup {
  readonly ts: number | undefined
  readonly entries: readonly Entry[]
  /** The text of the entries as `entriesJson` prints it, where the decoder already has it. */
  readonly json?: string
}

export type SharedAttributesUpdate =
  | { readonly kind: 'updated'; readonly entries: readonly Entry[] }
  | { readonly kind: 'deleted'; readonly keys: readonly string[] }

/** How a transport is reached for one session. Called on the session's turn, never inside a call into the gateway. */
export interface DeviceSessionListener {
  sharedAttributesChanged(update: SharedAttributesUpdate): void
  /** Only of sessions that listen for calls. */
  called?(request: CallRequest): void
  /** The session's `device`, or what its profile says, may be another now. */
  refreshed?(): void
  /** The session ends from the platform's side: device deleted, credentials changed, a newer session, shutdown. */
  closed(reason: SessionEnd): void
}

export type SessionEnd = 'DEVICE_DELETED' | 'CREDENTIALS_CHANGED' | 'TAKEN_OVER' | 'IDLE' | 'SHUTDOWN' | 'FAILED'

export interface AttributeRequest {
  /** Undefined: none asked of this scope. An empty list with both undefined keys means all (`device-api.md` 3.5). */
  readonly clientKeys: readonly string[] | 'all' | undefined
  readonly sharedKeys: readonly string[] | 'all' | undefined
}

/** With the time at which it was stored, in Unix ms, where that is known. */
export type StoredEntry = Entry & { readonly lastUpdateTs?: number }

export interface AttributeAnswer {
  readonly client: readonly StoredEntry[]
  readonly shared: readonly StoredEntry[]
}

export type UploadedScope = 'SHARED_SCOPE'

/** What a device sends. */
export interface DevicePublishing {
  /**
   * One message a distinct time; the receipt is told once for the whole upload: `stored` after the last of its messages
   * is durable, or `refused` once if any is not.
   */
  postTelemetry(groups: readonly UploadGroup[], receipt: PublishReceipt): void
  /** Client attributes, or those of the scope that is said. */
  postAttributes(entries: readonly Entry[], receipt: PublishReceipt, scope?: UploadedScope): void
}

export interface DeviceAttributes {
  requestAttributes(request: AttributeRequest): Promise<AttributeAnswer>
  /** `since`, Unix ms: what changed from then on is told too, at its newest value; some of it perhaps a second time. */
  subscribeToSharedAttributes(since?: number): void
  unsubscribeFromSharedAttributes(): void
}

/** Calls (RPC) both ways. */
export interface DeviceCalls {
  /** Calls to the device come from now on: all, or the next one alone. */
  subscribeToCalls(take: Listening): void
  unsubscribeFromCalls(): void
  /** How far the call with this id came. */
  callDelivered(id: number, delivery: Delivery): void
  /** What the device answers to the call with this id, as it sent it. */
  answerCall(id: number, body: string): void
  /**
   * The device calls the rule engine; resolves with its answer, JSON text, `{"error":"timeout"}` where none came in time. Rejects where the
   * call was not stored; `receipt` is told either way.
   */
  callServer(call: ServerCall, receipt: PublishReceipt): Promise<string>
}

export interface DeviceClaiming {
  /** The device may be claimed; the receipt is told `stored` whether the offer counts or not. */
  offerForClaim(offer: ClaimOffer, receipt: PublishReceipt): void
}

export interface DeviceSession extends DevicePublishing, DeviceAttributes, DeviceCalls, DeviceClaiming {
  readonly device: DeviceIdentity
  /** The device was heard without sending data: a ping, a publish to a topic nobody knows. */
  touch(): void
  close(): void
}

export interface ServerCall {
  /** The device's own. */
  readonly requestId: number
  /** JSON text with method and params. */
  readonly data: string
}

/** A device asks for the firmware or software that it is to have; it may say which, so that it never gets halves of two. */
export interface PackageRequest {
  readonly kind: 'FIRMWARE' | 'SOFTWARE'
  /** Of a download that has begun: it ends with what it began with, although the device is to have another by now. */
  readonly packageId?: string | undefined
  /** Undefined: whichever it is. */
  readonly title: string | undefined
  readonly version: string | undefined
  /** Bytes of a part; 0: all of it. */
  readonly size: number
  /** Which part, from 0; empty behind the end. */
  readonly chunk: number
}

export interface PackagePart {
  readonly packageId: string
  readonly title: string
  readonly version: string
  readonly fileName: string
  readonly contentType: string
  /** Of the whole package. */
  readonly wholeBytes: number
  readonly bytes: Buffer
  /** To be called once the bytes were sent or have nobody to go to. */
  readonly release: () => void
}

export interface DeviceAuthentication {
  /** The cached identity, at once and without a promise, where the credentials were seen lately. */
  lookUp(credentials: PresentedCredentials): DeviceIdentity | undefined
  /** Undefined when nobody has these credentials. Throws `retryable` when the store does not answer. */
  authenticate(credentials: PresentedCredentials): Promise<DeviceIdentity | undefined>
  /** With which a client of LwM2M that names this identity proves who it is; undefined where nobody has it. Rejects when the store does not answer. */
  findPreSharedKey(identity: string): Promise<PreSharedKey | undefined>
}

/** Clients of LwM2M that are told of their servers. */
export interface DeviceBootstrapping {
  /** The `bootstrap` member of the device's credentials, unchecked; undefined where it has none. Rejects when the store does not answer. */
  findBootstrapCredentials(device: DeviceIdentity): Promise<JsonObject | undefined>
}

export interface DeviceSessions {
  /** `behind`: the id of the gateway that it came through. */
  openSession(
    device: DeviceIdentity,
    kind: SessionKind,
    listener: DeviceSessionListener,
    behind?: string,
  ): DeviceSession
  /** What of sessions outlives this process; absent where nothing does. */
  readonly keptSessions?: KeptSessionStore | undefined
  /** How much the device may send, and all devices behind it together. */
  ratesOf(device: DeviceIdentity): DeviceRates
}

/** Texts such as `100:1,2000:60`; null for no limit. Source: `device-api.md` 3.6, 11.1. */
export interface ToldRates {
  readonly messages: string | null
  readonly telemetryMessages: string | null
  readonly telemetryDataPoints: string | null
}

export interface DeviceRates {
  readonly own: ToldRates
  readonly children: ToldRates
}

/** A device behind a gateway, as the gateway names it. */
export interface NamedChild {
  readonly name: string
  /** Of a device that is made for it: the name of its profile, made too where there is none. */
  readonly type: string
  /** Of a device that is made for it. */
  readonly label?: string
  /** A device that the gateway made under this name is the one, and gets its new name. */
  readonly formerName?: string
}

export interface ChildDevices {
  /**
   * The device of this name in the gateway's tenant, and never in another: found, or made for it. Rejects `CHILD_LIMIT`, `CHILD_REFUSED`,
   * `retryable`.
   */
  connectChild(gateway: DeviceIdentity, child: NamedChild): Promise<DeviceIdentity>
}

export interface DeviceProvisioning {
  /** A device that has no credentials asks for some. Throws `retryable`. */
  provision(request: ProvisionRequest, clientAddress: string): Promise<ProvisionAnswer>
}

/** Firmware and software. */
export interface DevicePackages {
  /** Rejects with 404 where the device has none with bytes, with 400 where it has another. */
  downloadPackage(device: DeviceIdentity, request: PackageRequest): Promise<PackagePart>
}

/** Of an LwM2M object: the types of its resources, as its model writes them (`Integer`), by their numbers. */
export type ObjectTypes = ReadonlyMap<number, string>

/** Models of LwM2M objects that were uploaded. */
export interface DeviceObjects {
  /** By keys such as `3303_1.1`; what has no model is not in the answer. Rejects where the store does not answer. */
  findObjectTypes(device: DeviceIdentity, keys: readonly string[]): Promise<ReadonlyMap<string, ObjectTypes>>
}

export interface Backpressure {
  /** False while the link is over its bound: stop reading the socket until `onWritable` calls. */
  readonly writable: boolean
  /** Where there is no socket to stop reading: false where a device of the tenant is to be told that there is no room. */
  hasRoomFor(tenantId: string): boolean
  onWritable(listener: () => void): () => void
}

export interface DeviceGateway
  extends
    DeviceAuthentication,
    DeviceBootstrapping,
    DeviceSessions,
    ChildDevices,
    DeviceProvisioning,
    DevicePackages,
    DeviceObjects,
    Backpressure {}

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

export { CONNECTION_STATE, STANDARD_MQTT, type MqttProfile, type SparkplugProfile } from './mqtt-profile.ts'
export type { DevicePayloads, PayloadSchema, ScalarKind, SchemaField, SchemaType } from './payload-schemas.ts'
export type { KeptSessionStore } from './kept-session-store.ts'
export type { CallRequest, PublishReceipt, MillraceError }
