/** What one client says: bytes become values by the types of its resources, and are stored where its profile names them. */
import type { Clock } from '../../model/clock.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { DeviceGateway } from '../../engine/device/gateway.ts'
import type { CoapAnswer } from '../coap-messages/message.ts'
import { ClientModels } from './client-models.ts'
import type { ClientProfile } from './client-profile.ts'
import type { Path, ValueRecord } from './codecs/records.ts'
import type { ResourceModel } from './core-models.ts'
import type { Lwm2mCounts } from './counts.ts'
import type { Kept } from './observations.ts'
import { decoded } from './payloads.ts'
import type { Registration } from './registrations.ts'
import { store } from './storing.ts'
import { uplinkOf } from './uplink.ts'

export interface ValuesOptions {
  readonly registration: Registration
  readonly wanted: ClientProfile
  readonly gateway: Pick<DeviceGateway, 'findObjectTypes'>
  readonly clock: Pick<Clock, 'now'>
  readonly counts: Lwm2mCounts
  /** Whether the platform takes uploads now. */
  readonly isWritable: () => boolean
  /** At once, in the order in which it was said, and whether the platform takes it or not. */
  readonly said: (records: readonly ValueRecord[]) => void
  readonly stored: (records: readonly ValueRecord[]) => void
  readonly failed: (error: unknown) => void
}

export class ClientValues {
  readonly models: ClientModels
  private readonly options: ValuesOptions

  constructor(options: ValuesOptions) {
    this.options = options
    this.models = new ClientModels(options.gateway)
  }

  /** Before anything is read: what nobody knows the type of is not stored. */
  loadModels(): Promise<void> {
    const { registration, wanted } = this.options
    const { session, offer } = registration
    const { telemetry, attributes } = wanted.plan
    const named = [...telemetry.keys(), ...attributes.keys()].map(pathIn)
    const objects = [...offer.objects.keys()].map((id) => ({
      ...{ id, version: this.versionOf(id) },
      wanted: named.flatMap(([objectId, , resourceId]) =>
        objectId === id && resourceId !== undefined ? [resourceId] : [],
      ),
    }))
    return this.models.load(session.device, objects)
  }

  /** Undefined where nobody knows the resource. */
  modelAt(path: Path): ResourceModel | undefined {
    const [objectId, , resourceId] = path
    if (objectId === undefined || resourceId === undefined) return undefined
    return this.models.find(objectId, this.versionOf(objectId), resourceId)
  }

  /** Rejects as `decoded` throws. */
  async recordsOf({ payload, contentFormat }: CoapAnswer, path: Path): Promise<readonly ValueRecord[]> {
    return decoded({ payload, format: contentFormat, path, type: this.modelAt(path)?.type })
  }

  /** Rejects where it is refused. */
  async store(records: readonly ValueRecord[]): Promise<void> {
    const { registration, wanted, counts, clock, said, stored } = this.options
    said(records)
    const { plan, profile } = wanted
    const uplink = uplinkOf(records, {
      ...{ plan, offer: registration.offer, defaultVersion: profile.defaultVersion },
      ...{ findResource: this.models.find, now: clock.now() },
    })
    counts.untyped += uplink.unknown
    counts.received++
    await new Promise<void>((resolve, reject) => {
      store(registration.session, uplink, { stored: resolve, refused: reject })
    })
    counts.acknowledged++
    stored(records)
  }

  /** What is wrong stays wrong however often it comes: only what the platform could not take is to come again. */
  async keep(answer: CoapAnswer, path: Path): Promise<Kept> {
    try {
      if (!this.options.isWritable()) return 'undone'
      await this.store(await this.recordsOf(answer, path))
      return 'stored'
    } catch (error) {
      this.options.failed(error)
      return isMillraceError(error) && error.kind === 'invalid' ? 'stored' : 'undone'
    }
  }

  private versionOf(objectId: number): string {
    const { registration, wanted } = this.options
    return registration.offer.objects.get(objectId)?.version ?? wanted.profile.defaultVersion
  }
}

function pathIn(text: string): Path {
  return text.split('/').slice(1).map(Number)
}
