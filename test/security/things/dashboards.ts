import { dashboards } from '../../../services/entities/dashboard.ts'
import type { MakeThings } from './make-things.ts'

export const makeDashboards: MakeThings = async ({ services, tenant }) => {
  const dashboard = await services.declared.of(dashboards).saveByUser(tenant, { title: 'secret dashboard' })
  return { dashboardId: dashboard.id }
}
