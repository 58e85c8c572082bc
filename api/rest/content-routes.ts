/** Dashboards, widgets and files: one line a resource. */
import { dashboardRoutes, type DashboardRoutesParts } from './dashboard-routes.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { lwm2mRoutes } from './lwm2m-routes.ts'
import { notificationRoutes, type NotificationRoutesParts } from './notification-routes.ts'
import { otaPackageRoutes, type OtaRoutesParts } from './ota-package-routes.ts'
import { imageRoutes, type ImageRoutesParts } from './image-routes.ts'
import { resourceRoutes, type ResourceRoutesParts } from './resource-routes.ts'
import { widgetRoutes, type WidgetRoutesParts } from './widget-routes.ts'

export type ContentRoutesParts = DashboardRoutesParts &
  WidgetRoutesParts &
  OtaRoutesParts &
  NotificationRoutesParts &
  ImageRoutesParts &
  ResourceRoutesParts

export function contentRoutes(parts: ContentRoutesParts): readonly DeclaredRoute[] {
  return [
    ...dashboardRoutes(parts),
    ...widgetRoutes(parts),
    ...otaPackageRoutes(parts),
    ...notificationRoutes(parts),
    ...imageRoutes(parts),
    ...resourceRoutes(parts),
    ...lwm2mRoutes(parts),
  ]
}
