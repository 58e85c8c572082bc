/* Generated from the API description by `npm run docs`: change the declarations, not this file. */
import { Caller, type CallOptions, type Given } from './caller.ts'
import type * as Api from './types.ts'

export abstract class Operations extends Caller {
  /** Takes a second factor away. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  delete2faAccountConfig(
    given: { readonly providerType: 'TOTP' | 'SMS' | 'EMAIL' | 'BACKUP_CODE' },
    options?: CallOptions,
  ): Promise<Api.Delete2faAccountConfigAnswer> {
    return this.call({ method: 'DELETE', path: '/api/2fa/account/config', query: ['providerType'] }, given, options)
  }

  /** Gives back the space that a backup takes. For SYS_ADMIN. */
  deleteAdminBackupByBackupId(given: { readonly backupId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/admin/backup/{backupId}' }, given, options)
  }

  /** Deletes an AI model. Nodes that ask it fail from then on. For TENANT_ADMIN. */
  deleteAiModelByModelUuid(given: { readonly modelUuid: string }, options?: CallOptions): Promise<boolean> {
    return this.call({ method: 'DELETE', path: '/api/ai/model/{modelUuid}' }, given, options)
  }

  /** Deletes an alarm with its comments. For TENANT_ADMIN, CUSTOMER_USER. */
  deleteAlarmByAlarmId(given: { readonly alarmId: string }, options?: CallOptions): Promise<boolean> {
    return this.call({ method: 'DELETE', path: '/api/alarm/{alarmId}' }, given, options)
  }

  /** Takes the alarm from the user who has it. For TENANT_ADMIN, CUSTOMER_USER. */
  deleteAlarmByAlarmIdAssign(
    given: { readonly alarmId: string },
    options?: CallOptions,
  ): Promise<Api.DeleteAlarmByAlarmIdAssignAnswer> {
    return this.call({ method: 'DELETE', path: '/api/alarm/{alarmId}/assign' }, given, options)
  }

  /** Takes back what was said: a note stays that it was. For TENANT_ADMIN, CUSTOMER_USER. */
  deleteAlarmByAlarmIdCommentByCommentId(
    given: { readonly alarmId: string; readonly commentId: string },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/alarm/{alarmId}/comment/{commentId}' }, given, options)
  }

  /** Deletes an alarm rule; the alarms that it raised stay. For TENANT_ADMIN. */
  deleteAlarmRuleByAlarmRuleId(given: { readonly alarmRuleId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/alarm/rule/{alarmRuleId}' }, given, options)
  }

  /** Deletes a key. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  deleteApiKeyByApiKeyId(given: { readonly apiKeyId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/apiKey/{apiKeyId}' }, given, options)
  }

  /** Deletes a asset with all that is kept about it. For TENANT_ADMIN. */
  deleteAssetByAssetId(given: { readonly assetId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/asset/{assetId}' }, given, options)
  }

  /** Deletes a asset profile with all that is kept about it. For TENANT_ADMIN. */
  deleteAssetProfileByAssetProfileId(given: { readonly assetProfileId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/assetProfile/{assetProfileId}' }, given, options)
  }

  /** Forgets how far the import of a file has come: the next one begins at its start. For TENANT_ADMIN. */
  deleteBulkImport(given: { readonly name: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/bulkImport', query: ['name'] }, given, options)
  }

  /** Deletes a calculated field. For TENANT_ADMIN. */
  deleteCalculatedFieldByCalculatedFieldId(
    given: { readonly calculatedFieldId: string },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/calculatedField/{calculatedFieldId}' }, given, options)
  }

  /** Takes the asset from its customer. For TENANT_ADMIN. */
  deleteCustomerAssetByAssetId(given: { readonly assetId: string }, options?: CallOptions): Promise<Api.Asset> {
    return this.call({ method: 'DELETE', path: '/api/customer/asset/{assetId}' }, given, options)
  }

  /** Deletes a customer with all that is kept about it. For TENANT_ADMIN. */
  deleteCustomerByCustomerId(given: { readonly customerId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/customer/{customerId}' }, given, options)
  }

  /** Takes the dashboard from a customer. For TENANT_ADMIN. */
  deleteCustomerByCustomerIdDashboardByDashboardId(
    given: { readonly customerId: string; readonly dashboardId: string },
    options?: CallOptions,
  ): Promise<Api.Dashboard> {
    return this.call({ method: 'DELETE', path: '/api/customer/{customerId}/dashboard/{dashboardId}' }, given, options)
  }

  /** Takes the device from its customer. For TENANT_ADMIN. */
  deleteCustomerDeviceByDeviceId(given: { readonly deviceId: string }, options?: CallOptions): Promise<Api.Device> {
    return this.call({ method: 'DELETE', path: '/api/customer/device/{deviceId}' }, given, options)
  }

  /** Gives a device back; one that no customer has stays so. For TENANT_ADMIN, CUSTOMER_USER. */
  deleteCustomerDeviceByDeviceNameClaim(given: { readonly deviceName: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/customer/device/{deviceName}/claim' }, given, options)
  }

  /** Takes the entity view from its customer. For TENANT_ADMIN. */
  deleteCustomerEntityViewByEntityViewId(
    given: { readonly entityViewId: string },
    options?: CallOptions,
  ): Promise<Api.EntityView> {
    return this.call({ method: 'DELETE', path: '/api/customer/entityView/{entityViewId}' }, given, options)
  }

  /** Ends that everybody sees the dashboard. For TENANT_ADMIN. */
  deleteCustomerPublicDashboardByDashboardId(
    given: { readonly dashboardId: string },
    options?: CallOptions,
  ): Promise<Api.Dashboard> {
    return this.call({ method: 'DELETE', path: '/api/customer/public/dashboard/{dashboardId}' }, given, options)
  }

  /** Deletes a dashboard with all that is kept about it. For TENANT_ADMIN. */
  deleteDashboardByDashboardId(given: { readonly dashboardId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/dashboard/{dashboardId}' }, given, options)
  }

  /** Removes a dead letter. For TENANT_ADMIN. */
  deleteDeadLettersByDeadLetterId(given: { readonly deadLetterId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/deadLetters/{deadLetterId}' }, given, options)
  }

  /** Deletes a device with all that is kept about it. For TENANT_ADMIN. */
  deleteDeviceByDeviceId(given: { readonly deviceId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/device/{deviceId}' }, given, options)
  }

  /** Deletes a device profile with all that is kept about it. For TENANT_ADMIN. */
  deleteDeviceProfileByDeviceProfileId(
    given: { readonly deviceProfileId: string },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/deviceProfile/{deviceProfileId}' }, given, options)
  }

  /** Deletes a entity view with all that is kept about it. For TENANT_ADMIN. */
  deleteEntityViewByEntityViewId(given: { readonly entityViewId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/entityView/{entityViewId}' }, given, options)
  }

  /** Deletes an image; one that is shown somewhere only by force. For SYS_ADMIN, TENANT_ADMIN. */
  deleteImagesByImageTypeByImageKey(
    given: { readonly imageType: 'tenant' | 'system'; readonly imageKey: string; readonly force?: boolean | undefined },
    options?: CallOptions,
  ): Promise<Api.DeleteImagesByImageTypeByImageKeyAnswer> {
    return this.call({ method: 'DELETE', path: '/api/images/{imageType}/{imageKey}', query: ['force'] }, given, options)
  }

  /** Deletes a integration with all that is kept about it. For TENANT_ADMIN. */
  deleteIntegrationByIntegrationId(given: { readonly integrationId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/integration/{integrationId}' }, given, options)
  }

  /** Deletes an ended job. For TENANT_ADMIN. */
  deleteJobByJobId(given: { readonly jobId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/job/{jobId}' }, given, options)
  }

  /** Deletes one of the caller. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  deleteNotificationByNotificationId(given: { readonly notificationId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/notification/{notificationId}' }, given, options)
  }

  /** Cancels a notification request that is not sent yet; of one that was sent the notifications go too. For SYS_ADMIN, TENANT_ADMIN. */
  deleteNotificationRequestByNotificationRequestId(
    given: { readonly notificationRequestId: string },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/notification/request/{notificationRequestId}' }, given, options)
  }

  /** Deletes a notification rule. For SYS_ADMIN, TENANT_ADMIN. */
  deleteNotificationRuleByNotificationRuleId(
    given: { readonly notificationRuleId: string },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/notification/rule/{notificationRuleId}' }, given, options)
  }

  /** Deletes a notification target. For SYS_ADMIN, TENANT_ADMIN. */
  deleteNotificationTargetByNotificationTargetId(
    given: { readonly notificationTargetId: string },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/notification/target/{notificationTargetId}' }, given, options)
  }

  /** Deletes a notification template. For SYS_ADMIN, TENANT_ADMIN. */
  deleteNotificationTemplateByNotificationTemplateId(
    given: { readonly notificationTemplateId: string },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/notification/template/{notificationTemplateId}' }, given, options)
  }

  /** Deletes a otapackage with all that is kept about it. For TENANT_ADMIN. */
  deleteOtaPackageByOtaPackageId(given: { readonly otaPackageId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/otaPackage/{otaPackageId}' }, given, options)
  }

  /** Deletes attributes of a device. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  deletePluginsTelemetryByDeviceIdByScope(
    given: {
      readonly deviceId: string
      readonly scope: 'CLIENT_SCOPE' | 'SERVER_SCOPE' | 'SHARED_SCOPE'
      readonly keys: string
      readonly key?: readonly string[] | undefined
    },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      { method: 'DELETE', path: '/api/plugins/telemetry/{deviceId}/{scope}', query: ['keys', 'key'] },
      given,
      options,
    )
  }

  /** Deletes attributes of an entity. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  deletePluginsTelemetryByEntityTypeByEntityIdByScope(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly scope: 'CLIENT_SCOPE' | 'SERVER_SCOPE' | 'SHARED_SCOPE'
      readonly keys: string
      readonly key?: readonly string[] | undefined
    },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      { method: 'DELETE', path: '/api/plugins/telemetry/{entityType}/{entityId}/{scope}', query: ['keys', 'key'] },
      given,
      options,
    )
  }

  /** Deletes points of a time, or all of the keys named. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  deletePluginsTelemetryByEntityTypeByEntityIdTimeseriesDelete(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly keys: string
      readonly key?: readonly string[] | undefined
      readonly deleteAllDataForKeys?: boolean | undefined
      readonly startTs?: number | undefined
      readonly endTs?: number | undefined
      readonly deleteLatest?: boolean | undefined
      readonly rewriteLatestIfDeleted?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      {
        method: 'DELETE',
        path: '/api/plugins/telemetry/{entityType}/{entityId}/timeseries/delete',
        query: ['keys', 'key', 'deleteAllDataForKeys', 'startTs', 'endTs', 'deleteLatest', 'rewriteLatestIfDeleted'],
      },
      given,
      options,
    )
  }

  /** Deletes a queue that no profile and no rule node uses; what is in it goes on in Main. For SYS_ADMIN, TENANT_ADMIN. */
  deleteQueuesByQueueId(given: { readonly queueId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/queues/{queueId}' }, given, options)
  }

  /** Deletes a relation. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  deleteRelation(
    given: {
      readonly fromId: string
      readonly fromType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly relationType: string
      readonly relationTypeGroup?: string | undefined
      readonly toId: string
      readonly toType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
    },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      {
        method: 'DELETE',
        path: '/api/relation',
        query: ['fromId', 'fromType', 'relationType', 'relationTypeGroup', 'toId', 'toType'],
      },
      given,
      options,
    )
  }

  /** Deletes the common relations of an entity in both directions. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  deleteRelations(
    given: {
      readonly entityId: string
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
    },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/relations', query: ['entityId', 'entityType'] }, given, options)
  }

  /** Deletes a file; one that is used somewhere only by force. For SYS_ADMIN, TENANT_ADMIN. */
  deleteResourceByResourceId(
    given: { readonly resourceId: string; readonly force?: boolean | undefined },
    options?: CallOptions,
  ): Promise<Api.DeleteImagesByImageTypeByImageKeyAnswer> {
    return this.call({ method: 'DELETE', path: '/api/resource/{resourceId}', query: ['force'] }, given, options)
  }

  /** Deletes a persistent call; one that the device has not got is withdrawn. For TENANT_ADMIN. */
  deleteRpcPersistentByRpcId(given: { readonly rpcId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/rpc/persistent/{rpcId}' }, given, options)
  }

  /** Deletes a rule chain with all that is kept about it. For TENANT_ADMIN. */
  deleteRuleChainByRuleChainId(given: { readonly ruleChainId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/ruleChain/{ruleChainId}' }, given, options)
  }

  /** Ends a trial; answers what it found. For TENANT_ADMIN. */
  deleteRuleChainTrialByTrialId(
    given: { readonly trialId: string },
    options?: CallOptions,
  ): Promise<Api.RuleChainTrial> {
    return this.call({ method: 'DELETE', path: '/api/ruleChain/trial/{trialId}' }, given, options)
  }

  /** Deletes a tenant with all that is kept about it. For SYS_ADMIN, TENANT_ADMIN. */
  deleteTenantByTenantId(given: { readonly tenantId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/tenant/{tenantId}' }, given, options)
  }

  /** Deletes a tenant profile with all that is kept about it. For SYS_ADMIN. */
  deleteTenantProfileByTenantProfileId(
    given: { readonly tenantProfileId: string },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/tenantProfile/{tenantProfileId}' }, given, options)
  }

  /** Deletes a user with all that is kept about him. For SYS_ADMIN, TENANT_ADMIN. */
  deleteUserByUserId(given: { readonly userId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/user/{userId}' }, given, options)
  }

  /** Forgets the session of a mobile app. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  deleteUserMobileSession(given: { readonly 'X-Mobile-Token': string }, options?: CallOptions): Promise<void> {
    return this.call(
      { method: 'DELETE', path: '/api/user/mobile/session', headers: ['X-Mobile-Token'] },
      given,
      options,
    )
  }

  /** Takes members out of the general settings: paths of names joined by dots, joined by commas. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  deleteUserSettingsByPaths(given: { readonly paths: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/user/settings/{paths}' }, given, options)
  }

  /** Takes members out of the settings of a type. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  deleteUserSettingsByTypeByPaths(
    given: { readonly type: string; readonly paths: string },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/user/settings/{type}/{paths}' }, given, options)
  }

  /** Deletes a relation and answers what it was. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  deleteV2Relation(
    given: {
      readonly fromId: string
      readonly fromType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly relationType: string
      readonly relationTypeGroup?: string | undefined
      readonly toId: string
      readonly toType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
    },
    options?: CallOptions,
  ): Promise<Api.DeleteV2RelationAnswer> {
    return this.call(
      {
        method: 'DELETE',
        path: '/api/v2/relation',
        query: ['fromId', 'fromType', 'relationType', 'relationTypeGroup', 'toId', 'toType'],
      },
      given,
      options,
    )
  }

  /** Deletes a widgets type with all that is kept about it. For SYS_ADMIN, TENANT_ADMIN. */
  deleteWidgetTypeByWidgetTypeId(given: { readonly widgetTypeId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/widgetType/{widgetTypeId}' }, given, options)
  }

  /** Deletes a widgets bundle with all that is kept about it. For SYS_ADMIN, TENANT_ADMIN. */
  deleteWidgetsBundleByWidgetsBundleId(
    given: { readonly widgetsBundleId: string },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'DELETE', path: '/api/widgetsBundle/{widgetsBundleId}' }, given, options)
  }

  /** What the caller set up; nothing where that is nothing. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  get2faAccountSettings(options?: CallOptions): Promise<Api.Delete2faAccountConfigAnswer | undefined> {
    return this.call({ method: 'GET', path: '/api/2fa/account/settings' }, {}, options)
  }

  /** The second factors that there are. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  get2faProviders(options?: CallOptions): Promise<readonly ('TOTP' | 'SMS' | 'EMAIL' | 'BACKUP_CODE')[]> {
    return this.call({ method: 'GET', path: '/api/2fa/providers' }, {}, options)
  }

  /** Which second factors users may set up; nothing where there are none. For SYS_ADMIN. */
  get2faSettings(options?: CallOptions): Promise<Api.Get2faSettingsAnswer | undefined> {
    return this.call({ method: 'GET', path: '/api/2fa/settings' }, {}, options)
  }

  /** Whether all that this process needs works, part by part. For everybody. */
  getActuatorHealth(options?: CallOptions): Promise<Api.GetActuatorHealthAnswer> {
    return this.call({ method: 'GET', path: '/actuator/health' }, {}, options)
  }

  /** There is no version control: false. For TENANT_ADMIN. */
  getAdminAutoCommitSettingsExists(options?: CallOptions): Promise<boolean> {
    return this.call({ method: 'GET', path: '/api/admin/autoCommitSettings/exists' }, {}, options)
  }

  /** How far a backup is, and its files. For SYS_ADMIN. */
  getAdminBackupByBackupId(given: { readonly backupId: string }, options?: CallOptions): Promise<Api.Backup> {
    return this.call({ method: 'GET', path: '/api/admin/backup/{backupId}' }, given, options)
  }

  /** A piece of a file of a backup, from an offset. For SYS_ADMIN. */
  getAdminBackupByBackupIdFile(
    given: { readonly backupId: string; readonly path: string; readonly offset?: number | undefined },
    options?: CallOptions,
  ): Promise<Blob> {
    return this.call(
      { method: 'GET', path: '/api/admin/backup/{backupId}/file', query: ['path', 'offset'], isFile: true },
      given,
      options,
    )
  }

  /** What is set up. For SYS_ADMIN. */
  getAdminFeaturesInfo(options?: CallOptions): Promise<Api.GetAdminFeaturesInfoAnswer> {
    return this.call({ method: 'GET', path: '/api/admin/featuresInfo' }, {}, options)
  }

  /** How tokens are signed. In the place of the key stands one of zeros: saved again it leaves the key as it is. For SYS_ADMIN. */
  getAdminJwtSettings(options?: CallOptions): Promise<Api.GetAdminJwtSettingsAnswer> {
    return this.call({ method: 'GET', path: '/api/admin/jwtSettings' }, {}, options)
  }

  /** Where the mail provider asks whether the platform may send mails, by the saved mail settings. For SYS_ADMIN. */
  getAdminMailOauth2Authorize(options?: CallOptions): Promise<string> {
    return this.call({ method: 'GET', path: '/api/admin/mail/oauth2/authorize' }, {}, options)
  }

  /** Where a mail provider sends who let the platform send mails: takes its code, and leads to the settings. For everybody. */
  getAdminMailOauth2Code(
    given: { readonly code: string; readonly state: string },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'GET', path: '/api/admin/mail/oauth2/code', query: ['code', 'state'] }, given, options)
  }

  /** Where a mail provider would send who let the platform send mails. For SYS_ADMIN. */
  getAdminMailOauth2LoginProcessingUrl(options?: CallOptions): Promise<string> {
    return this.call({ method: 'GET', path: '/api/admin/mail/oauth2/loginProcessingUrl' }, {}, options)
  }

  /** There is no version control: false. For TENANT_ADMIN. */
  getAdminRepositorySettingsExists(options?: CallOptions): Promise<boolean> {
    return this.call({ method: 'GET', path: '/api/admin/repositorySettings/exists' }, {}, options)
  }

  /** There is no version control: no repository is set up. For TENANT_ADMIN. */
  getAdminRepositorySettingsInfo(options?: CallOptions): Promise<Api.GetAdminRepositorySettingsInfoAnswer> {
    return this.call({ method: 'GET', path: '/api/admin/repositorySettings/info' }, {}, options)
  }

  /** How passwords must be, when users are locked, and how long links are good. For SYS_ADMIN. */
  getAdminSecuritySettings(options?: CallOptions): Promise<Api.GetAdminSecuritySettingsAnswer> {
    return this.call({ method: 'GET', path: '/api/admin/securitySettings' }, {}, options)
  }

  /** Settings of the platform, without their secrets. For SYS_ADMIN. */
  getAdminSettingsBySettingsKey(
    given: { readonly settingsKey: string },
    options?: CallOptions,
  ): Promise<Api.GetAdminSettingsBySettingsKeyAnswer> {
    return this.call({ method: 'GET', path: '/api/admin/settings/{settingsKey}' }, given, options)
  }

  /** How loaded the machine is that answers. For SYS_ADMIN. */
  getAdminSystemInfo(options?: CallOptions): Promise<Api.GetAdminSystemInfoAnswer> {
    return this.call({ method: 'GET', path: '/api/admin/systemInfo' }, {}, options)
  }

  /** Nobody is asked for newer versions. For SYS_ADMIN. */
  getAdminUpdates(options?: CallOptions): Promise<Api.GetAdminUpdatesAnswer> {
    return this.call({ method: 'GET', path: '/api/admin/updates' }, {}, options)
  }

  /** The worker pools of the process that answers, with their busiest tenants and scripts. For SYS_ADMIN. */
  getAdminWorkers(given: { readonly rows?: number | undefined } = {}, options?: CallOptions): Promise<Api.MemberPools> {
    return this.call({ method: 'GET', path: '/api/admin/workers', query: ['rows'] }, given, options)
  }

  /** One worker pool of the process that answers. For SYS_ADMIN. */
  getAdminWorkersByPoolName(
    given: { readonly poolName: string; readonly rows?: number | undefined },
    options?: CallOptions,
  ): Promise<Api.MemberPool> {
    return this.call({ method: 'GET', path: '/api/admin/workers/{poolName}', query: ['rows'] }, given, options)
  }

  /** The AI models of the tenant; their keys are masked. For TENANT_ADMIN. */
  getAiModel(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfAiModel> {
    return this.call(
      { method: 'GET', path: '/api/ai/model', query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'] },
      given,
      options,
    )
  }

  /** One AI model; its keys are masked. For TENANT_ADMIN. */
  getAiModelByModelUuid(given: { readonly modelUuid: string }, options?: CallOptions): Promise<Api.AiModel> {
    return this.call({ method: 'GET', path: '/api/ai/model/{modelUuid}' }, given, options)
  }

  /** One alarm. For TENANT_ADMIN, CUSTOMER_USER. */
  getAlarmByAlarmId(
    given: { readonly alarmId: string },
    options?: CallOptions,
  ): Promise<Api.DeleteAlarmByAlarmIdAssignAnswer> {
    return this.call({ method: 'GET', path: '/api/alarm/{alarmId}' }, given, options)
  }

  /** What was said of an alarm and done to it. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getAlarmByAlarmIdComment(
    given: {
      readonly alarmId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAlarmByAlarmIdCommentAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/alarm/{alarmId}/comment',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The alarms that show on an entity. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getAlarmByEntityTypeByEntityId(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly searchStatus?: 'ANY' | 'ACTIVE' | 'CLEARED' | 'ACK' | 'UNACK' | undefined
      readonly status?: 'ACTIVE_UNACK' | 'ACTIVE_ACK' | 'CLEARED_UNACK' | 'CLEARED_ACK' | undefined
      readonly assigneeId?: string | undefined
      readonly startTime?: number | undefined
      readonly endTime?: number | undefined
      readonly fetchOriginator?: boolean | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAlarmByEntityTypeByEntityIdAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/alarm/{entityType}/{entityId}',
        query: [
          'searchStatus',
          'status',
          'assigneeId',
          'startTime',
          'endTime',
          'fetchOriginator',
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
        ],
      },
      given,
      options,
    )
  }

  /** The worst severity of the alarms on an entity; nothing where there are none. For TENANT_ADMIN, CUSTOMER_USER. */
  getAlarmHighestSeverityByEntityTypeByEntityId(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly searchStatus?: 'ANY' | 'ACTIVE' | 'CLEARED' | 'ACK' | 'UNACK' | undefined
      readonly status?: 'ACTIVE_UNACK' | 'ACTIVE_ACK' | 'CLEARED_UNACK' | 'CLEARED_ACK' | undefined
      readonly assigneeId?: string | undefined
    },
    options?: CallOptions,
  ): Promise<'CRITICAL' | 'MAJOR' | 'MINOR' | 'WARNING' | 'INDETERMINATE'> {
    return this.call(
      {
        method: 'GET',
        path: '/api/alarm/highestSeverity/{entityType}/{entityId}',
        query: ['searchStatus', 'status', 'assigneeId'],
      },
      given,
      options,
    )
  }

  /** One alarm, with the names of its originator and of who has it. For TENANT_ADMIN, CUSTOMER_USER. */
  getAlarmInfoByAlarmId(
    given: { readonly alarmId: string },
    options?: CallOptions,
  ): Promise<Api.GetAlarmInfoByAlarmIdAnswer> {
    return this.call({ method: 'GET', path: '/api/alarm/info/{alarmId}' }, given, options)
  }

  /** One alarm rule. For TENANT_ADMIN. */
  getAlarmRuleByAlarmRuleId(
    given: { readonly alarmRuleId: string },
    options?: CallOptions,
  ): Promise<Api.GetAlarmRuleByAlarmRuleIdAnswer> {
    return this.call({ method: 'GET', path: '/api/alarm/rule/{alarmRuleId}' }, given, options)
  }

  /** The last time that an alarm rule was computed while it was watched. For TENANT_ADMIN. */
  getAlarmRuleByAlarmRuleIdDebug(
    given: { readonly alarmRuleId: string },
    options?: CallOptions,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    return this.call({ method: 'GET', path: '/api/alarm/rule/{alarmRuleId}/debug' }, given, options)
  }

  /** The alarm rules of the tenant, with the names of what they are about. For TENANT_ADMIN. */
  getAlarmRules(
    given: {
      readonly entityType?:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
        | undefined
      readonly entities?: readonly string[] | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAlarmRulesAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/alarm/rules',
        query: ['entityType', 'entities', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The alarm rules of an entity or a profile. For TENANT_ADMIN. */
  getAlarmRulesByEntityTypeByEntityId(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAlarmRulesByEntityTypeByEntityIdAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/alarm/rules/{entityType}/{entityId}',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** Names of alarm rules. For TENANT_ADMIN. */
  getAlarmRulesNames(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAlarmRulesNamesAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/alarm/rules/names',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** Types of alarms that there are. For TENANT_ADMIN, CUSTOMER_USER. */
  getAlarmTypes(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAlarmTypesAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/alarm/types',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The alarms of the tenant, for customer users those of the customer. For TENANT_ADMIN, CUSTOMER_USER. */
  getAlarms(
    given: {
      readonly searchStatus?: 'ANY' | 'ACTIVE' | 'CLEARED' | 'ACK' | 'UNACK' | undefined
      readonly status?: 'ACTIVE_UNACK' | 'ACTIVE_ACK' | 'CLEARED_UNACK' | 'CLEARED_ACK' | undefined
      readonly assigneeId?: string | undefined
      readonly startTime?: number | undefined
      readonly endTime?: number | undefined
      readonly fetchOriginator?: boolean | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAlarmByEntityTypeByEntityIdAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/alarms',
        query: [
          'searchStatus',
          'status',
          'assigneeId',
          'startTime',
          'endTime',
          'fetchOriginator',
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
        ],
      },
      given,
      options,
    )
  }

  /** The keys of a user, without their values. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getApiKeysByUserId(
    given: {
      readonly userId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetApiKeysByUserIdAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/apiKeys/{userId}',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** One asset. For TENANT_ADMIN, CUSTOMER_USER. */
  getAssetByAssetId(given: { readonly assetId: string }, options?: CallOptions): Promise<Api.Asset> {
    return this.call({ method: 'GET', path: '/api/asset/{assetId}' }, given, options)
  }

  /** One asset, with the names of what it belongs to. For TENANT_ADMIN, CUSTOMER_USER. */
  getAssetInfoByAssetId(given: { readonly assetId: string }, options?: CallOptions): Promise<Api.AssetInfo> {
    return this.call({ method: 'GET', path: '/api/asset/info/{assetId}' }, given, options)
  }

  /** One asset profile; with its images in it where `inlineImages` is true. For TENANT_ADMIN. */
  getAssetProfileByAssetProfileId(
    given: { readonly assetProfileId: string; readonly inlineImages?: boolean | undefined },
    options?: CallOptions,
  ): Promise<Api.AssetProfile> {
    return this.call(
      { method: 'GET', path: '/api/assetProfile/{assetProfileId}', query: ['inlineImages'] },
      given,
      options,
    )
  }

  /** Short form of one asset profile. For TENANT_ADMIN, CUSTOMER_USER. */
  getAssetProfileInfoByAssetProfileId(
    given: { readonly assetProfileId: string },
    options?: CallOptions,
  ): Promise<Api.GetAssetProfileInfoByAssetProfileIdAnswer> {
    return this.call({ method: 'GET', path: '/api/assetProfileInfo/{assetProfileId}' }, given, options)
  }

  /** Short form of the default asset profile. For TENANT_ADMIN, CUSTOMER_USER. */
  getAssetProfileInfoDefault(options?: CallOptions): Promise<Api.GetAssetProfileInfoByAssetProfileIdAnswer> {
    return this.call({ method: 'GET', path: '/api/assetProfileInfo/default' }, {}, options)
  }

  /** Short forms of the tenant's asset profiles. For TENANT_ADMIN, CUSTOMER_USER. */
  getAssetProfileInfos(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAssetProfileInfosAnswer>

  /** Short forms of the asset profiles of these ids. For TENANT_ADMIN, CUSTOMER_USER. */
  getAssetProfileInfos(
    given: { readonly assetProfileIds: string },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: Api.AssetProfileId
      readonly tenantId: Api.TenantId
      readonly name: string
      readonly image: string | null
      readonly defaultDashboardId: { readonly entityType: 'DASHBOARD'; readonly id: string } | null
    }[]
  >
  getAssetProfileInfos(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/assetProfileInfos',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'assetProfileIds'],
      },
      given,
      options,
    )
  }

  /** Short forms of the asset profiles of these ids. For TENANT_ADMIN. */
  getAssetProfileInfosList(
    given: { readonly assetProfileIds: string },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: Api.AssetProfileId
      readonly tenantId: Api.TenantId
      readonly name: string
      readonly image: string | null
      readonly defaultDashboardId: { readonly entityType: 'DASHBOARD'; readonly id: string } | null
    }[]
  > {
    return this.call({ method: 'GET', path: '/api/assetProfileInfos/list', query: ['assetProfileIds'] }, given, options)
  }

  /** Names of the asset profiles, sorted; those that are in use, or all. For TENANT_ADMIN, CUSTOMER_USER. */
  getAssetProfileNames(
    given: { readonly activeOnly?: boolean | undefined } = {},
    options?: CallOptions,
  ): Promise<readonly { readonly id: Api.AssetProfileId; readonly name: string }[]> {
    return this.call({ method: 'GET', path: '/api/assetProfile/names', query: ['activeOnly'] }, given, options)
  }

  /** The assetProfiles of the tenant. For TENANT_ADMIN. */
  getAssetProfiles(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfAssetProfile> {
    return this.call(
      {
        method: 'GET',
        path: '/api/assetProfiles',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** Types of the assets, sorted. For TENANT_ADMIN, CUSTOMER_USER. */
  getAssetTypes(
    options?: CallOptions,
  ): Promise<readonly { readonly tenantId: Api.TenantId; readonly entityType: 'ASSET'; readonly type: string }[]> {
    return this.call({ method: 'GET', path: '/api/asset/types' }, {}, options)
  }

  /** The assets of these ids, without those that the caller may not see. For TENANT_ADMIN, CUSTOMER_USER. */
  getAssets(given: { readonly assetIds: string }, options?: CallOptions): Promise<readonly Api.Asset[]> {
    return this.call({ method: 'GET', path: '/api/assets', query: ['assetIds'] }, given, options)
  }

  /** The audit log of the tenant. For SYS_ADMIN, TENANT_ADMIN. */
  getAuditLogs(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
      readonly startTime?: number | undefined
      readonly endTime?: number | undefined
      readonly actionTypes?:
        | readonly (
            | 'ADDED'
            | 'DELETED'
            | 'UPDATED'
            | 'ATTRIBUTES_UPDATED'
            | 'ATTRIBUTES_DELETED'
            | 'TIMESERIES_UPDATED'
            | 'TIMESERIES_DELETED'
            | 'RPC_CALL'
            | 'CREDENTIALS_UPDATED'
            | 'ASSIGNED_TO_CUSTOMER'
            | 'UNASSIGNED_FROM_CUSTOMER'
            | 'ACTIVATED'
            | 'SUSPENDED'
            | 'CREDENTIALS_READ'
            | 'ATTRIBUTES_READ'
            | 'RELATION_ADD_OR_UPDATE'
            | 'RELATION_DELETED'
            | 'RELATIONS_DELETED'
            | 'REST_API_RULE_ENGINE_CALL'
            | 'ALARM_ACK'
            | 'ALARM_CLEAR'
            | 'ALARM_DELETE'
            | 'ALARM_ASSIGNED'
            | 'ALARM_UNASSIGNED'
            | 'LOGIN'
            | 'LOGOUT'
            | 'LOCKOUT'
            | 'ASSIGNED_FROM_TENANT'
            | 'ASSIGNED_TO_TENANT'
            | 'PROVISION_SUCCESS'
            | 'PROVISION_FAILURE'
            | 'ASSIGNED_TO_EDGE'
            | 'UNASSIGNED_FROM_EDGE'
            | 'ADDED_COMMENT'
            | 'UPDATED_COMMENT'
            | 'DELETED_COMMENT'
            | 'SMS_SENT'
          )[]
        | undefined
      readonly includeClientAddress?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAuditLogsAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/audit/logs',
        query: [
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
          'startTime',
          'endTime',
          'actionTypes',
          'includeClientAddress',
        ],
      },
      given,
      options,
    )
  }

  /** What was changed of a customer’s entities. For TENANT_ADMIN. */
  getAuditLogsCustomerByCustomerId(
    given: {
      readonly customerId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
      readonly startTime?: number | undefined
      readonly endTime?: number | undefined
      readonly actionTypes?:
        | readonly (
            | 'ADDED'
            | 'DELETED'
            | 'UPDATED'
            | 'ATTRIBUTES_UPDATED'
            | 'ATTRIBUTES_DELETED'
            | 'TIMESERIES_UPDATED'
            | 'TIMESERIES_DELETED'
            | 'RPC_CALL'
            | 'CREDENTIALS_UPDATED'
            | 'ASSIGNED_TO_CUSTOMER'
            | 'UNASSIGNED_FROM_CUSTOMER'
            | 'ACTIVATED'
            | 'SUSPENDED'
            | 'CREDENTIALS_READ'
            | 'ATTRIBUTES_READ'
            | 'RELATION_ADD_OR_UPDATE'
            | 'RELATION_DELETED'
            | 'RELATIONS_DELETED'
            | 'REST_API_RULE_ENGINE_CALL'
            | 'ALARM_ACK'
            | 'ALARM_CLEAR'
            | 'ALARM_DELETE'
            | 'ALARM_ASSIGNED'
            | 'ALARM_UNASSIGNED'
            | 'LOGIN'
            | 'LOGOUT'
            | 'LOCKOUT'
            | 'ASSIGNED_FROM_TENANT'
            | 'ASSIGNED_TO_TENANT'
            | 'PROVISION_SUCCESS'
            | 'PROVISION_FAILURE'
            | 'ASSIGNED_TO_EDGE'
            | 'UNASSIGNED_FROM_EDGE'
            | 'ADDED_COMMENT'
            | 'UPDATED_COMMENT'
            | 'DELETED_COMMENT'
            | 'SMS_SENT'
          )[]
        | undefined
      readonly includeClientAddress?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAuditLogsAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/audit/logs/customer/{customerId}',
        query: [
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
          'startTime',
          'endTime',
          'actionTypes',
          'includeClientAddress',
        ],
      },
      given,
      options,
    )
  }

  /** Who changed an entity. For SYS_ADMIN, TENANT_ADMIN. */
  getAuditLogsEntityByEntityTypeByEntityId(
    given: {
      readonly entityType: string
      readonly entityId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
      readonly startTime?: number | undefined
      readonly endTime?: number | undefined
      readonly actionTypes?:
        | readonly (
            | 'ADDED'
            | 'DELETED'
            | 'UPDATED'
            | 'ATTRIBUTES_UPDATED'
            | 'ATTRIBUTES_DELETED'
            | 'TIMESERIES_UPDATED'
            | 'TIMESERIES_DELETED'
            | 'RPC_CALL'
            | 'CREDENTIALS_UPDATED'
            | 'ASSIGNED_TO_CUSTOMER'
            | 'UNASSIGNED_FROM_CUSTOMER'
            | 'ACTIVATED'
            | 'SUSPENDED'
            | 'CREDENTIALS_READ'
            | 'ATTRIBUTES_READ'
            | 'RELATION_ADD_OR_UPDATE'
            | 'RELATION_DELETED'
            | 'RELATIONS_DELETED'
            | 'REST_API_RULE_ENGINE_CALL'
            | 'ALARM_ACK'
            | 'ALARM_CLEAR'
            | 'ALARM_DELETE'
            | 'ALARM_ASSIGNED'
            | 'ALARM_UNASSIGNED'
            | 'LOGIN'
            | 'LOGOUT'
            | 'LOCKOUT'
            | 'ASSIGNED_FROM_TENANT'
            | 'ASSIGNED_TO_TENANT'
            | 'PROVISION_SUCCESS'
            | 'PROVISION_FAILURE'
            | 'ASSIGNED_TO_EDGE'
            | 'UNASSIGNED_FROM_EDGE'
            | 'ADDED_COMMENT'
            | 'UPDATED_COMMENT'
            | 'DELETED_COMMENT'
            | 'SMS_SENT'
          )[]
        | undefined
      readonly includeClientAddress?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAuditLogsAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/audit/logs/entity/{entityType}/{entityId}',
        query: [
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
          'startTime',
          'endTime',
          'actionTypes',
          'includeClientAddress',
        ],
      },
      given,
      options,
    )
  }

  /** What a user changed. For TENANT_ADMIN. */
  getAuditLogsUserByUserId(
    given: {
      readonly userId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
      readonly startTime?: number | undefined
      readonly endTime?: number | undefined
      readonly actionTypes?:
        | readonly (
            | 'ADDED'
            | 'DELETED'
            | 'UPDATED'
            | 'ATTRIBUTES_UPDATED'
            | 'ATTRIBUTES_DELETED'
            | 'TIMESERIES_UPDATED'
            | 'TIMESERIES_DELETED'
            | 'RPC_CALL'
            | 'CREDENTIALS_UPDATED'
            | 'ASSIGNED_TO_CUSTOMER'
            | 'UNASSIGNED_FROM_CUSTOMER'
            | 'ACTIVATED'
            | 'SUSPENDED'
            | 'CREDENTIALS_READ'
            | 'ATTRIBUTES_READ'
            | 'RELATION_ADD_OR_UPDATE'
            | 'RELATION_DELETED'
            | 'RELATIONS_DELETED'
            | 'REST_API_RULE_ENGINE_CALL'
            | 'ALARM_ACK'
            | 'ALARM_CLEAR'
            | 'ALARM_DELETE'
            | 'ALARM_ASSIGNED'
            | 'ALARM_UNASSIGNED'
            | 'LOGIN'
            | 'LOGOUT'
            | 'LOCKOUT'
            | 'ASSIGNED_FROM_TENANT'
            | 'ASSIGNED_TO_TENANT'
            | 'PROVISION_SUCCESS'
            | 'PROVISION_FAILURE'
            | 'ASSIGNED_TO_EDGE'
            | 'UNASSIGNED_FROM_EDGE'
            | 'ADDED_COMMENT'
            | 'UPDATED_COMMENT'
            | 'DELETED_COMMENT'
            | 'SMS_SENT'
          )[]
        | undefined
      readonly includeClientAddress?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAuditLogsAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/audit/logs/user/{userId}',
        query: [
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
          'startTime',
          'endTime',
          'actionTypes',
          'includeClientAddress',
        ],
      },
      given,
      options,
    )
  }

  /** The second factors that the caller set up. For who has the token of a log-in with the scope PRE_VERIFICATION_TOKEN. */
  getAuth2faProviders(options?: CallOptions): Promise<readonly Api.OwnSecondFactor[]> {
    return this.call({ method: 'GET', path: '/api/auth/2fa/providers' }, {}, options)
  }

  /** Who calls. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getAuthUser(options?: CallOptions): Promise<Api.User> {
    return this.call({ method: 'GET', path: '/api/auth/user' }, {}, options)
  }

  /** How far the import of a file has come that is imported piece by piece. For TENANT_ADMIN. */
  getBulkImport(given: { readonly name: string }, options?: CallOptions): Promise<Api.GetBulkImportAnswer> {
    return this.call({ method: 'GET', path: '/api/bulkImport', query: ['name'] }, given, options)
  }

  /** The calculated fields of an entity or a profile. For TENANT_ADMIN. */
  getByEntityTypeByEntityIdCalculatedFields(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly type?:
        | 'SIMPLE'
        | 'SCRIPT'
        | 'GEOFENCING'
        | 'ALARM'
        | 'PROPAGATION'
        | 'RELATED_ENTITIES_AGGREGATION'
        | 'ENTITY_AGGREGATION'
        | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfCalculatedField> {
    return this.call(
      {
        method: 'GET',
        path: '/api/{entityType}/{entityId}/calculatedFields',
        query: ['type', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** One calculated field. For TENANT_ADMIN. */
  getCalculatedFieldByCalculatedFieldId(
    given: { readonly calculatedFieldId: string },
    options?: CallOptions,
  ): Promise<Api.CalculatedField> {
    return this.call({ method: 'GET', path: '/api/calculatedField/{calculatedFieldId}' }, given, options)
  }

  /** The last time that a calculated field was computed while it was watched. For TENANT_ADMIN. */
  getCalculatedFieldByCalculatedFieldIdDebug(
    given: { readonly calculatedFieldId: string },
    options?: CallOptions,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    return this.call({ method: 'GET', path: '/api/calculatedField/{calculatedFieldId}/debug' }, given, options)
  }

  /** The calculated fields of an entity or a profile. For TENANT_ADMIN. */
  getCalculatedFieldByEntityTypeByEntityId(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly type?:
        | 'SIMPLE'
        | 'SCRIPT'
        | 'GEOFENCING'
        | 'ALARM'
        | 'PROPAGATION'
        | 'RELATED_ENTITIES_AGGREGATION'
        | 'ENTITY_AGGREGATION'
        | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfCalculatedField> {
    return this.call(
      {
        method: 'GET',
        path: '/api/calculatedField/{entityType}/{entityId}',
        query: ['type', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The calculated fields of the tenant, with the names of what they are about. For TENANT_ADMIN. */
  getCalculatedFields(
    given: {
      readonly types?:
        | readonly (
            | 'SIMPLE'
            | 'SCRIPT'
            | 'GEOFENCING'
            | 'ALARM'
            | 'PROPAGATION'
            | 'RELATED_ENTITIES_AGGREGATION'
            | 'ENTITY_AGGREGATION'
          )[]
        | undefined
      readonly entityType?:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
        | undefined
      readonly entities?: readonly string[] | undefined
      readonly name?: readonly string[] | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetCalculatedFieldsAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/calculatedFields',
        query: [
          'types',
          'entityType',
          'entities',
          'name',
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
        ],
      },
      given,
      options,
    )
  }

  /** Names of the calculated fields of a type. For TENANT_ADMIN. */
  getCalculatedFieldsNames(
    given: {
      readonly type:
        | 'SIMPLE'
        | 'SCRIPT'
        | 'GEOFENCING'
        | 'ALARM'
        | 'PROPAGATION'
        | 'RELATED_ENTITIES_AGGREGATION'
        | 'ENTITY_AGGREGATION'
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAlarmRulesNamesAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/calculatedFields/names',
        query: ['type', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The rule node of that class. For SYS_ADMIN, TENANT_ADMIN. */
  getComponentByComponentDescriptorClazz(
    given: { readonly componentDescriptorClazz: string },
    options?: CallOptions,
  ): Promise<Api.GetComponentByComponentDescriptorClazzAnswer> {
    return this.call({ method: 'GET', path: '/api/component/{componentDescriptorClazz}' }, given, options)
  }

  /** The rule nodes of these types. For SYS_ADMIN, TENANT_ADMIN. */
  getComponents(
    given: {
      readonly ruleChainType?: 'CORE' | 'EDGE' | undefined
      readonly componentTypes: readonly (
        'ENRICHMENT' | 'FILTER' | 'TRANSFORMATION' | 'ACTION' | 'EXTERNAL' | 'FLOW' | 'ANALYTICS'
      )[]
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: Readonly<Record<string, unknown>>
      readonly createdTime?: number
      readonly type: string
      readonly scope: string
      readonly clusteringMode?: string
      readonly name: string
      readonly clazz: string
      readonly configurationVersion: number
      readonly actions?: string | null
      readonly hasQueueName?: boolean
      readonly configurationDescriptor: Readonly<Record<string, unknown>>
    }[]
  > {
    return this.call(
      { method: 'GET', path: '/api/components', query: ['ruleChainType', 'componentTypes'] },
      given,
      options,
    )
  }

  /** The rule nodes of one type. For SYS_ADMIN, TENANT_ADMIN. */
  getComponentsByComponentType(
    given: {
      readonly componentType: 'ENRICHMENT' | 'FILTER' | 'TRANSFORMATION' | 'ACTION' | 'EXTERNAL' | 'FLOW' | 'ANALYTICS'
      readonly ruleChainType?: 'CORE' | 'EDGE' | undefined
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: Readonly<Record<string, unknown>>
      readonly createdTime?: number
      readonly type: string
      readonly scope: string
      readonly clusteringMode?: string
      readonly name: string
      readonly clazz: string
      readonly configurationVersion: number
      readonly actions?: string | null
      readonly hasQueueName?: boolean
      readonly configurationDescriptor: Readonly<Record<string, unknown>>
    }[]
  > {
    return this.call(
      { method: 'GET', path: '/api/components/{componentType}', query: ['ruleChainType'] },
      given,
      options,
    )
  }

  /** One customer. For TENANT_ADMIN, CUSTOMER_USER. */
  getCustomerByCustomerId(given: { readonly customerId: string }, options?: CallOptions): Promise<Api.Customer> {
    return this.call({ method: 'GET', path: '/api/customer/{customerId}' }, given, options)
  }

  /** The assets of a customer, with the names of what they belong to. For TENANT_ADMIN, CUSTOMER_USER. */
  getCustomerByCustomerIdAssetInfos(
    given: {
      readonly customerId: string
      readonly type?: string | undefined
      readonly assetProfileId?: string | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfAssetInfo> {
    return this.call(
      {
        method: 'GET',
        path: '/api/customer/{customerId}/assetInfos',
        query: ['type', 'assetProfileId', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The assets that are assigned to a customer. For TENANT_ADMIN, CUSTOMER_USER. */
  getCustomerByCustomerIdAssets(
    given: {
      readonly customerId: string
      readonly type?: string | undefined
      readonly assetProfileId?: string | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfAsset> {
    return this.call(
      {
        method: 'GET',
        path: '/api/customer/{customerId}/assets',
        query: ['type', 'assetProfileId', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The dashboards that a customer has. For TENANT_ADMIN, CUSTOMER_USER. */
  getCustomerByCustomerIdDashboards(
    given: {
      readonly customerId: string
      readonly mobile?: boolean | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetCustomerByCustomerIdDashboardsAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/customer/{customerId}/dashboards',
        query: ['mobile', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The devices of a customer, with the names of what they belong to. For TENANT_ADMIN, CUSTOMER_USER. */
  getCustomerByCustomerIdDeviceInfos(
    given: {
      readonly customerId: string
      readonly type?: string | undefined
      readonly deviceProfileId?: string | undefined
      readonly active?: boolean | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfDeviceInfo> {
    return this.call(
      {
        method: 'GET',
        path: '/api/customer/{customerId}/deviceInfos',
        query: ['type', 'deviceProfileId', 'active', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The devices that are assigned to a customer. For TENANT_ADMIN, CUSTOMER_USER. */
  getCustomerByCustomerIdDevices(
    given: {
      readonly customerId: string
      readonly type?: string | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfDevice> {
    return this.call(
      {
        method: 'GET',
        path: '/api/customer/{customerId}/devices',
        query: ['type', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The entityViews of a customer, with the names of what they belong to. For TENANT_ADMIN, CUSTOMER_USER. */
  getCustomerByCustomerIdEntityViewInfos(
    given: {
      readonly customerId: string
      readonly type?: string | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfEntityViewInfo> {
    return this.call(
      {
        method: 'GET',
        path: '/api/customer/{customerId}/entityViewInfos',
        query: ['type', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The entityViews that are assigned to a customer. For TENANT_ADMIN, CUSTOMER_USER. */
  getCustomerByCustomerIdEntityViews(
    given: {
      readonly customerId: string
      readonly type?: string | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfEntityView> {
    return this.call(
      {
        method: 'GET',
        path: '/api/customer/{customerId}/entityViews',
        query: ['type', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** Title of a customer, and whether everybody may see what is assigned to it. For TENANT_ADMIN, CUSTOMER_USER. */
  getCustomerByCustomerIdShortInfo(
    given: { readonly customerId: string },
    options?: CallOptions,
  ): Promise<Api.GetCustomerByCustomerIdShortInfoAnswer> {
    return this.call({ method: 'GET', path: '/api/customer/{customerId}/shortInfo' }, given, options)
  }

  /** Title of a customer as plain text. For TENANT_ADMIN, CUSTOMER_USER. */
  getCustomerByCustomerIdTitle(given: { readonly customerId: string }, options?: CallOptions): Promise<string> {
    return this.call({ method: 'GET', path: '/api/customer/{customerId}/title' }, given, options)
  }

  /** The users of a customer. For TENANT_ADMIN. */
  getCustomerByCustomerIdUsers(
    given: {
      readonly customerId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfUser> {
    return this.call(
      {
        method: 'GET',
        path: '/api/customer/{customerId}/users',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The customers of the tenant. For TENANT_ADMIN. */
  getCustomers(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfCustomer>

  /** The customers of these ids, without those that the caller may not see. For TENANT_ADMIN. */
  getCustomers(given: { readonly customerIds: string }, options?: CallOptions): Promise<readonly Api.Customer[]>
  getCustomers(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/customers',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'customerIds'],
      },
      given,
      options,
    )
  }

  /** The customers of these ids, without those that the caller may not see. For TENANT_ADMIN. */
  getCustomersList(given: { readonly customerIds: string }, options?: CallOptions): Promise<readonly Api.Customer[]> {
    return this.call({ method: 'GET', path: '/api/customers/list', query: ['customerIds'] }, given, options)
  }

  /** One dashboard; with its images in it where `inlineImages` is true, with its files beside it where `includeResources` is. For TENANT_ADMIN, CUSTOMER_USER. */
  getDashboardByDashboardId(
    given: {
      readonly dashboardId: string
      readonly inlineImages?: boolean | undefined
      readonly includeResources?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<Api.Dashboard> {
    return this.call(
      { method: 'GET', path: '/api/dashboard/{dashboardId}', query: ['inlineImages', 'includeResources'] },
      given,
      options,
    )
  }

  /** The dashboard that the caller starts with; empty where there is none. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getDashboardHome(options?: CallOptions): Promise<Api.Dashboard | undefined> {
    return this.call({ method: 'GET', path: '/api/dashboard/home' }, {}, options)
  }

  /** Which dashboard the caller starts with; empty where there is none. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getDashboardHomeInfo(options?: CallOptions): Promise<Api.GetDashboardHomeInfoAnswer | undefined> {
    return this.call({ method: 'GET', path: '/api/dashboard/home/info' }, {}, options)
  }

  /** One dashboard without its configuration. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getDashboardInfoByDashboardId(
    given: { readonly dashboardId: string },
    options?: CallOptions,
  ): Promise<Api.GetDashboardInfoByDashboardIdAnswer> {
    return this.call({ method: 'GET', path: '/api/dashboard/info/{dashboardId}' }, given, options)
  }

  /** How many points a widget may ask for at once. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getDashboardMaxDatapointsLimit(options?: CallOptions): Promise<number> {
    return this.call({ method: 'GET', path: '/api/dashboard/maxDatapointsLimit' }, {}, options)
  }

  /** The time of the server, Unix milliseconds. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getDashboardServerTime(options?: CallOptions): Promise<number> {
    return this.call({ method: 'GET', path: '/api/dashboard/serverTime' }, {}, options)
  }

  /** The dashboards of these ids, without those that the caller may not see. For TENANT_ADMIN, CUSTOMER_USER. */
  getDashboards(
    given: { readonly dashboardIds: string },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: Api.DashboardId
      readonly createdTime: number
      readonly tenantId: Api.TenantId
      readonly title: string
      readonly name: string
      readonly image?: string | null
      readonly mobileHide?: boolean
      readonly mobileOrder?: number | null
      readonly assignedCustomers: readonly unknown[] | null
      readonly version: number
    }[]
  > {
    return this.call({ method: 'GET', path: '/api/dashboards', query: ['dashboardIds'] }, given, options)
  }

  /** The dashboards of these ids, without those that the caller may not see. For TENANT_ADMIN, CUSTOMER_USER. */
  getDashboardsList(
    given: { readonly dashboardIds: string },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: Api.DashboardId
      readonly createdTime: number
      readonly tenantId: Api.TenantId
      readonly title: string
      readonly name: string
      readonly image?: string | null
      readonly mobileHide?: boolean
      readonly mobileOrder?: number | null
      readonly assignedCustomers: readonly unknown[] | null
      readonly version: number
    }[]
  > {
    return this.call({ method: 'GET', path: '/api/dashboards/list', query: ['dashboardIds'] }, given, options)
  }

  /** Messages of the tenant that failed every try, oldest first. For TENANT_ADMIN. */
  getDeadLetters(
    given: { readonly limit?: number | undefined; readonly after?: number | undefined } = {},
    options?: CallOptions,
  ): Promise<Api.GetDeadLettersAnswer> {
    return this.call({ method: 'GET', path: '/api/deadLetters', query: ['limit', 'after'] }, given, options)
  }

  /** One device. For TENANT_ADMIN, CUSTOMER_USER. */
  getDeviceByDeviceId(given: { readonly deviceId: string }, options?: CallOptions): Promise<Api.Device> {
    return this.call({ method: 'GET', path: '/api/device/{deviceId}' }, given, options)
  }

  /** What a device presents when it connects. For TENANT_ADMIN, CUSTOMER_USER. */
  getDeviceByDeviceIdCredentials(
    given: { readonly deviceId: string },
    options?: CallOptions,
  ): Promise<Api.GetDeviceByDeviceIdCredentialsAnswer> {
    return this.call({ method: 'GET', path: '/api/device/{deviceId}/credentials' }, given, options)
  }

  /** Commands that send a value of the device, for each protocol that is open. For TENANT_ADMIN, CUSTOMER_USER. */
  getDeviceConnectivityByDeviceId(
    given: { readonly deviceId: string },
    options?: CallOptions,
  ): Promise<Readonly<Record<string, Readonly<Record<string, unknown>> | string>>> {
    return this.call({ method: 'GET', path: '/api/device-connectivity/{deviceId}' }, given, options)
  }

  /** The certificate that signed the one of a protocol, such as mqtts. For everybody. */
  getDeviceConnectivityByProtocolCertificateDownload(
    given: { readonly protocol: string },
    options?: CallOptions,
  ): Promise<Blob> {
    return this.call(
      { method: 'GET', path: '/api/device-connectivity/{protocol}/certificate/download', isFile: true },
      given,
      options,
    )
  }

  /** A file for Docker Compose that runs an IoT Gateway as the device. For TENANT_ADMIN, CUSTOMER_USER. */
  getDeviceConnectivityGatewayLaunchByDeviceIdDockerComposeDownload(
    given: { readonly deviceId: string },
    options?: CallOptions,
  ): Promise<Blob> {
    return this.call(
      {
        method: 'GET',
        path: '/api/device-connectivity/gateway-launch/{deviceId}/docker-compose/download',
        isFile: true,
      },
      given,
      options,
    )
  }

  /** One device, with the names of what it belongs to. For TENANT_ADMIN, CUSTOMER_USER. */
  getDeviceInfoByDeviceId(given: { readonly deviceId: string }, options?: CallOptions): Promise<Api.DeviceInfo> {
    return this.call({ method: 'GET', path: '/api/device/info/{deviceId}' }, given, options)
  }

  /** One device profile; with its images in it where `inlineImages` is true. For TENANT_ADMIN. */
  getDeviceProfileByDeviceProfileId(
    given: { readonly deviceProfileId: string; readonly inlineImages?: boolean | undefined },
    options?: CallOptions,
  ): Promise<Api.DeviceProfile> {
    return this.call(
      { method: 'GET', path: '/api/deviceProfile/{deviceProfileId}', query: ['inlineImages'] },
      given,
      options,
    )
  }

  /** Keys of attributes that devices of the profile, or of the tenant, have; looks at 100 devices. For TENANT_ADMIN. */
  getDeviceProfileDevicesKeysAttributes(
    given: { readonly deviceProfileId?: string | undefined } = {},
    options?: CallOptions,
  ): Promise<readonly string[]> {
    return this.call(
      { method: 'GET', path: '/api/deviceProfile/devices/keys/attributes', query: ['deviceProfileId'] },
      given,
      options,
    )
  }

  /** Keys of timeseries that devices of the profile, or of the tenant, have; looks at 100 devices. For TENANT_ADMIN. */
  getDeviceProfileDevicesKeysTimeseries(
    given: { readonly deviceProfileId?: string | undefined } = {},
    options?: CallOptions,
  ): Promise<readonly string[]> {
    return this.call(
      { method: 'GET', path: '/api/deviceProfile/devices/keys/timeseries', query: ['deviceProfileId'] },
      given,
      options,
    )
  }

  /** Short form of one device profile. For TENANT_ADMIN, CUSTOMER_USER. */
  getDeviceProfileInfoByDeviceProfileId(
    given: { readonly deviceProfileId: string },
    options?: CallOptions,
  ): Promise<Api.GetDeviceProfileInfoByDeviceProfileIdAnswer> {
    return this.call({ method: 'GET', path: '/api/deviceProfileInfo/{deviceProfileId}' }, given, options)
  }

  /** Short form of the default device profile. For TENANT_ADMIN, CUSTOMER_USER. */
  getDeviceProfileInfoDefault(options?: CallOptions): Promise<Api.GetDeviceProfileInfoByDeviceProfileIdAnswer> {
    return this.call({ method: 'GET', path: '/api/deviceProfileInfo/default' }, {}, options)
  }

  /** Short forms of the tenant's device profiles. For TENANT_ADMIN, CUSTOMER_USER. */
  getDeviceProfileInfos(
    given: {
      readonly transportType?: 'DEFAULT' | 'MQTT' | 'COAP' | 'LWM2M' | 'SNMP' | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetDeviceProfileInfosAnswer>

  /** Short forms of the device profiles of these ids. For TENANT_ADMIN, CUSTOMER_USER. */
  getDeviceProfileInfos(
    given: { readonly deviceProfileIds: string },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: Api.DeviceProfileId
      readonly tenantId: Api.TenantId
      readonly name: string
      readonly image: string | null
      readonly defaultDashboardId: { readonly entityType: 'DASHBOARD'; readonly id: string } | null
      readonly type: 'DEFAULT'
      readonly transportType: 'DEFAULT' | 'MQTT' | 'COAP' | 'LWM2M' | 'SNMP'
    }[]
  >
  getDeviceProfileInfos(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/deviceProfileInfos',
        query: ['transportType', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'deviceProfileIds'],
      },
      given,
      options,
    )
  }

  /** Short forms of the device profiles of these ids. For TENANT_ADMIN. */
  getDeviceProfileInfosList(
    given: { readonly deviceProfileIds: string },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: Api.DeviceProfileId
      readonly tenantId: Api.TenantId
      readonly name: string
      readonly image: string | null
      readonly defaultDashboardId: { readonly entityType: 'DASHBOARD'; readonly id: string } | null
      readonly type: 'DEFAULT'
      readonly transportType: 'DEFAULT' | 'MQTT' | 'COAP' | 'LWM2M' | 'SNMP'
    }[]
  > {
    return this.call(
      { method: 'GET', path: '/api/deviceProfileInfos/list', query: ['deviceProfileIds'] },
      given,
      options,
    )
  }

  /** Names of the device profiles, sorted; those that are in use, or all. For TENANT_ADMIN, CUSTOMER_USER. */
  getDeviceProfileNames(
    given: { readonly activeOnly?: boolean | undefined } = {},
    options?: CallOptions,
  ): Promise<readonly { readonly id: Api.DeviceProfileId; readonly name: string }[]> {
    return this.call({ method: 'GET', path: '/api/deviceProfile/names', query: ['activeOnly'] }, given, options)
  }

  /** The deviceProfiles of the tenant. For TENANT_ADMIN. */
  getDeviceProfiles(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfDeviceProfile> {
    return this.call(
      {
        method: 'GET',
        path: '/api/deviceProfiles',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** Types of the devices, sorted. For TENANT_ADMIN, CUSTOMER_USER. */
  getDeviceTypes(
    options?: CallOptions,
  ): Promise<readonly { readonly tenantId: Api.TenantId; readonly entityType: 'DEVICE'; readonly type: string }[]> {
    return this.call({ method: 'GET', path: '/api/device/types' }, {}, options)
  }

  /** The devices of these ids, without those that the caller may not see. For TENANT_ADMIN, CUSTOMER_USER. */
  getDevices(given: { readonly deviceIds: string }, options?: CallOptions): Promise<readonly Api.Device[]> {
    return this.call({ method: 'GET', path: '/api/devices', query: ['deviceIds'] }, given, options)
  }

  /** How many devices of a profile have no package of their own, and would get one of the profile. For TENANT_ADMIN, CUSTOMER_USER. */
  getDevicesCountByOtaPackageTypeByDeviceProfileId(
    given: { readonly otaPackageType: 'FIRMWARE' | 'SOFTWARE'; readonly deviceProfileId: string },
    options?: CallOptions,
  ): Promise<number> {
    return this.call({ method: 'GET', path: '/api/devices/count/{otaPackageType}/{deviceProfileId}' }, given, options)
  }

  /** No domains of OAuth 2. For SYS_ADMIN. */
  getDomainInfos(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetDomainInfosAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/domain/infos',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** There are no edges: no types. For TENANT_ADMIN, CUSTOMER_USER. */
  getEdgeTypes(options?: CallOptions): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.call({ method: 'GET', path: '/api/edge/types' }, {}, options)
  }

  /** There are no edges: false. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getEdgesEnabled(options?: CallOptions): Promise<boolean> {
    return this.call({ method: 'GET', path: '/api/edges/enabled' }, {}, options)
  }

  /** Entity queries have no service of their own: nothing is known of one. For SYS_ADMIN. */
  getEdqsState(options?: CallOptions): Promise<Api.GetEdqsStateAnswer> {
    return this.call({ method: 'GET', path: '/api/edqs/state' }, {}, options)
  }

  /** One entity view. For TENANT_ADMIN, CUSTOMER_USER. */
  getEntityViewByEntityViewId(
    given: { readonly entityViewId: string },
    options?: CallOptions,
  ): Promise<Api.EntityView> {
    return this.call({ method: 'GET', path: '/api/entityView/{entityViewId}' }, given, options)
  }

  /** One entity view, with the names of what it belongs to. For TENANT_ADMIN, CUSTOMER_USER. */
  getEntityViewInfoByEntityViewId(
    given: { readonly entityViewId: string },
    options?: CallOptions,
  ): Promise<Api.EntityViewInfo> {
    return this.call({ method: 'GET', path: '/api/entityView/info/{entityViewId}' }, given, options)
  }

  /** Types of the entityViews, sorted. For TENANT_ADMIN, CUSTOMER_USER. */
  getEntityViewTypes(
    options?: CallOptions,
  ): Promise<
    readonly { readonly tenantId: Api.TenantId; readonly entityType: 'ENTITY_VIEW'; readonly type: string }[]
  > {
    return this.call({ method: 'GET', path: '/api/entityView/types' }, {}, options)
  }

  /** The entityViews of these ids, without those that the caller may not see. For TENANT_ADMIN, CUSTOMER_USER. */
  getEntityViews(given: { readonly entityViewIds: string }, options?: CallOptions): Promise<readonly Api.EntityView[]> {
    return this.call({ method: 'GET', path: '/api/entityViews', query: ['entityViewIds'] }, given, options)
  }

  /** The entityViews of these ids, without those that the caller may not see. For TENANT_ADMIN, CUSTOMER_USER. */
  getEntityViewsList(
    given: { readonly entityViewIds: string },
    options?: CallOptions,
  ): Promise<readonly Api.EntityView[]> {
    return this.call({ method: 'GET', path: '/api/entityViews/list', query: ['entityViewIds'] }, given, options)
  }

  /** When an entity started, changed and stopped. Outdated: name the type of the events. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getEventsByEntityTypeByEntityId(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly startTime?: number | undefined
      readonly endTime?: number | undefined
      readonly tenantId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfEventInfo> {
    return this.call(
      {
        method: 'GET',
        path: '/api/events/{entityType}/{entityId}',
        query: ['startTime', 'endTime', 'tenantId', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The events of a type that an entity told of itself. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getEventsByEntityTypeByEntityIdByEventType(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly eventType:
        'ERROR' | 'LC_EVENT' | 'STATS' | 'DEBUG_RULE_NODE' | 'DEBUG_RULE_CHAIN' | 'DEBUG_CALCULATED_FIELD'
      readonly startTime?: number | undefined
      readonly endTime?: number | undefined
      readonly tenantId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfEventInfo> {
    return this.call(
      {
        method: 'GET',
        path: '/api/events/{entityType}/{entityId}/{eventType}',
        query: ['startTime', 'endTime', 'tenantId', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** Whether all that this process needs works, part by part. For everybody. */
  getHealth(options?: CallOptions): Promise<Api.GetActuatorHealthAnswer> {
    return this.call({ method: 'GET', path: '/health' }, {}, options)
  }

  /** The images of the tenant, and of the system where asked for; symbols only where their kind is named. For SYS_ADMIN, TENANT_ADMIN. */
  getImages(
    given: {
      readonly imageSubType?: 'IMAGE' | 'SCADA_SYMBOL' | undefined
      readonly includeSystemImages?: boolean | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfTbResource> {
    return this.call(
      {
        method: 'GET',
        path: '/api/images',
        query: ['imageSubType', 'includeSystemImages', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The picture. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getImagesByImageTypeByImageKey(
    given: { readonly imageType: 'tenant' | 'system'; readonly imageKey: string },
    options?: CallOptions,
  ): Promise<Blob> {
    return this.call({ method: 'GET', path: '/api/images/{imageType}/{imageKey}', isFile: true }, given, options)
  }

  /** An image with its bytes, for another server. For SYS_ADMIN, TENANT_ADMIN. */
  getImagesByImageTypeByImageKeyExport(
    given: { readonly imageType: 'tenant' | 'system'; readonly imageKey: string },
    options?: CallOptions,
  ): Promise<Api.GetImagesByImageTypeByImageKeyExportAnswer> {
    return this.call({ method: 'GET', path: '/api/images/{imageType}/{imageKey}/export' }, given, options)
  }

  /** What is known of an image. For SYS_ADMIN, TENANT_ADMIN. */
  getImagesByImageTypeByImageKeyInfo(
    given: { readonly imageType: 'tenant' | 'system'; readonly imageKey: string },
    options?: CallOptions,
  ): Promise<Api.TbResource> {
    return this.call({ method: 'GET', path: '/api/images/{imageType}/{imageKey}/info' }, given, options)
  }

  /** A small picture of it. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getImagesByImageTypeByImageKeyPreview(
    given: { readonly imageType: 'tenant' | 'system'; readonly imageKey: string },
    options?: CallOptions,
  ): Promise<Blob> {
    return this.call(
      { method: 'GET', path: '/api/images/{imageType}/{imageKey}/preview', isFile: true },
      given,
      options,
    )
  }

  /** A picture that is public. For everybody. */
  getImagesPublicByPublicResourceKey(
    given: { readonly publicResourceKey: string },
    options?: CallOptions,
  ): Promise<Blob> {
    return this.call({ method: 'GET', path: '/api/images/public/{publicResourceKey}', isFile: true }, given, options)
  }

  /** One integration. For TENANT_ADMIN. */
  getIntegrationByIntegrationId(
    given: { readonly integrationId: string },
    options?: CallOptions,
  ): Promise<Api.Integration> {
    return this.call({ method: 'GET', path: '/api/integration/{integrationId}' }, given, options)
  }

  /** What an integration received, stored and failed, in all processes together. For TENANT_ADMIN. */
  getIntegrationByIntegrationIdStatistics(
    given: { readonly integrationId: string },
    options?: CallOptions,
  ): Promise<Api.GetIntegrationByIntegrationIdStatisticsAnswer> {
    return this.call({ method: 'GET', path: '/api/integration/{integrationId}/statistics' }, given, options)
  }

  /** The path to which others send: whoever knows it may. For TENANT_ADMIN. */
  getIntegrationByIntegrationIdWebhook(
    given: { readonly integrationId: string },
    options?: CallOptions,
  ): Promise<Api.GetIntegrationByIntegrationIdWebhookAnswer> {
    return this.call({ method: 'GET', path: '/api/integration/{integrationId}/webhook' }, given, options)
  }

  /** The integrations of the tenant. For TENANT_ADMIN. */
  getIntegrations(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfIntegration> {
    return this.call(
      {
        method: 'GET',
        path: '/api/integrations',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** Nothing of a market is installed. For TENANT_ADMIN. */
  getIotHubInstalledItems(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetDomainInfosAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/iot-hub/installedItems',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** Nothing of a market is installed. For TENANT_ADMIN. */
  getIotHubInstalledItemsCounts(
    given: { readonly itemType: string },
    options?: CallOptions,
  ): Promise<Readonly<Record<string, unknown>>> {
    return this.call({ method: 'GET', path: '/api/iot-hub/installedItems/counts', query: ['itemType'] }, given, options)
  }

  /** One job. For TENANT_ADMIN. */
  getJobByJobId(given: { readonly jobId: string }, options?: CallOptions): Promise<Api.Job> {
    return this.call({ method: 'GET', path: '/api/job/{jobId}' }, given, options)
  }

  /** The jobs of the tenant. For TENANT_ADMIN. */
  getJobs(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
      readonly types?: readonly 'DUMMY'[] | undefined
      readonly statuses?:
        readonly ('QUEUED' | 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED')[] | undefined
      readonly entities?: readonly string[] | undefined
      readonly startTime?: number | undefined
      readonly endTime?: number | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfJob> {
    return this.call(
      {
        method: 'GET',
        path: '/api/jobs',
        query: [
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
          'types',
          'statuses',
          'entities',
          'startTime',
          'endTime',
        ],
      },
      given,
      options,
    )
  }

  /** What a new LwM2M profile says of its server, or of its bootstrap server. For TENANT_ADMIN, CUSTOMER_USER. */
  getLwm2mDeviceProfileBootstrapByIsBootstrapServer(
    given: { readonly isBootstrapServer: 'true' | 'false' },
    options?: CallOptions,
  ): Promise<Api.GetLwm2mDeviceProfileBootstrapByIsBootstrapServerAnswer> {
    return this.call({ method: 'GET', path: '/api/lwm2m/deviceProfile/bootstrap/{isBootstrapServer}' }, given, options)
  }

  /** No templates of mail servers. For SYS_ADMIN, TENANT_ADMIN. */
  getMailConfigTemplate(options?: CallOptions): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.call({ method: 'GET', path: '/api/mail/config/template' }, {}, options)
  }

  /** No mobile apps. For SYS_ADMIN, TENANT_ADMIN. */
  getMobileApp(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetDomainInfosAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/mobile/app',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** No bundles of mobile apps. For SYS_ADMIN, TENANT_ADMIN. */
  getMobileBundleInfos(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetDomainInfosAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/mobile/bundle/infos',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** There is no app to open by a link. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getMobileQrDeepLink(options?: CallOptions): Promise<string> {
    return this.call({ method: 'GET', path: '/api/mobile/qr/deepLink' }, {}, options)
  }

  /** There is no app to open by a QR code. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getMobileQrSettings(options?: CallOptions): Promise<Api.GetMobileQrSettingsAnswer> {
    return this.call({ method: 'GET', path: '/api/mobile/qr/settings' }, {}, options)
  }

  /** Where the link of a new user leads: on to the page where a password is chosen. For everybody. */
  getNoauthActivate(given: { readonly activateToken: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'GET', path: '/api/noauth/activate', query: ['activateToken'] }, given, options)
  }

  /** No clients of OAuth 2 to log in by, and no app in a store. For everybody. */
  getNoauthMobile(options?: CallOptions): Promise<Api.GetNoauthMobileAnswer> {
    return this.call({ method: 'GET', path: '/api/noauth/mobile' }, {}, options)
  }

  /** Where the link for a new password leads: on to the page where it is chosen. For everybody. */
  getNoauthResetPassword(given: { readonly resetToken: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'GET', path: '/api/noauth/resetPassword', query: ['resetToken'] }, given, options)
  }

  /** How passwords must be. For everybody. */
  getNoauthUserPasswordPolicy(options?: CallOptions): Promise<Api.GetNoauthUserPasswordPolicyAnswer> {
    return this.call({ method: 'GET', path: '/api/noauth/userPasswordPolicy' }, {}, options)
  }

  /** The ways in which this server can notify. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getNotificationDeliveryMethods(options?: CallOptions): Promise<readonly string[]> {
    return this.call({ method: 'GET', path: '/api/notification/deliveryMethods' }, {}, options)
  }

  /** One notification request. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationRequestByNotificationRequestId(
    given: { readonly notificationRequestId: string },
    options?: CallOptions,
  ): Promise<Api.NotificationRequest> {
    return this.call({ method: 'GET', path: '/api/notification/request/{notificationRequestId}' }, given, options)
  }

  /** The notification requests by users of the tenant; those of rules and nodes are not among them. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationRequests(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfNotificationRequest> {
    return this.call(
      {
        method: 'GET',
        path: '/api/notification/requests',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** One notification rule, with the name of its template. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationRuleByNotificationRuleId(
    given: { readonly notificationRuleId: string },
    options?: CallOptions,
  ): Promise<Api.NotificationRuleInfo> {
    return this.call({ method: 'GET', path: '/api/notification/rule/{notificationRuleId}' }, given, options)
  }

  /** The notification rules of the caller’s tenant, or of the system. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationRules(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfNotificationRuleInfo> {
    return this.call(
      {
        method: 'GET',
        path: '/api/notification/rules',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** How the caller’s tenant, or the system, reaches people outside. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationSettings(options?: CallOptions): Promise<Api.NotificationSettings> {
    return this.call({ method: 'GET', path: '/api/notification/settings' }, {}, options)
  }

  /** Which notifications the caller wants, and by which ways. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getNotificationSettingsUser(options?: CallOptions): Promise<Api.UserNotificationSettings> {
    return this.call({ method: 'GET', path: '/api/notification/settings/user' }, {}, options)
  }

  /** Channels and people of Slack: none, as this server does not speak to Slack. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationSlackConversations(
    given: { readonly type: 'DIRECT' | 'PUBLIC_CHANNEL' | 'PRIVATE_CHANNEL'; readonly token?: string | undefined },
    options?: CallOptions,
  ): Promise<readonly Api.SlackConversation[]> {
    return this.call(
      { method: 'GET', path: '/api/notification/slack/conversations', query: ['type', 'token'] },
      given,
      options,
    )
  }

  /** One notification target. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationTargetByNotificationTargetId(
    given: { readonly notificationTargetId: string },
    options?: CallOptions,
  ): Promise<Api.NotificationTarget> {
    return this.call({ method: 'GET', path: '/api/notification/target/{notificationTargetId}' }, given, options)
  }

  /** The notification targets of the tenant. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationTargets(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfNotificationTarget>

  /** The notification targets of these ids. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationTargets(
    given: { readonly ids: string },
    options?: CallOptions,
  ): Promise<readonly Api.NotificationTarget[]>

  /** The targets that notifications of the type can have. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationTargets(
    given: {
      readonly notificationType:
        | 'GENERAL'
        | 'ALARM'
        | 'DEVICE_ACTIVITY'
        | 'ENTITY_ACTION'
        | 'ALARM_COMMENT'
        | 'RULE_ENGINE_COMPONENT_LIFECYCLE_EVENT'
        | 'ALARM_ASSIGNMENT'
        | 'NEW_PLATFORM_VERSION'
        | 'ENTITIES_LIMIT'
        | 'ENTITIES_LIMIT_INCREASE_REQUEST'
        | 'API_USAGE_LIMIT'
        | 'RULE_NODE'
        | 'RATE_LIMITS'
        | 'EDGE_CONNECTION'
        | 'EDGE_COMMUNICATION_FAILURE'
        | 'TASK_PROCESSING_FAILURE'
        | 'RESOURCES_SHORTAGE'
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfNotificationTarget>
  getNotificationTargets(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/notification/targets',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'ids', 'notificationType'],
      },
      given,
      options,
    )
  }

  /** The notification targets of these ids. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationTargetsList(
    given: { readonly ids: string },
    options?: CallOptions,
  ): Promise<readonly Api.NotificationTarget[]> {
    return this.call({ method: 'GET', path: '/api/notification/targets/list', query: ['ids'] }, given, options)
  }

  /** The targets that notifications of the type can have. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationTargetsNotificationTypeByNotificationType(
    given: {
      readonly notificationType:
        | 'GENERAL'
        | 'ALARM'
        | 'DEVICE_ACTIVITY'
        | 'ENTITY_ACTION'
        | 'ALARM_COMMENT'
        | 'RULE_ENGINE_COMPONENT_LIFECYCLE_EVENT'
        | 'ALARM_ASSIGNMENT'
        | 'NEW_PLATFORM_VERSION'
        | 'ENTITIES_LIMIT'
        | 'ENTITIES_LIMIT_INCREASE_REQUEST'
        | 'API_USAGE_LIMIT'
        | 'RULE_NODE'
        | 'RATE_LIMITS'
        | 'EDGE_CONNECTION'
        | 'EDGE_COMMUNICATION_FAILURE'
        | 'TASK_PROCESSING_FAILURE'
        | 'RESOURCES_SHORTAGE'
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfNotificationTarget> {
    return this.call(
      {
        method: 'GET',
        path: '/api/notification/targets/notificationType/{notificationType}',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** One notification template. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationTemplateByNotificationTemplateId(
    given: { readonly notificationTemplateId: string },
    options?: CallOptions,
  ): Promise<Api.NotificationTemplate> {
    return this.call({ method: 'GET', path: '/api/notification/template/{notificationTemplateId}' }, given, options)
  }

  /** The notification templates of the tenant, of these types where some are named. For SYS_ADMIN, TENANT_ADMIN. */
  getNotificationTemplates(
    given: {
      readonly notificationTypes?:
        | readonly (
            | 'GENERAL'
            | 'ALARM'
            | 'DEVICE_ACTIVITY'
            | 'ENTITY_ACTION'
            | 'ALARM_COMMENT'
            | 'RULE_ENGINE_COMPONENT_LIFECYCLE_EVENT'
            | 'ALARM_ASSIGNMENT'
            | 'NEW_PLATFORM_VERSION'
            | 'ENTITIES_LIMIT'
            | 'ENTITIES_LIMIT_INCREASE_REQUEST'
            | 'API_USAGE_LIMIT'
            | 'RULE_NODE'
            | 'RATE_LIMITS'
            | 'EDGE_CONNECTION'
            | 'EDGE_COMMUNICATION_FAILURE'
            | 'TASK_PROCESSING_FAILURE'
            | 'RESOURCES_SHORTAGE'
          )[]
        | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfNotificationTemplate> {
    return this.call(
      {
        method: 'GET',
        path: '/api/notification/templates',
        query: ['notificationTypes', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The inbox of the caller. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getNotifications(
    given: {
      readonly unreadOnly?: boolean | undefined
      readonly deliveryMethod?: 'WEB' | 'MOBILE_APP' | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetNotificationsAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/notifications',
        query: ['unreadOnly', 'deliveryMethod', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** How many notifications the caller has not read; 0 where no delivery method is named. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getNotificationsUnreadCount(
    given: { readonly deliveryMethod?: 'WEB' | 'MOBILE_APP' | undefined } = {},
    options?: CallOptions,
  ): Promise<number> {
    return this.call(
      { method: 'GET', path: '/api/notifications/unread/count', query: ['deliveryMethod'] },
      given,
      options,
    )
  }

  /** No clients of OAuth 2. For SYS_ADMIN, TENANT_ADMIN. */
  getOauth2ClientInfos(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetDomainInfosAnswer>

  /** No clients of OAuth 2. For SYS_ADMIN, TENANT_ADMIN. */
  getOauth2ClientInfos(
    given: { readonly clientIds: string },
    options?: CallOptions,
  ): Promise<readonly Readonly<Record<string, unknown>>[]>
  getOauth2ClientInfos(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/oauth2/client/infos',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'clientIds'],
      },
      given,
      options,
    )
  }

  /** No clients of OAuth 2. For SYS_ADMIN, TENANT_ADMIN. */
  getOauth2ClientList(
    given: { readonly clientIds: string },
    options?: CallOptions,
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.call({ method: 'GET', path: '/api/oauth2/client/list', query: ['clientIds'] }, given, options)
  }

  /** No templates for OAuth 2. For SYS_ADMIN, TENANT_ADMIN. */
  getOauth2ConfigTemplate(options?: CallOptions): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.call({ method: 'GET', path: '/api/oauth2/config/template' }, {}, options)
  }

  /** Where a provider of OAuth 2 would send who logged in there. For SYS_ADMIN, TENANT_ADMIN. */
  getOauth2LoginProcessingUrl(options?: CallOptions): Promise<string> {
    return this.call({ method: 'GET', path: '/api/oauth2/loginProcessingUrl' }, {}, options)
  }

  /** One OTA package with its bytes. For TENANT_ADMIN. */
  getOtaPackageByOtaPackageId(
    given: { readonly otaPackageId: string },
    options?: CallOptions,
  ): Promise<Api.OtaPackage> {
    return this.call({ method: 'GET', path: '/api/otaPackage/{otaPackageId}' }, given, options)
  }

  /** The bytes of an OTA package. For TENANT_ADMIN. */
  getOtaPackageByOtaPackageIdDownload(given: { readonly otaPackageId: string }, options?: CallOptions): Promise<Blob> {
    return this.call({ method: 'GET', path: '/api/otaPackage/{otaPackageId}/download', isFile: true }, given, options)
  }

  /** One OTA package. For TENANT_ADMIN, CUSTOMER_USER. */
  getOtaPackageInfoByOtaPackageId(
    given: { readonly otaPackageId: string },
    options?: CallOptions,
  ): Promise<Api.OtaPackage> {
    return this.call({ method: 'GET', path: '/api/otaPackage/info/{otaPackageId}' }, given, options)
  }

  /** The OTA packages of the tenant. For TENANT_ADMIN, CUSTOMER_USER. */
  getOtaPackages(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfOtaPackage> {
    return this.call(
      {
        method: 'GET',
        path: '/api/otaPackages',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The OTA packages that devices of a profile can load. For TENANT_ADMIN, CUSTOMER_USER. */
  getOtaPackagesByDeviceProfileIdByType(
    given: {
      readonly deviceProfileId: string
      readonly type: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfOtaPackage> {
    return this.call(
      {
        method: 'GET',
        path: '/api/otaPackages/{deviceProfileId}/{type}',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** Messages of devices that fail again and again, waiting apart. For SYS_ADMIN, TENANT_ADMIN. */
  getParked(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfParkedLane> {
    return this.call(
      { method: 'GET', path: '/api/parked', query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'] },
      given,
      options,
    )
  }

  /** Attributes of one scope, all or those named. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getPluginsTelemetryByEntityTypeByEntityIdByScope(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly scope: 'CLIENT_SCOPE' | 'SERVER_SCOPE' | 'SHARED_SCOPE'
      readonly keys?: string | undefined
      readonly key?: readonly string[] | undefined
    },
    options?: CallOptions,
  ): Promise<readonly Api.AttributeData[]> {
    return this.call(
      { method: 'GET', path: '/api/plugins/telemetry/{entityType}/{entityId}/{scope}', query: ['keys', 'key'] },
      given,
      options,
    )
  }

  /** Names the attributes of an entity. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getPluginsTelemetryByEntityTypeByEntityIdKeysAttributes(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
    },
    options?: CallOptions,
  ): Promise<readonly string[]> {
    return this.call(
      { method: 'GET', path: '/api/plugins/telemetry/{entityType}/{entityId}/keys/attributes' },
      given,
      options,
    )
  }

  /** Names the attributes of one scope. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getPluginsTelemetryByEntityTypeByEntityIdKeysAttributesByScope(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly scope: 'CLIENT_SCOPE' | 'SERVER_SCOPE' | 'SHARED_SCOPE'
    },
    options?: CallOptions,
  ): Promise<readonly string[]> {
    return this.call(
      { method: 'GET', path: '/api/plugins/telemetry/{entityType}/{entityId}/keys/attributes/{scope}' },
      given,
      options,
    )
  }

  /** Names the time series of an entity. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getPluginsTelemetryByEntityTypeByEntityIdKeysTimeseries(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
    },
    options?: CallOptions,
  ): Promise<readonly string[]> {
    return this.call(
      { method: 'GET', path: '/api/plugins/telemetry/{entityType}/{entityId}/keys/timeseries' },
      given,
      options,
    )
  }

  /** Attributes of an entity, all or those named. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getPluginsTelemetryByEntityTypeByEntityIdValuesAttributes(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly keys?: string | undefined
      readonly key?: readonly string[] | undefined
    },
    options?: CallOptions,
  ): Promise<readonly Api.AttributeData[]> {
    return this.call(
      {
        method: 'GET',
        path: '/api/plugins/telemetry/{entityType}/{entityId}/values/attributes',
        query: ['keys', 'key'],
      },
      given,
      options,
    )
  }

  /** Attributes of one scope, all or those named. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getPluginsTelemetryByEntityTypeByEntityIdValuesAttributesByScope(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly scope: 'CLIENT_SCOPE' | 'SERVER_SCOPE' | 'SHARED_SCOPE'
      readonly keys?: string | undefined
      readonly key?: readonly string[] | undefined
    },
    options?: CallOptions,
  ): Promise<readonly Api.AttributeData[]> {
    return this.call(
      {
        method: 'GET',
        path: '/api/plugins/telemetry/{entityType}/{entityId}/values/attributes/{scope}',
        query: ['keys', 'key'],
      },
      given,
      options,
    )
  }

  /** Latest values of an entity, all or those named. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getPluginsTelemetryByEntityTypeByEntityIdValuesTimeseries(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly keys?: string | undefined
      readonly key?: readonly string[] | undefined
      readonly useStrictDataTypes?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<Api.SeriesByKey>

  /** Points of a time, or their aggregates. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getPluginsTelemetryByEntityTypeByEntityIdValuesTimeseries(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly keys?: string | undefined
      readonly key?: readonly string[] | undefined
      readonly useStrictDataTypes?: boolean | undefined
      readonly startTs: number
      readonly endTs: number
      readonly intervalType?: 'MILLISECONDS' | 'WEEK' | 'WEEK_ISO' | 'MONTH' | 'QUARTER' | undefined
      readonly interval?: number | undefined
      readonly timeZone?: string | undefined
      readonly limit?: number | undefined
      readonly agg?: 'MIN' | 'MAX' | 'AVG' | 'SUM' | 'COUNT' | 'NONE' | undefined
      readonly orderBy?: string | undefined
    },
    options?: CallOptions,
  ): Promise<Api.SeriesByKey>
  getPluginsTelemetryByEntityTypeByEntityIdValuesTimeseries(
    given: Given = {},
    options?: CallOptions,
  ): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/plugins/telemetry/{entityType}/{entityId}/values/timeseries',
        query: [
          'keys',
          'key',
          'useStrictDataTypes',
          'startTs',
          'endTs',
          'intervalType',
          'interval',
          'timeZone',
          'limit',
          'agg',
          'orderBy',
        ],
      },
      given,
      options,
    )
  }

  /** Points of a time, or their aggregates. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getPluginsTelemetryByEntityTypeByEntityIdValuesTimeseriesHistory(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly keys?: string | undefined
      readonly key?: readonly string[] | undefined
      readonly useStrictDataTypes?: boolean | undefined
      readonly startTs: number
      readonly endTs: number
      readonly intervalType?: 'MILLISECONDS' | 'WEEK' | 'WEEK_ISO' | 'MONTH' | 'QUARTER' | undefined
      readonly interval?: number | undefined
      readonly timeZone?: string | undefined
      readonly limit?: number | undefined
      readonly agg?: 'MIN' | 'MAX' | 'AVG' | 'SUM' | 'COUNT' | 'NONE' | undefined
      readonly orderBy?: string | undefined
    },
    options?: CallOptions,
  ): Promise<Api.SeriesByKey> {
    return this.call(
      {
        method: 'GET',
        path: '/api/plugins/telemetry/{entityType}/{entityId}/values/timeseries/history',
        query: [
          'keys',
          'key',
          'useStrictDataTypes',
          'startTs',
          'endTs',
          'intervalType',
          'interval',
          'timeZone',
          'limit',
          'agg',
          'orderBy',
        ],
      },
      given,
      options,
    )
  }

  /** The queue statistics of the tenant. For SYS_ADMIN, TENANT_ADMIN. */
  getQueueStats(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfQueueStats>

  /** The queue statistics of these ids, without those that the caller may not see. For SYS_ADMIN, TENANT_ADMIN. */
  getQueueStats(given: { readonly queueStatsIds: string }, options?: CallOptions): Promise<readonly Api.QueueStats[]>
  getQueueStats(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/queueStats',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'queueStatsIds'],
      },
      given,
      options,
    )
  }

  /** One of the entities that statistics of a queue are series of. For SYS_ADMIN, TENANT_ADMIN. */
  getQueueStatsByQueueStatsId(
    given: { readonly queueStatsId: string },
    options?: CallOptions,
  ): Promise<Api.QueueStats> {
    return this.call({ method: 'GET', path: '/api/queueStats/{queueStatsId}' }, given, options)
  }

  /** The queue statistics of these ids, without those that the caller may not see. For SYS_ADMIN, TENANT_ADMIN. */
  getQueueStatsList(
    given: { readonly queueStatsIds: string },
    options?: CallOptions,
  ): Promise<readonly Api.QueueStats[]> {
    return this.call({ method: 'GET', path: '/api/queueStats/list', query: ['queueStatsIds'] }, given, options)
  }

  /** The queues that the tenant may use, its own and the system’s. Services other than the rule engine have none. For SYS_ADMIN, TENANT_ADMIN. */
  getQueues(
    given: {
      readonly serviceType: 'TB-RULE-ENGINE' | 'TB-CORE' | 'TB-TRANSPORT' | 'JS-EXECUTOR'
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfQueue> {
    return this.call(
      {
        method: 'GET',
        path: '/api/queues',
        query: ['serviceType', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** One queue. For SYS_ADMIN, TENANT_ADMIN. */
  getQueuesByQueueId(given: { readonly queueId: string }, options?: CallOptions): Promise<Api.Queue> {
    return this.call({ method: 'GET', path: '/api/queues/{queueId}' }, given, options)
  }

  /** The queue that the tenant means by the name. For SYS_ADMIN, TENANT_ADMIN. */
  getQueuesNameByQueueName(given: { readonly queueName: string }, options?: CallOptions): Promise<Api.Queue> {
    return this.call({ method: 'GET', path: '/api/queues/name/{queueName}' }, given, options)
  }

  /** One relation. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getRelation(
    given: {
      readonly fromId: string
      readonly fromType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly relationType: string
      readonly relationTypeGroup?: string | undefined
      readonly toId: string
      readonly toType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
    },
    options?: CallOptions,
  ): Promise<Api.DeleteV2RelationAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/relation',
        query: ['fromId', 'fromType', 'relationType', 'relationTypeGroup', 'toId', 'toType'],
      },
      given,
      options,
    )
  }

  /** Relations from an entity. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getRelations(
    given: {
      readonly fromId: string
      readonly fromType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly relationType?: string | undefined
      readonly relationTypeGroup?: string | undefined
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly from: { readonly entityType: string; readonly id: string }
      readonly to: { readonly entityType: string; readonly id: string }
      readonly type: string
      readonly typeGroup: 'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN'
      readonly version: number
      readonly additionalInfo: unknown
    }[]
  >

  /** Relations to an entity. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getRelations(
    given: {
      readonly toId: string
      readonly toType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly relationType?: string | undefined
      readonly relationTypeGroup?: string | undefined
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly from: { readonly entityType: string; readonly id: string }
      readonly to: { readonly entityType: string; readonly id: string }
      readonly type: string
      readonly typeGroup: 'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN'
      readonly version: number
      readonly additionalInfo: unknown
    }[]
  >
  getRelations(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/relations',
        query: ['fromId', 'fromType', 'relationType', 'relationTypeGroup', 'toId', 'toType'],
      },
      given,
      options,
    )
  }

  /** Relations from an entity. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getRelationsFromByFromTypeByFromId(
    given: {
      readonly fromType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly fromId: string
      readonly relationTypeGroup?: string | undefined
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly from: { readonly entityType: string; readonly id: string }
      readonly to: { readonly entityType: string; readonly id: string }
      readonly type: string
      readonly typeGroup: 'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN'
      readonly version: number
      readonly additionalInfo: unknown
    }[]
  > {
    return this.call(
      { method: 'GET', path: '/api/relations/from/{fromType}/{fromId}', query: ['relationTypeGroup'] },
      given,
      options,
    )
  }

  /** Relations of one type from an entity. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getRelationsFromByFromTypeByFromIdByRelationType(
    given: {
      readonly fromType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly fromId: string
      readonly relationType: string
      readonly relationTypeGroup?: string | undefined
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly from: { readonly entityType: string; readonly id: string }
      readonly to: { readonly entityType: string; readonly id: string }
      readonly type: string
      readonly typeGroup: 'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN'
      readonly version: number
      readonly additionalInfo: unknown
    }[]
  > {
    return this.call(
      { method: 'GET', path: '/api/relations/from/{fromType}/{fromId}/{relationType}', query: ['relationTypeGroup'] },
      given,
      options,
    )
  }

  /** Relations from an entity, with the name of the other end. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getRelationsInfo(
    given: {
      readonly fromId: string
      readonly fromType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly relationType?: string | undefined
      readonly relationTypeGroup?: string | undefined
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly from: { readonly entityType: string; readonly id: string }
      readonly to: { readonly entityType: string; readonly id: string }
      readonly type: string
      readonly typeGroup: 'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN'
      readonly version: number
      readonly additionalInfo: unknown
      readonly fromName: string | null
      readonly toName: string | null
    }[]
  >

  /** Relations to an entity, with the name of the other end. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getRelationsInfo(
    given: {
      readonly toId: string
      readonly toType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly relationType?: string | undefined
      readonly relationTypeGroup?: string | undefined
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly from: { readonly entityType: string; readonly id: string }
      readonly to: { readonly entityType: string; readonly id: string }
      readonly type: string
      readonly typeGroup: 'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN'
      readonly version: number
      readonly additionalInfo: unknown
      readonly fromName: string | null
      readonly toName: string | null
    }[]
  >
  getRelationsInfo(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/relations/info',
        query: ['fromId', 'fromType', 'relationType', 'relationTypeGroup', 'toId', 'toType'],
      },
      given,
      options,
    )
  }

  /** Relations from an entity, with the name of the other end. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getRelationsInfoFromByFromTypeByFromId(
    given: {
      readonly fromType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly fromId: string
      readonly relationTypeGroup?: string | undefined
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly from: { readonly entityType: string; readonly id: string }
      readonly to: { readonly entityType: string; readonly id: string }
      readonly type: string
      readonly typeGroup: 'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN'
      readonly version: number
      readonly additionalInfo: unknown
      readonly fromName: string | null
      readonly toName: string | null
    }[]
  > {
    return this.call(
      { method: 'GET', path: '/api/relations/info/from/{fromType}/{fromId}', query: ['relationTypeGroup'] },
      given,
      options,
    )
  }

  /** Relations to an entity, with the name of the other end. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getRelationsInfoToByToTypeByToId(
    given: {
      readonly toType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly toId: string
      readonly relationTypeGroup?: string | undefined
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly from: { readonly entityType: string; readonly id: string }
      readonly to: { readonly entityType: string; readonly id: string }
      readonly type: string
      readonly typeGroup: 'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN'
      readonly version: number
      readonly additionalInfo: unknown
      readonly fromName: string | null
      readonly toName: string | null
    }[]
  > {
    return this.call(
      { method: 'GET', path: '/api/relations/info/to/{toType}/{toId}', query: ['relationTypeGroup'] },
      given,
      options,
    )
  }

  /** Relations to an entity. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getRelationsToByToTypeByToId(
    given: {
      readonly toType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly toId: string
      readonly relationTypeGroup?: string | undefined
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly from: { readonly entityType: string; readonly id: string }
      readonly to: { readonly entityType: string; readonly id: string }
      readonly type: string
      readonly typeGroup: 'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN'
      readonly version: number
      readonly additionalInfo: unknown
    }[]
  > {
    return this.call(
      { method: 'GET', path: '/api/relations/to/{toType}/{toId}', query: ['relationTypeGroup'] },
      given,
      options,
    )
  }

  /** Relations of one type to an entity. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getRelationsToByToTypeByToIdByRelationType(
    given: {
      readonly toType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly toId: string
      readonly relationType: string
      readonly relationTypeGroup?: string | undefined
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly from: { readonly entityType: string; readonly id: string }
      readonly to: { readonly entityType: string; readonly id: string }
      readonly type: string
      readonly typeGroup: 'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN'
      readonly version: number
      readonly additionalInfo: unknown
    }[]
  > {
    return this.call(
      { method: 'GET', path: '/api/relations/to/{toType}/{toId}/{relationType}', query: ['relationTypeGroup'] },
      given,
      options,
    )
  }

  /** The files of the tenant and of the system; scripts, images and dashboards only where asked for. For SYS_ADMIN, TENANT_ADMIN. */
  getResource(
    given: {
      readonly resourceType?:
        'LWM2M_MODEL' | 'JKS' | 'PKCS_12' | 'JS_MODULE' | 'IMAGE' | 'DASHBOARD' | 'GENERAL' | undefined
      readonly resourceSubType?: 'IMAGE' | 'SCADA_SYMBOL' | 'EXTENSION' | 'MODULE' | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfTbResource>

  /** The files of these ids, of the tenant and the system. For SYS_ADMIN, TENANT_ADMIN. */
  getResource(given: { readonly resourceIds: string }, options?: CallOptions): Promise<readonly Api.TbResource[]>
  getResource(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/resource',
        query: [
          'resourceType',
          'resourceSubType',
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
          'resourceIds',
        ],
      },
      given,
      options,
    )
  }

  /** One file with its bytes. For SYS_ADMIN, TENANT_ADMIN. */
  getResourceByResourceId(
    given: { readonly resourceId: string },
    options?: CallOptions,
  ): Promise<Api.TbResourceWithData> {
    return this.call({ method: 'GET', path: '/api/resource/{resourceId}' }, given, options)
  }

  /** The bytes of a file, where they changed. For SYS_ADMIN, TENANT_ADMIN. */
  getResourceByResourceIdDownload(given: { readonly resourceId: string }, options?: CallOptions): Promise<Blob> {
    return this.call({ method: 'GET', path: '/api/resource/{resourceId}/download', isFile: true }, given, options)
  }

  /** The bytes of a file by its key, where they changed. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getResourceByResourceTypeByResourceScopeByResourceKey(
    given: {
      readonly resourceType:
        | 'js_module'
        | 'lwm2m_model'
        | 'jks'
        | 'pkcs_12'
        | 'dashboard'
        | 'general'
        | 'JS_MODULE'
        | 'LWM2M_MODEL'
        | 'JKS'
        | 'PKCS_12'
        | 'DASHBOARD'
        | 'GENERAL'
      readonly resourceScope: 'tenant' | 'system'
      readonly resourceKey: string
    },
    options?: CallOptions,
  ): Promise<Blob> {
    return this.call(
      { method: 'GET', path: '/api/resource/{resourceType}/{resourceScope}/{resourceKey}', isFile: true },
      given,
      options,
    )
  }

  /** What is known of a file by its key. For SYS_ADMIN, TENANT_ADMIN. */
  getResourceByResourceTypeByResourceScopeByResourceKeyInfo(
    given: {
      readonly resourceType:
        | 'js_module'
        | 'lwm2m_model'
        | 'jks'
        | 'pkcs_12'
        | 'dashboard'
        | 'general'
        | 'JS_MODULE'
        | 'LWM2M_MODEL'
        | 'JKS'
        | 'PKCS_12'
        | 'DASHBOARD'
        | 'GENERAL'
      readonly resourceScope: 'tenant' | 'system'
      readonly resourceKey: string
    },
    options?: CallOptions,
  ): Promise<Api.TbResource> {
    return this.call(
      { method: 'GET', path: '/api/resource/{resourceType}/{resourceScope}/{resourceKey}/info' },
      given,
      options,
    )
  }

  /** What is known of a file. For SYS_ADMIN, TENANT_ADMIN. */
  getResourceInfoByResourceId(given: { readonly resourceId: string }, options?: CallOptions): Promise<Api.TbResource> {
    return this.call({ method: 'GET', path: '/api/resource/info/{resourceId}' }, given, options)
  }

  /** The bytes of a file of the kind JKS, where they changed. For SYS_ADMIN, TENANT_ADMIN. */
  getResourceJksByJksResourceIdDownload(
    given: { readonly jksResourceId: string },
    options?: CallOptions,
  ): Promise<Blob> {
    return this.call(
      { method: 'GET', path: '/api/resource/jks/{jksResourceId}/download', isFile: true },
      given,
      options,
    )
  }

  /** The bytes of a file of the kind JS_MODULE, where they changed. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getResourceJsByJsResourceIdDownload(given: { readonly jsResourceId: string }, options?: CallOptions): Promise<Blob> {
    return this.call({ method: 'GET', path: '/api/resource/js/{jsResourceId}/download', isFile: true }, given, options)
  }

  /** The files of these ids, of the tenant and the system. For SYS_ADMIN, TENANT_ADMIN. */
  getResourceList(given: { readonly resourceIds: string }, options?: CallOptions): Promise<readonly Api.TbResource[]> {
    return this.call({ method: 'GET', path: '/api/resource/list', query: ['resourceIds'] }, given, options)
  }

  /** LwM2M objects by the keys of their models. For TENANT_ADMIN. */
  getResourceLwm2m(
    given: {
      readonly sortOrder: 'ASC' | 'DESC'
      readonly sortProperty: 'id' | 'name'
      readonly objectIds?: readonly string[] | undefined
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: number
      readonly keyId: string
      readonly name: string
      readonly multiple: boolean
      readonly mandatory: boolean
      readonly instances: readonly unknown[]
    }[]
  > {
    return this.call(
      { method: 'GET', path: '/api/resource/lwm2m', query: ['sortOrder', 'sortProperty', 'objectIds'] },
      given,
      options,
    )
  }

  /** The bytes of a file of the kind LWM2M_MODEL, where they changed. For SYS_ADMIN, TENANT_ADMIN. */
  getResourceLwm2mByLwm2mResourceIdDownload(
    given: { readonly lwm2mResourceId: string },
    options?: CallOptions,
  ): Promise<Blob> {
    return this.call(
      { method: 'GET', path: '/api/resource/lwm2m/{lwm2mResourceId}/download', isFile: true },
      given,
      options,
    )
  }

  /** LwM2M objects of all models. For TENANT_ADMIN. */
  getResourceLwm2mPage(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: number
      readonly keyId: string
      readonly name: string
      readonly multiple: boolean
      readonly mandatory: boolean
      readonly instances: readonly unknown[]
    }[]
  > {
    return this.call(
      {
        method: 'GET',
        path: '/api/resource/lwm2m/page',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The bytes of a file of the kind PKCS_12, where they changed. For SYS_ADMIN, TENANT_ADMIN. */
  getResourcePkcs12ByPkcs12ResourceIdDownload(
    given: { readonly pkcs12ResourceId: string },
    options?: CallOptions,
  ): Promise<Blob> {
    return this.call(
      { method: 'GET', path: '/api/resource/pkcs12/{pkcs12ResourceId}/download', isFile: true },
      given,
      options,
    )
  }

  /** The files of the tenant, of all kinds. For TENANT_ADMIN. */
  getResourceTenant(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfTbResource> {
    return this.call(
      {
        method: 'GET',
        path: '/api/resource/tenant',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** A persistent call: what was asked, how far it came, what the device answered. For TENANT_ADMIN, CUSTOMER_USER. */
  getRpcPersistentByRpcId(
    given: { readonly rpcId: string },
    options?: CallOptions,
  ): Promise<Api.GetRpcPersistentByRpcIdAnswer> {
    return this.call({ method: 'GET', path: '/api/rpc/persistent/{rpcId}' }, given, options)
  }

  /** The persistent calls of a device. For TENANT_ADMIN, CUSTOMER_USER. */
  getRpcPersistentDeviceByDeviceId(
    given: {
      readonly deviceId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
      readonly rpcStatus?: 'QUEUED' | 'SENT' | 'DELIVERED' | 'SUCCESSFUL' | 'TIMEOUT' | 'EXPIRED' | 'FAILED' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetRpcPersistentDeviceByDeviceIdAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/rpc/persistent/device/{deviceId}',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'rpcStatus'],
      },
      given,
      options,
    )
  }

  /** One rule chain. For TENANT_ADMIN. */
  getRuleChainByRuleChainId(given: { readonly ruleChainId: string }, options?: CallOptions): Promise<Api.RuleChain> {
    return this.call({ method: 'GET', path: '/api/ruleChain/{ruleChainId}' }, given, options)
  }

  /** What is wrong with a rule chain as it is saved, as `chain check` says it of a file. Our own addition. For TENANT_ADMIN. */
  getRuleChainByRuleChainIdFindings(
    given: { readonly ruleChainId: string },
    options?: CallOptions,
  ): Promise<readonly Api.RuleChainFinding[]> {
    return this.call({ method: 'GET', path: '/api/ruleChain/{ruleChainId}/findings' }, given, options)
  }

  /** The graph of a rule chain: its nodes, and how they are connected. For TENANT_ADMIN. */
  getRuleChainByRuleChainIdMetadata(
    given: { readonly ruleChainId: string },
    options?: CallOptions,
  ): Promise<Api.RuleChainMetaData> {
    return this.call({ method: 'GET', path: '/api/ruleChain/{ruleChainId}/metadata' }, given, options)
  }

  /** What may come out of the rule chain: the names of its output nodes. For TENANT_ADMIN. */
  getRuleChainByRuleChainIdOutputLabels(
    given: { readonly ruleChainId: string },
    options?: CallOptions,
  ): Promise<readonly string[]> {
    return this.call({ method: 'GET', path: '/api/ruleChain/{ruleChainId}/output/labels' }, given, options)
  }

  /** Nodes of other rule chains that hand messages to this one, with the labels that they are connected by. For TENANT_ADMIN. */
  getRuleChainByRuleChainIdOutputLabelsUsage(
    given: { readonly ruleChainId: string },
    options?: CallOptions,
  ): Promise<readonly Api.RuleChainOutputLabelsUsage[]> {
    return this.call({ method: 'GET', path: '/api/ruleChain/{ruleChainId}/output/labels/usage' }, given, options)
  }

  /** Nodes of a chain that did not start when they last tried, and why. For TENANT_ADMIN. */
  getRuleChainByRuleChainIdStartErrors(
    given: { readonly ruleChainId: string },
    options?: CallOptions,
  ): Promise<readonly Api.RuleNodeStartError[]> {
    return this.call({ method: 'GET', path: '/api/ruleChain/{ruleChainId}/startErrors' }, given, options)
  }

  /** What went through the nodes and connections of a chain in the process that answers, how fast, how much failed. For TENANT_ADMIN. */
  getRuleChainByRuleChainIdStatistics(
    given: { readonly ruleChainId: string },
    options?: CallOptions,
  ): Promise<Api.RuleChainStatistics> {
    return this.call({ method: 'GET', path: '/api/ruleChain/{ruleChainId}/statistics' }, given, options)
  }

  /** A version of a rule chain with its graph, secrets masked. For TENANT_ADMIN. */
  getRuleChainByRuleChainIdVersionByVersionId(
    given: { readonly ruleChainId: string; readonly versionId: string },
    options?: CallOptions,
  ): Promise<Api.RuleChainVersionData> {
    return this.call({ method: 'GET', path: '/api/ruleChain/{ruleChainId}/version/{versionId}' }, given, options)
  }

  /** Where a version differs from another one, or from the graph in force; layout aside. For TENANT_ADMIN. */
  getRuleChainByRuleChainIdVersionByVersionIdDifferences(
    given: { readonly ruleChainId: string; readonly versionId: string; readonly with?: string | undefined },
    options?: CallOptions,
  ): Promise<readonly Api.RuleChainDifference[]> {
    return this.call(
      { method: 'GET', path: '/api/ruleChain/{ruleChainId}/version/{versionId}/differences', query: ['with'] },
      given,
      options,
    )
  }

  /** The versions of a rule chain that are kept, newest first: one for each save of its graph. For TENANT_ADMIN. */
  getRuleChainByRuleChainIdVersions(
    given: { readonly ruleChainId: string },
    options?: CallOptions,
  ): Promise<readonly Api.RuleChainVersion[]> {
    return this.call({ method: 'GET', path: '/api/ruleChain/{ruleChainId}/versions' }, given, options)
  }

  /** Whether scripts may be written in TBEL: they may. For TENANT_ADMIN. */
  getRuleChainTbelEnabled(options?: CallOptions): Promise<boolean> {
    return this.call({ method: 'GET', path: '/api/ruleChain/tbelEnabled' }, {}, options)
  }

  /** How far a trial is, and what it found so far. It is kept for some minutes, in the process that began it. For TENANT_ADMIN. */
  getRuleChainTrialByTrialId(given: { readonly trialId: string }, options?: CallOptions): Promise<Api.RuleChainTrial> {
    return this.call({ method: 'GET', path: '/api/ruleChain/trial/{trialId}' }, given, options)
  }

  /** The rule chains of the tenant; those that run here, where no type is named. For TENANT_ADMIN. */
  getRuleChains(
    given: {
      readonly type?: 'CORE' | 'EDGE' | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfRuleChain>

  /** The ruleChains of these ids, without those that the caller may not see. For TENANT_ADMIN. */
  getRuleChains(given: { readonly ruleChainIds: string }, options?: CallOptions): Promise<readonly Api.RuleChain[]>
  getRuleChains(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/ruleChains',
        query: ['type', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'ruleChainIds'],
      },
      given,
      options,
    )
  }

  /** Rule chains of the tenant with their graphs, for a file. For TENANT_ADMIN. */
  getRuleChainsExport(given: { readonly limit: number }, options?: CallOptions): Promise<Api.RuleChainData> {
    return this.call({ method: 'GET', path: '/api/ruleChains/export', query: ['limit'] }, given, options)
  }

  /** The ruleChains of these ids, without those that the caller may not see. For TENANT_ADMIN. */
  getRuleChainsList(
    given: { readonly ruleChainIds: string },
    options?: CallOptions,
  ): Promise<readonly Api.RuleChain[]> {
    return this.call({ method: 'GET', path: '/api/ruleChains/list', query: ['ruleChainIds'] }, given, options)
  }

  /** Where a message went, as far as its nodes were watched: oldest step first, at most 1000. For TENANT_ADMIN. */
  getRuleEngineMessageByMessageIdPath(
    given: { readonly messageId: string },
    options?: CallOptions,
  ): Promise<readonly Api.MessageStep[]> {
    return this.call({ method: 'GET', path: '/api/ruleEngine/message/{messageId}/path' }, given, options)
  }

  /** The last message that came into a rule node while it was watched. For TENANT_ADMIN. */
  getRuleNodeByRuleNodeIdDebugIn(
    given: { readonly ruleNodeId: string },
    options?: CallOptions,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    return this.call({ method: 'GET', path: '/api/ruleNode/{ruleNodeId}/debugIn' }, given, options)
  }

  /** Which program answers, in which version. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getSystemInfo(options?: CallOptions): Promise<Api.GetSystemInfoAnswer> {
    return this.call({ method: 'GET', path: '/api/system/info' }, {}, options)
  }

  /** Switches and bounds of the system, for front ends. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getSystemParams(options?: CallOptions): Promise<Api.GetSystemParamsAnswer> {
    return this.call({ method: 'GET', path: '/api/system/params' }, {}, options)
  }

  /** The asset of that name. For TENANT_ADMIN. */
  getTenantAsset(given: { readonly assetName: string }, options?: CallOptions): Promise<Api.Asset> {
    return this.call({ method: 'GET', path: '/api/tenant/asset', query: ['assetName'] }, given, options)
  }

  /** The assets of the tenant, with the names of what they belong to. For TENANT_ADMIN. */
  getTenantAssetInfos(
    given: {
      readonly type?: string | undefined
      readonly assetProfileId?: string | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfAssetInfo> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenant/assetInfos',
        query: ['type', 'assetProfileId', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The assets of the tenant. For TENANT_ADMIN. */
  getTenantAssets(
    given: {
      readonly type?: string | undefined
      readonly assetProfileId?: string | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfAsset>

  /** The asset of that name. For TENANT_ADMIN. */
  getTenantAssets(given: { readonly assetName: string }, options?: CallOptions): Promise<Api.Asset>
  getTenantAssets(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenant/assets',
        query: ['type', 'assetProfileId', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'assetName'],
      },
      given,
      options,
    )
  }

  /** One tenant. For SYS_ADMIN, TENANT_ADMIN. */
  getTenantByTenantId(given: { readonly tenantId: string }, options?: CallOptions): Promise<Api.Tenant> {
    return this.call({ method: 'GET', path: '/api/tenant/{tenantId}' }, given, options)
  }

  /** The dashboards of any tenant. For SYS_ADMIN. */
  getTenantByTenantIdDashboards(
    given: {
      readonly tenantId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetCustomerByCustomerIdDashboardsAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenant/{tenantId}/dashboards',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** What a tenant has in a table, or its `series`, row by row, each as a JSON text; `next` is where more of it begins. For SYS_ADMIN. */
  getTenantByTenantIdRows(
    given: { readonly tenantId: string; readonly table: string; readonly after?: string | undefined },
    options?: CallOptions,
  ): Promise<Api.GetTenantByTenantIdRowsAnswer> {
    return this.call({ method: 'GET', path: '/api/tenant/{tenantId}/rows', query: ['table', 'after'] }, given, options)
  }

  /** The tables in which a tenant has something, in the order in which they are brought in. For SYS_ADMIN. */
  getTenantByTenantIdRowsTables(
    given: { readonly tenantId: string },
    options?: CallOptions,
  ): Promise<readonly string[]> {
    return this.call({ method: 'GET', path: '/api/tenant/{tenantId}/rows/tables' }, given, options)
  }

  /** The administrators of a tenant. For SYS_ADMIN. */
  getTenantByTenantIdUsers(
    given: {
      readonly tenantId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfUser> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenant/{tenantId}/users',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The customer of that name. For TENANT_ADMIN. */
  getTenantCustomers(given: { readonly customerTitle: string }, options?: CallOptions): Promise<Api.Customer> {
    return this.call({ method: 'GET', path: '/api/tenant/customers', query: ['customerTitle'] }, given, options)
  }

  /** The dashboard that users of the tenant start with where nothing nearer says another. For TENANT_ADMIN. */
  getTenantDashboardHomeInfo(options?: CallOptions): Promise<Api.GetDashboardHomeInfoAnswer> {
    return this.call({ method: 'GET', path: '/api/tenant/dashboard/home/info' }, {}, options)
  }

  /** The dashboards of the tenant. For TENANT_ADMIN. */
  getTenantDashboards(
    given: {
      readonly mobile?: boolean | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetCustomerByCustomerIdDashboardsAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenant/dashboards',
        query: ['mobile', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The device of that name. For TENANT_ADMIN. */
  getTenantDevice(given: { readonly deviceName: string }, options?: CallOptions): Promise<Api.Device> {
    return this.call({ method: 'GET', path: '/api/tenant/device', query: ['deviceName'] }, given, options)
  }

  /** The devices of the tenant, with the names of what they belong to. For TENANT_ADMIN. */
  getTenantDeviceInfos(
    given: {
      readonly type?: string | undefined
      readonly deviceProfileId?: string | undefined
      readonly active?: boolean | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfDeviceInfo> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenant/deviceInfos',
        query: ['type', 'deviceProfileId', 'active', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The devices of the tenant. For TENANT_ADMIN. */
  getTenantDevices(
    given: {
      readonly type?: string | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfDevice>

  /** The device of that name. For TENANT_ADMIN. */
  getTenantDevices(given: { readonly deviceName: string }, options?: CallOptions): Promise<Api.Device>
  getTenantDevices(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenant/devices',
        query: ['type', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'deviceName'],
      },
      given,
      options,
    )
  }

  /** There are no edges: an empty page. For TENANT_ADMIN. */
  getTenantEdgeInfos(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetDomainInfosAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenant/edgeInfos',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The entity view of that name. For TENANT_ADMIN. */
  getTenantEntityView(given: { readonly entityViewName: string }, options?: CallOptions): Promise<Api.EntityView> {
    return this.call({ method: 'GET', path: '/api/tenant/entityView', query: ['entityViewName'] }, given, options)
  }

  /** The entityViews of the tenant, with the names of what they belong to. For TENANT_ADMIN. */
  getTenantEntityViewInfos(
    given: {
      readonly type?: string | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfEntityViewInfo> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenant/entityViewInfos',
        query: ['type', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The entityViews of the tenant. For TENANT_ADMIN. */
  getTenantEntityViews(
    given: {
      readonly type?: string | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfEntityView>

  /** The entity view of that name. For TENANT_ADMIN. */
  getTenantEntityViews(given: { readonly entityViewName: string }, options?: CallOptions): Promise<Api.EntityView>
  getTenantEntityViews(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenant/entityViews',
        query: ['type', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'entityViewName'],
      },
      given,
      options,
    )
  }

  /** One tenant, with the name of its profile. For SYS_ADMIN, TENANT_ADMIN. */
  getTenantInfoByTenantId(given: { readonly tenantId: string }, options?: CallOptions): Promise<Api.TenantInfo> {
    return this.call({ method: 'GET', path: '/api/tenant/info/{tenantId}' }, given, options)
  }

  /** The tenants, with the names of their profiles. For SYS_ADMIN. */
  getTenantInfos(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfTenantInfo> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenantInfos',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** One tenant profile. For SYS_ADMIN. */
  getTenantProfileByTenantProfileId(
    given: { readonly tenantProfileId: string },
    options?: CallOptions,
  ): Promise<Api.TenantProfile> {
    return this.call({ method: 'GET', path: '/api/tenantProfile/{tenantProfileId}' }, given, options)
  }

  /** Name of a profile. For SYS_ADMIN. */
  getTenantProfileInfoByTenantProfileId(
    given: { readonly tenantProfileId: string },
    options?: CallOptions,
  ): Promise<Api.GetTenantProfileInfoByTenantProfileIdAnswer> {
    return this.call({ method: 'GET', path: '/api/tenantProfileInfo/{tenantProfileId}' }, given, options)
  }

  /** Name of the profile of tenants that name none. For SYS_ADMIN. */
  getTenantProfileInfoDefault(options?: CallOptions): Promise<Api.GetTenantProfileInfoByTenantProfileIdAnswer> {
    return this.call({ method: 'GET', path: '/api/tenantProfileInfo/default' }, {}, options)
  }

  /** Names of the profiles. For SYS_ADMIN. */
  getTenantProfileInfos(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetTenantProfileInfosAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenantProfileInfos',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The tenantProfiles of the tenant. For SYS_ADMIN. */
  getTenantProfiles(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfTenantProfile>

  /** The tenant profiles of these ids. For SYS_ADMIN. */
  getTenantProfiles(given: { readonly ids: string }, options?: CallOptions): Promise<readonly Api.TenantProfile[]>
  getTenantProfiles(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenantProfiles',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'ids'],
      },
      given,
      options,
    )
  }

  /** The tenant profiles of these ids. For SYS_ADMIN. */
  getTenantProfilesList(given: { readonly ids: string }, options?: CallOptions): Promise<readonly Api.TenantProfile[]> {
    return this.call({ method: 'GET', path: '/api/tenantProfiles/list', query: ['ids'] }, given, options)
  }

  /** The tenants of the tenant. For SYS_ADMIN. */
  getTenants(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfTenant>

  /** The tenants of these ids, without those that the caller may not see. For SYS_ADMIN. */
  getTenants(given: { readonly tenantIds: string }, options?: CallOptions): Promise<readonly Api.Tenant[]>
  getTenants(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/tenants',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'tenantIds'],
      },
      given,
      options,
    )
  }

  /** The tenants of these ids, without those that the caller may not see. For SYS_ADMIN, TENANT_ADMIN. */
  getTenantsList(given: { readonly tenantIds: string }, options?: CallOptions): Promise<readonly Api.Tenant[]> {
    return this.call({ method: 'GET', path: '/api/tenants/list', query: ['tenantIds'] }, given, options)
  }

  /** There is no Trendz. For TENANT_ADMIN, CUSTOMER_USER. */
  getTrendzSettings(options?: CallOptions): Promise<Api.GetTrendzSettingsAnswer> {
    return this.call({ method: 'GET', path: '/api/trendz/settings' }, {}, options)
  }

  /** Where front ends look for help pages: this server itself, which has none of other hosts. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getUiSettingsHelpBaseUrl(options?: CallOptions): Promise<string> {
    return this.call({ method: 'GET', path: '/api/uiSettings/helpBaseUrl' }, {}, options)
  }

  /** How much the tenant has, and how much its profile allows. For TENANT_ADMIN. */
  getUsage(options?: CallOptions): Promise<Api.GetUsageAnswer> {
    return this.call({ method: 'GET', path: '/api/usage' }, {}, options)
  }

  /** One user, with whether he is activated and may log in. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getUserByUserId(given: { readonly userId: string }, options?: CallOptions): Promise<Api.User> {
    return this.call({ method: 'GET', path: '/api/user/{userId}' }, given, options)
  }

  /** Where the user chooses the first password, as plain text. For SYS_ADMIN, TENANT_ADMIN. */
  getUserByUserIdActivationLink(given: { readonly userId: string }, options?: CallOptions): Promise<string> {
    return this.call({ method: 'GET', path: '/api/user/{userId}/activationLink' }, given, options)
  }

  /** The same with the milliseconds for which it is good. For SYS_ADMIN, TENANT_ADMIN. */
  getUserByUserIdActivationLinkInfo(
    given: { readonly userId: string },
    options?: CallOptions,
  ): Promise<Api.GetUserByUserIdActivationLinkInfoAnswer> {
    return this.call({ method: 'GET', path: '/api/user/{userId}/activationLinkInfo' }, given, options)
  }

  /** A token pair with which the caller acts as that user. For SYS_ADMIN, TENANT_ADMIN. */
  getUserByUserIdToken(
    given: { readonly userId: string },
    options?: CallOptions,
  ): Promise<Api.GetUserByUserIdTokenAnswer> {
    return this.call({ method: 'GET', path: '/api/user/{userId}/token' }, given, options)
  }

  /** The dashboards that the caller visited last, and those with a star. For TENANT_ADMIN, CUSTOMER_USER. */
  getUserDashboards(options?: CallOptions): Promise<Api.GetUserDashboardsAnswer> {
    return this.call({ method: 'GET', path: '/api/user/dashboards' }, {}, options)
  }

  /** Notes that the caller visits a dashboard, gives it a star, or takes it away (`visit`, `star`, `unstar`). For TENANT_ADMIN, CUSTOMER_USER. */
  getUserDashboardsByDashboardIdByAction(
    given: { readonly dashboardId: string; readonly action: string },
    options?: CallOptions,
  ): Promise<Api.GetUserDashboardsAnswer> {
    return this.call({ method: 'GET', path: '/api/user/dashboards/{dashboardId}/{action}' }, given, options)
  }

  /** The dashboards that the caller visited last, and those with a star. For TENANT_ADMIN, CUSTOMER_USER. */
  getUserLastVisitedDashboards(options?: CallOptions): Promise<Api.GetUserDashboardsAnswer> {
    return this.call({ method: 'GET', path: '/api/user/lastVisitedDashboards' }, {}, options)
  }

  /** The session of a mobile app of the caller; nothing where it has none. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getUserMobileSession(
    given: { readonly 'X-Mobile-Token': string },
    options?: CallOptions,
  ): Promise<Api.GetUserMobileSessionAnswer | undefined> {
    return this.call({ method: 'GET', path: '/api/user/mobile/session', headers: ['X-Mobile-Token'] }, given, options)
  }

  /** The general settings of the caller. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getUserSettings(options?: CallOptions): Promise<Readonly<Record<string, unknown>>> {
    return this.call({ method: 'GET', path: '/api/user/settings' }, {}, options)
  }

  /** Settings of a type (`QUICK_LINKS`, `NOTIFICATIONS` …) of the caller. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getUserSettingsByType(
    given: { readonly type: string },
    options?: CallOptions,
  ): Promise<Readonly<Record<string, unknown>>> {
    return this.call({ method: 'GET', path: '/api/user/settings/{type}' }, given, options)
  }

  /** The general settings of the caller. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getUserSettingsGeneral(options?: CallOptions): Promise<Readonly<Record<string, unknown>>> {
    return this.call({ method: 'GET', path: '/api/user/settings/general' }, {}, options)
  }

  /** Whether administrators may act as other users. For SYS_ADMIN, TENANT_ADMIN. */
  getUserTokenAccessEnabled(options?: CallOptions): Promise<boolean> {
    return this.call({ method: 'GET', path: '/api/user/tokenAccessEnabled' }, {}, options)
  }

  /** The users of the tenant; for a customer user those of the user's customer. For TENANT_ADMIN, CUSTOMER_USER. */
  getUsers(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfUser>

  /** The users of these ids, without those that the caller may not see. For TENANT_ADMIN, CUSTOMER_USER. */
  getUsers(given: { readonly userIds: string }, options?: CallOptions): Promise<readonly Api.User[]>
  getUsers(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/users',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder', 'userIds'],
      },
      given,
      options,
    )
  }

  /** Users to whom the alarm may be given. For TENANT_ADMIN, CUSTOMER_USER. */
  getUsersAssignByAlarmId(
    given: {
      readonly alarmId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetUsersAssignByAlarmIdAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/users/assign/{alarmId}',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** Addresses and names of users, found by any of them. For TENANT_ADMIN, CUSTOMER_USER. */
  getUsersInfo(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetUsersInfoAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/users/info',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
      },
      given,
      options,
    )
  }

  /** The users of these ids, without those that the caller may not see. For TENANT_ADMIN, CUSTOMER_USER. */
  getUsersList(given: { readonly userIds: string }, options?: CallOptions): Promise<readonly Api.User[]> {
    return this.call({ method: 'GET', path: '/api/users/list', query: ['userIds'] }, given, options)
  }

  /** The alarms that show on an entity, of several statuses, severities and types. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getV2AlarmByEntityTypeByEntityId(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly statusList?: readonly ('ANY' | 'ACTIVE' | 'CLEARED' | 'ACK' | 'UNACK')[] | undefined
      readonly severityList?: readonly ('CRITICAL' | 'MAJOR' | 'MINOR' | 'WARNING' | 'INDETERMINATE')[] | undefined
      readonly typeList?: readonly string[] | undefined
      readonly assigneeId?: string | undefined
      readonly startTime?: number | undefined
      readonly endTime?: number | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAlarmByEntityTypeByEntityIdAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/v2/alarm/{entityType}/{entityId}',
        query: [
          'statusList',
          'severityList',
          'typeList',
          'assigneeId',
          'startTime',
          'endTime',
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
        ],
      },
      given,
      options,
    )
  }

  /** The same, of several statuses, severities and types. For TENANT_ADMIN, CUSTOMER_USER. */
  getV2Alarms(
    given: {
      readonly statusList?: readonly ('ANY' | 'ACTIVE' | 'CLEARED' | 'ACK' | 'UNACK')[] | undefined
      readonly severityList?: readonly ('CRITICAL' | 'MAJOR' | 'MINOR' | 'WARNING' | 'INDETERMINATE')[] | undefined
      readonly typeList?: readonly string[] | undefined
      readonly assigneeId?: string | undefined
      readonly startTime?: number | undefined
      readonly endTime?: number | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetAlarmByEntityTypeByEntityIdAnswer> {
    return this.call(
      {
        method: 'GET',
        path: '/api/v2/alarms',
        query: [
          'statusList',
          'severityList',
          'typeList',
          'assigneeId',
          'startTime',
          'endTime',
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
        ],
      },
      given,
      options,
    )
  }

  /** The widget type of a name with its scope: `system.card`, `tenant.card`. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetType(given: { readonly fqn: string }, options?: CallOptions): Promise<Api.GetWidgetTypeAnswer>

  /** The same as old dashboards name it. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetType(
    given: { readonly isSystem: boolean; readonly bundleAlias: string; readonly alias: string },
    options?: CallOptions,
  ): Promise<Api.GetWidgetTypeAnswer>
  getWidgetType(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      { method: 'GET', path: '/api/widgetType', query: ['fqn', 'isSystem', 'bundleAlias', 'alias'] },
      given,
      options,
    )
  }

  /** One widgets type; with its images in it where `inlineImages` is true, with its files beside it where `includeResources` is. For SYS_ADMIN, TENANT_ADMIN. */
  getWidgetTypeByWidgetTypeId(
    given: {
      readonly widgetTypeId: string
      readonly inlineImages?: boolean | undefined
      readonly includeResources?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<Api.WidgetType> {
    return this.call(
      { method: 'GET', path: '/api/widgetType/{widgetTypeId}', query: ['inlineImages', 'includeResources'] },
      given,
      options,
    )
  }

  /** The names of the widget types of a bundle. For SYS_ADMIN, TENANT_ADMIN. */
  getWidgetTypeFqns(given: { readonly widgetsBundleId: string }, options?: CallOptions): Promise<readonly string[]> {
    return this.call({ method: 'GET', path: '/api/widgetTypeFqns', query: ['widgetsBundleId'] }, given, options)
  }

  /** One widget type without its descriptor, with the bundles that hold it. For SYS_ADMIN, TENANT_ADMIN. */
  getWidgetTypeInfoByWidgetTypeId(
    given: { readonly widgetTypeId: string },
    options?: CallOptions,
  ): Promise<Api.GetWidgetTypeInfoByWidgetTypeIdAnswer> {
    return this.call({ method: 'GET', path: '/api/widgetTypeInfo/{widgetTypeId}' }, given, options)
  }

  /** The tenant's widget types and the system's. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetTypes(
    given: {
      readonly tenantOnly?: boolean | undefined
      readonly scadaFirst?: boolean | undefined
      readonly fullSearch?: boolean | undefined
      readonly deprecatedFilter?: 'ALL' | 'ACTUAL' | 'DEPRECATED' | undefined
      readonly widgetTypeList?: readonly string[] | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetWidgetTypesAnswer>

  /** The widget types of a bundle, in its order. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetTypes(
    given: { readonly widgetsBundleId: string },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: Api.WidgetTypeId
      readonly createdTime: number
      readonly tenantId: Api.TenantId
      readonly fqn: string
      readonly name: string
      readonly deprecated: boolean
      readonly scada: boolean
      readonly version: number
      readonly descriptor: unknown
    }[]
  >

  /** The widget types of the bundle of that alias. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetTypes(
    given: { readonly isSystem: boolean; readonly bundleAlias: string },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: Api.WidgetTypeId
      readonly createdTime: number
      readonly tenantId: Api.TenantId
      readonly fqn: string
      readonly name: string
      readonly deprecated: boolean
      readonly scada: boolean
      readonly version: number
      readonly descriptor: unknown
    }[]
  >
  getWidgetTypes(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/widgetTypes',
        query: [
          'tenantOnly',
          'scadaFirst',
          'fullSearch',
          'deprecatedFilter',
          'widgetTypeList',
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
          'widgetsBundleId',
          'isSystem',
          'bundleAlias',
        ],
      },
      given,
      options,
    )
  }

  /** The widget types of a bundle with all that is known of them. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetTypesDetails(
    given: { readonly widgetsBundleId: string; readonly includeResources?: boolean | undefined },
    options?: CallOptions,
  ): Promise<readonly Api.WidgetType[]>

  /** The same by the alias of the bundle. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetTypesDetails(
    given: { readonly isSystem: boolean; readonly bundleAlias: string },
    options?: CallOptions,
  ): Promise<readonly Api.WidgetType[]>
  getWidgetTypesDetails(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/widgetTypesDetails',
        query: ['widgetsBundleId', 'includeResources', 'isSystem', 'bundleAlias'],
      },
      given,
      options,
    )
  }

  /** The widget types of a bundle without their descriptors. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetTypesInfos(
    given: {
      readonly widgetsBundleId: string
      readonly fullSearch?: boolean | undefined
      readonly deprecatedFilter?: 'ALL' | 'ACTUAL' | 'DEPRECATED' | undefined
      readonly widgetTypeList?: readonly string[] | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.GetWidgetTypesAnswer>

  /** The same by the alias of the bundle. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetTypesInfos(
    given: { readonly isSystem: boolean; readonly bundleAlias: string },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: Api.WidgetTypeId
      readonly createdTime: number
      readonly tenantId: Api.TenantId
      readonly fqn: string
      readonly name: string
      readonly deprecated: boolean
      readonly scada: boolean
      readonly version: number
      readonly image?: string | null
      readonly description?: string | null
      readonly tags?: readonly unknown[] | null
      readonly widgetType: string | null
      readonly bundles: readonly unknown[]
    }[]
  >
  getWidgetTypesInfos(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/widgetTypesInfos',
        query: [
          'widgetsBundleId',
          'fullSearch',
          'deprecatedFilter',
          'widgetTypeList',
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
          'isSystem',
          'bundleAlias',
        ],
      },
      given,
      options,
    )
  }

  /** One widgets bundle; with its images in it where `inlineImages` is true. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetsBundleByWidgetsBundleId(
    given: { readonly widgetsBundleId: string; readonly inlineImages?: boolean | undefined },
    options?: CallOptions,
  ): Promise<Api.WidgetsBundle> {
    return this.call(
      { method: 'GET', path: '/api/widgetsBundle/{widgetsBundleId}', query: ['inlineImages'] },
      given,
      options,
    )
  }

  /** The widget types of a bundle, in its order. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetsBundleByWidgetsBundleIdWidgetTypes(
    given: { readonly widgetsBundleId: string },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly id: Api.WidgetTypeId
      readonly createdTime: number
      readonly tenantId: Api.TenantId
      readonly fqn: string
      readonly name: string
      readonly deprecated: boolean
      readonly scada: boolean
      readonly version: number
      readonly descriptor: unknown
    }[]
  > {
    return this.call({ method: 'GET', path: '/api/widgetsBundle/{widgetsBundleId}/widgetTypes' }, given, options)
  }

  /** All bundles: the tenant's and the system's. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetsBundles(options?: CallOptions): Promise<readonly Api.WidgetsBundle[]>

  /** The bundles of these ids, without those that the caller may not see. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetsBundles(
    given: { readonly widgetsBundleIds: string },
    options?: CallOptions,
  ): Promise<readonly Api.WidgetsBundle[]>

  /** The tenant's bundles and the system's, in pages. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetsBundles(
    given: {
      readonly tenantOnly?: boolean | undefined
      readonly fullSearch?: boolean | undefined
      readonly scadaFirst?: boolean | undefined
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
    },
    options?: CallOptions,
  ): Promise<Api.PageOfWidgetsBundle>
  getWidgetsBundles(given: Given = {}, options?: CallOptions): Promise<unknown> {
    return this.call(
      {
        method: 'GET',
        path: '/api/widgetsBundles',
        query: [
          'widgetsBundleIds',
          'tenantOnly',
          'fullSearch',
          'scadaFirst',
          'pageSize',
          'page',
          'textSearch',
          'sortProperty',
          'sortOrder',
        ],
      },
      given,
      options,
    )
  }

  /** All bundles: the tenant's and the system's. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetsBundlesAll(options?: CallOptions): Promise<readonly Api.WidgetsBundle[]> {
    return this.call({ method: 'GET', path: '/api/widgetsBundles/all' }, {}, options)
  }

  /** The bundles of these ids, without those that the caller may not see. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  getWidgetsBundlesList(
    given: { readonly widgetsBundleIds: string },
    options?: CallOptions,
  ): Promise<readonly Api.WidgetsBundle[]> {
    return this.call({ method: 'GET', path: '/api/widgetsBundles/list', query: ['widgetsBundleIds'] }, given, options)
  }

  /** Confirms a configuration with a code: from now on a password alone is not enough. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  post2faAccountConfig(
    given: { readonly verificationCode?: string | undefined; readonly body: Api.Post2faAccountConfigBody },
    options?: CallOptions,
  ): Promise<Api.Delete2faAccountConfigAnswer> {
    return this.call(
      { method: 'POST', path: '/api/2fa/account/config', query: ['verificationCode'], body: 'json' },
      given,
      options,
    )
  }

  /** A new secret or new backup codes, which count when they are confirmed. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  post2faAccountConfigGenerate(
    given: { readonly providerType: 'TOTP' | 'SMS' | 'EMAIL' | 'BACKUP_CODE' },
    options?: CallOptions,
  ): Promise<Api.Post2faAccountConfigGenerateAnswer> {
    return this.call(
      { method: 'POST', path: '/api/2fa/account/config/generate', query: ['providerType'] },
      given,
      options,
    )
  }

  /** Says whether a configuration could be confirmed; sends a code where one is needed. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  post2faAccountConfigSubmit(
    given: { readonly body: Api.Post2faAccountConfigBody },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'POST', path: '/api/2fa/account/config/submit', body: 'json' }, given, options)
  }

  /** Says which second factors users may set up. For SYS_ADMIN. */
  post2faSettings(
    given: { readonly body: Api.Post2faSettingsBody },
    options?: CallOptions,
  ): Promise<Api.Get2faSettingsAnswer> {
    return this.call({ method: 'POST', path: '/api/2fa/settings', body: 'json' }, given, options)
  }

  /** Begins a backup of what the process that answers keeps in its data folder. For SYS_ADMIN. */
  postAdminBackup(options?: CallOptions): Promise<Api.Backup> {
    return this.call({ method: 'POST', path: '/api/admin/backup' }, {}, options)
  }

  /** Takes what was deleted out of the files of the stores, and says of each whether it is gone, when it will be (`by`, Unix ms), or what is left to do. For SYS_ADMIN. */
  postAdminErasure(
    given: { readonly body: Readonly<Record<string, unknown>> },
    options?: CallOptions,
  ): Promise<Api.PostAdminErasureAnswer> {
    return this.call({ method: 'POST', path: '/api/admin/erasure', body: 'json' }, given, options)
  }

  /** Says how tokens are signed, and answers new ones. Tokens of before are good until they expire. For SYS_ADMIN. */
  postAdminJwtSettings(
    given: { readonly body: Api.PostAdminJwtSettingsBody },
    options?: CallOptions,
  ): Promise<Api.GetUserByUserIdTokenAnswer> {
    return this.call({ method: 'POST', path: '/api/admin/jwtSettings', body: 'json' }, given, options)
  }

  /** Says how passwords must be, when users are locked, and how long links are good. For SYS_ADMIN. */
  postAdminSecuritySettings(
    given: { readonly body: Api.PostAdminSecuritySettingsBody },
    options?: CallOptions,
  ): Promise<Api.GetAdminSecuritySettingsAnswer> {
    return this.call({ method: 'POST', path: '/api/admin/securitySettings', body: 'json' }, given, options)
  }

  /** Saves settings of the platform; secrets that are left out stay as they are. For SYS_ADMIN. */
  postAdminSettings(
    given: { readonly body: Api.PostAdminSettingsBody },
    options?: CallOptions,
  ): Promise<Api.GetAdminSettingsBySettingsKeyAnswer> {
    return this.call({ method: 'POST', path: '/api/admin/settings', body: 'json' }, given, options)
  }

  /** Sends a mail to the caller by the settings of the body. For SYS_ADMIN. */
  postAdminSettingsTestMail(given: { readonly body: Api.PostAdminSettingsBody }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'POST', path: '/api/admin/settings/testMail', body: 'json' }, given, options)
  }

  /** Sends a text to a phone by the provider of the body. For SYS_ADMIN. */
  postAdminSettingsTestSms(
    given: { readonly body: Api.PostAdminSettingsTestSmsBody },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'POST', path: '/api/admin/settings/testSms', body: 'json' }, given, options)
  }

  /** Changes settings of a worker pool while it runs. For SYS_ADMIN. */
  postAdminWorkersByPoolName(
    given: { readonly poolName: string; readonly body: Api.PostAdminWorkersByPoolNameBody },
    options?: CallOptions,
  ): Promise<Api.MemberPool> {
    return this.call({ method: 'POST', path: '/api/admin/workers/{poolName}', body: 'json' }, given, options)
  }

  /** Makes an AI model, or replaces the one that the body names. A key that is sent back masked stays as it is. For TENANT_ADMIN. */
  postAiModel(given: { readonly body: Api.PostAiModelBody }, options?: CallOptions): Promise<Api.AiModel> {
    return this.call({ method: 'POST', path: '/api/ai/model', body: 'json' }, given, options)
  }

  /** Asks a model that need not be saved, to see whether it answers. For TENANT_ADMIN. */
  postAiModelChat(
    given: { readonly body: Api.PostAiModelChatBody },
    options?: CallOptions,
  ): Promise<Api.PostAiModelChatAnswer> {
    return this.call({ method: 'POST', path: '/api/ai/model/chat', body: 'json' }, given, options)
  }

  /** Raises an alarm, or changes the active one of the same originator and type, or the one that the body names. For TENANT_ADMIN, CUSTOMER_USER. */
  postAlarm(
    given: { readonly body: Api.PostAlarmBody },
    options?: CallOptions,
  ): Promise<Api.DeleteAlarmByAlarmIdAssignAnswer> {
    return this.call({ method: 'POST', path: '/api/alarm', body: 'json' }, given, options)
  }

  /** Notes that somebody has seen the alarm. For TENANT_ADMIN, CUSTOMER_USER. */
  postAlarmByAlarmIdAck(
    given: { readonly alarmId: string },
    options?: CallOptions,
  ): Promise<Api.GetAlarmInfoByAlarmIdAnswer> {
    return this.call({ method: 'POST', path: '/api/alarm/{alarmId}/ack' }, given, options)
  }

  /** Gives the alarm to a user. For TENANT_ADMIN, CUSTOMER_USER. */
  postAlarmByAlarmIdAssignByAssigneeId(
    given: { readonly alarmId: string; readonly assigneeId: string },
    options?: CallOptions,
  ): Promise<Api.DeleteAlarmByAlarmIdAssignAnswer> {
    return this.call({ method: 'POST', path: '/api/alarm/{alarmId}/assign/{assigneeId}' }, given, options)
  }

  /** Ends the alarm: the next of its type is a new one. For TENANT_ADMIN, CUSTOMER_USER. */
  postAlarmByAlarmIdClear(
    given: { readonly alarmId: string },
    options?: CallOptions,
  ): Promise<Api.GetAlarmInfoByAlarmIdAnswer> {
    return this.call({ method: 'POST', path: '/api/alarm/{alarmId}/clear' }, given, options)
  }

  /** Says something of an alarm, or changes what the caller said. For TENANT_ADMIN, CUSTOMER_USER. */
  postAlarmByAlarmIdComment(
    given: { readonly alarmId: string; readonly body: Api.PostAlarmByAlarmIdCommentBody },
    options?: CallOptions,
  ): Promise<Api.PostAlarmByAlarmIdCommentAnswer> {
    return this.call({ method: 'POST', path: '/api/alarm/{alarmId}/comment', body: 'json' }, given, options)
  }

  /** Makes an alarm rule, or replaces the one that the body names: its name is the type of the alarms. For TENANT_ADMIN. */
  postAlarmRule(
    given: { readonly body: Api.PostAlarmRuleBody },
    options?: CallOptions,
  ): Promise<Api.GetAlarmRuleByAlarmRuleIdAnswer> {
    return this.call({ method: 'POST', path: '/api/alarm/rule', body: 'json' }, given, options)
  }

  /** Runs the script of a condition once, with the values that the body gives its arguments. For TENANT_ADMIN. */
  postAlarmRuleTestScript(
    given: { readonly body: Api.PostAlarmRuleTestScriptBody },
    options?: CallOptions,
  ): Promise<Api.PostAlarmRuleTestScriptAnswer> {
    return this.call({ method: 'POST', path: '/api/alarm/rule/testScript', body: 'json' }, given, options)
  }

  /** How many alarms the entities that match have; without a filter, all that the caller may see. For TENANT_ADMIN, CUSTOMER_USER. */
  postAlarmsQueryCount(given: { readonly body: Api.PostAlarmsQueryCountBody }, options?: CallOptions): Promise<number> {
    return this.call({ method: 'POST', path: '/api/alarmsQuery/count', body: 'json' }, given, options)
  }

  /** A page of the alarms of the entities that match, with values of those entities. For TENANT_ADMIN, CUSTOMER_USER. */
  postAlarmsQueryFind(
    given: { readonly body: Api.PostAlarmsQueryFindBody },
    options?: CallOptions,
  ): Promise<Api.PostAlarmsQueryFindAnswer> {
    return this.call({ method: 'POST', path: '/api/alarmsQuery/find', body: 'json' }, given, options)
  }

  /** Makes a key for a user and tells its value, this once; or changes the key that the body names. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postApiKey(given: { readonly body: Api.PostApiKeyBody }, options?: CallOptions): Promise<Api.PostApiKeyAnswer> {
    return this.call({ method: 'POST', path: '/api/apiKey', body: 'json' }, given, options)
  }

  /** Makes a asset, or replaces the one that the body names. For TENANT_ADMIN, CUSTOMER_USER. */
  postAsset(
    given: {
      readonly nameConflictPolicy?: 'FAIL' | 'UNIQUIFY' | undefined
      readonly uniquifySeparator?: string | undefined
      readonly uniquifyStrategy?: 'RANDOM' | 'INCREMENTAL' | undefined
      readonly body: Api.PostAssetBody
    },
    options?: CallOptions,
  ): Promise<Api.Asset> {
    return this.call(
      {
        method: 'POST',
        path: '/api/asset',
        query: ['nameConflictPolicy', 'uniquifySeparator', 'uniquifyStrategy'],
        body: 'json',
      },
      given,
      options,
    )
  }

  /** Makes or changes assets from lines of comma-separated values; says which lines were refused and why. For TENANT_ADMIN. */
  postAssetBulkImport(
    given: { readonly body: Api.PostAssetBulkImportBody },
    options?: CallOptions,
  ): Promise<Api.PostAssetBulkImportAnswer> {
    return this.call({ method: 'POST', path: '/api/asset/bulk_import', body: 'json' }, given, options)
  }

  /** Makes a asset profile, or replaces the one that the body names. For TENANT_ADMIN. */
  postAssetProfile(
    given: { readonly body: Api.PostAssetProfileBody },
    options?: CallOptions,
  ): Promise<Api.AssetProfile> {
    return this.call({ method: 'POST', path: '/api/assetProfile', body: 'json' }, given, options)
  }

  /** Makes the asset profile the default: new entities that name none get it. For TENANT_ADMIN. */
  postAssetProfileByAssetProfileIdDefault(
    given: { readonly assetProfileId: string },
    options?: CallOptions,
  ): Promise<Api.AssetProfile> {
    return this.call({ method: 'POST', path: '/api/assetProfile/{assetProfileId}/default' }, given, options)
  }

  /** The assets that a search over relations leads to. For TENANT_ADMIN, CUSTOMER_USER. */
  postAssets(given: { readonly body: Api.PostAssetsBody }, options?: CallOptions): Promise<readonly Api.Asset[]> {
    return this.call({ method: 'POST', path: '/api/assets', body: 'json' }, given, options)
  }

  /** Logs in who had to set up a second factor, and did. For who has the token of a log-in with the scope MFA_CONFIGURATION_TOKEN. */
  postAuth2faLogin(options?: CallOptions): Promise<Api.GetUserByUserIdTokenAnswer> {
    return this.call({ method: 'POST', path: '/api/auth/2fa/login' }, {}, options)
  }

  /** Logs in by a code. For who has the token of a log-in with the scope PRE_VERIFICATION_TOKEN. */
  postAuth2faVerificationCheck(
    given: { readonly providerType: 'TOTP' | 'SMS' | 'EMAIL' | 'BACKUP_CODE'; readonly verificationCode: string },
    options?: CallOptions,
  ): Promise<Api.GetUserByUserIdTokenAnswer> {
    return this.call(
      { method: 'POST', path: '/api/auth/2fa/verification/check', query: ['providerType', 'verificationCode'] },
      given,
      options,
    )
  }

  /** Sends a code, where one is needed. For who has the token of a log-in with the scope PRE_VERIFICATION_TOKEN. */
  postAuth2faVerificationSend(
    given: { readonly providerType: 'TOTP' | 'SMS' | 'EMAIL' | 'BACKUP_CODE' },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      { method: 'POST', path: '/api/auth/2fa/verification/send', query: ['providerType'] },
      given,
      options,
    )
  }

  /** Changes the own password, and answers new tokens: older ones become void. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postAuthChangePassword(
    given: { readonly body: Api.PostAuthChangePasswordBody },
    options?: CallOptions,
  ): Promise<Api.GetUserByUserIdTokenAnswer> {
    return this.call({ method: 'POST', path: '/api/auth/changePassword', body: 'json' }, given, options)
  }

  /** Logs in by e-mail address and password. For everybody. */
  postAuthLogin(
    given: { readonly body: Api.PostAuthLoginBody },
    options?: CallOptions,
  ): Promise<Api.PostAuthLoginAnswer> {
    return this.call({ method: 'POST', path: '/api/auth/login', body: 'json' }, given, options)
  }

  /** Logs in whoever knows the id of a public customer. For everybody. */
  postAuthLoginPublic(
    given: { readonly body: Api.PostAuthLoginPublicBody },
    options?: CallOptions,
  ): Promise<Api.GetUserByUserIdTokenAnswer> {
    return this.call({ method: 'POST', path: '/api/auth/login/public', body: 'json' }, given, options)
  }

  /** Ends the session of the token. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postAuthLogout(options?: CallOptions): Promise<void> {
    return this.call({ method: 'POST', path: '/api/auth/logout' }, {}, options)
  }

  /** New tokens for one that renews them, which is good once. For everybody. */
  postAuthToken(
    given: { readonly body: Api.PostAuthTokenBody },
    options?: CallOptions,
  ): Promise<Api.GetUserByUserIdTokenAnswer> {
    return this.call({ method: 'POST', path: '/api/auth/token', body: 'json' }, given, options)
  }

  /** Imports the next piece of a file. Each line is there once, whoever is killed; the piece before once more is answered as it was. For TENANT_ADMIN. */
  postBulkImport(
    given: { readonly body: Api.PostBulkImportBody },
    options?: CallOptions,
  ): Promise<Api.GetBulkImportAnswer> {
    return this.call({ method: 'POST', path: '/api/bulkImport', body: 'json' }, given, options)
  }

  /** Makes a calculated field, or replaces the one that the body names. For TENANT_ADMIN. */
  postCalculatedField(
    given: { readonly body: Api.PostCalculatedFieldBody },
    options?: CallOptions,
  ): Promise<Api.CalculatedField> {
    return this.call({ method: 'POST', path: '/api/calculatedField', body: 'json' }, given, options)
  }

  /** Runs a script once, with the values that the body gives its arguments. For TENANT_ADMIN. */
  postCalculatedFieldTestScript(
    given: { readonly body: Api.PostAlarmRuleTestScriptBody },
    options?: CallOptions,
  ): Promise<Api.PostAlarmRuleTestScriptAnswer> {
    return this.call({ method: 'POST', path: '/api/calculatedField/testScript', body: 'json' }, given, options)
  }

  /** Makes a customer, or replaces the one that the body names. For TENANT_ADMIN. */
  postCustomer(
    given: {
      readonly nameConflictPolicy?: 'FAIL' | 'UNIQUIFY' | undefined
      readonly uniquifySeparator?: string | undefined
      readonly uniquifyStrategy?: 'RANDOM' | 'INCREMENTAL' | undefined
      readonly body: Api.PostCustomerBody
    },
    options?: CallOptions,
  ): Promise<Api.Customer> {
    return this.call(
      {
        method: 'POST',
        path: '/api/customer',
        query: ['nameConflictPolicy', 'uniquifySeparator', 'uniquifyStrategy'],
        body: 'json',
      },
      given,
      options,
    )
  }

  /** Assigns the asset to a customer. For TENANT_ADMIN. */
  postCustomerByCustomerIdAssetByAssetId(
    given: { readonly customerId: string; readonly assetId: string },
    options?: CallOptions,
  ): Promise<Api.Asset> {
    return this.call({ method: 'POST', path: '/api/customer/{customerId}/asset/{assetId}' }, given, options)
  }

  /** Gives the dashboard to a customer too. For TENANT_ADMIN. */
  postCustomerByCustomerIdDashboardByDashboardId(
    given: { readonly customerId: string; readonly dashboardId: string },
    options?: CallOptions,
  ): Promise<Api.Dashboard> {
    return this.call({ method: 'POST', path: '/api/customer/{customerId}/dashboard/{dashboardId}' }, given, options)
  }

  /** Assigns the device to a customer. For TENANT_ADMIN. */
  postCustomerByCustomerIdDeviceByDeviceId(
    given: { readonly customerId: string; readonly deviceId: string },
    options?: CallOptions,
  ): Promise<Api.Device> {
    return this.call({ method: 'POST', path: '/api/customer/{customerId}/device/{deviceId}' }, given, options)
  }

  /** Assigns the entity view to a customer. For TENANT_ADMIN. */
  postCustomerByCustomerIdEntityViewByEntityViewId(
    given: { readonly customerId: string; readonly entityViewId: string },
    options?: CallOptions,
  ): Promise<Api.EntityView> {
    return this.call({ method: 'POST', path: '/api/customer/{customerId}/entityView/{entityViewId}' }, given, options)
  }

  /** Takes a device of the tenant for the user's customer: whoever knows the secret that the device offers may. For CUSTOMER_USER. */
  postCustomerDeviceByDeviceNameClaim(
    given: { readonly deviceName: string; readonly body?: Api.PostCustomerDeviceByDeviceNameClaimBody | undefined },
    options?: CallOptions,
  ): Promise<Api.PostCustomerDeviceByDeviceNameClaimAnswer> {
    return this.call({ method: 'POST', path: '/api/customer/device/{deviceName}/claim', body: 'json' }, given, options)
  }

  /** Assigns the asset to the public customer, which is made where there is none: then everybody may see it. For TENANT_ADMIN. */
  postCustomerPublicAssetByAssetId(given: { readonly assetId: string }, options?: CallOptions): Promise<Api.Asset> {
    return this.call({ method: 'POST', path: '/api/customer/public/asset/{assetId}' }, given, options)
  }

  /** Lets everybody see the dashboard who has its link. For TENANT_ADMIN. */
  postCustomerPublicDashboardByDashboardId(
    given: { readonly dashboardId: string },
    options?: CallOptions,
  ): Promise<Api.Dashboard> {
    return this.call({ method: 'POST', path: '/api/customer/public/dashboard/{dashboardId}' }, given, options)
  }

  /** Assigns the device to the public customer, which is made where there is none: then everybody may see it. For TENANT_ADMIN. */
  postCustomerPublicDeviceByDeviceId(given: { readonly deviceId: string }, options?: CallOptions): Promise<Api.Device> {
    return this.call({ method: 'POST', path: '/api/customer/public/device/{deviceId}' }, given, options)
  }

  /** Assigns the entity view to the public customer, which is made where there is none: then everybody may see it. For TENANT_ADMIN. */
  postCustomerPublicEntityViewByEntityViewId(
    given: { readonly entityViewId: string },
    options?: CallOptions,
  ): Promise<Api.EntityView> {
    return this.call({ method: 'POST', path: '/api/customer/public/entityView/{entityViewId}' }, given, options)
  }

  /** Makes a dashboard, or replaces the one that the body names. For TENANT_ADMIN. */
  postDashboard(given: { readonly body: Api.PostDashboardBody }, options?: CallOptions): Promise<Api.Dashboard> {
    return this.call({ method: 'POST', path: '/api/dashboard', body: 'json' }, given, options)
  }

  /** Gives the dashboard to these customers and no others. For TENANT_ADMIN. */
  postDashboardByDashboardIdCustomers(
    given: { readonly dashboardId: string; readonly body: readonly string[] },
    options?: CallOptions,
  ): Promise<Api.Dashboard> {
    return this.call({ method: 'POST', path: '/api/dashboard/{dashboardId}/customers', body: 'json' }, given, options)
  }

  /** Gives the dashboard to these customers too. For TENANT_ADMIN. */
  postDashboardByDashboardIdCustomersAdd(
    given: { readonly dashboardId: string; readonly body: readonly string[] },
    options?: CallOptions,
  ): Promise<Api.Dashboard> {
    return this.call(
      { method: 'POST', path: '/api/dashboard/{dashboardId}/customers/add', body: 'json' },
      given,
      options,
    )
  }

  /** Takes the dashboard from these customers. For TENANT_ADMIN. */
  postDashboardByDashboardIdCustomersRemove(
    given: { readonly dashboardId: string; readonly body: readonly string[] },
    options?: CallOptions,
  ): Promise<Api.Dashboard> {
    return this.call(
      { method: 'POST', path: '/api/dashboard/{dashboardId}/customers/remove', body: 'json' },
      given,
      options,
    )
  }

  /** Sends a dead letter through its rule chain again. For TENANT_ADMIN. */
  postDeadLettersByDeadLetterIdReplay(given: { readonly deadLetterId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'POST', path: '/api/deadLetters/{deadLetterId}/replay' }, given, options)
  }

  /** Makes a device, or replaces the one that the body names. For TENANT_ADMIN, CUSTOMER_USER. */
  postDevice(
    given: {
      readonly accessToken?: string | undefined
      readonly nameConflictPolicy?: 'FAIL' | 'UNIQUIFY' | undefined
      readonly uniquifySeparator?: string | undefined
      readonly uniquifyStrategy?: 'RANDOM' | 'INCREMENTAL' | undefined
      readonly body: Api.PostDeviceBody
    },
    options?: CallOptions,
  ): Promise<Api.Device> {
    return this.call(
      {
        method: 'POST',
        path: '/api/device',
        query: ['accessToken', 'nameConflictPolicy', 'uniquifySeparator', 'uniquifyStrategy'],
        body: 'json',
      },
      given,
      options,
    )
  }

  /** Makes or changes devices from lines of comma-separated values; says which lines were refused and why. For TENANT_ADMIN. */
  postDeviceBulkImport(
    given: { readonly body: Api.PostAssetBulkImportBody },
    options?: CallOptions,
  ): Promise<Api.PostAssetBulkImportAnswer> {
    return this.call({ method: 'POST', path: '/api/device/bulk_import', body: 'json' }, given, options)
  }

  /** Changes a device's credentials; open sessions of the device end. For TENANT_ADMIN. */
  postDeviceCredentials(
    given: { readonly body: Api.PostDeviceCredentialsBody },
    options?: CallOptions,
  ): Promise<Api.GetDeviceByDeviceIdCredentialsAnswer> {
    return this.call({ method: 'POST', path: '/api/device/credentials', body: 'json' }, given, options)
  }

  /** Makes a device profile, or replaces the one that the body names. For TENANT_ADMIN. */
  postDeviceProfile(
    given: { readonly body: Api.PostDeviceProfileBody },
    options?: CallOptions,
  ): Promise<Api.DeviceProfile> {
    return this.call({ method: 'POST', path: '/api/deviceProfile', body: 'json' }, given, options)
  }

  /** Makes the device profile the default: new entities that name none get it. For TENANT_ADMIN. */
  postDeviceProfileByDeviceProfileIdDefault(
    given: { readonly deviceProfileId: string },
    options?: CallOptions,
  ): Promise<Api.DeviceProfile> {
    return this.call({ method: 'POST', path: '/api/deviceProfile/{deviceProfileId}/default' }, given, options)
  }

  /** Makes a device with these credentials, or changes both; neither without the other. For TENANT_ADMIN, CUSTOMER_USER. */
  postDeviceWithCredentials(
    given: { readonly body: Api.PostDeviceWithCredentialsBody },
    options?: CallOptions,
  ): Promise<Api.Device> {
    return this.call({ method: 'POST', path: '/api/device-with-credentials', body: 'json' }, given, options)
  }

  /** The devices that a search over relations leads to. For TENANT_ADMIN, CUSTOMER_USER. */
  postDevices(given: { readonly body: Api.PostAssetsBody }, options?: CallOptions): Promise<readonly Api.Device[]> {
    return this.call({ method: 'POST', path: '/api/devices', body: 'json' }, given, options)
  }

  /** Entity queries have no service of their own that could be asked: nothing is done. For SYS_ADMIN. */
  postEdqsSystemRequest(given: { readonly body: unknown }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'POST', path: '/api/edqs/system/request', body: 'json' }, given, options)
  }

  /** How many entities match, of those that the caller may see. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postEntitiesQueryCount(
    given: { readonly body: Api.PostEntitiesQueryCountBody },
    options?: CallOptions,
  ): Promise<number> {
    return this.call({ method: 'POST', path: '/api/entitiesQuery/count', body: 'json' }, given, options)
  }

  /** A page of the entities that match, with the fields and latest values asked for. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postEntitiesQueryFind(
    given: { readonly body: Api.PostEntitiesQueryFindBody },
    options?: CallOptions,
  ): Promise<Api.PostEntitiesQueryFindAnswer> {
    return this.call({ method: 'POST', path: '/api/entitiesQuery/find', body: 'json' }, given, options)
  }

  /** The keys of telemetry and attributes that the first entities of the query have. For TENANT_ADMIN, CUSTOMER_USER. */
  postEntitiesQueryFindKeys(
    given: {
      readonly timeseries: boolean
      readonly attributes: boolean
      readonly scope?: 'CLIENT_SCOPE' | 'SERVER_SCOPE' | 'SHARED_SCOPE' | undefined
      readonly body: Api.PostEntitiesQueryFindBody
    },
    options?: CallOptions,
  ): Promise<Api.PostEntitiesQueryFindKeysAnswer> {
    return this.call(
      {
        method: 'POST',
        path: '/api/entitiesQuery/find/keys',
        query: ['timeseries', 'attributes', 'scope'],
        body: 'json',
      },
      given,
      options,
    )
  }

  /** Makes a entity view, or replaces the one that the body names. For TENANT_ADMIN, CUSTOMER_USER. */
  postEntityView(
    given: {
      readonly nameConflictPolicy?: 'FAIL' | 'UNIQUIFY' | undefined
      readonly uniquifySeparator?: string | undefined
      readonly uniquifyStrategy?: 'RANDOM' | 'INCREMENTAL' | undefined
      readonly body: Api.PostEntityViewBody
    },
    options?: CallOptions,
  ): Promise<Api.EntityView> {
    return this.call(
      {
        method: 'POST',
        path: '/api/entityView',
        query: ['nameConflictPolicy', 'uniquifySeparator', 'uniquifyStrategy'],
        body: 'json',
      },
      given,
      options,
    )
  }

  /** The entityViews that a search over relations leads to. For TENANT_ADMIN, CUSTOMER_USER. */
  postEntityViews(
    given: { readonly body: Api.PostAssetsBody },
    options?: CallOptions,
  ): Promise<readonly Api.EntityView[]> {
    return this.call({ method: 'POST', path: '/api/entityViews', body: 'json' }, given, options)
  }

  /** The events of an entity that the filter in the body lets through. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postEventsByEntityTypeByEntityId(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly startTime?: number | undefined
      readonly endTime?: number | undefined
      readonly tenantId: string
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
      readonly body: Api.PostEventsByEntityTypeByEntityIdBody
    },
    options?: CallOptions,
  ): Promise<Api.PageOfEventInfo> {
    return this.call(
      {
        method: 'POST',
        path: '/api/events/{entityType}/{entityId}',
        query: ['startTime', 'endTime', 'tenantId', 'pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
        body: 'json',
      },
      given,
      options,
    )
  }

  /** Takes away the events of an entity that the filter in the body lets through. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postEventsByEntityTypeByEntityIdClear(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly startTime?: number | undefined
      readonly endTime?: number | undefined
      readonly body: Api.PostEventsByEntityTypeByEntityIdBody
    },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      {
        method: 'POST',
        path: '/api/events/{entityType}/{entityId}/clear',
        query: ['startTime', 'endTime'],
        body: 'json',
      },
      given,
      options,
    )
  }

  /** Uploads an image. For SYS_ADMIN, TENANT_ADMIN. */
  postImage(given: { readonly body: Api.PostImageBody }, options?: CallOptions): Promise<Api.TbResource> {
    return this.call({ method: 'POST', path: '/api/image', body: 'form' }, given, options)
  }

  /** Makes a integration, or replaces the one that the body names. For TENANT_ADMIN. */
  postIntegration(given: { readonly body: Api.PostIntegrationBody }, options?: CallOptions): Promise<Api.Integration> {
    return this.call({ method: 'POST', path: '/api/integration', body: 'json' }, given, options)
  }

  /** Runs a converter once on a sample, without saving it: what it makes, or why it fails and where. For TENANT_ADMIN. */
  postIntegrationCheck(
    given: { readonly body: Api.PostIntegrationCheckBody },
    options?: CallOptions,
  ): Promise<Api.PostIntegrationCheckAnswer> {
    return this.call({ method: 'POST', path: '/api/integration/check', body: 'json' }, given, options)
  }

  /** Ends a job before its next piece. For TENANT_ADMIN. */
  postJobByJobIdCancel(given: { readonly jobId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'POST', path: '/api/job/{jobId}/cancel' }, given, options)
  }

  /** Does what failed of an ended job once more. For TENANT_ADMIN. */
  postJobByJobIdReprocess(given: { readonly jobId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'POST', path: '/api/job/{jobId}/reprocess' }, given, options)
  }

  /** The same in the words of editors of LwM2M devices. For TENANT_ADMIN, CUSTOMER_USER. */
  postLwm2mDeviceCredentials(
    given: { readonly body: Api.PostDeviceWithCredentialsBody },
    options?: CallOptions,
  ): Promise<Api.Device> {
    return this.call({ method: 'POST', path: '/api/lwm2m/device-credentials', body: 'json' }, given, options)
  }

  /** Gives a new user a first password, and logs in. For everybody. */
  postNoauthActivate(
    given: { readonly sendActivationMail?: boolean | undefined; readonly body: Api.PostNoauthActivateBody },
    options?: CallOptions,
  ): Promise<Api.GetUserByUserIdTokenAnswer> {
    return this.call(
      { method: 'POST', path: '/api/noauth/activate', query: ['sendActivationMail'], body: 'json' },
      given,
      options,
    )
  }

  /** No clients of OAuth 2 to log in by. For everybody. */
  postNoauthOauth2Clients(options?: CallOptions): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.call({ method: 'POST', path: '/api/noauth/oauth2Clients' }, {}, options)
  }

  /** Changes a forgotten password. Tokens from before become void. For everybody. */
  postNoauthResetPassword(
    given: { readonly body: Api.PostNoauthResetPasswordBody },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'POST', path: '/api/noauth/resetPassword', body: 'json' }, given, options)
  }

  /** Mails a link for a new password to the user with this address. The answer is the same where there is none. For everybody. */
  postNoauthResetPasswordByEmail(
    given: { readonly body: Api.PostNoauthResetPasswordByEmailBody },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'POST', path: '/api/noauth/resetPasswordByEmail', body: 'json' }, given, options)
  }

  /** Asks the system administrators for room for more entities of the type. For TENANT_ADMIN. */
  postNotificationEntitiesLimitIncreaseRequestByEntityType(
    given: { readonly entityType: 'DEVICE' | 'ASSET' | 'CUSTOMER' | 'USER' | 'DASHBOARD' | 'RULE_CHAIN' | 'EDGE' },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      { method: 'POST', path: '/api/notification/entitiesLimitIncreaseRequest/{entityType}' },
      given,
      options,
    )
  }

  /** Notifies the users that the targets name. For SYS_ADMIN, TENANT_ADMIN. */
  postNotificationRequest(
    given: { readonly body: Api.PostNotificationRequestBody },
    options?: CallOptions,
  ): Promise<Api.NotificationRequest> {
    return this.call({ method: 'POST', path: '/api/notification/request', body: 'json' }, given, options)
  }

  /** What a notification request would say, and whom it would reach. Nothing is sent. For SYS_ADMIN, TENANT_ADMIN. */
  postNotificationRequestPreview(
    given: { readonly recipientsPreviewSize?: number | undefined; readonly body: Api.PostNotificationRequestBody },
    options?: CallOptions,
  ): Promise<Api.NotificationRequestPreview> {
    return this.call(
      { method: 'POST', path: '/api/notification/request/preview', query: ['recipientsPreviewSize'], body: 'json' },
      given,
      options,
    )
  }

  /** Makes a notification rule, or replaces the one that the body names. For SYS_ADMIN, TENANT_ADMIN. */
  postNotificationRule(
    given: { readonly body: Api.PostNotificationRuleBody },
    options?: CallOptions,
  ): Promise<Api.NotificationRule> {
    return this.call({ method: 'POST', path: '/api/notification/rule', body: 'json' }, given, options)
  }

  /** Replaces how the caller’s tenant, or the system, reaches people outside. For SYS_ADMIN, TENANT_ADMIN. */
  postNotificationSettings(
    given: { readonly body: Api.PostNotificationSettingsBody },
    options?: CallOptions,
  ): Promise<Api.NotificationSettings> {
    return this.call({ method: 'POST', path: '/api/notification/settings', body: 'json' }, given, options)
  }

  /** Says which notifications the caller wants, and by which ways; what is left out is wanted. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postNotificationSettingsUser(
    given: { readonly body: Api.PostNotificationSettingsUserBody },
    options?: CallOptions,
  ): Promise<Api.UserNotificationSettings> {
    return this.call({ method: 'POST', path: '/api/notification/settings/user', body: 'json' }, given, options)
  }

  /** Makes a notification target, or replaces the one that the body names. For SYS_ADMIN, TENANT_ADMIN. */
  postNotificationTarget(
    given: { readonly body: Api.PostNotificationTargetBody },
    options?: CallOptions,
  ): Promise<Api.NotificationTarget> {
    return this.call({ method: 'POST', path: '/api/notification/target', body: 'json' }, given, options)
  }

  /** The users whom a target of this configuration would reach. For SYS_ADMIN, TENANT_ADMIN. */
  postNotificationTargetRecipients(
    given: {
      readonly pageSize: number
      readonly page: number
      readonly textSearch?: string | undefined
      readonly sortProperty?: string | undefined
      readonly sortOrder?: 'ASC' | 'DESC' | undefined
      readonly body: Api.PostNotificationTargetRecipientsBody
    },
    options?: CallOptions,
  ): Promise<Api.PageOfUser> {
    return this.call(
      {
        method: 'POST',
        path: '/api/notification/target/recipients',
        query: ['pageSize', 'page', 'textSearch', 'sortProperty', 'sortOrder'],
        body: 'json',
      },
      given,
      options,
    )
  }

  /** Makes a notification template, or replaces the one that the body names. For SYS_ADMIN, TENANT_ADMIN. */
  postNotificationTemplate(
    given: { readonly body: Api.PostNotificationTemplateBody },
    options?: CallOptions,
  ): Promise<Api.NotificationTemplate> {
    return this.call({ method: 'POST', path: '/api/notification/template', body: 'json' }, given, options)
  }

  /** Makes an OTA package, to which its bytes are uploaded, or which names their address. For TENANT_ADMIN. */
  postOtaPackage(given: { readonly body: Api.PostOtaPackageBody }, options?: CallOptions): Promise<Api.OtaPackage> {
    return this.call({ method: 'POST', path: '/api/otaPackage', body: 'json' }, given, options)
  }

  /** Uploads the bytes of an OTA package, once. For TENANT_ADMIN. */
  postOtaPackageByOtaPackageId(
    given: {
      readonly otaPackageId: string
      readonly checksum?: string | undefined
      readonly checksumAlgorithm: 'MD5' | 'SHA256' | 'SHA384' | 'SHA512' | 'CRC32' | 'MURMUR3_32' | 'MURMUR3_128'
      readonly body: Api.PostOtaPackageByOtaPackageIdBody
    },
    options?: CallOptions,
  ): Promise<Api.OtaPackage> {
    return this.call(
      {
        method: 'POST',
        path: '/api/otaPackage/{otaPackageId}',
        query: ['checksum', 'checksumAlgorithm'],
        body: 'form',
      },
      given,
      options,
    )
  }

  /** Gives up: the messages of a lane become dead letters. For SYS_ADMIN, TENANT_ADMIN. */
  postParkedByParkedLaneIdDeadLetters(given: { readonly parkedLaneId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'POST', path: '/api/parked/{parkedLaneId}/deadLetters' }, given, options)
  }

  /** Tries the messages of a lane at once. For SYS_ADMIN, TENANT_ADMIN. */
  postParkedByParkedLaneIdRetry(given: { readonly parkedLaneId: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'POST', path: '/api/parked/{parkedLaneId}/retry' }, given, options)
  }

  /** Calls a device that need not answer. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postPluginsRpcOnewayByDeviceId(
    given: { readonly deviceId: string; readonly body: Api.PostPluginsRpcOnewayByDeviceIdBody },
    options?: CallOptions,
  ): Promise<unknown> {
    return this.call({ method: 'POST', path: '/api/plugins/rpc/oneway/{deviceId}', body: 'json' }, given, options)
  }

  /** Calls a device and waits for its answer. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postPluginsRpcTwowayByDeviceId(
    given: { readonly deviceId: string; readonly body: Api.PostPluginsRpcOnewayByDeviceIdBody },
    options?: CallOptions,
  ): Promise<unknown> {
    return this.call({ method: 'POST', path: '/api/plugins/rpc/twoway/{deviceId}', body: 'json' }, given, options)
  }

  /** Saves attributes of a device. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postPluginsTelemetryByDeviceIdByScope(
    given: {
      readonly deviceId: string
      readonly scope: 'CLIENT_SCOPE' | 'SERVER_SCOPE' | 'SHARED_SCOPE'
      readonly body: Readonly<Record<string, unknown>>
    },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      { method: 'POST', path: '/api/plugins/telemetry/{deviceId}/{scope}', body: 'json' },
      given,
      options,
    )
  }

  /** Saves attributes of an entity. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postPluginsTelemetryByEntityTypeByEntityIdAttributesByScope(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly scope: 'CLIENT_SCOPE' | 'SERVER_SCOPE' | 'SHARED_SCOPE'
      readonly body: Readonly<Record<string, unknown>>
    },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      { method: 'POST', path: '/api/plugins/telemetry/{entityType}/{entityId}/attributes/{scope}', body: 'json' },
      given,
      options,
    )
  }

  /** Saves attributes of an entity. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postPluginsTelemetryByEntityTypeByEntityIdByScope(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly scope: 'CLIENT_SCOPE' | 'SERVER_SCOPE' | 'SHARED_SCOPE'
      readonly body: Readonly<Record<string, unknown>>
    },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      { method: 'POST', path: '/api/plugins/telemetry/{entityType}/{entityId}/{scope}', body: 'json' },
      given,
      options,
    )
  }

  /** Saves points; the scope says nothing. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postPluginsTelemetryByEntityTypeByEntityIdTimeseriesByScope(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly scope: string
      readonly body: unknown
    },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      { method: 'POST', path: '/api/plugins/telemetry/{entityType}/{entityId}/timeseries/{scope}', body: 'json' },
      given,
      options,
    )
  }

  /** Saves points that are kept for so many seconds. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postPluginsTelemetryByEntityTypeByEntityIdTimeseriesByScopeByTtl(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly scope: string
      readonly ttl: string
      readonly body: unknown
    },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      { method: 'POST', path: '/api/plugins/telemetry/{entityType}/{entityId}/timeseries/{scope}/{ttl}', body: 'json' },
      given,
      options,
    )
  }

  /** Makes a queue, or replaces the one that the body names: of the system, or of the tenant alone. For SYS_ADMIN, TENANT_ADMIN. */
  postQueues(
    given: {
      readonly serviceType: 'TB-RULE-ENGINE' | 'TB-CORE' | 'TB-TRANSPORT' | 'JS-EXECUTOR'
      readonly body: Api.PostQueuesBody
    },
    options?: CallOptions,
  ): Promise<Api.Queue> {
    return this.call({ method: 'POST', path: '/api/queues', query: ['serviceType'], body: 'json' }, given, options)
  }

  /** Makes a relation, or changes what is said of it. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postRelation(given: { readonly body: Api.PostRelationBody }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'POST', path: '/api/relation', body: 'json' }, given, options)
  }

  /** Relations that a search over several levels meets. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postRelations(
    given: { readonly body: Api.PostRelationsBody },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly from: { readonly entityType: string; readonly id: string }
      readonly to: { readonly entityType: string; readonly id: string }
      readonly type: string
      readonly typeGroup: 'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN'
      readonly version: number
      readonly additionalInfo: unknown
    }[]
  > {
    return this.call({ method: 'POST', path: '/api/relations', body: 'json' }, given, options)
  }

  /** Relations that a search over several levels meets, with the name of the other end. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postRelationsInfo(
    given: { readonly body: Api.PostRelationsBody },
    options?: CallOptions,
  ): Promise<
    readonly {
      readonly from: { readonly entityType: string; readonly id: string }
      readonly to: { readonly entityType: string; readonly id: string }
      readonly type: string
      readonly typeGroup: 'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN'
      readonly version: number
      readonly additionalInfo: unknown
      readonly fromName: string | null
      readonly toName: string | null
    }[]
  > {
    return this.call({ method: 'POST', path: '/api/relations/info', body: 'json' }, given, options)
  }

  /** Makes a file, its bytes as base64, or replaces the one that the body names. For SYS_ADMIN, TENANT_ADMIN. */
  postResource(given: { readonly body: Api.PostResourceBody }, options?: CallOptions): Promise<Api.TbResource> {
    return this.call({ method: 'POST', path: '/api/resource', body: 'json' }, given, options)
  }

  /** Uploads a file. For SYS_ADMIN, TENANT_ADMIN. */
  postResourceUpload(
    given: { readonly body: Api.PostResourceUploadBody },
    options?: CallOptions,
  ): Promise<Api.TbResource> {
    return this.call({ method: 'POST', path: '/api/resource/upload', body: 'form' }, given, options)
  }

  /** Calls a device that need not answer. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postRpcOnewayByDeviceId(
    given: { readonly deviceId: string; readonly body: Api.PostPluginsRpcOnewayByDeviceIdBody },
    options?: CallOptions,
  ): Promise<unknown> {
    return this.call({ method: 'POST', path: '/api/rpc/oneway/{deviceId}', body: 'json' }, given, options)
  }

  /** Calls a device and waits for its answer. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postRpcTwowayByDeviceId(
    given: { readonly deviceId: string; readonly body: Api.PostPluginsRpcOnewayByDeviceIdBody },
    options?: CallOptions,
  ): Promise<unknown> {
    return this.call({ method: 'POST', path: '/api/rpc/twoway/{deviceId}', body: 'json' }, given, options)
  }

  /** Makes a rule chain, or replaces the one that the body names. For TENANT_ADMIN. */
  postRuleChain(given: { readonly body: Api.PostRuleChainBody }, options?: CallOptions): Promise<Api.RuleChain> {
    return this.call({ method: 'POST', path: '/api/ruleChain', body: 'json' }, given, options)
  }

  /** Makes a rule chain the root: messages begin there that no profile sends elsewhere. For TENANT_ADMIN. */
  postRuleChainByRuleChainIdRoot(
    given: { readonly ruleChainId: string },
    options?: CallOptions,
  ): Promise<Api.RuleChain> {
    return this.call({ method: 'POST', path: '/api/ruleChain/{ruleChainId}/root' }, given, options)
  }

  /** Takes a version of a rule chain that is not saved through messages of the log: beside the live one as they come, or from a time on. For TENANT_ADMIN. */
  postRuleChainByRuleChainIdTrial(
    given: { readonly ruleChainId: string; readonly body: Api.PostRuleChainByRuleChainIdTrialBody },
    options?: CallOptions,
  ): Promise<Api.RuleChainTrial> {
    return this.call({ method: 'POST', path: '/api/ruleChain/{ruleChainId}/trial', body: 'json' }, given, options)
  }

  /** Saves a version again, with the secrets that it had. What was in force stays a version. For TENANT_ADMIN. */
  postRuleChainByRuleChainIdVersionByVersionIdRestore(
    given: { readonly ruleChainId: string; readonly versionId: string },
    options?: CallOptions,
  ): Promise<Api.RuleChainMetaData> {
    return this.call(
      { method: 'POST', path: '/api/ruleChain/{ruleChainId}/version/{versionId}/restore' },
      given,
      options,
    )
  }

  /** Makes a rule chain of the shape that a new tenant has. For TENANT_ADMIN. */
  postRuleChainDeviceDefault(
    given: { readonly body: Api.PostRuleChainDeviceDefaultBody },
    options?: CallOptions,
  ): Promise<Api.RuleChain> {
    return this.call({ method: 'POST', path: '/api/ruleChain/device/default', body: 'json' }, given, options)
  }

  /** Replaces the graph of a rule chain. Nodes that name their id stay the same nodes. For TENANT_ADMIN. */
  postRuleChainMetadata(
    given: {
      readonly disableUnknown?: boolean | undefined
      readonly updateRelated?: boolean | undefined
      readonly body: Api.PostRuleChainMetadataBody
    },
    options?: CallOptions,
  ): Promise<Api.RuleChainMetaData> {
    return this.call(
      { method: 'POST', path: '/api/ruleChain/metadata', query: ['disableUnknown', 'updateRelated'], body: 'json' },
      given,
      options,
    )
  }

  /** Runs a script of a rule node once, with a message that the body gives. For TENANT_ADMIN. */
  postRuleChainTestScript(
    given: { readonly scriptLang?: 'JS' | 'TBEL' | undefined; readonly body: Api.PostRuleChainTestScriptBody },
    options?: CallOptions,
  ): Promise<Api.ScriptTestResult> {
    return this.call(
      { method: 'POST', path: '/api/ruleChain/testScript', query: ['scriptLang'], body: 'json' },
      given,
      options,
    )
  }

  /** Makes rule chains of a file, all or none; with overwrite it changes those of the same name and type. For TENANT_ADMIN. */
  postRuleChainsImport(
    given: { readonly overwrite?: boolean | undefined; readonly body: Api.PostRuleChainsImportBody },
    options?: CallOptions,
  ): Promise<readonly Api.RuleChainImportResult[]> {
    return this.call(
      { method: 'POST', path: '/api/ruleChains/import', query: ['overwrite'], body: 'json' },
      given,
      options,
    )
  }

  /** Gives the body to the root chain as a message of the caller, and waits for its answer. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postRuleEngine(given: { readonly body: unknown }, options?: CallOptions): Promise<unknown> {
    return this.call({ method: 'POST', path: '/api/rule-engine/', body: 'json' }, given, options)
  }

  /** Gives the body to the chain of an entity, and waits for its answer. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postRuleEngineByEntityTypeByEntityId(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly body: unknown
    },
    options?: CallOptions,
  ): Promise<unknown> {
    return this.call({ method: 'POST', path: '/api/rule-engine/{entityType}/{entityId}', body: 'json' }, given, options)
  }

  /** The same by a queue. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postRuleEngineByEntityTypeByEntityIdByQueueNameByTimeout(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly queueName: string
      readonly timeout: string
      readonly body: unknown
    },
    options?: CallOptions,
  ): Promise<unknown> {
    return this.call(
      { method: 'POST', path: '/api/rule-engine/{entityType}/{entityId}/{queueName}/{timeout}', body: 'json' },
      given,
      options,
    )
  }

  /** The same, waiting for so many milliseconds. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postRuleEngineByEntityTypeByEntityIdByTimeout(
    given: {
      readonly entityType:
        | 'TENANT'
        | 'CUSTOMER'
        | 'USER'
        | 'DASHBOARD'
        | 'ASSET'
        | 'DEVICE'
        | 'ALARM'
        | 'RULE_CHAIN'
        | 'RULE_NODE'
        | 'ENTITY_VIEW'
        | 'DEVICE_PROFILE'
        | 'ASSET_PROFILE'
        | 'TENANT_PROFILE'
        | 'EDGE'
        | 'API_USAGE_STATE'
        | 'TB_RESOURCE'
        | 'OTA_PACKAGE'
        | 'RPC'
        | 'QUEUE'
        | 'QUEUE_STATS'
        | 'WIDGETS_BUNDLE'
        | 'WIDGET_TYPE'
        | 'NOTIFICATION'
        | 'NOTIFICATION_TARGET'
        | 'NOTIFICATION_TEMPLATE'
        | 'NOTIFICATION_REQUEST'
        | 'NOTIFICATION_RULE'
        | 'CALCULATED_FIELD'
        | 'DOMAIN'
        | 'MOBILE_APP'
        | 'MOBILE_APP_BUNDLE'
        | 'OAUTH2_CLIENT'
        | 'JOB'
        | 'ADMIN_SETTINGS'
        | 'AI_MODEL'
        | 'API_KEY'
        | 'INTEGRATION'
      readonly entityId: string
      readonly timeout: string
      readonly body: unknown
    },
    options?: CallOptions,
  ): Promise<unknown> {
    return this.call(
      { method: 'POST', path: '/api/rule-engine/{entityType}/{entityId}/{timeout}', body: 'json' },
      given,
      options,
    )
  }

  /** Makes a tenant, or replaces the one that the body names. For SYS_ADMIN. */
  postTenant(given: { readonly body: Api.PostTenantBody }, options?: CallOptions): Promise<Api.Tenant> {
    return this.call({ method: 'POST', path: '/api/tenant', body: 'json' }, given, options)
  }

  /** Gives a device to another tenant, with its credentials, attributes and series. For TENANT_ADMIN. */
  postTenantByTenantIdDeviceByDeviceId(
    given: { readonly tenantId: string; readonly deviceId: string },
    options?: CallOptions,
  ): Promise<Api.Device> {
    return this.call({ method: 'POST', path: '/api/tenant/{tenantId}/device/{deviceId}' }, given, options)
  }

  /** Brings rows in: `ids` says which get other ids, `plan` what would be done, `apply` does it. For SYS_ADMIN. */
  postTenantByTenantIdRows(
    given: { readonly tenantId: string; readonly body: Api.PostTenantByTenantIdRowsBody },
    options?: CallOptions,
  ): Promise<Api.PostTenantByTenantIdRowsAnswer> {
    return this.call({ method: 'POST', path: '/api/tenant/{tenantId}/rows', body: 'json' }, given, options)
  }

  /** Sets the dashboard that users of the tenant start with. For TENANT_ADMIN. */
  postTenantDashboardHomeInfo(
    given: { readonly body: Api.PostTenantDashboardHomeInfoBody },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'POST', path: '/api/tenant/dashboard/home/info', body: 'json' }, given, options)
  }

  /** Makes a tenant profile, or replaces the one that the body names. For SYS_ADMIN. */
  postTenantProfile(
    given: { readonly body: Api.PostTenantProfileBody },
    options?: CallOptions,
  ): Promise<Api.TenantProfile> {
    return this.call({ method: 'POST', path: '/api/tenantProfile', body: 'json' }, given, options)
  }

  /** Makes a profile the one of tenants that name none. For SYS_ADMIN. */
  postTenantProfileByTenantProfileIdDefault(
    given: { readonly tenantProfileId: string },
    options?: CallOptions,
  ): Promise<Api.TenantProfile> {
    return this.call({ method: 'POST', path: '/api/tenantProfile/{tenantProfileId}/default' }, given, options)
  }

  /** Makes a user, who is to be activated, or replaces the one that the body names. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postUser(
    given: { readonly sendActivationMail?: boolean | undefined; readonly body: Api.PostUserBody },
    options?: CallOptions,
  ): Promise<Api.User> {
    return this.call({ method: 'POST', path: '/api/user', query: ['sendActivationMail'], body: 'json' }, given, options)
  }

  /** Lets a user log in, or no longer: then all tokens are withdrawn. For SYS_ADMIN, TENANT_ADMIN. */
  postUserByUserIdUserCredentialsEnabled(
    given: { readonly userId: string; readonly userCredentialsEnabled?: boolean | undefined },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      { method: 'POST', path: '/api/user/{userId}/userCredentialsEnabled', query: ['userCredentialsEnabled'] },
      given,
      options,
    )
  }

  /** Notes the session of a mobile app. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postUserMobileSession(
    given: { readonly 'X-Mobile-Token': string; readonly body: Api.PostUserMobileSessionBody },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      { method: 'POST', path: '/api/user/mobile/session', headers: ['X-Mobile-Token'], body: 'json' },
      given,
      options,
    )
  }

  /** Mails the activation link again. For SYS_ADMIN, TENANT_ADMIN. */
  postUserSendActivationMail(given: { readonly email: string }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'POST', path: '/api/user/sendActivationMail', query: ['email'] }, given, options)
  }

  /** Replaces the general settings of the caller. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postUserSettings(
    given: { readonly body: unknown },
    options?: CallOptions,
  ): Promise<Readonly<Record<string, unknown>>> {
    return this.call({ method: 'POST', path: '/api/user/settings', body: 'json' }, given, options)
  }

  /** The same, attributes by scope, each key with its newest value where samples are asked for. For TENANT_ADMIN, CUSTOMER_USER. */
  postV2EntitiesQueryFindKeys(
    given: {
      readonly includeTimeseries?: boolean | undefined
      readonly includeAttributes?: boolean | undefined
      readonly scopes?: 'CLIENT_SCOPE' | 'SERVER_SCOPE' | 'SHARED_SCOPE' | undefined
      readonly includeSamples?: boolean | undefined
      readonly body: Api.PostEntitiesQueryFindBody
    },
    options?: CallOptions,
  ): Promise<Api.PostV2EntitiesQueryFindKeysAnswer> {
    return this.call(
      {
        method: 'POST',
        path: '/api/v2/entitiesQuery/find/keys',
        query: ['includeTimeseries', 'includeAttributes', 'scopes', 'includeSamples'],
        body: 'json',
      },
      given,
      options,
    )
  }

  /** Makes a relation, or changes what is said of it, and answers it. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  postV2Relation(
    given: { readonly body: Api.PostRelationBody },
    options?: CallOptions,
  ): Promise<Api.DeleteV2RelationAnswer> {
    return this.call({ method: 'POST', path: '/api/v2/relation', body: 'json' }, given, options)
  }

  /** Makes a widget type, or replaces the one that the body names. For SYS_ADMIN, TENANT_ADMIN. */
  postWidgetType(
    given: { readonly updateExistingByFqn?: boolean | undefined; readonly body: Api.PostWidgetTypeBody },
    options?: CallOptions,
  ): Promise<Api.WidgetType> {
    return this.call(
      { method: 'POST', path: '/api/widgetType', query: ['updateExistingByFqn'], body: 'json' },
      given,
      options,
    )
  }

  /** Makes a widgets bundle, or replaces the one that the body names. For SYS_ADMIN, TENANT_ADMIN. */
  postWidgetsBundle(
    given: { readonly body: Api.PostWidgetsBundleBody },
    options?: CallOptions,
  ): Promise<Api.WidgetsBundle> {
    return this.call({ method: 'POST', path: '/api/widgetsBundle', body: 'json' }, given, options)
  }

  /** The same by the names of the widget types. For SYS_ADMIN, TENANT_ADMIN. */
  postWidgetsBundleByWidgetsBundleIdWidgetTypeFqns(
    given: { readonly widgetsBundleId: string; readonly body: readonly string[] },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      { method: 'POST', path: '/api/widgetsBundle/{widgetsBundleId}/widgetTypeFqns', body: 'json' },
      given,
      options,
    )
  }

  /** Sets what the bundle holds, in this order. For SYS_ADMIN, TENANT_ADMIN. */
  postWidgetsBundleByWidgetsBundleIdWidgetTypes(
    given: { readonly widgetsBundleId: string; readonly body: readonly string[] },
    options?: CallOptions,
  ): Promise<void> {
    return this.call(
      { method: 'POST', path: '/api/widgetsBundle/{widgetsBundleId}/widgetTypes', body: 'json' },
      given,
      options,
    )
  }

  /** Says which of the second factors is asked for first. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  put2faAccountConfig(
    given: {
      readonly providerType: 'TOTP' | 'SMS' | 'EMAIL' | 'BACKUP_CODE'
      readonly body: Api.Put2faAccountConfigBody
    },
    options?: CallOptions,
  ): Promise<Api.Delete2faAccountConfigAnswer> {
    return this.call(
      { method: 'PUT', path: '/api/2fa/account/config', query: ['providerType'], body: 'json' },
      given,
      options,
    )
  }

  /** Changes the description of a key: the body as it is. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  putApiKeyByApiKeyIdDescription(
    given: { readonly apiKeyId: string; readonly body: string },
    options?: CallOptions,
  ): Promise<Api.PutApiKeyByApiKeyIdDescriptionAnswer> {
    return this.call({ method: 'PUT', path: '/api/apiKey/{apiKeyId}/description', body: 'text' }, given, options)
  }

  /** Lets a key be used, or no longer. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  putApiKeyByApiKeyIdEnabledByEnabledValue(
    given: { readonly apiKeyId: string; readonly enabledValue: string },
    options?: CallOptions,
  ): Promise<Api.PutApiKeyByApiKeyIdDescriptionAnswer> {
    return this.call({ method: 'PUT', path: '/api/apiKey/{apiKeyId}/enabled/{enabledValue}' }, given, options)
  }

  /** Makes an image of what another server exported. For SYS_ADMIN, TENANT_ADMIN. */
  putImageImport(given: { readonly body: Api.PutImageImportBody }, options?: CallOptions): Promise<Api.TbResource> {
    return this.call({ method: 'PUT', path: '/api/image/import', body: 'json' }, given, options)
  }

  /** Puts another picture in the place of this one. For SYS_ADMIN, TENANT_ADMIN. */
  putImagesByImageTypeByImageKey(
    given: {
      readonly imageType: 'tenant' | 'system'
      readonly imageKey: string
      readonly body: Api.PostOtaPackageByOtaPackageIdBody
    },
    options?: CallOptions,
  ): Promise<Api.TbResource> {
    return this.call({ method: 'PUT', path: '/api/images/{imageType}/{imageKey}', body: 'form' }, given, options)
  }

  /** Gives an image another title. For SYS_ADMIN, TENANT_ADMIN. */
  putImagesByImageTypeByImageKeyInfo(
    given: {
      readonly imageType: 'tenant' | 'system'
      readonly imageKey: string
      readonly body: Api.PutImagesByImageTypeByImageKeyInfoBody
    },
    options?: CallOptions,
  ): Promise<Api.TbResource> {
    return this.call({ method: 'PUT', path: '/api/images/{imageType}/{imageKey}/info', body: 'json' }, given, options)
  }

  /** Lets everybody see an image by its public link, or nobody any longer. For SYS_ADMIN, TENANT_ADMIN. */
  putImagesByImageTypeByImageKeyPublicByIsPublic(
    given: { readonly imageType: 'tenant' | 'system'; readonly imageKey: string; readonly isPublic: 'true' | 'false' },
    options?: CallOptions,
  ): Promise<Api.TbResource> {
    return this.call({ method: 'PUT', path: '/api/images/{imageType}/{imageKey}/public/{isPublic}' }, given, options)
  }

  /** Marks one of the caller as read. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  putNotificationByNotificationIdRead(
    given: { readonly notificationId: string },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'PUT', path: '/api/notification/{notificationId}/read' }, given, options)
  }

  /** Marks all of the caller as read. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  putNotificationsRead(
    given: { readonly deliveryMethod?: 'WEB' | 'MOBILE_APP' | undefined } = {},
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'PUT', path: '/api/notifications/read', query: ['deliveryMethod'] }, given, options)
  }

  /** Puts other bytes in the place of those of a file. For SYS_ADMIN, TENANT_ADMIN. */
  putResourceByResourceIdData(
    given: { readonly resourceId: string; readonly body: Api.PostOtaPackageByOtaPackageIdBody },
    options?: CallOptions,
  ): Promise<Api.TbResource> {
    return this.call({ method: 'PUT', path: '/api/resource/{resourceId}/data', body: 'form' }, given, options)
  }

  /** Changes what is said of a file. For SYS_ADMIN, TENANT_ADMIN. */
  putResourceByResourceIdInfo(
    given: { readonly resourceId: string; readonly body: Api.PutResourceByResourceIdInfoBody },
    options?: CallOptions,
  ): Promise<Api.TbResource> {
    return this.call({ method: 'PUT', path: '/api/resource/{resourceId}/info', body: 'json' }, given, options)
  }

  /** Puts members into the general settings of the caller; a name with dots reaches inside. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  putUserSettings(given: { readonly body: unknown }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'PUT', path: '/api/user/settings', body: 'json' }, given, options)
  }

  /** Puts members into the settings of a type. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  putUserSettingsByType(
    given: { readonly type: string; readonly body: unknown },
    options?: CallOptions,
  ): Promise<void> {
    return this.call({ method: 'PUT', path: '/api/user/settings/{type}', body: 'json' }, given, options)
  }

  /** Puts members into the general settings of the caller; a name with dots reaches inside. For SYS_ADMIN, TENANT_ADMIN, CUSTOMER_USER. */
  putUserSettingsGeneral(given: { readonly body: unknown }, options?: CallOptions): Promise<void> {
    return this.call({ method: 'PUT', path: '/api/user/settings/general', body: 'json' }, given, options)
  }
}
