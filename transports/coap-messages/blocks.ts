/** Bodies in blocks (RFC 7959): requests put together, answers cut into pieces. */
import type { Clock } from '../../model/clock.ts'
import { GatheredBytes } from '../../model/gathered-bytes.ts'
import { TenantShares } from '../tenant-shares.ts'
import { MessageErrors } from './errors.ts'
import { Expiring } from './expiring.ts'
import type { MessageLimits } from './limits.ts'
import { MAX_BLOCK_NUMBER, type BlockOption, type CoapResponse } from './message.ts'

/** Who sends a body in blocks. */
export interface BlockSender {
  readonly tenantId: string
  readonly address: string
}

interface Upload extends BlockSender {
  readonly key: string
  /** Pieces of their own would hold more than their bytes. */
  readonly body: GatheredBytes
}

const NOTHING = Buffer.alloc(0)
/** Of who asks to be provisioned. */
export const NO_TENANT = ''
/** Of what strangers have together. */
const SHARE_OF_ADDRESS = 0.1

export interface KeptAnswer {
  readonly tenantId: string
  readonly response: CoapResponse
}

export class BlockUploads {
  private readonly limits: MessageLimits
  private readonly shares: TenantShares
  /** Those who have no tenant yet, the oldest first. */
  private readonly strangers = new Set<string>()
  /** Of them, by address. */
  private readonly addresses: TenantShares
  private readonly uploads: Expiring<Upload>

  constructor(limits: MessageLimits, clock: Clock, shares: TenantShares) {
    this.limits = limits
    this.shares = shares
    this.addresses = new TenantShares(Infinity, Math.max(1, Math.floor(limits.maxStrangerTransfers * SHARE_OF_ADDRESS)))
    this.uploads = new Expiring(clock, limits.blockTimeoutMs, (upload) => this.release(upload))
  }

  get count(): number {
    return this.uploads.size
  }

  /** The whole body with its last block, undefined before. `key`: who sends it where to. Throws TOO_LARGE, BLOCK_MISSING, BAD_BLOCK, BUSY. */
  add(key: string, sender: BlockSender, { number, isMore, size }: BlockOption, payload: Buffer): Buffer | undefined {
    if (payload.length > size || (isMore && payload.length < size)) throw MessageErrors.BAD_BLOCK()
    if (number === 0) this.begin(key, sender)
    const body = this.uploads.touch(key)?.body
    const offset = body?.bytes.length ?? 0
    if (body === undefined || number * size !== offset) {
      this.uploads.end(key)
      throw MessageErrors.BLOCK_MISSING({ wanted: Math.floor(offset / size) })
    }
    const { maxPayloadBytes } = this.limits
    if (offset + payload.length > maxPayloadBytes) {
      this.uploads.end(key)
      throw MessageErrors.TOO_LARGE({ limit: maxPayloadBytes })
    }
    body.add(payload)
    if (isMore) return undefined
    this.uploads.end(key)
    return body.bytes
  }

  close(): void {
    this.uploads.close()
  }

  private begin(key: string, { tenantId, address }: BlockSender): void {
    this.uploads.end(key)
    if (tenantId === NO_TENANT) this.admitStranger(key, address)
    else if (!this.shares.take(tenantId)) throw MessageErrors.BUSY()
    const body = new GatheredBytes(NOTHING, this.limits.maxPayloadBytes)
    this.uploads.add(key, { key, tenantId, address, body })
  }

  /** An address has its share and no more. Where all places are taken the oldest gives way: a device is done within a few round trips. */
  private admitStranger(key: string, address: string): void {
    if (!this.addresses.take(address)) throw MessageErrors.BUSY()
    const [oldest] = this.strangers
    if (oldest !== undefined && this.strangers.size >= this.limits.maxStrangerTransfers) this.uploads.end(oldest)
    this.strangers.add(key)
  }

  private release({ key, tenantId, address }: Upload): void {
    if (tenantId !== NO_TENANT) return this.shares.give(tenantId)
    this.strangers.delete(key)
    this.addresses.give(address)
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
