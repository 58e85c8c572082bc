/**
 * What the change feed says of the devices that this process serves: shared attributes go to their sessions, a device that is another's, renamed or
 * gone is looked up again or its sessions end.
 */
import type { EntityId } from '../../model/entity-id.ts'
import type { ChangeFeed, ChangeOf } from '../subscriptions/change.ts'
import type { CredentialCache } from './credential-cache.ts'
import type { DeviceRecord } from './device-record.ts'
import type { SessionEnd } from './gateway.ts'
import type { IdentityRefresh } from './identity-refresh.ts'

/** Not telemetry, which is nearly all there is: where no user listens to it either, it is not even told. */
const HEARD_KINDS = ['attributes', 'attributes-deleted', 'device-changed', 'entity-deleted'] as const
type HeardChange = ChangeOf<(typeof HEARD_KINDS)[number]>

/** An attribute has the time of the process that wrote it: what their clocks differ at most, with the way from a commit to its telling. */
export const CLOCK_DIFFERENCE_MS = 5000
/** A change is noted with the clock of the process that made it, before its commit. Looking some devices up for nothing costs little. */
const NOTED_BEFORE_MS = 60_000

export interface DeviceChangesParts {
  readonly feed: ChangeFeed
  readonly credentials: CredentialCache
  readonly refreshing: IdentityRefresh
  readonly recordAt: (deviceId: string) => DeviceRecord | undefined
  readonly endSessions: (record: DeviceRecord, reason: SessionEnd) => void
}

/** Listens from its making until it is closed. */
export class DeviceChanges {
  private readonly parts: DeviceChangesParts
  private readonly stops: readonly (() => void)[]

  constructor(parts: DeviceChangesParts) {
    this.parts = parts
    this.stops = [
      parts.feed.listenToAll(HEARD_KINDS, (change) => this.changed(change)),
      parts.feed.onGap((since) => this.missed(since)),
    ]
  }

  close(): void {
    for (const stop of this.stops) stop()
  }

  private changed(change: HeardChange): void {
    switch (change.kind) {
      case 'attributes':
      case 'attributes-deleted':
        return this.attributesChanged(change)
      case 'device-changed':
        return this.deviceChanged(change.entity, change.credentialsChanged)
      case 'entity-deleted':
        if (change.entity.entityType === 'DEVICE') this.deviceDeleted(change.entity.id)
    }
  }

  private attributesChanged(change: ChangeOf<'attributes' | 'attributes-deleted'>): void {
    const record = this.parts.recordAt(change.entity.id)
    if (record === undefined || change.scope !== 'SHARED_SCOPE' || change.audience === 'subscribers') return
    if (change.kind === 'attributes-deleted') {
      record.actor.tell({ kind: 'shared-attributes', update: { kind: 'deleted', keys: change.keys } })
    } else if (change.audience !== 'caches') {
      record.actor.tell({ kind: 'shared-attributes', update: { kind: 'updated', entries: change.attributes } })
    }
  }

  private deviceChanged(entity: EntityId, credentialsChanged: boolean): void {
    const { credentials, refreshing, recordAt, endSessions } = this.parts
    if (entity.entityType === 'DEVICE_PROFILE') {
      credentials.profileChanged(entity.id)
      return refreshing.add((record) => record.identity.deviceProfileId === entity.id)
    }
    const record = recordAt(entity.id)
    const token = record === undefined ? undefined : credentials.tokenOf(record.identity)
    credentials.deviceChanged(entity.id)
    if (record === undefined) return
    if (credentialsChanged || token === undefined) endSessions(record, 'CREDENTIALS_CHANGED')
    else refreshing.addOne(record)
  }

  private deviceDeleted(deviceId: string): void {
    this.parts.credentials.deviceChanged(deviceId)
    const record = this.parts.recordAt(deviceId)
    if (record !== undefined) this.parts.endSessions(record, 'DEVICE_DELETED')
  }

  /**
   * Any device may be another's, renamed or gone. Those with sessions are looked up again: first those whose credentials the store says
   * changed, then all in turns. The others are looked up when they come.
   */
  private missed(since: number): void {
    this.parts.credentials.doubtAll()
    this.parts.refreshing.addSince(since - NOTED_BEFORE_MS, (record) => {
      if (!record.isAttended) return false
      record.actor.tell({ kind: 'attributes-missed', since: since - CLOCK_DIFFERENCE_MS })
      return true
    })
  }
}
