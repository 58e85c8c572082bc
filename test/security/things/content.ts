import { dashboards } from '../../../services/entities/dashboard.ts'
import { isJsonObject } from '../../../model/json.ts'
import {
  notificationRules,
  notificationTargets,
  notificationTemplates,
} from '../../../services/entities/notification.ts'
import { otaPackages } from '../../../services/entities/ota-package.ts'
import { widgetTypes } from '../../../services/entities/widget-type.ts'
import { widgetsBundles } from '../../../services/entities/widgets-bundle.ts'
import type { MakeThings } from './make-things.ts'

export const makeContent: MakeThings = async ({ services, tenant }) => {
  const { content, declared, notifications } = services
  const dashboard = await declared.of(dashboards).saveByUser(tenant, { title: 'secret dashboard' })
  const draft = { name: 'secret widget', fqn: 'secret_widget', descriptor: { type: 'latest' } }
  const type = await declared.of(widgetTypes).saveByUser(tenant, draft)
  const bundle = await declared.of(widgetsBundles).saveByUser(tenant, { title: 'secret bundle' })
  await content.widgets.setContent(tenant, bundle.id, [type.id])
  const draftOfPackage = { type: 'FIRMWARE', title: 'secret firmware', packageVersion: '1' }
  const made = await declared.of(otaPackages).saveByUser(tenant, draftOfPackage)
  const file = { fileName: 'secret.bin', contentType: 'text/plain', bytes: Buffer.from('secret bytes') }
  const otaPackage = await content.otaPackages.upload(tenant, made.id, 'MD5', undefined, file)
  const target = await declared.of(notificationTargets).saveByUser(tenant, {
    name: 'secret target',
    configuration: { type: 'PLATFORM_USERS', usersFilter: { type: 'USER_LIST', usersIds: [tenant.userId] } },
  })
  const template = await declared.of(notificationTemplates).saveByUser(tenant, {
    name: 'secret template',
    configuration: { deliveryMethodsTemplates: { WEB: { enabled: true, subject: 'secret', body: 'secret' } } },
  })
  const request = await notifications.send(tenant, { targets: [target.id], templateId: template.id })
  await notifications.settled()
  const rule = await declared.of(notificationRules).saveByUser(tenant, {
    name: 'secret rule',
    templateId: template.id,
    triggerType: 'ENTITY_ACTION',
    triggerConfig: { entityTypes: ['EDGE'], created: true },
    recipientsConfig: { targets: [target.id] },
  })
  const page = await notifications.inbox.page(tenant, false, { page: 0, pageSize: 1 })
  const notification = page.data[0]?.['id']
  const notificationId = isJsonObject(notification) ? notification['id'] : undefined
  return {
    notificationTargetId: target.id,
    notificationTemplateId: template.id,
    notificationRequestId: request.id,
    notificationRuleId: rule.id,
    notificationId: typeof notificationId === 'string' ? notificationId : '',
    type: 'FIRMWARE',
    otaPackageId: otaPackage.id,
    dashboardId: dashboard.id,
    widgetTypeId: type.id,
    widgetsBundleId: bundle.id,
  }
}
