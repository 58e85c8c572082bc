/** What people look at and devices load: the declared types, and the rows that are parts of them. */
import type { EntityTable } from '../../storage/entities/tables/entity-table.ts'
import { DASHBOARD_CUSTOMERS } from './dashboard-customers.ts'
import { OTA_UPDATES } from './assigned-packages.ts'
import { dashboards } from './dashboard.ts'
import type { ColumnSet, EntityDefinition } from './define.ts'
import { CONTENT_PIECES } from '../content/stored-bytes.ts'
import {
  NOTIFICATIONS,
  notificationRequests,
  notificationRules,
  notificationTargets,
  notificationTemplates,
} from './notification.ts'
import { NOTIFICATION_SETTINGS } from '../notifications/settings.ts'
import { otaPackages } from './ota-package.ts'
import { tbResources } from './tb-resource.ts'
import { widgetTypes } from './widget-type.ts'
import { BUNDLE_WIDGETS, widgetsBundles } from './widgets-bundle.ts'

const NOTIFYING = [notificationTargets, notificationTemplates, notificationRules, notificationRequests] as const

export const CONTENT: readonly EntityDefinition<ColumnSet>[] = [
  dashboards,
  widgetTypes,
  widgetsBundles,
  otaPackages,
  tbResources,
  ...NOTIFYING,
]

export const CONTENT_PARTS: readonly EntityTable[] = [
  DASHBOARD_CUSTOMERS,
  BUNDLE_WIDGETS,
  CONTENT_PIECES,
  OTA_UPDATES,
  NOTIFICATIONS,
  NOTIFICATION_SETTINGS,
]
