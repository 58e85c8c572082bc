/**
 * The way of a frame: converted by the user's script with those that came meanwhile, published for its devices, and told to be done when all of it
 * is durable. Frames of one integration keep their order; nothing is on its way beyond the room for it.
 */
import type { Clock, Random } from '../../model/clock.ts'
import { errorText, isMillraceError, type MillraceError } from '../../model/errors.ts'
import { MessageIds } from '../../engine/device/message-ids.ts'
import { Uploads, type Uploader } from '../../engine/device/uploads.ts'
import type { PublishLink, PublishReceipt } from '../../engine/link/link.ts'
import type { ScriptHost } from '../../engine/script/script.ts'
import type { UsageMeter } from '../../engine/usage/usage.ts'
import type { Integration } from '../entities/integration.ts'
import type { NamedDevices } from '../onboarding/named-devices.ts'
import { Converter, type Converted, type DeviceUpload } from './converter.ts'
import { converterOf } from './converter-configuration.ts'
import type { Frame, FrameReceipt, Inlet } from './define-integration.ts'
import { IntegrationErrors } from './errors.ts'
import type { Report } from '../changes/outbox.ts'
import type { FigureBook, IntegrationFigures } from './figures.ts'
import { FrameRoom } from './frame-room.ts'

export interface IntakeParts {
  readonly link: PublishLink
  readonly devices: Pick<NamedDevices, 'lookUp' | 'find'>
  readonly scripts: ScriptHost
  readonly meter: UsageMeter
  readonly figures: FigureBook
  readonly clock: Clock
  readonly random: Random
  readonly castStrings: boolean
  readonly maxFrameBytes: number
  readonly maxBytes: number
  readonly report: Report
}

const TENANT_PART = 0.25
/** Of a frame beside its payload and metadata. */
const FRAME_BYTES = 512
/** Of an entry of them. */
const METADATA_BYTES = 32
/** Main thread that one integration takes before others have their turn. */
const MAX_TURN_MS = 10

export class Intake {
  readonly parts: IntakeParts
  readonly uploads: Uploads
  readonly room: FrameRoom

  constructor(parts: IntakeParts) {
    this.parts = parts
    this.uploads = new Uploads(parts.link, new MessageIds(parts.random), parts.meter)
    this.room = new FrameRoom(parts.maxBytes, TENANT_PART)
  }

  /** Throws what is wrong with the script. */
  async open(integration: Integration): Promise<OpenedInlet> {
    const { scripts, castStrings, random, clock } = this.parts
    const { tenantId, id, name } = integration
    const converter = await Converter.compile(
      converterOf(integration.converter),
      { tenantId, ownerId: id, ownerName: name },
      { scripts, castStrings, newId: () => random.uuid(), now: () => clock.now() },
    )
    return new OpenedInlet(this, integration, converter)
  }
}

interface Waiting {
  readonly frame: Frame
  readonly bytes: number
  readonly receipt: FrameReceipt
}

export class OpenedInlet implements Inlet {
  readonly maxFrameBytes: number
  private readonly intake: Intake
  private readonly integration: Integration
  private readonly converter: Converter
  private readonly figures: IntegrationFigures
  private waiting: Waiting[] = []
  private isRunning = false
  private isClosed = false
  /** Of the frame that was not taken last. */
  private refusedBytes = 0

  constructor(intake: Intake, integration: Integration, converter: Converter) {
    this.intake = intake
    this.integration = integration
    this.converter = converter
    this.figures = intake.parts.figures.of(integration)
    this.maxFrameBytes = intake.parts.maxFrameBytes
  }

  take(frame: Frame, receipt: FrameReceipt): boolean {
    return this.offer(frame, receipt, true) === undefined
  }

  /** Why it was not taken. Whoever does not wait goes before those who do: he has no turn. */
  offer(frame: Frame, receipt: FrameReceipt, waits = false): MillraceError | undefined {
    if (this.isClosed) return IntegrationErrors.CLOSED()
    const { byteLength } = frame.payload
    const waiting = { frame, receipt, bytes: byteLength + metadataBytes(frame.metadata) + FRAME_BYTES }
    if (byteLength > this.maxFrameBytes) {
      receipt.done(this.tooLarge(byteLength))
      return undefined
    }
    const { room } = this.intake
    const { tenantId } = this.integration
    const full = waits ? room.enterInTurn(tenantId, waiting.bytes) : room.enter(tenantId, waiting.bytes)
    this.refusedBytes = waiting.bytes
    if (full !== undefined) return full === 'tenant' ? IntegrationErrors.TENANT_FULL() : IntegrationErrors.FULL()
    this.figures.received(byteLength)
    this.waiting.push(waiting)
    if (!this.isRunning) void this.run()
    return undefined
  }

  skipped(bytes: number): void {
    this.tooLarge(bytes)
  }

  lost(bytes: number, reason: MillraceError): void {
    this.figures.received(bytes)
    this.figures.failed(reason)
  }

  onRoom(listener: () => void): void {
    this.intake.room.onRoom(this.integration.tenantId, this.refusedBytes, listener)
  }

  /** Takes no more; what was taken goes its way. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    if (!this.isRunning) this.converter.close()
  }

  private async run(): Promise<void> {
    this.isRunning = true
    const { clock } = this.intake.parts
    let turnBegan = clock.monotonic()
    try {
      while (this.waiting.length > 0) {
        const taken = this.waiting
        this.waiting = []
        for (let start = 0; start < taken.length; start += this.converter.batchSize) {
          const batch = taken.slice(start, start + this.converter.batchSize)
          const outcomes = await this.converter.convert(batch.map(({ frame }) => frame))
          for (const [index, each] of batch.entries()) await this.publish(each, outcomes[index] ?? [])
          if (clock.monotonic() - turnBegan < MAX_TURN_MS) continue
          // Scripts that run inline and devices that are known give nobody else a turn.
          await new Promise<void>((resolve) => clock.soon(resolve))
          turnBegan = clock.monotonic()
        }
      }
    } finally {
      this.isRunning = false
      if (this.isClosed) this.converter.close()
    }
  }

  private async publish(each: Waiting, converted: Converted): Promise<void> {
    if (isMillraceError(converted)) return this.failed(each, converted)
    const known: (readonly [Uploader, DeviceUpload])[] = []
    try {
      // All of them first: of a frame that names a device which is not there nothing is stored.
      for (const upload of converted) known.push([await this.deviceOf(upload), upload])
    } catch (error) {
      return this.failed(each, isMillraceError(error) ? error : IntegrationErrors.CLOSED({}, error))
    }
    const receipt = new Parts((failure) => (failure === undefined ? this.stored(each) : this.failed(each, failure)))
    const { uploads, parts } = this.intake
    const at = parts.clock.now()
    for (const [device, { telemetry, attributes }] of known) {
      if (telemetry.length > 0) uploads.telemetry(device, at, telemetry, receipt.part())
      if (attributes.length > 0) uploads.attributes(device, at, attributes, receipt.part())
    }
    receipt.complete()
  }

  private async deviceOf({ deviceName, deviceType }: DeviceUpload): Promise<Uploader> {
    const { tenantId, allowCreateDevices, name } = this.integration
    const { devices } = this.intake.parts
    const making = allowCreateDevices ? { type: deviceType, by: name } : undefined
    const device = devices.lookUp(tenantId, deviceName) ?? (await devices.find(tenantId, deviceName, making))
    if (device === undefined) throw IntegrationErrors.DEVICE_UNKNOWN({ name: deviceName })
    return device
  }

  private stored(each: Waiting): void {
    this.figures.stored()
    this.leave(each)
    this.tell(() => each.receipt.done(undefined))
  }

  /** Acknowledged at the source is only what its sender must change: what else stands in the way passes. */
  private failed(each: Waiting, error: MillraceError): void {
    if (error.kind === 'invalid' || error.kind === 'denied') this.refused(each, error)
    else this.again(each, error)
  }

  private tooLarge(bytes: number): MillraceError {
    const error = IntegrationErrors.FRAME_TOO_LARGE({ bytes, limit: this.maxFrameBytes })
    this.figures.received(bytes)
    this.figures.failed(error)
    return error
  }

  private refused(each: Waiting, error: MillraceError): void {
    this.figures.failed(error)
    this.leave(each)
    this.tell(() => each.receipt.done(error))
  }

  private again(each: Waiting, error: MillraceError): void {
    this.figures.delayed(error)
    this.leave(each)
    this.tell(() => each.receipt.again(error))
  }

  /** A source that can not hear it stands in no other frame's way. */
  private tell(told: () => void): void {
    try {
      told()
    } catch (error) {
      const { id } = this.integration
      this.intake.parts.report('A source did not take what became of its frame', { id, error: errorText(error) })
    }
  }

  private leave({ bytes }: Waiting): void {
    this.intake.room.leave(this.integration.tenantId, bytes)
  }
}

/** About: headers of a record may be longer than what it holds. */
function metadataBytes(metadata: Frame['metadata']): number {
  let bytes = 0
  for (const key in metadata) bytes += METADATA_BYTES + 2 * (key.length + (metadata[key]?.length ?? 0))
  return bytes
}

/** One answer for many messages: after the last, with the first failure; one that passes counts before one that stays. */
class Parts {
  private readonly told: (failure: MillraceError | undefined) => void
  private open = 1
  private failure: MillraceError | undefined

  constructor(told: (failure: MillraceError | undefined) => void) {
    this.told = told
  }

  part(): PublishReceipt {
    this.open++
    return {
      stored: () => this.ended(),
      refused: (error) => {
        if (this.failure === undefined || error.kind === 'retryable') this.failure = error
        this.ended()
      },
    }
  }

  complete(): void {
    this.ended()
  }

  private ended(): void {
    if (--this.open === 0) this.told(this.failure)
  }
}
