/** Bodies in blocks (RFC 7959): requests put together, answers cut into pieces. */
import type { Clock } from '../../model/clock.ts'
import { TenantShares } from '../tenant-shares.ts'
import { MessageErrors } from './errors.ts'
import { Expiring } from './expiring.ts'
import type { MessageLimits } from './limits.ts'
import { MAX_BLOCK_NUMBER, type BlockOption, type CoapResponse } from './message.ts'

interface Upload {
  readonly tenantId: string
  /** Doubled as it fills: pieces of their own would hold more than their bytes. */
  body: Buffer
  bytes: number
}

const NOTHING = Buffer.alloc(0)
const FIRST_BYTES = 1024
/** Of who asks to be provisioned. */
export const NO_TENANT = ''

export interface KeptAnswer {
  readonly tenantId: string
  readonly response: CoapResponse
}

export class BlockUploads {
  private readonly limits: MessageLimits
  private readonly shares: TenantShares
  /** Those who have no tenant yet. */
  private readonly strangers: TenantShares
  private readonly uploads: Expiring<Upload>

  constructor(limits: MessageLimits, clock: Clock, shares: TenantShares) {
    this.limits = limits
    this.shares = shares
    this.strangers = new TenantShares(limits.maxStrangerTransfers, limits.maxStrangerTransfers)
    this.uploads = new Expiring(clock, limits.blockTimeoutMs, ({ tenantId }) => this.sharesOf(tenantId).give(tenantId))
  }

  get count(): number {
    return this.uploads.size
  }

  /** The whole body with its last block, undefined before. `key`: who sends it where to. Throws TOO_LARGE, BLOCK_MISSING, BAD_BLOCK, BUSY. */
  add(key: string, tenantId: string, { number, isMore, size }: BlockOption, payload: Buffer): Buffer | undefined {
    if (payload.length > size || (isMore && payload.length < size)) throw MessageErrors.BAD_BLOCK()
    if (number === 0) this.begin(key, tenantId)
    const upload = this.uploads.touch(key)
    if (upload === undefined || number * size !== upload.bytes) {
      this.uploads.end(key)
      throw MessageErrors.BLOCK_MISSING({ wanted: Math.floor((upload?.bytes ?? 0) / size) })
    }
    const { maxPayloadBytes } = this.limits
    if (upload.bytes + payload.length > maxPayloadBytes) {
      this.uploads.end(key)
      throw MessageErrors.TOO_LARGE({ limit: maxPayloadBytes })
    }
    append(upload, payload, maxPayloadBytes)
    if (isMore) return undefined
    this.uploads.end(key)
    return upload.body.subarray(0, upload.bytes)
  }

  close(): void {
    this.uploads.close()
  }

  private begin(key: string, tenantId: string): void {
    this.uploads.end(key)
    if (!this.sharesOf(tenantId).take(tenantId)) throw MessageErrors.BUSY()
    this.uploads.add(key, { tenantId, body: NOTHING, bytes: 0 })
  }

  private sharesOf(tenantId: string): TenantShares {
    return tenantId === NO_TENANT ? this.strangers : this.shares
  }
}

/** Answers that a client reads block by block: all blocks are of one answer, though values change meanwhile. */
export class BlockAnswers {
  private readonly limits: MessageLimits
  private readonly shares: TenantShares
  private readonly answers: Expiring<KeptAnswer>

  constructor(limits: MessageLimits, clock: Clock, shares: TenantShares) {
    this.limits = limits
    this.shares = shares
    this.answers = new Expiring(clock, limits.blockTimeoutMs, ({ tenantId }) => shares.give(tenantId))
  }

  get count(): number {
    return this.answers.size
  }

  /** Where there is no room it is made anew for each block. */
  keep(key: string, answer: KeptAnswer): void {
    this.answers.end(key)
    const bytes = answer.response.payload?.length ?? 0
    if (bytes > this.limits.maxPayloadBytes || !this.shares.take(answer.tenantId)) return
    this.answers.add(key, answer)
  }

  find(key: string): KeptAnswer | undefined {
    return this.answers.touch(key)
  }

  /** The last block was sent, or the answer is another. */
  forget(key: string): void {
    this.answers.end(key)
  }

  close(): void {
    this.answers.close()
  }
}

/** The block that was asked for, or the first where the payload does not fit. Throws BAD_BLOCK behind the end. */
export function blockOf(response: CoapResponse, asked: BlockOption | undefined, blockBytes: number): CoapResponse {
  const { payload } = response
  if (response.block2 !== undefined || payload === undefined) return response
  if (asked === undefined && payload.length <= blockBytes) return response
  const size = Math.min(asked?.size ?? blockBytes, blockBytes)
  const offset = (asked?.number ?? 0) * (asked?.size ?? size)
  const number = offset / size
  if ((offset > 0 && offset >= payload.length) || number > MAX_BLOCK_NUMBER) throw MessageErrors.BAD_BLOCK()
  const end = offset + size
  return {
    ...response,
    payload: payload.subarray(offset, end),
    block2: { number, isMore: end < payload.length, size },
  }
}

function append(upload: Upload, payload: Buffer, maxBytes: number): void {
  const needed = upload.bytes + payload.length
  if (needed > upload.body.length) {
    const larger = Buffer.allocUnsafeSlow(
      Math.max(needed, Math.min(maxBytes, Math.max(FIRST_BYTES, upload.body.length * 2))),
    )
    upload.body.copy(larger, 0, 0, upload.bytes)
    upload.body = larger
  }
  payload.copy(upload.body, upload.bytes)
  upload.bytes = needed
}
