import type { Services } from '../../services/services.ts'

/** What this room needs of the platform: it only reads, but for what a user has read of the own inbox. */
export interface ReadServices {
  readonly telemetry: Pick<Services['telemetry'], 'history' | 'latest'>
  readonly attributes: Pick<Services['attributes'], 'find'>
  readonly entityQueries: Pick<Services['entityQueries'], 'count' | 'find' | 'values'>
  readonly alarms: Pick<Services['alarms'], 'hasActive'>
  readonly alarmQueries: Pick<Services['alarmQueries'], 'entitiesOf' | 'pageOf' | 'countOf'>
  readonly notifications: {
    readonly inbox: Pick<Services['notifications']['inbox'], 'page' | 'unreadCount' | 'markManyRead' | 'markAllRead'>
  }
  readonly access: Pick<Services['access'], 'check'>
}
