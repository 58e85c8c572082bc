/** What the device gateway of a process is made of, how it is set, and what it counts. */
import type { Clock, Random } from '../../model/clock.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ActorSystem } from '../actor/system.ts'
import type { PublishLink } from '../link/link.ts'
import type { ChangeFeed } from '../subscriptions/change.ts'
import type { UsageMeter } from '../usage/usage.ts'
import type { DeviceLine } from './announcement.ts'
import type { SessionCalls } from './calls/session-calls.ts'
import type { CredentialCacheSettings } from './credential-cache.ts'
import type { DeviceDirectory } from './credential-reads.ts'
import type {
  DeviceGateway,
  DeviceIdentity,
  ObjectTypes,
  PackagePart,
  PackageRequest,
  PreSharedKey,
} from './gateway.ts'
import type { KeptSessionStore } from './kept-session-store.ts'
import type { DeviceOnboarding } from './onboarding.ts'
import type { DeviceAttributes } from './owner/device-owner.ts'
import type { PartitionOwners } from './partition-owners.ts'
import type { LeaseSettings } from './session-leases.ts'
import type { TransportRatesParts } from './transport-rates.ts'

export interface DeviceGatewaySettings extends CredentialCacheSettings, LeaseSettings {
  readonly maxSessionsPerDevice: number
  /** A device without a session is forgotten here after such a silence. */
  readonly forgetAfterMs: number
}

export const DEFAULT_DEVICE_GATEWAY_SETTINGS: DeviceGatewaySettings = Object.freeze({
  forgetAfterMs: 600_000,
  activityReportMs: 3000,
  leaseIntervalMs: 10_000,
  maxSessionsPerDevice: 1,
  // Some 130,000 devices with short names, 40,000 with the longest.
  maxCredentialBytes: 128 << 20,
  maxUnknownCredentialBytes: 4 << 20,
  unknownCredentialsTtlMs: 1000,
  maxLogins: 10_000,
})

export interface DeviceGatewayOptions {
  readonly link: PublishLink
  readonly line: DeviceLine
  readonly owners: PartitionOwners
  readonly directory: DeviceDirectory
  readonly attributes: Pick<DeviceAttributes, 'find'>
  readonly feed: ChangeFeed
  readonly clock: Clock
  readonly random: Random
  readonly actors: ActorSystem
  /** Absent where nobody asks what tenants use. */
  readonly meter?: UsageMeter
  /** Absent where nobody limits what devices send. */
  readonly rates?: TransportRatesParts
  /** Absent where no packages are served. */
  readonly packages?: PackageSource
  /** Absent where no models are kept. */
  readonly objects?: ObjectSource
  /** Absent where no clients of LwM2M are served. */
  readonly lwm2mKeys?: Lwm2mKeySource
  /** Absent where sessions end with the process at the latest. */
  readonly keptSessions?: KeptSessionStore
  /** Absent where no calls are served. */
  readonly calls?: SessionCalls
  /** Absent where devices are only served that are there. */
  readonly onboarding?: DeviceOnboarding
  readonly settings?: Partial<DeviceGatewaySettings>
}

/** What devices are to run. */
export interface PackageSource {
  part(device: DeviceIdentity, request: PackageRequest): Promise<PackagePart>
}

export interface Lwm2mKeySource {
  findPreSharedKey(identity: string): Promise<PreSharedKey | undefined>
  findBootstrapCredentials(device: DeviceIdentity): Promise<JsonObject | undefined>
}

export interface ObjectSource {
  find(device: DeviceIdentity, keys: readonly string[]): Promise<ReadonlyMap<string, ObjectTypes>>
}

export interface DeviceGatewayFigures {
  /** Devices that have a session here, or were heard here lately. */
  readonly devices: number
  readonly cachedCredentials: number
  /** Reads of the store that failed after a change. Only grows. */
  readonly readFailures: number
  /** Requests of devices that sent too much at once. Only grows. */
  readonly overRate: number
}

export interface ClosableDeviceGateway extends DeviceGateway {
  figures(): DeviceGatewayFigures
  /** Ends all sessions, announces it. Idempotent. The actor system's close waits for the rest. */
  close(): Promise<void>
}
