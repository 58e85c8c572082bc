/** What reaches a device's session actor, in the order in which it is handled. */
import type { Attribute, Entry } from '../../model/value.ts'
import type { PublishReceipt } from '../link/link.ts'
import type {
  AttributeAnswer,
  AttributeRequest,
  DeviceSessionListener,
  SessionEnd,
  SharedAttributesUpdate,
  UploadGroup,
  UploadedScope,
} from './gateway.ts'

/** A session as its actor knows it. */
export interface SessionHandle {
  /** Unique in its process. */
  readonly id: number
  /** Unix ms. */
  readonly openedAt: number
  /** The device may be another, or say something else. */
  refreshed(): void
  /** The platform ends it. */
  end(reason: SessionEnd): void
  tell(update: Parameters<DeviceSessionListener['sharedAttributesChanged']>[0]): void
}

export type SessionEvent =
  | { readonly kind: 'opened' | 'closed' | 'subscribed' | 'unsubscribed'; readonly session: SessionHandle }
  /** A session without a connection begins and ends to wait for calls. */
  | { readonly kind: 'waits' | 'waits-no-more'; readonly session: SessionHandle }
  /** `at`: when it arrived, Unix ms. */
  | {
      readonly kind: 'telemetry'
      readonly session: SessionHandle
      readonly at: number
      readonly groups: readonly UploadGroup[]
      readonly receipt: PublishReceipt
    }
  | {
      readonly kind: 'attributes'
      readonly session: SessionHandle
      readonly at: number
      readonly entries: readonly Entry[]
      readonly scope: UploadedScope | undefined
      readonly receipt: PublishReceipt
    }
  | {
      readonly kind: 'request'
      readonly session: SessionHandle
      readonly request: AttributeRequest
      /** Called once, with the answer on its way. */
      readonly answer: (answer: Promise<AttributeAnswer>) => void
    }
  | { readonly kind: 'shared-attributes'; readonly update: SharedAttributesUpdate }
  /** The record has another identity. */
  | { readonly kind: 'refreshed' }
  /** Changes of shared attributes since then (Unix ms) may not have been told. */
  | { readonly kind: 'attributes-missed'; readonly since: number }
  | { readonly kind: 'attributes-read'; readonly attributes: readonly Attribute[] | undefined }
  /** What could not be read is read again. */
  | { readonly kind: 'retry' }
  /** The platform ends every session of the device here; only the one with this id where it is given. */
  | { readonly kind: 'end'; readonly reason: SessionEnd; readonly sessionId?: number }
