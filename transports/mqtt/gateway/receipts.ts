/**
 * The one answer to a publish that concerns many devices: told after the last of them is stored or refused, and then for the worst.
 * Acknowledged is durable: a v3 client, which has no word for a refusal, is cut off where it is to send again. Source: `device-api.md` 4.3.
 */
import type { MillraceError } from '../../../model/errors.ts'
import type { PublishReceipt } from '../../../engine/device/gateway.ts'
import { Acknowledgement } from '../acknowledgements.ts'
import type { MqttConnection } from '../connection.ts'
import { settle, undecodable } from '../handlers/settle.ts'
import { push } from '../handlers/push.ts'
import { Reason, type ReasonCode } from '../reason-codes.ts'

/** In the order of what is worse. */
const UNDECODABLE = 1
const UNMADE = 2
const LOST = 3

type TellDropped = (session: MqttConnection, device: string, reason: ReasonCode) => void

export class PublishParts {
  readonly session: MqttConnection
  readonly receipt: PublishReceipt
  private open: number
  private harm = 0
  private reason: ReasonCode = Reason.SUCCESS

  private readonly tellDropped: TellDropped | undefined

  /** `tellDropped`: before the connection ends, of a device whose part is lost. */
  constructor(session: MqttConnection, receipt: PublishReceipt, parts: number, tellDropped?: TellDropped) {
    this.session = session
    this.receipt = receipt
    this.open = parts
    this.tellDropped = tellDropped
  }

  stored(): void {
    if (--this.open === 0) this.answer()
  }

  refused(device: string, error: MillraceError): void {
    const { harm, reason } = judged(error)
    if (harm > this.harm) {
      this.harm = harm
      this.reason = reason
    }
    if (harm !== UNDECODABLE) this.session.host.counts.refused++
    else if (!this.isAwaited) this.session.host.counts.undecodable++
    if (harm === LOST && this.isAwaited) this.tellDropped?.(this.session, device, reason)
    this.stored()
  }

  /** Of QoS 0 nobody waits for an answer: what is refused is dropped, and the connection stays. */
  private get isAwaited(): boolean {
    return this.receipt instanceof Acknowledgement
  }

  private answer(): void {
    const { session, receipt, reason, harm } = this
    if (harm === 0) return receipt.stored()
    if (!this.isAwaited) return
    if (harm === UNDECODABLE) return undecodable(session, receipt)
    if (harm === UNMADE) return settle(receipt, reason)
    if (session.version === 5) {
      settle(receipt, reason)
      session.flush()
    }
    session.close(undefined)
  }
}

export function tellDropped(session: MqttConnection, device: string, reason: ReasonCode): void {
  if (session.version !== 5) return
  const told = JSON.stringify({ device, reason: DROPPED[reason] ?? DROPPED_OTHERWISE })
  push(session, 'v1/gateway/disconnect', told, 1)
}

/** What the push of a dropped device says: message rate too high, or unspecified. */
const DROPPED: Readonly<Record<number, number>> = { [Reason.QUOTA_EXCEEDED]: 0x96 }
const DROPPED_OTHERWISE = 0x80

/** One device's part. */
export class PartReceipt implements PublishReceipt {
  private readonly whole: PublishParts
  private readonly device: string

  constructor(whole: PublishParts, device: string) {
    this.whole = whole
    this.device = device
  }

  stored(): void {
    this.whole.stored()
  }

  refused(error: MillraceError): void {
    this.whole.refused(this.device, error)
  }
}

function judged(error: MillraceError): { readonly harm: number; readonly reason: ReasonCode } {
  switch (error.code) {
    case 'device.CHILD_LIMIT':
    case 'gateway.TOO_MANY_CHILDREN':
    case 'sparkplug.TOO_MUCH_BORN':
      return { harm: UNMADE, reason: Reason.QUOTA_EXCEEDED }
    case 'device.CHILD_REFUSED':
      return { harm: UNMADE, reason: Reason.UNSPECIFIED_ERROR }
    case 'device.USAGE_LIMIT':
    case 'device.RATE_LIMIT':
      return { harm: LOST, reason: Reason.QUOTA_EXCEEDED }
    default:
      return error.kind === 'invalid'
        ? { harm: UNDECODABLE, reason: Reason.PAYLOAD_FORMAT_INVALID }
        : { harm: LOST, reason: Reason.UNSPECIFIED_ERROR }
  }
}
