/** Notifications to the tenant's targets. */
import type { EntityId } from '../../../model/entity-id.ts'

export interface NodeNotificationRequest {
  /** Of the message at the node: it asks once, however often it is delivered. */
  readonly visit: string
  readonly templateId: string
  readonly targetIds: readonly string[]
  readonly originator: EntityId
  readonly customerId: string | null
  readonly messageType: string
  /** What the template's placeholders stand for. */
  readonly values: Readonly<Record<string, string>>
}

export interface NodeNotifications {
  /** Resolves when the request is stored; who gets it and how is the platform's. Throws where the tenant has no such template or target. */
  send(request: NodeNotificationRequest): Promise<void>
  /** Of the Slack application in the tenant's notification settings as they are now; undefined where there is none. A secret. */
  slackToken(): Promise<string | undefined>
}
