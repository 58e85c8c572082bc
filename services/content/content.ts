/** What people look at and devices load: dashboards, widgets, files. */
import { Dashboards, type DashboardsParts } from './dashboards.ts'
import { Widgets, type WidgetsParts } from './widgets.ts'

export interface ContentServices {
  readonly dashboards: Dashboards
  readonly widgets: Widgets
}

export type ContentParts = DashboardsParts & WidgetsParts

export function createContent(parts: ContentParts): ContentServices {
  return { dashboards: new Dashboards(parts), widgets: new Widgets(parts) }
}
