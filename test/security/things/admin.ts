/** Settings that the system administrator alone reads. */
import type { MakeThings } from './make-things.ts'

export const makeAdminSettings: MakeThings = async ({ services, systemAdministrator }) => {
  await services.admin.save(systemAdministrator, 'secret-settings', { password: 'secret password of the system' })
  return { settingsKey: 'secret-settings' }
}
