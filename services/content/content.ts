/** What people look at and devices load: dashboards, widgets, files. */
import { Dashboards, type DashboardsParts } from './dashboards.ts'

export interface ContentServices {
  readonly dashboards: Dashboards
}

export type ContentParts = DashboardsParts

export function createContent(parts: ContentParts): ContentServices {
  return { dashboards: new Dashboards(parts) }
}
