/**
 * Firmware and software of one connection (`device-api.md` 10): parts are read one after the other, the next once the one before has left
 * the process, so that a client which does not read costs the memory of one part. Nothing of it exists until a device asks.
 */
import { isMillraceError } from '../../model/errors.ts'
import type { DeviceGateway, DeviceIdentity, PackagePart, PublishReceipt } from '../../engine/device/gateway.ts'
import type { PackageTopic } from './topics.ts'

/** What the error topic says. */
export type PackageFailure = 'NOT_FOUND' | 'FAILURE' | 'PAYLOAD_TOO_LARGE'

/** The connection, as its downloads see it. */
export interface PackageTaker {
  /** False once the connection is closed: nothing more is read for it. */
  readonly isOpen: boolean
  /** Sends a part; `written` is told once its bytes have left the process or have nobody to go to. */
  send(asked: AskedPart, bytes: Buffer, written: () => void): void
  failed(asked: AskedPart, failure: PackageFailure): void
}

export interface PackageLimits {
  /** Bytes of a part that a device may ask for. */
  readonly maxPartBytes: number
  /** Bytes of a package that is sent in one piece. */
  readonly maxWholeBytes: number
  /** Requests that wait for the one before. */
  readonly maxWaiting: number
}

export interface AskedPart {
  readonly topic: PackageTopic
  readonly device: DeviceIdentity
  /** Undefined: the size that this request number had before, or all. */
  readonly size: number | undefined
  readonly receipt: PublishReceipt
}

/** What is known of a request number: its later parts are of the same size and the same package. */
interface Download {
  readonly size: number
  readonly packageId: string
}

/** A device has one or two downloads under way; the oldest request number makes room. */
const MAX_DOWNLOADS = 8
const NOT_FOUND_STATUS = 404
/** It is, at a URL. */
const ELSEWHERE = 'device.PACKAGE_ELSEWHERE'

export class PackageDownloads {
  private readonly source: Pick<DeviceGateway, 'downloadPackage'>
  private readonly taker: PackageTaker
  private readonly limits: PackageLimits
  private readonly downloads = new Map<string, Download>()
  private readonly waiting: AskedPart[] = []
  private isBusy = false

  constructor(source: Pick<DeviceGateway, 'downloadPackage'>, taker: PackageTaker, limits: PackageLimits) {
    this.source = source
    this.taker = taker
    this.limits = limits
  }

  /** False where too many requests wait. */
  ask(asked: AskedPart): boolean {
    if (this.waiting.length >= this.limits.maxWaiting) return false
    this.waiting.push(asked)
    this.next()
    return true
  }

  private next(): void {
    if (this.isBusy) return
    const asked = this.waiting.shift()
    if (asked === undefined) return
    if (!this.taker.isOpen) {
      this.waiting.length = 0
      return
    }
    this.isBusy = true
    this.serve(asked)
  }

  private readonly done = (): void => {
    this.isBusy = false
    this.next()
  }

  private serve(asked: AskedPart): void {
    const { maxPartBytes, maxWholeBytes } = this.limits
    const { topic, device } = asked
    const key = `${topic.package} ${topic.requestId}`
    const known = this.downloads.get(key)
    const size = asked.size ?? known?.size ?? 0
    if (size > maxPartBytes) return this.fail(asked, 'PAYLOAD_TOO_LARGE')
    // With its first part a download begins anew, perhaps of another package.
    const pinned = topic.chunk === 0 ? undefined : known
    const named = { kind: topic.package, packageId: pinned?.packageId, title: undefined, version: undefined }
    const part = size === 0 ? { size: maxWholeBytes, chunk: 0 } : { size, chunk: topic.chunk }
    this.source.downloadPackage(device, { ...named, ...part }).then(
      (found) => {
        if (size === 0 && found.wholeBytes > maxWholeBytes) {
          found.release()
          return this.fail(asked, 'PAYLOAD_TOO_LARGE')
        }
        this.remember(key, { size, packageId: found.packageId })
        this.deliver(asked, found)
      },
      (error: unknown) => this.fail(asked, failureOf(error)),
    )
  }

  private deliver(asked: AskedPart, { bytes, release }: PackagePart): void {
    const written = (): void => {
      release()
      this.done()
    }
    if (this.taker.isOpen) this.taker.send(asked, bytes, written)
    else written()
  }

  private fail(asked: AskedPart, failure: PackageFailure): void {
    if (this.taker.isOpen) this.taker.failed(asked, failure)
    this.done()
  }

  private remember(key: string, download: Download): void {
    this.downloads.delete(key)
    this.downloads.set(key, download)
    for (const oldest of this.downloads.keys()) {
      if (this.downloads.size <= MAX_DOWNLOADS) return
      this.downloads.delete(oldest)
    }
  }
}

function failureOf(error: unknown): PackageFailure {
  const isNotFound = isMillraceError(error) && error.status === NOT_FOUND_STATUS && error.code !== ELSEWHERE
  return isNotFound ? 'NOT_FOUND' : 'FAILURE'
}
