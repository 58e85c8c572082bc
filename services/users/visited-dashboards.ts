/** Which dashboards a user visited last, and which have a star (`rest-api.md` 12.3). Titles are those of now. */
import { z } from 'zod'
import type { Clock } from '../../model/clock.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { dashboards } from '../entities/dashboard.ts'
import type { EntityReads } from '../entities/define.ts'
import type { UserSettings } from './user-settings.ts'

const MAX_LAST = 10
const MAX_STARRED = 10
export const DASHBOARD_ACTIONS = ['VISIT', 'STAR', 'UNSTAR'] as const
export type DashboardAction = (typeof DASHBOARD_ACTIONS)[number]

const kept = z.object({
  last: z.array(z.object({ id: z.string(), lastVisited: z.number() })).default([]),
  starred: z.array(z.object({ id: z.string(), starredAt: z.number() })).default([]),
})
type Kept = z.infer<typeof kept>

export interface VisitedDashboardsParts {
  readonly settings: UserSettings
  readonly dashboards: Pick<EntityReads<typeof dashboards.columns>, 'find'>
  readonly access: { check(principal: Principal, operation: 'READ', entity: EntityId): Promise<void> }
  readonly clock: Clock
}

export class VisitedDashboards {
  private readonly parts: VisitedDashboardsParts

  constructor(parts: VisitedDashboardsParts) {
    this.parts = parts
  }

  async list(principal: Principal): Promise<JsonObject> {
    return this.shown(principal, await this.parts.settings.find(principal, 'VISITED_DASHBOARDS'))
  }

  async report(principal: Principal, dashboardId: string, action: DashboardAction): Promise<JsonObject> {
    const now = this.parts.clock.now()
    const settings = await this.parts.settings.change(principal, 'VISITED_DASHBOARDS', (before) =>
      jsonOf(after(kept.parse(before), dashboardId, action, now)),
    )
    return this.shown(principal, settings)
  }

  /** Without those that are gone, or that the user may not see any more. */
  private async shown(principal: Principal, settings: JsonObject): Promise<JsonObject> {
    const { last, starred } = kept.parse(settings)
    const titles = await this.titles(
      principal,
      [...last, ...starred].map(({ id }) => id),
    )
    return {
      last: last.flatMap(({ id, lastVisited }) => {
        const title = titles.get(id)
        if (title === undefined) return []
        return [{ id, title, starred: starred.some((other) => other.id === id), lastVisited }]
      }),
      starred: starred.flatMap(({ id, starredAt }) => {
        const title = titles.get(id)
        return title === undefined ? [] : [{ id, title, starredAt }]
      }),
    }
  }

  private async titles(principal: Principal, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const titles = new Map<string, string>()
    for (const id of new Set(ids)) {
      if (!(await this.mayRead(principal, id))) continue
      const dashboard = await this.parts.dashboards.find(principal.tenantId ?? '', id)
      if (dashboard !== undefined) titles.set(id, dashboard.title)
    }
    return titles
  }

  private async mayRead(principal: Principal, id: string): Promise<boolean> {
    try {
      await this.parts.access.check(principal, 'READ', entityId('DASHBOARD', id))
      return true
    } catch (error) {
      if (isMillraceError(error) && (error.status === 403 || error.status === 404)) return false
      throw error
    }
  }
}

function after({ last, starred }: Kept, id: string, action: DashboardAction, now: number): Kept {
  const others = { last: last.filter((one) => one.id !== id), starred: starred.filter((one) => one.id !== id) }
  switch (action) {
    case 'VISIT':
      return { last: [{ id, lastVisited: now }, ...others.last].slice(0, MAX_LAST), starred }
    case 'STAR':
      return { last, starred: [{ id, starredAt: now }, ...others.starred].slice(0, MAX_STARRED) }
    case 'UNSTAR':
      return { last, starred: others.starred }
  }
}

function jsonOf({ last, starred }: Kept): JsonObject {
  return { last: last.map((one) => ({ ...one })), starred: starred.map((one) => ({ ...one })) }
}
