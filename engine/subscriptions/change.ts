/**
 * Committed changes and who listens. Each store numbers its commits, over all processes that write to it; a change has its commit's number,
 * and a snapshot says up to which number it holds all. So a listener that registered before it read drops what the snapshot holds and misses
 * nothing; what it hears beyond the number it may have read already, and is then the same point (docs/internals/subscriptions.md).
 */
import type { EntityId } from '../../model/entity-id.ts'
import type { Attribute, AttributeScope, DataPoint } from '../../model/value.ts'

/** Of the store that holds it; undefined for what was never stored, or may have been: no snapshot is known to hold it. */
export type CommitNumber = number | undefined

export type Change =
  /** New points in the order of their commit. A listener that shows latest values compares times itself. */
  | {
      readonly kind: 'telemetry'
      readonly entity: EntityId
      readonly sequence: CommitNumber
      readonly remote?: true
      readonly points: readonly DataPoint[]
    }
  | {
      readonly kind: 'telemetry-deleted'
      readonly entity: EntityId
      readonly sequence: CommitNumber
      readonly remote?: true
      readonly keys: readonly string[]
    }
  | {
      readonly kind: 'attributes'
      readonly entity: EntityId
      readonly sequence: CommitNumber
      /** Its number among the changes of this process, several of which may share a commit; its snapshots say it too. */
      readonly ownSequence?: number
      readonly remote?: true
      readonly scope: AttributeScope
      readonly attributes: readonly Attribute[]
      /**
       * Who is to hear it: `subscribers` are people's subscriptions, `device` the device whose shared attributes these are, `caches`
       * nobody else. Absent means all. Caches heed every change, whoever it is for.
       */
      readonly audience?: 'all' | 'subscribers' | 'device' | 'caches'
    }
  | {
      readonly kind: 'attributes-deleted'
      readonly entity: EntityId
      readonly sequence: CommitNumber
      readonly ownSequence?: number
      readonly remote?: true
      readonly scope: AttributeScope
      readonly keys: readonly string[]
      /** The device of shared ones is not to hear it. */
      readonly audience?: 'subscribers' | undefined
    }
  /** An alarm that shows on the entity was raised, changed, or (`isDeleted`) is gone; it may not show there any more. */
  | {
      readonly kind: 'alarm'
      readonly entity: EntityId
      readonly tenantId: string
      readonly alarmId: string
      readonly isDeleted: boolean
    }
  /**
   * The device, its profile or its credentials changed: cached identities of it are stale. Of assets, views, customers and profiles of assets the
   * record alone. `hasMoved`: it is another tenant's now.
   */
  | {
      readonly kind: 'device-changed'
      readonly entity: EntityId
      readonly credentialsChanged: boolean
      readonly hasMoved?: true | undefined
    }
  | { readonly kind: 'rule-chain-changed'; readonly entity: EntityId; readonly tenantId: string }
  | { readonly kind: 'queue-changed'; readonly entity: EntityId; readonly tenantId: string }
  | { readonly kind: 'integration-changed'; readonly entity: EntityId; readonly tenantId: string }
  /** Tokens of the user that were made before now are no good any more. */
  | { readonly kind: 'user-tokens-withdrawn'; readonly entity: EntityId }
  /** A user logged out: tokens of the session are refused, and kept in mind until the last of them has expired (Unix ms). */
  | { readonly kind: 'session-ended'; readonly entity: EntityId; readonly sessionId: string; readonly until: number }
  /** Settings of the platform, or what a tenant may use, changed: who keeps some reads them again. */
  | { readonly kind: 'settings-changed'; readonly entity: EntityId }
  /** What is in the inbox of the user changed. */
  | { readonly kind: 'inbox-changed'; readonly entity: EntityId }
  /** Some relation of the tenant, which is the entity, was made, changed or deleted; what goes with a deleted entity is told by that. */
  | { readonly kind: 'relations-changed'; readonly entity: EntityId; readonly tenantId: string }
  | { readonly kind: 'entity-deleted'; readonly entity: EntityId; readonly tenantId: string }

export type ChangeKind = Change['kind']
export type ChangeOf<Kind extends ChangeKind> = Extract<Change, { readonly kind: Kind }>
export type ChangeListener = (change: Change) => void

export interface ChangeFeed {
  publish(change: Change): void
  /** Hears the changes of these kinds of every entity: for caches and for the engine. */
  listenToAll<Kind extends ChangeKind>(kinds: readonly Kind[], listener: (change: ChangeOf<Kind>) => void): () => void
  /** Hears every change of one entity until the returned function is called. Listeners must not throw. */
  listen(entity: EntityId, listener: ChangeListener): () => void
  /**
   * Resolves when every listener registered so far is known wherever changes come from: what is committed after that is heard. At once
   * where one process does everything. Who reads a snapshot to follow it up awaits this between registering and reading. Where another process
   * does not answer in time it resolves all the same, and `onGap` tells when that process has learnt of the listener.
   */
  settled(): Promise<void>
  /**
   * Calls back where changes of other processes may have been missed, with the Unix ms since which, by this process's clock: caches forget,
   * subscriptions read again.
   */
  onGap(listener: (since: number) => void): () => void
  /** Whether anybody would hear a change of this kind: publishers skip the work where nobody does. */
  hasListeners(entity: EntityId, kind: ChangeKind): boolean
}
