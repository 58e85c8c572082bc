/**
 * Tells devices which firmware and software they are to have. A save notes in its transaction that a package changed; what a device is to
 * have is looked up when it is told, so that a note that is read twice, or late, does no harm. Source: `device-api.md` 10.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { Attribute, AttributeScope, Entry } from '../../model/value.ts'
import type { AttributesSave } from '../../engine/rulechain/capabilities/attributes.ts'
import type { NodeTelemetry } from '../../engine/rulechain/capabilities/telemetry.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import { otaUpdateRows, PACKAGE_MEMBERS, type PackageKind } from '../entities/assigned-packages.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import { devices, packagesOf, type Device } from '../entities/device.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { OTA_TYPES, otaPackages, type OtaPackage } from '../entities/ota-package.ts'
import type { Report } from '../changes/outbox.ts'

interface UpdatedAttributes {
  find(
    entity: EntityId,
    scope: AttributeScope,
    keys: readonly string[],
  ): Promise<{ readonly value: readonly Attribute[] }>
  save(request: AttributesSave): Promise<void>
  delete(entity: EntityId, scope: AttributeScope, keys: readonly string[]): Promise<void>
}

export interface OtaUpdatesParts {
  readonly entities: EntityStore
  readonly declared: EntityRegistry
  readonly attributes: UpdatedAttributes
  readonly telemetry: NodeTelemetry
  readonly feed: ChangeFeed
  readonly clock: Clock
  readonly report: Report
}

/** Notes that nobody was woken for: of another process that ended, of a device that was made with its package. */
const LOOK_EVERY_MS = 5_000
const NOTES_AT_ONCE = 100
const DEVICES_AT_ONCE = 100

/** How long a process may be at one before another takes it. */
const LEASE_MS = 60_000
const UNTOUCHED = { column: 'version', is: 1 } as const

const PREFIXES: Readonly<Record<PackageKind, string>> = { FIRMWARE: 'fw', SOFTWARE: 'sw' }
const ATTRIBUTES = ['title', 'version', 'tag', 'size', 'checksum', 'checksum_algorithm', 'url', 'ts', 'state'] as const

export class OtaUpdates {
  private readonly parts: OtaUpdatesParts
  private timer: TimerHandle | undefined
  private stopListening: (() => void) | undefined
  private underWay: Promise<void> | undefined
  private isAskedAgain = false
  private isClosed = false

  constructor(parts: OtaUpdatesParts) {
    this.parts = parts
  }

  start(): void {
    this.stopListening = this.parts.feed.listenToAll(['device-changed'], () => this.wake())
    this.wake()
    this.lookLater()
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.timer?.cancel()
    this.stopListening?.()
    await this.underWay
  }

  /** Resolves when every note that is there now was seen to. */
  async settled(): Promise<void> {
    this.wake()
    await this.underWay
  }

  private lookLater(): void {
    this.timer = this.parts.clock.after(LOOK_EVERY_MS, () => {
      if (this.isClosed) return
      this.wake()
      this.lookLater()
    })
  }

  private wake(): void {
    if (this.isClosed) return
    this.isAskedAgain = true
    this.underWay ??= this.run().finally(() => {
      this.underWay = undefined
      if (this.isAskedAgain) this.wake()
    })
  }

  private async run(): Promise<void> {
    const rows = otaUpdateRows(this.parts.entities)
    while (this.isAskedAgain && !this.isClosed) {
      this.isAskedAgain = false
      try {
        const free = { anyOf: [UNTOUCHED, { column: 'created_time', from: 0, to: this.parts.clock.now() - LEASE_MS }] }
        const notes = await rows.findAll([free], NOTES_AT_ONCE)
        for (const note of notes) if (!this.isClosed) await this.follow(note)
        if (notes.length === NOTES_AT_ONCE) this.isAskedAgain = true
      } catch (error) {
        this.failed(error)
      }
    }
  }

  /** One that fails is free again when its lease ends. */
  private async follow(note: Row): Promise<void> {
    const rows = otaUpdateRows(this.parts.entities)
    const claim = async (row: Row, told: string): Promise<Row> => {
      const claimed = { ...row, version: Number(row['version']) + 1, created_time: this.parts.clock.now(), told }
      await this.parts.entities.write([rows.update(claimed)])
      return claimed
    }
    try {
      let claimed = await claim(note, String(note['told']))
      const kind = OTA_TYPES.find((type) => type === note['kind']) ?? 'FIRMWARE'
      for (let some = await this.devicesOf(claimed); some.length > 0; some = await this.devicesOf(claimed)) {
        for (const { id: deviceId } of some) await this.tell(deviceId, kind)
        if (some.length < DEVICES_AT_ONCE) break
        claimed = await claim(claimed, some.at(-1)?.id ?? '')
        if (this.isClosed) return
      }
      await this.parts.entities.write([rows.deleteAll([{ column: 'id', is: String(note['id']) }])])
    } catch (error) {
      // Another process has it.
      if (!isMillraceError(error) || error.status !== 409) this.failed(error)
    }
  }

  /** Those that are still to be told, some at a time. */
  private async devicesOf(note: Row): Promise<readonly Device[]> {
    const service = this.parts.declared.of(devices)
    const ownerId = String(note['owner_id'])
    if (note['owner_type'] === 'DEVICE') {
      const device = await service.findAnywhere(ownerId)
      return device === undefined ? [] : [device]
    }
    const ofProfile = [
      { column: 'tenant_id', is: String(note['tenant_id']) },
      { column: 'device_profile_id', is: ownerId },
    ]
    return service.findWhere([...ofProfile, { column: 'id', after: String(note['told']) }], DEVICES_AT_ONCE)
  }

  private failed(error: unknown): void {
    this.parts.report('Devices are not told yet which firmware they are to have; it is tried again', {
      error: errorText(error),
    })
  }

  /**
   * Until what was told is what is wanted: a note of a profile takes a while, in which the device may get a package of its own, of which another
   * process tells it, or be gone. Whoever writes last has looked after it.
   */
  private async tell(deviceId: string, kind: PackageKind): Promise<void> {
    let told: { readonly packageId: string | undefined } | undefined
    for (;;) {
      const device = await this.parts.declared.of(devices).findAnywhere(deviceId)
      if (device === undefined) return
      const wanted = await this.wanted(device, kind)
      if (told !== undefined && told.packageId === wanted?.id) return
      await this.write(device, PREFIXES[kind], wanted, told !== undefined)
      told = { packageId: wanted?.id }
    }
  }

  /** Telemetry first: the attributes say that all of it was done. `isAgain`: they may say it of what another process did before. */
  private async write(device: Device, prefix: string, wanted: OtaPackage | undefined, isAgain: boolean): Promise<void> {
    const entity = entityId('DEVICE', device.id)
    const entries = wanted === undefined ? [] : attributesOf(prefix, wanted)
    const { value: present } = await this.parts.attributes.find(
      entity,
      'SHARED_SCOPE',
      ATTRIBUTES.map((name) => `${prefix}_${name}`),
    )
    const stale = present.map(({ key }) => key).filter((key) => !entries.some((entry) => entry.key === key))
    const isThere = entries.every(({ key, value }) => present.some((each) => each.key === key && each.value === value))
    if (wanted !== undefined && (isAgain || !isThere)) {
      await this.tellStates(device, entity, prefix, wanted)
      await this.parts.attributes.save({
        ...{ tenantId: device.tenantId, entity, scope: 'SHARED_SCOPE', entries, sequence: 0 },
        ...{ store: true, notify: true, notifyDevice: true },
      })
    }
    await this.parts.attributes.delete(entity, 'SHARED_SCOPE', stale)
  }

  private async tellStates(device: Device, entity: EntityId, prefix: string, wanted: OtaPackage): Promise<void> {
    const ts = this.parts.clock.now()
    const target: readonly Entry[] = [
      text(`target_${prefix}_title`, wanted.title),
      text(`target_${prefix}_version`, wanted.packageVersion),
      ...(isText(wanted.tag) ? [text(`target_${prefix}_tag`, wanted.tag)] : []),
      { key: `target_${prefix}_ts`, type: 'LONG', value: ts },
      text(`${prefix}_state`, 'QUEUED'),
    ]
    await this.saveTelemetry(device, entity, target, ts)
    // A point of its own beside the other, and after it.
    await this.saveTelemetry(device, entity, [text(`${prefix}_state`, 'INITIATED')], ts + 1)
  }

  private saveTelemetry(device: Device, entity: EntityId, entries: readonly Entry[], ts: number): Promise<void> {
    const points = entries.map((entry) => ({ ...entry, ts }))
    const { tenantId } = device
    return new Promise((resolve, reject) =>
      this.parts.telemetry.save(
        { tenantId, entity, points, ttlSeconds: 0, sequence: 0, history: true, latest: true, notify: true },
        (error) => (error === undefined ? resolve() : reject(error)),
      ),
    )
  }

  private async wanted(device: Device, kind: PackageKind): Promise<OtaPackage | undefined> {
    const { declared } = this.parts
    const profile = await declared.of(deviceProfiles).find(device.tenantId, device.deviceProfileId)
    const id = packagesOf(device, profile)[PACKAGE_MEMBERS[kind]]
    return id === null ? undefined : declared.of(otaPackages).find(device.tenantId, id)
  }
}

function attributesOf(prefix: string, wanted: OtaPackage): readonly Entry[] {
  const { title, packageVersion, tag, url, dataSize, checksum, checksumAlgorithm } = wanted
  return [
    text(`${prefix}_title`, title),
    text(`${prefix}_version`, packageVersion),
    ...(isText(tag) ? [text(`${prefix}_tag`, tag)] : []),
    ...(isText(url) ? [text(`${prefix}_url`, url)] : []),
    ...(dataSize === null ? [] : [{ key: `${prefix}_size`, type: 'LONG', value: dataSize } as const]),
    ...(isText(checksum) ? [text(`${prefix}_checksum`, checksum)] : []),
    ...(isText(checksumAlgorithm) ? [text(`${prefix}_checksum_algorithm`, checksumAlgorithm)] : []),
  ]
}

function text(key: string, value: string): Entry {
  return { key, type: 'STRING', value }
}

function isText(value: string | null): value is string {
  return value !== null && value !== ''
}
