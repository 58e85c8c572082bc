/* Generated from the API description by `npm run docs`: change the declarations, not this file. */
export type Error = {
  readonly status: number
  readonly message: string
  readonly errorCode: number
  readonly timestamp: number
}

export type AiModel = {
  readonly id: AiModelId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly version: number
  readonly name: string
  readonly configuration: unknown
}

export type AiModelId = { readonly entityType: 'AI_MODEL'; readonly id: string }

export type AlarmId = { readonly entityType: 'ALARM'; readonly id: string }

export type ApiKeyId = { readonly entityType: 'API_KEY'; readonly id: string }

export type Asset = {
  readonly id: AssetId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly version: number
  readonly customerId: { readonly entityType: 'CUSTOMER'; readonly id: string }
  readonly name: string
  readonly type: string
  readonly label: string | null
  readonly assetProfileId: { readonly entityType: 'ASSET_PROFILE'; readonly id: string }
  readonly additionalInfo: unknown
}

export type AssetId = { readonly entityType: 'ASSET'; readonly id: string }

export type AssetInfo = {
  readonly id: AssetId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly version: number
  readonly customerId: { readonly entityType: 'CUSTOMER'; readonly id: string }
  readonly name: string
  readonly type: string
  readonly label: string | null
  readonly assetProfileId: { readonly entityType: 'ASSET_PROFILE'; readonly id: string }
  readonly additionalInfo: unknown
  readonly customerTitle: string | null
  readonly assetProfileName: string | null
  readonly customerIsPublic: boolean
}

export type AssetProfile = {
  readonly id: AssetProfileId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly version: number
  readonly name: string
  readonly description: string | null
  readonly image: string | null
  readonly defaultRuleChainId: { readonly entityType: 'RULE_CHAIN'; readonly id: string } | null
  readonly defaultDashboardId: { readonly entityType: 'DASHBOARD'; readonly id: string } | null
  readonly defaultQueueName: string | null
  readonly defaultEdgeRuleChainId: { readonly entityType: 'RULE_CHAIN'; readonly id: string } | null
  readonly default: boolean
}

export type AssetProfileId = { readonly entityType: 'ASSET_PROFILE'; readonly id: string }

export type AttributeData = { readonly lastUpdateTs: number; readonly key: string; readonly value: unknown }

export type Backup = {
  readonly id: string
  readonly version: string
  readonly phase: 'cutting' | 'ready' | 'failed'
  readonly reason: string | null
  readonly bytesDone: number
  readonly bytesExpected: number
  readonly sequenceFloor: number
  readonly cutTime: number
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
}

export type CalculatedField = {
  readonly id: CalculatedFieldId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly version: number
  readonly entityId: {
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
    readonly id: string
  }
  readonly type:
    'SIMPLE' | 'SCRIPT' | 'GEOFENCING' | 'ALARM' | 'PROPAGATION' | 'RELATED_ENTITIES_AGGREGATION' | 'ENTITY_AGGREGATION'
  readonly name: string
  readonly debugSettings: unknown
  readonly configurationVersion: number
  readonly configuration: unknown
  readonly additionalInfo: unknown
}

export type CalculatedFieldId = { readonly entityType: 'CALCULATED_FIELD'; readonly id: string }

export type Customer = {
  readonly id: CustomerId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly version: number
  readonly country: string | null
  readonly state: string | null
  readonly city: string | null
  readonly address: string | null
  readonly address2: string | null
  readonly zip: string | null
  readonly phone: string | null
  readonly email: string | null
  readonly title: string
  readonly additionalInfo: unknown
}

export type CustomerId = { readonly entityType: 'CUSTOMER'; readonly id: string }

export type Dashboard = {
  readonly id: DashboardId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly version: number
  readonly title: string
  readonly image: string | null
  readonly mobileHide: boolean
  readonly mobileOrder: number | null
  readonly configuration: unknown
}

export type DashboardId = { readonly entityType: 'DASHBOARD'; readonly id: string }

export type DeadLetter = {
  readonly id: number
  readonly time: number
  readonly reason: string
  readonly attempts: number
  readonly message: {
    readonly id: string
    readonly ts: number
    readonly type: string
    readonly originator: Readonly<Record<string, unknown>>
    readonly dataType: string
    readonly data: string
    readonly metadata: Readonly<Record<string, string>>
  }
}

export type Device = {
  readonly id: DeviceId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly version: number
  readonly customerId: { readonly entityType: 'CUSTOMER'; readonly id: string }
  readonly name: string
  readonly type: string
  readonly label: string | null
  readonly deviceProfileId: { readonly entityType: 'DEVICE_PROFILE'; readonly id: string }
  readonly firmwareId: { readonly entityType: 'OTA_PACKAGE'; readonly id: string } | null
  readonly softwareId: { readonly entityType: 'OTA_PACKAGE'; readonly id: string } | null
  readonly deviceData: Readonly<Record<string, unknown>>
  readonly additionalInfo: unknown
}

export type DeviceId = { readonly entityType: 'DEVICE'; readonly id: string }

export type DeviceInfo = {
  readonly id: DeviceId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly version: number
  readonly customerId: { readonly entityType: 'CUSTOMER'; readonly id: string }
  readonly name: string
  readonly type: string
  readonly label: string | null
  readonly deviceProfileId: { readonly entityType: 'DEVICE_PROFILE'; readonly id: string }
  readonly firmwareId: { readonly entityType: 'OTA_PACKAGE'; readonly id: string } | null
  readonly softwareId: { readonly entityType: 'OTA_PACKAGE'; readonly id: string } | null
  readonly deviceData: Readonly<Record<string, unknown>>
  readonly additionalInfo: unknown
  readonly customerTitle: string | null
  readonly deviceProfileName: string | null
  readonly active: boolean
  readonly customerIsPublic: boolean
}

export type DeviceProfile = {
  readonly id: DeviceProfileId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly version: number
  readonly name: string
  readonly description: string | null
  readonly image: string | null
  readonly type: 'DEFAULT'
  readonly transportType: 'DEFAULT' | 'MQTT' | 'COAP' | 'LWM2M' | 'SNMP'
  readonly provisionType:
    'DISABLED' | 'ALLOW_CREATE_NEW_DEVICES' | 'CHECK_PRE_PROVISIONED_DEVICES' | 'X509_CERTIFICATE_CHAIN'
  readonly provisionDeviceKey: string | null
  readonly defaultRuleChainId: { readonly entityType: 'RULE_CHAIN'; readonly id: string } | null
  readonly defaultDashboardId: { readonly entityType: 'DASHBOARD'; readonly id: string } | null
  readonly defaultQueueName: string | null
  readonly defaultEdgeRuleChainId: { readonly entityType: 'RULE_CHAIN'; readonly id: string } | null
  readonly firmwareId: { readonly entityType: 'OTA_PACKAGE'; readonly id: string } | null
  readonly softwareId: { readonly entityType: 'OTA_PACKAGE'; readonly id: string } | null
  readonly default: boolean
  readonly profileData: Readonly<Record<string, unknown>>
}

export type DeviceProfileId = { readonly entityType: 'DEVICE_PROFILE'; readonly id: string }

export type Distribution = { readonly mean: number; readonly p50: number; readonly p99: number; readonly most: number }

export type EntityFilter =
  | {
      readonly type: 'singleEntity'
      readonly singleEntity: {
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
          | 'CURRENT_CUSTOMER'
          | 'CURRENT_TENANT'
          | 'CURRENT_USER'
          | 'CURRENT_USER_OWNER'
        readonly id?: string | null | undefined
      }
    }
  | {
      readonly type: 'entityList'
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
      readonly entityList?: readonly string[] | null | undefined
    }
  | {
      readonly type: 'entityName'
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
      readonly entityNameFilter?: string | null | undefined
    }
  | {
      readonly type: 'entityType'
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
    }
  | {
      readonly type: 'assetType'
      readonly assetTypes?: readonly string[] | null | undefined
      readonly assetType?: string | null | undefined
      readonly assetNameFilter?: string | null | undefined
    }
  | {
      readonly type: 'deviceType'
      readonly deviceTypes?: readonly string[] | null | undefined
      readonly deviceType?: string | null | undefined
      readonly deviceNameFilter?: string | null | undefined
    }
  | {
      readonly type: 'entityViewType'
      readonly entityViewTypes?: readonly string[] | null | undefined
      readonly entityViewType?: string | null | undefined
      readonly entityViewNameFilter?: string | null | undefined
    }
  | {
      readonly type: 'edgeType'
      readonly edgeTypes?: readonly string[] | null | undefined
      readonly edgeType?: string | null | undefined
      readonly edgeNameFilter?: string | null | undefined
    }
  | { readonly type: 'apiUsageState'; readonly customerId?: { readonly id: string } | null | undefined }
  | {
      readonly type: 'relationsQuery'
      readonly rootEntity?:
        | {
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
              | 'CURRENT_CUSTOMER'
              | 'CURRENT_TENANT'
              | 'CURRENT_USER'
              | 'CURRENT_USER_OWNER'
            readonly id?: string | null | undefined
          }
        | null
        | undefined
      readonly direction?: 'FROM' | 'TO' | null | undefined
      readonly maxLevel?: number | string | null | undefined
      readonly fetchLastLevelOnly?: boolean | null | undefined
      readonly multiRoot?: boolean | null | undefined
      readonly multiRootEntitiesType?:
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
        | null
        | undefined
      readonly multiRootEntityIds?: readonly string[] | null | undefined
      readonly filters?:
        | readonly {
            readonly relationType?: string | null | undefined
            readonly entityTypes?:
              | readonly (
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
                )[]
              | null
              | undefined
            readonly negate?: boolean | null | undefined
          }[]
        | null
        | undefined
      readonly negate?: boolean | null | undefined
    }
  | {
      readonly type: 'assetSearchQuery'
      readonly rootEntity?:
        | {
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
              | 'CURRENT_CUSTOMER'
              | 'CURRENT_TENANT'
              | 'CURRENT_USER'
              | 'CURRENT_USER_OWNER'
            readonly id?: string | null | undefined
          }
        | null
        | undefined
      readonly direction?: 'FROM' | 'TO' | null | undefined
      readonly maxLevel?: number | string | null | undefined
      readonly fetchLastLevelOnly?: boolean | null | undefined
      readonly relationType?: string | null | undefined
      readonly assetTypes?: readonly string[] | null | undefined
    }
  | {
      readonly type: 'deviceSearchQuery'
      readonly rootEntity?:
        | {
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
              | 'CURRENT_CUSTOMER'
              | 'CURRENT_TENANT'
              | 'CURRENT_USER'
              | 'CURRENT_USER_OWNER'
            readonly id?: string | null | undefined
          }
        | null
        | undefined
      readonly direction?: 'FROM' | 'TO' | null | undefined
      readonly maxLevel?: number | string | null | undefined
      readonly fetchLastLevelOnly?: boolean | null | undefined
      readonly relationType?: string | null | undefined
      readonly deviceTypes?: readonly string[] | null | undefined
    }
  | {
      readonly type: 'entityViewSearchQuery'
      readonly rootEntity?:
        | {
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
              | 'CURRENT_CUSTOMER'
              | 'CURRENT_TENANT'
              | 'CURRENT_USER'
              | 'CURRENT_USER_OWNER'
            readonly id?: string | null | undefined
          }
        | null
        | undefined
      readonly direction?: 'FROM' | 'TO' | null | undefined
      readonly maxLevel?: number | string | null | undefined
      readonly fetchLastLevelOnly?: boolean | null | undefined
      readonly relationType?: string | null | undefined
      readonly entityViewTypes?: readonly string[] | null | undefined
    }
  | {
      readonly type: 'edgeSearchQuery'
      readonly rootEntity?:
        | {
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
              | 'CURRENT_CUSTOMER'
              | 'CURRENT_TENANT'
              | 'CURRENT_USER'
              | 'CURRENT_USER_OWNER'
            readonly id?: string | null | undefined
          }
        | null
        | undefined
      readonly direction?: 'FROM' | 'TO' | null | undefined
      readonly maxLevel?: number | string | null | undefined
      readonly fetchLastLevelOnly?: boolean | null | undefined
      readonly relationType?: string | null | undefined
      readonly edgeTypes?: readonly string[] | null | undefined
    }

export type EntityView = {
  readonly id: EntityViewId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly version: number
  readonly entityId: { readonly entityType: 'DEVICE' | 'ASSET'; readonly id: string }
  readonly customerId: { readonly entityType: 'CUSTOMER'; readonly id: string }
  readonly name: string
  readonly type: string
  readonly keys: {
    readonly timeseries: readonly string[]
    readonly attributes: {
      readonly cs: readonly string[]
      readonly ss: readonly string[]
      readonly sh: readonly string[]
    }
  } | null
  readonly startTimeMs: number
  readonly endTimeMs: number
  readonly additionalInfo: unknown
}

export type EntityViewId = { readonly entityType: 'ENTITY_VIEW'; readonly id: string }

export type EntityViewInfo = {
  readonly id: EntityViewId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly version: number
  readonly entityId: { readonly entityType: 'DEVICE' | 'ASSET'; readonly id: string }
  readonly customerId: { readonly entityType: 'CUSTOMER'; readonly id: string }
  readonly name: string
  readonly type: string
  readonly keys: {
    readonly timeseries: readonly string[]
    readonly attributes: {
      readonly cs: readonly string[]
      readonly ss: readonly string[]
      readonly sh: readonly string[]
    }
  } | null
  readonly startTimeMs: number
  readonly endTimeMs: number
  readonly additionalInfo: unknown
  readonly customerTitle: string | null
  readonly customerIsPublic: boolean
}

export type EventInfo = {
  readonly id: { readonly id: string }
  readonly createdTime: number
  readonly tenantId: Readonly<Record<string, unknown>>
  readonly type: 'ERROR' | 'LC_EVENT' | 'STATS' | 'DEBUG_RULE_NODE' | 'DEBUG_RULE_CHAIN' | 'DEBUG_CALCULATED_FIELD'
  readonly uid: string
  readonly entityId: {
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
    readonly id?: string
  }
  readonly body: Readonly<Record<string, unknown>>
}

export type Integration = {
  readonly id: IntegrationId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly version: number
  readonly name: string
  readonly type: 'HTTP' | 'MQTT' | 'KAFKA' | 'TCP' | 'UDP' | 'FILE'
  readonly enabled: boolean
  readonly allowCreateDevices: boolean
  readonly converter: unknown
  readonly configuration: unknown
  readonly additionalInfo: unknown
}

export type IntegrationId = { readonly entityType: 'INTEGRATION'; readonly id: string }

export type Job = {
  readonly id: JobId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly type: 'DUMMY'
  readonly key: string
  readonly entityId: {
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
    readonly id: string
  }
  readonly entityName: string | null
  readonly status: 'QUEUED' | 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED'
  readonly configuration: Readonly<Record<string, unknown>>
  readonly result: Readonly<Record<string, unknown>>
}

export type JobId = { readonly entityType: 'JOB'; readonly id: string }

export type KeyFilter = {
  readonly key: {
    readonly type:
      | 'ENTITY_FIELD'
      | 'ATTRIBUTE'
      | 'CLIENT_ATTRIBUTE'
      | 'SHARED_ATTRIBUTE'
      | 'SERVER_ATTRIBUTE'
      | 'TIME_SERIES'
      | 'ALARM_FIELD'
    readonly key: string
  }
  readonly predicate: KeyFilterPredicate10
}

export type KeyFilterPredicate0 =
  | {
      readonly type: 'STRING'
      readonly operation:
        'EQUAL' | 'NOT_EQUAL' | 'STARTS_WITH' | 'ENDS_WITH' | 'CONTAINS' | 'NOT_CONTAINS' | 'IN' | 'NOT_IN'
      readonly value?:
        | {
            readonly defaultValue?: string | number | boolean | null | undefined
            readonly userValue?: string | number | boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
      readonly ignoreCase?: boolean | null | undefined
    }
  | {
      readonly type: 'NUMERIC'
      readonly operation: 'EQUAL' | 'NOT_EQUAL' | 'GREATER' | 'LESS' | 'GREATER_OR_EQUAL' | 'LESS_OR_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: number | string | null | undefined
            readonly userValue?: number | string | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | {
      readonly type: 'BOOLEAN'
      readonly operation: 'EQUAL' | 'NOT_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: boolean | null | undefined
            readonly userValue?: boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }

export type KeyFilterPredicate1 =
  | {
      readonly type: 'STRING'
      readonly operation:
        'EQUAL' | 'NOT_EQUAL' | 'STARTS_WITH' | 'ENDS_WITH' | 'CONTAINS' | 'NOT_CONTAINS' | 'IN' | 'NOT_IN'
      readonly value?:
        | {
            readonly defaultValue?: string | number | boolean | null | undefined
            readonly userValue?: string | number | boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
      readonly ignoreCase?: boolean | null | undefined
    }
  | {
      readonly type: 'NUMERIC'
      readonly operation: 'EQUAL' | 'NOT_EQUAL' | 'GREATER' | 'LESS' | 'GREATER_OR_EQUAL' | 'LESS_OR_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: number | string | null | undefined
            readonly userValue?: number | string | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | {
      readonly type: 'BOOLEAN'
      readonly operation: 'EQUAL' | 'NOT_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: boolean | null | undefined
            readonly userValue?: boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | { readonly type: 'COMPLEX'; readonly operation: 'AND' | 'OR'; readonly predicates: readonly KeyFilterPredicate0[] }

export type KeyFilterPredicate10 =
  | {
      readonly type: 'STRING'
      readonly operation:
        'EQUAL' | 'NOT_EQUAL' | 'STARTS_WITH' | 'ENDS_WITH' | 'CONTAINS' | 'NOT_CONTAINS' | 'IN' | 'NOT_IN'
      readonly value?:
        | {
            readonly defaultValue?: string | number | boolean | null | undefined
            readonly userValue?: string | number | boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
      readonly ignoreCase?: boolean | null | undefined
    }
  | {
      readonly type: 'NUMERIC'
      readonly operation: 'EQUAL' | 'NOT_EQUAL' | 'GREATER' | 'LESS' | 'GREATER_OR_EQUAL' | 'LESS_OR_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: number | string | null | undefined
            readonly userValue?: number | string | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | {
      readonly type: 'BOOLEAN'
      readonly operation: 'EQUAL' | 'NOT_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: boolean | null | undefined
            readonly userValue?: boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | { readonly type: 'COMPLEX'; readonly operation: 'AND' | 'OR'; readonly predicates: readonly KeyFilterPredicate9[] }

export type KeyFilterPredicate2 =
  | {
      readonly type: 'STRING'
      readonly operation:
        'EQUAL' | 'NOT_EQUAL' | 'STARTS_WITH' | 'ENDS_WITH' | 'CONTAINS' | 'NOT_CONTAINS' | 'IN' | 'NOT_IN'
      readonly value?:
        | {
            readonly defaultValue?: string | number | boolean | null | undefined
            readonly userValue?: string | number | boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
      readonly ignoreCase?: boolean | null | undefined
    }
  | {
      readonly type: 'NUMERIC'
      readonly operation: 'EQUAL' | 'NOT_EQUAL' | 'GREATER' | 'LESS' | 'GREATER_OR_EQUAL' | 'LESS_OR_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: number | string | null | undefined
            readonly userValue?: number | string | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | {
      readonly type: 'BOOLEAN'
      readonly operation: 'EQUAL' | 'NOT_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: boolean | null | undefined
            readonly userValue?: boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | { readonly type: 'COMPLEX'; readonly operation: 'AND' | 'OR'; readonly predicates: readonly KeyFilterPredicate1[] }

export type KeyFilterPredicate3 =
  | {
      readonly type: 'STRING'
      readonly operation:
        'EQUAL' | 'NOT_EQUAL' | 'STARTS_WITH' | 'ENDS_WITH' | 'CONTAINS' | 'NOT_CONTAINS' | 'IN' | 'NOT_IN'
      readonly value?:
        | {
            readonly defaultValue?: string | number | boolean | null | undefined
            readonly userValue?: string | number | boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
      readonly ignoreCase?: boolean | null | undefined
    }
  | {
      readonly type: 'NUMERIC'
      readonly operation: 'EQUAL' | 'NOT_EQUAL' | 'GREATER' | 'LESS' | 'GREATER_OR_EQUAL' | 'LESS_OR_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: number | string | null | undefined
            readonly userValue?: number | string | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | {
      readonly type: 'BOOLEAN'
      readonly operation: 'EQUAL' | 'NOT_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: boolean | null | undefined
            readonly userValue?: boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | { readonly type: 'COMPLEX'; readonly operation: 'AND' | 'OR'; readonly predicates: readonly KeyFilterPredicate2[] }

export type KeyFilterPredicate4 =
  | {
      readonly type: 'STRING'
      readonly operation:
        'EQUAL' | 'NOT_EQUAL' | 'STARTS_WITH' | 'ENDS_WITH' | 'CONTAINS' | 'NOT_CONTAINS' | 'IN' | 'NOT_IN'
      readonly value?:
        | {
            readonly defaultValue?: string | number | boolean | null | undefined
            readonly userValue?: string | number | boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
      readonly ignoreCase?: boolean | null | undefined
    }
  | {
      readonly type: 'NUMERIC'
      readonly operation: 'EQUAL' | 'NOT_EQUAL' | 'GREATER' | 'LESS' | 'GREATER_OR_EQUAL' | 'LESS_OR_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: number | string | null | undefined
            readonly userValue?: number | string | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | {
      readonly type: 'BOOLEAN'
      readonly operation: 'EQUAL' | 'NOT_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: boolean | null | undefined
            readonly userValue?: boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | { readonly type: 'COMPLEX'; readonly operation: 'AND' | 'OR'; readonly predicates: readonly KeyFilterPredicate3[] }

export type KeyFilterPredicate5 =
  | {
      readonly type: 'STRING'
      readonly operation:
        'EQUAL' | 'NOT_EQUAL' | 'STARTS_WITH' | 'ENDS_WITH' | 'CONTAINS' | 'NOT_CONTAINS' | 'IN' | 'NOT_IN'
      readonly value?:
        | {
            readonly defaultValue?: string | number | boolean | null | undefined
            readonly userValue?: string | number | boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
      readonly ignoreCase?: boolean | null | undefined
    }
  | {
      readonly type: 'NUMERIC'
      readonly operation: 'EQUAL' | 'NOT_EQUAL' | 'GREATER' | 'LESS' | 'GREATER_OR_EQUAL' | 'LESS_OR_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: number | string | null | undefined
            readonly userValue?: number | string | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | {
      readonly type: 'BOOLEAN'
      readonly operation: 'EQUAL' | 'NOT_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: boolean | null | undefined
            readonly userValue?: boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | { readonly type: 'COMPLEX'; readonly operation: 'AND' | 'OR'; readonly predicates: readonly KeyFilterPredicate4[] }

export type KeyFilterPredicate6 =
  | {
      readonly type: 'STRING'
      readonly operation:
        'EQUAL' | 'NOT_EQUAL' | 'STARTS_WITH' | 'ENDS_WITH' | 'CONTAINS' | 'NOT_CONTAINS' | 'IN' | 'NOT_IN'
      readonly value?:
        | {
            readonly defaultValue?: string | number | boolean | null | undefined
            readonly userValue?: string | number | boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
      readonly ignoreCase?: boolean | null | undefined
    }
  | {
      readonly type: 'NUMERIC'
      readonly operation: 'EQUAL' | 'NOT_EQUAL' | 'GREATER' | 'LESS' | 'GREATER_OR_EQUAL' | 'LESS_OR_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: number | string | null | undefined
            readonly userValue?: number | string | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | {
      readonly type: 'BOOLEAN'
      readonly operation: 'EQUAL' | 'NOT_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: boolean | null | undefined
            readonly userValue?: boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | { readonly type: 'COMPLEX'; readonly operation: 'AND' | 'OR'; readonly predicates: readonly KeyFilterPredicate5[] }

export type KeyFilterPredicate7 =
  | {
      readonly type: 'STRING'
      readonly operation:
        'EQUAL' | 'NOT_EQUAL' | 'STARTS_WITH' | 'ENDS_WITH' | 'CONTAINS' | 'NOT_CONTAINS' | 'IN' | 'NOT_IN'
      readonly value?:
        | {
            readonly defaultValue?: string | number | boolean | null | undefined
            readonly userValue?: string | number | boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
      readonly ignoreCase?: boolean | null | undefined
    }
  | {
      readonly type: 'NUMERIC'
      readonly operation: 'EQUAL' | 'NOT_EQUAL' | 'GREATER' | 'LESS' | 'GREATER_OR_EQUAL' | 'LESS_OR_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: number | string | null | undefined
            readonly userValue?: number | string | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | {
      readonly type: 'BOOLEAN'
      readonly operation: 'EQUAL' | 'NOT_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: boolean | null | undefined
            readonly userValue?: boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | { readonly type: 'COMPLEX'; readonly operation: 'AND' | 'OR'; readonly predicates: readonly KeyFilterPredicate6[] }

export type KeyFilterPredicate8 =
  | {
      readonly type: 'STRING'
      readonly operation:
        'EQUAL' | 'NOT_EQUAL' | 'STARTS_WITH' | 'ENDS_WITH' | 'CONTAINS' | 'NOT_CONTAINS' | 'IN' | 'NOT_IN'
      readonly value?:
        | {
            readonly defaultValue?: string | number | boolean | null | undefined
            readonly userValue?: string | number | boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
      readonly ignoreCase?: boolean | null | undefined
    }
  | {
      readonly type: 'NUMERIC'
      readonly operation: 'EQUAL' | 'NOT_EQUAL' | 'GREATER' | 'LESS' | 'GREATER_OR_EQUAL' | 'LESS_OR_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: number | string | null | undefined
            readonly userValue?: number | string | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | {
      readonly type: 'BOOLEAN'
      readonly operation: 'EQUAL' | 'NOT_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: boolean | null | undefined
            readonly userValue?: boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | { readonly type: 'COMPLEX'; readonly operation: 'AND' | 'OR'; readonly predicates: readonly KeyFilterPredicate7[] }

export type KeyFilterPredicate9 =
  | {
      readonly type: 'STRING'
      readonly operation:
        'EQUAL' | 'NOT_EQUAL' | 'STARTS_WITH' | 'ENDS_WITH' | 'CONTAINS' | 'NOT_CONTAINS' | 'IN' | 'NOT_IN'
      readonly value?:
        | {
            readonly defaultValue?: string | number | boolean | null | undefined
            readonly userValue?: string | number | boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
      readonly ignoreCase?: boolean | null | undefined
    }
  | {
      readonly type: 'NUMERIC'
      readonly operation: 'EQUAL' | 'NOT_EQUAL' | 'GREATER' | 'LESS' | 'GREATER_OR_EQUAL' | 'LESS_OR_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: number | string | null | undefined
            readonly userValue?: number | string | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | {
      readonly type: 'BOOLEAN'
      readonly operation: 'EQUAL' | 'NOT_EQUAL'
      readonly value?:
        | {
            readonly defaultValue?: boolean | null | undefined
            readonly userValue?: boolean | null | undefined
            readonly dynamicValue?:
              | {
                  readonly sourceType?:
                    'CURRENT_TENANT' | 'CURRENT_CUSTOMER' | 'CURRENT_USER' | 'CURRENT_DEVICE' | null | undefined
                  readonly sourceAttribute?: string | null | undefined
                }
              | null
              | undefined
          }
        | null
        | undefined
    }
  | { readonly type: 'COMPLEX'; readonly operation: 'AND' | 'OR'; readonly predicates: readonly KeyFilterPredicate8[] }

export type MemberPool = {
  readonly member: string
  readonly name: string
  readonly settings: Readonly<Record<string, number>>
  readonly threads: number
  readonly scripts: number
  readonly tenants: number
  readonly waiting: number
  readonly running: number
  readonly breakersOpen: number
  readonly work: Work
  readonly busiestTenants: readonly TenantWork[]
  readonly busiestScripts: readonly ScriptWork[]
}

export type MemberPools = { readonly member: string; readonly pools: readonly WorkerPool[] }

export type MessageStep = {
  readonly time: number
  readonly ruleNodeId: RuleNodeId
  readonly direction: 'IN' | 'OUT'
  readonly relation?: string
  readonly messageType?: string
  readonly originator?: Readonly<Record<string, unknown>>
  readonly data?: string
  readonly metadata?: string
  readonly error?: string
  readonly server?: string
}

export type NotificationId = { readonly entityType: 'NOTIFICATION'; readonly id: string }

export type NotificationRequest = {
  readonly id: NotificationRequestId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly targets: unknown
  readonly templateId: { readonly entityType: 'NOTIFICATION_TEMPLATE'; readonly id: string } | null
  readonly template: unknown
  readonly info: unknown
  readonly additionalConfig: unknown
  readonly originatorEntityId: unknown
  readonly ruleId: unknown
  readonly status: 'PROCESSING' | 'SENT' | 'SCHEDULED'
  readonly stats: unknown
}

export type NotificationRequestId = { readonly entityType: 'NOTIFICATION_REQUEST'; readonly id: string }

export type NotificationRequestPreview = {
  readonly processedTemplates: Readonly<Record<string, unknown>>
  readonly totalRecipientsCount: number
  readonly recipientsCountByTarget: Readonly<Record<string, number>>
  readonly recipientsPreview: readonly string[]
}

export type NotificationRule = {
  readonly id: NotificationRuleId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly name: string
  readonly enabled: boolean
  readonly templateId: { readonly entityType: 'NOTIFICATION_TEMPLATE'; readonly id: string }
  readonly triggerType:
    | 'ENTITY_ACTION'
    | 'ALARM'
    | 'ALARM_COMMENT'
    | 'ALARM_ASSIGNMENT'
    | 'DEVICE_ACTIVITY'
    | 'RULE_ENGINE_COMPONENT_LIFECYCLE_EVENT'
    | 'EDGE_CONNECTION'
    | 'EDGE_COMMUNICATION_FAILURE'
    | 'NEW_PLATFORM_VERSION'
    | 'ENTITIES_LIMIT'
    | 'API_USAGE_LIMIT'
    | 'RATE_LIMITS'
    | 'TASK_PROCESSING_FAILURE'
    | 'RESOURCES_SHORTAGE'
  readonly triggerConfig: unknown
  readonly recipientsConfig: unknown
  readonly additionalConfig: unknown
}

export type NotificationRuleId = { readonly entityType: 'NOTIFICATION_RULE'; readonly id: string }

export type NotificationRuleInfo = {
  readonly id: NotificationRuleId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly name: string
  readonly enabled: boolean
  readonly templateId: { readonly entityType: 'NOTIFICATION_TEMPLATE'; readonly id: string }
  readonly triggerType:
    | 'ENTITY_ACTION'
    | 'ALARM'
    | 'ALARM_COMMENT'
    | 'ALARM_ASSIGNMENT'
    | 'DEVICE_ACTIVITY'
    | 'RULE_ENGINE_COMPONENT_LIFECYCLE_EVENT'
    | 'EDGE_CONNECTION'
    | 'EDGE_COMMUNICATION_FAILURE'
    | 'NEW_PLATFORM_VERSION'
    | 'ENTITIES_LIMIT'
    | 'API_USAGE_LIMIT'
    | 'RATE_LIMITS'
    | 'TASK_PROCESSING_FAILURE'
    | 'RESOURCES_SHORTAGE'
  readonly triggerConfig: unknown
  readonly recipientsConfig: unknown
  readonly additionalConfig: unknown
  readonly templateName?: string | null
  readonly deliveryMethods?: readonly string[]
}

export type NotificationSettings = { readonly deliveryMethodsConfigs: Readonly<Record<string, unknown>> }

export type NotificationTarget = {
  readonly id: NotificationTargetId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly name: string
  readonly configuration: unknown
}

export type NotificationTargetId = { readonly entityType: 'NOTIFICATION_TARGET'; readonly id: string }

export type NotificationTemplate = {
  readonly id: NotificationTemplateId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly name: string
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
  readonly configuration: unknown
}

export type NotificationTemplateId = { readonly entityType: 'NOTIFICATION_TEMPLATE'; readonly id: string }

export type OtaPackage = {
  readonly id: OtaPackageId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly deviceProfileId: { readonly entityType: 'DEVICE_PROFILE'; readonly id: string } | null
  readonly type: string | null
  readonly title: string
  readonly tag: string | null
  readonly url: string | null
  readonly hasData: boolean
  readonly fileName: string | null
  readonly contentType: string | null
  readonly checksumAlgorithm: string | null
  readonly checksum: string | null
  readonly dataSize: number | null
  readonly additionalInfo: unknown
  readonly name?: string
  readonly version?: string
}

export type OtaPackageId = { readonly entityType: 'OTA_PACKAGE'; readonly id: string }

export type OwnSecondFactor = {
  readonly type: 'TOTP' | 'SMS' | 'EMAIL' | 'BACKUP_CODE'
  readonly default: boolean
  readonly contact?: string | null
  readonly minVerificationCodeSendPeriod?: number | null
}

export type PageOfAiModel = {
  readonly data: readonly AiModel[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfAsset = {
  readonly data: readonly Asset[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfAssetInfo = {
  readonly data: readonly AssetInfo[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfAssetProfile = {
  readonly data: readonly AssetProfile[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfCalculatedField = {
  readonly data: readonly CalculatedField[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfCustomer = {
  readonly data: readonly Customer[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfDevice = {
  readonly data: readonly Device[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfDeviceInfo = {
  readonly data: readonly DeviceInfo[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfDeviceProfile = {
  readonly data: readonly DeviceProfile[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfEntityView = {
  readonly data: readonly EntityView[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfEntityViewInfo = {
  readonly data: readonly EntityViewInfo[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfEventInfo = {
  readonly data: readonly EventInfo[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfIntegration = {
  readonly data: readonly Integration[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfJob = {
  readonly data: readonly Job[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfNotificationRequest = {
  readonly data: readonly NotificationRequest[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfNotificationRuleInfo = {
  readonly data: readonly NotificationRuleInfo[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfNotificationTarget = {
  readonly data: readonly NotificationTarget[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfNotificationTemplate = {
  readonly data: readonly NotificationTemplate[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfOtaPackage = {
  readonly data: readonly OtaPackage[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfParkedLane = {
  readonly data: readonly ParkedLane[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfQueue = {
  readonly data: readonly Queue[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfQueueStats = {
  readonly data: readonly QueueStats[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfRuleChain = {
  readonly data: readonly RuleChain[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfTbResource = {
  readonly data: readonly TbResource[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfTenant = {
  readonly data: readonly Tenant[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfTenantInfo = {
  readonly data: readonly TenantInfo[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfTenantProfile = {
  readonly data: readonly TenantProfile[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfUser = {
  readonly data: readonly User[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PageOfWidgetsBundle = {
  readonly data: readonly WidgetsBundle[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type ParkedLane = {
  readonly id: string
  readonly tenantId: TenantId
  readonly queueName: string
  readonly originator: { readonly entityType: string; readonly id: string }
  readonly messages: number
  readonly bytes: number
  readonly reason: string
  readonly since: number
  readonly tries: number
  readonly nextTry: number | null
  readonly state: string
}

export type Queue = {
  readonly id: QueueId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly name: string
  readonly topic: string
  readonly pollInterval?: number
  readonly partitions?: number
  readonly consumerPerPartition?: boolean
  readonly packProcessingTimeout?: number
  readonly submitStrategy: Readonly<Record<string, unknown>>
  readonly processingStrategy: Readonly<Record<string, unknown>>
  readonly version?: number
  readonly additionalInfo?: unknown
}

export type QueueId = { readonly entityType: 'QUEUE'; readonly id: string }

export type QueueStats = {
  readonly id: QueueStatsId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly queueName: string
  readonly serviceId: string
}

export type QueueStatsId = { readonly entityType: 'QUEUE_STATS'; readonly id: string }

export type RpcId = { readonly entityType: 'RPC'; readonly id: string }

export type RuleChain = {
  readonly id: RuleChainId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly version: number
  readonly name: string
  readonly type: 'CORE' | 'EDGE'
  readonly firstRuleNodeId: { readonly entityType?: 'RULE_NODE'; readonly id?: string } | null
  readonly root: boolean
  readonly debugMode: boolean
  readonly configuration: unknown
  readonly additionalInfo: unknown
}

export type RuleChainData = {
  readonly ruleChains: readonly RuleChain[]
  readonly metadata: readonly RuleChainMetaData[]
}

export type RuleChainDifference = { readonly what: string; readonly lines: readonly string[] }

export type RuleChainFinding = {
  readonly severity: 'error' | 'warning'
  readonly nodeIndex: number | null
  readonly text: string
}

export type RuleChainId = { readonly entityType: 'RULE_CHAIN'; readonly id: string }

export type RuleChainImportResult = {
  readonly ruleChainId?: RuleChainId
  readonly ruleChainName: string
  readonly updated?: boolean
  readonly error?: string
  readonly toFillIn?: readonly string[]
}

export type RuleChainMetaData = {
  readonly ruleChainId: RuleChainId
  readonly version: number
  readonly firstNodeIndex: number | null
  readonly nodes: readonly Readonly<Record<string, unknown>>[]
  readonly connections: readonly Readonly<Record<string, unknown>>[]
  readonly ruleChainConnections: readonly Readonly<Record<string, unknown>>[]
}

export type RuleChainOutputLabelsUsage = {
  readonly ruleChainId: RuleChainId
  readonly ruleNodeId: RuleNodeId
  readonly ruleChainName: string
  readonly ruleNodeName: string
  readonly labels: readonly string[]
}

export type RuleChainStatistics = {
  readonly ruleChainId: RuleChainId
  readonly name: string
  readonly inFlight: number
  readonly dropped: number
  readonly windowMs: number
  readonly nodes: readonly RuleNodeStatistics[]
}

export type RuleChainTrial = {
  readonly id: string
  readonly kind: 'shadow' | 'replay'
  readonly phase: 'running' | 'done' | 'stopped' | 'failed'
  readonly reason?: string
  readonly isReal?: boolean
  readonly cut?: 'messages' | 'time'
  readonly startedAt?: number
  readonly from?: number
  readonly until?: number
  readonly reached?: number
  readonly retainedFrom?: number
  readonly messages: number
  readonly maxMessages?: number
  readonly reachedChain?: number
  readonly failed?: number
  readonly unended?: number
  readonly passedOver?: number
  readonly differing: number
  readonly untoldNodes?: number
  readonly differences: readonly Readonly<Record<string, unknown>>[]
  readonly nodes: readonly Readonly<Record<string, unknown>>[]
  readonly unstarted?: readonly Readonly<Record<string, unknown>>[]
}

export type RuleChainVersion = {
  readonly id: string
  readonly ruleChainId: RuleChainId
  readonly createdTime: number
  readonly version: number
  readonly authorId: UserId | null
  readonly authorName: string | null
  readonly nodes: number
}

export type RuleChainVersionData = {
  readonly id: string
  readonly ruleChainId: RuleChainId
  readonly createdTime: number
  readonly version: number
  readonly authorId: UserId | null
  readonly authorName: string | null
  readonly nodes: number
  readonly metadata: RuleChainMetaData
}

export type RuleEdgeStatistics = {
  readonly relation: string
  readonly to: readonly RuleNodeId[]
  readonly messages: number
  readonly rate: number
}

export type RuleNodeId = { readonly entityType: 'RULE_NODE'; readonly id: string }

export type RuleNodeLatency = {
  readonly measured: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export type RuleNodeStartError = { readonly ruleNodeId: RuleNodeId; readonly error: string }

export type RuleNodeStatistics = {
  readonly ruleNodeId: RuleNodeId
  readonly name: string
  readonly type: string
  readonly since: number
  readonly messages: number
  readonly failures: number
  readonly timedOut: number
  readonly ended: number
  readonly rate: number
  readonly failureRate: number
  readonly latency: RuleNodeLatency
  readonly edges: readonly RuleEdgeStatistics[]
}

export type ScriptTestResult = { readonly output: string; readonly error: string }

export type ScriptWork = {
  readonly tenantId: string
  readonly tenantName: string
  readonly ruleChainId: string
  readonly ruleChainName: string
  readonly ruleNodeId: string
  readonly ruleNodeName: string
  readonly waiting: number
  readonly breaker: {
    readonly state: 'closed' | 'open' | 'half-open'
    readonly retryInMs: number
    readonly trips: number
  }
  readonly work: Work
}

export type SeriesByKey = Readonly<Record<string, readonly TsData[]>>

export type SlackConversation = { readonly type?: string; readonly id?: string; readonly name?: string }

export type TbResource = {
  readonly id: TbResourceId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly title: string
  readonly resourceType: 'LWM2M_MODEL' | 'JKS' | 'PKCS_12' | 'JS_MODULE' | 'IMAGE' | 'DASHBOARD' | 'GENERAL' | null
  readonly resourceSubType: 'IMAGE' | 'SCADA_SYMBOL' | 'EXTENSION' | 'MODULE' | null
  readonly resourceKey: string | null
  readonly public: boolean
  readonly publicResourceKey: string | null
  readonly etag: string | null
  readonly fileName: string | null
  readonly descriptor: unknown
  readonly name: string
  readonly link: string
  readonly publicLink: string | null
}

export type TbResourceId = { readonly entityType: 'TB_RESOURCE'; readonly id: string }

export type TbResourceWithData = {
  readonly id: TbResourceId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly title: string
  readonly resourceType: 'LWM2M_MODEL' | 'JKS' | 'PKCS_12' | 'JS_MODULE' | 'IMAGE' | 'DASHBOARD' | 'GENERAL' | null
  readonly resourceSubType: 'IMAGE' | 'SCADA_SYMBOL' | 'EXTENSION' | 'MODULE' | null
  readonly resourceKey: string | null
  readonly public: boolean
  readonly publicResourceKey: string | null
  readonly etag: string | null
  readonly fileName: string | null
  readonly descriptor: unknown
  readonly name: string
  readonly link: string
  readonly publicLink: string | null
  readonly data: string
  readonly preview: string | null
}

export type Tenant = {
  readonly id: TenantId
  readonly createdTime: number
  readonly version: number
  readonly country: string | null
  readonly state: string | null
  readonly city: string | null
  readonly address: string | null
  readonly address2: string | null
  readonly zip: string | null
  readonly phone: string | null
  readonly email: string | null
  readonly title: string
  readonly tenantProfileId: { readonly entityType: 'TENANT_PROFILE'; readonly id: string } | null
  readonly additionalInfo: unknown
}

export type TenantId = { readonly entityType: 'TENANT'; readonly id: string }

export type TenantInfo = {
  readonly id: TenantId
  readonly createdTime: number
  readonly version: number
  readonly country: string | null
  readonly state: string | null
  readonly city: string | null
  readonly address: string | null
  readonly address2: string | null
  readonly zip: string | null
  readonly phone: string | null
  readonly email: string | null
  readonly title: string
  readonly tenantProfileId: { readonly entityType: 'TENANT_PROFILE'; readonly id: string } | null
  readonly additionalInfo: unknown
  readonly tenantProfileName: string | null
}

export type TenantProfile = {
  readonly id: TenantProfileId
  readonly createdTime: number
  readonly name: string
  readonly description: string | null
  readonly isolatedTbRuleEngine: boolean
  readonly default: boolean
  readonly profileData: { readonly configuration: { readonly type?: 'DEFAULT' }; readonly queueConfiguration?: unknown }
}

export type TenantProfileId = { readonly entityType: 'TENANT_PROFILE'; readonly id: string }

export type TenantWork = {
  readonly tenantId: string
  readonly tenantName: string
  readonly scripts: number
  readonly waiting: number
  readonly work: Work
}

export type TsData = { readonly ts: number; readonly value: unknown }

export type User = {
  readonly id: UserId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly version: number
  readonly customerId: { readonly entityType: 'CUSTOMER'; readonly id: string }
  readonly email: string
  readonly authority: 'SYS_ADMIN' | 'TENANT_ADMIN' | 'CUSTOMER_USER'
  readonly firstName: string | null
  readonly lastName: string | null
  readonly phone: string | null
  readonly additionalInfo: unknown
}

export type UserId = { readonly entityType: 'USER'; readonly id: string }

export type UserNotificationSettings = {
  readonly prefs: Readonly<
    Record<string, { readonly enabled: boolean; readonly enabledDeliveryMethods: Readonly<Record<string, boolean>> }>
  >
}

export type WidgetType = {
  readonly id: WidgetTypeId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly version: number
  readonly fqn: string
  readonly name: string
  readonly deprecated: boolean
  readonly scada: boolean
  readonly descriptor: unknown
  readonly image: string | null
  readonly description: string | null
  readonly tags: unknown
}

export type WidgetTypeId = { readonly entityType: 'WIDGET_TYPE'; readonly id: string }

export type WidgetsBundle = {
  readonly id: WidgetsBundleId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly externalId: unknown
  readonly version: number
  readonly alias: string
  readonly title: string
  readonly image: string | null
  readonly scada: boolean
  readonly description: string | null
  readonly order: number | null
}

export type WidgetsBundleId = { readonly entityType: 'WIDGETS_BUNDLE'; readonly id: string }

export type Work = {
  readonly windowMs: number
  readonly messagesPerSecond: number
  readonly utilisation: number
  readonly queueWaitMs: Distribution
  readonly runMs: Distribution
  readonly batchMessages: Distribution
  readonly totals: {
    readonly messages?: number
    readonly batches?: number
    readonly errors?: number
    readonly timeouts?: number
    readonly memoryErrors?: number
    readonly blocked?: number
    readonly refused?: number
    readonly deaths?: number
  }
}

export type WorkerPool = {
  readonly name: string
  readonly settings: Readonly<Record<string, number>>
  readonly threads: number
  readonly scripts: number
  readonly tenants: number
  readonly waiting: number
  readonly running: number
  readonly breakersOpen: number
  readonly work: Work
  readonly busiestTenants: readonly TenantWork[]
  readonly busiestScripts: readonly ScriptWork[]
}

export type Delete2faAccountConfigAnswer = { readonly configs: Readonly<Record<string, unknown>> }

export type DeleteAlarmByAlarmIdAssignAnswer = {
  readonly id: AlarmId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly customerId: { readonly entityType: 'CUSTOMER'; readonly id: string } | null
  readonly type: string
  readonly severity: 'CRITICAL' | 'MAJOR' | 'MINOR' | 'WARNING' | 'INDETERMINATE'
  readonly acknowledged: boolean
  readonly cleared: boolean
  readonly assigneeId: { readonly entityType: 'USER'; readonly id: string } | null
  readonly startTs: number
  readonly endTs: number
  readonly ackTs: number
  readonly clearTs: number
  readonly assignTs: number
  readonly details: unknown
  readonly propagate: boolean
  readonly propagateToOwner: boolean
  readonly propagateToTenant: boolean
  readonly propagateRelationTypes: unknown
  readonly originator: {
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
    readonly id: string
  }
  readonly name: string
  readonly status: 'ACTIVE_UNACK' | 'ACTIVE_ACK' | 'CLEARED_UNACK' | 'CLEARED_ACK'
}

export type DeleteImagesByImageTypeByImageKeyAnswer = {
  readonly success: boolean
  readonly references: Readonly<Record<string, unknown>> | null
}

export type DeleteV2RelationAnswer = {
  readonly from: { readonly entityType: string; readonly id: string }
  readonly to: { readonly entityType: string; readonly id: string }
  readonly type: string
  readonly typeGroup: 'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN'
  readonly version: number
  readonly additionalInfo: unknown
}

export type Get2faSettingsAnswer = { readonly providers: readonly unknown[] }

export type GetActuatorHealthAnswer = {
  readonly status: 'UP' | 'DOWN'
  readonly components: Readonly<Record<string, { readonly status: 'UP' | 'DOWN'; readonly details?: string }>>
}

export type GetAdminFeaturesInfoAnswer = {
  readonly emailEnabled: boolean
  readonly smsEnabled: boolean
  readonly notificationEnabled: boolean
  readonly oauthEnabled: boolean
  readonly twoFaEnabled: boolean
}

export type GetAdminJwtSettingsAnswer = {
  readonly tokenExpirationTime: number
  readonly refreshTokenExpTime: number
  readonly tokenIssuer: string
  readonly tokenSigningKey: string
}

export type GetAdminRepositorySettingsInfoAnswer = { readonly configured: boolean; readonly readOnly: boolean | null }

export type GetAdminSecuritySettingsAnswer = {
  readonly passwordPolicy: {
    readonly minimumLength: number
    readonly maximumLength: number | null
    readonly minimumUppercaseLetters: number | null
    readonly minimumLowercaseLetters: number | null
    readonly minimumDigits: number | null
    readonly minimumSpecialCharacters: number | null
    readonly allowWhitespaces: boolean
    readonly forceUserToResetPasswordIfNotValid: boolean
    readonly passwordExpirationPeriodDays: number | null
    readonly passwordReuseFrequencyDays: number | null
  }
  readonly maxFailedLoginAttempts: number | null
  readonly userLockoutNotificationEmail: string | null
  readonly mobileSecretKeyLength: number | null
  readonly userActivationTokenTtl: number
  readonly passwordResetTokenTtl: number
}

export type GetAdminSettingsBySettingsKeyAnswer = {
  readonly id: { readonly entityType: 'ADMIN_SETTINGS'; readonly id: string }
  readonly createdTime: number
  readonly tenantId: { readonly entityType: 'TENANT'; readonly id: string }
  readonly key: string
  readonly jsonValue: Readonly<Record<string, unknown>>
}

export type GetAdminSystemInfoAnswer = {
  readonly monolith: boolean
  readonly systemData: readonly {
    readonly serviceId: string
    readonly serviceType: string
    readonly cpuUsage: number
    readonly cpuCount: number
    readonly memoryUsage: number
    readonly totalMemory: number
    readonly discUsage: number
    readonly totalDiscSpace: number
  }[]
}

export type GetAdminUpdatesAnswer = { readonly updateAvailable: boolean; readonly currentVersion: string }

export type GetAlarmByAlarmIdCommentAnswer = {
  readonly data: readonly {
    readonly id: { readonly id: string }
    readonly createdTime: number
    readonly alarmId: AlarmId
    readonly userId: UserId | null
    readonly type: 'SYSTEM' | 'OTHER'
    readonly comment: unknown
    readonly name: string
    readonly firstName: string | null
    readonly lastName: string | null
    readonly email: string | null
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetAlarmByEntityTypeByEntityIdAnswer = {
  readonly data: readonly {
    readonly id: AlarmId
    readonly createdTime: number
    readonly tenantId: TenantId
    readonly customerId: { readonly entityType: 'CUSTOMER'; readonly id: string } | null
    readonly type: string
    readonly severity: 'CRITICAL' | 'MAJOR' | 'MINOR' | 'WARNING' | 'INDETERMINATE'
    readonly acknowledged: boolean
    readonly cleared: boolean
    readonly assigneeId: { readonly entityType: 'USER'; readonly id: string } | null
    readonly startTs: number
    readonly endTs: number
    readonly ackTs: number
    readonly clearTs: number
    readonly assignTs: number
    readonly details: unknown
    readonly propagate: boolean
    readonly propagateToOwner: boolean
    readonly propagateToTenant: boolean
    readonly propagateRelationTypes: unknown
    readonly originator: {
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
      readonly id: string
    }
    readonly name: string
    readonly status: 'ACTIVE_UNACK' | 'ACTIVE_ACK' | 'CLEARED_UNACK' | 'CLEARED_ACK'
    readonly originatorName: string | null
    readonly originatorLabel: string | null
    readonly originatorDisplayName: string | null
    readonly assignee: {
      readonly id?: UserId
      readonly firstName?: string | null
      readonly lastName?: string | null
      readonly email?: string
    } | null
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetAlarmInfoByAlarmIdAnswer = {
  readonly id: AlarmId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly customerId: { readonly entityType: 'CUSTOMER'; readonly id: string } | null
  readonly type: string
  readonly severity: 'CRITICAL' | 'MAJOR' | 'MINOR' | 'WARNING' | 'INDETERMINATE'
  readonly acknowledged: boolean
  readonly cleared: boolean
  readonly assigneeId: { readonly entityType: 'USER'; readonly id: string } | null
  readonly startTs: number
  readonly endTs: number
  readonly ackTs: number
  readonly clearTs: number
  readonly assignTs: number
  readonly details: unknown
  readonly propagate: boolean
  readonly propagateToOwner: boolean
  readonly propagateToTenant: boolean
  readonly propagateRelationTypes: unknown
  readonly originator: {
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
    readonly id: string
  }
  readonly name: string
  readonly status: 'ACTIVE_UNACK' | 'ACTIVE_ACK' | 'CLEARED_UNACK' | 'CLEARED_ACK'
  readonly originatorName: string | null
  readonly originatorLabel: string | null
  readonly originatorDisplayName: string | null
  readonly assignee: {
    readonly id?: UserId
    readonly firstName?: string | null
    readonly lastName?: string | null
    readonly email?: string
  } | null
}

export type GetAlarmRuleByAlarmRuleIdAnswer = {
  readonly id: CalculatedFieldId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly version: number
  readonly entityId: {
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
    readonly id: string
  }
  readonly name: string
  readonly debugSettings: unknown
  readonly configurationVersion: number
  readonly configuration: unknown
  readonly additionalInfo: unknown
}

export type GetAlarmRulesAnswer = {
  readonly data: readonly {
    readonly id: CalculatedFieldId
    readonly createdTime: number
    readonly tenantId: TenantId
    readonly version: number
    readonly entityId: {
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
      readonly id: string
    }
    readonly name: string
    readonly debugSettings: unknown
    readonly configurationVersion: number
    readonly configuration: unknown
    readonly additionalInfo: unknown
    readonly entityName: string | null
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetAlarmRulesByEntityTypeByEntityIdAnswer = {
  readonly data: readonly {
    readonly id: CalculatedFieldId
    readonly createdTime: number
    readonly tenantId: TenantId
    readonly version: number
    readonly entityId: {
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
      readonly id: string
    }
    readonly name: string
    readonly debugSettings: unknown
    readonly configurationVersion: number
    readonly configuration: unknown
    readonly additionalInfo: unknown
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetAlarmRulesNamesAnswer = {
  readonly data: readonly string[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetAlarmTypesAnswer = {
  readonly data: readonly { readonly tenantId?: TenantId; readonly entityType?: 'ALARM'; readonly type?: string }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetApiKeysByUserIdAnswer = {
  readonly data: readonly {
    readonly id: ApiKeyId
    readonly createdTime: number
    readonly tenantId: TenantId
    readonly userId: { readonly entityType: 'USER'; readonly id: string }
    readonly expirationTime: number
    readonly description: string
    readonly enabled: boolean
    readonly expired: boolean
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetAssetProfileInfoByAssetProfileIdAnswer = {
  readonly id: AssetProfileId
  readonly tenantId: TenantId
  readonly name: string
  readonly image: string | null
  readonly defaultDashboardId: { readonly entityType: 'DASHBOARD'; readonly id: string } | null
}

export type GetAssetProfileInfosAnswer = {
  readonly data: readonly {
    readonly id: AssetProfileId
    readonly tenantId: TenantId
    readonly name: string
    readonly image: string | null
    readonly defaultDashboardId: { readonly entityType: 'DASHBOARD'; readonly id: string } | null
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetAuditLogsAnswer = {
  readonly data: readonly {
    readonly id: { readonly id: string }
    readonly createdTime: number
    readonly tenantId: TenantId
    readonly customerId: CustomerId
    readonly entityId: Readonly<Record<string, unknown>>
    readonly entityName: string
    readonly userId: UserId
    readonly userName: string
    readonly actionType:
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
    readonly actionData: Readonly<Record<string, unknown>>
    readonly actionStatus: 'SUCCESS' | 'FAILURE'
    readonly actionFailureDetails: string
    readonly clientAddress?: string | null
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetBulkImportAnswer = {
  readonly position: number
  readonly created: number
  readonly updated: number
  readonly errors: number
  readonly errorsList: readonly string[]
}

export type GetCalculatedFieldsAnswer = {
  readonly data: readonly {
    readonly id: CalculatedFieldId
    readonly createdTime: number
    readonly tenantId: TenantId
    readonly version: number
    readonly entityId: {
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
      readonly id: string
    }
    readonly type:
      | 'SIMPLE'
      | 'SCRIPT'
      | 'GEOFENCING'
      | 'ALARM'
      | 'PROPAGATION'
      | 'RELATED_ENTITIES_AGGREGATION'
      | 'ENTITY_AGGREGATION'
    readonly name: string
    readonly debugSettings: unknown
    readonly configurationVersion: number
    readonly configuration: unknown
    readonly additionalInfo: unknown
    readonly entityName: string | null
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetComponentByComponentDescriptorClazzAnswer = {
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
}

export type GetCustomerByCustomerIdDashboardsAnswer = {
  readonly data: readonly {
    readonly id: DashboardId
    readonly createdTime: number
    readonly tenantId: TenantId
    readonly title: string
    readonly name: string
    readonly image?: string | null
    readonly mobileHide?: boolean
    readonly mobileOrder?: number | null
    readonly assignedCustomers: readonly unknown[] | null
    readonly version: number
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetCustomerByCustomerIdShortInfoAnswer = { readonly title?: string; readonly isPublic?: boolean }

export type GetDashboardHomeInfoAnswer = {
  readonly dashboardId?: DashboardId | null
  readonly hideDashboardToolbar?: boolean
}

export type GetDashboardInfoByDashboardIdAnswer = {
  readonly id: DashboardId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly title: string
  readonly name: string
  readonly image?: string | null
  readonly mobileHide?: boolean
  readonly mobileOrder?: number | null
  readonly assignedCustomers: readonly unknown[] | null
  readonly version: number
}

export type GetDeadLettersAnswer = { readonly data: readonly DeadLetter[]; readonly hasNext: boolean }

export type GetDeviceByDeviceIdCredentialsAnswer = {
  readonly id: { readonly id: string }
  readonly createdTime: number
  readonly deviceId: DeviceId
  readonly credentialsType: 'ACCESS_TOKEN' | 'X509_CERTIFICATE' | 'MQTT_BASIC' | 'LWM2M_CREDENTIALS'
  readonly credentialsId: string
  readonly credentialsValue: string | null
  readonly version: number
}

export type GetDeviceProfileInfoByDeviceProfileIdAnswer = {
  readonly id: DeviceProfileId
  readonly tenantId: TenantId
  readonly name: string
  readonly image: string | null
  readonly defaultDashboardId: { readonly entityType: 'DASHBOARD'; readonly id: string } | null
  readonly type: 'DEFAULT'
  readonly transportType: 'DEFAULT' | 'MQTT' | 'COAP' | 'LWM2M' | 'SNMP'
}

export type GetDeviceProfileInfosAnswer = {
  readonly data: readonly {
    readonly id: DeviceProfileId
    readonly tenantId: TenantId
    readonly name: string
    readonly image: string | null
    readonly defaultDashboardId: { readonly entityType: 'DASHBOARD'; readonly id: string } | null
    readonly type: 'DEFAULT'
    readonly transportType: 'DEFAULT' | 'MQTT' | 'COAP' | 'LWM2M' | 'SNMP'
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetDomainInfosAnswer = {
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetEdqsStateAnswer = { readonly edqsReady: null; readonly syncStatus: null; readonly apiMode: null }

export type GetImagesByImageTypeByImageKeyExportAnswer = {
  readonly link: string
  readonly title: string
  readonly type: string
  readonly subType?: string | null
  readonly resourceKey: string
  readonly fileName: string
  readonly publicResourceKey?: string | null
  readonly mediaType: string
  readonly data: string
  readonly public: boolean
}

export type GetIntegrationByIntegrationIdStatisticsAnswer = {
  readonly state: 'STOPPED' | 'CONNECTING' | 'RUNNING' | 'FAILED'
  readonly received: number
  readonly receivedBytes: number
  readonly stored: number
  readonly failed: number
  readonly delayed: number
  readonly lastError: string | null
  readonly lastErrorTs: number | null
  readonly progress: Readonly<Record<string, unknown>> | null
}

export type GetIntegrationByIntegrationIdWebhookAnswer = { readonly path: string }

export type GetLwm2mDeviceProfileBootstrapByIsBootstrapServerAnswer = {
  readonly host: string
  readonly securityHost: string
  readonly clientHoldOffTime: number
  readonly bootstrapServerAccountTimeout: number
  readonly lifetime: number
  readonly defaultMinPeriod: number
  readonly notifIfDisabled: boolean
  readonly binding: string
  readonly serverPublicKey: string
  readonly serverCertificate: string
  readonly bootstrapServerIs: boolean
  readonly shortServerId: number
  readonly port: number
  readonly securityPort: number
}

export type GetMobileQrSettingsAnswer = { readonly qrCodeConfig: Readonly<Record<string, unknown>> }

export type GetNoauthMobileAnswer = {
  readonly oAuth2ClientLoginInfos: readonly Readonly<Record<string, unknown>>[]
  readonly storeInfo: null
  readonly versionInfo: null
}

export type GetNoauthUserPasswordPolicyAnswer = {
  readonly minimumLength: number
  readonly maximumLength: number | null
  readonly minimumUppercaseLetters: number | null
  readonly minimumLowercaseLetters: number | null
  readonly minimumDigits: number | null
  readonly minimumSpecialCharacters: number | null
  readonly allowWhitespaces: boolean
  readonly forceUserToResetPasswordIfNotValid: boolean
  readonly passwordExpirationPeriodDays: number | null
  readonly passwordReuseFrequencyDays: number | null
}

export type GetNotificationsAnswer = {
  readonly data: readonly {
    readonly id?: NotificationId
    readonly createdTime?: number
    readonly requestId?: NotificationRequestId
    readonly recipientId?: UserId
    readonly type?: string
    readonly deliveryMethod?: string
    readonly subject?: string | null
    readonly text?: string
    readonly additionalConfig?: unknown
    readonly info?: unknown
    readonly status?: 'SENT' | 'READ'
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetRpcPersistentByRpcIdAnswer = {
  readonly id: RpcId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly deviceId: DeviceId
  readonly expirationTime: number
  readonly request: Readonly<Record<string, unknown>>
  readonly response: unknown
  readonly status: 'QUEUED' | 'SENT' | 'DELIVERED' | 'SUCCESSFUL' | 'TIMEOUT' | 'EXPIRED' | 'FAILED' | 'DELETED'
  readonly additionalInfo?: unknown
}

export type GetRpcPersistentDeviceByDeviceIdAnswer = {
  readonly data: readonly {
    readonly id: RpcId
    readonly createdTime: number
    readonly tenantId: TenantId
    readonly deviceId: DeviceId
    readonly expirationTime: number
    readonly request: Readonly<Record<string, unknown>>
    readonly response: unknown
    readonly status: 'QUEUED' | 'SENT' | 'DELIVERED' | 'SUCCESSFUL' | 'TIMEOUT' | 'EXPIRED' | 'FAILED' | 'DELETED'
    readonly additionalInfo?: unknown
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetSystemInfoAnswer = {
  readonly version: string
  readonly artifact: string
  readonly name: string
  readonly type: string
}

export type GetSystemParamsAnswer = { readonly userTokenAccessEnabled?: boolean; readonly maxDatapointsLimit?: number }

export type GetTenantByTenantIdRowsAnswer = {
  readonly rows: readonly string[]
  readonly next: string | null
  readonly passed?: number
  readonly entities?: number
}

export type GetTenantProfileInfoByTenantProfileIdAnswer = { readonly id: TenantProfileId; readonly name: string }

export type GetTenantProfileInfosAnswer = {
  readonly data: readonly { readonly id: TenantProfileId; readonly name: string }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetTrendzSettingsAnswer = { readonly enabled: boolean }

export type GetUsageAnswer = {
  readonly devices: number
  readonly maxDevices: number
  readonly assets: number
  readonly maxAssets: number
  readonly customers: number
  readonly maxCustomers: number
  readonly users: number
  readonly maxUsers: number
  readonly dashboards: number
  readonly maxDashboards: number
  readonly edges: number
  readonly maxEdges: number
  readonly transportMessages: number
  readonly maxTransportMessages: number
  readonly jsExecutions: number
  readonly maxJsExecutions: number
  readonly tbelExecutions: number
  readonly maxTbelExecutions: number
  readonly emails: number
  readonly maxEmails: number
  readonly sms: number
  readonly maxSms: number
  readonly alarms: number
  readonly maxAlarms: number
}

export type GetUserByUserIdActivationLinkInfoAnswer = { readonly value: string; readonly ttlMs: number }

export type GetUserByUserIdTokenAnswer = { readonly token: string; readonly refreshToken: string }

export type GetUserDashboardsAnswer = {
  readonly last: readonly {
    readonly id: string
    readonly title: string
    readonly starred: boolean
    readonly lastVisited: number
  }[]
  readonly starred: readonly { readonly id: string; readonly title: string; readonly starredAt: number }[]
}

export type GetUserMobileSessionAnswer = { readonly fcmTokenTimestamp?: number | null }

export type GetUsersAssignByAlarmIdAnswer = {
  readonly data: readonly {
    readonly id: UserId
    readonly email: string
    readonly firstName: string | null
    readonly lastName: string | null
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetUsersInfoAnswer = {
  readonly data: readonly {
    readonly id: UserId
    readonly email: string
    readonly firstName: string
    readonly lastName: string
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type GetWidgetTypeAnswer = {
  readonly id: WidgetTypeId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly fqn: string
  readonly name: string
  readonly deprecated: boolean
  readonly scada: boolean
  readonly version: number
  readonly descriptor: unknown
}

export type GetWidgetTypeInfoByWidgetTypeIdAnswer = {
  readonly id: WidgetTypeId
  readonly createdTime: number
  readonly tenantId: TenantId
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
}

export type GetWidgetTypesAnswer = {
  readonly data: readonly {
    readonly id: WidgetTypeId
    readonly createdTime: number
    readonly tenantId: TenantId
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
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type Post2faAccountConfigBody =
  | { readonly providerType: 'TOTP'; readonly authUrl: string; readonly useByDefault?: boolean | null | undefined }
  | { readonly providerType: 'SMS'; readonly phoneNumber: string; readonly useByDefault?: boolean | null | undefined }
  | { readonly providerType: 'EMAIL'; readonly email: string; readonly useByDefault?: boolean | null | undefined }
  | {
      readonly providerType: 'BACKUP_CODE'
      readonly codes: readonly string[]
      readonly useByDefault?: boolean | null | undefined
    }

export type Post2faAccountConfigGenerateAnswer = { readonly providerType?: 'TOTP' | 'SMS' | 'EMAIL' | 'BACKUP_CODE' }

export type Post2faSettingsBody = {
  readonly providers: readonly (
    | { readonly providerType: 'TOTP'; readonly issuerName: string }
    | {
        readonly providerType: 'SMS'
        readonly smsVerificationMessageTemplate: string
        readonly verificationCodeLifetime?: number | undefined
      }
    | { readonly providerType: 'EMAIL'; readonly verificationCodeLifetime?: number | undefined }
    | { readonly providerType: 'BACKUP_CODE'; readonly codesQuantity?: number | undefined }
  )[]
  readonly minVerificationCodeSendPeriod: number
  readonly verificationCodeCheckRateLimit?: string | null | undefined
  readonly maxVerificationFailuresBeforeUserLockout?: number | null | undefined
  readonly totalAllowedTimeForVerification: number
  readonly enforceTwoFa?: boolean | null | undefined
  readonly enforcedUsersFilter?:
    | { readonly type: 'ALL_USERS' }
    | { readonly type: 'SYSTEM_ADMINISTRATORS' }
    | {
        readonly type: 'TENANT_ADMINISTRATORS'
        readonly tenantsIds?: readonly string[] | null | undefined
        readonly tenantProfilesIds?: readonly string[] | null | undefined
      }
    | null
    | undefined
}

export type PostAdminErasureAnswer = {
  readonly pending: number
  readonly stores: readonly {
    readonly store: string
    readonly gone: boolean
    readonly by: number | null
    readonly rest: string | null
  }[]
}

export type PostAdminJwtSettingsBody = {
  readonly tokenExpirationTime: number
  readonly refreshTokenExpTime: number
  readonly tokenIssuer: string
  readonly tokenSigningKey?: string | null | undefined
}

export type PostAdminSecuritySettingsBody = {
  readonly passwordPolicy?:
    | {
        readonly minimumLength?: number | undefined
        readonly maximumLength?: number | null | undefined
        readonly minimumUppercaseLetters?: number | null | undefined
        readonly minimumLowercaseLetters?: number | null | undefined
        readonly minimumDigits?: number | null | undefined
        readonly minimumSpecialCharacters?: number | null | undefined
        readonly allowWhitespaces?: boolean | undefined
        readonly forceUserToResetPasswordIfNotValid?: boolean | undefined
        readonly passwordExpirationPeriodDays?: number | null | undefined
        readonly passwordReuseFrequencyDays?: number | null | undefined
      }
    | undefined
  readonly maxFailedLoginAttempts?: number | null | undefined
  readonly userLockoutNotificationEmail?: string | null | undefined
  readonly mobileSecretKeyLength?: number | null | undefined
  readonly userActivationTokenTtl?: number | undefined
  readonly passwordResetTokenTtl?: number | undefined
}

export type PostAdminSettingsBody = { readonly key: string; readonly jsonValue: unknown }

export type PostAdminSettingsTestSmsBody = {
  readonly providerConfiguration: unknown
  readonly numberTo: string
  readonly message: string
}

export type PostAdminWorkersByPoolNameBody = {
  readonly threads?: number | undefined
  readonly minThreads?: number | undefined
  readonly idleTimeoutMs?: number | undefined
  readonly concurrentTasks?: number | undefined
  readonly queueBound?: number | undefined
  readonly batchMessages?: number | undefined
  readonly memoryLimitMb?: number | undefined
  readonly timeoutMs?: number | undefined
}

export type PostAiModelBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly configuration?: unknown
}

export type PostAiModelChatBody = {
  readonly systemMessage?: string | null | undefined
  readonly userMessage: { readonly contents: readonly { readonly contentType: 'TEXT'; readonly text: string }[] }
  readonly chatModelConfig: unknown
}

export type PostAiModelChatAnswer = {
  readonly status: 'SUCCESS' | 'FAILURE'
  readonly generatedContent?: string
  readonly errorDetails?: string
}

export type PostAlarmBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly customerId?: { readonly id: string } | null | undefined
  readonly assigneeId?: { readonly id: string } | null | undefined
  readonly originator?:
    | {
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
        readonly id: string
      }
    | null
    | undefined
  readonly type?: string | number | boolean | null | undefined
  readonly severity?: 'CRITICAL' | 'MAJOR' | 'MINOR' | 'WARNING' | 'INDETERMINATE' | null | undefined
  readonly acknowledged?: boolean | null | undefined
  readonly cleared?: boolean | null | undefined
  readonly startTs?: number | null | undefined
  readonly endTs?: number | null | undefined
  readonly details?: unknown
  readonly propagate?: boolean | null | undefined
  readonly propagateToOwner?: boolean | null | undefined
  readonly propagateToTenant?: boolean | null | undefined
  readonly propagateRelationTypes?: readonly string[] | null | undefined
}

export type PostAlarmByAlarmIdCommentBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly comment?: unknown
}

export type PostAlarmByAlarmIdCommentAnswer = {
  readonly id: { readonly id: string }
  readonly createdTime: number
  readonly alarmId: AlarmId
  readonly userId: UserId | null
  readonly type: 'SYSTEM' | 'OTHER'
  readonly comment: unknown
  readonly name: string
}

export type PostAlarmRuleBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly entityId?:
    | {
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
        readonly id: string
      }
    | null
    | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly debugSettings?: unknown
  readonly debugMode?: boolean | null | undefined
  readonly configurationVersion?: number | null | undefined
  readonly configuration: unknown
  readonly additionalInfo?: unknown
}

export type PostAlarmRuleTestScriptBody = {
  readonly expression: string
  readonly arguments: Readonly<
    Record<
      string,
      | { readonly type: 'SINGLE_VALUE'; readonly ts?: number | undefined; readonly value: unknown }
      | {
          readonly type: 'TS_ROLLING'
          readonly timeWindow?: { readonly startTs: number; readonly endTs: number } | undefined
          readonly values: readonly { readonly ts: number; readonly value: unknown }[]
        }
    >
  >
}

export type PostAlarmRuleTestScriptAnswer = { readonly output: string; readonly error: string }

export type PostAlarmsQueryCountBody = {
  readonly entityFilter?: EntityFilter | null | undefined
  readonly keyFilters?: readonly KeyFilter[] | null | undefined
  readonly keyFiltersOperation?: 'AND' | 'OR' | null | undefined
  readonly startTs?: number | string | null | undefined
  readonly endTs?: number | string | null | undefined
  readonly timeWindow?: number | string | null | undefined
  readonly typeList?: readonly string[] | null | undefined
  readonly statusList?: readonly ('ANY' | 'ACTIVE' | 'CLEARED' | 'ACK' | 'UNACK')[] | null | undefined
  readonly severityList?: readonly ('CRITICAL' | 'MAJOR' | 'MINOR' | 'WARNING' | 'INDETERMINATE')[] | null | undefined
  readonly searchPropagatedAlarms?: boolean | null | undefined
  readonly assigneeId?: { readonly id: string } | null | undefined
}

export type PostAlarmsQueryFindBody = {
  readonly entityFilter?: EntityFilter | null | undefined
  readonly keyFilters?: readonly KeyFilter[] | null | undefined
  readonly keyFiltersOperation?: 'AND' | 'OR' | null | undefined
  readonly entityFields?:
    | readonly {
        readonly type:
          | 'ENTITY_FIELD'
          | 'ATTRIBUTE'
          | 'CLIENT_ATTRIBUTE'
          | 'SHARED_ATTRIBUTE'
          | 'SERVER_ATTRIBUTE'
          | 'TIME_SERIES'
          | 'ALARM_FIELD'
        readonly key: string
      }[]
    | null
    | undefined
  readonly latestValues?:
    | readonly {
        readonly type:
          | 'ENTITY_FIELD'
          | 'ATTRIBUTE'
          | 'CLIENT_ATTRIBUTE'
          | 'SHARED_ATTRIBUTE'
          | 'SERVER_ATTRIBUTE'
          | 'TIME_SERIES'
          | 'ALARM_FIELD'
        readonly key: string
      }[]
    | null
    | undefined
  readonly pageLink?:
    | {
        readonly page?: number | string | null | undefined
        readonly pageSize?: number | string | null | undefined
        readonly textSearch?: string | null | undefined
        readonly sortOrder?:
          | {
              readonly key?:
                | {
                    readonly type:
                      | 'ENTITY_FIELD'
                      | 'ATTRIBUTE'
                      | 'CLIENT_ATTRIBUTE'
                      | 'SHARED_ATTRIBUTE'
                      | 'SERVER_ATTRIBUTE'
                      | 'TIME_SERIES'
                      | 'ALARM_FIELD'
                    readonly key: string
                  }
                | null
                | undefined
              readonly direction?: 'ASC' | 'DESC' | null | undefined
            }
          | null
          | undefined
        readonly dynamic?: boolean | null | undefined
        readonly startTs?: number | string | null | undefined
        readonly endTs?: number | string | null | undefined
        readonly timeWindow?: number | string | null | undefined
        readonly typeList?: readonly string[] | null | undefined
        readonly statusList?: readonly ('ANY' | 'ACTIVE' | 'CLEARED' | 'ACK' | 'UNACK')[] | null | undefined
        readonly severityList?:
          readonly ('CRITICAL' | 'MAJOR' | 'MINOR' | 'WARNING' | 'INDETERMINATE')[] | null | undefined
        readonly searchPropagatedAlarms?: boolean | null | undefined
        readonly assigneeId?: { readonly id: string } | null | undefined
      }
    | null
    | undefined
  readonly alarmFields?:
    | readonly {
        readonly type:
          | 'ENTITY_FIELD'
          | 'ATTRIBUTE'
          | 'CLIENT_ATTRIBUTE'
          | 'SHARED_ATTRIBUTE'
          | 'SERVER_ATTRIBUTE'
          | 'TIME_SERIES'
          | 'ALARM_FIELD'
        readonly key: string
      }[]
    | null
    | undefined
}

export type PostAlarmsQueryFindAnswer = {
  readonly data: readonly {
    readonly id: AlarmId
    readonly createdTime: number
    readonly tenantId: TenantId
    readonly customerId: { readonly entityType: 'CUSTOMER'; readonly id: string } | null
    readonly type: string
    readonly severity: 'CRITICAL' | 'MAJOR' | 'MINOR' | 'WARNING' | 'INDETERMINATE'
    readonly acknowledged: boolean
    readonly cleared: boolean
    readonly assigneeId: { readonly entityType: 'USER'; readonly id: string } | null
    readonly startTs: number
    readonly endTs: number
    readonly ackTs: number
    readonly clearTs: number
    readonly assignTs: number
    readonly details: unknown
    readonly propagate: boolean
    readonly propagateToOwner: boolean
    readonly propagateToTenant: boolean
    readonly propagateRelationTypes: unknown
    readonly originator: {
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
      readonly id: string
    }
    readonly name: string
    readonly status: 'ACTIVE_UNACK' | 'ACTIVE_ACK' | 'CLEARED_UNACK' | 'CLEARED_ACK'
    readonly originatorName: string | null
    readonly originatorLabel: string | null
    readonly originatorDisplayName: string | null
    readonly assignee: {
      readonly id?: UserId
      readonly firstName?: string | null
      readonly lastName?: string | null
      readonly email?: string
    } | null
    readonly entityId: {
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
      readonly id: string
    }
    readonly latest: Readonly<Record<string, unknown>>
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PostApiKeyBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly userId: { readonly id: string }
  readonly description?: string | number | boolean | null | undefined
  readonly enabled?: boolean | null | undefined
  readonly expirationTime?: number | null | undefined
}

export type PostApiKeyAnswer = {
  readonly id: ApiKeyId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly userId: { readonly entityType: 'USER'; readonly id: string }
  readonly expirationTime: number
  readonly description: string
  readonly enabled: boolean
  readonly expired: boolean
  readonly value: string | null
}

export type PostAssetBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly customerId?: { readonly entityType?: 'CUSTOMER' | undefined; readonly id: string } | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly type?: string | number | boolean | null | undefined
  readonly label?: string | number | boolean | null | undefined
  readonly assetProfileId?:
    { readonly entityType?: 'ASSET_PROFILE' | undefined; readonly id: string } | null | undefined
  readonly additionalInfo?: unknown
}

export type PostAssetBulkImportBody = {
  readonly file: string
  readonly mapping: {
    readonly columns: readonly {
      readonly type:
        | 'NAME'
        | 'TYPE'
        | 'LABEL'
        | 'DESCRIPTION'
        | 'IS_GATEWAY'
        | 'SHARED_ATTRIBUTE'
        | 'SERVER_ATTRIBUTE'
        | 'TIMESERIES'
        | 'ACCESS_TOKEN'
        | 'X509'
        | 'MQTT_CLIENT_ID'
        | 'MQTT_USER_NAME'
        | 'MQTT_PASSWORD'
        | 'LWM2M_CLIENT_ENDPOINT'
        | 'LWM2M_CLIENT_SECURITY_CONFIG_MODE'
        | 'LWM2M_CLIENT_IDENTITY'
        | 'LWM2M_CLIENT_KEY'
        | 'LWM2M_CLIENT_CERT'
        | 'LWM2M_BOOTSTRAP_SERVER_SECURITY_MODE'
        | 'LWM2M_BOOTSTRAP_SERVER_PUBLIC_KEY_OR_ID'
        | 'LWM2M_BOOTSTRAP_SERVER_SECRET_KEY'
        | 'LWM2M_SERVER_SECURITY_MODE'
        | 'LWM2M_SERVER_CLIENT_PUBLIC_KEY_OR_ID'
        | 'LWM2M_SERVER_CLIENT_SECRET_KEY'
      readonly key?: string | number | boolean | null | undefined
    }[]
    readonly delimiter?: string | null | undefined
    readonly update?: boolean | null | undefined
    readonly header?: boolean | null | undefined
  }
}

export type PostAssetBulkImportAnswer = {
  readonly created: number
  readonly updated: number
  readonly errors: number
  readonly errorsList: readonly string[]
}

export type PostAssetProfileBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly description?: string | number | boolean | null | undefined
  readonly image?: string | number | boolean | null | undefined
  readonly defaultRuleChainId?:
    { readonly entityType?: 'RULE_CHAIN' | undefined; readonly id: string } | null | undefined
  readonly defaultDashboardId?:
    { readonly entityType?: 'DASHBOARD' | undefined; readonly id: string } | null | undefined
  readonly defaultQueueName?: string | number | boolean | null | undefined
  readonly defaultEdgeRuleChainId?:
    { readonly entityType?: 'RULE_CHAIN' | undefined; readonly id: string } | null | undefined
  readonly default?: boolean | null | undefined
}

export type PostAssetsBody = {
  readonly parameters: {
    readonly rootId: string
    readonly rootType:
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
    readonly direction?: 'FROM' | 'TO' | null | undefined
    readonly relationTypeGroup?:
      'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN' | null | undefined
    readonly maxLevel?: number | null | undefined
    readonly fetchLastLevelOnly?: boolean | null | undefined
  }
  readonly relationType?: string | null | undefined
  readonly [member: string]: unknown
}

export type PostAuthChangePasswordBody = { readonly currentPassword: string; readonly newPassword: string }

export type PostAuthLoginBody = { readonly username: string; readonly password: string }

export type PostAuthLoginAnswer = {
  readonly token: string
  readonly refreshToken?: string
  readonly scope?: 'PRE_VERIFICATION_TOKEN' | 'MFA_CONFIGURATION_TOKEN'
}

export type PostAuthLoginPublicBody = { readonly publicId: string }

export type PostAuthTokenBody = { readonly refreshToken: string }

export type PostBulkImportBody = {
  readonly name: string
  readonly entityType: 'DEVICE' | 'ASSET'
  readonly from: number
  readonly to: number
  readonly firstLine: number
  readonly file: string
  readonly mapping: {
    readonly columns: readonly {
      readonly type:
        | 'NAME'
        | 'TYPE'
        | 'LABEL'
        | 'DESCRIPTION'
        | 'IS_GATEWAY'
        | 'SHARED_ATTRIBUTE'
        | 'SERVER_ATTRIBUTE'
        | 'TIMESERIES'
        | 'ACCESS_TOKEN'
        | 'X509'
        | 'MQTT_CLIENT_ID'
        | 'MQTT_USER_NAME'
        | 'MQTT_PASSWORD'
        | 'LWM2M_CLIENT_ENDPOINT'
        | 'LWM2M_CLIENT_SECURITY_CONFIG_MODE'
        | 'LWM2M_CLIENT_IDENTITY'
        | 'LWM2M_CLIENT_KEY'
        | 'LWM2M_CLIENT_CERT'
        | 'LWM2M_BOOTSTRAP_SERVER_SECURITY_MODE'
        | 'LWM2M_BOOTSTRAP_SERVER_PUBLIC_KEY_OR_ID'
        | 'LWM2M_BOOTSTRAP_SERVER_SECRET_KEY'
        | 'LWM2M_SERVER_SECURITY_MODE'
        | 'LWM2M_SERVER_CLIENT_PUBLIC_KEY_OR_ID'
        | 'LWM2M_SERVER_CLIENT_SECRET_KEY'
      readonly key?: string | number | boolean | null | undefined
    }[]
    readonly delimiter?: string | null | undefined
    readonly update?: boolean | null | undefined
  }
}

export type PostCalculatedFieldBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly entityId?:
    | {
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
        readonly id: string
      }
    | null
    | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly debugSettings?: unknown
  readonly debugMode?: boolean | null | undefined
  readonly configurationVersion?: number | null | undefined
  readonly configuration: unknown
  readonly additionalInfo?: unknown
  readonly type?:
    | 'SIMPLE'
    | 'SCRIPT'
    | 'GEOFENCING'
    | 'ALARM'
    | 'PROPAGATION'
    | 'RELATED_ENTITIES_AGGREGATION'
    | 'ENTITY_AGGREGATION'
    | null
    | undefined
}

export type PostCustomerBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly country?: string | number | boolean | null | undefined
  readonly state?: string | number | boolean | null | undefined
  readonly city?: string | number | boolean | null | undefined
  readonly address?: string | number | boolean | null | undefined
  readonly address2?: string | number | boolean | null | undefined
  readonly zip?: string | number | boolean | null | undefined
  readonly phone?: string | number | boolean | null | undefined
  readonly email?: string | number | boolean | null | undefined
  readonly title?: string | number | boolean | null | undefined
  readonly additionalInfo?: unknown
}

export type PostCustomerDeviceByDeviceNameClaimBody = {
  readonly secretKey?: string | number | boolean | null | undefined
}

export type PostCustomerDeviceByDeviceNameClaimAnswer = { readonly device: Device; readonly response: 'SUCCESS' }

export type PostDashboardBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly title?: string | number | boolean | null | undefined
  readonly image?: string | number | boolean | null | undefined
  readonly mobileHide?: boolean | null | undefined
  readonly mobileOrder?: number | null | undefined
  readonly configuration?: unknown
  readonly resources?:
    | readonly {
        readonly link: string
        readonly title?: string | null | undefined
        readonly type: string
        readonly subType?: 'IMAGE' | 'SCADA_SYMBOL' | 'EXTENSION' | 'MODULE' | null | undefined
        readonly resourceKey?: string | null | undefined
        readonly fileName?: string | null | undefined
        readonly data: string
        readonly publicResourceKey?: string | null | undefined
        readonly public?: boolean | null | undefined
        readonly isPublic?: boolean | null | undefined
      }[]
    | null
    | undefined
}

export type PostDeviceBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly customerId?: { readonly entityType?: 'CUSTOMER' | undefined; readonly id: string } | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly type?: string | number | boolean | null | undefined
  readonly label?: string | number | boolean | null | undefined
  readonly deviceProfileId?:
    { readonly entityType?: 'DEVICE_PROFILE' | undefined; readonly id: string } | null | undefined
  readonly firmwareId?: { readonly entityType?: 'OTA_PACKAGE' | undefined; readonly id: string } | null | undefined
  readonly softwareId?: { readonly entityType?: 'OTA_PACKAGE' | undefined; readonly id: string } | null | undefined
  readonly deviceData?: unknown
  readonly additionalInfo?: unknown
}

export type PostDeviceCredentialsBody = {
  readonly credentialsType?: 'ACCESS_TOKEN' | 'X509_CERTIFICATE' | 'MQTT_BASIC' | 'LWM2M_CREDENTIALS' | null | undefined
  readonly credentialsId?: string | number | boolean | null | undefined
  readonly credentialsValue?: string | number | boolean | null | undefined
  readonly id?: { readonly id: string } | null | undefined
  readonly deviceId: { readonly id: string }
  readonly version?: number | null | undefined
}

export type PostDeviceProfileBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly description?: string | number | boolean | null | undefined
  readonly image?: string | number | boolean | null | undefined
  readonly type?: 'DEFAULT' | null | undefined
  readonly transportType?: 'DEFAULT' | 'MQTT' | 'COAP' | 'LWM2M' | 'SNMP' | null | undefined
  readonly provisionType?:
    | 'DISABLED'
    | 'ALLOW_CREATE_NEW_DEVICES'
    | 'CHECK_PRE_PROVISIONED_DEVICES'
    | 'X509_CERTIFICATE_CHAIN'
    | null
    | undefined
  readonly provisionDeviceKey?: string | number | boolean | null | undefined
  readonly defaultRuleChainId?:
    { readonly entityType?: 'RULE_CHAIN' | undefined; readonly id: string } | null | undefined
  readonly defaultDashboardId?:
    { readonly entityType?: 'DASHBOARD' | undefined; readonly id: string } | null | undefined
  readonly defaultQueueName?: string | number | boolean | null | undefined
  readonly defaultEdgeRuleChainId?:
    { readonly entityType?: 'RULE_CHAIN' | undefined; readonly id: string } | null | undefined
  readonly firmwareId?: { readonly entityType?: 'OTA_PACKAGE' | undefined; readonly id: string } | null | undefined
  readonly softwareId?: { readonly entityType?: 'OTA_PACKAGE' | undefined; readonly id: string } | null | undefined
  readonly default?: boolean | null | undefined
  readonly profileData?: unknown
}

export type PostDeviceWithCredentialsBody = {
  readonly device: {
    readonly id?: { readonly id: string } | null | undefined
    readonly version?: number | null | undefined
    readonly customerId?: { readonly entityType?: 'CUSTOMER' | undefined; readonly id: string } | null | undefined
    readonly name?: string | number | boolean | null | undefined
    readonly type?: string | number | boolean | null | undefined
    readonly label?: string | number | boolean | null | undefined
    readonly deviceProfileId?:
      { readonly entityType?: 'DEVICE_PROFILE' | undefined; readonly id: string } | null | undefined
    readonly firmwareId?: { readonly entityType?: 'OTA_PACKAGE' | undefined; readonly id: string } | null | undefined
    readonly softwareId?: { readonly entityType?: 'OTA_PACKAGE' | undefined; readonly id: string } | null | undefined
    readonly deviceData?: unknown
    readonly additionalInfo?: unknown
  }
  readonly credentials: {
    readonly credentialsType?:
      'ACCESS_TOKEN' | 'X509_CERTIFICATE' | 'MQTT_BASIC' | 'LWM2M_CREDENTIALS' | null | undefined
    readonly credentialsId?: string | number | boolean | null | undefined
    readonly credentialsValue?: string | number | boolean | null | undefined
  }
}

export type PostEntitiesQueryCountBody = {
  readonly entityFilter?: EntityFilter | null | undefined
  readonly keyFilters?: readonly KeyFilter[] | null | undefined
  readonly keyFiltersOperation?: 'AND' | 'OR' | null | undefined
}

export type PostEntitiesQueryFindBody = {
  readonly entityFilter?: EntityFilter | null | undefined
  readonly keyFilters?: readonly KeyFilter[] | null | undefined
  readonly keyFiltersOperation?: 'AND' | 'OR' | null | undefined
  readonly entityFields?:
    | readonly {
        readonly type:
          | 'ENTITY_FIELD'
          | 'ATTRIBUTE'
          | 'CLIENT_ATTRIBUTE'
          | 'SHARED_ATTRIBUTE'
          | 'SERVER_ATTRIBUTE'
          | 'TIME_SERIES'
          | 'ALARM_FIELD'
        readonly key: string
      }[]
    | null
    | undefined
  readonly latestValues?:
    | readonly {
        readonly type:
          | 'ENTITY_FIELD'
          | 'ATTRIBUTE'
          | 'CLIENT_ATTRIBUTE'
          | 'SHARED_ATTRIBUTE'
          | 'SERVER_ATTRIBUTE'
          | 'TIME_SERIES'
          | 'ALARM_FIELD'
        readonly key: string
      }[]
    | null
    | undefined
  readonly pageLink?:
    | {
        readonly page?: number | string | null | undefined
        readonly pageSize?: number | string | null | undefined
        readonly textSearch?: string | null | undefined
        readonly sortOrder?:
          | {
              readonly key?:
                | {
                    readonly type:
                      | 'ENTITY_FIELD'
                      | 'ATTRIBUTE'
                      | 'CLIENT_ATTRIBUTE'
                      | 'SHARED_ATTRIBUTE'
                      | 'SERVER_ATTRIBUTE'
                      | 'TIME_SERIES'
                      | 'ALARM_FIELD'
                    readonly key: string
                  }
                | null
                | undefined
              readonly direction?: 'ASC' | 'DESC' | null | undefined
            }
          | null
          | undefined
        readonly dynamic?: boolean | null | undefined
      }
    | null
    | undefined
}

export type PostEntitiesQueryFindAnswer = {
  readonly data: readonly {
    readonly entityId: Readonly<Record<string, unknown>>
    readonly latest: Readonly<Record<string, unknown>>
    readonly timeseries: Readonly<Record<string, unknown>>
    readonly aggLatest: Readonly<Record<string, unknown>>
  }[]
  readonly totalPages: number
  readonly totalElements: number
  readonly hasNext: boolean
}

export type PostEntitiesQueryFindKeysAnswer = {
  readonly entityTypes: readonly string[]
  readonly timeseries: readonly string[]
  readonly attribute: readonly string[]
}

export type PostEntityViewBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly entityId?: { readonly entityType: 'DEVICE' | 'ASSET'; readonly id: string } | null | undefined
  readonly customerId?: { readonly entityType?: 'CUSTOMER' | undefined; readonly id: string } | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly type?: string | number | boolean | null | undefined
  readonly keys?:
    | {
        readonly timeseries?: readonly string[] | null | undefined
        readonly attributes?:
          | {
              readonly cs?: readonly string[] | null | undefined
              readonly ss?: readonly string[] | null | undefined
              readonly sh?: readonly string[] | null | undefined
            }
          | null
          | undefined
      }
    | null
    | undefined
  readonly startTimeMs?: number | null | undefined
  readonly endTimeMs?: number | null | undefined
  readonly additionalInfo?: unknown
}

export type PostEventsByEntityTypeByEntityIdBody =
  | {
      readonly server?: string | null | undefined
      readonly errorStr?: string | null | undefined
      readonly notEmpty?: boolean | null | undefined
      readonly entityId?: string | null | undefined
      readonly entityType?: string | null | undefined
      readonly msgId?: string | null | undefined
      readonly msgType?: string | null | undefined
      readonly isError?: boolean | 'true' | 'false' | '' | null | undefined
      readonly eventType: 'DEBUG_RULE_NODE'
      readonly msgDirectionType?: 'IN' | 'OUT' | '' | null | undefined
      readonly relationType?: string | null | undefined
      readonly dataSearch?: string | null | undefined
      readonly metadataSearch?: string | null | undefined
    }
  | {
      readonly server?: string | null | undefined
      readonly errorStr?: string | null | undefined
      readonly notEmpty?: boolean | null | undefined
      readonly eventType: 'DEBUG_RULE_CHAIN'
      readonly isError?: boolean | 'true' | 'false' | '' | null | undefined
      readonly message?: string | null | undefined
    }
  | {
      readonly server?: string | null | undefined
      readonly errorStr?: string | null | undefined
      readonly notEmpty?: boolean | null | undefined
      readonly entityId?: string | null | undefined
      readonly entityType?: string | null | undefined
      readonly msgId?: string | null | undefined
      readonly msgType?: string | null | undefined
      readonly isError?: boolean | 'true' | 'false' | '' | null | undefined
      readonly eventType: 'DEBUG_CALCULATED_FIELD'
      readonly arguments?: string | null | undefined
      readonly result?: string | null | undefined
    }
  | {
      readonly server?: string | null | undefined
      readonly errorStr?: string | null | undefined
      readonly notEmpty?: boolean | null | undefined
      readonly eventType: 'LC_EVENT'
      readonly event?: string | null | undefined
      readonly status?: 'Success' | 'Failure' | 'SUCCESS' | 'FAILURE' | '' | null | undefined
    }
  | {
      readonly server?: string | null | undefined
      readonly errorStr?: string | null | undefined
      readonly notEmpty?: boolean | null | undefined
      readonly eventType: 'ERROR'
      readonly method?: string | null | undefined
    }
  | {
      readonly server?: string | null | undefined
      readonly errorStr?: string | null | undefined
      readonly notEmpty?: boolean | null | undefined
      readonly eventType: 'STATS'
      readonly minMessagesProcessed?: number | null | undefined
      readonly maxMessagesProcessed?: number | null | undefined
      readonly minErrorsOccurred?: number | null | undefined
      readonly maxErrorsOccurred?: number | null | undefined
    }

export type PostImageBody = {
  readonly file: Blob
  readonly title?: string | undefined
  readonly imageSubType?: 'IMAGE' | 'SCADA_SYMBOL' | '' | undefined
}

export type PostIntegrationBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly type?: 'HTTP' | 'MQTT' | 'KAFKA' | 'TCP' | 'UDP' | 'FILE' | null | undefined
  readonly enabled?: boolean | null | undefined
  readonly allowCreateDevices?: boolean | null | undefined
  readonly converter?: unknown
  readonly configuration?: unknown
  readonly additionalInfo?: unknown
}

export type PostIntegrationCheckBody = {
  readonly converter: {
    readonly language?: 'TBEL' | 'JS' | undefined
    readonly payloadFormat?: 'JSON' | 'TEXT' | 'BINARY' | undefined
    readonly script: string
  }
  readonly payload: string
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

export type PostIntegrationCheckAnswer = {
  readonly output: readonly Readonly<Record<string, unknown>>[]
  readonly error: string
}

export type PostNoauthActivateBody = { readonly activateToken: string; readonly password: string }

export type PostNoauthResetPasswordBody = { readonly resetToken: string; readonly password: string }

export type PostNoauthResetPasswordByEmailBody = { readonly email: string }

export type PostNotificationRequestBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly targets: readonly string[]
  readonly templateId?: { readonly id: string } | null | undefined
  readonly template?:
    | {
        readonly name?: string | null | undefined
        readonly notificationType?:
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
          | undefined
        readonly configuration: unknown
      }
    | null
    | undefined
  readonly info?: unknown
  readonly additionalConfig?: unknown
}

export type PostNotificationRuleBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly enabled?: boolean | null | undefined
  readonly templateId?:
    { readonly entityType?: 'NOTIFICATION_TEMPLATE' | undefined; readonly id: string } | null | undefined
  readonly triggerType?:
    | 'ENTITY_ACTION'
    | 'ALARM'
    | 'ALARM_COMMENT'
    | 'ALARM_ASSIGNMENT'
    | 'DEVICE_ACTIVITY'
    | 'RULE_ENGINE_COMPONENT_LIFECYCLE_EVENT'
    | 'EDGE_CONNECTION'
    | 'EDGE_COMMUNICATION_FAILURE'
    | 'NEW_PLATFORM_VERSION'
    | 'ENTITIES_LIMIT'
    | 'API_USAGE_LIMIT'
    | 'RATE_LIMITS'
    | 'TASK_PROCESSING_FAILURE'
    | 'RESOURCES_SHORTAGE'
    | null
    | undefined
  readonly triggerConfig?: unknown
  readonly recipientsConfig?: unknown
  readonly additionalConfig?: unknown
}

export type PostNotificationSettingsBody = {
  readonly deliveryMethodsConfigs: {
    readonly SLACK?: { readonly method?: 'SLACK' | undefined; readonly botToken?: string | undefined } | undefined
    readonly MOBILE_APP?:
      | {
          readonly method?: 'MOBILE_APP' | undefined
          readonly firebaseServiceAccountCredentialsFileName?: string | null | undefined
          readonly firebaseServiceAccountCredentials?: string | undefined
        }
      | undefined
  }
}

export type PostNotificationSettingsUserBody = {
  readonly prefs: Readonly<
    Record<
      string,
      {
        readonly enabled?: boolean | null | undefined
        readonly enabledDeliveryMethods: Readonly<Record<string, boolean>>
      }
    >
  >
}

export type PostNotificationTargetBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly configuration?: unknown
  readonly isForRules?: boolean | null | undefined
}

export type PostNotificationTargetRecipientsBody = { readonly configuration: unknown }

export type PostNotificationTemplateBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly notificationType?:
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
    | null
    | undefined
  readonly configuration?: unknown
}

export type PostOtaPackageBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly deviceProfileId?:
    { readonly entityType?: 'DEVICE_PROFILE' | undefined; readonly id: string } | null | undefined
  readonly type?: 'FIRMWARE' | 'SOFTWARE' | null | undefined
  readonly title?: string | number | boolean | null | undefined
  readonly version?: string | number | boolean | null | undefined
  readonly tag?: string | number | boolean | null | undefined
  readonly url?: string | number | boolean | null | undefined
  readonly usesUrl?: boolean | null | undefined
  readonly additionalInfo?: unknown
}

export type PostOtaPackageByOtaPackageIdBody = { readonly file: Blob }

export type PostPluginsRpcOnewayByDeviceIdBody = {
  readonly method: string
  readonly params?: unknown
  readonly timeout?: unknown
  readonly expirationTime?: unknown
  readonly persistent?: boolean | null | undefined
  readonly retries?: number | null | undefined
  readonly additionalInfo?: unknown
  readonly requestUUID?: string | null | undefined
}

export type PostQueuesBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly topic?: string | number | boolean | null | undefined
  readonly pollInterval?: number | null | undefined
  readonly partitions?: number | null | undefined
  readonly consumerPerPartition?: boolean | null | undefined
  readonly packProcessingTimeout?: number | null | undefined
  readonly submitStrategy?:
    | {
        readonly type: 'BURST' | 'BATCH' | 'SEQUENTIAL_BY_ORIGINATOR' | 'SEQUENTIAL_BY_TENANT' | 'SEQUENTIAL'
        readonly batchSize?: number | null | undefined
      }
    | null
    | undefined
  readonly processingStrategy?:
    | {
        readonly type:
          | 'SKIP_ALL_FAILURES'
          | 'SKIP_ALL_FAILURES_AND_TIMED_OUT'
          | 'RETRY_ALL'
          | 'RETRY_FAILED'
          | 'RETRY_TIMED_OUT'
          | 'RETRY_FAILED_AND_TIMED_OUT'
        readonly retries?: number | null | undefined
        readonly failurePercentage?: number | null | undefined
        readonly pauseBetweenRetries?: number | null | undefined
        readonly maxPauseBetweenRetries?: number | null | undefined
      }
    | null
    | undefined
  readonly additionalInfo?: unknown
  readonly version?: number | null | undefined
}

export type PostRelationBody = {
  readonly from?:
    | {
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
        readonly id: string
      }
    | null
    | undefined
  readonly to?:
    | {
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
        readonly id: string
      }
    | null
    | undefined
  readonly type?: string | null | undefined
  readonly typeGroup?:
    'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN' | null | undefined
  readonly additionalInfo?: unknown
}

export type PostRelationsBody = {
  readonly parameters: {
    readonly rootId: string
    readonly rootType:
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
    readonly direction?: 'FROM' | 'TO' | null | undefined
    readonly relationTypeGroup?:
      'COMMON' | 'DASHBOARD' | 'RULE_CHAIN' | 'RULE_NODE' | 'EDGE' | 'EDGE_AUTO_ASSIGN_RULE_CHAIN' | null | undefined
    readonly maxLevel?: number | null | undefined
    readonly fetchLastLevelOnly?: boolean | null | undefined
  }
  readonly filters?:
    | readonly {
        readonly relationType?: string | null | undefined
        readonly entityTypes?:
          | readonly (
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
            )[]
          | null
          | undefined
      }[]
    | null
    | undefined
}

export type PostResourceBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly title?: string | number | boolean | null | undefined
  readonly resourceType?: string | number | boolean | null | undefined
  readonly resourceSubType?: string | number | boolean | null | undefined
  readonly resourceKey?: string | number | boolean | null | undefined
  readonly fileName?: string | number | boolean | null | undefined
  readonly descriptor?: unknown
  readonly data?: string | null | undefined
}

export type PostResourceUploadBody = {
  readonly file: Blob
  readonly title?: string | undefined
  readonly resourceType: string
  readonly resourceSubType?: 'IMAGE' | 'SCADA_SYMBOL' | 'EXTENSION' | 'MODULE' | '' | undefined
  readonly descriptor?: string | undefined
}

export type PostRuleChainBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly type?: 'CORE' | 'EDGE' | null | undefined
  readonly root?: boolean | null | undefined
  readonly debugMode?: boolean | null | undefined
  readonly configuration?: unknown
  readonly additionalInfo?: unknown
}

export type PostRuleChainByRuleChainIdTrialBody = {
  readonly kind: 'shadow' | 'replay'
  readonly real?: boolean | undefined
  readonly from?: number | undefined
  readonly durationMs?: number | undefined
  readonly maxMessages?: number | undefined
  readonly metadata: {
    readonly version?: number | null | undefined
    readonly firstNodeIndex?: number | null | undefined
    readonly nodes?:
      | readonly {
          readonly id?: { readonly id: string } | null | undefined
          readonly type: string
          readonly name?: string | number | boolean | null | undefined
          readonly debugSettings?: unknown
          readonly debugMode?: boolean | null | undefined
          readonly singletonMode?: boolean | null | undefined
          readonly queueName?: string | number | boolean | null | undefined
          readonly configurationVersion?: number | null | undefined
          readonly configuration?: unknown
          readonly additionalInfo?: unknown
        }[]
      | null
      | undefined
    readonly connections?:
      readonly { readonly fromIndex: number; readonly toIndex: number; readonly type: string }[] | null | undefined
    readonly ruleChainConnections?: readonly unknown[] | null | undefined
    readonly notes?: unknown
  }
}

export type PostRuleChainDeviceDefaultBody = { readonly name?: string | number | boolean | null | undefined }

export type PostRuleChainMetadataBody = {
  readonly version?: number | null | undefined
  readonly firstNodeIndex?: number | null | undefined
  readonly nodes?:
    | readonly {
        readonly id?: { readonly id: string } | null | undefined
        readonly type: string
        readonly name?: string | number | boolean | null | undefined
        readonly debugSettings?: unknown
        readonly debugMode?: boolean | null | undefined
        readonly singletonMode?: boolean | null | undefined
        readonly queueName?: string | number | boolean | null | undefined
        readonly configurationVersion?: number | null | undefined
        readonly configuration?: unknown
        readonly additionalInfo?: unknown
      }[]
    | null
    | undefined
  readonly connections?:
    readonly { readonly fromIndex: number; readonly toIndex: number; readonly type: string }[] | null | undefined
  readonly ruleChainConnections?: readonly unknown[] | null | undefined
  readonly notes?: unknown
  readonly ruleChainId?: { readonly id: string } | null | undefined
}

export type PostRuleChainTestScriptBody = {
  readonly script: string
  readonly scriptType: string
  readonly argNames?: readonly string[] | null | undefined
  readonly msg: string
  readonly metadata?: Readonly<Record<string, string | number | boolean>> | null | undefined
  readonly msgType: string
}

export type PostRuleChainsImportBody = {
  readonly ruleChains: readonly {
    readonly id?: { readonly id: string } | null | undefined
    readonly version?: number | null | undefined
    readonly name?: string | number | boolean | null | undefined
    readonly type?: 'CORE' | 'EDGE' | null | undefined
    readonly root?: boolean | null | undefined
    readonly debugMode?: boolean | null | undefined
    readonly configuration?: unknown
    readonly additionalInfo?: unknown
  }[]
  readonly metadata: readonly {
    readonly version?: number | null | undefined
    readonly firstNodeIndex?: number | null | undefined
    readonly nodes?:
      | readonly {
          readonly id?: { readonly id: string } | null | undefined
          readonly type: string
          readonly name?: string | number | boolean | null | undefined
          readonly debugSettings?: unknown
          readonly debugMode?: boolean | null | undefined
          readonly singletonMode?: boolean | null | undefined
          readonly queueName?: string | number | boolean | null | undefined
          readonly configurationVersion?: number | null | undefined
          readonly configuration?: unknown
          readonly additionalInfo?: unknown
        }[]
      | null
      | undefined
    readonly connections?:
      readonly { readonly fromIndex: number; readonly toIndex: number; readonly type: string }[] | null | undefined
    readonly ruleChainConnections?: readonly unknown[] | null | undefined
    readonly notes?: unknown
    readonly ruleChainId: { readonly id: string }
  }[]
}

export type PostTenantBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly country?: string | number | boolean | null | undefined
  readonly state?: string | number | boolean | null | undefined
  readonly city?: string | number | boolean | null | undefined
  readonly address?: string | number | boolean | null | undefined
  readonly address2?: string | number | boolean | null | undefined
  readonly zip?: string | number | boolean | null | undefined
  readonly phone?: string | number | boolean | null | undefined
  readonly email?: string | number | boolean | null | undefined
  readonly title?: string | number | boolean | null | undefined
  readonly tenantProfileId?:
    { readonly entityType?: 'TENANT_PROFILE' | undefined; readonly id: string } | null | undefined
  readonly additionalInfo?: unknown
}

export type PostTenantByTenantIdRowsBody = {
  readonly table: string
  readonly step: 'ids' | 'plan' | 'apply'
  readonly rows: readonly string[]
}

export type PostTenantByTenantIdRowsAnswer = {
  readonly created: number
  readonly changed: number
  readonly same: number
  readonly toFillIn: readonly string[]
  readonly ids: readonly (readonly string[])[]
  readonly refused: readonly { readonly place: number; readonly why: string }[]
}

export type PostTenantDashboardHomeInfoBody = {
  readonly dashboardId?: { readonly id: string } | null | undefined
  readonly hideDashboardToolbar?: boolean | null | undefined
}

export type PostTenantProfileBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly description?: string | number | boolean | null | undefined
  readonly isolatedTbRuleEngine?: boolean | null | undefined
  readonly default?: boolean | null | undefined
  readonly profileData?:
    | {
        readonly configuration?:
          | {
              readonly type?: 'DEFAULT' | undefined
              readonly maxDevices?: number | null | undefined
              readonly maxAssets?: number | null | undefined
              readonly maxCustomers?: number | null | undefined
              readonly maxUsers?: number | null | undefined
              readonly maxDashboards?: number | null | undefined
              readonly maxRuleChains?: number | null | undefined
              readonly maxEdges?: number | null | undefined
              readonly maxResourcesInBytes?: number | null | undefined
              readonly maxOtaPackagesInBytes?: number | null | undefined
              readonly maxResourceSize?: number | null | undefined
              readonly transportTenantMsgRateLimit?: string | null | undefined
              readonly transportTenantTelemetryMsgRateLimit?: string | null | undefined
              readonly transportTenantTelemetryDataPointsRateLimit?: string | null | undefined
              readonly transportDeviceMsgRateLimit?: string | null | undefined
              readonly transportDeviceTelemetryMsgRateLimit?: string | null | undefined
              readonly transportDeviceTelemetryDataPointsRateLimit?: string | null | undefined
              readonly transportGatewayMsgRateLimit?: string | null | undefined
              readonly transportGatewayTelemetryMsgRateLimit?: string | null | undefined
              readonly transportGatewayTelemetryDataPointsRateLimit?: string | null | undefined
              readonly transportGatewayDeviceMsgRateLimit?: string | null | undefined
              readonly transportGatewayDeviceTelemetryMsgRateLimit?: string | null | undefined
              readonly transportGatewayDeviceTelemetryDataPointsRateLimit?: string | null | undefined
              readonly tenantEntityExportRateLimit?: string | null | undefined
              readonly tenantEntityImportRateLimit?: string | null | undefined
              readonly tenantNotificationRequestsRateLimit?: string | null | undefined
              readonly tenantNotificationRequestsPerRuleRateLimit?: string | null | undefined
              readonly maxTransportMessages?: number | null | undefined
              readonly maxTransportDataPoints?: number | null | undefined
              readonly maxREExecutions?: number | null | undefined
              readonly maxJSExecutions?: number | null | undefined
              readonly maxTbelExecutions?: number | null | undefined
              readonly maxDPStorageDays?: number | null | undefined
              readonly maxRuleNodeExecutionsPerMessage?: number | null | undefined
              readonly maxDebugModeDurationMinutes?: number | null | undefined
              readonly maxEmails?: number | null | undefined
              readonly smsEnabled?: boolean | null | undefined
              readonly maxSms?: number | null | undefined
              readonly maxCreatedAlarms?: number | null | undefined
              readonly tenantServerRestLimitsConfiguration?: string | null | undefined
              readonly customerServerRestLimitsConfiguration?: string | null | undefined
              readonly maxWsSessionsPerTenant?: number | null | undefined
              readonly maxWsSessionsPerCustomer?: number | null | undefined
              readonly maxWsSessionsPerRegularUser?: number | null | undefined
              readonly maxWsSessionsPerPublicUser?: number | null | undefined
              readonly wsMsgQueueLimitPerSession?: number | null | undefined
              readonly maxWsSubscriptionsPerTenant?: number | null | undefined
              readonly maxWsSubscriptionsPerCustomer?: number | null | undefined
              readonly maxWsSubscriptionsPerRegularUser?: number | null | undefined
              readonly maxWsSubscriptionsPerPublicUser?: number | null | undefined
              readonly wsUpdatesPerSessionRateLimit?: string | null | undefined
              readonly cassandraReadQueryTenantCoreRateLimits?: string | null | undefined
              readonly cassandraWriteQueryTenantCoreRateLimits?: string | null | undefined
              readonly cassandraReadQueryTenantRuleEngineRateLimits?: string | null | undefined
              readonly cassandraWriteQueryTenantRuleEngineRateLimits?: string | null | undefined
              readonly edgeEventRateLimits?: string | null | undefined
              readonly edgeEventRateLimitsPerEdge?: string | null | undefined
              readonly edgeUplinkMessagesRateLimits?: string | null | undefined
              readonly edgeUplinkMessagesRateLimitsPerEdge?: string | null | undefined
              readonly defaultStorageTtlDays?: number | null | undefined
              readonly alarmsTtlDays?: number | null | undefined
              readonly rpcTtlDays?: number | null | undefined
              readonly queueStatsTtlDays?: number | null | undefined
              readonly ruleEngineExceptionsTtlDays?: number | null | undefined
              readonly warnThreshold?: number | null | undefined
              readonly maxCalculatedFieldsPerEntity?: number | null | undefined
              readonly maxArgumentsPerCF?: number | null | undefined
              readonly minAllowedScheduledUpdateIntervalInSecForCF?: number | null | undefined
              readonly maxRelationLevelPerCfArgument?: number | null | undefined
              readonly maxRelatedEntitiesToReturnPerCfArgument?: number | null | undefined
              readonly maxDataPointsPerRollingArg?: number | null | undefined
              readonly maxStateSizeInKBytes?: number | null | undefined
              readonly maxSingleValueArgumentSizeInKBytes?: number | null | undefined
              readonly minAllowedDeduplicationIntervalInSecForCF?: number | null | undefined
              readonly minAllowedAggregationIntervalInSecForCF?: number | null | undefined
              readonly intermediateAggregationIntervalInSecForCF?: number | null | undefined
              readonly cfReevaluationCheckInterval?: number | null | undefined
              readonly alarmsReevaluationInterval?: number | null | undefined
            }
          | null
          | undefined
        readonly queueConfiguration?: readonly unknown[] | null | undefined
      }
    | null
    | undefined
}

export type PostUserBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly customerId?: { readonly entityType?: 'CUSTOMER' | undefined; readonly id: string } | null | undefined
  readonly email?: string | number | boolean | null | undefined
  readonly authority?: 'SYS_ADMIN' | 'TENANT_ADMIN' | 'CUSTOMER_USER' | null | undefined
  readonly firstName?: string | number | boolean | null | undefined
  readonly lastName?: string | number | boolean | null | undefined
  readonly phone?: string | number | boolean | null | undefined
  readonly additionalInfo?: unknown
  readonly tenantId?: { readonly id: string } | null | undefined
}

export type PostUserMobileSessionBody = { readonly fcmTokenTimestamp?: number | null | undefined }

export type PostV2EntitiesQueryFindKeysAnswer = {
  readonly entityTypes: readonly string[]
  readonly timeseries?: readonly Readonly<Record<string, unknown>>[]
  readonly attributes?: Readonly<Record<string, unknown>>
}

export type PostWidgetTypeBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly fqn?: string | number | boolean | null | undefined
  readonly name?: string | number | boolean | null | undefined
  readonly deprecated?: boolean | null | undefined
  readonly scada?: boolean | null | undefined
  readonly descriptor?: unknown
  readonly image?: string | number | boolean | null | undefined
  readonly description?: string | number | boolean | null | undefined
  readonly tags?: unknown
  readonly resources?:
    | readonly {
        readonly link: string
        readonly title?: string | null | undefined
        readonly type: string
        readonly subType?: 'IMAGE' | 'SCADA_SYMBOL' | 'EXTENSION' | 'MODULE' | null | undefined
        readonly resourceKey?: string | null | undefined
        readonly fileName?: string | null | undefined
        readonly data: string
        readonly publicResourceKey?: string | null | undefined
        readonly public?: boolean | null | undefined
        readonly isPublic?: boolean | null | undefined
      }[]
    | null
    | undefined
}

export type PostWidgetsBundleBody = {
  readonly id?: { readonly id: string } | null | undefined
  readonly version?: number | null | undefined
  readonly alias?: string | number | boolean | null | undefined
  readonly title?: string | number | boolean | null | undefined
  readonly image?: string | number | boolean | null | undefined
  readonly scada?: boolean | null | undefined
  readonly description?: string | number | boolean | null | undefined
  readonly order?: number | null | undefined
}

export type Put2faAccountConfigBody = { readonly useByDefault: boolean }

export type PutApiKeyByApiKeyIdDescriptionAnswer = {
  readonly id: ApiKeyId
  readonly createdTime: number
  readonly tenantId: TenantId
  readonly userId: { readonly entityType: 'USER'; readonly id: string }
  readonly expirationTime: number
  readonly description: string
  readonly enabled: boolean
  readonly expired: boolean
}

export type PutImageImportBody = {
  readonly title?: string | null | undefined
  readonly subType?: 'IMAGE' | 'SCADA_SYMBOL' | null | undefined
  readonly fileName: string
  readonly publicResourceKey?: string | null | undefined
  readonly public?: boolean | null | undefined
  readonly isPublic?: boolean | null | undefined
  readonly data: string
}

export type PutImagesByImageTypeByImageKeyInfoBody = { readonly title?: string | number | boolean | null | undefined }

export type PutResourceByResourceIdInfoBody = {
  readonly title?: string | number | boolean | null | undefined
  readonly resourceSubType?: string | number | boolean | null | undefined
  readonly fileName?: string | number | boolean | null | undefined
  readonly descriptor?: unknown
}
